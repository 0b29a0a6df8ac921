package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// ErrSample reports values from which nothing can be computed: NaN, infinite,
// too few for the batches asked for, or of different workloads.
var ErrSample = errors.New("metrics: bad sample")

// A Distribution describes a set of values, in the values' unit. Of no values
// it is the zero Distribution.
type Distribution struct {
	Count  int
	Mean   float64
	Median float64 // the ⌈n/2⌉-th of the sorted values
	P95    float64 // the ⌈.95·n⌉-th
	P99    float64
	Max    float64
	SD     float64 // sample standard deviation; 0 for one value

	// Jain is the fairness index (Σx)²/(n·Σx²): 1 if all values are equal, 1/n
	// if one of them is all there is.
	Jain float64
}

// Describe returns the distribution of x, which may be in any order. O(n log n).
func Describe(x []float64) (Distribution, error) {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Distribution{}, fmt.Errorf("value %d is %v: %w", i, v, ErrSample)
		}
	}
	return describe(slices.Clone(x)), nil
}

// describe sorts x.
func describe(x []float64) Distribution {
	n := len(x)
	if n == 0 {
		return Distribution{}
	}
	slices.Sort(x)
	d := Distribution{
		Count:  n,
		Mean:   stat.Mean(x, nil),
		Median: stat.Quantile(.5, stat.Empirical, x, nil),
		P95:    stat.Quantile(.95, stat.Empirical, x, nil),
		P99:    stat.Quantile(.99, stat.Empirical, x, nil),
		Max:    x[n-1],
		Jain:   1,
	}
	if n > 1 {
		d.SD = stat.StdDev(x, nil)
	}
	if variance := stat.PopVariance(x, nil); variance > 0 {
		square := float64(d.Mean * d.Mean)
		d.Jain = square / (square + variance)
	}
	return d
}

// Values returns value(job) of the jobs in order of submission, ties by index,
// without those for which value is undefined. It feeds Describe and BatchMeans,
// say with Job.Slowdown. O(n log n).
func Values(jobs []Job, value func(Job) (float64, bool)) []float64 {
	x := make([]float64, 0, len(jobs))
	for _, e := range order(jobs, submission) {
		if v, ok := value(jobs[e.job]); ok {
			x = append(x, v)
		}
	}
	return x
}
