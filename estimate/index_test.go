package estimate

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Jobs whose hashes are equal, at the same level and at different ones, are
// told apart.
func TestEqualHashes(t *testing.T) {
	h, err := NewHistory(Config{Paths: MaxRecords, Records: MaxRecords})
	require.NoError(t, err)
	require.NoError(t, h.Observe(Job{Path: "first", Nodes: 1}, 0)) // draws the seed
	type place struct {
		level Level
		job   Job
	}
	seen := map[uint32]place{}
	used := map[Job]bool{}
	pairs := 0
	kinds := map[string]int{}
	for i := range 200_000 {
		j := Job{Path: fmt.Sprint(i), Nodes: 2, User: "u"}
		for level := ByPathNodesUser; level <= ByPath; level++ {
			sum := h.hash(level, &j)
			other, ok := seen[sum]
			seen[sum] = place{level, j}
			if !ok || used[other.job] || used[j] {
				continue
			}
			used[other.job], used[j] = true, true
			pairs++
			kinds[fmt.Sprint(other.level, " and ", level)]++
			// Each of the two in a tree that has a node for every level.
			for k, job := range []Job{other.job, j} {
				for _, more := range []Job{{job.Path, 1, "u"}, {job.Path, 2, "v"}, job} {
					require.NoError(t, h.Observe(more, int64(100*i+k)))
				}
			}
			for k, job := range []Job{other.job, j} {
				for level, count := range map[Level]int{ByPathNodesUser: 1, ByPathNodes: 2, ByPath: 3} {
					asked := job
					if level >= ByPathNodes {
						asked.User = "nobody"
					}
					if level == ByPath {
						asked.Nodes = 99
					}
					s, found := h.Past(asked)
					require.Equal(t, level, found)
					require.Equal(t, count, s.Count)
					require.Equal(t, int64(100*i+k), s.Max)
				}
			}
			require.NoError(t, h.Check())
		}
	}
	require.Greater(t, pairs, 10)
	require.Greater(t, len(kinds), 3, kinds)
}

// Each record has a node of its own at every level, at most, and one record is
// taken in before another goes.
func TestNumbersOfNodesFitIntoSlots(t *testing.T) {
	x := index{slots: make([]slot, 1)}
	x.set(0, 1<<32-1, 3*(MaxRecords+1), ByPath, 1)
	require.Equal(t, uint32(3*(MaxRecords+1)), x.slots[0].number())
	require.Equal(t, ByPath, x.slots[0].finest())
	require.True(t, x.slots[0].tagged(1<<32-1))
	require.False(t, x.slots[0].tagged(1<<32-2))
}

// Insertions and removals against a map, in an index with long clusters.
func TestIndexAgainstMap(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var x index
		hashes := make([]uint32, 2000)
		for i := range hashes {
			hashes[i] = r.Uint32() >> r.IntN(3) & (0xff << 24) // 256 homes; many at the end wrap around
			if r.IntN(4) == 0 {
				hashes[i] = 1<<32 - 1
			}
		}
		hash := func(id uint32) uint32 { return hashes[id] }
		most := 10 + r.Uint32N(500) // numbers of nodes are below the number of slots
		for len(x.slots) <= int(most) {
			x.grow(hash)
		}
		in := map[uint32]bool{}
		for range 2000 {
			id := 1 + r.Uint32N(most)
			if in[id] {
				x.remove(id, hash)
			} else {
				if x.full() {
					x.grow(hash)
				}
				x.insert(hashes[id], id, ByPath, 0)
			}
			in[id] = !in[id]
		}
		count := 0
		for id, ok := range in {
			found := false
			for i := x.home(hashes[id]); !x.slots[i].empty(); i = x.next(i) {
				found = found || x.slots[i].tagged(hashes[id]) && x.slots[i].number() == id
			}
			require.Equal(t, ok, found, "seed %d id %d", seed, id)
			if ok {
				count++
			}
		}
		require.Equal(t, count, x.used)
	}
}

// Hashes are spread over the index, in the low bits as well as in the high ones.
func TestHashesAreSpread(t *testing.T) {
	h := &History{seed: maphash.MakeSeed()}
	var low, high [64]int
	for i := range 64_000 {
		sum := h.hash(ByPathNodes, &Job{Path: "/bin/a", Nodes: i + 1})
		low[sum%64]++
		high[sum>>26]++
	}
	for i := range low {
		require.InDelta(t, 1000, low[i], 300)
		require.InDelta(t, 1000, high[i], 300)
	}
}
