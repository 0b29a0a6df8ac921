package matrix

import (
	"math"
	"math/bits"
)

// best sums up the controllers of one level in a node of the tree, so that the
// least loaded one that is free in some slot can be found from the root.
//
// Loads and slots are counted as far as they are kept in the node and below it.
// What is kept above covers all controllers of the node alike: a span at an
// ancestor adds the controller's width to each load, and takes one more slot
// from each, in which, as no cell is used twice, nothing is kept below. So to
// the load of a controller comes its width times the spans above, to the slots
// it is used in their number, and it is free in some slot exactly if the slots it
// is used in are fewer than all. No set of slots has to be compared.
//
// Nor is it needed to know beforehand how many all slots are. None is used in more:
// if the least loaded controller is free in no slot, then used is the number of all
// (less the spans above), and those that are free in some slot are those used in
// fewer, whose least load is next.
type best struct {
	load int64 // the least load
	next int64 // the least load of those used in fewer slots, if none is used in more
	used int32 // the slots that a least loaded one is used in
}

// never is the load of a controller that there is not; it stays beyond all loads
// when those of spans above are added.
const never = math.MaxInt64 / 2

// either returns the best of two sets of controllers. If b is used in more slots than
// a, all slots are more than a is used in, and nobody asks for a.next.
func either(a, b best) best {
	if b.load < a.load {
		a, b = b, a
	}
	if b.used < a.used {
		a.next = min(a.next, b.load)
	} else if b.used == a.used {
		a.next = min(a.next, b.next)
	}
	return a
}

// below returns what b becomes with n more spans above, for controllers of a
// level.
func (b best) below(n, level int) best {
	load := int64(n) << level
	return best{b.load + load, b.next + load, b.used + int32(n)}
}

// least returns the least load of the controllers that are used in fewer slots
// than all; never or more if there are none.
func (b best) least(all int) int64 {
	if int(b.used) < all {
		return b.load
	}
	return b.next
}

// rate computes what a node keeps of its controllers.
func (c *cells) rate(h, j int) {
	t := &c.tiers[h]
	own := groupBits + h // the level at which the node itself is a controller
	b := t.best[j*(own+1):][:own+1]
	if h == 0 {
		c.rateGroup(j, b)
		return
	}
	left := c.tiers[h-1].best[2*j*own:][:own]
	var right []best
	if 2*j+1 < len(c.tiers[h-1].count) {
		right = c.tiers[h-1].best[(2*j+1)*own:][:own]
	}
	n := int(t.count[j])
	for level, l := range left {
		if right != nil {
			l = either(l, right[level])
		}
		b[level] = l.below(n, level)
	}
	b[own] = best{load: never, next: never}
	if (j+1)<<own <= c.pes {
		var used int32
		for _, word := range t.any[j*c.stride:][:c.stride] {
			used += int32(bits.OnesCount64(word))
		}
		b[own] = best{left[own-1].load + right[own-1].load + int64(n)<<own, never, used}
	}
}

// rateGroup is rate for a group: it joins the PEs to controllers of two, these to
// controllers of four, and so on.
func (c *cells) rateGroup(j int, b []best) {
	var loads [group]int64
	copy(c.joined, c.leaf[j*len(c.joined):])
	for level := range b {
		b[level] = best{load: never, next: never}
		for k := range min(group, c.pes-j*group) >> level {
			used := 0
			for w := range c.stride {
				word := &c.joined[k*c.stride+w]
				if level > 0 {
					*word = c.joined[2*k*c.stride+w] | c.joined[(2*k+1)*c.stride+w]
				}
				used += bits.OnesCount64(*word)
			}
			if level == 0 {
				loads[k] = int64(used)
			} else {
				loads[k] = loads[2*k] + loads[2*k+1]
			}
			b[level] = either(b[level], best{loads[k], never, int32(used)})
		}
		b[level] = b[level].below(int(c.tiers[0].count[j]), level)
	}
}

// measure returns the load of a controller in a group, and in how many slots it
// is used, as far as they are kept PE by PE.
func (c *cells) measure(lo, hi int) (load int64, slots int32) {
	for w := range c.stride {
		var used uint64
		n := 0
		for i := lo*c.stride + w; i < hi*c.stride; i += c.stride {
			n += bits.OnesCount64(c.leaf[i])
			used |= c.leaf[i]
		}
		load += int64(n)
		slots += int32(bits.OnesCount64(used))
	}
	return load, slots
}

