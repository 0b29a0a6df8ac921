package backfill_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// snapshot is all that can be seen of a planner.
type snapshot struct {
	state    backfill.State
	ids      []int
	next     time.Duration
	due      bool
	reserved map[int]time.Duration
	times    []time.Duration
	free     [][]int64
}

func snap(p *backfill.Planner[int]) snapshot {
	var s snapshot
	s.state, s.ids = p.State()
	s.next, s.due = p.Next()
	s.reserved = map[int]time.Duration{}
	for id := range 20 {
		if at, ok := p.Reserved(id); ok {
			s.reserved[id] = at
		}
	}
	for at, free := range p.Profile() {
		s.times, s.free = append(s.times, at), append(s.free, slices.Clone(free))
	}
	return s
}

func TestPlannerErrors(t *testing.T) {
	const waits, runs, gone, other = 1, 2, 3, 4
	start := func(t *testing.T) *backfill.Planner[int] {
		p, err := backfill.NewPlanner[int](backfill.Machine{Capacity: need(4, 9), Relaxed: need(4, 12), Depth: backfill.EASY})
		require.NoError(t, err)
		require.NoError(t, p.Submit(gone, jobOf(5, 4, 1)))
		require.NoError(t, p.Submit(runs, jobOf(50, 4, 1)))
		require.NoError(t, p.Submit(waits, jobOf(5, 4, 9)))
		_, err = p.AppendStarts(nil, 0)
		require.NoError(t, err)
		require.NoError(t, p.Finish(10, gone))
		started, err := p.AppendStarts(nil, 10)
		require.NoError(t, err)
		require.Equal(t, []int{runs}, started)
		return p
	}
	for _, c := range []struct {
		name string
		call func(p *backfill.Planner[int]) error
		is   error
		says []string
	}{
		{"submit one who waits", func(p *backfill.Planner[int]) error { return p.Submit(waits, jobOf(1, 1, 1)) }, backfill.ErrDuplicate, []string{"submit 1"}},
		{"submit one who runs", func(p *backfill.Planner[int]) error { return p.Submit(runs, jobOf(1, 1, 1)) }, backfill.ErrDuplicate, []string{"submit 2"}},
		{"submit one resource", func(p *backfill.Planner[int]) error { return p.Submit(other, jobOf(1, 1)) }, backfill.ErrResources, []string{"submit 4", "1 resources", "of 2"}},
		{"submit a negative need", func(p *backfill.Planner[int]) error { return p.Submit(other, jobOf(1, 1, -8)) }, backfill.ErrResources, []string{"-8", "resource 1"}},
		{"submit one over the machine", func(p *backfill.Planner[int]) error { return p.Submit(other, jobOf(1, 5, 1)) }, backfill.ErrTooLarge, []string{"5", "resource 0", "4"}},
		{"submit one over the relaxed machine", func(p *backfill.Planner[int]) error { return p.Submit(other, jobOf(1, 1, 13)) }, backfill.ErrTooLarge, []string{"13", "12"}},
		{"submit without estimate", func(p *backfill.Planner[int]) error { return p.Submit(other, jobOf(0, 1, 1)) }, backfill.ErrEstimate, []string{"submit 4", "0s"}},
		{"finish one who waits", func(p *backfill.Planner[int]) error { return p.Finish(20, waits) }, backfill.ErrUnknown, []string{"finish 1"}},
		{"finish one who is gone", func(p *backfill.Planner[int]) error { return p.Finish(20, gone) }, backfill.ErrUnknown, []string{"finish 3"}},
		{"finish before the last instant", func(p *backfill.Planner[int]) error { return p.Finish(9, runs) }, backfill.ErrTime, []string{"finish 2", "9ns", "10ns"}},
		{"cancel one who runs", func(p *backfill.Planner[int]) error { return p.Cancel(20, runs) }, backfill.ErrUnknown, []string{"cancel 2"}},
		{"cancel one never seen", func(p *backfill.Planner[int]) error { return p.Cancel(20, other) }, backfill.ErrUnknown, []string{"cancel 4"}},
		{"cancel before the last instant", func(p *backfill.Planner[int]) error { return p.Cancel(9, waits) }, backfill.ErrTime, []string{"cancel 1", "9ns"}},
		{"relax one who runs", func(p *backfill.Planner[int]) error { return p.Relax(20, runs) }, backfill.ErrUnknown, []string{"relax 2"}},
		{"relax before the last instant", func(p *backfill.Planner[int]) error { return p.Relax(9, waits) }, backfill.ErrTime, []string{"relax 1", "9ns"}},
		{"extend one who waits", func(p *backfill.Planner[int]) error { return p.Extend(20, waits, 30) }, backfill.ErrUnknown, []string{"extend 1"}},
		{"extend before the last instant", func(p *backfill.Planner[int]) error { return p.Extend(9, runs, 30) }, backfill.ErrTime, []string{"extend 2", "9ns"}},
		{"extend to the past", func(p *backfill.Planner[int]) error { return p.Extend(20, runs, 19) }, backfill.ErrTime, []string{"extend 2", "19ns", "20ns"}},
		{"reserve before the last instant", func(p *backfill.Planner[int]) error { return p.Reserve(9) }, backfill.ErrTime, []string{"9ns", "10ns"}},
		{"pass before the last instant", func(p *backfill.Planner[int]) error { _, err := p.AppendStarts(nil, 9); return err }, backfill.ErrTime, []string{"9ns", "10ns"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t)
			before := snap(p)
			err := c.call(p)
			require.ErrorIs(t, err, c.is)
			for _, word := range c.says {
				assert.ErrorContains(t, err, word)
			}
			require.Equal(t, before, snap(p), "an error changes nothing")
		})
	}
}

