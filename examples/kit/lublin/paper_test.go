package lublin_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

// sample returns n jobs of the model.
func sample(t testing.TB, c lublin.Config, seed uint64, n int) []lublin.Job {
	t.Helper()
	m, err := lublin.New(c, rand.New(rand.NewPCG(seed, 1)))
	require.NoError(t, err)
	jobs := make([]lublin.Job, n)
	for i := range jobs {
		jobs[i] = m.Next()
	}
	return jobs
}

// sizes returns the exact probability of every size on a machine that is a power
// of two: the overlap of the two uniform ranges of log2 size with the range that
// rounds to the size.
func sizes(p lublin.Parameters) []float64 {
	overlap := func(lo, hi float64) float64 {
		cut := func(a, b float64) float64 {
			if a == b {
				return 0
			}
			return max(min(hi, b)-max(lo, a), 0) / (b - a)
		}
		return p.UProb*cut(p.ULow, p.UMed) + (1-p.UProb)*cut(p.UMed, p.UHi)
	}
	pmf := make([]float64, int(math.Exp2(p.UHi)+.5)+1)
	pmf[1] = p.Serial
	for k := range pmf {
		if k >= 1 {
			pmf[k] += (1 - p.Serial - p.PowerOfTwo) * overlap(math.Log2(float64(k)-.5), math.Log2(float64(k)+.5))
		}
	}
	for j := 0; 1<<j < len(pmf); j++ {
		pmf[1<<j] += p.PowerOfTwo * overlap(float64(j)-.5, float64(j)+.5)
	}
	return pmf
}

// below returns P(g ≤ x), E[g; g ≤ x], E[g²; g ≤ x] and E[e^g; g ≤ x]: moments
// of a gamma variable are probabilities of another gamma variable.
func below(g lublin.Gamma, x float64) (p, first, second, exp float64) {
	a, b := g.Shape, g.Scale
	return mathext.GammaIncReg(a, x/b),
		a * b * mathext.GammaIncReg(a+1, x/b),
		a * (a + 1) * b * b * mathext.GammaIncReg(a+2, x/b),
		math.Pow(1-b, -a) * mathext.GammaIncReg(a, x*(1-b)/b)
}

// exact are the moments of one class by closed forms.
type exact struct {
	size, log, logSD, power, run, g, gSD, area, short, long, gap float64
}

func exactly(p lublin.Parameters) exact {
	var e exact
	p1, m1, s1, x1 := below(p.Run1, 12)
	p2, m2, s2, x2 := below(p.Run2, 12)
	e.short, e.long = x1/p1, x2/p2
	log2, g2 := 0., 0.
	for k, w := range sizes(p) {
		if k == 0 {
			continue
		}
		n := float64(k)
		share := min(max(p.PA*n+p.PB, 0), 1)
		mix := func(a, b float64) float64 { return (share*a + (1-share)*b) / (share*p1 + (1-share)*p2) }
		e.size += w * n
		e.log += w * math.Log2(n)
		log2 += w * math.Log2(n) * math.Log2(n)
		if k&(k-1) == 0 {
			e.power += w
		}
		e.run += w * mix(x1, x2)
		e.g += w * mix(m1, m2)
		g2 += w * mix(s1, s2)
		e.area += w * n * mix(x1, x2)
	}
	e.logSD = math.Sqrt(log2 - e.log*e.log)
	e.gSD = math.Sqrt(g2 - e.g*e.g)
	pg, _, _, xg := below(lublin.Gamma{Shape: p.Gap.Shape * p.ARAR, Scale: p.Gap.Scale}, 13)
	e.gap = xg / pg
	return e
}

