package estimate

import "math/bits"

// index finds nodes by the hash of their identity: open addressing with linear
// probing in 2^k slots, at most three quarters of them full. A slot has the
// number of a node, which is below 2^k, in its low k bits, and above them the
// low 32-k bits of the hash, whose high k bits say where the search begins. So
// few wrong nodes are looked at. 0 is an empty slot.
type index struct {
	slots []uint32
	k     uint
	used  int
}

func (x *index) mask() uint32               { return uint32(len(x.slots)) - 1 }
func (x *index) home(hash uint32) uint32    { return hash >> (32 - x.k) }
func (x *index) next(i uint32) uint32       { return (i + 1) & x.mask() }
func (x *index) number(i uint32) uint32     { return x.slots[i] & x.mask() }
func (x *index) tagged(i, hash uint32) bool { return (x.slots[i]^hash<<x.k)>>x.k == 0 }
func (x *index) set(i, hash, id uint32)     { x.slots[i] = hash<<x.k | id }

// grow doubles the index. hash returns the hash of a node.
func (x *index) grow(hash func(uint32) uint32) {
	old := *x
	x.k = max(old.k+1, 6)
	x.slots, x.used = make([]uint32, 1<<x.k), 0
	for i, slot := range old.slots {
		if slot != 0 {
			id := old.number(uint32(i))
			x.insert(hash(id), id)
		}
	}
}

// insert adds a node, for which there must be room.
func (x *index) insert(hash, id uint32) {
	i := x.home(hash)
	for x.slots[i] != 0 {
		i = x.next(i)
	}
	x.set(i, hash, id)
	x.used++
}

func (x *index) full() bool { return x.used >= len(x.slots)/4*3 }

// find returns the slot of a node.
func (x *index) find(hash, id uint32) uint32 {
	i := x.home(hash)
	for x.slots[i] != hash<<x.k|id {
		i = x.next(i)
	}
	return i
}

// remove takes a node out, and moves up those behind it that a search would
// miss otherwise.
func (x *index) remove(id uint32, hash func(uint32) uint32) {
	hole := x.find(hash(id), id)
	for i := x.next(hole); x.slots[i] != 0; i = x.next(i) {
		if home := x.home(hash(x.number(i))); (i-home)&x.mask() >= (i-hole)&x.mask() {
			x.slots[hole] = x.slots[i]
			hole = i
		}
	}
	x.slots[hole] = 0
	x.used--
}

// fold mixes a secret with a number.
func fold(secret, number uint64) uint64 {
	high, low := bits.Mul64(secret, number^0x9e3779b97f4a7c15)
	return high ^ low
}
