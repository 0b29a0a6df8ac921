package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a mean with its 95 % confidence interval, Mean ± HalfWidth, in
// the unit of the values.
type Interval struct {
	Mean, HalfWidth float64
	Batches         int

	// Lag1 is the correlation of neighbouring batch means, 0 if they are all
	// equal. The half width holds for independent batches: from .2 on it is too
	// small, and longer batches or independent seeds are called for. Heavy
	// tails need thousands of jobs a batch.
	Lag1 float64
}

// BatchMeans estimates the mean of x and how far it can be trusted. Values of
// one simulation depend on their neighbours, so that the usual standard error
// would be far too small; the means of long stretches depend on each other
// much less. x, in order of submission (see Values), is cut into k batches of
// consecutive values, of lengths that differ by one at most, and
//
//	half width = t(k − 1, .975) · s / √k
//
// with s the standard deviation of the batch means and t Student's: 2.262 for
// k = 10, 2.093 for 20, 2.045 for 30. k is 10 to 30 as a rule, at least 2 and
// at most len(x). O(n).
func BatchMeans(x []float64, k int) (Interval, error) {
	if k < 2 || k > len(x) {
		return Interval{}, fmt.Errorf("%d batches of %d values: %w", k, len(x), ErrSample)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Interval{}, fmt.Errorf("value %d is %v: %w", i, v, ErrSample)
		}
	}
	means := make([]float64, k)
	n := len(x)
	from := 0
	for b := range means {
		to := from + (n-from)/(k-b)
		means[b] = stat.Mean(x[from:to], nil)
		from = to
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(k - 1)}
	return Interval{
		Mean:      stat.Mean(x, nil),
		HalfWidth: t.Quantile(.975) * stat.StdErr(stat.StdDev(means, nil), float64(k)),
		Batches:   k,
		Lag1:      lag1(means),
	}, nil
}

func lag1(x []float64) float64 {
	mean := stat.Mean(x, nil)
	var products, squares float64
	for i, v := range x {
		squares += float64((v - mean) * (v - mean))
		if i > 0 {
			products += float64((x[i-1] - mean) * (v - mean))
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}

// Compare estimates by how much value differs, a less b, between two policies
// that ran the same workload: job i of a is job i of b, of the same submission
// and processors. Differences are taken job by job before they are batched, as
// in BatchMeans: good and bad hours of the workload hit both policies and fall
// out, and the interval is much smaller than those of the two means. It
// excludes 0 where the policies differ. A job for which value is undefined in
// either run is left out. O(n log n).
func Compare(a, b []Job, value func(Job) (float64, bool), k int) (Interval, error) {
	if len(a) != len(b) {
		return Interval{}, fmt.Errorf("workloads of %d and %d jobs: %w", len(a), len(b), ErrSample)
	}
	x := make([]float64, 0, len(a))
	for _, e := range order(a, submission) {
		i := e.job
		if a[i].Submit != b[i].Submit || a[i].Processors != b[i].Processors {
			return Interval{}, fmt.Errorf("job %d: submission %v and %v, processors %d and %d: %w",
				i, a[i].Submit, b[i].Submit, a[i].Processors, b[i].Processors, ErrSample)
		}
		u, ok := value(a[i])
		v, both := value(b[i])
		if ok && both {
			x = append(x, u-v)
		}
	}
	return BatchMeans(x, k)
}