// The values that the published parameters imply for 128 processors.
func TestExactMoments(t *testing.T) {
	for _, c := range []struct {
		name string
		p    lublin.Parameters
		want exact
		pmf  map[int]float64
	}{
		{
			"typeless", lublin.Typeless(128),
			exact{12.1339, 2.3210, 1.8592, .8691, 4358, 5.4840, 2.9402, 84241, 737.7, 13403, 911.3},
			map[int]float64{1: .2440, 2: .1156, 4: .1491, 8: .1414, 16: .1377, 32: .0327, 64: .0325, 128: .0162,
				3: .0203, 5: .0121, 6: .0101, 7: .0086},
		},
		{
			"batch", lublin.Batch(128),
			exact{13.8933, 2.4520, 2.0038, .9684, 9492, 6.9450, 2.7431, 163480, 2327.5, 23122, 3516.9},
			map[int]float64{1: .2927, 2: .0473, 4: .1572, 8: .1556, 16: .1548, 32: .0981, 64: .0418, 128: .0209,
				3: .0043, 5: .0026, 6: .0021, 7: .0018},
		},
		{
			"interactive", lublin.Interactive(128),
			exact{8.0450, 2.2417, 1.4818, .8455, 241, 2.9455, 1.6522, 2964, 55.4, 1091.6, 619.3},
			map[int]float64{1: .1541, 2: .1352, 4: .2485, 8: .1566, 16: .0761, 32: .0749, 64: 0, 128: 0,
				3: .0378, 5: .0225, 6: .0188, 7: .0161},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := exactly(c.p)
			t.Logf("expected %+v", c.want)
			t.Logf("computed %+v", got)
			assert.InDelta(t, c.want.size, got.size, 6e-5)
			assert.InDelta(t, c.want.log, got.log, 6e-5)
			assert.InDelta(t, c.want.logSD, got.logSD, 6e-5)
			assert.InDelta(t, c.want.power, got.power, 6e-5)
			assert.InDelta(t, c.want.run, got.run, .6)
			assert.InDelta(t, c.want.g, got.g, 6e-5)
			assert.InDelta(t, c.want.gSD, got.gSD, 6e-5)
			assert.InDelta(t, c.want.area, got.area, 1)
			assert.InDelta(t, c.want.short, got.short, .06)
			assert.InDelta(t, c.want.long, got.long, .6)
			assert.InDelta(t, c.want.gap, got.gap, .06)
			pmf := append(sizes(c.p), make([]float64, 200)...)
			total := 0.
			for k, w := range pmf {
				total += w
				if want, ok := c.pmf[k]; ok {
					assert.InDelta(t, want, w, 6e-5, "size %d", k)
				}
			}
			assert.InDelta(t, 1, total, 1e-12)
		})
	}
	b, i := exactly(lublin.Batch(128)), exactly(lublin.Interactive(128))
	rate := 1/b.gap + 1/i.gap
	assert.InDelta(t, 526.6, 1/rate, .06, "mean gap of both classes")
	assert.InDelta(t, .1497, 1/b.gap/rate, 6e-5, "batch share")
	assert.InDelta(t, .4005, (b.area/b.gap+i.area/i.gap)/128, 6e-5, "offered load of both classes")
	e := exactly(lublin.Typeless(128))
	assert.InDelta(t, .7222, e.area/e.gap/128, 6e-5, "typeless load")
}

// The authors advise UHi = log2 of the machine and UMed = UHi − 2.5.
func TestOtherMachineSizes(t *testing.T) {
	for _, c := range []struct {
		processors                     int
		size, run, area, load, product float64
	}{
		{16, 2.420, 3693, 9329, .640, .613},
		{32, 4.005, 3802, 16980, .582, .522},
		{64, 6.841, 3996, 34863, .598, .469},
		{128, 12.134, 4358, 84241, .722, .453},
		{256, 22.169, 4893, 202708, .869, .465},
		{512, 41.393, 5524, 447793, .960, .490},
		{1024, 78.501, 6271, 952008, 1.020, .528},
	} {
		t.Run(fmt.Sprintf("%d processors", c.processors), func(t *testing.T) {
			e := exactly(lublin.Typeless(c.processors))
			t.Logf("expected %+v", c)
			t.Logf("computed size %.3f run %.0f area %.0f gap %.1f", e.size, e.run, e.area, e.gap)
			assert.InDelta(t, c.size, e.size, 6e-4)
			assert.InDelta(t, c.run, e.run, .6)
			assert.InDelta(t, c.area, e.area, 1)
			n := float64(c.processors)
			assert.InDelta(t, c.load, e.area/e.gap/n, 6e-4)
			assert.InDelta(t, c.product, e.size*e.run/e.gap/n, 6e-4)

			jobs := sample(t, lublin.Config{Processors: c.processors}, 5, 20_000)
			size := 0.
			for _, j := range jobs {
				size += float64(j.Processors) / float64(len(jobs))
				require.LessOrEqual(t, j.Processors, c.processors)
			}
			assert.InEpsilon(t, c.size, size, .06)
		})
	}
}

