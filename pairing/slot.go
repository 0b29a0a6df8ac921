package pairing

// Gang is what is to be known of a gang in a slot.
type Gang struct {
	Utilisation float64 // predicted
	PEs         int     // that it runs on
	Unmeasured  bool    // new, or forgotten: its utilisation of 1 is no measurement
}

// Slot returns the utilisation by which a slot is matched: the greatest of its
// gangs (§2.5), those that are unmeasured included. An empty one has 0. O(n).
func Slot(gangs []Gang) float64 {
	busiest := 0.
	for _, g := range gangs {
		busiest = max(busiest, g.Utilisation)
	}
	return busiest
}

// Band is M of §2.6: how far apart the utilisations of the gangs of a slot may be.
const Band = .20

// Evict returns the gang that has to leave a slot next, so that all gangs g left
// in it are homogeneous,
//
//	u(g) < min u + band
//
// or −1 if they are. Call it again without that gang, until it is −1. Unmeasured
// gangs are left out of account.
//
// The busiest leaves, the first of them on ties. But if the slot were homogeneous
// without the least busy gang, and that has fewer PEs than all those that are too
// busy beside it have, it is the one that leaves. O(n).
func Evict(gangs []Gang, band float64) int {
	least, busiest := -1, -1
	for i, g := range gangs {
		if g.Unmeasured {
			continue
		}
		if least < 0 || g.Utilisation < gangs[least].Utilisation {
			least = i
		}
		if busiest < 0 || g.Utilisation > gangs[busiest].Utilisation {
			busiest = i
		}
	}
	if least < 0 || homogeneous(gangs[least].Utilisation, gangs[busiest].Utilisation, band) {
		return -1
	}
	next, above := -1, 0 // the second least busy; PEs of the gangs that are too busy
	for i, g := range gangs {
		if g.Unmeasured || i == least {
			continue
		}
		if next < 0 || g.Utilisation < gangs[next].Utilisation {
			next = i
		}
		if !homogeneous(gangs[least].Utilisation, g.Utilisation, band) {
			above += g.PEs
		}
	}
	if homogeneous(gangs[next].Utilisation, gangs[busiest].Utilisation, band) && gangs[least].PEs < above {
		return least
	}
	return busiest
}

// Joins tells whether a slot is homogeneous with g in it, as [Evict] demands, if it
// is so without: for a gang that looks for a slot, and for an alternate that may run
// in a slot beside its own (§2.6). An unmeasured gang may join. O(n).
func Joins(gangs []Gang, g Gang, band float64) bool {
	if g.Unmeasured {
		return true
	}
	for _, other := range gangs {
		low, high := min(g.Utilisation, other.Utilisation), max(g.Utilisation, other.Utilisation)
		if !other.Unmeasured && !homogeneous(low, high, band) {
			return false
		}
	}
	return true
}

func homogeneous(low, high, band float64) bool {
	return billionths(high)-billionths(low) < billionths(min(max(band, 0), 1))
}
