package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// RecentValues is how many of the last values are kept one by one.
const RecentValues = 5

// Margin is what [Adaptive] adds, in bytes: 384 KiB.
const Margin = 384 << 10

// ErrBound is returned for a bound that has no meaning.
var ErrBound = errors.New("estimate: unknown bound")

// Sample is what is known of the past runs that match a job: their number, and
// statistics of the memory of a process in bytes. All but Missed are those of
// the current and the previous period together.
type Sample struct {
	Count     int     // runs, > 0
	Mean      float64 // of all runs
	Deviation float64 // standard deviation of all runs, that of the population: √(Σ(x−mean)²/Count)
	Max       int64   // of all runs

	// Recent are the last values, newest first, and 0 from Count on.
	Recent [RecentValues]int64

	// Missed is the share of runs that needed more than the largest of up to
	// RecentValues values before them plus Margin. It is exponentially weighted, a
	// new run by 1/32, and outlasts a period.
	Missed float64
}

// Bound is how an estimate is made of past values, in bytes. A negative one
// counts as 0. It must be a pure function.
type Bound func(Sample) int64

// Paper is the bound of §2.1.3,
//
//	min( max(x), mean(x) + 3·sd(x) )
//
// rounded up to a byte. No value is further above the mean of n values than
// √(n−1) standard deviations. So up to ten values the bound is the maximum,
// exactly; from the eleventh on an outlier can lie above it.
func Paper(s Sample) int64 {
	if s.Count <= 10 {
		return s.Max
	}
	return min(s.Max, meanPlus(3, s))
}

// Max is the largest value.
func Max(s Sample) int64 { return s.Max }

// Last is the newest value.
func Last(s Sample) int64 { return s.Recent[0] }

// MaxOfLast returns the bound that is the largest of the last n values, where n
// is taken as at least 1 and at most [RecentValues].
func MaxOfLast(n int) Bound {
	n = min(max(n, 1), RecentValues)
	return func(s Sample) int64 { return slices.Max(s.Recent[:n]) }
}

// MeanPlus returns the bound mean + k·sd, rounded up to a byte; MeanPlus(0) is
// the mean. For k = √(p/(1−p)) at least the share p of the past values obeys it,
// whatever their distribution (Cantelli's inequality): k = 3 for nine tenths.
func MeanPlus(k float64) Bound {
	return func(s Sample) int64 { return meanPlus(k, s) }
}

func meanPlus(k float64, s Sample) int64 {
	x := math.Ceil(s.Mean + float64(k*s.Deviation))
	if !(x < math.MaxInt64) {
		return math.MaxInt64
	}
	return int64(x)
}

// Adaptive is the largest of the last five values plus [Margin]. But once more
// than one in eight of the latest runs needed more than that, by
// [Sample.Missed], it is the largest of all values plus Margin, until those five
// would do again.
//
// It is no bound of the paper. It forgets a large run after five smaller ones
// rather than after one to two periods, and the margin absorbs small variations.
// That pays where values repeat or change by modes. Where they never repeat it
// is lower than the paper's bound, and too low more often.
func Adaptive(s Sample) int64 {
	if s.Missed > 1./8 {
		return s.Max + Margin
	}
	return slices.Max(s.Recent[:]) + Margin
}

// ParseBound returns the bound of that name:
//
//	paper     Paper
//	max       Max
//	last      Last
//	adaptive  Adaptive
//	max3      MaxOfLast(3), and so on from 1 to RecentValues
//	mean      MeanPlus(0)
//	mean+2sd  MeanPlus(2), and so on for any number ≥ 0
//
// Any other name is refused with [ErrBound].
func ParseBound(name string) (Bound, error) {
	switch name {
	case "paper":
		return Paper, nil
	case "max":
		return Max, nil
	case "last":
		return Last, nil
	case "adaptive":
		return Adaptive, nil
	case "mean":
		return MeanPlus(0), nil
	}
	if s, ok := strings.CutPrefix(name, "max"); ok {
		if n, err := strconv.ParseUint(s, 10, 8); err == nil && n >= 1 && n <= RecentValues {
			return MaxOfLast(int(n)), nil
		}
	}
	if s, ok := strings.CutPrefix(name, "mean+"); ok {
		if s, ok = strings.CutSuffix(s, "sd"); ok {
			if k, err := strconv.ParseFloat(s, 64); err == nil && k >= 0 && !math.IsInf(k, 1) {
				return MeanPlus(k), nil
			}
		}
	}
	return nil, fmt.Errorf("%q: %w", name, ErrBound)
}
