package admission

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrThreshold is returned for a negative run time and for a multiple that is
// negative or NaN.
var ErrThreshold = errors.New("admission: invalid threshold")

// Threshold returns the instant from which on the limit is relaxed for a job,
// Eq. (3):
//
//	submit + T·run
//
// where submit is an instant since the caller's epoch, run the run time that the
// scheduler knows of, usually the user's estimate, and multiple is T. At that
// instant the job has waited long enough:
//
//	relaxed := now >= threshold
//
// T·run is rounded up to the nanosecond, and T taken as the decimal it is
// written: a tenth of 10 s is 1 s. T = 0 is submit for any run. Where T·run or
// the instant exceeds the largest Duration, as for T = +Inf with run > 0, the
// instant is the largest Duration: the limit is never relaxed.
//
// A negative run, or a T that is negative or NaN, is refused with
// [ErrThreshold]. Cost O(1). Calls may run concurrently.
func Threshold(submit, run time.Duration, multiple float64) (time.Duration, error) {
	if run < 0 || !(multiple >= 0) {
		return 0, fmt.Errorf("run time %v times %v: %w", run, multiple, ErrThreshold)
	}
	wait, exact := multiply(int64(run), multiple)
	if !exact {
		wait = add(wait, 1)
	}
	if wait == math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return time.Duration(add(wait, int64(submit))), nil
}
