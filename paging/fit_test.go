package paging_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

// measure returns the rates of a model at n values of x from low to high, with
// errors of standard deviation noise.
func measure(model func(float64) float64, low, high float64, n int, noise float64, r *rand.Rand) (x, rate []float64) {
	for i := range n {
		at := low + (high-low)*float64(i)/float64(n-1)
		x = append(x, at)
		rate = append(rate, max(0, model(at)+noise*r.NormFloat64()))
	}
	return x, rate
}

func TestFitMemoryRecoversTheParameters(t *testing.T) {
	for _, want := range []paging.MemoryRate{
		paging.ChenXiaoZhang().Memory,
		{Max: 95, Alpha: 4, Beta: 2, Gamma: 0, Delta: 0.05},
		{Max: 95, Alpha: 4, Beta: 0, Gamma: 0.5, Delta: 0.05},
		{Max: 1e6, Alpha: 4, Beta: 3e-5, Gamma: 4e-5, Delta: 5e-6},
	} {
		for _, tt := range []struct {
			points int
			high   float64 // largest Q
		}{{4, 1.5}, {5, 1.5}, {40, 1.5}, {40, 0.4}, {5, 0.4}} {
			q, rate := measure(want.Rate, 0.05, tt.high, tt.points, 0, rand.New(rand.NewPCG(1, 2)))
			for _, maximum := range []float64{0, want.Max} {
				fit, err := paging.FitMemory(q, rate, maximum)
				require.NoError(t, err)
				got := fit.Model
				for _, p := range [][3]float64{
					{want.Max, got.Max, want.Max}, {want.Alpha, got.Alpha, want.Alpha},
					{want.Beta, got.Beta, want.Gamma + want.Beta}, {want.Gamma, got.Gamma, want.Gamma + want.Beta}, {want.Delta, got.Delta, want.Delta},
				} {
					require.InDelta(t, p[0], p[1], 1e-6*p[2], "%+v from %+v: %+v", want, tt, got)
				}
				require.InDelta(t, 1, fit.R2, 1e-12)
			}
		}
	}
}

// Whatever the parameters were, the curve meets points without noise. Where those
// are almost on a line, which no finite maximum is best for, it may be refused.
func TestFitMemoryMeetsAnyCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 0))
	fits, refused := 400, 0
	if testing.Short() {
		fits = 100
	}
	for i := range fits {
		want := paging.MemoryRate{Max: 50 + 100*r.Float64(), Alpha: 4, Beta: r.Float64(), Gamma: r.Float64(), Delta: 4/50. + 0.2*r.Float64()}
		switch i % 5 {
		case 0:
			want.Beta = 0
		case 1:
			want.Gamma = 0
		}
		q, rate := measure(want.Rate, 0.03, 0.3+2*r.Float64(), 4+r.IntN(20), 0, r)
		fit, err := paging.FitMemory(q, rate, 0)
		if err != nil {
			refused++
			continue
		}
		require.Less(t, 1-fit.R2, 1e-6, "%+v: %+v", want, fit)
	}
	require.LessOrEqual(t, refused, fits/50)
}

// Only rounding makes another curve better than the one with β = 0.
func TestFitMemoryIgnoresRounding(t *testing.T) {
	want := paging.MemoryRate{Max: 137.81271950236476, Alpha: 4, Gamma: 0.3258564762259155, Delta: 0.10051401572562575}
	q, rate := measure(want.Rate, 0.03, 1.7246602598902112, 18, 0, rand.New(rand.NewPCG(1, 2)))
	fit, err := paging.FitMemory(q, rate, 0)
	require.NoError(t, err)
	assert.InDelta(t, want.Max, fit.Model.Max, 1e-6)
	assert.InDelta(t, want.Gamma, fit.Model.Gamma, 1e-6)
}

// With noise the parameters are off by less than two standard errors nineteen
// times out of twenty, and the residual error is the noise.
func TestFitMemoryWithNoise(t *testing.T) {
	want := paging.ChenXiaoZhang().Memory
	const fits, noise = 100, 0.5
	within, residual := [4]int{}, 0.0
	for seed := range uint64(fits) {
		q, rate := measure(want.Rate, 0.02, 1, 30, noise, rand.New(rand.NewPCG(seed, 51)))
		fit, err := paging.FitMemory(q, rate, 0)
		require.NoError(t, err)
		residual += fit.ResidualError * fit.ResidualError / fits
		m, e := fit.Model, fit.StandardErrors
		require.Zero(t, e.Alpha)
		for i, p := range [4][3]float64{{want.Max, m.Max, e.Max}, {want.Beta, m.Beta, e.Beta}, {want.Gamma, m.Gamma, e.Gamma}, {want.Delta, m.Delta, e.Delta}} {
			if math.Abs(p[0]-p[1]) < 2*p[2] {
				within[i]++
			}
			require.InDelta(t, p[0], p[1], 8*p[2], "seed %d: %+v ± %+v", seed, m, e)
		}
		require.Equal(t, paging.Assess(m.Rate, 4, q, rate), fit.Quality)
	}
	for i := range within {
		assert.InDelta(t, 0.95*fits, within[i], 6)
	}
	assert.InDelta(t, noise, math.Sqrt(residual), 0.03)
}

