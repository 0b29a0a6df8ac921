package pairing

import "math"

// Band is M of §2.5: how far apart the utilisations of the gangs of a slot may be.
const Band = .20

// Gang is what is to be known of a gang in a slot.
type Gang struct {
	Utilisation float64 // predicted; what is not from 0 to 1 counts as Unmeasured
	PEs         int     // that it runs on
	Unmeasured  bool    // new or forgotten, see [Cautious.OnProbation]; counts as 1
	Moved       bool    // it was evicted from another slot and has not run since
}

// key returns the billionths of a gang, false if it is not measured.
func (g Gang) key() (int64, bool) {
	x := billionths(g.Utilisation)
	return x, !g.Unmeasured && x != unmeasurable
}

// Slot returns the utilisation by which a slot is matched: the greatest of its
// gangs (§2.5), alternates and those that are unmeasured included. An empty one has
// 0. O(n).
func Slot(gangs []Gang) float64 {
	busiest := 0.
	for _, g := range gangs {
		if _, ok := g.key(); !ok {
			return 1
		}
		busiest = max(busiest, g.Utilisation)
	}
	return busiest
}

// width returns a band in billionths: NaN and less than nothing count as nothing.
func width(band float64) int64 { return max(0, billionths(min(band, 1))) }

// Evict returns the gang that has to leave a slot next (§2.5), so that all gangs g
// left in it are homogeneous with the least busy one,
//
//	u(g) < min u + band
//
// or −1 if they are. Call it again without that gang, until it is −1. Unmeasured
// gangs are left out of account: their utilisation is an assumption. A gang that
// moved is not sent on before it ran, though others must be homogeneous with it.
//
// The busiest leaves, the first of them on ties. But if all that may leave were
// homogeneous without the least busy gang, and that has fewer PEs than those
// together that are too busy beside it, it is the one that leaves. O(n).
func Evict(gangs []Gang, band float64) int {
	least, busiest, next := -1, -1, int64(math.MaxInt64) // next is the second least
	var low, high int64
	for i, g := range gangs {
		x, ok := g.key()
		switch {
		case !ok:
		case least < 0 || x < low:
			if least >= 0 {
				next = low
			}
			least, low = i, x
		default:
			next = min(next, x)
		}
	}
	above := 0. // PEs of those that are too busy
	for i, g := range gangs {
		x, ok := g.key()
		if !ok || g.Moved || i == least || x < low+width(band) {
			continue
		}
		above += float64(g.PEs)
		if busiest < 0 || x > high {
			busiest, high = i, x
		}
	}
	if busiest >= 0 && !gangs[least].Moved && high < next+width(band) && float64(gangs[least].PEs) < above {
		return least
	}
	return busiest
}

// Joins tells whether a slot is homogeneous with g in it, as [Evict] demands. An
// unmeasured gang may join any slot. O(n).
func Joins(gangs []Gang, g Gang, band float64) bool {
	x, ok := g.key()
	if !ok {
		return true
	}
	low, high, others := x, x, false
	for _, other := range gangs {
		if y, ok := other.key(); ok {
			low, high, others = min(low, y), max(high, y), true
		}
	}
	return !others || high < low+width(band)
}

// JoinsAsAlternate tells whether g may also run in a slot that is not its own, on
// PEs that are idle there (§2.6). It is [Joins], but an unmeasured gang counts as 1:
// otherwise a new gang would keep a slot of others from being paired. Alternates are
// to be chosen before slots are matched, as they count in [Slot]. O(n).
func JoinsAsAlternate(gangs []Gang, g Gang, band float64) bool {
	if _, ok := g.key(); !ok {
		g = Gang{Utilisation: 1}
	}
	return Joins(gangs, g, band)
}

// FirstSlot returns the first of the slots in which the PEs of g are free and that g
// joins, for a gang that was evicted; len(slots) if it needs a new one. slots[i] are
// the gangs of slot i, and free(i) tells whether the PEs are free; it is asked only
// of slots that g joins. O(gangs).
func FirstSlot(slots [][]Gang, g Gang, band float64, free func(slot int) bool) int {
	for i, gangs := range slots {
		if Joins(gangs, g, band) && free(i) {
			return i
		}
	}
	return len(slots)
}