func TestDailyCycle(t *testing.T) {
	w := lublin.Typeless(128).DailyCycle()
	for hour, want := range map[int]float64{0: .5078, 2: .3250, 4: .1997, 5: .1649, 6: .3293, 8: .8208, 10: 1.3615,
		12: 1.7332, 13: 1.8174, 14: 1.8321, 16: 1.6874, 18: 1.3976, 20: 1.0640, 22: .7563} {
		assert.InDelta(t, want, w[2*hour], 6e-5, "first half hour of %d h", hour)
	}
	for name, c := range map[string]struct {
		p    lublin.Parameters
		peak int
		rate float64
	}{
		"typeless":    {lublin.Typeless(128), 27, 1.8331},
		"batch":       {lublin.Batch(128), 26, 1.6659},
		"interactive": {lublin.Interactive(128), 28, 1.8810},
	} {
		w := c.p.DailyCycle()
		assert.Equal(t, c.peak, slices.Index(w[:], slices.Max(w[:])), name)
		assert.InDelta(t, c.rate, w[c.peak], 6e-5, name)
		sum := 0.
		for _, v := range w {
			sum += v
		}
		assert.InDelta(t, 48, sum, 1e-12, name)
	}
	assert.Equal(t, 10, slices.Index(w[:], slices.Min(w[:])), "the day begins at 5:00")
}

// measured are the figures of a sample.
type measured struct {
	serial, power, size, medianSize, log, run, medianRun, run90, run99, correlation float64
	gap, medianGap, cv, load, batch                                                 float64
	hours                                                                           [24]float64
}

func measure(jobs []lublin.Job) measured {
	var m measured
	n := float64(len(jobs))
	var logs, lns, sizes, runs, gaps []float64
	for i, j := range jobs {
		size, run := float64(j.Processors), j.Run.Seconds()
		sizes, runs = append(sizes, size), append(runs, run)
		logs, lns = append(logs, math.Log2(size)), append(lns, math.Log(run))
		if i > 0 {
			gaps = append(gaps, (j.Submit - jobs[i-1].Submit).Seconds())
		}
		if size == 1 {
			m.serial += 1 / n
		}
		if j.Processors&(j.Processors-1) == 0 {
			m.power += 1 / n
		}
		if !j.Interactive {
			m.batch += 1 / n
		}
		m.hours[int(j.Submit/time.Hour)%24] += 1 / n
	}
	m.correlation = stat.Correlation(logs, lns, nil)
	m.log = stat.Mean(logs, nil)
	for _, s := range [][]float64{sizes, runs, gaps} {
		slices.Sort(s)
	}
	q := func(p float64, x []float64) float64 { return stat.Quantile(p, stat.Empirical, x, nil) }
	m.size, m.medianSize = stat.Mean(sizes, nil), q(.5, sizes)
	m.run, m.medianRun, m.run90, m.run99 = stat.Mean(runs, nil), q(.5, runs), q(.9, runs), q(.99, runs)
	mean, sd := stat.MeanStdDev(gaps, nil)
	m.gap, m.medianGap, m.cv = mean, q(.5, gaps), sd/mean
	m.load = load(jobs, 128)
	return m
}

