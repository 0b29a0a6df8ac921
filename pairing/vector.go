package pairing

import (
	"fmt"
	"slices"
)

// Idle stands in a vector of utilisations for a PE or device that is not used at
// all: whoever is alone on it is disturbed by nobody, even if it uses all of it.
// With 0 for a utilisation the margin counts, and nobody fits with it who uses 99 %.
const Idle = -1

// untouched is the room on a PE or device that nobody uses yet.
const untouched = billion + 1

// cell returns the billionths of an element of a vector, which are unmeasurable for
// Idle, or an error if it is neither that nor from 0 to 1.
func cell(u float64) (int64, error) {
	if u == Idle {
		return unmeasurable, nil
	}
	return billionths(u), check(u)
}

// take returns the room left by one who uses x.
func take(room, x, limit int64) int64 {
	switch {
	case x == unmeasurable:
		return room
	case room == untouched:
		return limit - x
	}
	return room - x
}

// FitsEach is [Matcher.Fits] for two slots of several gangs (the "more precise
// matching" of §5), x[pe] and y[pe] being the utilisations of their processes on a
// PE, or [Idle]: whether on each PE that both use the two processes fit. The
// elements may also be utilisations of other devices. It is the more precise the
// more predictors a gang has: one for each process instead of one for their mean.
// Use it with [Maximum]: fitting is no matter of one number a slot any more, and the
// ends of an order are not the best pairs.
//
// It is false if something is neither Idle nor from 0 to 1, and panics if x and y
// differ in length. O(PEs).
func (m *Matcher) FitsEach(x, y []float64) bool {
	if len(x) != len(y) {
		panic(fmt.Sprintf("pairing: slots of %d and %d PEs", len(x), len(y)))
	}
	limit, err := m.limit()
	for pe := range x {
		a, errX := cell(x[pe])
		b, errY := cell(y[pe])
		if errX != nil || errY != nil || a != unmeasurable && b != unmeasurable && a+b >= limit {
			return false
		}
	}
	return err == nil
}

// Placed is a gang and where it runs.
type Placed struct {
	Utilisation float64 // predicted
	PEs         []int   // each once
}

// AppendCompanions appends to dst the indices of those of gangs that may run in the
// quantum of a slot, whatever slots they are in. slot[pe] is the utilisation of the
// slot's process on a PE, or [Idle]. No PE gets more than two processes, counting
// those of the slot, and where there are two they fit. All processes of a gang run,
// or none.
//
// That is not in the paper, which runs two slots together. Slots of several gangs
// seldom fit as a whole if utilisations differ, and gangs one by one often do: see
// the package comment for how much it makes. It includes alternates (§2.6).
//
// gangs are asked in order, and those that fit are taken; put those first that had
// the fewest quanta. The choice is maximal, so that nobody is left out who would
// still fit, but it is not always the greatest: to find that is weighted set
// packing, which is hard. gangs must not have those of the slot itself, nor any that
// is to run alone; and a slot that is to run alone gets no companions.
//
// What is neither Idle nor from 0 to 1 is refused with [ErrUtilisation], the margin
// as in [Matcher.AppendPartners]; dst is then returned as it was. It panics if a gang
// is on a PE that the slot does not have. O(PEs of the slot and of all gangs); does
// not allocate once dst and the scratch space are large enough.
func (m *Matcher) AppendCompanions(dst []int, slot []float64, gangs []Placed) ([]int, error) {
	limit, err := m.limit()
	if err != nil {
		return dst, err
	}
	m.room = resized(m.room, len(slot))
	for pe, u := range slot {
		x, err := cell(u)
		if err != nil {
			return dst, fmt.Errorf("PE %d, %w", pe, err)
		}
		m.room[pe] = take(untouched, x, limit)
	}
	start := len(dst)
next:
	for i, g := range gangs {
		if err := check(g.Utilisation); err != nil {
			return dst[:start], fmt.Errorf("gang %d, %w", i, err)
		}
		x := billionths(g.Utilisation)
		for _, pe := range g.PEs {
			if x >= m.room[pe] {
				continue next
			}
		}
		for _, pe := range g.PEs {
			if m.room[pe] == untouched {
				m.room[pe] = limit - x
			} else {
				m.room[pe] = 0 // it has two
			}
		}
		if len(g.PEs) > 0 {
			dst = append(dst, i)
		}
	}
	return dst, nil
}

