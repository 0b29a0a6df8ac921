package tsafrir

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

var (
	// ErrMax says that the greatest estimate is below one hour.
	ErrMax = errors.New("tsafrir: greatest estimate below 1 h")
	// ErrRun says that a run time is negative or above the greatest estimate.
	ErrRun = errors.New("tsafrir: run time out of range")
	// ErrShort says that the model gave fewer long estimates than there are long
	// runs. Another call with the same generator may succeed.
	ErrShort = errors.New("tsafrir: too few long estimates")
)

// Estimates returns an estimate for each run time, at the same index, of at
// least the run time and at most max. The greatest estimate max is at least one
// hour; a run time is between 0 and max. The estimates as a whole depend on the
// number of jobs, max and r only; which job gets which, on the run times. Equal
// runs choose in order of their index. It does not write to runs.
//
// Errors wrap ErrMax, ErrRun or ErrShort and name the job. O(n log n), and about
// 24 bytes a job.
func Estimates(runs []time.Duration, max time.Duration, r *rand.Rand) ([]time.Duration, error) {
	if max < time.Hour {
		return nil, fmt.Errorf("greatest estimate %v: %w", max, ErrMax)
	}
	for i, run := range runs {
		if run < 0 || run > max {
			return nil, fmt.Errorf("job %d runs %v, not in 0 .. %v: %w", i, run, max, ErrRun)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	return assign(runs, draw(len(runs), max, r), r)
}

// Values returns K, the number of different estimates of n jobs: linear between
// the points (0, 0), (20, 10), (200, 20), (1000, 35), (10,000, 90), (70,000,
// 340) and (250,000, 565), rounded, at least 1 if n is. From there it grows with
// n^0.547761, the paper's power law. Estimates has fewer only if max is so short
// and n so large (seven million jobs for an hour) that half of all seconds would
// be in use. O(1).
func Values(n int) int {
	points := [...][2]float64{{0, 0}, {20, 10}, {200, 20}, {1000, 35}, {10_000, 90}, {70_000, 340}, {250_000, 565}}
	x := float64(n)
	if x <= 0 {
		return 0
	}
	for i, p := range points[1:] {
		if q := points[i]; x <= p[0] {
			return max(1, int(math.Round(q[1]+(p[1]-q[1])*(x-q[0])/(p[0]-q[0]))))
		}
	}
	last := points[len(points)-1]
	return int(math.Round(last[1] * math.Pow(x/last[0], .547761)))
}

const (
	headValues = 20
	headShare  = .89
)

// draw returns n estimates in descending order.
func draw(n int, limit time.Duration, r *rand.Rand) []time.Duration {
	k := min(Values(n), int(limit/time.Second/2))
	times := headTimes(limit)
	r.Shuffle(len(times)-1, func(i, j int) { times[1+i], times[1+j] = times[1+j], times[1+i] })
	if k > headValues {
		tail := tailTimes(k, limit, times)
		r.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
		times = append(times, tail...)
	}

	type value struct {
		time time.Duration
		jobs int
	}
	values := make([]value, k)
	for i, jobs := range counts(n, k) {
		values[i] = value{times[i], jobs}
	}
	slices.SortFunc(values, func(a, b value) int { return cmp.Compare(b.time, a.time) })
	estimates := make([]time.Duration, 0, n)
	for _, v := range values {
		for range v.jobs {
			estimates = append(estimates, v.time)
		}
	}
	return estimates
}

// headTimes returns the 20 times of the head, limit first.
func headTimes(limit time.Duration) []time.Duration {
	const m, h = time.Minute, time.Hour
	times := append(make([]time.Duration, 0, headValues), limit)
	for _, t := range [...]time.Duration{5 * m, 10 * m, 15 * m, 20 * m, 30 * m,
		1 * h, 2 * h, 3 * h, 4 * h, 5 * h, 6 * h, 8 * h, 10 * h, 12 * h, 18 * h} {
		if t < limit {
			times = append(times, t)
		}
	}
	for _, step := range [...]time.Duration{200 * h, 100 * h, 50 * h, 10 * h, 5 * h, 2 * h, 1 * h,
		20 * m, 10 * m, 5 * m, 1 * m} {
		for t := (limit - 1).Truncate(step); t > 0 && len(times) < headValues; t -= step {
			if !slices.Contains(times, t) {
				times = append(times, t)
			}
		}
	}
	return times
}

// tailTimes returns the times of the k − 20 values of the tail in about
// ascending order, none of them in head.
func tailTimes(k int, limit time.Duration, head []time.Duration) []time.Duration {
	used := make(map[time.Duration]bool, k)
	for _, t := range head {
		used[t] = true
	}
	a := curve(k)
	times := make([]time.Duration, k-headValues)
	for i := range times {
		x := float64(i+1) / float64(len(times))
		y := (a - 1) * x / (a - x)
		t := max(time.Duration(math.Round(y*limit.Minutes())), 1) * time.Minute
		// The nearest second that is free, the earlier of two.
		free := func(t time.Duration) bool { return t > 0 && t <= limit && !used[t] }
		for d := time.Duration(0); ; d += time.Second {
			if free(t - d) {
				t -= d
				break
			}
			if free(t + d) {
				t += d
				break
			}
		}
		used[t] = true
		times[i] = t
	}
	return times
}

// curve returns a, which bends the tail's times: most are short.
func curve(k int) float64 { return 1 + float64(12.1039*math.Pow(float64(k), -.6026)) }

// shares returns the share of jobs of each of the k values, by popularity.
func shares(k int) []float64 {
	s := make([]float64, k)
	s[0] = headShare
	for x := 2; x <= headValues; x++ {
		v := (float64(14.0491*math.Exp(-.177531*float64(x))) + .462513) / 100
		s[0] -= v
		if x <= k {
			s[x-1] = v
		}
	}
	scale := func(s []float64, total float64) {
		sum := 0.
		for _, v := range s {
			sum += v
		}
		for i := range s {
			s[i] *= total / sum
		}
	}
	if k <= headValues {
		scale(s, 1)
		return s
	}
	for rank := headValues + 1; rank <= k; rank++ {
		s[rank-1] = 795.6 * math.Pow(float64(rank), -2.267)
	}
	scale(s[headValues:], 1-headShare)
	return s
}

// counts returns the number of jobs of each of the k values, by popularity. What
// rounding adds or takes is made good one job a value, the most popular first.
func counts(n, k int) []int {
	c, jobs := make([]int, k), float64(n)
	for i, share := range shares(k) {
		c[i] = max(int(math.Round(share*jobs)), 1)
		n -= c[i]
	}
	for i := 0; n != 0; i = (i + 1) % k {
		switch {
		case n > 0:
			c[i]++
			n--
		case c[i] > 1:
			c[i]--
			n++
		}
	}
	return c
}

// assign gives each run one of the estimates that are not below it. Estimates
// are in descending order and as many as runs.
func assign(runs, estimates []time.Duration, r *rand.Rand) ([]time.Duration, error) {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(runs[j], runs[i]), cmp.Compare(i, j))
	})
	// Runs descend, so the estimates that are long enough only grow: they are a
	// prefix of estimates. Its unused part is kept in front, in any order.
	result := make([]time.Duration, len(runs))
	unused, next := 0, 0 // estimates[:unused] can be chosen, estimates[next:] may be too short
	for rank, i := range order {
		for next < len(estimates) && estimates[next] >= runs[i] {
			estimates[unused] = estimates[next]
			unused++
			next++
		}
		if unused == 0 {
			return nil, fmt.Errorf("job %d runs %v, and all %d estimates that long are taken: %w",
				i, runs[i], rank, ErrShort)
		}
		c := r.IntN(unused)
		result[i] = estimates[c]
		unused--
		estimates[c] = estimates[unused]
	}
	return result, nil
}
