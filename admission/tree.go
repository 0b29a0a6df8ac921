package admission

import (
	"math"
	"math/bits"
)

// tree is a binary tree over the positions of a queue, of which the first comes
// first. It finds the next job whose need is small enough, and the first that
// was skipped often enough, and adds a skip to all jobs before a position, each
// in O(log size).
type tree struct {
	size     int      // leaves, a power of two
	branches []branch // of 2·size the first unused; branch i is above 2i and 2i+1
}

type branch struct {
	// need is the least of each amount below, which need not be one job's, and
	// vacant if there is no job.
	need Need
	// skips, together with more of all branches above, is the greatest number of
	// skips below. Of vacant leaves it is so low that no sum brings it up to 0.
	skips int64
	more  int64
}

// vacant is the need at positions without a job.
var vacant = Need{Nodes: math.MaxInt, Memory: math.MaxInt64}

const (
	none  = -1 // no position
	never = math.MinInt64
)

// newTree returns a tree whose leaves are vacant.
func newTree(size int) tree {
	t := tree{size: size, branches: make([]branch, 2*size)}
	t.fill(0)
	return t
}

// leaves returns the leaves in order of their positions. What is done to them
// needs fill afterwards.
func (t *tree) leaves() []branch { return t.branches[t.size:] }

// fill makes the leaves from a position on vacant, and all above anew.
func (t *tree) fill(from int) {
	leaves := t.leaves()
	for p := from; p < t.size; p++ {
		leaves[p] = branch{need: vacant, skips: never}
	}
	for i := t.size - 1; i > 0; i-- {
		t.branches[i].more = 0
		t.join(i)
	}
}

// settle carries what is to be added to the leaves down to them. The branches
// above need fill afterwards.
func (t *tree) settle() {
	for i := 2; i < 2*t.size; i++ {
		b, more := &t.branches[i], t.branches[i/2].more
		b.more += more
		if i >= t.size {
			b.skips += more
		}
	}
}

// join computes a branch from the two below.
func (t *tree) join(i int) {
	x, a, b := &t.branches[i], &t.branches[2*i], &t.branches[2*i+1]
	x.need = Need{Nodes: min(a.need.Nodes, b.need.Nodes), Memory: min(a.need.Memory, b.need.Memory)}
	x.skips = max(a.skips, b.skips) + x.more
}

// skips returns how often the job at a position was skipped.
func (t *tree) skips(position int) int64 {
	i := t.size + position
	skips := t.branches[i].skips
	for i /= 2; i > 0; i /= 2 {
		skips += t.branches[i].more
	}
	return skips
}

// put puts a job at a vacant position.
func (t *tree) put(position int, need Need, skips int64) {
	i := t.size + position
	above := t.skips(position) - t.branches[i].skips
	t.branches[i] = branch{need: need, skips: skips - above}
	for i /= 2; i > 0; i /= 2 {
		t.join(i)
	}
}

// remove makes a position vacant, and adds skips to all before it.
func (t *tree) remove(position int, skips int64) {
	i := t.size + position
	t.branches[i] = branch{need: vacant, skips: never}
	for ; i > 1; i /= 2 {
		if i%2 == 1 {
			t.branches[i-1].skips += skips
			t.branches[i-1].more += skips
		}
		t.join(i / 2)
	}
}

// skipAll adds a skip to all positions.
func (t *tree) skipAll() {
	t.branches[1].skips++
	t.branches[1].more++
}

// skipped returns the first position whose job was skipped that often, none if
// there is none.
func (t *tree) skipped(often int64) int {
	if t.branches[1].skips < often {
		return none
	}
	i := 1
	for i < t.size {
		often -= t.branches[i].more
		if i *= 2; t.branches[i].skips < often {
			i++
		}
	}
	return i - t.size
}

// next returns the first position from one to another whose job's need passes
// may, none if there is none; nil lets all pass. If may is monotone, it is asked
// for branches too: where the least amounts do not pass, no job does.
func (t *tree) next(from, to int, may func(Need) bool) int {
	if from > to {
		return none
	}
	passed, failed := Need{}, vacant
	for i := t.highest(t.size + from); t.first(i) <= to; {
		need := t.branches[i].need
		pass := need.within(passed)
		if !pass && !failed.within(need) {
			if pass = may == nil || may(need); pass {
				passed = need
			} else {
				failed = need
			}
		}
		switch {
		case !pass:
			if i++; i&(i-1) == 0 { // past the last leaf
				return none
			}
			i = t.highest(i)
		case i < t.size:
			i *= 2
		default:
			return i - t.size
		}
	}
	return none
}

// highest returns the highest branch whose first leaf is that of branch i.
func (t *tree) highest(i int) int { return i >> bits.TrailingZeros(uint(i)) }

// first returns the position of the first leaf of a branch.
func (t *tree) first(i int) int {
	return i<<(bits.Len(uint(t.size))-bits.Len(uint(i))) - t.size
}

// within tells whether neither amount exceeds that of the other need.
func (n Need) within(other Need) bool { return n.Nodes <= other.Nodes && n.Memory <= other.Memory }
