package backfill

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"
)

// State is all that a plan is made from.
type State struct {
	Machine
	// Now is the instant of the pass.
	Now time.Duration
	// Running jobs, in any order.
	Running []Running
	// Queue holds the waiting jobs in queue order.
	Queue []Job
	// Reserved holds the reservations that earlier plans made: the promised start
	// of each queued job, or [Forever] for a job without one. Nil means that there
	// are none. Reservations of jobs beyond the depth are dropped. If one of the
	// rest cannot be kept (because a job runs longer than planned, say), all are
	// made anew in queue order.
	Reserved []time.Duration
	// Compress says that the schedule is to be compressed before new reservations
	// are made; set it when a job ended, left the queue or became relaxed.
	Compress bool
}

// Cause says why a job does not start now.
type Cause int

const (
	// Starts is the cause of a job that starts now: it waits for nothing.
	Starts Cause = iota
	// Resource: the job does not fit into what is free now.
	Resource
	// Reservation: it fits now, but would delay the start of a job that holds a
	// reservation.
	Reservation
	// Order: it fits now, but a job before it does not, and nobody overtakes.
	Order
)

// String returns the cause in lower case.
func (c Cause) String() string {
	switch c {
	case Starts:
		return "starts"
	case Resource:
		return "resource"
	case Reservation:
		return "reservation"
	case Order:
		return "order"
	}
	return fmt.Sprintf("Cause(%d)", int(c))
}

// Decision is a plan's answer for one queued job.
type Decision struct {
	// Start is State.Now if the job starts now, the promised start if it holds a
	// reservation. For other jobs [Explain] gives the start to be expected if all
	// jobs took exactly their estimates and nobody else came, [Plan] gives
	// [Forever].
	Start time.Duration
	// Reserved says that the job waits and holds a reservation at Start.
	Reserved bool
	// Cause says what the job waits for.
	Cause Cause
	// Which is the index of the first resource that the job lacks (Cause is
	// [Resource]), or the queue index of the first job that would be delayed or
	// that must go first ([Reservation], [Order]).
	Which int
}

// Plan makes one scheduling pass and answers with a decision for every job of
// the queue, in queue order: which start now, which hold a reservation and for
// when, what the others wait for. It is pure: it keeps nothing and does not
// write to its arguments, and may run concurrently.
//
// It costs O(r log r) for r running jobs, and O(r + k) for each reservation and
// each job tested, where k is the number of reservations. Jobs are considered
// in queue order, and at equal starts the one earlier in the queue is placed
// first.
//
// Errors: a need that is negative, of the wrong length or larger than the
// machine, an estimate that is not positive, a depth below [FCFS].
func Plan(s State) ([]Decision, error) { return plan(s, false) }

// Explain is [Plan] with an expected start for every job: after the pass each
// job that neither starts nor holds a reservation is placed at the earliest
// hole that the jobs before it leave, under [FCFS] not before the start of the
// one before it. That is a forecast, not a promise; [Forever] if it cannot be
// foreseen. Cost O(q·(r+q)) for q queued jobs.
func Explain(s State) ([]Decision, error) { return plan(s, true) }

func plan(s State, forecast bool) ([]Decision, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := newSchedule(s)
	depth := int(max(s.Depth, 0)) // FCFS reserves nothing
	first := p.keep(depth)        // the first job without a reservation
	if p.broken() {
		p = newSchedule(s)
		first = 0
	} else if s.Compress {
		for i := range first {
			p.move(i)
		}
	}
	// Reservations that are due start; the next jobs in the queue get the vacant
	// places.
	for held, due := first, true; due; {
		for ; first < len(s.Queue) && held < depth; first++ {
			p.place(first, p.earliest(first, s.Now))
			held++
		}
		due = false
		for i := range first {
			if !p.started[i] && p.reserved[i] <= s.Now {
				p.start(i)
				held--
				due = true
			}
		}
	}
	// The rest starts if it disturbs no reservation.
	var waiting []int
	for i := first; i < len(s.Queue); i++ {
		if lacks, delayed := p.obstacle(i); lacks < 0 && delayed < 0 && (s.Depth != FCFS || len(waiting) == 0) {
			p.place(i, s.Now)
			p.start(i)
		} else {
			waiting = append(waiting, i)
		}
	}

	out := make([]Decision, len(s.Queue))
	for i := range out {
		out[i] = p.decision(i)
	}
	if forecast {
		from := s.Now
		for _, i := range waiting {
			out[i].Start = p.place(i, p.earliest(i, from))
			if s.Depth == FCFS {
				from = out[i].Start
			}
		}
	}
	return out, nil
}

