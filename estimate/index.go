package estimate

import "math/bits"

// index finds nodes by the hash of their identity: open addressing with linear
// probing, at most three quarters full. It has 2^k or 3·2^k slots. A slot has in
// its low bits the number of a node, which is below the number of slots, and
// above that the low bits of the hash, so that few wrong nodes are looked at;
// the high bits of the hash say where a search begins. 0 is an empty slot.
type index struct {
	slots []uint32
	bits  uint // of a node's number
	used  int
}

func (x *index) home(hash uint32) uint32 { return uint32(uint64(hash) * uint64(len(x.slots)) >> 32) }

func (x *index) next(i uint32) uint32 {
	if i++; i < uint32(len(x.slots)) {
		return i
	}
	return 0
}

func (x *index) number(i uint32) uint32     { return x.slots[i] & (1<<x.bits - 1) }
func (x *index) tagged(i, hash uint32) bool { return (x.slots[i]^hash<<x.bits)>>x.bits == 0 }
func (x *index) set(i, hash, id uint32)     { x.slots[i] = hash<<x.bits | id }

// grow makes room. hash returns the hash of a node.
func (x *index) grow(hash func(uint32) uint32) {
	old, n := *x, max(len(x.slots), 48)
	if n&(n-1) == 0 {
		n += n / 2
	} else {
		n += n / 3
	}
	*x = index{slots: make([]uint32, n), bits: uint(bits.Len(uint(n - 1)))}
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
	for x.slots[i] != hash<<x.bits|id {
		i = x.next(i)
	}
	return i
}

// remove takes a node out, and moves up those behind it that a search would
// miss otherwise.
func (x *index) remove(id uint32, hash func(uint32) uint32) {
	hole := x.find(hash(id), id)
	for i := x.next(hole); x.slots[i] != 0; i = x.next(i) {
		// How far i is from its home, and from the hole: where it began anew at 0
		// in between, the difference wraps around and is large, as it should be.
		if i-x.home(hash(x.number(i))) >= i-hole {
			x.slots[hole] = x.slots[i]
			hole = i
		}
	}
	x.slots[hole] = 0
	x.used--
}

// mix returns a hash of a number under a secret, as SplitMix64 does.
func mix(secret, number uint64) uint64 {
	x := secret + number*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
