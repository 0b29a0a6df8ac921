package backfill_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// task is a job with its history: when it comes, and how long it will run.
type task struct {
	submit time.Duration
	job    backfill.Job
	run    time.Duration // at most the estimate
}

// scheduler is what replay drives. Jobs are known by their index.
type scheduler interface {
	submit(t *testing.T, i int, j backfill.Job)
	finish(t *testing.T, now time.Duration, i int)
	pass(t *testing.T, now time.Duration) []int
	next() (time.Duration, bool)
	promised(i int) (time.Duration, bool)
}

// replay plays tasks, which are in order of submission, to the end and returns
// their starts, Forever for those that never start. At one instant jobs end,
// then others come, then there is one pass; after it, watch is called.
func replay(t *testing.T, s scheduler, tasks []task, watch func(now time.Duration, started []int)) []time.Duration {
	starts := slices.Repeat([]time.Duration{backfill.Forever}, len(tasks))
	ends := map[int]time.Duration{}
	for come := 0; ; {
		now, due := s.next()
		if !due {
			now = backfill.Forever
		}
		if come < len(tasks) {
			now = min(now, tasks[come].submit)
		}
		for _, end := range ends {
			now = min(now, end)
		}
		if now == backfill.Forever {
			return starts
		}
		for i := range tasks {
			if end, runs := ends[i]; runs && end == now {
				s.finish(t, now, i)
				delete(ends, i)
			}
		}
		for ; come < len(tasks) && tasks[come].submit == now; come++ {
			s.submit(t, come, tasks[come].job)
		}
		started := s.pass(t, now)
		for _, i := range started {
			require.Equal(t, backfill.Forever, starts[i], "job %d starts twice", i)
			starts[i] = now
			ends[i] = plus(now, tasks[i].run)
		}
		if watch != nil {
			watch(now, started)
		}
		if next, ok := s.next(); ok {
			require.Greater(t, next, now, "a reservation is due after the pass")
		}
	}
}

// plus is a sum that saturates.
func plus(t, d time.Duration) time.Duration {
	if t > 0 && d > backfill.Forever-t {
		return backfill.Forever
	}
	return t + d
}

// stateful is the Planner as a scheduler.
type stateful struct{ *backfill.Planner[int] }

func newStateful(t *testing.T, m backfill.Machine) stateful {
	p, err := backfill.NewPlanner[int](m)
	require.NoError(t, err)
	return stateful{p}
}

func (s stateful) submit(t *testing.T, i int, j backfill.Job) { require.NoError(t, s.Submit(i, j)) }
func (s stateful) finish(t *testing.T, now time.Duration, i int) {
	require.NoError(t, s.Finish(now, i))
}
func (s stateful) next() (time.Duration, bool)          { return s.Next() }
func (s stateful) promised(i int) (time.Duration, bool) { return s.Reserved(i) }

func (s stateful) pass(t *testing.T, now time.Duration) []int {
	started, err := s.AppendStarts(nil, now)
	require.NoError(t, err)
	return started
}

// pure is Plan as a scheduler: it carries what one plan promised to the next.
type pure struct {
	state   backfill.State
	queue   []int // what state.Queue stands for
	running []int // what state.Running stands for
}

func newPure(m backfill.Machine) *pure { return &pure{state: backfill.State{Machine: m}} }

func (s *pure) submit(_ *testing.T, i int, j backfill.Job) {
	s.queue = append(s.queue, i)
	s.state.Queue = append(s.state.Queue, j)
	s.state.Reserved = append(s.state.Reserved, backfill.Forever)
}

func (s *pure) finish(_ *testing.T, _ time.Duration, i int) {
	at := slices.Index(s.running, i)
	s.running = slices.Delete(s.running, at, at+1)
	s.state.Running = slices.Delete(s.state.Running, at, at+1)
	s.state.Compress = true
}

func (s *pure) pass(t *testing.T, now time.Duration) []int {
	s.state.Now = now
	decisions, err := backfill.Plan(s.state)
	require.NoError(t, err)
	jobs, ids := s.state.Queue, s.queue
	s.state.Queue, s.state.Reserved, s.queue = nil, nil, nil
	s.state.Compress = false
	var started []int
	for k, d := range decisions {
		if d.Cause == backfill.Starts {
			started = append(started, ids[k])
			s.running = append(s.running, ids[k])
			s.state.Running = append(s.state.Running, backfill.Running{Need: jobs[k].Need, End: plus(now, jobs[k].Estimate)})
			continue
		}
		s.queue = append(s.queue, ids[k])
		s.state.Queue = append(s.state.Queue, jobs[k])
		s.state.Reserved = append(s.state.Reserved, d.Start)
	}
	return started
}

func (s *pure) next() (time.Duration, bool) {
	if len(s.state.Reserved) == 0 {
		return 0, false
	}
	first := slices.Min(s.state.Reserved)
	return first, first < backfill.Forever
}

func (s *pure) promised(i int) (time.Duration, bool) {
	at := slices.Index(s.queue, i)
	if at < 0 || s.state.Reserved[at] == backfill.Forever {
		return 0, false
	}
	return s.state.Reserved[at], true
}

// forms runs a test with both forms.
func forms(t *testing.T, m backfill.Machine, test func(t *testing.T, s scheduler)) {
	t.Run("Planner", func(t *testing.T) { test(t, newStateful(t, m)) })
	t.Run("Plan", func(t *testing.T) { test(t, newPure(m)) })
}

// decide makes one pass over s with Plan, and demands that a planner brought to
// the same state starts and promises the same. It is for states without
// reservations whose running jobs fit the machine.
func decide(t *testing.T, s backfill.State) []backfill.Decision {
	decisions, err := backfill.Plan(s)
	require.NoError(t, err)

	p := newStateful(t, s.Machine)
	for i, r := range s.Running {
		length := backfill.Forever
		if r.End < backfill.Forever {
			length = r.End - s.Now
		}
		if length <= 0 { // gone
			continue
		}
		p.submit(t, -1-i, backfill.Job{Need: r.Need, Estimate: length, Relaxed: true})
		require.Equal(t, []int{-1 - i}, p.pass(t, s.Now), "running jobs must fit")
	}
	for i, j := range s.Queue {
		p.submit(t, i, j)
	}
	var want []int
	for i, d := range decisions {
		if d.Cause == backfill.Starts {
			want = append(want, i)
			require.Equal(t, s.Now, d.Start)
		}
	}
	got := p.pass(t, s.Now)
	slices.Sort(got)
	require.Equal(t, want, slices.Clip(got), "planner against plan")
	for i, d := range decisions {
		at, ok := p.Reserved(i)
		require.Equal(t, d.Reserved, ok, "reservation of job %d", i)
		if ok {
			require.Equal(t, d.Start, at, "reservation of job %d", i)
		}
	}
	return decisions
}
