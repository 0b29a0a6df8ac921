package molding

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gangkit/gangkit/folding"
)

// A Job is a moldable job.
type Job struct {
	Submit  time.Duration
	Class   folding.Class
	Work    time.Duration // on one processor
	Request int           // processors that it can use
	Speedup Speedup
}

// Config describes a machine.
type Config struct {
	Processors int
	Policy     folding.Policy
	Sharing    Sharing

	// Watch, if set, is called after each decision of the policy.
	Watch func(d Decision)
}

// A Decision is what a policy was asked and what it answered. It is valid during
// the call.
type Decision struct {
	Now     time.Duration
	Idle    int   // processors
	Running []int // jobs, as State.Running
	Queued  []int // jobs, as State.Queued
	State   folding.State
	Steps   []folding.Step
}

// A Piece is a time in which a job had one partition.
type Piece struct {
	From, To   time.Duration
	Processors int
	Folds      int
}

// An Outcome is what became of a job.
type Outcome struct {
	Start, End time.Duration
	Processors float64 // mean over its running time
	Pieces     []Piece
}

// running is a job that runs.
type running struct {
	job  int
	view folding.Running
	left float64 // nanoseconds of work
	rate float64 // work a nanosecond
	from time.Duration
}

// Run runs jobs, in order of submission, until all have ended, or ctx is done. What
// ends at an instant is seen before what arrives then, and a decision is made after
// each arrival. Work is conserved: a job that is folded or unfolded goes on where it
// was.
//
// It stops with an [ErrInvariant] if steps cannot be done in their order, or if jobs
// wait on an idle machine.
func Run(ctx context.Context, jobs []Job, c Config) ([]Outcome, error) {
	if c.Processors <= 0 || c.Policy == nil || !(c.Sharing.Two > 0 && c.Sharing.Two <= 1) || !(c.Sharing.Four > 0 && c.Sharing.Four <= 1) {
		return nil, fmt.Errorf("%d processors, sharing %+v: %w", c.Processors, c.Sharing, ErrConfig)
	}
	for i, j := range jobs {
		if j.Submit < 0 || i > 0 && j.Submit < jobs[i-1].Submit || j.Work <= 0 || j.Request <= 0 || j.Speedup == nil {
			return nil, fmt.Errorf("job %d: submitted at %v, work %v, request %d: %w", i, j.Submit, j.Work, j.Request, ErrJob)
		}
	}
	m := &machine{Config: c, jobs: jobs, outcomes: make([]Outcome, len(jobs))}
	for arrived := 0; arrived < len(jobs) || len(m.running) > 0 || len(m.queue) > 0; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		next, ends := m.next()
		if arrived < len(jobs) && (!ends || jobs[arrived].Submit < next) {
			m.advance(jobs[arrived].Submit)
			m.queue = append(m.queue, arrived)
			arrived++
			if err := m.decide(c.Policy.AppendArrival); err != nil {
				return nil, err
			}
		} else if ends {
			m.advance(next)
			m.end()
			if err := m.decide(c.Policy.AppendRelease); err != nil {
				return nil, err
			}
		}
		if len(m.running) == 0 && len(m.queue) > 0 {
			return nil, fmt.Errorf("%d jobs wait on an idle machine at %v: %w", len(m.queue), m.now, ErrInvariant)
		}
	}
	return m.outcomes, nil
}

type machine struct {
	Config
	jobs     []Job
	outcomes []Outcome
	now      time.Duration
	running  []running // in order of submission
	queue    []int     // jobs
	steps    []folding.Step
}

// next returns when the next job ends.
func (m *machine) next() (at time.Duration, ok bool) {
	least := math.Inf(1)
	for _, r := range m.running {
		least = min(least, r.left/r.rate)
	}
	if len(m.running) == 0 {
		return 0, false
	}
	return m.now + time.Duration(math.Ceil(max(least, 0))), true
}

// advance lets time pass.
func (m *machine) advance(to time.Duration) {
	for i := range m.running {
		m.running[i].left -= float64(m.running[i].rate * float64(to-m.now))
	}
	m.now = to
}

// end takes the jobs away whose work is done.
func (m *machine) end() {
	m.running = slices.DeleteFunc(m.running, func(r running) bool {
		if r.left > r.rate/2 { // half a nanosecond: rounding
			return false
		}
		m.close(&r)
		o := &m.outcomes[r.job]
		o.End = m.now
		for _, p := range o.Pieces {
			o.Processors += float64(p.Processors) * float64(p.To-p.From) / float64(max(1, o.End-o.Start))
		}
		return true
	})
}

// close ends the piece of a job's time in which its partition was as it is.
func (m *machine) close(r *running) {
	if m.now > r.from {
		o := &m.outcomes[r.job]
		o.Pieces = append(o.Pieces, Piece{r.from, m.now, r.view.Processors, r.view.Folds()})
	}
	r.from = m.now
}

// speed sets the rate of a job.
func (m *machine) speed(r *running) {
	r.rate = m.jobs[r.job].Speedup(r.view.Processors) * m.Sharing.at(r.view.Folds())
}

// decide asks the policy and does what it says.
func (m *machine) decide(ask func([]folding.Step, folding.State) ([]folding.Step, error)) (err error) {
	s := folding.State{Processors: m.Processors}
	idle := m.Processors
	for _, r := range m.running {
		s.Running = append(s.Running, r.view)
		idle -= r.view.Processors
	}
	for _, j := range m.queue {
		s.Queued = append(s.Queued, folding.Queued{Class: m.jobs[j].Class, Request: m.jobs[j].Request})
	}
	if m.steps, err = ask(m.steps[:0], s); err != nil {
		return err
	}
	if m.Watch != nil {
		d := Decision{Now: m.now, Idle: idle, Queued: m.queue, State: s, Steps: m.steps}
		for _, r := range m.running {
			d.Running = append(d.Running, r.job)
		}
		m.Watch(d)
	}
	started := map[int]bool{}
	for _, step := range m.steps {
		if step.Kind == folding.Start {
			job := m.queue[step.Job]
			started[job] = true
			r := running{job: job, left: float64(m.jobs[job].Work), from: m.now}
			r.view = folding.Running{Class: m.jobs[job].Class, Processors: step.Processors, Processes: step.Processes}
			m.speed(&r)
			m.outcomes[job].Start = m.now
			m.running = append(m.running, r)
			idle -= step.Processors
		} else {
			r := &m.running[step.Job]
			m.close(r)
			idle += r.view.Processors - step.Processors
			r.view.Processors = step.Processors
			m.speed(r)
		}
		if idle < 0 {
			return fmt.Errorf("%v %d at %v leaves %d processors: %w", step.Kind, step.Job, m.now, idle, ErrInvariant)
		}
	}
	m.queue = slices.DeleteFunc(m.queue, func(job int) bool { return started[job] })
	slices.SortStableFunc(m.running, func(a, b running) int { return a.job - b.job })
	return nil
}
