package admission

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tree against a slice, while positions fill and empty and everything is
// moved. Each branch is compared with what is below it.
func FuzzTreeEqualsSlice(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, bits uint8) {
		r := rand.New(rand.NewPCG(seed, 11))
		size := 2 << (bits % 7)
		tree := newTree(size)
		type job struct {
			need  Need
			skips int64
		}
		jobs := make([]*job, size)
		first := func(from, to int, is func(job) bool) int {
			for p := from; p <= to && p < size; p++ {
				if jobs[p] != nil && is(*jobs[p]) {
					return p
				}
			}
			return none
		}
		for range 100 {
			switch p := r.IntN(size); {
			case jobs[p] == nil:
				j := job{Need{1 + r.IntN(20), r.Int64N(20)}, r.Int64N(10)}
				if r.IntN(10) == 0 { // must not look like nobody
					j.need = Need{math.MaxInt - 1, math.MaxInt64}
				}
				tree.put(p, j.need, j.skips)
				jobs[p] = &j
			case r.IntN(8) == 0:
				tree.skipAll()
				for _, j := range jobs {
					if j != nil {
						j.skips++
					}
				}
			default:
				skips := r.Int64N(3)
				tree.remove(p, skips)
				jobs[p] = nil
				for _, j := range jobs[:p] {
					if j != nil {
						j.skips += skips
					}
				}
			}
			if r.IntN(20) == 0 {
				tree.settle()
				tree.fill(size)
			}

			for p, j := range jobs {
				if j != nil {
					require.Equal(t, j.need, tree.leaves()[p].need)
					require.Equal(t, j.skips, tree.skips(p))
				} else {
					require.Equal(t, vacant, tree.leaves()[p].need)
				}
			}
			for i := 1; i < size; i++ {
				x := tree.branches[i]
				tree.join(i)
				require.Equal(t, tree.branches[i], x)
			}
			often := r.Int64N(15)
			require.Equal(t, first(0, size, func(j job) bool { return j.skips >= often }), tree.skipped(often))
			from, to, limit := r.IntN(size+1), r.IntN(size+1)-1, Need{r.IntN(22), r.Int64N(22)}
			require.Equal(t, first(from, to, func(job) bool { return true }), tree.next(from, to, nil))
			may := func(n Need) bool { return n.within(limit) || n.Nodes <= limit.Nodes/4 }
			require.Equal(t, first(from, to, func(j job) bool { return may(j.need) }), tree.next(from, to, may))
		}
	})
}

// Jobs and positions belong together, and nothing is kept of jobs that left.
func TestQueueInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 0))
	q, err := NewQueue[string](QueueConfig{})
	require.NoError(t, err)
	size, longest := 0, 0
	for step := range 10_000 {
		id, need := strconv.Itoa(step), Need{1, r.Int64N(100)}
		switch grow := step/1000%2 == 0; {
		case grow && r.IntN(3) > 0 || q.Len() == 0:
			require.NoError(t, q.Push(id, need))
		case r.IntN(3) == 0:
			require.NoError(t, q.PutBack(id, need, r.IntN(16)))
		default:
			limit := r.Int64N(200)
			q.Next(func(n Need) bool { return n.Memory <= limit }, nil)
		}
		longest = max(longest, q.Len())
		require.GreaterOrEqual(t, q.tree.size, size, "it keeps its size")
		size = q.tree.size
		require.Len(t, q.ids, size)
		require.Less(t, size, 3*longest+24, "and is not larger than the greatest length demands")
		if step%50 > 0 {
			continue
		}
		jobs := 0
		for p, leaf := range q.tree.leaves() {
			if leaf.need == vacant {
				require.Empty(t, q.ids[p])
				continue
			}
			jobs++
			require.EqualValues(t, p, q.positions[q.ids[p]])
			require.Less(t, p, q.end)
			require.LessOrEqual(t, q.tree.skips(p), q.maxSkips)
		}
		require.Len(t, q.positions, jobs)
	}
}
