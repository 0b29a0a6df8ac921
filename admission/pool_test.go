package admission_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

func newPool(t testing.TB, processors int, memory int64, excess float64) admission.Pool {
	pool, err := admission.NewPool(admission.PoolConfig{Processors: processors, Memory: memory, Excess: excess})
	require.NoError(t, err)
	return pool
}

func TestFits(t *testing.T) {
	type usage = admission.Usage
	type decision = admission.Decision
	const (
		most      = math.MaxInt64
		least     = math.MinInt64
		mostPEs   = math.MaxInt
		leastPEs  = math.MinInt
		unlimited = 0x1p1000
	)
	yes := decision{Admit: true}
	wait := func(processors int, memory int64) decision { return decision{Short: usage{processors, memory}} }
	never := func(processors int, memory int64) decision {
		return decision{Never: true, Short: usage{processors, memory}}
	}
	for _, tt := range []struct {
		name            string
		excess          float64
		used, need      usage
		strict, relaxed decision
	}{ // 10 processors, 1000 bytes
		{"empty pool, small job", 0.5, usage{}, usage{1, 1}, yes, yes},
		{"empty pool, all of it", 0.5, usage{}, usage{10, 1000}, yes, yes},
		{"exactly full", 0.5, usage{3, 400}, usage{7, 600}, yes, yes},
		{"one byte over", 0.5, usage{3, 400}, usage{7, 601}, wait(0, 1), yes},
		{"one processor over", 0.5, usage{3, 400}, usage{8, 600}, wait(1, 0), wait(1, 0)},
		{"both short", 0, usage{10, 1000}, usage{3, 40}, wait(3, 40), wait(3, 40)},
		{"exactly full when relaxed", 0.5, usage{3, 1000}, usage{7, 500}, wait(0, 500), yes},
		{"one byte over when relaxed", 0.5, usage{3, 1000}, usage{7, 501}, wait(0, 501), wait(0, 1)},
		{"without excess, relaxed is strict", 0, usage{3, 400}, usage{7, 601}, wait(0, 1), wait(0, 1)},
		{"an excess beyond all numbers", unlimited, usage{3, 400}, usage{7, most - 400}, wait(0, most-1000), yes},
		{"an infinite excess", math.Inf(1), usage{3, 400}, usage{7, most - 400}, wait(0, most-1000), yes},

		{"bigger than the memory, waits to be relaxed", 0.5, usage{}, usage{1, 1500}, wait(0, 500), yes},
		{"bigger than the relaxed memory", 0.5, usage{}, usage{1, 1501}, never(0, 501), never(0, 1)},
		{"bigger than the strict memory", 0, usage{}, usage{1, 1001}, never(0, 1), never(0, 1)},
		{"bigger than the strict memory, pool busy", 0, usage{10, 600}, usage{1, 1001}, never(1, 601), never(1, 601)},
		{"more processors than the pool", 0.5, usage{}, usage{11, 1}, never(1, 0), never(1, 0)},

		{"zero memory known for all jobs", 0, usage{9, 0}, usage{1, 0}, yes, yes},
		{"zero memory in a full pool", 0, usage{9, 1000}, usage{1, 0}, yes, yes},
		{"zero memory above the strict limit", 0.5, usage{9, 1200}, usage{1, 0}, wait(0, 200), yes},
		{"nothing needed", 0, usage{10, 1000}, usage{}, yes, yes},
		{"more used than there is", 0, usage{12, 1300}, usage{1, 1}, wait(3, 301), wait(3, 301)},

		{"unknown memory given as minus one", 0.5, usage{}, usage{1, -1}, never(0, 0), never(0, 0)},
		{"negative processors", 0.5, usage{}, usage{-1, 1}, never(0, 0), never(0, 0)},
		{"negative usage gives nothing away", 0, usage{-5, -500}, usage{10, 1000}, yes, yes},
		{"negative usage, one byte over", 0.5, usage{-5, -500}, usage{10, 1001}, wait(0, 1), yes},
		{"least of everything used", 0, usage{leastPEs, least}, usage{11, 1001}, never(1, 1), never(1, 1)},
		{"most of everything", 0, usage{mostPEs, most}, usage{mostPEs, most}, never(mostPEs, most), never(mostPEs, most)},
		{"least of everything needed", 0, usage{10, 1000}, usage{leastPEs, least}, never(0, 0), never(0, 0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pool := newPool(t, 10, 1000, tt.excess)
			assert.Equal(t, tt.strict, pool.Fits(tt.used, tt.need, false), "strict")
			assert.Equal(t, tt.relaxed, pool.Fits(tt.used, tt.need, true), "relaxed")
		})
	}
}

