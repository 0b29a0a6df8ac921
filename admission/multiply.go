package admission

import (
	"math"
	"math/bits"
	"strconv"
)

// multiply returns floor(x·c) for x ≥ 0 and c ≥ 0, at most the largest int64,
// and whether nothing was rounded off. c is taken as the shortest decimal that
// denotes it, which is how it was written: in binary 0.29 is a little less, and
// floor(100 · 0.29) would be 28. It does not allocate.
func multiply(x int64, c float64) (product int64, exact bool) {
	if x == 0 || c == 0 {
		return 0, true
	}
	if math.IsInf(c, 1) {
		return math.MaxInt64, false
	}

	// c = digits · 10^exponent, where digits has at most 17 of them.
	var buffer [32]byte
	digits, exponent, decimals := uint64(0), 0, 0
	point := false
	text := strconv.AppendFloat(buffer[:0], c, 'e', -1, 64) // d.ddde±dd
	for i, b := range text {
		if b == 'e' {
			for _, b := range text[i+2:] {
				exponent = 10*exponent + int(b-'0')
			}
			if text[i+1] == '-' {
				exponent = -exponent
			}
			break
		}
		if b == '.' {
			point = true
			continue
		}
		digits = 10*digits + uint64(b-'0')
		if point {
			decimals++
		}
	}
	exponent -= decimals

	high, low := bits.Mul64(uint64(x), digits)
	exact = true
	for ; exponent < 0 && high|low != 0; exponent++ {
		var rest uint64
		low, rest = bits.Div64(high%10, low, 10)
		high /= 10
		exact = exact && rest == 0
	}
	for ; exponent > 0; exponent-- {
		if high != 0 || low > math.MaxInt64/10 {
			return math.MaxInt64, false
		}
		low *= 10
	}
	if high != 0 || low > math.MaxInt64 {
		return math.MaxInt64, false
	}
	return int64(low), exact
}
