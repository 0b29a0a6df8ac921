package loadshare

import (
	"errors"
	"fmt"
	"math"
)

// ErrMachine is returned for a machine that cannot exist.
var ErrMachine = errors.New("loadshare: invalid machine")

// Machine is the load of a machine and its thresholds, the paper's Table 3: what
// machines tell each other.
type Machine struct {
	Jobs   int   // N: running here, and on their way
	Demand int64 // Σ WS of these jobs, in bytes
	Memory int64 // M: what jobs can use, in bytes
	Free   int64 // FM: memory that nothing uses, in bytes
	Cache  int64 // FB: buffer cache, which yields to jobs, in bytes

	// MaxJobs is CT, the most jobs that the machine is to have. 0 means no bound.
	MaxJobs int

	// Threshold is MT: from this Q on submissions are blocked.
	Threshold float64
}

// Oversize returns Q, by what share of its memory the demand exceeds it: 0.05, not
// 5, where five per cent are missing, negative while there is room, −1 without
// demand, and +Inf if there is a demand but no memory. Cost O(1).
func (m Machine) Oversize() float64 {
	switch {
	case m.Demand <= 0:
		return -1
	case m.Memory <= 0:
		return math.Inf(1)
	}
	return float64(m.Demand-m.Memory) / float64(m.Memory)
}

// Accepts tells whether the machine accepts submissions, of its own users and from
// other machines: Q < MT and N < CT. Cost O(1).
func (m Machine) Accepts() bool { return m.hasSlot() && m.Oversize() < m.Threshold }

func (m Machine) hasSlot() bool { return m.MaxJobs <= 0 || m.Jobs < m.MaxJobs }

// available is FM + FB.
func (m Machine) available() int64 {
	free, cache := max(0, m.Free), max(0, m.Cache)
	if cache > math.MaxInt64-free {
		return math.MaxInt64
	}
	return free + cache
}

func (m Machine) check() error {
	switch {
	case m.Jobs < 0:
		return fmt.Errorf("%d jobs: %w", m.Jobs, ErrMachine)
	case m.MaxJobs < 0:
		return fmt.Errorf("at most %d jobs: %w", m.MaxJobs, ErrMachine)
	case m.Memory <= 0:
		return fmt.Errorf("memory of %d bytes: %w", m.Memory, ErrMachine)
	case min(m.Demand, m.Free, m.Cache) < 0:
		return fmt.Errorf("demand of %d, free %d, cache %d bytes: %w", m.Demand, m.Free, m.Cache, ErrMachine)
	case math.IsNaN(m.Threshold):
		return fmt.Errorf("threshold %v: %w", m.Threshold, ErrMachine)
	}
	return nil
}

// Candidate returns the machine with the largest free memory of those that have
// fewer jobs than their bound, the only one that is looked at for a target: its
// index and the machine, false if there is none. The machine except, which looks
// for one, is left out; -1 leaves out none. Ties go to the lowest index. Cost O(n);
// see [Index].
func Candidate(machines []Machine, except int) (int, Machine, bool) {
	best := -1
	for k, m := range machines {
		if k != except && m.hasSlot() && (best < 0 || max(0, m.Free) > max(0, machines[best].Free)) {
			best = k
		}
	}
	if best < 0 {
		return 0, Machine{}, false
	}
	return best, machines[best], true
}
