package paging

import "math"

// power returns v^y for 0 < v ≤ 1 and |y| ≤ 2, to a relative error below 2⁻⁴⁵.
//
// math.Pow has assembly for some platforms, and lets others fuse x·y + z. Here
// every product is rounded before it is added to, so that the bits are the same
// everywhere.
func power(v, y float64) float64 {
	// v = m · 2^e with m in [√½, √2). For s = (m − 1)/(m + 1),
	// ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …), and s² < 0.0295.
	m, e := math.Frexp(v)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	zz := float64(z * z)
	odd := 1. / 19
	odd = mulAdd(odd, zz, 1./15)
	odd = mulAdd(odd, zz, 1./11)
	odd = mulAdd(odd, zz, 1./7)
	odd = mulAdd(odd, zz, 1./3)
	even := 1. / 21
	even = mulAdd(even, zz, 1./17)
	even = mulAdd(even, zz, 1./13)
	even = mulAdd(even, zz, 1./9)
	even = mulAdd(even, zz, 1./5)
	even = mulAdd(even, zz, 1)
	log := mulAdd(float64(s*mulAdd(odd, z, even)), 2*math.Log2E, float64(e))

	// 2^t = 2^k · exp(x) with |x| ≤ ½ ln 2.
	t := float64(y * log)
	k := math.Floor(t + 0.5)
	x := float64((t - k) * math.Ln2)
	xx := float64(x * x)
	odd = 1. / 6227020800
	odd = mulAdd(odd, xx, 1./39916800)
	odd = mulAdd(odd, xx, 1./362880)
	odd = mulAdd(odd, xx, 1./5040)
	odd = mulAdd(odd, xx, 1./120)
	odd = mulAdd(odd, xx, 1./6)
	odd = mulAdd(odd, xx, 1)
	even = 1. / 479001600
	even = mulAdd(even, xx, 1./3628800)
	even = mulAdd(even, xx, 1./40320)
	even = mulAdd(even, xx, 1./720)
	even = mulAdd(even, xx, 1./24)
	even = mulAdd(even, xx, 1./2)
	even = mulAdd(even, xx, 1)
	return mulAdd(odd, x, even) * math.Float64frombits(uint64(1023+int(k))<<52)
}

// mulAdd returns x·y + z, rounded twice.
func mulAdd(x, y, z float64) float64 { return float64(x*y) + z }
