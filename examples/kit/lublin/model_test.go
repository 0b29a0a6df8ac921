package lublin_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

// checksum is a hash of every field of every job.
func checksum(jobs []lublin.Job) uint64 {
	h := fnv.New64a()
	var b []byte
	for _, j := range jobs {
		b = binary.BigEndian.AppendUint64(b[:0], uint64(j.Submit))
		b = binary.BigEndian.AppendUint64(b, uint64(j.Run))
		b = binary.BigEndian.AppendUint64(b, uint64(j.Processors))
		b = binary.BigEndian.AppendUint64(b, uint64(j.Memory))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(j.Utilisation))
		if j.Interactive {
			b = append(b, 1)
		}
		h.Write(b)
	}
	return h.Sum64()
}

// The checksums hold on every platform. A change of them changes every workload
// that was generated before, and belongs in the changelog.
func TestSameSeedSameJobs(t *testing.T) {
	for _, c := range []struct {
		name string
		lublin.Config
		golden uint64
	}{
		{"typeless", lublin.Config{}, 0x5590b1d078784123},
		{"typed", lublin.Config{Typed: true}, 0x45257585e6b32db6},
		{"1000 processors from 9 h", lublin.Config{Processors: 1000, Start: 9}, 0xfdbf4bf311bd6fed},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := sample(t, c.Config, 42, 10_000)
			assert.Equal(t, jobs, sample(t, c.Config, 42, 10_000))
			assert.NotEqual(t, jobs, sample(t, c.Config, 43, 10_000))
			assert.Equal(t, c.golden, checksum(jobs))
		})
	}
}

func TestNewTakesTheSameFromTheGenerator(t *testing.T) {
	var next []uint64
	for _, c := range []lublin.Config{{}, {Typed: true}, {Utilisation: .45}, {Processors: 16, Start: 3}} {
		r := rand.New(rand.NewPCG(1, 2))
		m, err := lublin.New(c, r)
		require.NoError(t, err)
		m.Next()
		next = append(next, r.Uint64())
	}
	assert.Len(t, slices.Compact(next), 1)
}

func TestAttributesDoNotChangeTheRest(t *testing.T) {
	for _, typed := range []bool{false, true} {
		plain := sample(t, lublin.Config{Typed: typed}, 1, 2000)
		same := sample(t, lublin.Config{Typed: typed, Utilisation: .45}, 1, 2000)
		other := sample(t, lublin.Config{Typed: typed, MedianMemory: 1 << 20, P99Memory: 1 << 20}, 1, 2000)
		for i := range plain {
			require.Equal(t, .45, same[i].Utilisation)
			require.Equal(t, int64(1<<20), other[i].Memory)
			same[i].Utilisation, other[i].Memory = plain[i].Utilisation, plain[i].Memory
		}
		assert.Equal(t, plain, same)
		assert.Equal(t, plain, other)
	}
}

func TestMachineSizeDoesNotChangeArrivals(t *testing.T) {
	small, large := sample(t, lublin.Config{Processors: 16}, 1, 1000), sample(t, lublin.Config{Processors: 1024}, 1, 1000)
	for i := range small {
		require.Equal(t, small[i].Submit, large[i].Submit)
	}
}

// Each class of the typed mode is the stream it would be alone.
func TestTypedMergesTwoClasses(t *testing.T) {
	typed := sample(t, lublin.Config{Typed: true}, 9, 5000)
	batch := sample(t, lublin.Config{Typeless: lublin.Batch(128)}, 9, 5000)
	b := 0
	for i, j := range typed {
		if i > 0 {
			require.LessOrEqual(t, typed[i-1].Submit, j.Submit, "job %d", i)
		}
		if !j.Interactive {
			require.Equal(t, batch[b].Submit, j.Submit)
			require.Equal(t, batch[b].Run, j.Run)
			require.Equal(t, batch[b].Processors, j.Processors)
			b++
		}
	}
	require.Greater(t, b, 500)
	require.Less(t, b, 1000)
}

func TestAttributes(t *testing.T) {
	jobs := sample(t, lublin.Config{}, 3, 100_000)
	memory, utilisation := make([]float64, len(jobs)), make([]float64, len(jobs))
	size := make([]float64, len(jobs))
	for i, j := range jobs {
		memory[i], utilisation[i], size[i] = math.Log(float64(j.Memory)), j.Utilisation, float64(j.Processors)
		require.Positive(t, j.Memory)
		require.True(t, j.Utilisation > 0 && j.Utilisation <= 1)
	}
	assert.InDelta(t, 0, stat.Correlation(memory, size, nil), .01)
	assert.InDelta(t, 0, stat.Correlation(utilisation, size, nil), .01)
	assert.InDelta(t, 0, stat.Correlation(utilisation, memory, nil), .01)
	assert.InDelta(t, .5, stat.Mean(utilisation, nil), .005)
	assert.InDelta(t, 1./12, stat.Variance(utilisation, nil), .001)
	slices.Sort(memory)
	assert.InEpsilon(t, 3.1, math.Exp(stat.Quantile(.5, stat.Empirical, memory, nil))/(1<<20), .02, "median, MB")
	assert.InEpsilon(t, 24, math.Exp(stat.Quantile(.99, stat.Empirical, memory, nil))/(1<<20), .05, "99th percentile, MB")
}