func TestNewPlannerErrors(t *testing.T) {
	for _, c := range []struct {
		machine backfill.Machine
		is      error
	}{
		{backfill.Machine{}, backfill.ErrResources},
		{backfill.Machine{Capacity: need(-1)}, backfill.ErrResources},
		{backfill.Machine{Capacity: need(1), Relaxed: need(0)}, backfill.ErrResources},
		{backfill.Machine{Capacity: need(1), Depth: -2}, backfill.ErrDepth},
	} {
		p, err := backfill.NewPlanner[int](c.machine)
		assert.Nil(t, p)
		assert.ErrorIs(t, err, c.is)
	}
}

func TestAppendStartsAppendsAndKeepsItOnError(t *testing.T) {
	p, err := backfill.NewPlanner[int](backfill.Machine{Capacity: need(4)})
	require.NoError(t, err)
	require.NoError(t, p.Submit(7, jobOf(5, 1)))
	dst, err := p.AppendStarts([]int{1, 2}, 10)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 7}, dst)
	dst, err = p.AppendStarts(dst, 9)
	require.Error(t, err)
	require.Equal(t, []int{1, 2, 7}, dst)
}

// The planner keeps copies, and State hands out copies.
func TestPlannerSharesNothing(t *testing.T) {
	m := backfill.Machine{Capacity: need(4, 9), Relaxed: need(4, 12), Depth: backfill.Conservative}
	p, err := backfill.NewPlanner[int](m)
	require.NoError(t, err)
	j := jobOf(5, 4, 9)
	require.NoError(t, p.Submit(1, j))
	require.NoError(t, p.Submit(2, j))
	_, err = p.AppendStarts(nil, 0)
	require.NoError(t, err)
	before := snap(p)
	m.Capacity[0], m.Relaxed[1], j.Need[0] = 99, 99, 99
	s, ids := p.State()
	s.Capacity[0], s.Relaxed[1], s.Running[0].Need[0], s.Queue[0].Need[0], s.Reserved[0], ids[0] = 99, 99, 99, 99, 99, 99
	require.Equal(t, before, snap(p))
	s, _ = p.State()
	require.Equal(t, need(4, 9), s.Capacity)
	require.Equal(t, need(4, 9), s.Running[0].Need)
	require.Equal(t, need(4, 9), s.Queue[0].Need)
}

// Machines without limits: free amounts as large as can be.
func TestUnlimitedMachine(t *testing.T) {
	for _, resources := range []int{1, 2} {
		for _, p := range policies {
			t.Run(p.name, func(t *testing.T) {
				m := backfill.Machine{Capacity: slices.Repeat(need(math.MaxInt64), resources), Depth: p.depth}
				var tasks []task
				for i := range 10 {
					tasks = append(tasks, task{time.Duration(i), jobOf(5, slices.Repeat(need(math.MaxInt64/4), resources)...), 4})
				}
				forms(t, m, func(t *testing.T, f scheduler) {
					starts := replay(t, f, tasks, nil)
					require.Equal(t, []time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, starts)
				})
			})
		}
	}
}

// State tells what a plan would be made from, also between an event and the
// pass: Plan finds in it what the pass will do.
func TestStateBeforeThePassForetellsIt(t *testing.T) {
	for seed := range uint64(200) {
		m, tasks := workload(seed, 40, 1+int(seed%3))
		for _, p := range policies {
			m.Depth = p.depth
			replay(t, foretold{newStateful(t, m)}, tasks, nil)
		}
	}
}

type foretold struct{ stateful }

