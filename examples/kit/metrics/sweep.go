package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Sample is the state of the system from Time until the next sample.
type Sample struct {
	Time       time.Duration
	Queued     int   // jobs submitted and not started
	Running    int   // jobs started and not ended
	Processors int   // held by running jobs; above the machine's when jobs share processors
	Memory     int64 // bytes held by running jobs
}

// Timeline returns the system's state as a step function of time: one sample
// for every instant at which a job was submitted, started or ended, in order
// of time and at most three a job. A job holds what it holds from its start up
// to, and without, its end, so a job that ends as it starts never shows. The
// last sample is of an empty system; no jobs give no samples. O(n log n).
func Timeline(jobs []Job) ([]Sample, error) {
	if err := check(jobs); err != nil {
		return nil, err
	}
	s := newSweep(jobs)
	var samples []Sample
	for s.next() {
		samples = append(samples, s.now)
	}
	return samples, s.err
}

// sweep walks through all instants at which anything happens. Submissions,
// starts and ends are sorted on their own and merged as it goes.
type sweep struct {
	jobs               []Job
	submit, start, end []event // not yet applied
	now                Sample
	demand             int64    // processors that the queue asks for
	sizes              []int    // the distinct job sizes, ascending; nil if waiting is not kept
	waiting            *fenwick // queued jobs of each size
	err                error
}

type event struct {
	time time.Duration
	job  int
}

func newSweep(jobs []Job) *sweep {
	return &sweep{
		jobs:   jobs,
		submit: order(jobs, submission),
		start:  order(jobs, func(j *Job) time.Duration { return j.Start }),
		end:    order(jobs, func(j *Job) time.Duration { return j.End }),
	}
}

// order returns the jobs sorted by one of their instants, ties by index.
func order(jobs []Job, at func(*Job) time.Duration) []event {
	events := make([]event, len(jobs))
	for i := range jobs {
		events[i] = event{at(&jobs[i]), i}
	}
	slices.SortFunc(events, func(a, b event) int {
		if c := cmp.Compare(a.time, b.time); c != 0 {
			return c
		}
		return cmp.Compare(a.job, b.job)
	})
	return events
}

// keepSizes lets fits answer. Call it before the first next.
func (s *sweep) keepSizes() {
	s.sizes = make([]int, len(s.jobs))
	for i, j := range s.jobs {
		s.sizes[i] = j.Processors
	}
	slices.Sort(s.sizes)
	s.sizes = slices.Compact(s.sizes)
	s.waiting = newFenwick(len(s.sizes))
}

// fits reports whether some queued job needs at most the given processors.
func (s *sweep) fits(processors int) bool {
	rank, exact := slices.BinarySearch(s.sizes, processors)
	if exact {
		rank++
	}
	return s.waiting.sum(rank) > 0
}

// next applies all that happens at the next instant; the order within the
// instant does not matter to the state after it.
func (s *sweep) next() bool {
	if len(s.end) == 0 || s.err != nil {
		return false // a job's end is its last event
	}
	t := s.end[0].time
	if len(s.start) > 0 {
		t = min(t, s.start[0].time)
	}
	if len(s.submit) > 0 {
		t = min(t, s.submit[0].time)
	}
	s.now.Time = t
	for ; len(s.submit) > 0 && s.submit[0].time == t; s.submit = s.submit[1:] {
		s.queue(s.submit[0].job, +1)
	}
	// A job that ends as it starts holds nothing: both loops pass over it.
	for ; len(s.end) > 0 && s.end[0].time == t; s.end = s.end[1:] {
		if j := &s.jobs[s.end[0].job]; j.Start < t {
			s.now.Running--
			s.now.Processors -= j.Processors
			s.now.Memory -= j.Memory
		}
	}
	for ; len(s.start) > 0 && s.start[0].time == t; s.start = s.start[1:] {
		i := s.start[0].job
		s.queue(i, -1)
		j := &s.jobs[i]
		if j.End == t {
			continue
		}
		if j.Memory > math.MaxInt64-s.now.Memory {
			s.err = fmt.Errorf("job %d: memory of %d bytes beside %d of others: too much to add up: %w",
				i, j.Memory, s.now.Memory, ErrJob)
			return false
		}
		if j.Processors > math.MaxInt-s.now.Processors {
			s.err = fmt.Errorf("job %d: %d processors beside %d of others: too many to add up: %w",
				i, j.Processors, s.now.Processors, ErrJob)
			return false
		}
		s.now.Running++
		s.now.Processors += j.Processors
		s.now.Memory += j.Memory
	}
	return true
}

func (s *sweep) queue(job, by int) {
	s.now.Queued += by
	p := s.jobs[job].Processors
	s.demand += int64(by) * int64(p)
	if s.waiting != nil {
		rank, _ := slices.BinarySearch(s.sizes, p)
		s.waiting.add(rank, by)
	}
}

// fenwick is a binary indexed tree: counts at positions 0 to n − 1, with
// additions and prefix sums in O(log n).
type fenwick struct{ tree []int }

func newFenwick(n int) *fenwick { return &fenwick{make([]int, n+1)} }

func (f *fenwick) add(i, by int) {
	for i++; i < len(f.tree); i += i & -i {
		f.tree[i] += by
	}
}

// sum returns the total of the first n positions.
func (f *fenwick) sum(n int) int {
	total := 0
	for ; n > 0; n -= n & -n {
		total += f.tree[n]
	}
	return total
}

func submission(j *Job) time.Duration { return j.Submit }
