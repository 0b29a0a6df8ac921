package pairing

import (
	"errors"
	"fmt"
	"math"
)

// Errors of this package, wrapped with the offending value.
var (
	ErrUtilisation = errors.New("pairing: utilisation is not from 0 to 1")
	ErrConfig      = errors.New("pairing: invalid configuration")
)

// Billionths of utilisation are what is compared.
const (
	billion      = 1_000_000_000
	paperMargin  = 10_000_000  // m, 1 %
	paperChange  = 200_000_000 // 20 points
	unmeasurable = -1
)

// billionths returns u as a whole number of billionths, or unmeasurable.
func billionths(u float64) int64 {
	if !(u >= 0 && u <= 1) {
		return unmeasurable
	}
	return int64(math.RoundToEven(u * billion))
}

func check(u float64) error {
	if billionths(u) == unmeasurable {
		return fmt.Errorf("%v: %w", u, ErrUtilisation)
	}
	return nil
}

// Mean returns the mean of the utilisations of a gang's processes in one quantum,
// the inner sum of eq. (1), whatever their order. No processes, and a utilisation
// that is not from 0 to 1, are refused with [ErrUtilisation]. O(processes).
//
// Where processor time is counted in ticks of a clock, a process can seem to have
// used more than the quantum: it is for the caller to count that as 1.
func Mean(processes []float64) (float64, error) {
	sum := int64(0)
	for i, u := range processes {
		if err := check(u); err != nil {
			return 0, fmt.Errorf("process %d, %w", i, err)
		}
		sum += billionths(u)
	}
	if len(processes) == 0 {
		return 0, fmt.Errorf("mean over no processes: %w", ErrUtilisation)
	}
	return float64(sum) / float64(float64(len(processes))*billion), nil
}

// Effective returns what a gang would compute of the processor time that its
// partner leaves, u/(1 − partner), at most 1 (§2.2). It judges a gang by a quantum
// that it shared. The paper rejects it, since it is wrong when the two together
// want a little less than all: 50 % beside 49 % is 98 %. It is 1, as for a new
// gang, if the partner leaves nothing, or if an argument is not from 0 to 1.
func Effective(u, partner float64) float64 {
	if check(u) != nil || check(partner) != nil || partner == 1 {
		return 1
	}
	return min(u/(1-partner), 1)
}
