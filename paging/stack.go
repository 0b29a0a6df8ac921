package paging

import (
	"fmt"
	"math"
)

const maxPages = 1 << 29 // or frames: 2 TB of 4 KB

// Stack is the LRU stack of R. L. Mattson, J. Gecsei, D. R. Slutz and I. L.
// Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal
// 9(2), 1970: pages in the order of their last references. As a memory of f
// frames that replaces the least recently used page holds the first f of them,
// one pass over a stream of references tells the faults for every size of
// memory, see [Stack.Curve].
//
// It takes 16 to 24 bytes a page. A Stack must not be used concurrently;
// separate ones may.
type Stack struct {
	// References are numbered from 1. When the numbers run out, those that are
	// the last of some page are numbered anew, in the same order.
	now  int32
	last []int32 // by page: number of its last reference, 0 for none
	page []int32 // by number: the page referred to
	tree []int32 // by number: Fenwick tree, counts numbers that are last ones

	distinct   int32
	references int64
	depths     []int64 // by depth: references found there, 0 for first ones
}

// NewStack returns an empty stack for pages 0 to pages − 1. It refuses fewer
// than one and more than 2²⁹ pages with [ErrSize].
func NewStack(pages int) (*Stack, error) {
	if pages < 1 || pages > maxPages {
		return nil, fmt.Errorf("stack of %d pages: %w", pages, ErrSize)
	}
	return &Stack{
		last:   make([]int32, pages),
		page:   make([]int32, 2*pages+1),
		tree:   make([]int32, 2*pages+1),
		depths: make([]int64, pages+1),
	}, nil
}

// Touch refers to a page and returns its depth in the stack before, its stack
// distance: 1 for the page referred to last, and in general one more than the
// number of other pages referred to since. A memory of that many frames or more
// has the page, a smaller one has not. A first reference has no depth and
// returns 0. The page is now on top.
//
// Cost O(log n) in pages, with what numbering anew costs spread over the
// references; it does not allocate. A page that is not in the stack's range
// panics as an index does.
func (s *Stack) Touch(page int) (depth int) {
	last := s.last[page]
	if last == 0 {
		s.distinct++
	} else {
		depth = int(s.distinct) + 1
		for i := last; i > 0; i &= i - 1 {
			depth -= int(s.tree[i])
		}
	}
	s.references++
	s.depths[depth]++
	if depth == 1 {
		return depth // on top already
	}
	if int(s.now) == len(s.tree)-1 {
		s.renumber()
		last = s.last[page]
	}
	s.now++
	s.page[s.now], s.last[page] = int32(page), s.now
	s.add(s.now, 1)
	if last != 0 {
		s.add(last, -1)
	}
	return depth
}

func (s *Stack) add(number, count int32) {
	for i := int(number); i < len(s.tree); i += i & -i {
		s.tree[i] += count
	}
}

// renumber gives the last references of all pages the numbers from 1 on.
func (s *Stack) renumber() {
	clear(s.tree)
	now := s.now
	s.now = 0
	for number := int32(1); number <= now; number++ {
		if page := s.page[number]; s.last[page] == number {
			s.now++
			s.page[s.now], s.last[page] = page, s.now
			s.tree[s.now] = 1
		}
	}
	for i := 1; i < len(s.tree); i++ {
		if up := i + i&-i; up < len(s.tree) {
			s.tree[up] += s.tree[i]
		}
	}
}

// Discard forgets the references counted so far, but not the pages nor their
// order: the curve is then of what follows, in a memory that is warm. Cost O(n)
// in pages.
func (s *Stack) Discard() {
	s.references = 0
	clear(s.depths)
}

// Curve returns the faults per reference for every size of memory, from the
// references so far, or since the last [Stack.Discard]; without any it is 0
// everywhere. Cost O(n) in pages.
func (s *Stack) Curve() Curve {
	c := make(Curve, len(s.depths))
	faults := int64(0)
	for frames := len(c) - 2; frames >= 0; frames-- {
		faults += s.depths[frames+1]
		c[frames] = float64(faults) / float64(max(1, s.references))
	}
	return c
}

// Curve is the share of references that fault, c[f] in a memory of f frames
// where the least recently used page is replaced. First references are not
// faults, as with [Outcome]. A curve never rises with the number of frames, and
// ends at 0 with as many frames as pages.
//
// It is for a process on its own: for what several do to each other see [Memory].
type Curve []float64

// Rate returns the faults per reference for a memory of that many frames, or for
// a share of a memory that is not a whole number of them: between two, it is on
// the straight line. Below 0 it is the first value of the curve, beyond its end
// the last, for NaN or an empty curve NaN. Cost O(1). Calls may run concurrently.
func (c Curve) Rate(frames float64) float64 {
	switch {
	case len(c) == 0 || math.IsNaN(frames):
		return math.NaN()
	case frames <= 0:
		return c[0]
	case frames >= float64(len(c)-1):
		return c[len(c)-1]
	}
	whole := math.Floor(frames)
	left, right := c[int(whole)], c[int(whole)+1]
	return left + float64((frames-whole)*(right-left))
}
