package folding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Folding folds any job, by 2 at most, so that nobody waits long (Padhye & Dowdy,
// JSSPP 1996, after McCann & Zahorjan, SIGMETRICS 1994, as Utrera et al. implement
// it). A job starts unfolded on what is idle; if nothing is, the latest arrival that
// is unfolded gives it half of its partition. Released processors go to jobs that
// wait, then to folded jobs, the latest arrival first. O(n) in running and queued
// jobs.
type Folding struct{ plan plan }

// AppendArrival implements [Policy].
func (f *Folding) AppendArrival(dst []Step, s State) ([]Step, error) {
	p := &f.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	job := len(s.Queued) - 1
	if job >= 0 && p.idle == 0 {
		for i := range slices.Backward(s.Running) {
			if r := &s.Running[i]; r.Processors >= 2 && r.Processors == r.Processes {
				p.foldNow(i)
				break
			}
		}
	}
	if job >= 0 && p.idle > 0 {
		p.startUnfolded(job, p.idle)
	}
	return append(dst, p.steps...), nil
}

// AppendRelease implements [Policy].
func (f *Folding) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &f.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	p.begin()
	for job := range s.Queued {
		if p.idle == 0 {
			break
		}
		p.startUnfolded(job, p.idle)
	}
	for i := range slices.Backward(s.Running) {
		if n := s.Running[i].Processes; p.folds(i) == 2 && n-p.sizes[i] <= p.idle {
			p.resize(i, n)
		}
	}
	return p.append(dst), nil
}

// PSA makes partitions of all processors over the number of jobs that wait,
//
//	target = max(1, ⌊P / waiting⌋)
//
// and starts jobs in order as long as so many are idle; otherwise they wait for a
// job to end, or for more to arrive (E. Rosti, E. Smirni, L. Dowdy, G. Serazzi, K.
// Sevcik, JSSPP 1995). O(n) in running and queued jobs.
type PSA struct {
	// CountRunning counts the jobs that run, too (S. Dandamudi and H. Yu).
	CountRunning bool

	plan plan
}

// AppendArrival implements [Policy].
func (a *PSA) AppendArrival(dst []Step, s State) ([]Step, error) { return a.AppendRelease(dst, s) }

// AppendRelease implements [Policy].
func (a *PSA) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &a.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	jobs := len(s.Queued)
	if a.CountRunning {
		jobs += len(s.Running)
	}
	target := s.Processors
	if jobs > 0 {
		target = max(1, s.Processors/jobs)
	}
	for job := range s.Queued {
		if p.idle < target {
			break
		}
		p.startUnfolded(job, target)
	}
	return append(dst, p.steps...), nil
}

// ASP gives what is idle to the jobs that wait (E. Rosti, E. Smirni, G. Serazzi, L.
// Dowdy, JSSPP 1995). O(n) in running and queued jobs.
type ASP struct {
	// Max bounds the processors of a job, "ASP60" has 60; 0 is no bound.
	Max int

	// Share shares them equally, as ASP was defined. Otherwise the first job gets all
	// it can use, as Utrera et al. have it.
	Share bool

	plan plan
}

// AppendArrival implements [Policy].
func (a *ASP) AppendArrival(dst []Step, s State) ([]Step, error) { return a.AppendRelease(dst, s) }

// AppendRelease implements [Policy].
func (a *ASP) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &a.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	for job := range s.Queued {
		if p.idle == 0 {
			break
		}
		get := p.idle
		if a.Share {
			get = p.share(len(s.Queued) - job)
		}
		if a.Max > 0 {
			get = min(get, a.Max)
		}
		p.startUnfolded(job, get)
	}
	return append(dst, p.steps...), nil
}

// Equipartition gives all jobs, running and waiting, the same number of processors,
// but none more than it can use, at every arrival and release. Jobs are folded as
// far as that takes, without a limit; they start with as many processes as they
// asked for, and wait only if there are more jobs than processors. O(n log n) in
// running and queued jobs, as nearly all partitions change.
type Equipartition struct{ plan plan }

// AppendArrival implements [Policy].
func (e *Equipartition) AppendArrival(dst []Step, s State) ([]Step, error) {
	return e.AppendRelease(dst, s)
}

// AppendRelease implements [Policy].
func (e *Equipartition) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &e.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	p.begin()
	want := func(i int) int {
		if i < len(s.Running) {
			return s.Running[i].Processes
		}
		return min(s.Queued[i-len(s.Running)].Request, s.Processors)
	}
	jobs := min(len(s.Running)+len(s.Queued), s.Processors)
	p.order, p.shares = p.order[:0], p.shares[:0]
	for i := range jobs {
		p.order, p.shares = append(p.order, i), append(p.shares, 0)
	}
	// Who can use least comes first: what it leaves is for the others. The earliest
	// of equals gets one more if that does not come out even, so it comes last.
	slices.SortFunc(p.order, func(a, b int) int { return cmp.Or(cmp.Compare(want(a), want(b)), b-a) })
	left := s.Processors
	for k, i := range p.order {
		p.shares[i] = min(want(i), left/(jobs-k))
		left -= p.shares[i]
	}
	for i := range s.Running {
		p.resize(i, p.shares[i])
	}
	for i := len(s.Running); i < jobs; i++ {
		p.start(i-len(s.Running), p.shares[i], want(i))
	}
	return p.append(dst), nil
}

// FCFS starts jobs in order, each on all processors that it asks for, or on the
// whole machine. Rigid jobs are the baseline. O(n) in running and queued jobs.
type FCFS struct{ plan plan }

// AppendArrival implements [Policy].
func (f *FCFS) AppendArrival(dst []Step, s State) ([]Step, error) { return f.AppendRelease(dst, s) }

// AppendRelease implements [Policy].
func (f *FCFS) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &f.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	for job, q := range s.Queued {
		if min(q.Request, s.Processors) > p.idle {
			break
		}
		p.startUnfolded(job, p.idle)
	}
	return append(dst, p.steps...), nil
}

// ErrPolicy is returned for the name of no policy.
var ErrPolicy = errors.New("folding: unknown policy")

// ParsePolicy returns a policy by its name: fjt, fjt-eager, folding, psa, asp, asp60
// (and so on for any number above 0), equipartition, fcfs. It refuses others with
// [ErrPolicy].
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "fjt":
		return &FJT{}, nil
	case "fjt-eager":
		return &FJT{Eager: true}, nil
	case "folding":
		return &Folding{}, nil
	case "psa":
		return &PSA{}, nil
	case "asp":
		return &ASP{}, nil
	case "equipartition":
		return &Equipartition{}, nil
	case "fcfs":
		return &FCFS{}, nil
	}
	if text, ok := strings.CutPrefix(name, "asp"); ok {
		if n, err := strconv.ParseUint(text, 10, 28); err == nil && n > 0 {
			return &ASP{Max: int(n)}, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", name, ErrPolicy)
}