func TestZeroPoolHasNothing(t *testing.T) {
	var pool admission.Pool
	assert.Zero(t, pool.Limit(true))
	assert.True(t, pool.Fits(admission.Usage{}, admission.Usage{Processors: 1}, true).Never)
	assert.True(t, pool.Fits(admission.Usage{}, admission.Usage{Memory: 1}, true).Never)
}

func TestNewPoolRefusesBadInput(t *testing.T) {
	for _, tt := range []struct {
		config admission.PoolConfig
		want   string
	}{
		{admission.PoolConfig{}, "0 processors"},
		{admission.PoolConfig{Processors: -3, Memory: 1}, "-3 processors"},
		{admission.PoolConfig{Processors: 1, Memory: -7}, "-7 bytes of memory"},
		{admission.PoolConfig{Processors: 1, Memory: math.MinInt64}, "-9223372036854775808 bytes of memory"},
		{admission.PoolConfig{Processors: 1, Excess: -0.5}, "excess -0.5"},
		{admission.PoolConfig{Processors: 1, Excess: math.NaN()}, "excess NaN"},
		{admission.PoolConfig{Processors: 1, Excess: math.Inf(-1)}, "excess -Inf"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			pool, err := admission.NewPool(tt.config)
			require.ErrorIs(t, err, admission.ErrPool)
			assert.EqualError(t, err, tt.want+": admission: invalid pool")
			assert.Zero(t, pool)
		})
	}
}

// decimalLimit is floor(M·(1 + C)) in rational numbers, for C written as text.
func decimalLimit(t testing.TB, memory int64, excess string) int64 {
	c, ok := new(big.Rat).SetString(excess)
	require.True(t, ok, excess)
	limit := c.Mul(c.Add(c, big.NewRat(1, 1)), new(big.Rat).SetInt64(memory))
	floor := new(big.Int).Div(limit.Num(), limit.Denom())
	if !floor.IsInt64() {
		return math.MaxInt64
	}
	return floor.Int64()
}

var memories = []int64{
	0, 1, 3, 7, 10, 99, 100, 101, 1000, 1e6, 1e9, 1e12, 999_999_937, 1<<31 - 1, 1 << 31,
	1 << 30, 3 << 29, 2 << 30, 4 << 30, 64 << 30, 1 << 40, 1<<40 + 1, 1<<50 - 1, 1<<53 + 1, 1e17 + 3,
	1 << 61, 1 << 62, math.MaxInt64 / 3, math.MaxInt64 - 1, math.MaxInt64,
}

// C as it is written in an experiment, in steps of one per cent.
func TestLimitIsDecimal(t *testing.T) {
	for percent := range 201 {
		text := fmt.Sprintf("%d.%02d", percent/100, percent%100)
		excess, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		for _, memory := range memories {
			pool := newPool(t, 1, memory, excess)
			require.Equal(t, decimalLimit(t, memory, text), pool.Limit(true), "%d · (1 + %s)", memory, text)
			require.Equal(t, memory, pool.Limit(false))
		}
	}
	// Where float64 goes wrong: 0.29 · 100 is 28.999999999999996, and
	// 1.1 · 10 is 11.000000000000002.
	assert.EqualValues(t, 129, newPool(t, 1, 100, 0.29).Limit(true))
	assert.EqualValues(t, 1100, newPool(t, 1, 1000, 0.1).Limit(true))
	// Computed in a loop rather than written, it is another number.
	assert.EqualValues(t, 1299, newPool(t, 1, 1000, math.Nextafter(0.3, 0)).Limit(true))
}

