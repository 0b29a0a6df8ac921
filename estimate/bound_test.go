package estimate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

var job = estimate.Job{Path: "/bin/a", Nodes: 8, User: "u"}

// past is the Sample of these values, oldest first.
func past(tb testing.TB, values ...int64) estimate.Sample {
	var h estimate.History
	observe(tb, &h, job, values...)
	s, _ := h.Past(job)
	return s
}

func TestBounds(t *testing.T) {
	s := past(t, 90, 20, 30, 70, 10, 15, 25)
	for name, want := range map[string]int64{
		"paper":        90,
		"max":          90,
		"last":         25,
		"max1":         25,
		"max2":         25,
		"max3":         25,
		"max4":         70,
		"max5":         70,
		"adaptive":     70 + 384*1024,
		"mean":         38, // 260/7 = 37.14
		"mean+0sd":     38,
		"mean+1sd":     66, // + 28.27
		"mean+2sd":     94,
		"mean+0.5sd":   52,
		"mean+1e300sd": math.MaxInt64,
	} {
		bound, err := estimate.ParseBound(name)
		if assert.NoError(t, err, name) {
			assert.Equal(t, want, bound(s), name)
		}
	}
	for _, name := range []string{"", "Paper", "max0", "max6", "max+3", "max05x", "mean+sd", "mean+-1sd", "mean+Infsd", "mean+NaNsd", "mean+1", "min"} {
		bound, err := estimate.ParseBound(name)
		assert.ErrorIs(t, err, estimate.ErrBound, name)
		assert.Nil(t, bound, name)
	}
	assert.Equal(t, int64(25), estimate.MaxOfLast(-1)(s))
	assert.Equal(t, int64(70), estimate.MaxOfLast(100)(s))
	assert.Equal(t, int64(math.MaxInt64), estimate.MeanPlus(math.NaN())(s))
	assert.Equal(t, int64(math.MaxInt64), estimate.MeanPlus(math.Inf(1))(past(t, 5, 5)))
}

// No value is further above the mean of n values than √(n−1) standard deviations.
func TestPaperBoundIsTheMaximumUpToTenValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	below := 0
	for range 2000 {
		var values []int64
		for range 1 + r.IntN(12) {
			values = append(values, memory(r)>>r.IntN(40))
		}
		s := past(t, values...)
		if len(values) <= 10 {
			require.Equal(t, slices.Max(values), estimate.Paper(s), values)
		} else {
			require.LessOrEqual(t, estimate.Paper(s), slices.Max(values), values)
			if estimate.Paper(s) < slices.Max(values) {
				below++
			}
		}
	}
	require.Positive(t, below, "from eleven on it can be lower")

	// Nine values of 0 and one of 2^60, where rounding could make it less.
	s := estimate.Sample{Count: 10, Max: 1 << 60, Mean: 0.1 * (1 << 60), Deviation: math.Nextafter(0.3*(1<<60), 0)}
	require.Equal(t, s.Max, estimate.Paper(s))
}

// Cantelli: the share p of the values is at or below mean + √(p/(1−p))·sd.
func TestMeanPlusHoldsForItsShare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var values []int64
		for range 20 + r.IntN(100) {
			values = append(values, int64(1e6*math.Exp(3*r.NormFloat64())))
		}
		s := past(t, values...)
		for _, p := range []float64{0.1, 0.5, 0.9, 0.99} {
			bound := estimate.MeanPlus(math.Sqrt(p / (1 - p)))(s)
			obeys := 0
			for _, x := range values {
				if x <= bound {
					obeys++
				}
			}
			require.GreaterOrEqual(t, float64(obeys), p*float64(len(values))-1e-9)
		}
	}
}

func adaptive(t *testing.T, values ...int64) int64 { return estimate.Adaptive(past(t, values...)) }

func TestAdaptiveIsTheLargestOfTheLastFiveAndAMargin(t *testing.T) {
	const margin = 384 * 1024
	assert.Equal(t, int64(7+margin), adaptive(t, 7))
	assert.Equal(t, int64(9+margin), adaptive(t, 9, 7, 7, 7, 7))
	assert.Equal(t, int64(7+margin), adaptive(t, 9, 7, 7, 7, 7, 7), "the oldest of six is forgotten")
	assert.Equal(t, int64(estimate.MaxMemory+margin), adaptive(t, estimate.MaxMemory))
}

