package paging_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

var models = []paging.Model{paging.TayZou, paging.None}

func TestTayZou(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		name             string
		demand, capacity int64
		want             float64
	}{
		{"no demand", 0, 1000, 1},
		{"half full", 500, 1000, 1},
		{"one byte below full", 999, 1000, 1},
		{"exactly full", 1000, 1000, 1},
		{"half too much", 1500, 1000, 2},
		{"one byte of one too much", 2, 1, math.Phi + 1}, // H = 3: the square of the golden ratio
		{"exactly full at the top", math.MaxInt64, math.MaxInt64, 1},
		{"no capacity, no demand", 0, 0, 1},
		{"no capacity, one byte demanded", 1, 0, inf},
		{"negative capacity, one byte demanded", 1, -1, inf},
		{"negative capacity, no demand", 0, -5, 1},
		{"least capacity, greatest demand", math.MaxInt64, math.MinInt64, inf},
		{"negative demand", -1, 1000, 1},
		{"negative demand above a negative capacity", -3, -5, 1},
		{"everything from one byte", math.MaxInt64, 1, 1 << 63},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, paging.TayZou(tt.demand, tt.capacity))
			assert.Equal(t, 1.0, paging.None(tt.demand, tt.capacity))
		})
	}
}

// exact evaluates Eq. (4) in its printed form to 300 bits.
func exact(demand, capacity int64) *big.Float {
	const prec = 300
	number := func(x int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(x) }
	h := number(1)
	h.Add(h, new(big.Float).SetPrec(prec).Quo(number(demand), number(capacity)))
	root := new(big.Float).SetPrec(prec).Mul(h, h)
	root.Sqrt(root.Sub(root, number(4)))
	return h.Quo(h.Add(h, root), number(2))
}

// TayZou and its growth f − 1 against the printed form in 300 bits, where memory
// is exceeded by one byte of petabytes up to everything.
func TestTayZouIsAccurate(t *testing.T) {
	check := func(demand, capacity int64) {
		f := paging.TayZou(demand, capacity)
		want, _ := exact(demand, capacity).Float64()
		require.InEpsilon(t, want, f, 4e-16, "f(%d, %d)", demand, capacity)
		growth := exact(demand, capacity)
		wantGrowth, _ := growth.Sub(growth, big.NewFloat(1)).Float64()
		// f itself is only given to half a unit in the last place of 1.
		require.InDelta(t, wantGrowth, f-1, math.Abs(wantGrowth)*4e-16+3e-16*f, "N(%d, %d)", demand, capacity)
	}
	for shift := range 62 {
		capacity := int64(1) << shift
		for _, over := range []int64{1, 2, 3, 7, 1000, capacity / 1000, capacity / 3, capacity} {
			if over > 0 {
				check(capacity+over, capacity)
				check(capacity+1+over, capacity+1)
			}
		}
		check(math.MaxInt64, capacity)
	}
	r := rand.New(rand.NewPCG(4, 0))
	for range 20_000 {
		capacity := 1 + r.Int64()>>r.IntN(63)
		check(capacity+max(1, min(r.Int64()>>r.IntN(63), math.MaxInt64-capacity)), capacity)
	}
}

// There is no jump at r = 1, only a vertical tangent: N ≈ √e for r = 1 + e.
func TestTayZouIsContinuousAtOne(t *testing.T) {
	for shift := 10; shift < 62; shift++ {
		capacity := int64(1) << shift
		f := paging.TayZou(capacity+1, capacity)
		e := 1 / float64(capacity)
		require.Greater(t, f, 1.0, "one byte too much of 2^%d is not free", shift)
		require.InDelta(t, math.Sqrt(e), f-1, e+3e-16)
		require.Equal(t, 1.0, paging.TayZou(capacity, capacity))
	}
}

// Near r = 1 and far from it, f is the larger root of f + 1/f = 1 + r.
func TestOversubscriptionIsTheInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for range 20_000 {
		capacity := 1 + r.Int64N(1<<50)
		demand := capacity + r.Int64N(1<<50)>>r.IntN(50)
		f := paging.TayZou(demand, capacity)
		ratio := float64(demand) / float64(capacity)
		require.InEpsilon(t, ratio, paging.Oversubscription(f), 1e-15, "f = %v", f)
		require.InEpsilon(t, f+1/f-1, paging.Oversubscription(f), 1e-15)
	}
	for f := 1.0; f < 50; f += 1.0 / 128 {
		// A demand and capacity with that ratio, exact enough at 2^40.
		demand := int64(math.Round(paging.Oversubscription(f) * (1 << 40)))
		require.InDelta(t, f, paging.TayZou(demand, 1<<40), 1e-9)
	}
}

func TestOversubscriptionBoundaries(t *testing.T) {
	for _, tt := range []struct {
		name         string
		factor, want float64
	}{
		{"no penalty", 1, 1},
		{"twice as long", 2, 1.5},
		{"below one", 0.5, 1},
		{"negative", -3, 1},
		{"minus infinity", math.Inf(-1), 1},
		{"infinite", math.Inf(1), math.Inf(1)},
		{"largest", math.MaxFloat64, math.MaxFloat64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, paging.Oversubscription(tt.factor))
		})
	}
	assert.True(t, math.IsNaN(paging.Oversubscription(math.NaN())))
}

// The contract of a Model: at least 1, no NaN, not falling in demand, not rising
// in capacity, and exactly 1 while demand ≤ capacity.
func FuzzModels(f *testing.F) {
	r := rand.New(rand.NewPCG(6, 0))
	number := func() int64 {
		n := r.Int64() >> r.IntN(64)
		if r.IntN(8) == 0 {
			n = -n
		}
		return n
	}
	for range 2000 {
		d, c := number(), number()
		f.Add(d, c, r.Int64()>>r.IntN(64))
		f.Add(c, c, int64(1))
	}
	f.Add(int64(math.MaxInt64), int64(math.MinInt64), int64(1))
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, demand, capacity, more int64) {
		for _, model := range models {
			factor := model(demand, capacity)
			require.True(t, factor >= 1, "%v", factor) // not NaN
			if demand <= capacity {
				require.Equal(t, 1.0, factor)
			}
			if more < 0 {
				continue
			}
			if demand <= math.MaxInt64-more {
				require.GreaterOrEqual(t, model(demand+more, capacity), factor)
			}
			if capacity <= math.MaxInt64-more {
				require.LessOrEqual(t, model(demand, capacity+more), factor)
			}
		}
	})
}

// Pages instead of bytes: the same penalty.
func TestTayZouHasNoUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	for range 1000 {
		demand, capacity := r.Int64N(1<<40), 1+r.Int64N(1<<40)
		require.Equal(t, paging.TayZou(demand, capacity), paging.TayZou(demand<<12, capacity<<12))
	}
}
