package folding

// FJT folds by job type. The zero value is ready, and follows the pseudo-code of the
// paper.
//
// Cost is O(n) in running and queued jobs for an arrival, a few nanoseconds each, and
// O(n log n) for a release.
type FJT struct {
	// Eager follows the text of §3 where it differs from the pseudo-code: a long job
	// starts on idle processors, or on half of an unfolded long job's, whatever runs.
	// It starts folded if a short job runs and none is folded, or if no other long
	// job waits: more processors are then expected to be free soon.
	Eager bool

	plan plan
}

// maxFolds is by how much a job may be folded: "the maximum number of Folding times
// an application can have with an acceptable performance is about 4" (§3).
const maxFolds = 4

// AppendArrival implements [Policy].
func (f *FJT) AppendArrival(dst []Step, s State) ([]Step, error) {
	p := &f.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	job := len(s.Queued) - 1
	switch {
	case job < 0:
	case s.Queued[job].Class == Long:
		f.decide(job, false, func() bool {
			if p.unfolded >= 0 {
				p.foldNow(p.unfolded)
			}
			return p.unfolded >= 0
		})
	case p.idle > 0:
		share := p.idle
		if p.waiting[Long] == 0 {
			share = p.last(p.waiting[Short])
		}
		if share > 0 {
			p.startUnfolded(job, share)
		}
	case p.foldable >= 0:
		p.foldNow(p.foldable)
		p.startUnfolded(job, p.idle)
	}
	return append(dst, p.steps...), nil
}

// decide decides on a long job that waits, first of those that do or last, and
// returns whether it starts. foldOne folds an unfolded long job, if there is one.
func (f *FJT) decide(job int, first bool, foldOne func() bool) bool {
	p := &f.plan
	others := p.waiting[Long] > 1
	fold := !others
	if f.Eager {
		fold = fold || p.shorts > 0 && !p.folded
	} else if !others && p.shorts > 0 {
		return false
	}
	var free int
	switch {
	case p.idle == 0:
		if !foldOne() {
			return false
		}
		free = p.idle
	case fold:
		free = p.idle
	case first:
		free = p.share(p.waiting[Long])
	default:
		free = p.last(p.waiting[Long])
	}
	switch {
	case free == 0:
		return false
	case fold:
		f.startFolded(job, free)
	default:
		p.startUnfolded(job, free)
	}
	return true
}

// startFolded starts a job with up to four processes a processor.
func (f *FJT) startFolded(job, processors int) {
	n := min(f.plan.state.Queued[job].Request, f.plan.state.Processors, maxFolds*processors)
	f.plan.start(job, partition(n, folds(n, processors)), n)
}

// AppendRelease implements [Policy].
func (f *FJT) AppendRelease(dst []Step, s State) ([]Step, error) {
	p := &f.plan
	if err := p.load(s); err != nil {
		return dst, err
	}
	p.begin()
	for job, q := range s.Queued {
		if q.Class != Short || p.idle == 0 {
			continue
		}
		share := p.idle
		if p.waiting[Long] == 0 {
			share = p.share(p.waiting[Short])
		}
		p.startUnfolded(job, share)
	}
	for by := maxFolds; by > 1 && p.idle > 0; by /= 2 {
		for i := range s.Running {
			if s.Running[i].Class != Long || p.folds(i) != by {
				continue
			}
			if to := partition(s.Running[i].Processes, by/2); to-p.sizes[i] <= p.idle {
				p.resize(i, to)
			}
		}
	}
	p.folded = false
	for i := range s.Running {
		p.folded = p.folded || p.folds(i) > 1
	}
	// Those that start now are not folded again at once, so that the order holds.
	longs := p.unfoldedLongs()
	foldOne := func() bool {
		if len(longs) == 0 {
			return false
		}
		p.resize(longs[0], (p.sizes[longs[0]]+1)/2)
		p.folded = true
		longs = longs[1:]
		return true
	}
	for job, q := range s.Queued {
		if q.Class == Long && !f.decide(job, true, foldOne) {
			break
		}
	}
	return p.append(dst), nil
}
