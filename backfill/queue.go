package backfill

import (
	"math"
	"slices"
)

// index finds the next job of a queue that may start now. It is a binary tree
// over queue positions: a leaf has the job's keys, an inner node the least of
// each key below it, so that a search leaves out what cannot hold an answer.
type index struct {
	width int     // keys of a job: need per resource, then estimate below empty
	size  int     // leaves, a power of two
	nodes []int64 // of 2·size nodes, the first unused, node i above 2i and 2i+1
}

// reset makes an empty index of at least n leaves.
func (x *index) reset(width, n int) {
	x.width, x.size = width, 1
	for x.size < n {
		x.size *= 2
	}
	x.nodes = slices.Grow(x.nodes[:0], 2*x.size*width)[:2*x.size*width]
	for i := range x.nodes {
		x.nodes[i] = empty
	}
}

// empty is what the keys of an empty position are.
const empty = math.MaxInt64

func (x *index) node(i int) []int64 { return x.nodes[i*x.width : (i+1)*x.width] }

// leaf returns the keys of a position; set must follow a change of them.
func (x *index) leaf(position int) []int64 { return x.node(x.size + position) }

// set carries the keys of a position up the tree. O(log n).
func (x *index) set(position int) {
	for i := (x.size + position) / 2; i > 0; i /= 2 {
		node, a, b := x.node(i), x.node(2*i), x.node(2*i+1)
		same := true
		for k := range node {
			v := min(a[k], b[k])
			same = same && node[k] == v
			node[k] = v
		}
		if same {
			return
		}
	}
}

// clear empties a position.
func (x *index) clear(position int) {
	if position >= x.size {
		return
	}
	leaf := x.leaf(position)
	for k := range leaf {
		leaf[k] = empty
	}
	x.set(position)
}

// next returns the first position from the given one on whose keys may start a
// job: they fit into free, and either the estimate is at most window or they
// fit into extra. It returns −1 if there is none. O(log n) for an answer if the
// least keys of a subtree are those of one job; more where they are not.
func (x *index) next(position int, free, extra []int64, window int64) int {
	if position >= x.size {
		return -1
	}
	i := x.size + position
	for i%2 == 0 {
		i /= 2
	}
	for {
		if may(x.node(i), free, extra, window) {
			if i >= x.size {
				return i - x.size
			}
			i *= 2
			continue
		}
		if i++; i&(i-1) == 0 { // past the last leaf
			return -1
		}
		for i%2 == 0 {
			i /= 2
		}
	}
}

func may(keys, free, extra []int64, window int64) bool {
	if keys[len(free)] == empty {
		return false
	}
	for i, n := range free {
		if keys[i] > n {
			return false
		}
	}
	if keys[len(free)] <= window {
		return true
	}
	for i, n := range extra {
		if keys[i] > n {
			return false
		}
	}
	return true
}
