package matrix

import "math/bits"

// The width of a group: the smallest node of the tree of cells.
const (
	groupBits = 6
	group     = 1 << groupBits
)

// cells says which cells of the matrix are used. A slot is a bit here, in sets
// of stride words; which slot number a bit has is the matrix's business.
//
// It is a binary tree over groups of 64 PEs. A used span of PEs is kept at the
// few nodes that make it up, the largest that lie wholly in it, so that a wide
// gang costs no more than the depth of the tree; nothing is pushed down or
// merged upwards, so that freeing the span finds it where using it left it.
// What is narrower than a group is kept PE by PE.
type cells struct {
	pes    int
	stride int
	leaf   []uint64 // per PE, padded to whole groups: slots it is used in, kept here
	tiers  []tier   // groups, pairs of groups, ..., the root
	buddy  bool     // keep tier.best

	set    []uint64 // scratch: a set of slots
	joined []uint64 // scratch: a set for each PE of a group
	search []candidate
}

// tier is the nodes of one height. Node j of height h spans the PEs from
// j<<(6+h) on, the last one those that there are.
type tier struct {
	cover []uint64 // slots in which the whole node is used, kept here
	any   []uint64 // slots in which a PE of the node is used, kept here or below
	count []int32  // of the bits of cover
	best  []best   // per node: the controllers of levels 0 to 6+h in it
}

func newCells(pes int, buddy bool) *cells {
	c := &cells{pes: pes, buddy: buddy}
	nodes := (pes + group - 1) / group
	for h := 0; ; h++ {
		t := tier{count: make([]int32, nodes)}
		if buddy {
			t.best = make([]best, nodes*(groupBits+h+1))
		}
		c.tiers = append(c.tiers, t)
		if nodes == 1 {
			break
		}
		nodes = (nodes + 1) / 2
	}
	c.widen()
	return c
}

// widen makes room for 64 more slots. O(PEs).
func (c *cells) widen() {
	relay := func(old []uint64, n int) []uint64 {
		words := make([]uint64, n*(c.stride+1))
		for i := range len(old) / max(c.stride, 1) {
			copy(words[i*(c.stride+1):], old[i*c.stride:(i+1)*c.stride])
		}
		return words
	}
	c.leaf = relay(c.leaf, len(c.tiers[0].count)*group)
	for h := range c.tiers {
		t := &c.tiers[h]
		t.cover = relay(t.cover, len(t.count))
		t.any = make([]uint64, len(t.cover))
	}
	c.stride++
	c.set, c.joined = make([]uint64, c.stride), make([]uint64, group*c.stride)
	for h := range c.tiers {
		for j := range c.tiers[h].count {
			c.pull(h, j)
		}
	}
}

// toggle makes the PEs lo to hi-1, of which either all or none are used in a
// slot, unused or used. O(log PEs) nodes.
func (c *cells) toggle(slot, lo, hi int) {
	w, bit := slot/64, uint64(1)<<(slot%64)
	first, last := lo>>groupBits, (hi-1)>>groupBits
	l, r := (lo+group-1)>>groupBits, hi>>groupBits // whole groups
	left, right := lo < l<<groupBits, hi > r<<groupBits
	for pe := lo; pe < min(hi, l<<groupBits); pe++ {
		c.leaf[pe*c.stride+w] ^= bit
	}
	for pe := max(lo, r<<groupBits, l<<groupBits); pe < hi; pe++ {
		c.leaf[pe*c.stride+w] ^= bit
	}
	// On the way up, all that changes is on the paths of the first and the last
	// group, or is kept in a neighbour of theirs.
	for h := range c.tiers {
		if l < r && l&1 == 1 {
			c.tiers[h].cover[l*c.stride+w] ^= bit
			if left = true; l != first {
				c.pull(h, l)
			}
			l++
		}
		if l < r && r&1 == 1 {
			r--
			c.tiers[h].cover[r*c.stride+w] ^= bit
			if right = true; r != last {
				c.pull(h, r)
			}
		}
		if left {
			c.pull(h, first)
		}
		if right && (!left || first != last) {
			c.pull(h, last)
		}
		l, r, first, last = l/2, r/2, first/2, last/2
	}
}

// pull computes what a node keeps of the cells below it.
func (c *cells) pull(h, j int) {
	t := &c.tiers[h]
	any, cover := t.any[j*c.stride:][:c.stride], t.cover[j*c.stride:][:c.stride]
	n := 0
	for w, word := range cover {
		n += bits.OnesCount64(word)
		if h == 0 {
			for i := j*group*c.stride + w; i < (j+1)*group*c.stride; i += c.stride {
				word |= c.leaf[i]
			}
		} else {
			below := c.tiers[h-1].any
			word |= below[2*j*c.stride+w]
			if 2*j+1 < len(c.tiers[h-1].count) {
				word |= below[(2*j+1)*c.stride+w]
			}
		}
		any[w] = word
	}
	t.count[j] = int32(n)
	if c.buddy {
		c.rate(h, j)
	}
}

// used returns the slots in which some PE of lo to hi-1 is used. The set is
// valid until the next call. O(log PEs) nodes.
func (c *cells) used(lo, hi int) []uint64 {
	clear(c.set)
	c.collect(lo, hi)
	return c.set
}

// collect adds the slots in which some PE of lo to hi-1 is used to c.set.
func (c *cells) collect(lo, hi int) { c.collectIn(len(c.tiers)-1, 0, lo, hi) }