// AppendGroups puts gangs together that use several kinds of device, and appends to
// dst the number of each gang's group, from 0 on. It is what §5 of the paper has in
// mind: N + 1 gangs keep the processor and N devices for input and output busy.
// demands[i] are those of gang i for processor, disk, network and so on, the same
// kinds in the same order, each from 0 to 1, or [Idle]. Of a group the demands for
// each device that two or more use, and the margin, sum up to less than 1. No group
// has more than size gangs; with size 0, as many as there are kinds of device. A
// round then has one quantum a group.
//
// To find the fewest groups is vector bin packing, which is NP-hard for groups of
// three and more. This is first fit decreasing: gangs in order of their greatest
// demand, the greatest first, ties by index, each into the first group that takes
// it. For 9 gangs of random demands it made 0, 5.4 and 2.8 % more groups than the
// fewest with 2, 3 and 4 devices. For groups of two [Maximum] with
// [Matcher.FitsEach] makes the fewest. A gang that fits with nobody has a group of
// its own, even if its own demand and the margin are too much.
//
// Demands that are neither Idle nor from 0 to 1 are refused with [ErrUtilisation],
// gangs of different numbers of devices, none, and a negative size, with
// [ErrConfig], the margin as in [Matcher.AppendPartners]; dst is then returned as it
// was. O(n·groups·devices); does not allocate once dst and the scratch space are
// large enough.
func (m *Matcher) AppendGroups(dst []int, demands [][]float64, size int) ([]int, error) {
	limit, err := m.limit()
	if err != nil || len(demands) == 0 {
		return dst, err
	}
	devices := len(demands[0])
	if size < 0 || devices == 0 || len(demands) > maxSlots {
		return dst, fmt.Errorf("groups of %d of %d gangs, %d devices: %w", size, len(demands), devices, ErrConfig)
	}
	if size == 0 {
		size = devices
	}
	m.order, m.demands = m.order[:0], m.demands[:0]
	for i, d := range demands {
		if len(d) != devices {
			return dst, fmt.Errorf("gang %d has demands for %d devices, not %d: %w", i, len(d), devices, ErrConfig)
		}
		greatest := int64(0)
		for device, u := range d {
			x, err := cell(u)
			if err != nil {
				return dst, fmt.Errorf("gang %d, device %d, %w", i, device, err)
			}
			m.demands = append(m.demands, x)
			greatest = max(greatest, x)
		}
		m.order = append(m.order, uint64(billion-greatest)<<32|uint64(i))
	}
	m.sort()
	start := len(dst)
	dst = slices.Grow(dst, len(demands))[:start+len(demands)]
	m.room, m.members = m.room[:0], m.members[:0]
	for _, next := range m.order {
		demand := m.demands[slot(next)*devices:][:devices]
		group := 0
		for ; group < len(m.members); group++ {
			if m.members[group] < size && fitsIn(m.room[group*devices:][:devices], demand) {
				break
			}
		}
		if group == len(m.members) {
			m.members = append(m.members, 0)
			for range devices {
				m.room = append(m.room, untouched)
			}
		}
		m.members[group]++
		for device, x := range demand {
			room := &m.room[group*devices+device]
			*room = take(*room, x, limit)
		}
		dst[start+slot(next)] = group
	}
	return dst, nil
}

// fitsIn tells whether there is room for a demand.
func fitsIn(room, demand []int64) bool {
	for device, x := range demand {
		if x != unmeasurable && x >= room[device] {
			return false
		}
	}
	return true
}
