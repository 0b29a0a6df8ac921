package paging_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func TestOversize(t *testing.T) {
	for _, tt := range []struct {
		name             string
		demand, capacity int64
		want             float64
	}{
		{"exactly full", 1000, 1000, 0},
		{"one byte too much", 1001, 1000, 0.001},
		{"one byte free", 999, 1000, -0.001},
		{"twice too much", 2000, 1000, 1},
		{"no demand", 0, 1000, -1},
		{"no demand, no capacity", 0, 0, -1},
		{"negative demand", -7, 1000, -1},
		{"no capacity", 1, 0, math.Inf(1)},
		{"negative capacity", 1, -1, math.Inf(1)},
		{"least capacity, greatest demand", math.MaxInt64, math.MinInt64, math.Inf(1)},
		{"everything from one byte", math.MaxInt64, 1, 1 << 63},
		{"full at the top", math.MaxInt64, math.MaxInt64, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, paging.Oversize(tt.demand, tt.capacity)) })
	}
}

func TestRatesAtTheirBounds(t *testing.T) {
	f := paging.ChenXiaoZhang()
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name       string
		q, n, want float64
	}{
		{"empty machine", -1, 0, 0},
		{"exactly full", 0, 0, 0},
		{"nothing there at all", math.Inf(-1), 0, 0},
		{"no memory", inf, 0, 120},
		{"few reads and writes take nothing off", inf, 13, 120},
		{"reads and writes alone", -1, 5000, -174.98 + 305},
		{"both", inf, 5000, 120 - 174.98 + 305},
		{"fewer than no reads and writes", 0, -1e300, 0},
		{"no end of reads and writes", 0, inf, inf},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.InDelta(t, tt.want, f.Rate(tt.q, tt.n), 1e-12) })
	}
	assert.True(t, math.IsNaN(f.Rate(nan, 0)))
	assert.True(t, math.IsNaN(f.Rate(0, nan)))
	assert.True(t, math.IsNaN(f.Printed(nan, 0)))
	assert.Equal(t, 120.0, paging.MemoryRate{Max: 120, Alpha: 4, Gamma: 1, Delta: 1}.Rate(inf), "β = 0")
}

func TestRatesNeverFall(t *testing.T) {
	r := rand.New(rand.NewPCG(50, 0))
	for range 300 {
		f := paging.FaultRate{
			Memory: paging.MemoryRate{Max: 200 * r.Float64(), Alpha: 0.1 + 9*r.Float64(), Beta: r.Float64(), Gamma: r.Float64(), Delta: 0.001 + r.Float64()},
			IO:     paging.Line{Intercept: 400*r.Float64() - 200, Slope: r.Float64()},
		}
		if r.IntN(4) == 0 {
			f.Memory.Beta = 0
		}
		q, n, last := -1.0, 0.0, 0.0
		for range 100 {
			rate := f.Rate(q, n)
			require.GreaterOrEqual(t, rate, last-1e-12, "%+v at %v, %v", f, q, n)
			if q > 0 {
				require.GreaterOrEqual(t, rate, f.Printed(q, n)-1e-12, "what the parts are kept from is not in the sum")
			}
			last = rate
			q, n = q+0.1*r.Float64(), n+100*r.Float64()
		}
		require.LessOrEqual(t, f.Memory.Rate(q), f.Memory.Max)
	}
}

func TestLost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rate  float64
		fault time.Duration
		want  float64
	}{
		{"no faults", 0, paging.FaultTime, 0},
		{"half of the time", 50, paging.FaultTime, 0.5},
		{"as many as there is time for", 100, paging.FaultTime, 1},
		{"more than there is time for", 120, paging.FaultTime, 1},
		{"no end", math.Inf(1), paging.FaultTime, 1},
		{"negative", -3, paging.FaultTime, 0},
		{"a faster disk", 120, time.Millisecond, 0.12},
		{"negative time", 50, -time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.InDelta(t, tt.want, paging.Lost(tt.rate, tt.fault), 1e-15) })
	}
	assert.True(t, math.IsNaN(paging.Lost(math.NaN(), time.Second)))
}
