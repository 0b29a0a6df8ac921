package paging

import (
	"fmt"
	"math"
	"time"
)

// Rescale returns the remaining execution time of one running job after the
// factor has changed from old to new, Eqs. (5) and (6) in one:
//
//	remaining · new / old
//
// With old = 1 it is Eq. (5), with new = 1 Eq. (6). The result is rounded to the
// nearest nanosecond, half away from zero, and is at most the largest Duration.
// Equal factors and a remaining time of zero or less return it unchanged.
//
// Use it for a single job, for instance to turn an estimate at full speed into
// one for planning. For the jobs of a pool prefer a [Progress]: Rescale has to
// be called for every job at every change, each call rounds by up to half a
// nanosecond (beyond 2⁵³ ns, 104 days, by more), and these errors add up.
//
// A factor below 1, infinite or NaN is refused with [ErrFactor]. Cost O(1).
// Calls may run concurrently.
func Rescale(remaining time.Duration, old, new float64) (time.Duration, error) {
	if !valid(old) || !valid(new) {
		return 0, fmt.Errorf("rescale %v from factor %v to %v: %w", remaining, old, new, ErrFactor)
	}
	if remaining <= 0 || old == new {
		return remaining, nil
	}
	scaled := math.Round(float64(float64(remaining) * float64(new/old)))
	if scaled >= 1<<63 {
		return forever, nil
	}
	return time.Duration(scaled), nil
}
