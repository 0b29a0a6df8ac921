package backfill_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// world drives a planner and the pure plan through the same history. What the
// planner remembers, world passes to Plan.
type world struct {
	machine  backfill.Machine
	now      time.Duration
	planner  *backfill.Planner[int]
	running  map[int]backfill.Running
	queue    []int // IDs in queue order
	jobs     map[int]backfill.Job
	reserved map[int]time.Duration
	compress bool
	promised map[int]time.Duration // first reservation
	void     bool                  // promises may have been broken
}

func newWorld(t *testing.T, m backfill.Machine) *world {
	p, err := backfill.NewPlanner[int](m)
	require.NoError(t, err)
	return &world{
		machine: m, planner: p, running: map[int]backfill.Running{}, jobs: map[int]backfill.Job{},
		reserved: map[int]time.Duration{}, promised: map[int]time.Duration{},
	}
}

func (w *world) state() backfill.State {
	s := backfill.State{Machine: w.machine, Now: w.now, Compress: w.compress}
	for _, r := range w.running {
		s.Running = append(s.Running, r)
	}
	for _, id := range w.queue {
		s.Queue = append(s.Queue, w.jobs[id])
		at, ok := w.reserved[id]
		if !ok {
			at = backfill.Forever
		}
		s.Reserved = append(s.Reserved, at)
	}
	return s
}

// pass makes a pass with both, demands the same answer, and carries it out.
func (w *world) pass(t *testing.T) []int {
	before := w.state()
	decisions, err := backfill.Plan(before)
	require.NoError(t, err)
	var want []int
	queue := w.queue
	w.queue = nil
	clear(w.reserved)
	for i, d := range decisions {
		id := queue[i]
		if d.Cause == backfill.Starts {
			want = append(want, id)
			w.running[id] = backfill.Running{Need: w.jobs[id].Need, End: w.end(id)}
			if first, ok := w.promised[id]; ok && !w.void {
				require.LessOrEqual(t, w.now, first, "job %d starts after its first reservation", id)
			}
			continue
		}
		w.queue = append(w.queue, id)
		if d.Reserved {
			w.reserved[id] = d.Start
			if _, ok := w.promised[id]; !ok {
				w.promised[id] = d.Start
			}
		}
	}
	w.compress = false
	got, err := w.planner.AppendStarts(nil, w.now)
	require.NoError(t, err)
	slices.Sort(got)
	require.Equal(t, want, slices.Clip(got), "starts at %v of\n%v", w.now, before)
	state, ids := w.planner.State()
	require.Equal(t, w.queue, ids)
	mine := w.state()
	require.Equal(t, mine.Reserved, state.Reserved, "reservations at %v", w.now)
	return got
}

func (w *world) extend(t *testing.T, id int, end time.Duration) {
	require.NoError(t, w.planner.Extend(w.now, id, end))
	run := w.running[id]
	w.void = w.void || end > run.End
	w.compress = w.compress || end < run.End
	run.End = end
	w.running[id] = run
}

func (w *world) end(id int) time.Duration {
	if e := w.jobs[id].Estimate; e < backfill.Forever {
		return w.now + e
	}
	return backfill.Forever
}

func scenario(t *testing.T, seed uint64, steps int, resources int, depth backfill.Depth, relaxed, extend bool) {
	r := rand.New(rand.NewPCG(seed, 7))
	m := backfill.Machine{Depth: depth}
	for range resources {
		m.Capacity = append(m.Capacity, 1+r.Int64N(20))
	}
	if relaxed {
		m.Relaxed = slices.Clone(m.Capacity)
		last := resources - 1
		m.Relaxed[last] += r.Int64N(m.Capacity[last] + 1)
	}
	w := newWorld(t, m)
	w.void = relaxed
	ids := func(of map[int]backfill.Running) []int {
		var keys []int
		for id := range of {
			keys = append(keys, id)
		}
		slices.Sort(keys)
		return keys
	}
	for id := range steps {
		// Time goes to the next planned end or reservation, or not so far.
		next := w.now + time.Duration(r.Int64N(8))
		for _, run := range w.running {
			next = min(next, run.End)
		}
		if at, ok := w.planner.Next(); ok {
			next = min(next, at)
		}
		w.now = max(w.now, next)
		for _, i := range ids(w.running) {
			if run := w.running[i]; run.End <= w.now {
				if extend && r.IntN(4) == 0 {
					w.extend(t, i, w.now+1+time.Duration(r.Int64N(10)))
					continue
				}
				require.NoError(t, w.planner.Finish(w.now, i))
				delete(w.running, i)
				w.compress = true
			} else if r.IntN(10) == 0 {
				require.NoError(t, w.planner.Finish(w.now, i))
				delete(w.running, i)
				w.compress = true
			} else if extend && r.IntN(20) == 0 {
				w.extend(t, i, w.now+time.Duration(r.Int64N(30)))
			}
		}
		for _, i := range slices.Clone(w.queue) {
			switch r.IntN(40) {
			case 0:
				require.NoError(t, w.planner.Cancel(w.now, i))
				at := slices.Index(w.queue, i)
				w.queue = slices.Delete(w.queue, at, at+1)
				delete(w.reserved, i)
				w.compress = true
			case 1:
				if relaxed {
					require.NoError(t, w.planner.Relax(w.now, i))
					j := w.jobs[i]
					j.Relaxed = true
					w.jobs[i] = j
					w.compress = true
				}
			}
		}
		for k := range r.IntN(3) {
			j := backfill.Job{Estimate: 1 + time.Duration(r.Int64N(20)), Relaxed: relaxed && r.IntN(4) == 0}
			if r.IntN(30) == 0 && extend {
				j.Estimate = backfill.Forever
			}
			for _, c := range m.Capacity {
				need := r.Int64N(c + 1)
				if r.IntN(2) == 0 {
					need /= 4
				}
				j.Need = append(j.Need, need)
			}
			i := 10*id + k
			w.jobs[i] = j
			w.queue = append(w.queue, i)
			require.NoError(t, w.planner.Submit(i, j))
		}
		w.pass(t)
	}
}

func FuzzPlannerEqualsPlan(f *testing.F) {
	for seed := range uint64(600) {
		f.Add(seed, uint8(20+seed%60), uint8(seed%5), uint8(seed/5%3), seed%2 == 0, seed%3 == 0)
	}
	depths := []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY, 3, backfill.Conservative}
	f.Fuzz(func(t *testing.T, seed uint64, steps, depth, resources uint8, relaxed, extend bool) {
		scenario(t, seed, int(steps), 1+int(resources%3), depths[int(depth)%len(depths)], relaxed, extend)
	})
}

func TestPlannerEqualsPlanOnLongQueues(t *testing.T) {
	for i, depth := range []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY, 3, 40, backfill.Conservative} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) { scenario(t, uint64(i), 700, 2, depth, false, false) })
	}
}
