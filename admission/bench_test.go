package admission_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

// One pass over a queue of waiting jobs, half of them past their threshold.
func BenchmarkFits(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			pool := newPool(b, 128, 1<<30, 0.26)
			used := admission.Usage{Processors: 100, Memory: 1 << 30}
			needs := make([]admission.Usage, n)
			for i := range needs {
				needs[i] = admission.Usage{Processors: 1 + r.IntN(40), Memory: r.Int64N(1 << 29)}
			}
			admitted := 0
			b.ReportAllocs()
			for b.Loop() {
				admitted = 0
				for i, need := range needs {
					if pool.Fits(used, need, i%2 == 0).Admit {
						admitted++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
			require.Positive(b, admitted, "some relaxed job must fit")
			require.Less(b, admitted, n, "some job must wait")
		})
	}
}

func BenchmarkThreshold(b *testing.B) {
	for _, multiple := range []float64{0, 0.25, 25, 0.123456789} {
		b.Run(fmt.Sprintf("multiple=%v", multiple), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := admission.Threshold(time.Hour, time.Minute, multiple); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewPool(b *testing.B) {
	for _, excess := range []float64{0, 0.26} {
		b.Run(fmt.Sprintf("excess=%v", excess), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: excess}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A job that needs half of the nodes, of which the other half are too full, and
// one that needs one node more.
func BenchmarkNodes(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 10_000} {
		memory := make([]int64, nodes)
		for i := range memory {
			memory[i] = 64 << 20
		}
		need := admission.Need{Nodes: nodes / 2, Memory: 32 << 20}
		for _, bestFit := range []bool{false, true} {
			n, err := admission.NewNodes(admission.NodesConfig{Memory: memory, BestFit: bestFit})
			require.NoError(b, err)
			for i := range nodes / 2 {
				require.NoError(b, n.Occupy(int64(33+i%20)<<20, 2*i))
			}
			require.True(b, n.Enough(need))
			b.Run(fmt.Sprintf("choose/bestfit=%t/nodes=%d", bestFit, nodes), func(b *testing.B) {
				on, ok := n.AppendNodes(make([]int, 0, nodes), need)
				b.ReportAllocs()
				for b.Loop() {
					on, ok = n.AppendNodes(on[:0], need)
				}
				require.True(b, ok)
			})
			if bestFit {
				continue
			}
			b.Run(fmt.Sprintf("fits/nodes=%d", nodes), func(b *testing.B) {
				fits := func(node int) bool { return n.Fits(need.Memory, node).Admit }
				yes := 0
				b.ReportAllocs()
				for b.Loop() {
					yes = 0
					for i := range nodes {
						if fits(i) {
							yes++
						}
					}
				}
				require.Equal(b, need.Nodes, yes)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
			})
			b.Run(fmt.Sprintf("enough/nodes=%d", nodes), func(b *testing.B) {
				ok := true
				b.ReportAllocs()
				for b.Loop() {
					ok = n.Enough(admission.Need{Nodes: nodes/2 + 1, Memory: 32 << 20})
				}
				require.False(b, ok)
			})
		}
	}
}

// mill is a queue in which as many jobs arrive as start: a job that started comes
// again with the same need, so that the queue stays what it is. The memory is
// drawn so that only some of the smallest jobs fit; if none of them may start,
// all else has ended.
type mill struct {
	r     *rand.Rand
	needs []admission.Need // by ID
	small []admission.Need // the smallest
	limit admission.Need
	next  func() (id int, ok bool)
	push  func(id int, need admission.Need) error
	heads int // starts when all else had ended
}

// newMill returns a mill of jobs of up to so many nodes.
func newMill(waiting, nodes, small int) *mill {
	m := &mill{r: rand.New(rand.NewPCG(1, 2)), needs: make([]admission.Need, waiting)}
	for i := range m.needs {
		m.needs[i] = admission.Need{Nodes: 1 + m.r.IntN(nodes), Memory: 1 + m.r.Int64N(1<<40)}
	}
	m.small = slices.Clone(m.needs)
	slices.SortFunc(m.small, func(a, b admission.Need) int { return cmp.Compare(a.Memory, b.Memory) })
	m.small = m.small[:small]
	return m
}

func (m *mill) may(n admission.Need) bool {
	return n.Nodes <= m.limit.Nodes && n.Memory <= m.limit.Memory
}

// admit starts a job and puts it at the end again.
func (m *mill) admit(b *testing.B) {
	m.limit = m.small[m.r.IntN(len(m.small))]
	id, ok := m.next()
	if !ok {
		m.heads++
		m.limit = admission.Need{Nodes: math.MaxInt, Memory: math.MaxInt64}
		id, ok = m.next()
	}
	if !ok {
		b.Fatal("nothing starts")
	}
	if err := m.push(id, m.needs[id]); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkQueue is one admission, Next and Push, in a long queue. x-twin says
// how many times as long it takes a queue that is a slice.
//
// Without a bound on the skips one of the hundred smallest jobs starts, which
// soon are those near the end. With a bound of 15 that cannot go on: a start at
// position p skips p jobs, so starts are at position 15 on average at most. There
// most starts are the head's, after all else has ended, and the slice is quick.
func BenchmarkQueue(b *testing.B) {
	for _, kind := range []struct {
		name            string
		nodes, maxSkips int
		share           int // of the jobs that fit
	}{
		{"", 1, admission.FirstFit, 0},
		{"gangs/", 64, admission.FirstFit, 0},
		{"skips=15/", 1, 15, 16},
	} {
		for _, waiting := range []int{1_000, 10_000, 100_000, 1_000_000} {
			if testing.Short() && waiting > 10_000 {
				continue
			}
			small := 100
			if kind.share > 0 {
				small = waiting / kind.share
			}
			var twin float64
			b.Run(fmt.Sprintf("%stwin/waiting=%d", kind.name, waiting), func(b *testing.B) {
				m, q := newMill(waiting, kind.nodes, small), &slowQueue{k: kind.maxSkips}
				m.next = func() (int, bool) {
					j, ok := q.next(m.may)
					return j.id, ok
				}
				m.push = func(id int, need admission.Need) error {
					q.jobs = append(q.jobs, listed{id: id, need: need})
					return nil
				}
				for id, need := range m.needs {
					require.NoError(b, m.push(id, need))
				}
				for b.Loop() {
					m.admit(b)
				}
				twin = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			})
			b.Run(fmt.Sprintf("%swaiting=%d", kind.name, waiting), func(b *testing.B) {
				m, q := newMill(waiting, kind.nodes, small), newQueue[int](b, kind.maxSkips)
				may := m.may
				m.next = func() (int, bool) {
					id, _, ok := q.Next(may, nil)
					return id, ok
				}
				m.push = q.Push
				for id, need := range m.needs {
					require.NoError(b, q.Push(id, need))
				}
				b.ReportAllocs()
				for b.Loop() {
					m.admit(b)
				}
				require.Equal(b, waiting, q.Len())
				if kind.maxSkips == admission.FirstFit {
					require.Zero(b, m.heads, "every start is a search")
				} else if b.N > 1000 {
					require.Positive(b, m.heads, "the head must wait till all else has ended")
					require.Less(b, m.heads, b.N)
				}
				if twin > 0 {
					b.ReportMetric(twin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
				}
			})
		}
	}
}