func (s State) check() error {
	if err := s.Machine.check(); err != nil {
		return err
	}
	if s.Reserved != nil && len(s.Reserved) != len(s.Queue) {
		return fmt.Errorf("%d reservations for %d queued jobs: %w", len(s.Reserved), len(s.Queue), ErrTime)
	}
	for i, r := range s.Running {
		if err := s.checkNeed(r.Need); err != nil {
			return fmt.Errorf("running job %d: %w", i, err)
		}
	}
	for i, j := range s.Queue {
		if err := s.checkJob(j); err != nil {
			return fmt.Errorf("queued job %d: %w", i, err)
		}
	}
	return nil
}

// schedule is a plan in the making: the jobs placed so far and the profile that
// they leave.
type schedule struct {
	State
	over     []int64         // what a relaxed job may use above capacity
	steps    []step          // by time, the first at Now
	reserved []time.Duration // planned start by queue index, Forever if there is none
	started  []bool          // by queue index
}

// step is a piece of the profile: what is free from an instant to the next
// step's.
type step struct {
	at     time.Duration
	free   []int64
	starts int // reservations that start here
	strict int // those of them that are not relaxed
}

func newSchedule(s State) *schedule {
	p := &schedule{
		State:    s,
		over:     s.slack(),
		steps:    []step{{at: s.Now, free: slices.Clone(s.Capacity)}},
		reserved: slices.Repeat([]time.Duration{Forever}, len(s.Queue)),
		started:  make([]bool, len(s.Queue)),
	}
	running := slices.DeleteFunc(slices.Clone(s.Running), func(r Running) bool { return r.End <= s.Now })
	slices.SortFunc(running, func(a, b Running) int { return cmp.Compare(a.End, b.End) })
	for _, r := range running {
		add(p.steps[0].free, r.Need, -1)
	}
	for _, r := range running {
		if r.End < Forever {
			last := p.split(len(p.steps)-1, r.End)
			add(p.steps[last].free, r.Need, 1)
		}
	}
	return p
}

func add(to, need []int64, sign int64) {
	for i, n := range need {
		to[i] += sign * n
	}
}

// split returns the index of the step that starts at t, which is not before
// that of step i; it makes one if there is none.
func (p *schedule) split(i int, t time.Duration) int {
	n, found := sort.Find(len(p.steps)-i, func(j int) int { return cmp.Compare(t, p.steps[i+j].at) })
	if n += i; !found {
		p.steps = slices.Insert(p.steps, n, step{at: t, free: slices.Clone(p.steps[n-1].free)})
	}
	return n
}

// occupy takes (sign −1) or gives back (sign 1) what job i holds if it starts at
// t, and counts its start among the reserved ones.
func (p *schedule) occupy(i int, t time.Duration, sign int64) {
	if t == Forever {
		return
	}
	j, from := p.Queue[i], p.split(0, max(t, p.Now))
	to := len(p.steps)
	if end := later(t, j.Estimate); end < Forever {
		to = p.split(0, max(end, p.Now))
	}
	for k := from; k < to; k++ {
		add(p.steps[k].free, j.Need, sign)
	}
	p.steps[from].starts -= int(sign)
	if !j.Relaxed {
		p.steps[from].strict -= int(sign)
	}
	p.steps = slices.CompactFunc(p.steps, func(s, before step) bool {
		return s.starts == 0 && slices.Equal(s.free, before.free)
	})
}

