package backfill

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Forever is later than every instant and longer than every length. As an
// estimate it says that the job gave none, as an expected start that none can
// be foreseen.
const Forever = time.Duration(math.MaxInt64)

// Errors of this package. They come wrapped with the offending value.
var (
	ErrResources = errors.New("backfill: bad resource vector")
	ErrTooLarge  = errors.New("backfill: job larger than the machine")
	ErrEstimate  = errors.New("backfill: estimate not positive")
	ErrDepth     = errors.New("backfill: bad reservation depth")
	ErrDuplicate = errors.New("backfill: job already known")
	ErrUnknown   = errors.New("backfill: no such job in that state")
	ErrTime      = errors.New("backfill: bad instant")
)

// Depth says how many of the first queued jobs hold reservations. Zero and
// every positive number are depths; the names below are the usual policies.
type Depth int

const (
	// FCFS starts jobs in queue order only: nobody overtakes.
	FCFS Depth = -1
	// FirstFit starts every job that fits, in queue order; no reservations.
	FirstFit Depth = 0
	// EASY gives a reservation to the head of the queue.
	EASY Depth = 1
	// Conservative gives a reservation to every queued job.
	Conservative Depth = math.MaxInt
)

// Machine is what jobs compete for, and under which policy.
type Machine struct {
	// Capacity is the amount of each resource, ≥ 0. By convention the first is
	// processors and the second memory in bytes, but only the order counts.
	Capacity []int64
	// Relaxed is the limit for relaxed jobs, per resource, ≥ Capacity. Nil means
	// Capacity: no relaxation.
	Relaxed []int64
	// Depth is the number of reservations. The zero value is [FirstFit].
	Depth Depth
}

// Job is the view of a job that a plan needs.
type Job struct {
	// Need is what the job holds while it runs, per resource in the order of
	// [Machine.Capacity], each ≥ 0; the job's total, not per process.
	Need []int64
	// Estimate is how long it is planned to run, > 0.
	Estimate time.Duration
	// Relaxed is set if the job's limit is [Machine.Relaxed].
	Relaxed bool
}

// Running is the view of a running job that a plan needs.
type Running struct {
	// Need is what the job holds, as in [Job].
	Need []int64
	// End is the planned end. A job whose End has come counts as gone.
	End time.Duration
}

func (m Machine) check() error {
	if len(m.Capacity) == 0 {
		return fmt.Errorf("no resources: %w", ErrResources)
	}
	for i, c := range m.Capacity {
		if c < 0 {
			return fmt.Errorf("capacity %d of resource %d: %w", c, i, ErrResources)
		}
	}
	if m.Relaxed != nil && len(m.Relaxed) != len(m.Capacity) {
		return fmt.Errorf("%d relaxed limits for %d resources: %w", len(m.Relaxed), len(m.Capacity), ErrResources)
	}
	for i, l := range m.Relaxed {
		if l < m.Capacity[i] {
			return fmt.Errorf("relaxed limit %d of resource %d below its capacity %d: %w", l, i, m.Capacity[i], ErrResources)
		}
	}
	if m.Depth < FCFS {
		return fmt.Errorf("depth %d: %w", m.Depth, ErrDepth)
	}
	return nil
}

// largest returns the greatest amount of resource i that one job may hold.
func (m Machine) largest(i int) int64 {
	if m.Relaxed != nil {
		return m.Relaxed[i]
	}
	return m.Capacity[i]
}

// slack returns by how much a relaxed job's limit exceeds capacity, per
// resource.
func (m Machine) slack() []int64 {
	s := make([]int64, len(m.Capacity))
	for i := range s {
		s[i] = m.largest(i) - m.Capacity[i]
	}
	return s
}

func (m Machine) checkNeed(need []int64) error {
	if len(need) != len(m.Capacity) {
		return fmt.Errorf("need of %d resources on a machine of %d: %w", len(need), len(m.Capacity), ErrResources)
	}
	for i, n := range need {
		if n < 0 {
			return fmt.Errorf("need %d of resource %d: %w", n, i, ErrResources)
		}
		if n > m.largest(i) {
			return fmt.Errorf("need %d of resource %d, machine has %d: %w", n, i, m.largest(i), ErrTooLarge)
		}
	}
	return nil
}

func (m Machine) checkJob(j Job) error {
	if err := m.checkNeed(j.Need); err != nil {
		return err
	}
	if j.Estimate <= 0 {
		return fmt.Errorf("estimate %v: %w", j.Estimate, ErrEstimate)
	}
	return nil
}

// later returns t + d for d ≥ 0, at most Forever.
func later(t, d time.Duration) time.Duration {
	if t > 0 && d > Forever-t {
		return Forever
	}
	return t + d
}
