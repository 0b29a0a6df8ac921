package backfill_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// mill is a machine on which about n jobs run while about n wait, for ever: in
// each round, a second long, the job that has run longest ends, comes back as
// the last of the queue, and there is a pass. A job runs for about n rounds
// then, and its estimate is two to ten times as long. Most jobs are narrow, and
// one in sixteen is wide, so that heads wait.
type mill struct {
	planner *backfill.Planner[int]
	now     time.Duration
	jobs    []backfill.Job
	ends    []time.Duration // planned
	running []int           // a ring: in order of start, from first, count long
	first   int
	count   int
	dst     []int
	started int // in the last round
}

func newMill(tb testing.TB, n int, depth backfill.Depth) *mill {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	m := &mill{
		jobs: make([]backfill.Job, 2*n), ends: make([]time.Duration, 2*n),
		running: make([]int, 2*n), dst: make([]int, 0, 2*n),
	}
	var total int64
	for i := range m.jobs {
		processors := 1 + r.Int64N(8)
		if r.IntN(16) == 0 {
			processors *= 4
		}
		total += processors
		m.jobs[i] = backfill.Job{
			Need:     []int64{processors},
			Estimate: time.Duration(2*n+r.IntN(8*n)+20) * time.Second,
		}
	}
	var err error
	m.planner, err = backfill.NewPlanner[int](backfill.Machine{Capacity: []int64{max(total/2, 32)}, Depth: depth})
	require.NoError(tb, err)
	for i := range m.jobs {
		m.submit(tb, i)
	}
	m.pass(tb)
	for range min(2*n+200, 2_000_000/n) { // fewer where they cost more
		m.round(tb)
	}
	return m
}

func (m *mill) submit(tb testing.TB, i int) {
	if err := m.planner.Submit(i, m.jobs[i]); err != nil {
		tb.Fatal(err)
	}
}

// event ends one job and submits it again.
func (m *mill) event(tb testing.TB) {
	i := m.running[m.first]
	m.first, m.count = (m.first+1)%len(m.running), m.count-1
	m.now += time.Second
	if m.now >= m.ends[i] {
		tb.Fatalf("job %d ran longer than it was to", i)
	}
	if err := m.planner.Finish(m.now, i); err != nil {
		tb.Fatal(err)
	}
	m.submit(tb, i)
}

func (m *mill) pass(tb testing.TB) {
	var err error
	if m.dst, err = m.planner.AppendStarts(m.dst[:0], m.now); err != nil {
		tb.Fatal(err)
	}
	for _, i := range m.dst {
		m.running[(m.first+m.count)%len(m.running)] = i
		m.ends[i] = m.now + m.jobs[i].Estimate
		m.count++
	}
	m.started = len(m.dst)
}

func (m *mill) round(tb testing.TB) {
	m.event(tb)
	m.pass(tb)
}

// interesting goes on to a round, before its pass, in which the head waits and
// (but under FCFS) somebody else starts, and returns the state that the pass
// plans from.
func (m *mill) interesting(tb testing.TB, depth backfill.Depth) backfill.State {
	for range 1000 {
		m.event(tb)
		s, _ := m.planner.State()
		s.Now, s.Compress = m.now, true
		m.pass(tb)
		after, _ := m.planner.State()
		if len(after.Queue) > 0 && same(s.Queue[0], after.Queue[0]) && (m.started > 0) == (depth != backfill.FCFS) {
			return s
		}
	}
	tb.Fatal("the head must wait, and somebody start")
	return backfill.State{}
}

func same(a, b backfill.Job) bool { return a.Need[0] == b.Need[0] && a.Estimate == b.Estimate }

// BenchmarkPass is a scheduling pass after a job ended and another came, with
// about as many jobs running as waiting: the stateful planner round after
// round, with the two events, and the pure plan on the state of one such round.
// x-twin says how many times as long the pure plan takes.
//
// Plan builds its profile anew and tests each queued job, and stops early.
// Conservative backfilling stops early in both forms: a pass asks every holder
// whether it can move.
func BenchmarkPass(b *testing.B) {
	for _, policy := range []struct {
		name           string
		depth          backfill.Depth
		pure, stateful int // greatest sizes
	}{
		{"fcfs", backfill.FCFS, 100_000, 1_000_000},
		{"easy", backfill.EASY, 100_000, 1_000_000},
		{"conservative", backfill.Conservative, 1_000, 10_000},
	} {
		for _, n := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
			if n > policy.stateful || testing.Short() && n > policy.pure {
				continue
			}
			var twin float64
			if n <= policy.pure {
				b.Run(fmt.Sprintf("policy=%s/planner=pure/jobs=%d", policy.name, n), func(b *testing.B) {
					s := newMill(b, n, policy.depth).interesting(b, policy.depth)
					b.ReportAllocs()
					for b.Loop() {
						if _, err := backfill.Plan(s); err != nil {
							b.Fatal(err)
						}
					}
					twin = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				})
			}
			b.Run(fmt.Sprintf("policy=%s/planner=stateful/jobs=%d", policy.name, n), func(b *testing.B) {
				m := newMill(b, n, policy.depth)
				m.interesting(b, policy.depth)
				starts := 0
				b.ReportAllocs()
				for b.Loop() {
					m.round(b)
					starts += m.started
				}
				if b.N > 1000 {
					require.InDelta(b, 1, float64(starts)/float64(b.N), 0.5, "as many start as end")
				}
				if twin > 0 {
					b.ReportMetric(twin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
				}
				b.ReportMetric(float64(m.count), "running")
			})
		}
	}
}

// The planner promises nothing, but a steady state is to be without garbage.
func TestPassesDoNotAllocate(t *testing.T) {
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			m := newMill(t, 300, p.depth)
			for range 5000 { // blocks and tables find their sizes
				m.round(t)
			}
			require.Zero(t, testing.AllocsPerRun(2000, func() { m.round(t) }))
		})
	}
}

// The mill's states are what they are taken for, and the planner plans in them
// what Plan does.
func TestMillEqualsPlan(t *testing.T) {
	for _, p := range policies {
		m := newMill(t, 100, p.depth)
		for range 100 {
			m.event(t)
			s, ids := m.planner.State()
			s.Now, s.Compress = m.now, true
			decisions, err := backfill.Plan(s)
			require.NoError(t, err)
			m.pass(t)
			var want []int
			for _, k := range startsOf(decisions) {
				want = append(want, ids[k])
			}
			require.ElementsMatch(t, want, m.dst)
		}
	}
}