// place plans job i to start at t, and returns t.
func (p *schedule) place(i int, t time.Duration) time.Duration {
	p.occupy(i, t, -1)
	p.reserved[i] = t
	return t
}

// start starts job i, which is placed now: its start is no longer ahead.
func (p *schedule) start(i int) {
	p.started[i] = true
	p.steps[0].starts--
	if !p.Queue[i].Relaxed {
		p.steps[0].strict--
	}
}

// move compresses job i: it gives up its reservation for the earliest start
// that the others allow.
func (p *schedule) move(i int) {
	old := p.reserved[i]
	p.occupy(i, old, 1)
	p.place(i, min(old, p.earliest(i, p.Now)))
}

// keep places the reservations that the first depth jobs held before, and
// returns the index behind the last of them.
func (p *schedule) keep(depth int) int {
	n := min(depth, len(p.Reserved))
	for n > 0 && p.Reserved[n-1] == Forever {
		n--
	}
	for i := range n {
		p.place(i, p.Reserved[i])
	}
	return n
}

// broken says whether some reservation cannot be kept: it has passed, or its
// holder would exceed its limit.
func (p *schedule) broken() bool {
	nothing := make([]int64, len(p.over))
	for _, t := range p.reserved {
		if t < p.Now {
			return true
		}
	}
	for k := range p.steps {
		if p.disturbs(k, nothing) {
			return true
		}
	}
	return false
}

// short returns the first resource of which step k has less than need, or −1.
func (p *schedule) short(k int, need []int64, relaxed bool) int {
	for i, n := range need {
		free := p.steps[k].free[i]
		if relaxed {
			free += p.over[i]
		}
		if n > free {
			return i
		}
	}
	return -1
}

// disturbs says whether a job that needs so much, and runs when step k begins,
// keeps a job from its reserved start there.
func (p *schedule) disturbs(k int, need []int64) bool {
	return p.steps[k].starts > 0 && p.short(k, need, p.steps[k].strict == 0) >= 0
}

// earliest returns the first instant, not before from, at which job i can
// start, or Forever.
func (p *schedule) earliest(i int, from time.Duration) time.Duration {
	j, start := p.Queue[i], Forever
	for k, s := range p.steps {
		switch {
		case k+1 < len(p.steps) && p.steps[k+1].at <= from:
			continue
		case start < Forever && s.at >= later(start, j.Estimate):
			return start
		case s.at >= from && p.disturbs(k, j.Need):
			start = Forever
		case start == Forever && p.short(k, j.Need, j.Relaxed) < 0:
			start = max(s.at, from)
		}
	}
	return start
}

// decision says what came of job i, and why.
func (p *schedule) decision(i int) Decision {
	if p.started[i] {
		return Decision{Start: p.Now}
	}
	t := p.reserved[i]
	p.occupy(i, t, 1) // it does not wait for itself
	defer p.occupy(i, t, -1)
	d := Decision{Start: t, Reserved: t < Forever}
	switch lacks, delayed := p.obstacle(i); {
	case lacks >= 0:
		d.Cause, d.Which = Resource, lacks
	case p.Depth == FCFS:
		d.Cause, d.Which = Order, slices.Index(p.started, false)
	case delayed >= 0:
		d.Cause, d.Which = Reservation, slices.Index(p.reserved, p.steps[delayed].at)
	default:
		d.Cause, d.Which = Reservation, i
	}
	return d
}

// obstacle returns what keeps job i from starting now: the first resource that it
// lacks, or the first step at which it would keep others from starting; −1 where
// that is none.
func (p *schedule) obstacle(i int) (lacks, delayed int) {
	j := p.Queue[i]
	if lacks = p.short(0, j.Need, j.Relaxed); lacks >= 0 {
		return lacks, -1
	}
	end := later(p.Now, j.Estimate)
	for k := 0; k < len(p.steps) && p.steps[k].at < end; k++ {
		if p.disturbs(k, j.Need) {
			return -1, k
		}
	}
	return -1, -1
}
