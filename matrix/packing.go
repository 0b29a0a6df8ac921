package matrix

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Packing is a rule that chooses slot and PEs of a gang. All of them look at
// existing slots before they open a new one, and a PE that does not fit is to
// all of them as if it were used. Of equals the lowest slot counts, then the
// lowest PE.
type Packing int

const (
	// Buddy takes the least loaded controller that is free in some slot; see the
	// package comment. A gang that no controller is large enough for, on a machine
	// whose size is no power of two, is packed by FirstFit.
	Buddy Packing = iota
	// FirstFit takes the first slot with enough free PEs, and the lowest of them.
	FirstFit
	// BestFit takes the slot that has the fewest free PEs, but enough, and the
	// lowest of them.
	BestFit
	// LeftRightBySize is FirstFit, but gangs larger than half the machine take the
	// highest free PEs.
	LeftRightBySize
	// LeftRightBySlots is FirstFit, but in odd slots gangs take the highest free
	// PEs, so that holes of neighbouring slots lie apart, and gangs find
	// alternates.
	LeftRightBySlots
	// LoadBased takes, of each slot, the free PEs that are used in the fewest
	// slots, and the slot for which the load of the most loaded of them is least,
	// or else their sum.
	LoadBased
)

var packings = [...]string{"buddy", "first-fit", "best-fit", "left-right-by-size", "left-right-by-slots", "load-based"}

// String returns the name of a packing, as in "left-right-by-size".
func (p Packing) String() string {
	if p < 0 || int(p) >= len(packings) {
		return fmt.Sprintf("Packing(%d)", int(p))
	}
	return packings[p]
}

// ParsePacking returns the packing of a name. Error: [ErrConfig].
func ParsePacking(name string) (Packing, error) {
	i := slices.Index(packings[:], name)
	if i < 0 {
		return 0, fmt.Errorf("packing %q, not one of %q: %w", name, packings, ErrConfig)
	}
	return Packing(i), nil
}

// pack finds a place for a gang of n processes: a slot, which is the one after
// the last if it is to be opened, and m.spans.
func (m *Matrix[ID]) pack(n int, fits func(pe int) bool) (slot int, ok bool) {
	if m.config.Packing == Buddy && block(n) <= m.config.PEs {
		return m.packBuddy(n, fits)
	}
	if m.config.Packing == LoadBased {
		return m.packByLoad(n, fits)
	}
	if m.config.Packing == BestFit {
		m.list = append(m.list[:0], m.order...)
		slices.SortStableFunc(m.list, func(a, b int32) int { return cmp.Compare(m.rows[b].used, m.rows[a].used) })
		for _, r := range m.list {
			if slot := int(m.rows[r].slot); m.take(slot, n, false, fits) {
				return slot, true
			}
		}
	} else {
		for slot := range m.order {
			if m.take(slot, n, m.fromRight(slot, n), fits) {
				return slot, true
			}
		}
	}
	slot = len(m.order)
	return slot, m.mayOpen() && m.take(slot, n, m.fromRight(slot, n), fits)
}

func (m *Matrix[ID]) fromRight(slot, n int) bool {
	switch m.config.Packing {
	case LeftRightBySize:
		return n > m.config.PEs/2
	case LeftRightBySlots:
		return slot%2 == 1
	}
	return false
}

func (m *Matrix[ID]) packBuddy(n int, fits func(pe int) bool) (slot int, ok bool) {
	level := bits.Len(uint(n - 1))
	slot = len(m.order)
	lo := m.cells.least(level, slot, n, fits)
	if lo >= 0 {
		used := m.cells.used(lo, lo+block(n))
		slot = slices.IndexFunc(m.order, func(r int32) bool { return !has(used, int(r)) })
	} else if m.mayOpen() {
		lo = m.cells.least(level, math.MaxInt, n, fits)
	}
	m.spans = append(m.spans[:0], span{lo, lo + n})
	return slot, lo >= 0
}

