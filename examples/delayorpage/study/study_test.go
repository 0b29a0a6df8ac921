package study

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/paging"
)

// small is a study that takes a second or two.
func small() Config {
	c := Default()
	c.Seeds, c.Jobs, c.References = 4, 400, 400_000
	c.Limits = []float64{.8, 1, 1.05, 1.5, 2, 3}
	return c
}

// with runs a study of these costs.
func with(t *testing.T, c Config, costs ...Cost) *Study {
	t.Helper()
	s, err := New(c)
	require.NoError(t, err)
	s.Costs = costs
	require.NoError(t, s.simulate(t.Context(), nil))
	return s
}

func TestWithoutCostTheGreatestLimitIsBest(t *testing.T) {
	s := with(t, small(), Cost{Model: "none", Slowdown: paging.None})
	for _, c := range s.Cells {
		if c.Load == Backlog {
			assert.EqualValues(t, 3, c.Rate.Limit)
			assert.Greater(t, c.Rate.Ratio.Low, 2.)
			continue
		}
		for _, b := range []Best{c.Response, c.Slowdown} {
			assert.Contains(t, b.Ties, 3., "load %v", c.Load)
			assert.EqualValues(t, 3, b.Predicted)
			assert.NotEqual(t, Delay, b.Advice)
			if c.Load == .9 {
				assert.Equal(t, Page, b.Advice)
			}
		}
		for i, p := range c.Points[1:] {
			assert.LessOrEqual(t, p.Response.Mean, 1.005*c.Points[i].Response.Mean, "load %v, C = %v", c.Load, p.Limit)
			assert.Zero(t, p.Mean.Paging)
		}
	}
}

func TestWithEndlessCostNoLimitAboveOneIsBest(t *testing.T) {
	endless := of(func(c float64) float64 {
		if c > 1 {
			return thrash
		}
		return 1
	})
	s := with(t, small(), Cost{Model: "endless", Slowdown: endless})
	for _, c := range s.Cells {
		if c.Load == Backlog {
			assert.EqualValues(t, 1, c.Rate.Limit)
			continue
		}
		for _, b := range []Best{c.Response, c.Slowdown} {
			assert.EqualValues(t, 1, b.Limit)
			assert.EqualValues(t, 1, b.Predicted)
			assert.Equal(t, []float64{1}, b.Ties)
			assert.Equal(t, Delay, b.Advice)
		}
		for _, p := range c.Points[3:] {
			assert.Greater(t, p.Response.Low, 1.)
			assert.Positive(t, p.Mean.Paging)
		}
	}
}

// A reserve is for estimates that are wrong: the same cost, and the same jobs.
func TestReserveIsForErrors(t *testing.T) {
	c := small()
	c.Limits = []float64{.5, .6, .7, .8, 1, 1.5}
	c.Loads = []float64{.5}
	steep := Cost{Model: "steep", Slowdown: of(func(c float64) float64 { return 1 + 1000*max(0, c-1) })}
	exact := with(t, c, steep)
	assert.EqualValues(t, 1, exact.Cells[0].Response.Limit)
	c.Error = .3
	wrong := with(t, c, steep)
	assert.Less(t, wrong.Cells[0].Response.Limit, 1.)
	assert.NotContains(t, wrong.Cells[0].Response.Ties, 1.)
	assert.Less(t, wrong.Rules[0].Best, 1.)
	assert.Less(t, wrong.Cells[1].Rate.Limit, 1.)
	assert.Positive(t, wrong.Cells[0].Points[4].Mean.Paging, "C = 1 pages, too")
	assert.Contains(t, wrong.Cells[1].Rate.Ties, math.Round(10*wrong.Rules[0].Best)/10, "the rule knows of errors")
}

