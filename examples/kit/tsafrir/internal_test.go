package tsafrir

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func hours(h ...float64) []time.Duration {
	var d []time.Duration
	for _, v := range h {
		d = append(d, time.Duration(v*float64(time.Hour)))
	}
	return d
}

// Step 2 of the package comment, in percent.
func TestHeadShares(t *testing.T) {
	want := []float64{21.733, 10.313, 8.710, 7.369, 6.245, 5.305, 4.517, 3.858, 3.305, 2.843, 2.456, 2.131, 1.860,
		1.633, 1.442, 1.283, 1.149, 1.038, .944, .866}
	for _, k := range []int{21, 35, 90, 340, 565} {
		got := shares(k)
		require.Len(t, got, k)
		head, tail := 0., 0.
		for i, s := range got {
			if i < 20 {
				assert.InDelta(t, want[i], 100*s, 6e-4, "rank %d", i+1)
				head += s
			} else {
				tail += s
				if i > 20 {
					require.InEpsilon(t, 1/(1+1/float64(i)), got[i-1]/s, .2)
					require.Less(t, s, got[i-1])
				}
			}
		}
		assert.InDelta(t, .89, head, 1e-12)
		assert.InDelta(t, .11, tail, 1e-12)
	}
	rest := 0.
	for i, s := range want[1:] {
		rest += s
		assert.InDelta(t, s, 100*shares(35)[i+1], 6e-4)
	}
	assert.InDelta(t, 67.267, rest, 2e-3)
	// The ratio of two tail shares is that of their powers: 42^-2.267 / 21^-2.267.
	assert.InEpsilon(t, .2077, shares(90)[41]/shares(90)[20], 1e-3)
	for k := 1; k <= 20; k++ {
		got, sum := shares(k), 0.
		for _, s := range got {
			sum += s
		}
		assert.InDelta(t, 1, sum, 1e-12)
		if k > 1 {
			assert.InEpsilon(t, 21.733/10.313, got[0]/got[1], 1e-3, "%d values", k)
		}
	}
}

func TestCurve(t *testing.T) {
	assert.InDelta(t, 2.4206, curve(35), 6e-5)
	assert.InDelta(t, 1.8041, curve(90), 6e-5)
	assert.InDelta(t, 1.3610, curve(340), 6e-5)
}

func TestHeadTimes(t *testing.T) {
	const m = 1. / 60
	fixed := []float64{5 * m, 10 * m, 15 * m, 20 * m, 30 * m, 1, 2, 3, 4, 5, 6, 8, 10, 12, 18}
	for _, c := range []struct {
		limit float64
		want  []float64
	}{
		{36, append([]float64{36, 30, 20, 35, 25}, fixed...)},
		{18, append([]float64{18, 15, 16, 14, 17, 13}, fixed[:14]...)},
		{24, append([]float64{24, 20, 15, 22, 16}, fixed...)},
		{400, append([]float64{400, 200, 300, 100, 350}, fixed...)},
		{4, append([]float64{4, 220 * m, 200 * m, 160 * m, 140 * m, 100 * m, 80 * m, 40 * m, 230 * m, 210 * m, 190 * m, 170 * m},
			fixed[:8]...)},
		{1, append([]float64{1, 40 * m, 50 * m, 55 * m, 45 * m, 35 * m, 25 * m, 59 * m, 58 * m, 57 * m, 56 * m, 54 * m, 53 * m,
			52 * m, 51 * m}, fixed[:5]...)},
	} {
		t.Run(fmt.Sprintf("%v h", c.limit), func(t *testing.T) {
			want := hours(c.want...)
			for i := range want {
				want[i] = want[i].Round(time.Minute)
			}
			got := headTimes(want[0])
			assert.Equal(t, want[0], got[0], "the greatest estimate has rank 1")
			assert.ElementsMatch(t, want, got)
		})
	}
}

