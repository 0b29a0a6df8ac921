package estimate

// names holds pairs of a path and a user, out of the garbage collector's sight.
// A pair has a block of a multiple of 4 bytes: the length of the path, in seven
// bits a byte, that of the user in one byte, then the strings. It is known by the
// block's place in units of 4 bytes; 0 is no pair. Blocks are given out in a row,
// and what was given back is regained by moving what is left into new pages: a
// third of what is left at most, so that 2^22 records of the longest names, 11 GB,
// stay within 2^32 units.
type names struct {
	pages []*[pageUnits * unit]byte
	used  uint32 // units up to the last block
	dead  uint32 // of them, units given back or never given out
}

const (
	unit      = 4
	pageUnits = 1 << 13
)

func units(path, user int) uint32 {
	lengths := 2
	if path > 0x7f {
		lengths++
	}
	return uint32(lengths+path+user+unit-1) / unit
}

func (s *names) block(name uint32) []byte {
	return s.pages[name/pageUnits][name%pageUnits*unit:]
}

// put copies a pair and returns it.
func put[T string | []byte](s *names, path, user T) uint32 {
	n := units(len(path), len(user))
	if end := uint32(len(s.pages)) * pageUnits; end-s.used < n {
		s.dead += end - s.used
		s.used = end
		s.pages = append(s.pages, new([pageUnits * unit]byte))
	}
	if s.used == 0 {
		s.used, s.dead = 1, 1
	}
	name := s.used
	s.used += n
	b := s.block(name)
	if b[0] = uint8(len(path)); len(path) > 0x7f {
		b[0] |= 0x80
		b[1] = uint8(len(path) >> 7)
		b = b[1:]
	}
	b[1] = uint8(len(user))
	copy(b[2:], path)
	copy(b[2+len(path):], user)
	return name
}

// get returns a pair.
func (s *names) get(name uint32) (path, user []byte) {
	b := s.block(name)
	n := int(b[0])
	if n > 0x7f {
		n = n&0x7f | int(b[1])<<7
		b = b[1:]
	}
	m := int(b[1])
	return b[2 : 2+n], b[2+n : 2+n+m]
}

func (s *names) drop(name uint32) {
	path, user := s.get(name)
	s.dead += units(len(path), len(user))
}

// sparse tells that it is time to move: a quarter is not in use, and a page at least.
func (s *names) sparse() bool { return s.dead > max(s.used/4, pageUnits) }
