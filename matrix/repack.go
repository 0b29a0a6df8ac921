package matrix

import (
	"cmp"
	"slices"
)

// Unify puts slots into one that use disjoint PEs: for the lowest slot, the
// highest one above it that uses none of its PEs, until there is none, then the
// same for the next slot. Nobody migrates. Emptied slots are dropped, as are empty
// ones, and those above move up. It returns how many slots there are fewer. It is
// a greedy rule: to find the fewest slots is to colour a graph.
//
// O(slots) searches that end as soon as all others overlap, and O(log² PEs)
// for each span of a gang moved.
func (m *Matrix[ID]) Unify() int {
	before := len(m.order)
	m.DropEmpty()
	for i := 0; i < len(m.order); i++ {
		r := int(m.order[i])
		overlapping := m.cells.overlapping(r, m.open)
		for j := len(m.order) - 1; j > i; j-- {
			if from := int(m.order[j]); !has(overlapping, from) {
				m.list = m.appendGangs(m.list[:0], from)
				for _, k := range m.list {
					m.transfer(k, r)
				}
				m.DropEmpty()
				overlapping = m.cells.overlapping(r, m.open)
			}
		}
	}
	return before - len(m.order)
}

// Repack moves single gangs to lower slots, to bring together what is free in
// different ones: slot by slot from the lowest on, in each by lowest PE, a gang
// moves to the lowest slot in which all its PEs are free. Nobody migrates. Emptied
// slots are dropped, as are empty ones. It returns how many gangs moved;
// afterwards none could move to a lower slot. O(log PEs) for each span of a gang,
// and O(slots) for each gang.
func (m *Matrix[ID]) Repack() (moved int) {
	m.DropEmpty()
	for slot := 1; slot < len(m.order); slot++ {
		m.list = m.appendGangs(m.list[:0], int(m.order[slot]))
		for _, k := range m.list {
			used := m.usedBy(k)
			lower := slices.IndexFunc(m.order[:slot], func(r int32) bool { return !has(used, int(r)) })
			if lower >= 0 {
				m.transfer(k, int(m.order[lower]))
				moved++
			}
		}
	}
	m.DropEmpty()
	return moved
}

// Migrate maps all gangs anew, the largest first, of the same size in order of
// slots and PEs, by the matrix's packing, and returns the outcome as a fresh
// matrix, for the caller to compare and to adopt or not. It returns false if a
// gang finds no place.
//
// A gang gets only PEs for which fits(id, pe) is true; when it has got its PEs,
// take(id, pe) is called for each of them, so that the caller can keep account of
// what the fresh matrix has on each node. Both may be nil. O(PEs), and one
// [Matrix.Place] per gang.
func (m *Matrix[ID]) Migrate(fits func(id ID, pe int) bool, take func(id ID, pe int)) (*Matrix[ID], bool) {
	var gangs []int32
	for _, r := range m.order {
		gangs = m.appendGangs(gangs, int(r))
	}
	slices.SortStableFunc(gangs, func(a, b int32) int { return cmp.Compare(m.gangs[b].size, m.gangs[a].size) })
	fresh, _ := New[ID](m.config) // which New has checked once
	for _, k := range gangs {
		g := &m.gangs[k]
		var fit func(pe int) bool
		if fits != nil {
			fit = func(pe int) bool { return fits(g.id, pe) }
		}
		if _, ok, _ := fresh.Place(g.id, int(g.size), fit); !ok { // its gangs are good ones
			return nil, false
		}
		if take != nil {
			for pe := range fresh.PEs(g.id) {
				take(g.id, pe)
			}
		}
	}
	return fresh, true
}