// What the package comment says.
func TestFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("a second or two, twenty with the race detector")
	}
	s, err := New(small())
	require.NoError(t, err)
	done := 0
	require.NoError(t, s.Run(t.Context(), func() { done++ }))
	assert.Equal(t, s.Size(), done)
	cell := func(model string, theta float64, fault time.Duration, load float64) Cell {
		for _, c := range s.Cells {
			if x := s.Costs[c.Cost]; x.Model == model && x.Locality == theta && x.Fault == fault && c.Load == load {
				return c
			}
		}
		t.Fatalf("no cell of %v θ=%v, %v, load %v", model, theta, fault, load)
		return Cell{}
	}
	for _, c := range []struct {
		model string
		theta float64
		fault time.Duration
		best  float64
	}{
		{LocalityModel, 1, 10 * time.Millisecond, 1}, {LocalityModel, 2, 10 * time.Millisecond, 1},
		{LocalityModel, 1, time.Millisecond, 1}, {LocalityModel, 2, time.Millisecond, 3},
		{TayZouModel, 0, 0, 1},
		{ChenModel, 0, 10 * time.Millisecond, 1}, {ChenModel, 0, 5 * time.Millisecond, 3}, {ChenModel, 0, time.Millisecond, 3},
		{LineModel, 0, 10 * time.Millisecond, 1}, {LineModel, 0, 5 * time.Millisecond, 1}, {LineModel, 0, 2 * time.Millisecond, 2}, {LineModel, 0, time.Millisecond, 3},
	} {
		b := cell(c.model, c.theta, c.fault, Backlog).Rate
		assert.Equal(t, c.best, b.Predicted, "%+v", c)
		if c.model != LineModel { // nearly as good from 1 to 1.2 at 5 ms
			assert.Equal(t, c.best, b.Limit, "%+v", c)
		}
	}
	// One step loses, the leap gains.
	chen := cell(ChenModel, 0, 5*time.Millisecond, Backlog)
	assert.InDelta(t, .95, chen.Points[2].Rate.Mean, .03)
	assert.InDelta(t, .76, chen.Points[3].Rate.Mean, .05)
	assert.InDelta(t, 1.22, chen.Points[5].Rate.Mean, .05)
	// By the model without a parameter it depends on load and figure.
	assert.Less(t, cell(TayZouModel, 0, 0, .5).Points[5].Slowdown.Mean, .5)
	assert.InDelta(t, 1, cell(TayZouModel, 0, 0, .5).Points[5].Response.Mean, .1)
	for _, p := range cell(TayZouModel, 0, 0, .9).Points[2:] {
		assert.Greater(t, p.Response.Mean, 1.05, "C = %v", p.Limit)
	}

	thresholds := map[Threshold]bool{}
	for _, x := range s.Thresholds {
		thresholds[Threshold{x.Model, x.Locality, x.Limit, 0}] = true
		for _, c := range []struct {
			Threshold
			within float64
		}{
			{Threshold{LocalityModel, 1, 1.05, 13 * time.Microsecond}, .1}, {Threshold{LocalityModel, 1, 3, 39 * time.Microsecond}, .05},
			{Threshold{LocalityModel, 2, 3, 3200 * time.Microsecond}, .25},
			{Threshold{ChenModel, 0, 1.05, 1606 * time.Microsecond}, .001}, {Threshold{ChenModel, 0, 3, 5670 * time.Microsecond}, .001},
			{Threshold{LineModel, 0, 3, 2192 * time.Microsecond}, .001},
		} {
			if x.Model == c.Model && x.Locality == c.Locality && x.Limit == c.Limit {
				assert.InEpsilon(t, float64(c.Fault), float64(x.Fault), c.within, "%+v", x)
			}
		}
	}
	assert.Len(t, thresholds, 2*(len(s.config.Localities)+2))

	findings := s.Findings()
	assert.Len(t, findings, 9)
	for _, f := range findings {
		assert.NotEmpty(t, f.Measured, f.ID)
	}
}

// By hand: t is 12.706 for two samples and one comparison, 63.657 for five.
func TestIntervalsByHand(t *testing.T) {
	logs := []float64{0, .2}
	r := ratio(logs, 1)
	assert.InDelta(t, math.Exp(.1), r.Mean, 1e-12)
	assert.InDelta(t, math.Exp(.1-1.27062), r.Low, 1e-4)
	assert.InDelta(t, math.Exp(.1+1.27062), r.High, 1e-4)
	assert.InDelta(t, math.Exp(.1-6.36567), ratio(logs, 5).Low, 1e-6)
	assert.Equal(t, Ratio{1, 1, 1}, ratio([]float64{0, 0, 0}, 7))
}