// rising returns n values, each a margin and a byte above the one before: each is missed.
func rising(from int64, n int) (values []int64) {
	for range n {
		from += estimate.Margin + 1
		values = append(values, from)
	}
	return values
}

func TestAdaptiveMisses(t *testing.T) {
	missed := func(values ...int64) float64 { return past(t, values...).Missed }
	assert.Zero(t, missed(5), "the first value cannot be missed")
	assert.Zero(t, missed(times(100, 5)...))
	assert.Zero(t, missed(5, 5+estimate.Margin), "just the bound")
	assert.Equal(t, 1./32, missed(5, 6+estimate.Margin), "one byte more")
	assert.Equal(t, 31./32/32, missed(5, 6+estimate.Margin, 5))
	assert.InDelta(t, 1-math.Pow(31./32, 4), missed(rising(0, 5)...), 1e-6)
}

func TestAdaptiveFallsBackToTheMaximum(t *testing.T) {
	high := append([]int64{1 << 40}, times(5, 0)...) // long ago
	four := append(slices.Clone(high), rising(0, 4)...)
	five := append(slices.Clone(high), rising(0, 5)...)
	assert.Equal(t, slices.Max(four[1:])+estimate.Margin, adaptive(t, four...), "four misses in a row")
	assert.Equal(t, int64(1<<40)+estimate.Margin, adaptive(t, five...), "five")
	// .147·(31/32)^5 > 1/8 ≥ .147·(31/32)^6
	assert.Equal(t, int64(1<<40)+estimate.Margin, adaptive(t, append(slices.Clone(five), times(5, 0)...)...), "then five hits")
	assert.Equal(t, int64(0)+estimate.Margin, adaptive(t, append(slices.Clone(five), times(6, 0)...)...), "then six")
}

func TestAdaptiveLiesBetweenLastAndMax(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var values []int64
		for range 1 + r.IntN(60) {
			values = append(values, r.Int64N(1<<22))
		}
		got := adaptive(t, values...)
		require.GreaterOrEqual(t, got, values[len(values)-1]+estimate.Margin)
		require.LessOrEqual(t, got, slices.Max(values)+estimate.Margin)
		if len(values) <= estimate.RecentValues {
			require.Equal(t, slices.Max(values)+estimate.Margin, got)
		}
	}
}

// The share of misses outlasts a rotation; the last values do so as long as
// their period does.
func TestAdaptiveAcrossPeriods(t *testing.T) {
	var h estimate.History
	observe(t, &h, job, rising(0, 6)...)
	h.Rotate()
	observe(t, &h, job, 1, 2)
	s, _ := h.Past(job)
	top := 6 * (estimate.Margin + 1)
	assert.InDelta(t, (1-math.Pow(31./32, 5))*math.Pow(31./32, 2), s.Missed, 1e-6)
	assert.Equal(t, [5]int64{2, 1, int64(top), int64(top - estimate.Margin - 1), int64(top - 2*estimate.Margin - 2)}, s.Recent)
	assert.Equal(t, 8, s.Count)
	h.Rotate()
	s, _ = h.Past(job)
	assert.Equal(t, [5]int64{2, 1}, s.Recent)
	assert.Equal(t, int64(2), s.Max)
	assert.Equal(t, 2, s.Count)
}

// Twice as much memory gives twice the estimate, for bounds without a margin.
func TestScaledMemoryScalesEstimates(t *testing.T) {
	for _, name := range []string{"paper", "max", "last", "max3", "mean", "mean+2sd"} {
		bound, err := estimate.ParseBound(name)
		require.NoError(t, err)
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 1))
			var values, scaled []int64
			for range 1 + r.IntN(30) {
				x := r.Int64N(1 << 40)
				values, scaled = append(values, x), append(scaled, 8*x)
			}
			// Both are rounded up to a byte.
			got, want := bound(past(t, scaled...)), 8*bound(past(t, values...))
			require.LessOrEqual(t, got, want, name)
			require.Greater(t, got, want-8, name)
		}
	}
}

// The order of runs matters to the bounds of recent values only.
func TestPermutedRuns(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var values []int64
		for range 1 + r.IntN(30) {
			values = append(values, r.Int64N(1<<40))
		}
		a := past(t, values...)
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		b := past(t, values...)
		require.Equal(t, estimate.Max(a), estimate.Max(b))
		for _, bound := range []estimate.Bound{estimate.Paper, estimate.MeanPlus(0), estimate.MeanPlus(2)} {
			require.InDelta(t, bound(a), bound(b), 1)
		}
	}
}