// A given maximum is kept, and makes the rest more certain.
func TestFitMemoryWithAGivenMaximum(t *testing.T) {
	want := paging.ChenXiaoZhang().Memory
	q, rate := measure(want.Rate, 0.02, 0.6, 30, 0.5, rand.New(rand.NewPCG(2, 52)))
	free, err := paging.FitMemory(q, rate, 0)
	require.NoError(t, err)
	given, err := paging.FitMemory(q, rate, 120)
	require.NoError(t, err)
	assert.Equal(t, 120.0, given.Model.Max)
	assert.Zero(t, given.StandardErrors.Max)
	assert.Less(t, given.StandardErrors.Beta, free.StandardErrors.Beta/2)
	assert.Less(t, given.StandardErrors.Gamma, free.StandardErrors.Gamma)
	assert.GreaterOrEqual(t, free.R2, given.R2, "with more parameters it is closer")
	assert.InEpsilon(t, want.Beta, given.Model.Beta, 0.1)
}

// No curve near the one that was fitted is better: the twin tries them.
func TestFitMemoryIsAMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 0))
	for range 50 {
		want := paging.MemoryRate{Max: 80 + 60*r.Float64(), Alpha: 4, Beta: 0.1 + r.Float64(), Gamma: r.Float64() / 3, Delta: 0.034 + 0.1*r.Float64()}
		q, rate := measure(want.Rate, 0.03, 1.2, 20, 2, r)
		fit, err := paging.FitMemory(q, rate, 0)
		require.NoError(t, err)
		m := fit.Model
		printed := func(m paging.MemoryRate) float64 {
			sum := 0.0
			for i, x := range q {
				d := rate[i] - (m.Max - m.Alpha/(m.Beta*x*x+m.Gamma*x+m.Delta))
				sum += d * d
			}
			return sum
		}
		least := printed(m)
		for range 300 {
			near, size := m, math.Pow(10, -5*r.Float64())
			near.Max *= 1 + size*(r.Float64()-.5)
			near.Beta = max(0, near.Beta+size*(r.Float64()-.5))
			near.Gamma = max(0, near.Gamma+size*(r.Float64()-.5))
			near.Delta *= 1 + size*(r.Float64()-.5)
			require.GreaterOrEqual(t, printed(near), least*(1-1e-12), "%+v is better than %+v", near, m)
		}
	}
}

// Faults a minute instead of a second, or memory in per cent: the parameters
// change as their units do.
func TestFitMemoryScales(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 0))
	q, rate := measure(paging.ChenXiaoZhang().Memory.Rate, 0.02, 1, 20, 1, r)
	fit, err := paging.FitMemory(q, rate, 0)
	require.NoError(t, err)
	percent, minute := make([]float64, len(q)), make([]float64, len(q))
	for i := range q {
		percent[i], minute[i] = 100*q[i], 60*rate[i]
	}
	got, err := paging.FitMemory(percent, minute, 0)
	require.NoError(t, err)
	assert.InEpsilon(t, 60*fit.Model.Max, got.Model.Max, 1e-6)
	assert.InEpsilon(t, fit.Model.Beta/60/1e4, got.Model.Beta, 1e-5)
	assert.InEpsilon(t, fit.Model.Gamma/60/100, got.Model.Gamma, 1e-5)
	assert.InEpsilon(t, fit.Model.Delta/60, got.Model.Delta, 1e-5)
	assert.InEpsilon(t, 60*fit.StandardErrors.Max, got.StandardErrors.Max, 1e-5)
	assert.InEpsilon(t, fit.StandardErrors.Gamma/60/100, got.StandardErrors.Gamma, 1e-5)
	assert.InEpsilon(t, fit.R2, got.R2, 1e-9)
	assert.InEpsilon(t, 60*fit.ResidualError, got.ResidualError, 1e-9)
}

func TestFitMemoryRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name    string
		q, rate []float64
		maximum float64
		want    string
	}{
		{"no points", nil, nil, 0, "points at 0 different x, 4 parameters"},
		{"three for four parameters", []float64{.1, .2, .3}, []float64{1, 2, 3}, 0, "points at 3 different x, 4 parameters"},
		{"two for three", []float64{.1, .2}, []float64{1, 2}, 120, "points at 2 different x, 3 parameters"},
		{"many at three places", []float64{.1, .2, .3, .1, .2, .3}, []float64{1, 2, 3, 2, 3, 4}, 0, "points at 3 different x, 4 parameters"},
		{"memory not exceeded", []float64{0, .1, .2, .3}, []float64{0, 1, 2, 3}, 0, "rate 0 at Q = 0"},
		{"negative rate", []float64{.1, .2, .3, .4}, []float64{0, -1, 2, 3}, 0, "rate -1 at Q = 0.2"},
		{"NaN for Q", []float64{.1, nan, .3, .4}, []float64{0, 1, 2, 3}, 0, "rate 1 at NaN"},
		{"an infinite rate", []float64{.1, .2, .3, .4}, []float64{0, 1, 2, inf}, 0, "rate +Inf at 0.4"},
		{"no faults", []float64{.1, .2, .3, .4}, []float64{0, 0, 0, 0}, 0, "no faults at any of 4 points"},
		{"one rate", []float64{.1, .2, .3, .4, .5}, []float64{7, 7, 7, 7, 7}, 0, "5 points that do not rise towards a largest rate"},
		{"a straight line", []float64{.1, .2, .3, .4, .5}, []float64{1, 2, 3, 4, 5}, 0, "5 points that do not rise towards a largest rate"},
		{"growing faster and faster", []float64{.1, .2, .3, .4, .5}, []float64{1, 2, 4, 8, 16}, 0, "5 points that do not rise towards a largest rate"},
		{"falling", []float64{.1, .2, .3, .4, .5}, []float64{5, 4, 3, 2, 1}, 0, "5 points that do not rise towards a largest rate"},
		{"negative maximum", []float64{.1, .2, .3, .4}, []float64{1, 2, 3, 4}, -1, "largest rate -1 given"},
		{"NaN for a maximum", []float64{.1, .2, .3, .4}, []float64{1, 2, 3, 4}, nan, "largest rate NaN given"},
		{"infinite maximum", []float64{.1, .2, .3, .4}, []float64{1, 2, 3, 4}, inf, "largest rate +Inf given"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fit, err := paging.FitMemory(tt.q, tt.rate, tt.maximum)
			require.ErrorIs(t, err, paging.ErrFit)
			assert.EqualError(t, err, tt.want+": paging: points do not determine the model")
			assert.Zero(t, fit)
		})
	}
	assert.Panics(t, func() { _, _ = paging.FitMemory([]float64{1}, nil, 0) })
}

func TestFitLine(t *testing.T) {
	fit, err := paging.FitLine([]float64{1, 2, 3, 4}, []float64{2, 3, 5, 6})
	require.NoError(t, err)
	// By hand: Sxx = 5, Sxy = 7, means 2.5 and 4; Σ(residuals²) = 0.2, of 10.
	assert.InDelta(t, 1.4, fit.Model.Slope, 1e-14)
	assert.InDelta(t, 0.5, fit.Model.Intercept, 1e-14)
	assert.InDelta(t, 0.98, fit.R2, 1e-14)
	assert.InDelta(t, math.Sqrt(0.1), fit.ResidualError, 1e-14)
	assert.InDelta(t, math.Sqrt(0.1/5), fit.StandardErrors.Slope, 1e-14)
	assert.InDelta(t, math.Sqrt(0.1*(1./4+2.5*2.5/5)), fit.StandardErrors.Intercept, 1e-14)

	fit, err = paging.FitLine([]float64{10, 20}, []float64{5, -5})
	require.NoError(t, err)
	assert.InDelta(t, -1, fit.Model.Slope, 1e-14)
	assert.InDelta(t, 15, fit.Model.Intercept, 1e-13)
	assert.True(t, math.IsNaN(fit.ResidualError))
	assert.True(t, math.IsNaN(fit.StandardErrors.Slope))

	for _, tt := range []struct {
		name    string
		x, rate []float64
		want    string
	}{
		{"no points", nil, nil, "points at 0 different x, 2 parameters"},
		{"one point", []float64{1}, []float64{1}, "points at 1 different x, 2 parameters"},
		{"one x", []float64{3, 3, 3}, []float64{1, 2, 3}, "points at 1 different x, 2 parameters"},
		{"NaN", []float64{1, 2}, []float64{1, math.NaN()}, "rate NaN at 2"},
		{"infinite x", []float64{math.Inf(-1), 2}, []float64{1, 2}, "rate 1 at -Inf"},
		{"almost one x", []float64{1, math.Nextafter(1, 2)}, []float64{1, 2}, "line through 2 points, their x too close or too large"},
		{"largest x", []float64{math.MaxFloat64, -math.MaxFloat64}, []float64{1, 2}, "line through 2 points, their x too close or too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := paging.FitLine(tt.x, tt.rate)
			require.ErrorIs(t, err, paging.ErrFit)
			assert.EqualError(t, err, tt.want+": paging: points do not determine the model")
		})
	}
	assert.Panics(t, func() { _, _ = paging.FitLine([]float64{1}, nil) })
}