func TestAdvice(t *testing.T) {
	at := func(limit, low, mean, high float64) Point {
		return Point{Limit: limit, Response: Ratio{mean, low, high}}
	}
	reserve, one := at(.8, .3, .4, .5), at(1, 1, 1, 1)
	for _, c := range []struct {
		name   string
		points []Point
		best   float64
		want   Advice
	}{
		{"better for sure, and by much", []Point{one, at(2, .8, .9, .99), at(3, .9, 1, 1.1)}, 2, Page},
		{"better for sure, but little", []Point{one, at(2, .951, .96, .99), at(3, 1.1, 1.2, 1.3)}, 2, Delay},
		{"little, or maybe not", []Point{one, at(2, .94, .96, .99), at(3, 1.1, 1.2, 1.3)}, 2, Either},
		{"maybe better", []Point{one, at(2, .8, .9, 1.01), at(3, 1.1, 1.2, 1.3)}, 2, Either},
		{"the same", []Point{one, at(2, .99, 1, 1.01), at(3, .99, 1, 1.01)}, 1, Either},
		{"no difference at first", []Point{one, at(2, 1, 1, 1), at(3, 1.1, 1.2, 1.3)}, 1, Delay},
		{"worse", []Point{one, at(2, 1.01, 1.1, 1.2), at(3, 1.01, 1.1, 1.2)}, 1, Delay},
		{"a reserve is no paging", []Point{reserve, one, at(2, 1.01, 1.1, 1.2)}, .8, Delay},
	} {
		assert.Equal(t, c.want, advise(c.points, c.best, func(p Point) Ratio { return p.Response }), c.name)
	}
}

func TestExpectedFactor(t *testing.T) {
	assert.InDelta(t, 1.5, Expected(step, .2)(1), .01, "in half of all cases memory does not suffice")
	assert.InDelta(t, 1+.1587, Expected(step, .2)(1/(1+.2)/1.0168), .01, "one standard deviation below: c + .2·√c = 1")
	assert.EqualValues(t, 2, Expected(step, 0)(1.01))
	assert.EqualValues(t, 1, Expected(paging.None, .5)(2))
}

func TestSamples(t *testing.T) {
	c := Default()
	c.Jobs = 20_000
	s, err := generate(c, 7)
	require.NoError(t, err)
	mean, largest := 0., int64(0)
	for i, j := range s.Jobs {
		mean += float64(j.Memory) / memory / float64(len(s.Jobs))
		largest = max(largest, j.Memory)
		require.Equal(t, j.Run, j.Estimate)
		require.True(t, i == 0 || j.Submit >= s.Jobs[i-1].Submit)
	}
	assert.InDelta(t, .119, mean, .003, "1/8, less what is cut off at a half")
	assert.Equal(t, int64(memory/2), largest)
	memories, processors := held(s.Jobs)
	assert.InDelta(t, c.Headroom, float64(s.Processors)*memories/processors, .01)

	changed := c
	changed.Bursty, changed.Error = true, .3
	other, err := generate(changed, 7)
	require.NoError(t, err)
	ratios := make([]float64, 0, len(s.Jobs))
	for i, j := range other.Jobs {
		j.Submit = s.Jobs[i].Submit
		require.Equal(t, s.Jobs[i], j, "arrivals and use apart, the same jobs")
		ratios = append(ratios, math.Log(float64(other.Uses[i])/float64(j.Memory)))
	}
	slices.Sort(ratios)
	assert.InDelta(t, -.3*.3/2, ratios[len(ratios)/2], .01)
	assert.InDelta(t, .3, ratios[len(ratios)*84/100]-ratios[len(ratios)/2], .02)
	assert.NotEqual(t, s.Jobs[5].Submit, other.Jobs[5].Submit)

	before := slices.Clone(s.Jobs)
	jobs, err := s.at(.7)
	require.NoError(t, err)
	assert.Equal(t, before, s.Jobs)
	assert.Zero(t, jobs[0].Submit)
	assert.InDelta(t, .7, memories/jobs[len(jobs)-1].Submit.Seconds(), 1e-4)
	jobs, err = s.at(Backlog)
	require.NoError(t, err)
	assert.Zero(t, jobs[len(jobs)-1].Submit)
	_, err = s.at(1e300)
	assert.NoError(t, err)
	_, err = (&Sample{Jobs: slices.Repeat(s.Jobs[:1], 3)}).at(.5)
	assert.ErrorIs(t, err, ErrConfig)
}