func (s foretold) pass(t *testing.T, now time.Duration) []int {
	state, ids := s.State()
	state.Now = now
	decisions, err := backfill.Plan(state)
	require.NoError(t, err)
	var want []int
	for _, k := range startsOf(decisions) {
		want = append(want, ids[k])
	}
	got := s.stateful.pass(t, now)
	sorted := slices.Sorted(slices.Values(got))
	require.Equal(t, want, sorted)
	return got
}

// FuzzPlannerCalls makes any calls in any order, bad ones among them: no panic,
// an error changes nothing, and every pass is that of Plan.
func FuzzPlannerCalls(f *testing.F) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 17))
		ops := make([]byte, 3+r.IntN(400))
		for i := range ops {
			ops[i] = byte(r.Uint32())
		}
		f.Add(ops)
	}
	sentinels := []error{
		backfill.ErrResources, backfill.ErrTooLarge, backfill.ErrEstimate, backfill.ErrDepth,
		backfill.ErrDuplicate, backfill.ErrUnknown, backfill.ErrTime,
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		pop := func() byte {
			if len(ops) == 0 {
				return 0
			}
			b := ops[0]
			ops = ops[1:]
			return b
		}
		m := backfill.Machine{Capacity: need(5, 8), Depth: policies[int(pop())%len(policies)].depth}
		if b := pop(); b%2 == 1 {
			m.Relaxed = need(5+int64(b>>2%3), 8+int64(b>>4))
		}
		p, err := backfill.NewPlanner[int](m)
		require.NoError(t, err)
		var (
			now       time.Duration
			compress  bool // something was given back since the last pass
			ends      = map[int]time.Duration{}
			lengths   = map[int]time.Duration{}
			estimates = []time.Duration{1, 2, 3, 5, 8, 13, 4, 7, 30, backfill.Forever, backfill.Forever - 40, 0, -1}
		)
		require.NoError(t, p.Reserve(now))
		for len(ops) > 0 {
			op, id, arg := pop(), int(pop()%16), pop()
			at := min(plus(now, time.Duration(op>>4)), backfill.Forever-1) // Forever is no instant
			if op>>4 == 15 {
				at = now - 1
			}
			before := snap(p)
			var err error
			switch op % 16 {
			case 0, 1, 2, 3, 4:
				j := backfill.Job{Estimate: estimates[int(arg)%len(estimates)], Need: need(int64(pop()%7), int64(pop()%12)), Relaxed: arg%3 == 0}
				if arg == 255 {
					j.Need = j.Need[:1]
				}
				if err = p.Submit(id, j); err == nil {
					lengths[id] = j.Estimate
				}
			case 5, 6, 7:
				if err = p.Finish(at, id); err == nil {
					now, compress = at, true
				}
			case 8:
				if err = p.Cancel(at, id); err == nil {
					now, compress = at, true
				}
			case 9:
				if err = p.Relax(at, id); err == nil {
					now, compress = at, true
				}
			case 10:
				end := plus(at-1, time.Duration(arg>>2))
				if arg%32 == 0 {
					end = backfill.Forever
				}
				if err = p.Extend(at, id, end); err == nil {
					now, compress = at, compress || end < ends[id]
					ends[id] = end
				}
			case 11:
				if err = p.Reserve(at); err == nil {
					now, compress = at, false
				}
			default:
				if next, ok := p.Next(); ok && arg%2 == 0 {
					at = next
				}
				if at < now {
					_, err = p.AppendStarts(nil, at)
					break
				}
				state := before.state
				state.Now, state.Compress = at, compress
				decisions, planned := backfill.Plan(state)
				require.NoError(t, planned)
				var want []int
				for _, k := range startsOf(decisions) {
					want = append(want, before.ids[k])
				}
				slices.Sort(want)
				var got []int
				got, err = p.AppendStarts(nil, at)
				require.NoError(t, err)
				for _, id := range got {
					ends[id] = plus(at, lengths[id])
				}
				slices.Sort(got)
				require.Equal(t, want, got, "starts at %v of %v", at, state)
				for k, d := range decisions {
					promise, ok := p.Reserved(before.ids[k])
					require.Equal(t, d.Reserved, ok, "job %d at %v of %v", before.ids[k], at, state)
					if ok {
						require.Equal(t, d.Start, promise, "job %d at %v of %v", before.ids[k], at, state)
					}
				}
				now, compress = at, false
			}
			if err != nil {
				require.True(t, slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) }), err)
				require.Equal(t, before, snap(p), "%v", err)
			}
			state, _ := p.State()
			require.Equal(t, now, state.Now, "every call that succeeds moves the clock")
		}
	})
}