func TestTailTimes(t *testing.T) {
	for _, limit := range hours(1, 1.7, 18, 36, 400) {
		for _, k := range []int{21, 35, 90, 340, 565, 1800} {
			head := headTimes(limit)
			tail := tailTimes(k, limit, head)
			require.Len(t, tail, k-20)
			all := slices.Concat(head, tail)
			slices.Sort(all)
			require.Len(t, slices.Compact(all), k, "all different")
			require.Positive(t, all[0])
			require.Equal(t, limit, all[k-1])
			for i, got := range tail {
				x := float64(i+1) / float64(k-20)
				a := curve(k)
				want := time.Duration((a - 1) * x / (a - x) * float64(limit))
				slack := 61 * time.Second // 30 s of rounding, 30 s to the side
				if limit < 2*time.Hour {
					slack = 20 * time.Minute // crowded
				}
				require.InDelta(t, want, got, float64(slack), "%d of %d", i+1, k)
			}
		}
	}
	// By hand: K = 35, a = 2.4206; half way up, rank 8 of 15, y = 1.4206·.5333/1.8873 = .40146 of 36 h = 867.1 min.
	assert.Equal(t, 867*time.Minute, tailTimes(35, 36*time.Hour, headTimes(36*time.Hour))[7])
}

func TestCountsAddUp(t *testing.T) {
	for n := 1; n < 3000; n++ {
		k := Values(n)
		c := counts(n, k)
		sum := 0
		for i, jobs := range c {
			sum += jobs
			require.Positive(t, jobs)
			require.InDelta(t, max(1, shares(k)[i]*float64(n)), jobs, 1.5, "%d jobs, rank %d", n, i+1)
		}
		require.Equal(t, n, sum)
	}
}

// chances returns the exact probability of every outcome of step 6, by trying
// all choices of all jobs.
func chances(runs, estimates []time.Duration) map[string]float64 {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(runs[j] - runs[i]) })
	all := map[string]float64{}
	result, used := make([]time.Duration, len(runs)), make([]bool, len(estimates))
	var choose func(rank int, p float64)
	choose = func(rank int, p float64) {
		if rank == len(order) {
			all[fmt.Sprint(result)] += p
			return
		}
		var fit []int
		for e, t := range estimates {
			if !used[e] && t >= runs[order[rank]] {
				fit = append(fit, e)
			}
		}
		for _, e := range fit {
			used[e], result[order[rank]] = true, estimates[e]
			choose(rank+1, p/float64(len(fit)))
			used[e] = false
		}
	}
	choose(0, 1)
	return all
}

func TestAssignHasTheModelsDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ runs, estimates []time.Duration }{
		{[]time.Duration{1, 5, 3, 3}, []time.Duration{6, 5, 4, 2}},
		{[]time.Duration{2, 2, 2, 2}, []time.Duration{9, 5, 3, 2}},
		{[]time.Duration{1, 4, 2, 7, 1}, []time.Duration{9, 9, 4, 2, 1}},
		{[]time.Duration{4, 3, 2, 1}, []time.Duration{4, 3, 2, 1}},
	} {
		const n = 100_000
		want, got := chances(c.runs, c.estimates), map[string]float64{}
		for range n {
			result, err := assign(c.runs, slices.Clone(c.estimates), r)
			require.NoError(t, err)
			got[fmt.Sprint(result)] += 1. / n
		}
		for outcome, p := range got {
			assert.InDelta(t, want[outcome], p, .007, outcome)
		}
		for outcome := range want {
			assert.Contains(t, got, outcome)
		}
	}
}

// assign succeeds exactly if the sorted estimates dominate the sorted runs; then
// it hands out every estimate once, none too short.
func FuzzAssign(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint8(seed%40), uint8(1+seed%15))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, spread uint8) {
		r := rand.New(rand.NewPCG(seed, 3))
		runs, estimates := make([]time.Duration, n), make([]time.Duration, n)
		for i := range runs {
			runs[i] = time.Duration(r.IntN(int(spread) + 1))
			estimates[i] = runs[i] + time.Duration(r.IntN(3))
			if r.IntN(20) == 0 {
				estimates[i]-- // now and then they do not dominate
			}
		}
		slices.SortFunc(estimates, func(a, b time.Duration) int { return int(b - a) })
		sorted := slices.Clone(runs)
		slices.SortFunc(sorted, func(a, b time.Duration) int { return int(b - a) })
		dominate := true
		for i := range sorted {
			dominate = dominate && estimates[i] >= sorted[i]
		}
		result, err := assign(runs, slices.Clone(estimates), r)
		if !dominate {
			require.ErrorIs(t, err, ErrShort)
			return
		}
		require.NoError(t, err)
		for i := range runs {
			require.GreaterOrEqual(t, result[i], runs[i])
		}
		slices.SortFunc(result, func(a, b time.Duration) int { return int(b - a) })
		require.Equal(t, estimates, result)
	})
}