// A machine that is no power of two has no larger job, and its powers of two end
// below it.
func TestOddMachines(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 10, 100, 430, 1000, 1<<30 - 1, 1 << 30} {
		for _, typed := range []bool{false, true} {
			largest, powers := 0, 0
			jobs := sample(t, lublin.Config{Processors: n, Typed: typed}, 1, 20_000)
			for _, j := range jobs {
				require.GreaterOrEqual(t, j.Processors, 1)
				require.LessOrEqual(t, j.Processors, n)
				largest = max(largest, j.Processors)
				if j.Processors&(j.Processors-1) == 0 {
					powers++
				}
			}
			assert.Greater(t, float64(largest), .95*float64(n), "%d processors", n)
			assert.Greater(t, powers, len(jobs)*3/4, "%d processors", n)
		}
	}
}

func TestPublishedValuesMoveWithTheMachine(t *testing.T) {
	for _, n := range []int{16, 128, 1024} {
		l := math.Log2(float64(n))
		p := lublin.Typeless(n)
		assert.Equal(t, [3]float64{.8, l - 2.5, l}, [3]float64{p.ULow, p.UMed, p.UHi})
	}
	p := lublin.Batch(128)
	assert.Equal(t, [3]float64{1.2, 5, 7}, [3]float64{p.ULow, p.UMed, p.UHi})
	p = lublin.Interactive(256)
	assert.Equal(t, [3]float64{1, 4, 6.5}, [3]float64{p.ULow, p.UMed, p.UHi})
	p = lublin.Interactive(2)
	assert.Equal(t, [3]float64{}, [3]float64{p.ULow, p.UMed, p.UHi}, "ranges that would be below 0 are empty")
	assert.Equal(t, lublin.Typeless(128), lublin.Typeless(0))
}

func TestSubmitStaysAtTheLastSecond(t *testing.T) {
	p := lublin.Typeless(128)
	p.Gap, p.ARAR = lublin.Gamma{Shape: 1e4, Scale: 1e-3}, 1.25 // e^12.5 s, three days
	jobs := sample(t, lublin.Config{Typeless: p}, 1, 60_000)    // 500 years
	last := time.Duration(math.MaxInt64).Truncate(time.Second)
	for i, j := range jobs[1:] {
		require.LessOrEqual(t, jobs[i].Submit, j.Submit)
	}
	assert.Equal(t, last, jobs[len(jobs)-1].Submit)
}

func TestBadConfig(t *testing.T) {
	with := func(change func(*lublin.Parameters)) lublin.Config {
		p := lublin.Typeless(128)
		change(&p)
		return lublin.Config{Typeless: p}
	}
	nan, inf := math.NaN(), math.Inf(1)
	type P = lublin.Parameters
	for _, c := range []struct {
		name  string
		c     lublin.Config
		names string // the value in the message
	}{
		{"negative processors", lublin.Config{Processors: -1}, "-1 processors"},
		{"too many processors", lublin.Config{Processors: math.MaxInt32}, "2147483647 processors"},
		{"hour 24", lublin.Config{Start: 24}, "hour 24"},
		{"hour before midnight", lublin.Config{Start: -1}, "hour -1"},
		{"negative memory", lublin.Config{MedianMemory: -5}, "median -5"},
		{"99th percentile below the median", lublin.Config{MedianMemory: 100, P99Memory: 99}, "99 bytes"},
		{"default percentile below the median", lublin.Config{MedianMemory: 1 << 30}, "25165824 bytes"},
		{"utilisation above 1", lublin.Config{Utilisation: 1.5}, "utilisation 1.5"},
		{"utilisation not a number", lublin.Config{Utilisation: nan}, "utilisation NaN"},
		{"sizes above the machine", lublin.Config{Processors: 16, Typeless: lublin.Typeless(32)}, "UHi 5"},
		{"sizes of batch above the machine", lublin.Config{Processors: 16, Typed: true, Batch: lublin.Batch(32)}, "batch"},
		{"bad interactive class", lublin.Config{Typed: true, Interactive: P{Serial: -1}}, "Serial -1"},
		{"serial share not a number", with(func(p *P) { p.Serial = nan }), "Serial NaN"},
		{"shares above 1", with(func(p *P) { p.PowerOfTwo = .9 }), "PowerOfTwo 0.9"},
		{"probability above 1", with(func(p *P) { p.UProb = 1.1 }), "UProb 1.1"},
		{"ranges crossed", with(func(p *P) { p.UMed = .5 }), "UMed 0.5"},
		{"negative logarithm", with(func(p *P) { p.ULow = -.5 }), "ULow -0.5"},
		{"range not a number", with(func(p *P) { p.UMed = nan }), "UMed NaN"},
		{"slope infinite", with(func(p *P) { p.PA = inf }), "PA +Inf"},
		{"share of short runs not a number", with(func(p *P) { p.PB = nan }), "PB NaN"},
		{"ARAR zero", with(func(p *P) { p.ARAR = 0 }), "ARAR 0"},
		{"ARAR huge", with(func(p *P) { p.ARAR = 1e5 }), "shape 1.02303e+06"},
		{"shape zero", with(func(p *P) { p.Run1.Shape = 0 }), "shape 0"},
		{"shape not a number", with(func(p *P) { p.Run2.Shape = nan }), "shape NaN"},
		{"scale negative", with(func(p *P) { p.Gap.Scale = -2 }), "scale -2"},
		{"scale infinite", with(func(p *P) { p.Day.Scale = inf }), "scale +Inf"},
		{"runs always too long", with(func(p *P) { p.Run2.Scale = 1 }), "Run2 {312 1}"},
		{"short runs always too long", with(func(p *P) { p.Run1 = lublin.Gamma{Shape: 100, Scale: 1} }), "Run1 {100 1}"},
		{"gaps always too long", with(func(p *P) { p.ARAR = 10 }), "ARAR 10"},
		{"nobody comes by day", with(func(p *P) { p.Day.Scale = 100 }), "Day {8.1737 100}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			m, err := lublin.New(c.c, r)
			require.ErrorIs(t, err, lublin.ErrConfig)
			assert.ErrorContains(t, err, c.names)
			assert.Nil(t, m)
			assert.Equal(t, rand.New(rand.NewPCG(1, 2)), r, "nothing drawn")
		})
	}
}

