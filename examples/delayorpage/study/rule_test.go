package study

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

// of makes a model of a function of demand over capacity.
func of(f func(c float64) float64) paging.Model {
	return func(demand, capacity int64) float64 { return f(float64(demand) / float64(capacity)) }
}

// step is a model that doubles all times as soon as a byte is missing.
var step = of(func(c float64) float64 {
	if c > 1 {
		return 2
	}
	return 1
})

// By hand: with f + 1/f = 1 + c, g = c/f = 1 − 1/f + 1/f², which is least, 3/4, where
// f = 2, and that is at c = 3/2.
func TestTayZouLosesUpToAQuarterAndNeverGains(t *testing.T) {
	g := Exactly(paging.TayZou)
	r := g.Rule(.8, 3)
	assert.InDelta(t, .75, r.Least, 1e-12)
	assert.Equal(t, 1.5, r.LeastAt)
	assert.Equal(t, Rule{First: r.First, Least: r.Least, LeastAt: 1.5, BreakEven: 0, Best: 1, Gain: 1}, r)
	assert.InDelta(t, 100*(1.01/1.105124922-1), r.First, 1e-6)
	for _, c := range []float64{1.01, 1.5, 3, 100, 1000} {
		f := paging.TayZou(int64(c*memory), memory)
		assert.InDelta(t, 1-1/f+1/(f*f), g.Throughput(c), 1e-9)
		assert.Less(t, g.Throughput(c), 1.)
	}
	assert.Greater(t, g.Throughput(1000), .998, "it approaches 1 again")
}

func TestRuleOfModelsByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		model paging.Model
		want  Rule
	}{
		{"free: all that fits", paging.None, Rule{First: 1, Least: 1, LeastAt: 1, BreakEven: 1.01, Best: 3, Gain: 3}},
		{"a step to 2: up from 2 on", step, Rule{First: -49.5, Least: .505, LeastAt: 1.01, BreakEven: 2.01, Best: 3, Gain: 1.5}},
		{"c²: 1/c", of(func(c float64) float64 { return max(1, c*c) }), Rule{First: 100 * (1/1.01 - 1), Least: 1. / 3, LeastAt: 3, Best: 1, Gain: 1}},
		// c/(1 + (c−1)²) is greatest where c² = 2, and back at 1 where c² − 3c + 2 = 0.
		{"convex: in between", of(func(c float64) float64 { return 1 + max(0, c-1)*max(0, c-1) }),
			Rule{First: 100 * (1.01/1.0001 - 1), Least: .6, LeastAt: 3, BreakEven: 0, Best: 1.41, Gain: 1.41 / (1 + .41*.41)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Exactly(c.model).Rule(.5, 3)
			for _, v := range [][2]float64{{c.want.First, r.First}, {c.want.Least, r.Least}, {c.want.LeastAt, r.LeastAt}, {c.want.BreakEven, r.BreakEven}, {c.want.Best, r.Best}, {c.want.Gain, r.Gain}} {
				assert.InDelta(t, v[0], v[1], 1e-8, "%+v", r)
			}
		})
	}
}

// Eq. (1) of Chen et al. at Q = .2: 120 − 4/(.31·.04 + .19·.2 + .034) = 72.607 faults a
// second; and from Q = .4873 on they are a hundred.
func TestChenByHand(t *testing.T) {
	rate := paging.ChenXiaoZhang().Memory
	for _, c := range []struct {
		fault  time.Duration
		demand float64
		want   float64
	}{
		{time.Millisecond, 1, 1}, {time.Millisecond, .3, 1}, {time.Millisecond, 1.2, 1 / (1 - .072607)},
		{10 * time.Millisecond, 1.2, 1 / (1 - .72607)}, {10 * time.Millisecond, 1.48, 1 / (1 - .996566)}, {10 * time.Millisecond, 1.5, 1000}, {0, 1.5, 1},
	} {
		assert.InEpsilon(t, c.want, Exactly(Chen(rate, c.fault))(c.demand), 2e-3, "%+v", c)
	}
}

