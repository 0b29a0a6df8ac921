package paging

import (
	"math"
	"math/bits"
)

// Where shift is negative, for factors of 2⁵³ and more, words are shifted by
// unsigned amounts: 64 or more gives 0, and n−64 and 64−n wrap to such an amount
// where they would be negative.

// split returns a normal f as mantissa · 2^−shift, 2⁵² ≤ mantissa < 2⁵³.
// For 1 ≤ f ≤ MaxFloat64, shift is in [−971, 52].
func split(f float64) (mantissa uint64, shift int) {
	const one = 1 << 52
	b := math.Float64bits(f)
	return b&(one-1) | one, 52 + 1023 - int(b>>52)
}

// scaleDown returns x / (mantissa · 2^−shift) for x < 2⁶³ and a factor ≥ 1,
// rounded down to a multiple of 2⁻⁶⁴: the integer part and the fraction.
func scaleDown(x, mantissa uint64, shift int) (integer, fraction uint64) {
	if shift >= 0 {
		// x·2^shift < 2¹¹⁵, so its upper half is less than mantissa.
		var rest uint64
		integer, rest = bits.Div64(x>>(64-shift), x<<shift, mantissa)
		fraction, _ = bits.Div64(rest, 0, mantissa)
		return integer, fraction
	}
	// The mantissa is 2⁵² or more, and a floor of a floor is the floor.
	integer, rest := x/mantissa, x%mantissa
	fraction, _ = bits.Div64(rest, 0, mantissa)
	n := uint(-shift)
	return integer >> n, fraction>>n | integer<<(64-n) | integer>>(n-64)
}

// scaleUp returns (high·2⁶⁴ + low) · 2⁻⁶⁴ · mantissa · 2^−shift, rounded up to
// an integer, for a positive number with high < 2⁶³; !ok if that is 2⁶³ or more.
func scaleUp(high, low, mantissa uint64, shift int) (q uint64, ok bool) {
	// The product in three words.
	c, rest := bits.Mul64(low, mantissa)
	a, b := bits.Mul64(high, mantissa)
	b, carry := bits.Add64(b, c, 0)
	a += carry

	if shift >= 0 {
		if a>>shift != 0 {
			return 0, false
		}
		q = a<<(64-shift) | b>>shift
		rest |= b << (64 - shift)
	} else {
		// a·2¹²⁸ + b·2⁶⁴ + rest, to be shifted to the left by n.
		n := uint(-shift)
		length := bits.Len64(rest)
		if b != 0 {
			length = 64 + bits.Len64(b)
		}
		if a != 0 || uint(length)+n > 127 {
			return 0, false
		}
		q = b<<n | rest>>(64-n) | rest<<(n-64)
		rest <<= n
	}
	if q >= 1<<63 {
		return 0, false
	}
	if rest != 0 {
		q++
	}
	return q, true
}
