package pairing

import (
	"fmt"
	"slices"
)

// Rule is a way to match slots.
type Rule int

// The rules.
const (
	// Fair is Fig. 4 of the paper, as the text around it says it works: as many
	// pairs as possible, then partners for all others who fit with anybody.
	Fair Rule = iota

	// BestFit gives each slot the busiest that fits, the last one of equals,
	// whoever else has it. The paper compares with it: it neglects the slots that
	// come first (Fig. 7).
	BestFit

	// Printed is Fig. 4 to the letter, in which the slot in the middle is never
	// looked at and may stay alone.
	Printed
)

var rules = []string{"fair", "best-fit", "printed"}

// String returns the name that [ParseRule] takes.
func (r Rule) String() string {
	if r < 0 || int(r) >= len(rules) {
		return fmt.Sprintf("Rule(%d)", int(r))
	}
	return rules[r]
}

// ParseRule returns the rule called name: fair, best-fit or printed. It refuses
// others with [ErrConfig].
func ParseRule(name string) (Rule, error) {
	if i := slices.Index(rules, name); i >= 0 {
		return Rule(i), nil
	}
	return 0, fmt.Errorf("rule %q, want fair, best-fit or printed: %w", name, ErrConfig)
}

// Matcher matches slots. It keeps scratch space between calls: 16 bytes for each
// slot of the largest. The zero value is ready and is the paper's. A Matcher must
// not be used concurrently; separate ones may.
type Matcher struct {
	Rule Rule // of AppendPartners

	// Margin is m: two slots fit if their utilisations and the margin sum up to
	// less than 1. 0 means 1 %; a negative one means none, at which they must still
	// sum up to less than 1.
	Margin float64

	order, spare []uint64 // billionths<<32 | slot
	room         []int64  // by PE, or group and device: what is less than that fits
	demands      []int64  // by gang and device
	members      []int    // by group
}

// resized returns s with n elements, in the same memory if that is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// maxSlots is the largest number of slots that can be matched.
const maxSlots = 1<<31 - 1

// AppendPartners is [Matcher.AppendPartners] of a new Matcher, by the rule and with
// the margin of the paper. It may be called concurrently, and allocates.
func AppendPartners(dst []int, utilisations []float64, exclusive func(slot int) bool) ([]int, error) {
	return new(Matcher).AppendPartners(dst, utilisations, exclusive)
}

// AppendPartners appends to dst the partner of each slot, or −1 for one that runs
// alone. utilisations are those predicted for the slots in the coming round.
// exclusive, unless nil, tells which slots are to run alone and beside nobody.
//
// A partner is not always mutual: it is that of the slot's own quantum. Of equals
// the one with the lower index counts as the less busy, so that the order of slots
// does not matter as long as their utilisations differ.
//
// A utilisation that is NaN or not from 0 to 1 is refused with [ErrUtilisation]; a
// margin that is NaN or more than 1, more than 2³¹ − 1 slots, and an unknown rule,
// with [ErrConfig]. dst is then returned as it was. O(n), as keys are sorted by
// radix; it does not allocate once dst and the scratch space are large enough.
func (m *Matcher) AppendPartners(dst []int, utilisations []float64, exclusive func(slot int) bool) ([]int, error) {
	if m.Rule < Fair || m.Rule > Printed {
		return dst, fmt.Errorf("%v: %w", m.Rule, ErrConfig)
	}
	limit, err := m.limit()
	if err != nil {
		return dst, err
	}
	if len(utilisations) > maxSlots {
		return dst, fmt.Errorf("%d slots: %w", len(utilisations), ErrConfig)
	}
	m.order = m.order[:0]
	for slot, u := range utilisations {
		key := billionths(u)
		if key == unmeasurable {
			return dst, fmt.Errorf("slot %d, %v: %w", slot, u, ErrUtilisation)
		}
		if exclusive == nil || !exclusive(slot) {
			m.order = append(m.order, uint64(key)<<32|uint64(slot))
		}
	}
	start := len(dst)
	dst = slices.Grow(dst, len(utilisations))[:start+len(utilisations)]
	partners := dst[start:]
	for i := range partners {
		partners[i] = -1
	}
	m.sort()
	switch m.Rule {
	case BestFit:
		m.bestFit(partners, limit)
	case Printed:
		m.fair(partners, limit, false)
	default:
		m.fair(partners, limit, true)
	}
	return dst, nil
}

// Fits tells whether two gangs of these utilisations may run together: whether they
// and the margin sum up to less than 1. It is false for a utilisation that is not
// from 0 to 1, and for a margin that AppendPartners refuses. It is to be asked again
// before each quantum, as predictions change within a round. O(1).
func (m *Matcher) Fits(x, y float64) bool {
	limit, err := m.limit()
	a, b := billionths(x), billionths(y)
	return err == nil && a != unmeasurable && b != unmeasurable && a+b < limit
}

// limit returns what two keys must sum up to less than.
func (m *Matcher) limit() (int64, error) {
	switch {
	case m.Margin == 0:
		return billion - paperMargin, nil
	case m.Margin < 0:
		return billion, nil
	}
	margin := billionths(m.Margin)
	if margin == unmeasurable {
		return 0, fmt.Errorf("margin %v: %w", m.Margin, ErrConfig)
	}
	return billion - margin, nil
}

func key(x uint64) int64 { return int64(x >> 32) }
func slot(x uint64) int  { return int(x & (1<<32 - 1)) }

// fair pairs the ends of the order inwards. The first lo slots of it have partners,
// and those above hi are done with. One that is left over looks back at the last of
// the first lo, which fits: its partner is above hi, so at least as busy.
func (m *Matcher) fair(partners []int, limit int64, middle bool) {
	order := m.order
	lo, hi := 0, len(order)-1
	for ; lo < hi || middle && lo == hi; hi-- {
		a, b := slot(order[lo]), slot(order[hi])
		switch {
		case lo < hi && key(order[lo])+key(order[hi]) < limit:
			partners[a], partners[b] = b, a
			lo++
		case lo > 0:
			partners[b] = slot(order[lo-1])
		}
	}
}

// bestFit gives each slot the last one in the order that fits with it.
func (m *Matcher) bestFit(partners []int, limit int64) {
	n := len(m.order) // the first n fit
	for k, x := range m.order {
		for n > 0 && key(m.order[n-1])+key(x) >= limit {
			n--
		}
		last := n - 1
		if last == k {
			last--
		}
		if last >= 0 {
			partners[slot(x)] = slot(m.order[last])
		}
	}
}

// sort sorts the order by key, then slot. Slots are in order already, and a radix
// sort from the lowest digit up keeps them so.
func (m *Matcher) sort() {
	const bits, few = 10, 512 // 30 bits hold a billion
	if len(m.order) < few {
		slices.Sort(m.order)
		return
	}
	m.spare = resized(m.spare, len(m.order))
	for shift := 32; shift < 62; shift += bits {
		var starts [1 << bits]int
		for _, x := range m.order {
			starts[x>>shift&(1<<bits-1)]++
		}
		at := 0
		for digit, n := range starts {
			starts[digit] = at
			at += n
		}
		for _, x := range m.order {
			digit := x >> shift & (1<<bits - 1)
			m.spare[starts[digit]] = x
			starts[digit]++
		}
		m.order, m.spare = m.spare, m.order
	}
}