// take finds n PEs that are free in the slot and fit, the lowest or the highest,
// into m.spans.
func (m *Matrix[ID]) take(slot, n int, right bool, fits func(pe int) bool) bool {
	m.spans = m.spans[:0]
	if !m.findFree(slot, n) {
		return false
	}
	if right {
		slices.Reverse(m.free)
	}
	for _, f := range m.free {
		switch {
		case fits == nil:
			k := min(n, f.hi-f.lo)
			if n -= k; right {
				m.spans = append(m.spans, span{f.hi - k, f.hi})
			} else {
				m.spans = append(m.spans, span{f.lo, f.lo + k})
			}
		case right:
			for pe := f.hi - 1; pe >= f.lo && n > 0; pe-- {
				if fits(pe) {
					m.extend(pe)
					n--
				}
			}
		default:
			for pe := f.lo; pe < f.hi && n > 0; pe++ {
				if fits(pe) {
					m.spans = appendSpan(m.spans, pe, pe+1)
					n--
				}
			}
		}
		if n == 0 {
			break
		}
	}
	if right {
		slices.Reverse(m.spans)
	}
	return n == 0
}

// extend adds a PE to the last of m.spans, which are in reverse order, or as a
// new one.
func (m *Matrix[ID]) extend(pe int) {
	if k := len(m.spans); k > 0 && m.spans[k-1].lo == pe+1 {
		m.spans[k-1].lo = pe
	} else {
		m.spans = append(m.spans, span{pe, pe + 1})
	}
}

// findFree puts what is free in a slot into m.free, unless it is less than n.
func (m *Matrix[ID]) findFree(slot, n int) bool {
	if slot == len(m.order) {
		m.free = append(m.free[:0], span{0, m.config.PEs})
		return true
	}
	if m.Free(slot) < n {
		return false
	}
	m.free = m.cells.appendFree(m.free[:0], int(m.order[slot]))
	return true
}

func (m *Matrix[ID]) packByLoad(n int, fits func(pe int) bool) (slot int, ok bool) {
	const unfit = -1
	m.loads = m.cells.appendLoads(m.loads[:0])
	if fits != nil {
		for pe := range m.loads {
			if !fits(pe) {
				m.loads[pe] = unfit
			}
		}
	}
	m.list = slices.Grow(m.list[:0], len(m.order)+1)[:len(m.order)+1]
	best, most, sum := none, 0, int64(0) // greatest load and sum of loads
	weigh := func(slot int) {
		if !m.findFree(slot, n) {
			return
		}
		clear(m.list) // PEs of each load
		for _, f := range m.free {
			for _, load := range m.loads[f.lo:f.hi] {
				if load != unfit {
					m.list[load]++
				}
			}
		}
		left, top, total := n, 0, int64(0)
		for load, pes := range m.list {
			if left > 0 && pes > 0 {
				k := min(left, int(pes))
				left, top, total = left-k, load, total+int64(k)*int64(load)
			}
		}
		if left == 0 && (best == none || cmp.Or(cmp.Compare(top, most), cmp.Compare(total, sum)) < 0) {
			best, most, sum = slot, top, total
		}
	}
	for slot := range m.order {
		weigh(slot)
	}
	if best == none && m.mayOpen() {
		weigh(len(m.order))
	}
	if best == none {
		return 0, false
	}
	m.findFree(best, n)
	lower := 0 // PEs of less than the greatest load: all are taken
	for _, f := range m.free {
		for _, load := range m.loads[f.lo:f.hi] {
			if load != unfit && int(load) < most {
				lower++
			}
		}
	}
	m.spans = m.spans[:0]
	for _, f := range m.free {
		for pe := f.lo; pe < f.hi; pe++ {
			load := int(m.loads[pe])
			if load == most && lower < n {
				lower++
			} else if load == unfit || load >= most {
				continue
			}
			m.spans = appendSpan(m.spans, pe, pe+1)
		}
	}
	return best, true
}
