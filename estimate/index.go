package estimate

// index finds nodes by the hash of their identity: open addressing with linear
// probing, at most three quarters full. It has 2^k or 3·2^k slots. The high bits
// of the hash say where a search begins.
type index struct {
	slots []slot
	used  int
}

// slot says of a node what a search needs to know to go on, so that it need not
// wait for the node: memory far away takes longer than all the rest. The zero
// slot is empty.
type slot struct {
	node uint32 // its number, above that its finest level, and above that the low bits of the hash, so that few wrong nodes are looked at
	name uint32 // in names: the path, if ByPath is among the levels, and the user, if it is a record
}

const (
	numberBits = 24 // 3·MaxRecords nodes at most
	levelBits  = 2
	tag        = numberBits + levelBits
)

func (s slot) number() uint32          { return s.node & (1<<numberBits - 1) }
func (s slot) finest() Level           { return Level(s.node >> numberBits & (1<<levelBits - 1)) }
func (s slot) tagged(hash uint32) bool { return s.node>>tag == hash<<tag>>tag }
func (s slot) empty() bool             { return s.node == 0 }

func (x *index) home(hash uint32) uint32 { return uint32(uint64(hash) * uint64(len(x.slots)) >> 32) }

func (x *index) next(i uint32) uint32 {
	if i++; i < uint32(len(x.slots)) {
		return i
	}
	return 0
}

func (x *index) set(i, hash, id uint32, finest Level, name uint32) {
	x.slots[i] = slot{hash<<tag | uint32(finest)<<numberBits | id, name}
}

// grow makes room. hash returns the hash of a node.
func (x *index) grow(hash func(uint32) uint32) {
	old, n := *x, max(len(x.slots), 48)
	if n&(n-1) == 0 {
		n += n / 2
	} else {
		n += n / 3
	}
	*x = index{slots: make([]slot, n)}
	for _, s := range old.slots {
		if !s.empty() {
			x.insert(hash(s.number()), s.number(), s.finest(), s.name)
		}
	}
}

// insert adds a node, for which there must be room.
func (x *index) insert(hash, id uint32, finest Level, name uint32) {
	i := x.home(hash)
	for !x.slots[i].empty() {
		i = x.next(i)
	}
	x.set(i, hash, id, finest, name)
	x.used++
}

func (x *index) full() bool { return x.used >= len(x.slots)/4*3 }

// find returns the slot of a node.
func (x *index) find(hash, id uint32) uint32 {
	i := x.home(hash)
	for x.slots[i].number() != id {
		i = x.next(i)
	}
	return i
}

// remove takes a node out, whose slot it returns, and moves up those behind it
// that a search would miss otherwise.
func (x *index) remove(id uint32, hash func(uint32) uint32) slot {
	hole := x.find(hash(id), id)
	gone := x.slots[hole]
	for i := x.next(hole); !x.slots[i].empty(); i = x.next(i) {
		// How far i is from its home, and from the hole: where it began anew at 0
		// in between, the difference wraps around and is large, as it should be.
		if i-x.home(hash(x.slots[i].number())) >= i-hole {
			x.slots[hole] = x.slots[i]
			hole = i
		}
	}
	x.slots[hole] = slot{}
	x.used--
	return gone
}

// mix returns a hash of a number under a secret, as SplitMix64 does.
func mix(secret, number uint64) uint64 {
	x := secret + number*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