// Figures of 100,000 jobs by an independent implementation of the model with
// three seeds, which agree with those of the authors' program; the bounds are
// its ranges widened by 2 %, by 10 % for run time, gap, load and batch share.
func TestLargeSample(t *testing.T) {
	for _, c := range []struct {
		name                                                              string
		typed                                                             bool
		serial, power, size, log, run, run90, run99, correlation, gap, cv [2]float64
		medianSize                                                        float64
		medianRun, medianGap, load, batch                                 [2]float64
		hours                                                             [4]float64 // 0, 5, 13, 20 h
	}{
		{
			name: "typeless", typed: false,
			serial: [2]float64{.2419, .2446}, power: [2]float64{.8677, .8690},
			size: [2]float64{12.11, 12.24}, medianSize: 4, log: [2]float64{2.320, 2.331},
			run: [2]float64{4337, 4380}, medianRun: [2]float64{107, 107},
			run90: [2]float64{14500, 14700}, run99: [2]float64{33500, 34200},
			correlation: [2]float64{.164, .167},
			gap:         [2]float64{884, 919}, medianGap: [2]float64{116, 119}, cv: [2]float64{6.6, 7.5},
			load: [2]float64{.71, .76}, batch: [2]float64{1, 1},
			hours: [4]float64{.021, .008, .075, .043},
		},
		{
			name: "typed", typed: true,
			serial: [2]float64{.1740, .1744}, power: [2]float64{.8631, .8650},
			size: [2]float64{8.88, 9.03}, medianSize: 4, log: [2]float64{2.271, 2.281},
			run: [2]float64{1542, 1705}, medianRun: [2]float64{18, 18},
			run90: [2]float64{800, 1017}, run99: [2]float64{31900, 33100},
			correlation: [2]float64{.121, .126},
			gap:         [2]float64{513, 535}, medianGap: [2]float64{51, 52}, cv: [2]float64{6.9, 7.2},
			load: [2]float64{.39, .41}, batch: [2]float64{.140, .159},
			hours: [4]float64{.021, .008, .079, .043},
		},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
				m := measure(sample(t, lublin.Config{Typed: c.typed}, seed, 100_000))
				t.Logf("%+v", m)
				within := func(name string, want [2]float64, got, slack float64) {
					t.Helper()
					assert.GreaterOrEqual(t, got, want[0]*(1-slack), name)
					assert.LessOrEqual(t, got, want[1]*(1+slack), name)
				}
				within("serial", c.serial, m.serial, .02)
				within("power of two", c.power, m.power, .02)
				within("mean size", c.size, m.size, .02)
				assert.Equal(t, c.medianSize, m.medianSize)
				within("mean log2 of size", c.log, m.log, .02)
				within("mean run", c.run, m.run, .1)
				within("median run", c.medianRun, m.medianRun, .1)
				within("90th percentile of run", c.run90, m.run90, .1)
				within("99th percentile of run", c.run99, m.run99, .1)
				within("correlation", c.correlation, m.correlation, .1)
				within("mean gap", c.gap, m.gap, .1)
				within("median gap", c.medianGap, m.medianGap, .1)
				within("cv of gap", c.cv, m.cv, .1)
				within("load", c.load, m.load, .1)
				within("batch share", c.batch, m.batch, .1)
				for i, hour := range []int{0, 5, 13, 20} {
					assert.InDelta(t, c.hours[i], m.hours[hour], .001+c.hours[i]*.15, "share of arrivals in hour %d", hour)
				}
			})
		}
	}
}

// perHour returns the share of arrivals in each hour of the day in the long run.
func perHour(classes ...lublin.Parameters) (hours [24]float64) {
	rate := 0.
	for _, p := range classes {
		rate += 1 / exactly(p).gap
	}
	for _, p := range classes {
		for b, w := range p.DailyCycle() {
			hours[b/2] += w / 48 / exactly(p).gap / rate
		}
	}
	return hours
}

// middle returns the mean direction of the day's arrivals, as an hour.
func middle(hours [24]float64) float64 {
	x, y := 0., 0.
	for h, w := range hours {
		sin, cos := math.Sincos((float64(h) + .5) / 12 * math.Pi)
		x, y = x+w*cos, y+w*sin
	}
	return math.Mod(math.Atan2(y, x)/math.Pi*12+24, 24)
}

