package pairing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

// predictions returns what is predicted before each measurement and after the last.
func predictions(t *testing.T, p pairing.Predictor, measured ...float64) []float64 {
	list := []float64{100 * p.Predict()}
	for _, u := range measured {
		require.NoError(t, p.Observe(u/100))
		list = append(list, 100*p.Predict())
	}
	return list
}

func TestWeightedPredictions(t *testing.T) {
	for _, c := range []struct {
		measured             []float64
		renormalised, filled []float64
	}{
		{[]float64{45, 45, 45, 45}, []float64{100, 45, 45, 45, 45}, []float64{100, 78, 61.5, 50.5, 45}},
		{[]float64{0, 0, 0, 0}, []float64{100, 0, 0, 0, 0}, []float64{100, 60, 30, 10, 0}},
		{[]float64{5, 5, 5, 5}, []float64{100, 5, 5, 5, 5}, []float64{100, 62, 33.5, 14.5, 5}},
		{[]float64{90, 80, 10, 20, 30, 40}, []float64{100, 90, 84.2857, 51.1111, 36, 28, 30}, []float64{100, 96, 89, 56, 36, 28, 30}},
		{[]float64{0, 0, 0, 0, 100, 100, 100, 100}, []float64{100, 0, 0, 0, 0, 40, 70, 90, 100}, []float64{100, 60, 30, 10, 0, 40, 70, 90, 100}},
	} {
		assert.InDeltaSlice(t, c.renormalised, predictions(t, &pairing.Weighted{}, c.measured...), 1e-4)
		assert.InDeltaSlice(t, c.filled, predictions(t, &pairing.Weighted{Prefill: true}, c.measured...), 1e-4)
	}
}

func TestOtherPredictions(t *testing.T) {
	assert.InDeltaSlice(t, []float64{100, 10, 15, 20, 25, 35}, predictions(t, &pairing.Window{}, 10, 20, 30, 40, 50), 1e-9)
	assert.InDeltaSlice(t, []float64{100, 10, 20, 30}, predictions(t, &pairing.Window{Quanta: 1}, 10, 20, 30), 1e-9)
	assert.InDeltaSlice(t, []float64{100, 10, 15, 22.5}, predictions(t, &pairing.Exponential{}, 10, 20, 30), 1e-9)
	assert.InDeltaSlice(t, []float64{100, 10, 12, 15.6}, predictions(t, &pairing.Exponential{Alpha: .2}, 10, 20, 30), 1e-9)
	assert.InDeltaSlice(t, []float64{100, 10, 20}, predictions(t, &pairing.Exponential{Alpha: 1}, 10, 20), 1e-9)
	for _, alpha := range []float64{-1, 2, math.NaN()} {
		assert.InDeltaSlice(t, []float64{100, 10, 15}, predictions(t, &pairing.Exponential{Alpha: alpha}, 10, 20), 1e-9)
	}
	// A window against the mean of a slice.
	for quanta := range 20 {
		r := rand.New(rand.NewPCG(uint64(quanta), 1))
		w := &pairing.Window{Quanta: quanta}
		n := quanta
		if n == 0 {
			n = 4
		}
		n = min(n, pairing.MaxWindow)
		var list []float64
		for range 50 {
			u := r.Float64()
			require.NoError(t, w.Observe(u))
			list = append(list, u)
			last := list[max(0, len(list)-n):]
			sum := 0.
			for _, u := range last {
				sum += u
			}
			require.InDelta(t, sum/float64(len(last)), w.Predict(), 1e-12)
		}
	}
}

func TestForgottenGangsAreNew(t *testing.T) {
	for _, p := range []pairing.Predictor{
		&pairing.Weighted{}, &pairing.Weighted{Prefill: true}, &pairing.Window{}, &pairing.Exponential{}, &pairing.Cautious{Predictor: &pairing.Weighted{}},
	} {
		require.NoError(t, p.Observe(.3))
		require.NoError(t, p.Observe(.31))
		require.Less(t, p.Predict(), 1.)
		p.Forget()
		require.Equal(t, 1., p.Predict())
		require.NoError(t, p.Observe(.5))
		if w, ok := p.(*pairing.Weighted); ok && w.Prefill {
			require.InDelta(t, .8, p.Predict(), 1e-12)
			continue
		}
		require.Equal(t, .5, p.Predict(), "%T", p)
	}
}

