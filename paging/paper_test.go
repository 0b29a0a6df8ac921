package paging_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

// Wang, Chien, Chang, Tien: "Memory consideration for parallel job scheduling on
// SMP clusters", 2007. Sections, equations and tables are theirs.

// Table 1: growth N of the execution time, printed to two digits.
func TestPaperTable1(t *testing.T) {
	for _, row := range []struct {
		demand int64 // M*, for M = 1000: column M*/M
		n      float64
	}{
		{1100, 0.37},
		{1300, 0.72},
		{1500, 1},
	} {
		n := paging.TayZou(row.demand, 1000) - 1
		assert.InDelta(t, row.n, n, 0.005, "M*/M = %v", float64(row.demand)/1000)
	}
}

// Eq. (4) evaluated by hand to four digits, M = 1000.
func TestPaperEquation4(t *testing.T) {
	for _, row := range []struct {
		demand int64
		n      float64
	}{
		{1000, 0}, {1010, .1051}, {1020, .1518}, {1050, .25}, {1100, .3702},
		{1200, .5583}, {1260, .6562}, {1280, .6874}, {1300, .7179}, {1400, .8633},
		{1500, 1}, {1600, 1.1307}, {2000, 1.6180}, {3000, 2.7321}, {10000, 9.9083},
	} {
		n := paging.TayZou(row.demand, 1000) - 1
		assert.InDelta(t, row.n, n, 0.00005, "M*/M = %v", float64(row.demand)/1000)

		// As printed, with the cancellation under the root.
		h := 1 + float64(row.demand)/1000
		assert.InDelta(t, 0.5*(h+math.Sqrt(h*h-4))-1, n, 1e-7, "M*/M = %v", float64(row.demand)/1000)
	}
}

// §3.2, the example in the text: a job of 10 s that makes the memory exceeded by
// 50 % has N = 1, takes 20 s, and doubles the remaining time of all others.
func TestPaperExampleOf20Seconds(t *testing.T) {
	f := paging.TayZou(1500, 1000)
	require.Equal(t, 2.0, f)
	for _, remaining := range []time.Duration{10 * time.Second, time.Nanosecond, 1234567 * time.Microsecond} {
		got, err := paging.Rescale(remaining, 1, f)
		require.NoError(t, err)
		assert.Equal(t, 2*remaining, got)
	}

	// The same with all instants: A (750 MB of 1000, 100 s) runs from 0, B
	// (750 MB, 10 s) from 40. B ends at 60. A, with 60 s left at 40, has 120 s
	// then; 100 s at 60, which become 50, and ends at 110.
	var p paging.Progress
	a := p.Target(100 * time.Second)
	assert.Equal(t, 100*time.Second, p.When(a))

	require.NoError(t, p.SetFactor(40*time.Second, f))
	b := p.Target(10 * time.Second)
	assert.Equal(t, 120*time.Second, p.Remaining(a))
	assert.Equal(t, 20*time.Second, p.Remaining(b))
	assert.Equal(t, 60*time.Second, p.When(b))

	require.NoError(t, p.Advance(60*time.Second))
	assert.Equal(t, 100*time.Second, p.Remaining(a))
	require.NoError(t, p.SetFactor(60*time.Second, paging.TayZou(750, 1000)))
	assert.Equal(t, 50*time.Second, p.Remaining(a))
	assert.Equal(t, 110*time.Second, p.When(a))
}

// Eqs. (5) and (6) in turn: exceeded and relieved again without time between,
// every job has what it had.
func TestPaperEquations5And6Cancel(t *testing.T) {
	for demand := int64(1001); demand < 5000; demand += 7 {
		f := paging.TayZou(demand, 1000)
		for _, remaining := range []time.Duration{999, time.Second, 100 * time.Hour} {
			more, err := paging.Rescale(remaining, 1, f)
			require.NoError(t, err)
			require.Greater(t, more, remaining*101/100)
			again, err := paging.Rescale(more, f, 1)
			require.NoError(t, err)
			require.Equal(t, remaining, again, "f = %v", f)
		}
	}
}

// Eqs. (5) and (6) with several changes, M = 1000: A 600, 100 s at 0; B 600, 50 s
// at 20; C 300, 40 s at 30. The digits were worked by hand, in seconds; the two
// forms, the shared work and the times rescaled job by job, must both give them.
func TestPaperEquations5And6WithSeveralChanges(t *testing.T) {
	seconds := func(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
	const a, b, c = 0, 1, 2
	run := []time.Duration{100 * time.Second, 50 * time.Second, 40 * time.Second}
	memory := []int64{600, 600, 300}
	for _, forms := range []string{"shared work", "rescaled one by one"} {
		t.Run(forms, func(t *testing.T) {
			var p paging.Progress
			target := make([]time.Duration, 3)
			left := make([]time.Duration, 3)
			used, now := int64(0), time.Duration(0)
			for _, event := range []struct {
				at     float64
				job    int
				starts bool
				used   int64
				f      float64
				left   [3]float64
			}{
				{0, a, true, 600, 1, [3]float64{100, 0, 0}},
				{20, b, true, 1200, 1.5583, [3]float64{124.661, 77.913, 0}},
				{30, c, true, 1500, 2, [3]float64{147.165, 87.165, 80}},
				{110, c, false, 1200, 1.5583, [3]float64{52.330, 5.583, 0}},
				{115.583, b, false, 600, 1, [3]float64{30, 0, 0}},
				{145.583, a, false, 0, 1, [3]float64{}},
			} {
				at := seconds(event.at)
				if !event.starts { // to the nanosecond instead of three digits
					if at = p.When(target[event.job]); forms != "shared work" {
						at = now + left[event.job]
					}
				}
				assert.InDelta(t, event.at, at.Seconds(), 0.0005)

				if used += memory[event.job]; !event.starts {
					used -= 2 * memory[event.job]
				}
				assert.Equal(t, event.used, used)
				f, old := paging.TayZou(used, 1000), p.Factor()
				assert.InDelta(t, event.f, f, 0.00005)

				require.NoError(t, p.SetFactor(at, f))
				for j := range left {
					var err error
					left[j], err = paging.Rescale(max(0, left[j]-(at-now)), old, f)
					require.NoError(t, err)
				}
				if event.starts {
					var err error
					target[event.job] = p.Target(run[event.job])
					left[event.job], err = paging.Rescale(run[event.job], 1, f)
					require.NoError(t, err)
				}
				now = at
				for j, want := range event.left {
					assert.InDelta(t, want, p.Remaining(target[j]).Seconds(), 0.0005)
					assert.InDelta(t, want, left[j].Seconds(), 0.0005)
				}
			}
		})
	}
}
