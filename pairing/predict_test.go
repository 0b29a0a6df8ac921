package pairing_test

import (
	"math"
	"math/rand/v2"
	"slices"
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
	// A window against the mean of a slice.
	for quanta := range pairing.MaxWindow + 1 {
		r := rand.New(rand.NewPCG(uint64(quanta), 1))
		w := &pairing.Window{Quanta: quanta}
		n := quanta
		if n == 0 {
			n = 4
		}
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

func TestConfigurationsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		p    pairing.Predictor
		text string
	}{
		{&pairing.Window{Quanta: -1}, "-1"},
		{&pairing.Window{Quanta: pairing.MaxWindow + 1}, "17"},
		{&pairing.Exponential{Alpha: -.1}, "-0.1"},
		{&pairing.Exponential{Alpha: 1.1}, "1.1"},
		{&pairing.Exponential{Alpha: math.NaN()}, "NaN"},
		{&pairing.Cautious{Change: math.NaN()}, "NaN"},
		{&pairing.Cautious{Predictor: &pairing.Exponential{Alpha: 7}}, "7"},
	} {
		for range 2 {
			err := c.p.Observe(.5)
			require.ErrorIs(t, err, pairing.ErrConfig)
			require.ErrorContains(t, err, c.text)
			require.Equal(t, 1., c.p.Predict())
		}
	}
}

func TestMeasurementsThatCannotBe(t *testing.T) {
	for _, p := range []pairing.Predictor{
		&pairing.Weighted{}, &pairing.Window{}, &pairing.Exponential{}, &pairing.Cautious{},
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
		{"a change of more than all is none", pairing.Cautious{Change: math.Inf(1)}, []float64{0, 100}, []float64{100, 0, 400. / 7}},
		{"believed at once if measured alone", pairing.Cautious{SharedOnly: true}, []float64{5, 6, 90, 90}, []float64{100, 5, (4*6 + 3*5) / 7., 90, 90}},
		{"never", pairing.Cautious{Change: -1}, []float64{0, 100}, []float64{100, 0, 400. / 7}},
		{"creeping, against the measurement before", pairing.Cautious{}, []float64{0, 15, 30}, []float64{100, 0, 60. / 7, (4*30 + 3*15) / 9.}},
		{"creeping, against the prediction", pairing.Cautious{ByPrediction: true}, []float64{0, 15, 30}, []float64{100, 0, 60. / 7, 100}},
		{"what is measured on probation is believed", pairing.Cautious{}, []float64{0, 100, 0, 0}, []float64{100, 0, 100, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.InDeltaSlice(t, c.predicted, predictions(t, &c.cautious, c.measured...), 1e-9)
			c.cautious.Forget()
			c.cautious.Predictor = &pairing.Weighted{}
			assert.InDeltaSlice(t, c.predicted, predictions(t, &c.cautious, c.measured...), 1e-9, "its own predictor is the same")
		})
	}
	var c pairing.Cautious
	assert.True(t, c.OnProbation())
	require.NoError(t, c.Observe(.1))
	assert.False(t, c.OnProbation())
	require.NoError(t, c.Observe(.9))
	assert.True(t, c.OnProbation())
}

func TestSharedQuanta(t *testing.T) {
	for _, sharedOnly := range []bool{false, true} {
		c := pairing.Cautious{SharedOnly: sharedOnly}
		require.NoError(t, c.ObserveShared(.3))
		assert.True(t, c.OnProbation(), "a new gang is not believed")
		require.NoError(t, c.Observe(.3))
		require.NoError(t, c.ObserveShared(.31))
		assert.InDelta(t, (4*.31+3*.3)/7, c.Predict(), 1e-12)
		require.NoError(t, c.ObserveShared(.49+.05))
		assert.True(t, c.OnProbation(), "a sharp change")
		require.NoError(t, c.ObserveShared(.49))
		assert.True(t, c.OnProbation(), "half of a shared processor proves nothing")
		require.ErrorIs(t, c.ObserveShared(1.1), pairing.ErrUtilisation)
		require.NoError(t, c.Observe(.97))
		assert.False(t, c.OnProbation())
		assert.Equal(t, .97, c.Predict())
	}
}