func TestMeasurementsThatCannotBe(t *testing.T) {
	for _, p := range []pairing.Predictor{
		&pairing.Weighted{}, &pairing.Window{}, &pairing.Exponential{}, &pairing.Cautious{Predictor: &pairing.Weighted{}},
	} {
		require.NoError(t, p.Observe(.3))
		for _, u := range []float64{-.1, 1.1, math.NaN(), math.Inf(1)} {
			require.ErrorIs(t, p.Observe(u), pairing.ErrUtilisation)
			require.Equal(t, .3, p.Predict())
		}
	}
}

func TestSharpChange(t *testing.T) {
	for _, c := range []struct {
		name      string
		cautious  pairing.Cautious
		measured  []float64
		predicted []float64
	}{
		{"growth: once alone, then as measured", pairing.Cautious{}, []float64{5, 5, 50, 100, 100}, []float64{100, 5, 5, 100, 100, 100}},
		{"decline too", pairing.Cautious{}, []float64{90, 40, 40}, []float64{100, 90, 100, 40}},
		{"not if only growth counts", pairing.Cautious{GrowthOnly: true}, []float64{90, 40}, []float64{100, 90, 430. / 7}},
		{"20 points are not more than 20", pairing.Cautious{}, []float64{45, 65}, []float64{100, 45, (4*65 + 3*45) / 7.}},
		{"a little more is", pairing.Cautious{}, []float64{45, 65.001}, []float64{100, 45, 100}},
		{"by a step of 10", pairing.Cautious{Change: .1}, []float64{45, 56}, []float64{100, 45, 100}},
		{"never", pairing.Cautious{Change: -1}, []float64{0, 100}, []float64{100, 0, 400. / 7}},
		{"nor by no number", pairing.Cautious{Change: math.NaN()}, []float64{0, 100}, []float64{100, 0, 400. / 7}},
		{"creeping, against the measurement before", pairing.Cautious{}, []float64{0, 15, 30}, []float64{100, 0, 60. / 7, (4*30 + 3*15) / 9.}},
		{"creeping, against the prediction", pairing.Cautious{ByPrediction: true}, []float64{0, 15, 30}, []float64{100, 0, 60. / 7, 100}},
		{"what is measured on probation is believed", pairing.Cautious{}, []float64{0, 100, 0, 0}, []float64{100, 0, 100, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cautious.Predictor = &pairing.Weighted{}
			assert.InDeltaSlice(t, c.predicted, predictions(t, &c.cautious, c.measured...), 1e-9)
		})
	}
	c := pairing.Cautious{Predictor: &pairing.Weighted{}}
	assert.True(t, c.OnProbation())
	require.NoError(t, c.Observe(.1))
	assert.False(t, c.OnProbation())
	require.NoError(t, c.Observe(.9))
	assert.True(t, c.OnProbation())
}

func TestEffective(t *testing.T) {
	assert.InDelta(t, .5, pairing.Effective(.25, .5), 1e-12)
	assert.Equal(t, 1., pairing.Effective(.5, .5))
	assert.Equal(t, 1., pairing.Effective(.6, .5))
	assert.Equal(t, 1., pairing.Effective(0, 1))
	assert.Equal(t, 1., pairing.Effective(.1, math.NaN()))
}

func TestPredictorsDoNotAllocate(t *testing.T) {
	p := &pairing.Cautious{Predictor: &pairing.Weighted{}}
	u := 0.
	require.Zero(t, testing.AllocsPerRun(100, func() {
		u = 1 - u
		_ = p.Observe(u)
		_ = p.Predict()
	}))
}

// Predictions are shares, however wild the measurements.
func FuzzPredictionsAreShares(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, .2)
	}
	f.Fuzz(func(t *testing.T, seed uint64, change float64) {
		r := rand.New(rand.NewPCG(seed, 6))
		for _, p := range []pairing.Predictor{
			&pairing.Weighted{}, &pairing.Weighted{Prefill: true}, &pairing.Window{Quanta: int(seed % 30)}, &pairing.Exponential{Alpha: change},
			&pairing.Cautious{Predictor: &pairing.Weighted{}, Change: change, GrowthOnly: seed%2 == 0, ByPrediction: seed%3 == 0},
		} {
			low, high := 1., 0.
			for range 50 {
				u := r.Float64()
				low, high = min(low, u), max(high, u)
				require.NoError(t, p.Observe(u))
				require.GreaterOrEqual(t, p.Predict(), low-1e-12)
				require.LessOrEqual(t, p.Predict(), 1.)
			}
		}
	})
}
