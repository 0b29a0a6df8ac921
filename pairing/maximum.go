package pairing

import "slices"

// Maximum appends to dst the partner of each of n slots, or −1, for any rule of
// who fits with whom: fits must be symmetric, and is asked once for every two
// slots, the lower first. As many disjoint pairs are made as there can be, by
// J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17,
// 1965. Of all largest sets of pairs it is one in which the first slots are paired:
// the first slot is, if it fits with anybody, and each further one if that is
// possible together with those before it. So if each slot has a weight, and the
// slots are in order of falling weights, the paired ones have the greatest sum of
// weights that there can be.
//
// A slot that is left over fits only with slots that are paired. As its partner it
// gets the one that is the partner of the fewest so far, the lowest on ties, and
// that one keeps its own.
//
// O(n³) time and O(n²) memory at worst: for the slots of a matrix, not for a
// million. Where one number a slot decides use [Matcher], which finds as many
// pairs.
//
// It is meant for slots of several gangs each, of which two may run together on
// every node although their busiest gangs, on different nodes, would not fit. fits
// is [Matcher.FitsEach] then.
func Maximum(dst []int, n int, fits func(a, b int) bool) []int {
	g := graph{
		near: make([][]int, n), mate: make([]int, n), parent: make([]int, n), base: make([]int, n),
		used: make([]bool, n), blossom: make([]bool, n), path: make([]bool, n), queue: make([]int, 0, n),
	}
	lists := make([]int, n*n)
	for a := range n {
		g.mate[a] = -1
		g.near[a] = lists[a*n : a*n : (a+1)*n]
	}
	for a := range n {
		for b := a + 1; b < n; b++ {
			if fits(a, b) {
				g.near[a] = append(g.near[a], b)
				g.near[b] = append(g.near[b], a)
			}
		}
	}
	for a := range n {
		if g.mate[a] < 0 {
			g.augment(a)
		}
	}
	guests := g.base // how many slots have it for partner that it has not
	clear(guests)
	for a := range n {
		partner := g.mate[a]
		if partner < 0 && len(g.near[a]) > 0 {
			partner = slices.MinFunc(g.near[a], func(b, c int) int { return guests[b] - guests[c] })
			guests[partner]++
		}
		dst = append(dst, partner)
	}
	return dst
}

// graph is the state of a search for alternating paths.
type graph struct {
	near                [][]int
	mate                []int // partner, or −1
	parent, base        []int
	used, blossom, path []bool
	queue               []int
}

// augment looks for a path from a free slot to another, along which every second
// step is a pair, and exchanges the pairs on it for those between. If there is none,
// and a path of this kind leads to a slot after root by the pair of that one, root
// is paired instead.
func (g *graph) augment(root int) {
	for i := range g.base {
		g.base[i], g.parent[i], g.used[i] = i, -1, false
	}
	g.used[root] = true
	g.queue = append(g.queue[:0], root)
	for head := 0; head < len(g.queue); head++ {
		a := g.queue[head]
		for _, b := range g.near[a] {
			switch {
			case g.base[a] == g.base[b] || g.mate[a] == b:
			case b == root || g.mate[b] >= 0 && g.parent[g.mate[b]] >= 0:
				g.contract(a, b) // an odd cycle
			case g.parent[b] >= 0:
			case g.mate[b] < 0:
				g.parent[b] = a
				g.exchange(b)
				return
			default:
				g.parent[b] = a
				g.used[g.mate[b]] = true
				g.queue = append(g.queue, g.mate[b])
			}
		}
	}
	for last := len(g.mate) - 1; last > root; last-- {
		if g.used[last] {
			b := g.mate[last]
			g.mate[last] = -1
			g.exchange(b)
			return
		}
	}
}

// exchange exchanges the pairs on the path from the root to a free slot.
func (g *graph) exchange(b int) {
	for b >= 0 {
		a := g.parent[b]
		next := g.mate[a]
		g.mate[a], g.mate[b] = b, a
		b = next
	}
}

// contract makes one slot of the cycle that the edge between a and b closes.
func (g *graph) contract(a, b int) {
	top := g.common(a, b)
	clear(g.blossom)
	g.mark(a, top, b)
	g.mark(b, top, a)
	for i := range g.base {
		if g.blossom[g.base[i]] {
			g.base[i] = top
			if !g.used[i] {
				g.used[i] = true
				g.queue = append(g.queue, i)
			}
		}
	}
}

// common returns the base at which the ways of a and b to the root meet.
func (g *graph) common(a, b int) int {
	clear(g.path)
	for {
		a = g.base[a]
		g.path[a] = true
		if g.mate[a] < 0 {
			break
		}
		a = g.parent[g.mate[a]]
	}
	for {
		if b = g.base[b]; g.path[b] {
			return b
		}
		b = g.parent[g.mate[b]]
	}
}

// mark marks the bases from a up to top as part of the cycle.
func (g *graph) mark(a, top, child int) {
	for g.base[a] != top {
		g.blossom[g.base[a]], g.blossom[g.base[g.mate[a]]] = true, true
		g.parent[a] = child
		child = g.mate[a]
		a = g.parent[g.mate[a]]
	}
}