func TestShapeByHand(t *testing.T) {
	jobs := []spaceshare.Job{
		{Run: 5 * time.Second, Memory: memory / 4, Processors: 1}, {Run: 15 * time.Second, Memory: memory / 2, Processors: 1},
	}
	sh := shapeOf([]*Sample{{Jobs: jobs, Uses: []int64{memory / 4, memory}}})
	assert.InDelta(t, 10, sh.mean, 1e-12)
	assert.InDelta(t, .25, sh.variability, 1e-12, "5² / 10²")
	assert.InDelta(t, (5*.25+15*.5)/20, sh.size, 1e-12)
	assert.InDelta(t, (10./10+10./15)/2, sh.short, 1e-12, "5 s count as 10")
	assert.InDelta(t, math.Sqrt(15*.5*.5/8.75), sh.deviation, 1e-12)
}

// Ten jobs of half the memory, in reverse order: nine tenths of the work are done with
// the ninth.
func TestThroughputByHand(t *testing.T) {
	jobs := make([]spaceshare.Job, 10)
	ends := make([]time.Duration, 10)
	for i := range jobs {
		jobs[i] = spaceshare.Job{Run: time.Second, Memory: memory / 2}
		ends[9-i] = time.Duration(i+1) * time.Second
	}
	ends[1], ends[0] = 18*time.Second, time.Hour
	assert.InDelta(t, 4.5/18, throughput(jobs, ends), 1e-12)
}

// Three samples: C = 2 is better than 1 in two of them, .8 twice as bad in all.
func TestTiesByHand(t *testing.T) {
	c := Default()
	c.Limits, c.Loads = []float64{.8, 1, 2, 3}, []float64{.5}
	s := newStudy(c, nil)
	s.samples = make([]*Sample, 3)
	s.shape = shape{size: .5, mean: 1, short: 1}
	s.Costs = []Cost{{Slowdown: step}}
	for load := range 2 {
		for _, responses := range [][3]float64{{20, 40, 60}, {10, 20, 30}, {9.9, 20.4, 28}, {14, 29, 44}} {
			for _, r := range responses {
				s.outcomes = append(s.outcomes, Outcome{Response: r, Slowdown: 30 / r, Throughput: r * float64(1+load)})
			}
		}
	}
	cell := s.cell(0, 0)
	assert.EqualValues(t, 2, cell.Response.Limit)
	assert.Equal(t, []float64{1, 2}, cell.Response.Ties)
	assert.InDelta(t, math.Cbrt(.99*1.02*28/30), cell.Response.Ratio.Mean, 1e-12)
	assert.Equal(t, Either, cell.Response.Advice)
	assert.Empty(t, s.cell(0, 1).Rate.Advice)
	assert.EqualValues(t, .8, cell.Slowdown.Limit)
	assert.Equal(t, []float64{.8}, cell.Slowdown.Ties)
	assert.Equal(t, Ratio{Mean: cell.Slowdown.Ratio.Mean, Low: cell.Slowdown.Ratio.Mean, High: cell.Slowdown.Ratio.Mean}, cell.Slowdown.Ratio, "half in every sample")
	assert.InDelta(t, 60, cell.Points[0].Mean.Response+cell.Points[1].Mean.Response, 1e-12)
	backlog := s.cell(0, 1)
	assert.EqualValues(t, .8, backlog.Rate.Limit)
	assert.EqualValues(t, 3, backlog.Rate.Predicted)
	assert.InDelta(t, 1.5, backlog.Points[3].PredictedRate, 1e-12)
}

func TestMeasuredFaults(t *testing.T) {
	low, err := measure(t.Context(), 1, 200_000, 1)
	require.NoError(t, err)
	high, err := measure(t.Context(), 2, 200_000, 1)
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(low, func(a, b float64) int { return cmp.Compare(b, a) }))
	assert.Zero(t, low[processPages])
	assert.InEpsilon(t, .078, low.Rate(processPages/2), .05)
	for frames := 100; frames < 2000; frames += 100 {
		assert.Less(t, high[frames], low[frames]/5)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = measure(ctx, 1, 1000, 1)
	assert.Error(t, err)
}

func TestStudiesThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"one sample":          func(c *Config) { c.Seeds = 1 },
		"one job":             func(c *Config) { c.Jobs = 1 },
		"no size":             func(c *Config) { c.Size = 0 },
		"large jobs":          func(c *Config) { c.Size = .6 },
		"NaN size":            func(c *Config) { c.Size = math.NaN() },
		"negative spread":     func(c *Config) { c.Spread = -1 },
		"NaN error":           func(c *Config) { c.Error = math.NaN() },
		"no headroom":         func(c *Config) { c.Headroom = .5 },
		"endless headroom":    func(c *Config) { c.Headroom = math.Inf(1) },
		"no limit of 1":       func(c *Config) { c.Limits = []float64{.8, 1.1} },
		"limits out of order": func(c *Config) { c.Limits = []float64{1, 2, 1.5} },
		"limit below a job":   func(c *Config) { c.Limits = []float64{.4, 1, 2} },
		"endless limit":       func(c *Config) { c.Limits = []float64{1, math.Inf(1)} },
		"no limit above 1":    func(c *Config) { c.Limits = []float64{.5, 1} },
		"no load":             func(c *Config) { c.Loads = []float64{0} },
		"NaN load":            func(c *Config) { c.Loads = []float64{math.NaN()} },
		"negative fault":      func(c *Config) { c.ChenFaults = []time.Duration{-1} },
		"no access":           func(c *Config) { c.Access = 0 },
		"locality":            func(c *Config) { c.Localities = []float64{3} },
	} {
		c := small()
		change(&c)
		s, err := New(c)
		if name == "locality" { // known to package paging
			require.NoError(t, err)
			assert.ErrorIs(t, s.Run(t.Context(), nil), paging.ErrLocality)
			continue
		}
		assert.ErrorIs(t, err, ErrConfig, name)
	}
}

func TestSamplesOfALog(t *testing.T) {
	w := &workload.Workload{Name: "log", Processors: 10}
	for i := range 40 {
		w.Jobs = append(w.Jobs, spaceshare.Job{Submit: time.Duration(i) * time.Second, Run: 10 * time.Second, Estimate: 20 * time.Second, Processors: 1, Memory: 1000})
	}
	w.Jobs[15].Memory = 6 * 1000 // of 5 and a bit there are
	c := Default()
	c.Seeds, c.Jobs, c.Headroom = 4, 8, 2
	samples, err := cut(w, c)
	require.NoError(t, err)
	require.Len(t, samples, 4)
	assert.Len(t, samples[0].Jobs, 8)
	assert.Len(t, samples[1].Jobs, 7)
	assert.Equal(t, 1, samples[1].Dropped)
	assert.Equal(t, 20*time.Second, samples[2].Jobs[0].Submit)
	assert.Equal(t, 10*time.Second, samples[2].Jobs[0].Estimate)
	// Five processors busy hold 5 · 45/40 thousand.
	assert.InDelta(t, memory/5.625, float64(samples[0].Jobs[0].Memory), 1)
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs[:10] {
		w.Jobs[i].Memory = 0
	}
	_, err = NewOf(w, c)
	assert.ErrorIs(t, err, ErrConfig)
	for i := range w.Jobs {
		w.Jobs[i].Memory = 0
	}
	_, err = NewOf(w, c)
	assert.ErrorIs(t, err, ErrConfig)
	_, err = NewOf(w, Config{})
	assert.ErrorIs(t, err, ErrConfig)
}

// A real log, which is not part of the repository.
func TestRealLog(t *testing.T) {
	const path = "../../../../shared/traces/LANL-CM5-1994-4.1-cln.swf.gz"
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the folder of real logs is missing: ", err)
		}
		t.Skip("no real logs to read: ", err)
	}
	r, err := swf.Open(path)
	require.NoError(t, err)
	defer r.Close()
	w, err := workload.Read("LANL-CM5", r, 0)
	require.NoError(t, err)
	c := small()
	c.Localities, c.Headroom, c.Jobs = nil, 2, 300
	s, err := NewOf(w, c)
	require.NoError(t, err)
	require.NoError(t, s.Run(t.Context(), nil))
	x := s.Summary()
	assert.Equal(t, 4*300, x.Jobs+x.Dropped)
	for _, cell := range s.Cells {
		switch cost := s.Costs[cell.Cost]; {
		case cell.Load != Backlog:
		case cost.Model == TayZouModel:
			assert.EqualValues(t, 1, cell.Rate.Limit)
		case cost.Model == ChenModel && cost.Fault == 100*time.Microsecond:
			assert.Greater(t, cell.Rate.Limit, 1.)
		}
	}
}

func TestStudyStops(t *testing.T) {
	s, err := New(small())
	require.NoError(t, err)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	assert.ErrorIs(t, s.Run(ctx, nil), enough)
}