func FuzzLimitIsDecimal(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 3000 {
		f.Add(r.Int64()>>r.IntN(63), math.Float64bits(float64(r.IntN(1000))/math.Pow10(r.IntN(6))))
		f.Add(r.Int64()>>r.IntN(63), math.Float64bits(r.ExpFloat64()))
		f.Add(r.Int64()>>r.IntN(63), r.Uint64()>>1)
		f.Add(r.Int64()>>r.IntN(63), math.Float64bits(math.Ldexp(1+r.Float64(), r.IntN(160)-100)))
	}
	for _, c := range []float64{0, math.SmallestNonzeroFloat64, math.MaxFloat64, 1e22, 1e21, 1e19, 1e18, 1e-7, 1 << 63} {
		for _, memory := range memories {
			f.Add(memory, math.Float64bits(c))
		}
	}
	f.Fuzz(func(t *testing.T, memory int64, bits uint64) {
		c := math.Float64frombits(bits)
		if memory < 0 || !(c >= 0) || math.IsInf(c, 0) {
			return // not an input
		}
		want := decimalLimit(t, memory, strconv.FormatFloat(c, 'e', -1, 64))
		require.Equal(t, want, newPool(t, 1, memory, c).Limit(true), "%d · (1 + %v)", memory, c)
	})
}

func TestInfiniteExcessIsNoLimit(t *testing.T) {
	for _, memory := range memories {
		pool := newPool(t, 1, memory, math.Inf(1))
		assert.Equal(t, int64(math.MaxInt64), pool.Limit(true))
		assert.Equal(t, memory, pool.Limit(false))
	}
}

// fits is the twin of Fits: Eqs. (1) and (2) with numbers that cannot overflow.
func fits(c admission.PoolConfig, used, need admission.Usage, relaxed bool) bool {
	number := func(x int64) *big.Int { return big.NewInt(x) }
	if need.Processors < 0 || need.Memory < 0 {
		return false
	}
	limit := number(c.Memory)
	if relaxed {
		excess, _ := new(big.Rat).SetString(strconv.FormatFloat(c.Excess, 'g', -1, 64))
		excess.Mul(excess, new(big.Rat).SetInt(limit))
		limit.Add(limit, new(big.Int).Div(excess.Num(), excess.Denom()))
		if !limit.IsInt64() {
			limit = number(math.MaxInt64)
		}
	}
	processors := new(big.Int).Sub(number(int64(c.Processors)), number(int64(max(0, used.Processors))))
	memory := limit.Sub(limit, number(max(0, used.Memory)))
	return number(int64(need.Processors)).Cmp(processors) <= 0 && number(need.Memory).Cmp(memory) <= 0
}

func randomCase(r *rand.Rand) (c admission.PoolConfig, used, need admission.Usage) {
	scale := int64(1) << r.IntN(62)
	amount := func() int64 { return r.Int64N(scale) }
	if r.IntN(4) == 0 {
		amount = func() int64 { return r.Int64N(4) }
	}
	c = admission.PoolConfig{Processors: 1 + r.IntN(20), Memory: amount(), Excess: float64(r.IntN(200)) / 100}
	used = admission.Usage{Processors: r.IntN(15), Memory: amount()}
	need = admission.Usage{Processors: r.IntN(15), Memory: amount()}
	if r.IntN(20) == 0 {
		used.Memory, need.Memory = r.Int64()-r.Int64(), r.Int64()-r.Int64()
		used.Processors, need.Processors = r.Int()-r.Int(), r.Int()-r.Int()
	}
	return c, used, need
}

