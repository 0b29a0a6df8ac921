package paging

import "math"

// A Model tells how much longer running jobs take when together they demand
// demand bytes of a memory with capacity bytes: the factor f by which time at
// full speed has to be multiplied, 1 for no penalty.
//
// A Model must be a pure function and never answer less than 1 or NaN. It
// should not fall when demand grows, nor rise when capacity does.
type Model func(demand, capacity int64) float64

// TayZou is the [Model] of Wang et al., Eq. (4), after Tay and Zou:
//
//	f = 1 + N = ½ (H + √(H² − 4))     H = 1 + demand/capacity
//
// It is exactly 1 as long as demand ≤ capacity or demand ≤ 0, and +Inf if there
// is a demand but no capacity (zero or negative); it is never NaN. It does not
// fall in demand and does not rise in capacity, and is exact to a few units in
// the last place for all arguments, also where demand exceeds capacity by one
// byte. Cost O(1). Calls may run concurrently.
func TayZou(demand, capacity int64) float64 {
	switch {
	case demand <= 0 || demand <= capacity:
		return 1
	case capacity <= 0:
		return math.Inf(1)
	}
	// H − 2 = e, the share in excess, is taken from the integers. As
	// H² − 4 = (H − 2)(H + 2) = e (e + 4), nothing cancels near H = 2.
	e := float64(demand-capacity) / float64(capacity)
	return 1 + float64(0.5*(e+math.Sqrt(float64(e*(e+4)))))
}

// None is the [Model] without a penalty: always 1.
func None(demand, capacity int64) float64 { return 1 }

// Oversubscription is the inverse of [TayZou]: the ratio of demand to capacity
// at which everything takes factor times as long,
//
//	M*/M = f + 1/f − 1
//
// For a bound on the penalty it tells how far the limit may be relaxed: a
// factor of at most 2 allows a demand of 1.5 times the capacity, which is
// C = 0.5 in Eq. (2). It is 1 for factors of 1 and less, where TayZou has no
// inverse, +Inf for +Inf and NaN for NaN. Cost O(1). Calls may run
// concurrently.
func Oversubscription(factor float64) float64 {
	if factor <= 1 {
		return 1
	}
	if math.IsInf(factor, 1) {
		return factor
	}
	// f + 1/f − 2 = (f−1)²/f, without the cancellation near f = 1.
	return 1 + float64((factor-1)/factor*(factor-1))
}
