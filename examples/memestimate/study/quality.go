package study

import "math"

// MB is what the paper's Figure 2 counts in: 2^20 bytes.
const MB = 1 << 20

// The buckets of the histograms. The first and the last also hold what is beyond.
const (
	FirstMB, LastMB           = -20, 20 // of 1 MB: from FirstMB up to FirstMB + 1 MB, …
	FirstPercent, LastPercent = -2, 20  // of 50 percentage points of the actual memory
)

// Quality says how good the estimates of a bound were. An error is estimate −
// actual memory.
type Quality struct {
	Bound     string
	Jobs      int     // that were to be estimated
	Predicted int     // for which there was an estimate
	Within1MB int     // |error| < 1 MB
	Within5MB int     // |error| < 5 MB
	Under     int     // error < 0
	Over      float64 // sum of the positive errors, bytes

	Megabytes [LastMB - FirstMB + 1]int           // errors by MB
	Percent   [LastPercent - FirstPercent + 1]int // errors by half of the actual memory
}

func (q *Quality) add(estimate, actual int64) {
	q.Predicted++
	e := estimate - actual
	if -MB < e && e < MB {
		q.Within1MB++
	}
	if -5*MB < e && e < 5*MB {
		q.Within5MB++
	}
	if e < 0 {
		q.Under++
	} else {
		q.Over += float64(e)
	}
	q.Megabytes[bucket(float64(e)/MB, FirstMB, LastMB)]++
	q.Percent[bucket(2*float64(e)/float64(actual), FirstPercent, LastPercent)]++
}

func bucket(x float64, first, last int) int {
	return int(min(max(math.Floor(x), float64(first)), float64(last))) - first
}

// Share is n of the predicted jobs, 0 if there are none.
func (q *Quality) Share(n int) float64 {
	if q.Predicted == 0 {
		return 0
	}
	return float64(n) / float64(q.Predicted)
}

// MeanOver is by how many MB an estimate is too high: the mean over all estimates,
// where those that are too low count as 0.
func (q *Quality) MeanOver() float64 {
	if q.Predicted == 0 {
		return 0
	}
	return q.Over / MB / float64(q.Predicted)
}