// What holds for every pool and job; the relations are metamorphic.
func FuzzFits(f *testing.F) {
	for seed := range uint64(5000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		c, used, need := randomCase(r)
		pool, err := admission.NewPool(c)
		require.NoError(t, err)
		for _, relaxed := range []bool{false, true} {
			d := pool.Fits(used, need, relaxed)
			require.Equal(t, fits(c, used, need, relaxed), d.Admit)

			// Never is what the empty, relaxed pool says.
			require.Equal(t, !pool.Fits(admission.Usage{}, need, true).Admit, d.Never)

			if d.Admit {
				require.Zero(t, d.Short)
			} else if !d.Never {
				// Short is enough if it can be given back, and no less is.
				require.NotZero(t, d.Short)
				less := admission.Usage{Processors: max(0, used.Processors) - d.Short.Processors, Memory: max(0, used.Memory) - d.Short.Memory}
				enough := less.Processors >= 0 && less.Memory >= 0
				require.Equal(t, enough, pool.Fits(less, need, relaxed).Admit)
				require.Equal(t, enough, pool.Fits(admission.Usage{}, need, relaxed).Admit)
				if d.Short.Memory > 0 {
					less.Memory++
					require.False(t, enough && pool.Fits(less, need, relaxed).Admit)
					less.Memory--
				}
				if d.Short.Processors > 0 {
					less.Processors++
					require.False(t, enough && pool.Fits(less, need, relaxed).Admit)
				}
			}
			if !d.Admit {
				continue
			}
			// Whatever helps never turns an admitted job away.
			more := c
			more.Memory += min(r.Int64()>>r.IntN(63), math.MaxInt64-c.Memory)
			require.True(t, newPool(t, more.Processors, more.Memory, more.Excess).Fits(used, need, relaxed).Admit, "more memory")
			more = c
			more.Processors++
			require.True(t, newPool(t, more.Processors, more.Memory, more.Excess).Fits(used, need, relaxed).Admit, "more processors")
			more = c
			more.Excess += r.ExpFloat64()
			require.True(t, newPool(t, more.Processors, more.Memory, more.Excess).Fits(used, need, relaxed).Admit, "a larger C")
			require.True(t, pool.Fits(used, need, true).Admit, "relaxed")
			require.True(t, pool.Fits(admission.Usage{}, need, relaxed).Admit, "an empty pool")
			require.True(t, pool.Fits(used, admission.Usage{}, relaxed).Admit, "a smaller job")
		}
	})
}

// Jobs come and go as admitted: usage never exceeds the limit that the admitted
// job was under, and no job was refused that would have stayed below it.
func FuzzAdmittedJobsStayBelowTheLimit(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := admission.PoolConfig{Processors: 1 + r.IntN(64), Memory: r.Int64N(1 << 40), Excess: float64(r.IntN(100)) / 100}
		pool, err := admission.NewPool(c)
		require.NoError(t, err)
		var running []admission.Usage
		var used admission.Usage
		for range 200 {
			if len(running) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(running))
				used.Processors -= running[i].Processors
				used.Memory -= running[i].Memory
				running = append(running[:i], running[i+1:]...)
				continue
			}
			need := admission.Usage{Processors: 1 + r.IntN(c.Processors), Memory: r.Int64N(c.Memory + 1)}
			relaxed := r.IntN(2) == 0
			after := admission.Usage{Processors: used.Processors + need.Processors, Memory: used.Memory + need.Memory}
			below := after.Processors <= c.Processors && after.Memory <= pool.Limit(relaxed)
			require.Equal(t, below, pool.Fits(used, need, relaxed).Admit)
			if below {
				used = after
				running = append(running, need)
			}
			require.LessOrEqual(t, used.Memory, pool.Limit(true))
		}
	})
}

// Pages instead of bytes: the same answer, where the limit is a whole page.
func TestFitsHasNoUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for range 2000 {
		memory, used, need := 4*r.Int64N(1<<20), r.Int64N(1<<21), r.Int64N(1<<21)
		relaxed := r.IntN(2) == 0
		pages := newPool(t, 8, memory, 0.25).Fits(admission.Usage{Memory: used}, admission.Usage{Memory: need}, relaxed)
		bytes := newPool(t, 8, memory<<12, 0.25).Fits(admission.Usage{Memory: used << 12}, admission.Usage{Memory: need << 12}, relaxed)
		pages.Short.Memory <<= 12
		require.Equal(t, pages, bytes)
	}
}

func TestAdmissionDoesNotAllocate(t *testing.T) {
	pool := newPool(t, 128, 1<<30, 0.26)
	used, need := admission.Usage{Processors: 100, Memory: 1 << 30}, admission.Usage{Processors: 10, Memory: 1 << 28}
	yes, no := 0, 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, relaxed := range []bool{false, true} {
			if pool.Fits(used, need, relaxed).Admit {
				yes++
			} else {
				no++
			}
		}
		if _, err := admission.Threshold(12345, 67890, 0.29); err != nil {
			yes = 0
		}
		if _, err := admission.NewPool(admission.PoolConfig{Processors: 1, Memory: 1 << 30, Excess: 0.29}); err != nil {
			yes = 0
		}
	}))
	require.Positive(t, yes)
	require.Positive(t, no)
}