// candidate is a node in which to search on, or the controller to choose if no
// other candidate comes before it.
type candidate struct {
	load   int64 // the least of its controllers
	pe     int32 // its first PE
	height int32 // chosen if a controller
	above  int32 // spans kept at its ancestors
}

const chosen = -1

// before is the order of the search. Candidates do not overlap, so of those with
// the same load the first has the lowest controllers.
func (a candidate) before(b candidate) bool {
	return a.load < b.load || a.load == b.load && a.pe < b.pe
}

// least returns the first PE of the least loaded controller of a level that is
// used in fewer slots than all and whose first n PEs fit, of several the lowest, -1
// if there is none. As the least load in every node is known, if all PEs fit it
// goes straight down from the root. O(log PEs) nodes, and as many for every
// controller that does not fit.
func (c *cells) least(level, all, n int, fits func(pe int) bool) int {
	c.search = c.search[:0]
	c.offer(len(c.tiers)-1, 0, 0, level, all)
	for len(c.search) > 0 {
		d := c.pop()
		h, j := int(d.height), int(d.pe)>>(groupBits+max(d.height, 0))
		switch {
		case h == chosen:
			return int(d.pe)
		case groupBits+h == level:
			if fitting(int(d.pe), n, fits) {
				return int(d.pe)
			}
		case h == 0:
			c.offerWithin(d, level, all, n, fits)
		default:
			above := int(d.above + c.tiers[h].count[j])
			c.offer(h-1, 2*j, above, level, all)
			if 2*j+1 < len(c.tiers[h-1].count) {
				c.offer(h-1, 2*j+1, above, level, all)
			}
		}
	}
	return -1
}

// offer makes a node a candidate if it has controllers to choose from.
func (c *cells) offer(h, j, above, level, all int) {
	load := c.tiers[h].best[j*(groupBits+h+1)+level].least(all - above)
	if load < never {
		c.push(candidate{load + int64(above)<<level, int32(j << (groupBits + h)), int32(h), int32(above)})
	}
}

// offerWithin makes the least loaded controller of a group that fits a
// candidate.
func (c *cells) offerWithin(d candidate, level, all, n int, fits func(pe int) bool) {
	var loads [group]int64
	first := int(d.pe)
	controllers := min(group, c.pes-first) >> level
	above := int(d.above + c.tiers[0].count[first>>groupBits])
	for k := range controllers {
		load, used := c.measure(first+k<<level, first+(k+1)<<level)
		if loads[k] = load + int64(above)<<level; int(used)+above >= all {
			loads[k] = never
		}
	}
	for {
		k := 0
		for i := range controllers {
			if loads[i] < loads[k] {
				k = i
			}
		}
		if loads[k] == never {
			return
		}
		if fitting(first+k<<level, n, fits) {
			c.push(candidate{load: loads[k], pe: int32(first + k<<level), height: chosen})
			return
		}
		loads[k] = never
	}
}

// fitting says whether the n PEs from lo on fit.
func fitting(lo, n int, fits func(pe int) bool) bool {
	if fits != nil {
		for pe := lo; pe < lo+n; pe++ {
			if !fits(pe) {
				return false
			}
		}
	}
	return true
}

// push and pop keep the candidates as a heap.
func (c *cells) push(d candidate) {
	c.search = append(c.search, d)
	i := len(c.search) - 1
	for i > 0 && d.before(c.search[(i-1)/2]) {
		c.search[i] = c.search[(i-1)/2]
		i = (i - 1) / 2
	}
	c.search[i] = d
}

func (c *cells) pop() candidate {
	top := c.search[0]
	n := len(c.search) - 1
	d := c.search[n]
	c.search = c.search[:n]
	i := 0
	for 2*i+1 < n {
		k := 2*i + 1
		if k+1 < n && c.search[k+1].before(c.search[k]) {
			k++
		}
		if !c.search[k].before(d) {
			break
		}
		c.search[i] = c.search[k]
		i = k
	}
	if n > 0 {
		c.search[i] = d
	}
	return top
}