// Every Config is refused or gives jobs within their bounds, soon.
func FuzzConfig(f *testing.F) {
	add := func(processors int, typed bool, start int, median, p99 int64, u float64, p lublin.Parameters) {
		f.Add(processors, typed, start, median, p99, u, p.Serial, p.PowerOfTwo, p.ULow, p.UMed, p.UHi, p.UProb,
			p.Run1.Shape, p.Run1.Scale, p.Run2.Shape, p.Run2.Scale, p.PA, p.PB,
			p.Gap.Shape, p.Gap.Scale, p.ARAR, p.Day.Shape, p.Day.Scale)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for seed := range 300 {
		n := 1 << r.IntN(11)
		p := []func(int) lublin.Parameters{lublin.Typeless, lublin.Batch, lublin.Interactive}[seed%3](n)
		odd := []float64{0, -1, math.NaN(), math.Inf(1), 1e300, 5e-324, 1e-3, 1e6, .5, 1e5, 20}
		for i, v := range []*float64{&p.Serial, &p.PowerOfTwo, &p.ULow, &p.UMed, &p.UHi, &p.UProb, &p.Run1.Shape,
			&p.Run1.Scale, &p.Run2.Shape, &p.Run2.Scale, &p.PA, &p.PB, &p.Gap.Shape, &p.Gap.Scale, &p.ARAR,
			&p.Day.Shape, &p.Day.Scale} {
			if i == seed%17 || r.IntN(20) == 0 {
				*v = odd[r.IntN(len(odd))]
			}
		}
		add(n, seed%2 == 0, r.IntN(24), int64(1)<<r.IntN(62), math.MaxInt64, r.Float64(), p)
	}
	add(128, false, 0, 0, 0, 0, lublin.Parameters{})
	add(128, true, 0, 1, math.MaxInt64, 0, lublin.Parameters{})
	f.Fuzz(func(t *testing.T, processors int, typed bool, start int, median, p99 int64, u,
		serial, power, low, med, hi, prob, a1, b1, a2, b2, pa, pb, aarr, barr, arar, anum, bnum float64) {
		p := lublin.Parameters{
			Serial: serial, PowerOfTwo: power, ULow: low, UMed: med, UHi: hi, UProb: prob,
			Run1: lublin.Gamma{Shape: a1, Scale: b1}, Run2: lublin.Gamma{Shape: a2, Scale: b2}, PA: pa, PB: pb,
			Gap: lublin.Gamma{Shape: aarr, Scale: barr}, ARAR: arar, Day: lublin.Gamma{Shape: anum, Scale: bnum},
		}
		m, err := lublin.New(lublin.Config{Processors: processors, Typed: typed, Typeless: p, Batch: p, Interactive: p,
			Start: start, MedianMemory: median, P99Memory: p99, Utilisation: u}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			require.ErrorIs(t, err, lublin.ErrConfig)
			return
		}
		if processors == 0 {
			processors = 128
		}
		var last time.Duration
		for range 100 {
			j := m.Next()
			require.True(t, j.Submit >= last && j.Submit%time.Second == 0, "%+v", j)
			require.True(t, j.Run >= time.Second && j.Run <= 162_754*time.Second && j.Run%time.Second == 0, "%+v", j)
			require.True(t, j.Processors >= 1 && j.Processors <= processors, "%+v", j)
			require.True(t, j.Memory > 0 && j.Utilisation > 0 && j.Utilisation <= 1, "%+v", j)
			require.True(t, typed || !j.Interactive, "%+v", j)
			last = j.Submit
		}
	})
}