// The share of arrivals in each hour is that of the daily cycle, and still is
// after hundreds of thousands of jobs: the clock does not drift. A clock cut to
// seconds at each job is some 14 hours off after 100,000.
func TestClockKeepsTheDay(t *testing.T) {
	for _, c := range []struct {
		lublin.Config
		want [24]float64
	}{
		{lublin.Config{}, perHour(lublin.Typeless(128))},
		{lublin.Config{Start: 9}, perHour(lublin.Typeless(128))},
		{lublin.Config{Typed: true}, perHour(lublin.Batch(128), lublin.Interactive(128))},
	} {
		const n = 500_000
		jobs := sample(t, c.Config, 11, n)
		count := func(jobs []lublin.Job) (hours [24]float64) {
			for _, j := range jobs {
				hours[(c.Start+int(j.Submit/time.Hour))%24] += 1 / float64(len(jobs))
			}
			return hours
		}
		hours := count(jobs)
		for h, want := range c.want {
			assert.InDelta(t, want, hours[h], .0005+.07*want, "hour %d", h)
		}
		for i := range 5 {
			hours := count(jobs[i*n/5 : (i+1)*n/5])
			assert.Contains(t, []int{12, 13, 14, 15}, slices.Index(hours[:], slices.Max(hours[:])))
			assert.InDelta(t, middle(c.want), middle(hours), .5, "fifth %d", i)
		}
	}
	typeless := perHour(lublin.Typeless(128))
	typed := perHour(lublin.Batch(128), lublin.Interactive(128))
	t.Logf("typeless %.4f", typeless)
	t.Logf("typed    %.4f", typed)
	assert.Equal(t, 13, slices.Index(typeless[:], slices.Max(typeless[:])))
}

// The clock turns points into half hours, each worth its weight. With gaps that
// are nearly constant the points are known, and the weights from the start to an
// arrival must add up to them.
func TestArrivalsByHand(t *testing.T) {
	p := lublin.Typeless(128)
	p.Gap, p.ARAR = lublin.Gamma{Shape: 1e6, Scale: 1e-3}, math.Log(900)/1e3 // e^g is 900 s = half a point, ± 8 %
	m, err := lublin.New(lublin.Config{Typeless: p}, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	w := p.DailyCycle()
	for n := range 2000 {
		submit := m.Next().Submit.Seconds()
		points := 0.
		half := int(submit) / 1800
		for b := range half {
			points += w[b%48]
		}
		points += w[half%48] * (submit/1800 - float64(half))
		require.InDelta(t, float64(n+1)/2, points, .5+.0025*float64(n), "job %d at %v s", n, submit)
	}
}

func TestGammaSampler(t *testing.T) {
	// The sampler must hold for every shape that a class can have, below one too.
	for _, shape := range []float64{.05, .5, 1, 3.8351, 312, 639.1} {
		p := lublin.Typeless(128)
		p.Serial, p.PowerOfTwo = 1, 0
		p.PA, p.PB = 0, 1
		p.Run1 = lublin.Gamma{Shape: shape, Scale: 6 / shape}
		m, err := lublin.New(lublin.Config{Typeless: p}, rand.New(rand.NewPCG(3, 4)))
		require.NoError(t, err)
		const n = 50_000
		lns := make([]float64, n)
		for i := range lns {
			lns[i] = math.Log(m.Next().Run.Seconds())
		}
		slices.Sort(lns)
		worst := 0.
		for i, x := range lns {
			if i+1 < n && lns[i+1] == x {
				continue // whole seconds: compare at the upper end of each
			}
			g := math.Log(math.Exp(x) + 1) // run = ⌊e^g⌋, so P(run ≤ r) = P(g < ln(r+1))
			cdf := mathext.GammaIncReg(shape, g*shape/6) / mathext.GammaIncReg(shape, 12*shape/6)
			worst = max(worst, math.Abs(min(cdf, 1)-float64(i+1)/n))
		}
		assert.Less(t, worst, 1.63/math.Sqrt(n), "Kolmogorov-Smirnov at 1 %%, shape %v", shape)
	}
}

// load is the offered load: Σ run · size / (processors · (last arrival − first
// arrival)).
func load(jobs []lublin.Job, processors int) float64 {
	work := 0.
	for _, j := range jobs {
		work += j.Run.Seconds() * float64(j.Processors)
	}
	return work / (float64(processors) * (jobs[len(jobs)-1].Submit - jobs[0].Submit).Seconds())
}
