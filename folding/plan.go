package folding

import (
	"cmp"
	"fmt"
	"slices"
)

// plan is a decision in the making.
type plan struct {
	state   State
	idle    int    // processors, as it would be
	waiting [2]int // queued jobs that do not start, by class
	shorts  int    // running jobs, as it would be
	folded  bool   // some job is, at the beginning

	// At the beginning, the long job with the largest partition, the latest of equals,
	// of those that are unfolded and of those that may be folded; or −1.
	unfolded, foldable int

	sizes  []int  // processors of the running jobs, as they would be
	steps  []Step // starts
	order  []int  // scratch
	shares []int
}

// load begins a decision. It looks at each job once.
func (p *plan) load(s State) error {
	if s.Processors <= 0 || s.Processors > maxProcessors {
		return fmt.Errorf("%d processors: %w", s.Processors, ErrState)
	}
	idle, shorts, folded := s.Processors, 0, false
	unfolded, foldable := -1, -1
	mostUnfolded, mostFoldable := 2, 2
	for i := range s.Running {
		r := &s.Running[i]
		if r.Processors <= 0 || r.Processes < r.Processors || r.Processes > maxProcessors || r.Class > Long {
			return fmt.Errorf("running job %d, %v, %d processes on %d processors: %w", i, r.Class, r.Processes, r.Processors, ErrState)
		}
		if idle -= r.Processors; idle < 0 {
			return fmt.Errorf("more than %d processors in use at running job %d: %w", s.Processors, i, ErrState)
		}
		folded = folded || r.Processes > r.Processors
		if r.Class == Short {
			shorts++
			continue
		}
		if r.Processors >= mostUnfolded && r.Processors == r.Processes {
			unfolded, mostUnfolded = i, r.Processors
		}
		if r.Processors >= mostFoldable && r.Processes <= maxFolds/2*r.Processors {
			foldable, mostFoldable = i, r.Processors
		}
	}
	var waiting [2]int
	for i, q := range s.Queued {
		if q.Request <= 0 || q.Request > maxProcessors || q.Class > Long {
			return fmt.Errorf("queued job %d, %v, request %d: %w", i, q.Class, q.Request, ErrState)
		}
		waiting[q.Class]++
	}
	p.state, p.idle, p.shorts, p.folded, p.waiting = s, idle, shorts, folded, waiting
	p.unfolded, p.foldable = unfolded, foldable
	p.steps = p.steps[:0]
	return nil
}

// begin makes room to change many partitions.
func (p *plan) begin() {
	p.sizes = p.sizes[:0]
	for i := range p.state.Running {
		p.sizes = append(p.sizes, p.state.Running[i].Processors)
	}
}

// resize changes the partition of a running job.
func (p *plan) resize(job, processors int) {
	p.idle += p.sizes[job] - processors
	p.sizes[job] = processors
}

// folds is by how much a running job is folded.
func (p *plan) folds(job int) int { return folds(p.state.Running[job].Processes, p.sizes[job]) }

// start lets a queued job start.
func (p *plan) start(job, processors, processes int) {
	p.steps = append(p.steps, Step{Start, job, processors, processes})
	p.idle -= processors
	class := p.state.Queued[job].Class
	p.waiting[class]--
	if class == Short {
		p.shorts++
	}
}

// startUnfolded lets a queued job start with a processor for each process.
func (p *plan) startUnfolded(job, processors int) {
	n := min(p.state.Queued[job].Request, processors)
	p.start(job, n, n)
}

// foldNow halves the partition of a job: the first step of a decision that changes
// no other partition.
func (p *plan) foldNow(job int) {
	r := &p.state.Running[job]
	keep := (r.Processors + 1) / 2
	p.steps = append(p.steps, Step{Fold, job, keep, r.Processes})
	p.idle += r.Processors - keep
}

// append appends the steps of a decision that changed partitions: those first that
// free processors.
func (p *plan) append(dst []Step) []Step {
	for _, kind := range []Kind{Fold, Unfold} {
		for i, after := range p.sizes {
			r := &p.state.Running[i]
			if kind == Fold && after < r.Processors || kind == Unfold && after > r.Processors {
				dst = append(dst, Step{kind, i, after, r.Processes})
			}
		}
	}
	return append(dst, p.steps...)
}

// share is what the first of so many jobs gets of the idle processors if they are
// shared equally.
func (p *plan) share(among int) int { return (p.idle-1)/among + 1 }

// last is what the last of them gets.
func (p *plan) last(among int) int { return p.idle / among }

// unfoldedLongs returns the unfolded long jobs, those with the largest partitions
// first, the latest first of equals.
func (p *plan) unfoldedLongs() []int {
	p.order = p.order[:0]
	for i, size := range p.sizes {
		if r := &p.state.Running[i]; r.Class == Long && size >= 2 && size == r.Processes {
			p.order = append(p.order, i)
		}
	}
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(p.sizes[b], p.sizes[a]), b-a) })
	return p.order
}