func TestLocalityByHand(t *testing.T) {
	curve := paging.Curve{.4, .2, .1, .05, 0} // of four pages
	model := Locality(curve, 10)
	for demand, want := range map[float64]float64{.5: 1, 1: 1, 4. / 3: 1.5, 2: 2, 4: 3, 1000: 4.992} {
		assert.InDelta(t, want, Exactly(model)(demand), 1e-6, "demand %v", demand)
	}
	assert.EqualValues(t, 1000, Exactly(Locality(curve, 1e9))(2))
}

func TestQueuesByHand(t *testing.T) {
	for _, c := range []struct {
		name          string
		queue         Queue
		model         paging.Model
		limit         float64
		stretch, wait float64
	}{
		{"M/M/1", Queue{1, .5, 1}, paging.None, 1, 1, 1},
		{"M/G/1: (1 + 4)/2 times as long", Queue{1, .5, 4}, paging.None, 1, 1, 2.5},
		{"M/M/2: Erlang's C is 1/3", Queue{.5, .5, 1}, paging.None, 1, 1, 1. / 3},
		{"sharing: 1/(1 − load), whatever the variability", Queue{1, .5, 9}, of(func(c float64) float64 { return max(1, c) }), 60, 2, 0},
		{"two let in at half speed: M/M/1, too", Queue{1, .5, 1}, step, 2, 1.5, .5},
		{"cannot keep up", Queue{.125, .8, 1}, paging.TayZou, 1.5, math.Inf(1), math.Inf(1)},
		{"exactly full", Queue{1, 1, 1}, paging.None, 1, math.Inf(1), math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			stretch, wait := c.queue.Predict(Exactly(c.model), c.limit)
			if math.IsInf(c.stretch, 1) {
				assert.Equal(t, []float64{c.stretch, c.wait}, []float64{stretch, wait})
				return
			}
			assert.InDelta(t, c.stretch, stretch, 1e-9)
			assert.InDelta(t, c.wait, wait, 1e-9)
		})
	}
}

// The simulator and the theory meet where the theory is exact: jobs of equal memory and
// exponential run times that come at random.
func TestSimulationMeetsTheory(t *testing.T) {
	jobs := 60_000
	if testing.Short() {
		jobs = 20_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	s := &Sample{Processors: 100}
	clock := 0.
	for range jobs {
		clock += r.ExpFloat64()
		run := time.Duration(1e12 * r.ExpFloat64())
		s.Jobs = append(s.Jobs, spaceshare.Job{Submit: time.Duration(clock * 1e12), Run: run + 1, Estimate: run + 1, Processors: 1, Memory: memory / 8})
	}
	mean := shapeOf([]*Sample{s}).mean
	for _, c := range []struct {
		model paging.Model
		load  float64
		limit float64
	}{
		{paging.None, .7, 1}, {paging.TayZou, .7, 1}, {paging.TayZou, .6, 1.25}, {paging.TayZou, .6, 3},
		{Chen(paging.ChenXiaoZhang().Memory, 5*time.Millisecond), .6, 1.25}, {Chen(paging.ChenXiaoZhang().Memory, 5*time.Millisecond), .8, 3},
	} {
		o, err := replay(t.Context(), s, c.model, c.load, c.limit)
		require.NoError(t, err)
		stretch, wait := Queue{Size: .125, Load: c.load, Variability: 1}.Predict(Exactly(c.model), c.limit)
		assert.InEpsilon(t, stretch+wait, o.Response/mean, .08, "response %+v", c)
		assert.InDelta(t, stretch-1, o.Paging/mean, .05, "paging %+v", c)
		assert.InEpsilon(t, 1+wait, 1+o.Wait/mean, .08, "wait %+v", c)
		assert.InEpsilon(t, o.Response, mean+o.Wait+o.Paging, 1e-9, "identity %+v", c)
	}
}
