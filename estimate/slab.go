package estimate

// slab holds values in pages that never move, so that it grows without copying.
// Number 0 is never given out.
type slab[T any] struct {
	pages  []*[slabPage]T
	next   uint32 // numbers given out so far, and 0
	vacant []uint32
}

// slabPage values of 60 and of 56 bytes fill whole pages of the Go heap.
const slabPage = 1 << 11

func (s *slab[T]) at(i uint32) *T { return &s.pages[i/slabPage][i%slabPage] }

// take returns the number of an unused value, which holds what it held before.
func (s *slab[T]) take() uint32 {
	if n := len(s.vacant); n > 0 {
		i := s.vacant[n-1]
		s.vacant = s.vacant[:n-1]
		return i
	}
	if s.next%slabPage == 0 {
		s.pages = append(s.pages, new([slabPage]T))
	}
	s.next = max(s.next, 1)
	s.next++
	return s.next - 1
}

func (s *slab[T]) give(i uint32) { s.vacant = append(s.vacant, i) }