func (c *cells) collectIn(h, j, lo, hi int) {
	t := &c.tiers[h]
	from, to := j<<(groupBits+h), min((j+1)<<(groupBits+h), c.pes)
	if lo <= from && to <= hi {
		unite(c.set, t.any[j*c.stride:])
		return
	}
	unite(c.set, t.cover[j*c.stride:])
	if h == 0 {
		for pe := max(lo, from); pe < min(hi, to); pe++ {
			unite(c.set, c.leaf[pe*c.stride:])
		}
		return
	}
	middle := (2*j + 1) << (groupBits + h - 1)
	if lo < middle {
		c.collectIn(h-1, 2*j, lo, hi)
	}
	if middle < hi {
		c.collectIn(h-1, 2*j+1, lo, hi)
	}
}

// overlapping returns the slots that use a PE which the given one uses, itself
// too if it uses any. The set is valid until the next call. It stops when all
// slots of the matrix do.
func (c *cells) overlapping(slot int, all []uint64) []uint64 {
	clear(c.set)
	c.overlappingIn(len(c.tiers)-1, 0, slot, all)
	return c.set
}

func (c *cells) overlappingIn(h, j, slot int, all []uint64) (done bool) {
	t := &c.tiers[h]
	if !has(t.any[j*c.stride:], slot) {
		return false
	}
	if has(t.cover[j*c.stride:], slot) {
		unite(c.set, t.any[j*c.stride:])
		return c.complete(all)
	}
	unite(c.set, t.cover[j*c.stride:])
	if h == 0 {
		for pe := j * group; pe < (j+1)*group; pe++ {
			if has(c.leaf[pe*c.stride:], slot) {
				unite(c.set, c.leaf[pe*c.stride:])
			}
		}
		return c.complete(all)
	}
	return c.overlappingIn(h-1, 2*j, slot, all) ||
		2*j+1 < len(c.tiers[h-1].count) && c.overlappingIn(h-1, 2*j+1, slot, all)
}

func (c *cells) complete(all []uint64) bool {
	for w, word := range all {
		if word&^c.set[w] != 0 {
			return false
		}
	}
	return true
}

// next returns the lowest PE from pe on that is used in the slot, -1 if none is.
// O(log PEs).
func (c *cells) next(slot, pe int) int {
	return c.nextIn(len(c.tiers)-1, 0, slot, pe)
}

func (c *cells) nextIn(h, j, slot, pe int) int {
	t := &c.tiers[h]
	from, to := j<<(groupBits+h), min((j+1)<<(groupBits+h), c.pes)
	switch {
	case to <= pe || !has(t.any[j*c.stride:], slot):
		return -1
	case has(t.cover[j*c.stride:], slot):
		return max(pe, from)
	case h == 0:
		for pe = max(pe, from); pe < to; pe++ {
			if has(c.leaf[pe*c.stride:], slot) {
				return pe
			}
		}
		return -1
	}
	if found := c.nextIn(h-1, 2*j, slot, pe); found >= 0 || 2*j+1 == len(c.tiers[h-1].count) {
		return found
	}
	return c.nextIn(h-1, 2*j+1, slot, pe)
}

// span is the PEs lo to hi-1.
type span struct{ lo, hi int }

// appendSpan appends a span, or widens the last one if they touch.
func appendSpan(dst []span, lo, hi int) []span {
	if n := len(dst); n > 0 && dst[n-1].hi == lo {
		dst[n-1].hi = hi
		return dst
	}
	return append(dst, span{lo, hi})
}

// appendFree appends the PEs that are unused in the slot, in order.
func (c *cells) appendFree(dst []span, slot int) []span {
	return c.appendFreeIn(dst, len(c.tiers)-1, 0, slot)
}

func (c *cells) appendFreeIn(dst []span, h, j, slot int) []span {
	t := &c.tiers[h]
	from, to := j<<(groupBits+h), min((j+1)<<(groupBits+h), c.pes)
	switch {
	case !has(t.any[j*c.stride:], slot):
		return appendSpan(dst, from, to)
	case has(t.cover[j*c.stride:], slot):
		return dst
	case h == 0:
		for pe := from; pe < to; pe++ {
			if !has(c.leaf[pe*c.stride:], slot) {
				dst = appendSpan(dst, pe, pe+1)
			}
		}
		return dst
	}
	if dst = c.appendFreeIn(dst, h-1, 2*j, slot); 2*j+1 < len(c.tiers[h-1].count) {
		dst = c.appendFreeIn(dst, h-1, 2*j+1, slot)
	}
	return dst
}

// load returns in how many slots a PE is used. O(log PEs).
func (c *cells) load(pe int) int {
	n := 0
	for _, word := range c.leaf[pe*c.stride:][:c.stride] {
		n += bits.OnesCount64(word)
	}
	for h := range c.tiers {
		n += int(c.tiers[h].count[pe>>(groupBits+h)])
	}
	return n
}

// unite adds the set that src begins with to dst.
func unite(dst, src []uint64) {
	for w := range dst {
		dst[w] |= src[w]
	}
}

func has(set []uint64, slot int) bool { return set[slot/64]>>(slot%64)&1 == 1 }

// appendLoads appends the load of every PE. O(PEs).
func (c *cells) appendLoads(dst []int32) []int32 {
	for pe := range c.pes {
		n := 0
		for _, word := range c.leaf[pe*c.stride:][:c.stride] {
			n += bits.OnesCount64(word)
		}
		dst = append(dst, int32(n))
	}
	for h := range c.tiers {
		for j, n := range c.tiers[h].count {
			if n > 0 {
				for pe := j << (groupBits + h); pe < (j+1)<<(groupBits+h); pe++ {
					dst[pe] += n
				}
			}
		}
	}
	return dst
}
