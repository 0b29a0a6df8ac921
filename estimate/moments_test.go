package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// One pass in integers of bytes against gonum's two passes, where the naive sum of
// squares would have no digit left.
func TestMomentsAgainstGonum(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(2000)
		offset, spread := int64(1)<<r.IntN(48), int64(1)<<r.IntN(20)
		values := make([]float64, n)
		var whole moments
		parts := make([]moments, 1+r.IntN(5))
		for i := range values {
			x := min(offset+r.Int64N(spread), MaxMemory)
			values[i] = float64(x)
			whole.add(x)
			parts[r.IntN(len(parts))].add(x)
		}
		mean, variance := stat.PopMeanVariance(values, nil)
		check := func(m moments, what string) {
			what = fmt.Sprintf("seed %d, %d values of %d + %d, %s", seed, n, offset, spread, what)
			require.Equal(t, uint32(n), m.count, what)
			require.InEpsilon(t, mean, m.mean, 1e-14, what)
			require.InDelta(t, math.Sqrt(variance), m.deviation(), 1e-9*math.Sqrt(variance)+1e-15*mean, what)
		}
		check(whole, "in one")
		var merged moments
		for _, p := range parts {
			merged = merge(merged, p)
		}
		check(merged, "merged")
		assert.Equal(t, whole.max, merged.max)
		require.GreaterOrEqual(t, float64(whole.max), whole.mean)
	}
}

func TestMomentsOfEqualValuesAreExact(t *testing.T) {
	for _, x := range []int64{0, 1, 3, MaxMemory, 123456789012345} {
		var a, b moments
		for range 1000 {
			a.add(x)
			b = merge(b, a)
			require.Equal(t, float64(x), a.mean)
			require.Equal(t, float64(x), b.mean)
			require.Zero(t, a.squares+b.squares)
			b.count = min(b.count, 1<<20)
		}
	}
}

func TestMomentsOfNothing(t *testing.T) {
	var a moments
	a.add(5)
	assert.Equal(t, a, merge(a, moments{}))
	assert.Equal(t, a, merge(moments{}, a))
	assert.Equal(t, moments{}, merge(moments{}, moments{}))
}

// A count that is full stays, and the mean with it.
func TestMomentsSaturate(t *testing.T) {
	m := moments{count: maxCount - 1, mean: 10, max: 10}
	m.add(20)
	assert.Equal(t, uint32(maxCount), m.count)
	full := m
	m.add(30)
	full.max = 30
	assert.Equal(t, full, m)
	both := merge(m, m)
	assert.Equal(t, uint32(2*maxCount), both.count)
	assert.Positive(t, int(int32(both.count)))
	assert.InDelta(t, m.mean, both.mean, 1e-9)
}
