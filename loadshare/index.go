package loadshare

import "fmt"

// fan is how many nodes of the tree share a parent: eight keys are a cache line.
const (
	fanBits = 3
	fan     = 1 << fanBits
	without = -1 // key of a machine that is no candidate
)

// Index knows the machines of a cluster, as they last told of themselves, and finds
// the [Candidate] without looking at each. It is a tree of the largest free memory
// of 1, 8, 64, … neighbours. An Index must not be used concurrently.
type Index struct {
	machines []Machine
	levels   [][]int64 // keys of 8^l machines each, padded to a multiple of fan; at most fan in the last
}

// NewIndex returns an index of these machines, which it copies; index k in it is
// that of the slice. A machine that cannot exist is refused with [ErrMachine]: a
// negative amount or count, no memory, a threshold that is NaN. Cost O(n).
func NewIndex(machines []Machine) (*Index, error) {
	x := &Index{machines: append([]Machine(nil), machines...)}
	keys := make([]int64, 0, len(machines)+fan)
	for k, m := range machines {
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("machine %d: %w", k, err)
		}
		keys = append(keys, key(m))
	}
	for {
		for len(keys) == 0 || len(keys)%fan != 0 {
			keys = append(keys, without)
		}
		x.levels = append(x.levels, keys)
		if len(keys) == fan {
			return x, nil
		}
		above := make([]int64, 0, len(keys)/fan+fan)
		for i := 0; i < len(keys); i += fan {
			above = append(above, largest(keys[i:]))
		}
		keys = above
	}
}

// Set notes the load of machine k, and its thresholds. A machine that cannot exist
// is refused as by [NewIndex], and nothing changes. It panics if there is no k. Cost
// O(log n).
func (x *Index) Set(k int, m Machine) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("machine %d: %w", k, err)
	}
	x.machines[k] = m
	value := key(m)
	for _, keys := range x.levels {
		if keys[k] == value {
			break // nor does anything above change
		}
		keys[k] = value
		value = largest(keys[k&^(fan-1):])
		k >>= fanBits
	}
	return nil
}

// Machine returns what is known of machine k. It panics if there is no k. Cost O(1).
func (x *Index) Machine(k int) Machine { return x.machines[k] }

// Candidate answers as [Candidate] does: the machine with the largest free memory of
// those that have fewer jobs than their bound, without except. Cost O(log n).
func (x *Index) Candidate(except int) (int, Machine, bool) {
	top := len(x.levels) - 1
	best, level := 0, top
	most := int64(without)
	if except < 0 || except >= len(x.machines) {
		best, most = first(x.levels[top])
	} else {
		// The machines without except are those under the siblings of the nodes
		// above it.
		for l, i := 0, except; l <= top; l, i = l+1, i>>fanBits {
			keys, start := x.levels[l], i&^(fan-1)
			for s := start; s < start+fan; s++ {
				if v := keys[s]; s != i && (v > most || v == most && s<<(fanBits*l) < best<<(fanBits*level)) {
					best, level, most = s, l, v
				}
			}
		}
	}
	if most == without {
		return 0, Machine{}, false
	}
	for ; level > 0; level-- {
		start := best << fanBits
		best, _ = first(x.levels[level-1][start : start+fan])
		best += start
	}
	return best, x.machines[best], true
}

func key(m Machine) int64 {
	if !m.hasSlot() {
		return without
	}
	return m.Free
}

// largest returns the largest of the first fan keys.
func largest(keys []int64) int64 {
	_, v := first(keys[:fan])
	return v
}

// first returns the largest key and where it comes first.
func first(keys []int64) (int, int64) {
	best, most := 0, keys[0]
	for i, v := range keys[1:] {
		if v > most {
			best, most = i+1, v
		}
	}
	return best, most
}
