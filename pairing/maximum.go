package pairing

import (
	"cmp"
	"fmt"
	"slices"
)

// Maximum appends to dst the partner of each of n slots, or −1, for any rule of
// who fits with whom: fits must be symmetric, and is asked once for every two
// slots, the lower first. As many disjoint pairs are made as there can be, by
// J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17,
// 1965. A slot that is left over gets the lowest one that fits as its partner, as
// in [Matcher.AppendPartners]. O(n³) time and O(n²) memory at worst: for the slots
// of a matrix, not for a million. Where utilisations are one number a slot use
// Matcher, which is just as good.
//
// It is meant for slots of several gangs each, of which two may run together on
// every node although their busiest gangs, on different nodes, would not fit:
//
//	fits := func(a, b int) bool { // u[slot][pe]: 0 where the slot has no process
//		for pe := range pes {
//			if u[a][pe]+u[b][pe]+margin >= 1 {
//				return false
//			}
//		}
//		return true
//	}
func Maximum(dst []int, n int, fits func(a, b int) bool) []int {
	g := graph{
		near: make([][]int, n), mate: make([]int, n), parent: make([]int, n), base: make([]int, n),
		used: make([]bool, n), blossom: make([]bool, n), path: make([]bool, n),
	}
	for a := range n {
		g.mate[a] = -1
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
	for a := range n {
		if g.mate[a] < 0 && len(g.near[a]) > 0 {
			dst = append(dst, slices.Min(g.near[a]))
		} else {
			dst = append(dst, g.mate[a])
		}
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
// step is a pair, and exchanges the pairs on it for those between.
func (g *graph) augment(root int) {
	for i := range g.base {
		g.base[i], g.parent[i], g.used[i] = i, -1, false
	}
	g.used[root] = true
	g.queue = append(g.queue[:0], root)
	for len(g.queue) > 0 {
		a := g.queue[0]
		g.queue = g.queue[1:]
		for _, b := range g.near[a] {
			switch {
			case g.base[a] == g.base[b] || g.mate[a] == b:
			case b == root || g.mate[b] >= 0 && g.parent[g.mate[b]] >= 0:
				g.contract(a, b) // an odd cycle
			case g.parent[b] >= 0:
			case g.mate[b] < 0:
				for g.parent[b] = a; b >= 0; {
					p := g.parent[b]
					next := g.mate[p]
					g.mate[b], g.mate[p] = p, b
					b = next
				}
				return
			default:
				g.parent[b] = a
				g.used[g.mate[b]] = true
				g.queue = append(g.queue, g.mate[b])
			}
		}
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

// Groups puts gangs together that use several kinds of device (§5): demands[i] are
// those of gang i for processor, disk, network and so on, each from 0 to 1 and the
// same kinds in the same order. Of a group the demands for each device, and the
// margin, sum up to less than 1, and no group has more than size gangs: with N
// kinds of device, N + 1 can keep all of them busy. It appends to dst the number of
// each gang's group, from 0 on.
//
// To find the fewest groups is vector bin packing, which is hard. This is first fit
// decreasing: gangs in order of their greatest demand, the greatest first, ties by
// index, each into the first group that takes it. A gang that fits with nobody, be
// it that its own demand and the margin are too much, has a group of its own.
//
// Demands that are not from 0 to 1 are refused with [ErrUtilisation], gangs of
// different numbers of devices, a size below 1, and a margin that is not from 0 to
// 1, with [ErrConfig]. O(n·groups·devices).
func Groups(dst []int, demands [][]float64, size int, margin float64) ([]int, error) {
	if size < 1 || billionths(margin) == unmeasurable {
		return dst, fmt.Errorf("groups of %d, margin %v: %w", size, margin, ErrConfig)
	}
	type gang struct{ index, greatest int64 }
	order := make([]gang, len(demands))
	for i, d := range demands {
		if len(d) != len(demands[0]) {
			return dst, fmt.Errorf("gang %d has demands for %d devices, not %d: %w", i, len(d), len(demands[0]), ErrConfig)
		}
		order[i].index = int64(i)
		for _, u := range d {
			if err := check(u); err != nil {
				return dst, fmt.Errorf("gang %d: %w", i, err)
			}
			order[i].greatest = max(order[i].greatest, billionths(u))
		}
	}
	slices.SortStableFunc(order, func(a, b gang) int { return cmp.Compare(b.greatest, a.greatest) })
	type group struct {
		gangs int
		used  []int64
	}
	var groups []group
	start := len(dst)
	dst = append(dst, make([]int, len(demands))...)
	for _, g := range order {
		d := demands[g.index]
		k := slices.IndexFunc(groups, func(x group) bool {
			if x.gangs >= size {
				return false
			}
			for device, u := range d {
				if x.used[device]+billionths(u)+billionths(margin) >= billion {
					return false
				}
			}
			return true
		})
		if k < 0 {
			k = len(groups)
			groups = append(groups, group{used: make([]int64, len(d))})
		}
		groups[k].gangs++
		for device, u := range d {
			groups[k].used[device] += billionths(u)
		}
		dst[start+int(g.index)] = k
	}
	return dst, nil
}