func TestMean(t *testing.T) {
	for _, c := range []struct {
		processes []float64
		want      float64
	}{
		{[]float64{.3}, .3}, {[]float64{.3, .6}, .45}, {[]float64{0, 1, 1, 1}, .75}, {[]float64{.1, .2, .7}, 1. / 3}, {slices.Repeat([]float64{1}, 1000), 1},
	} {
		got, err := pairing.Mean(c.processes)
		require.NoError(t, err)
		assert.InDelta(t, c.want, got, 1e-15)
		slices.Reverse(c.processes)
		again, err := pairing.Mean(c.processes)
		require.NoError(t, err)
		assert.Equal(t, got, again)
	}
	_, err := pairing.Mean(nil)
	require.ErrorIs(t, err, pairing.ErrUtilisation)
	_, err = pairing.Mean([]float64{.1, math.NaN()})
	require.ErrorIs(t, err, pairing.ErrUtilisation)
	require.ErrorContains(t, err, "process 1, NaN")
}

func TestEffective(t *testing.T) {
	assert.InDelta(t, .5, pairing.Effective(.25, .5), 1e-12)
	assert.Equal(t, 1., pairing.Effective(.5, .5))
	assert.Equal(t, 1., pairing.Effective(.6, .5))
	assert.InDelta(t, .98, pairing.Effective(.5, .49), .001)
	for _, u := range []float64{math.NaN(), math.Inf(1), -.1, 1.1, 1} {
		assert.Equal(t, 1., pairing.Effective(.1, u))
		assert.Equal(t, 1., pairing.Effective(u, .1))
		assert.Equal(t, 1., pairing.Effective(0, u))
	}
}

func TestPredictorsDoNotAllocate(t *testing.T) {
	for _, p := range []pairing.Predictor{&pairing.Weighted{}, &pairing.Window{}, &pairing.Exponential{}, &pairing.Cautious{}} {
		u := 0.
		require.Zero(t, testing.AllocsPerRun(100, func() {
			u = 1 - u
			_ = p.Observe(u)
			_ = p.Predict()
		}))
	}
}

// A prediction is always a utilisation that the matcher takes: 1 for a new gang, and
// otherwise between the least and the greatest measurement. What is refused changes
// nothing.
func FuzzPredictionsAreUtilisations(f *testing.F) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 13))
		f.Add(r.Float64(), r.Float64(), r.Float64(), r.Float64(), uint8(seed))
	}
	for _, u := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 2, math.Copysign(0, -1)} {
		f.Add(.5, u, .5, .5, uint8(0))
		f.Add(.5, .3, .2, u, uint8(0))
	}
	f.Fuzz(func(t *testing.T, a, b, c, option float64, bits uint8) {
		var m pairing.Matcher
		for _, p := range []pairing.Predictor{
			&pairing.Weighted{}, &pairing.Weighted{Prefill: true}, &pairing.Window{Quanta: int(bits) - 1}, &pairing.Exponential{Alpha: option},
			&pairing.Cautious{Change: option, GrowthOnly: bits&1 > 0, ByPrediction: bits&2 > 0, SharedOnly: bits&4 > 0, Predictor: &pairing.Window{}},
		} {
			low, high := 1., 0.
			if w, ok := p.(*pairing.Weighted); ok && w.Prefill {
				high = 1
			}
			for i := range 30 {
				u := []float64{a, b, c}[i*i%7%3]
				before := p.Predict()
				if p.Observe(u) != nil {
					require.Equal(t, before, p.Predict())
				} else {
					low, high = min(low, u), max(high, u)
				}
				got := p.Predict()
				require.True(t, got == 1 || got >= low-1e-12 && got <= high+1e-12, "%v from %v to %v", got, low, high)
				_, err := m.AppendPartners(nil, []float64{got}, nil)
				require.NoError(t, err)
			}
		}
	})
}
