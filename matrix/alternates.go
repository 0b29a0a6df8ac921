package matrix

import "math/bits"

// AppendAlternates appends to dst the gangs that can run in a slot beside those
// that have it for home: all their PEs are idle there. They are taken greedily,
// from the slots after it in turn, cyclically, in each by lowest PE, so that the
// choice is maximal: nobody is left out who would still fit. It is not always the
// most cells that can be filled. first > 0 starts that many slots further on;
// with first increased by one every round, all slots have their turn at being
// first.
//
// Of those that fit, only gangs are taken for which allow returns true; nil lets
// all pass. It may ask where a gang is, but nothing else of the matrix.
//
// Alternates are for one turn of the slot and are not kept: a gang placed later
// may take their cells. It panics if there is no such slot. O(PEs/64), and for each
// gang, until nothing is idle, as [Matrix.Row]; does not allocate.
func (m *Matrix[ID]) AppendAlternates(dst []ID, slot, first int, allow func(id ID) bool) []ID {
	left := m.findIdle(m.row(slot))
	others := len(m.order) - 1
	for i := range others {
		if left == 0 {
			break
		}
		// first may be negative or close to overflowing.
		turn := (first%others + others + i) % others
		r := int(m.order[(slot+1+turn)%len(m.order)])
		for k := range m.gangsOf(r) {
			g := &m.gangs[k]
			if int(g.size) <= left && m.allIdle(g) && (allow == nil || allow(g.id)) {
				for i := g.piece; i != none; i = m.pieces[i].next {
					m.fill(&m.pieces[i])
				}
				dst = append(dst, g.id)
				if left -= int(g.size); left == 0 {
					break
				}
			}
		}
	}
	return dst
}

// UtilisationWithAlternates returns the share of the cells that hold a process
// when each slot also runs the alternates that [Matrix.AppendAlternates] finds
// from the next slot on; 0 if there are no slots. Costs as that, for each slot.
func (m *Matrix[ID]) UtilisationWithAlternates() float64 {
	cells := int64(0)
	var ids []ID
	for slot := range m.order {
		ids = m.AppendAlternates(ids[:0], slot, 0, nil)
		cells += int64(m.config.PEs - m.countIdle())
	}
	return m.share(cells)
}

// findIdle puts into m.idle, a bit each, the PEs that run no process in a row,
// reserved ones too, and returns their number.
func (m *Matrix[ID]) findIdle(r int) int {
	if m.idle == nil {
		m.idle = make([]uint64, (m.config.PEs+63)/64)
	}
	for w := range m.idle {
		m.idle[w] = ^uint64(0)
	}
	if n := m.config.PEs % 64; n > 0 {
		m.idle[len(m.idle)-1] = 1<<n - 1
	}
	for i := range m.piecesOf(r) {
		m.fill(&m.pieces[i])
	}
	return m.countIdle()
}

func (m *Matrix[ID]) countIdle() int {
	n := 0
	for _, word := range m.idle {
		n += bits.OnesCount64(word)
	}
	return n
}

// allIdle says whether all PEs of a gang are in m.idle.
func (m *Matrix[ID]) allIdle(g *gang[ID]) bool {
	for i := g.piece; i != none; i = m.pieces[i].next {
		lo, hi := int(m.pieces[i].lo), int(m.pieces[i].hi)
		for w := lo / 64; w <= (hi-1)/64; w++ {
			if mask := wordMask(lo, hi, w); m.idle[w]&mask != mask {
				return false
			}
		}
	}
	return true
}

// fill takes the PEs of a piece out of m.idle.
func (m *Matrix[ID]) fill(p *piece) {
	lo, hi := int(p.lo), int(p.hi)
	for w := lo / 64; w <= (hi-1)/64; w++ {
		m.idle[w] &^= wordMask(lo, hi, w)
	}
}

// wordMask returns the bits of word w that stand for lo to hi-1.
func wordMask(lo, hi, w int) uint64 {
	mask := ^uint64(0)
	if lo > w*64 {
		mask <<= lo - w*64
	}
	if end := (w + 1) * 64; hi < end {
		mask &= ^uint64(0) >> (end - hi)
	}
	return mask
}
