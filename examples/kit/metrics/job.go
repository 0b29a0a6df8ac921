package metrics

import (
	"errors"
	"fmt"
	"math"
	"time"
)

var (
	// ErrJob reports a job whose numbers cannot be: an end before its start, a
	// start before its submission, no processors, negative memory, or jobs that
	// together exceed what 64 bits hold.
	ErrJob = errors.New("metrics: bad job")

	// ErrMachine reports a machine without processors or of negative memory.
	ErrMachine = errors.New("metrics: bad machine")
)

// Tau is the usual bound of the bounded slowdown, below which a run time does
// not count as short.
const Tau = 10 * time.Second

// A Job is a finished job.
type Job struct {
	Submit, Start, End time.Duration // instants since an epoch of the caller's; Submit ≤ Start ≤ End
	Run                time.Duration // time at full speed; ≤ 0 leaves the job out of the slowdown
	Processors         int           // > 0
	Memory             int64         // bytes, total of the job; 0 if unknown
}

// A Machine is what the jobs ran on.
type Machine struct {
	Processors int   // > 0
	Memory     int64 // bytes, total of the machine; 0 if unknown
}

// Wait returns the time from submission to start.
func (j Job) Wait() time.Duration { return j.Start - j.Submit }

// Response returns the time from submission to end.
func (j Job) Response() time.Duration { return j.End - j.Submit }

// RunningTime returns the time from start to end. It exceeds Run when the job
// was suspended, shared its processors or waited for memory.
func (j Job) RunningTime() time.Duration { return j.End - j.Start }

// Slowdown returns response/run. It is undefined, and false, for Run ≤ 0.
func (j Job) Slowdown() (float64, bool) {
	if j.Run <= 0 {
		return 0, false
	}
	return float64(j.Response()) / float64(j.Run), true
}

// BoundedSlowdown returns max(1, response/max(run, tau)). It panics for
// tau ≤ 0; Tau is usual.
func (j Job) BoundedSlowdown(tau time.Duration) float64 {
	return max(1, float64(j.Response())/j.bounded(tau))
}

// WangBoundedSlowdown returns (wait + max(run, tau))/max(run, tau), eq. (7) of
// Wang et al. It looks at the wait alone, so that a job stretched while it runs
// is not charged for it. It panics for tau ≤ 0.
func (j Job) WangBoundedSlowdown(tau time.Duration) float64 {
	r := j.bounded(tau)
	return (float64(j.Wait()) + r) / r
}

// PerProcessorBoundedSlowdown returns max(1, response/(p·max(run, tau))): two
// jobs of the same area and response then count the same, whatever their
// shapes. It panics for tau ≤ 0.
func (j Job) PerProcessorBoundedSlowdown(tau time.Duration) float64 {
	return max(1, float64(j.Response())/(float64(j.Processors)*j.bounded(tau)))
}

func (j Job) bounded(tau time.Duration) float64 {
	if tau <= 0 {
		panic("metrics: tau must be positive")
	}
	return float64(max(j.Run, tau))
}

// Area returns run·processors, in processor-seconds; 0 for Run ≤ 0.
func (j Job) Area() float64 {
	return max(0, j.Run).Seconds() * float64(j.Processors)
}

// check returns the first fault of the jobs. Where it finds none, no difference
// of two instants and no sum of processors overflows.
func check(jobs []Job) error {
	processors := int64(0)
	first, last := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	for i, j := range jobs {
		switch {
		case j.Start < j.Submit:
			return fmt.Errorf("job %d: start %v before submission %v: %w", i, j.Start, j.Submit, ErrJob)
		case j.End < j.Start:
			return fmt.Errorf("job %d: end %v before start %v: %w", i, j.End, j.Start, ErrJob)
		case j.Processors <= 0:
			return fmt.Errorf("job %d: %d processors: %w", i, j.Processors, ErrJob)
		case j.Memory < 0:
			return fmt.Errorf("job %d: memory of %d bytes: %w", i, j.Memory, ErrJob)
		case int64(j.Processors) > math.MaxInt64-processors:
			return fmt.Errorf("job %d: %d processors, %d with those before: too many to add up: %w",
				i, j.Processors, processors, ErrJob)
		}
		processors += int64(j.Processors)
		first, last = min(first, j.Submit), max(last, j.End)
		if last-first < 0 {
			return fmt.Errorf("job %d: submission %v, end %v: too far from the other jobs' %v to %v: %w",
				i, j.Submit, j.End, first, last, ErrJob)
		}
	}
	return nil
}

func (m Machine) check() error {
	if m.Processors <= 0 || m.Memory < 0 {
		return fmt.Errorf("%d processors, memory of %d bytes: %w", m.Processors, m.Memory, ErrMachine)
	}
	return nil
}