func TestFitLineRecoversTheParameters(t *testing.T) {
	want := paging.ChenXiaoZhang().IO
	within, fits := 0, 200
	for seed := range uint64(fits) {
		n, rate := measure(want.Rate, 3000, 6000, 20, 5, rand.New(rand.NewPCG(seed, 55)))
		fit, err := paging.FitLine(n, rate)
		require.NoError(t, err)
		if math.Abs(fit.Model.Slope-want.Slope) < 2*fit.StandardErrors.Slope {
			within++
		}
		exact, err := paging.FitLine(measure(want.Rate, 3000, 6000, 20, 0, rand.New(rand.NewPCG(seed, 55))))
		require.NoError(t, err)
		require.InEpsilon(t, want.Slope, exact.Model.Slope, 1e-12)
		require.InEpsilon(t, want.Intercept, exact.Model.Intercept, 1e-12)
	}
	assert.InDelta(t, 0.94*float64(fits), within, 10)
}

func TestAssess(t *testing.T) {
	x, rate := []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}
	for _, tt := range []struct {
		name         string
		model        func(float64) float64
		fitted       int
		r2, residual float64
	}{
		{"meets every point", func(x float64) float64 { return x }, 0, 1, 0},
		{"the mean", func(float64) float64 { return 2.5 }, 1, 0, math.Sqrt(5. / 3)},
		{"worse than the mean", func(float64) float64 { return 0 }, 0, -5, math.Sqrt(30. / 4)},
		{"off by one", func(x float64) float64 { return x + 1 }, 2, 0.2, math.Sqrt2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := paging.Assess(tt.model, tt.fitted, x, rate)
			assert.InDelta(t, tt.r2, q.R2, 1e-15)
			assert.InDelta(t, tt.residual, q.ResidualError, 1e-15)
		})
	}
	zero := func(float64) float64 { return 0 }
	assert.True(t, math.IsNaN(paging.Assess(zero, 4, x, rate).ResidualError), "no more points than parameters")
	assert.True(t, math.IsNaN(paging.Assess(zero, 0, x[:1], rate[:1]).R2), "one rate has no variance")
	assert.True(t, math.IsNaN(paging.Assess(zero, 0, nil, nil).ResidualError))
	assert.Panics(t, func() { paging.Assess(zero, 0, x, nil) })
}

// Whatever is given: an error, or finite parameters within their bounds.
func FuzzFits(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint8(seed%20), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, points uint8, given bool) {
		r := rand.New(rand.NewPCG(seed, 56))
		value := func() float64 {
			switch r.IntN(12) {
			case 0:
				return math.Ldexp(r.Float64(), r.IntN(2098)-1074)
			case 1:
				return float64(r.IntN(3))
			default:
				return 100 * r.Float64()
			}
		}
		if seed%4 == 0 { // nothing odd
			value = r.Float64
		}
		var x, rate []float64
		for range points % 32 {
			x, rate = append(x, value()), append(rate, value())
		}
		maximum := 0.0
		if given {
			maximum = value()
		}
		fit, err := paging.FitMemory(x, rate, maximum)
		if err != nil {
			require.ErrorIs(t, err, paging.ErrFit)
			require.Zero(t, fit)
		} else {
			m := fit.Model
			require.True(t, m.Beta >= 0 && m.Gamma >= 0 && m.Delta > 0 && m.Alpha == 4, "%+v", m)
			require.Less(t, m.Max+m.Beta+m.Gamma+m.Delta, math.Inf(1), "%+v", m)
			require.False(t, math.IsNaN(m.Max))
			if given && maximum > 0 {
				require.Equal(t, maximum, m.Max)
			}
		}
		line, err := paging.FitLine(x, rate)
		if err != nil {
			require.ErrorIs(t, err, paging.ErrFit)
		} else {
			require.Less(t, math.Abs(line.Model.Intercept)+math.Abs(line.Model.Slope), math.Inf(1))
		}
	})
}
