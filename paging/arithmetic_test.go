package paging

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The arithmetic of Progress against rational numbers, with amounts of work that
// would take a caller years to meet.
func FuzzArithmetic(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 0))
	for range 5000 {
		factor := math.Ldexp(1+r.Float64(), r.IntN(140))
		if r.IntN(4) == 0 {
			factor = math.Ldexp(1+r.Float64(), r.IntN(1024))
		}
		f.Add(r.Uint64()>>(1+r.IntN(64)), r.Uint64()>>r.IntN(64), factor)
		f.Add(uint64(0), 1+r.Uint64()>>r.IntN(64), factor)
	}
	for _, x := range []uint64{0, 1, 1<<63 - 1} {
		for _, factor := range []float64{1, math.Nextafter(1, 2), math.Nextafter(2, 1), 2, 1 << 52, 1 << 53, 1 << 54, 1 << 63, 1 << 64, math.MaxFloat64} {
			f.Add(x, uint64(0), factor)
			f.Add(x, uint64(math.MaxUint64), factor)
		}
	}
	f.Fuzz(func(t *testing.T, high, low uint64, factor float64) {
		if high >= 1<<63 || !valid(factor) {
			t.Skip()
		}
		mantissa, shift := split(factor)
		exact := new(big.Rat).SetFloat64(factor)
		word := new(big.Int).Lsh(big.NewInt(1), 64)

		// floor(2⁶⁴ · high / factor)
		integer, fraction := scaleDown(high, mantissa, shift)
		got := new(big.Int).SetUint64(integer)
		got.Add(got.Mul(got, word), new(big.Int).SetUint64(fraction))
		want := new(big.Rat).SetInt(new(big.Int).Mul(new(big.Int).SetUint64(high), word))
		want.Quo(want, exact)
		require.Zero(t, got.Cmp(new(big.Int).Div(want.Num(), want.Denom())), "%d / %v", high, factor)

		// ceil((high + 2⁻⁶⁴ · low) · factor)
		if high|low == 0 {
			return
		}
		sum := new(big.Int).SetUint64(high)
		sum.Add(sum.Mul(sum, word), new(big.Int).SetUint64(low))
		product := new(big.Rat).Mul(new(big.Rat).SetFrac(sum, word), exact)
		ceil := new(big.Int).Neg(product.Num())
		ceil.Neg(ceil.Div(ceil, product.Denom()))
		q, ok := scaleUp(high, low, mantissa, shift)
		if !ok {
			require.False(t, product.Cmp(big.NewRat(math.MaxInt64, 1)) <= 0, "%d:%d · %v", high, low, factor)
			return
		}
		require.Zero(t, new(big.Int).SetUint64(q).Cmp(ceil), "%d:%d · %v", high, low, factor)
	})
}
