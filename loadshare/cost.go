package loadshare

import (
	"math"
	"math/bits"
	"time"
)

// Network is what moves jobs. The paper has r = 0.1 s and 0.05 s for Ethernets of
// 10 and 100 Mbps.
type Network struct {
	Latency       time.Duration // r: the cost of any remote execution
	BitsPerSecond int64         // B
}

// Migration returns how long it takes to move a job whose working set is so many
// bytes, r + D/B, rounded up to nanoseconds and at most the largest Duration, which
// is also the cost over a network without bandwidth. Cost O(1). Calls may run
// concurrently.
func (n Network) Migration(workingSet int64) time.Duration {
	if n.BitsPerSecond <= 0 {
		return math.MaxInt64
	}
	const perByte = 8 * uint64(time.Second) // bits of a byte, in nanoseconds at 1 bit/s
	b := uint64(n.BitsPerSecond)
	hi, lo := bits.Mul64(uint64(max(0, workingSet)), perByte)
	lo, carry := bits.Add64(lo, b-1, 0)
	if hi += carry; hi >= b {
		return math.MaxInt64
	}
	latency := max(0, n.Latency)
	if q, _ := bits.Div64(hi, lo, b); q <= uint64(math.MaxInt64-latency) {
		return latency + time.Duration(q)
	}
	return math.MaxInt64
}

// Worthwhile tells by the criterion of Harchol-Balter and Downey whether a job of
// this age is expected to gain more than its migration costs: with here jobs on its
// machine and there on the other, itself included in both, it runs here/there times
// as fast afterwards, and goes on for about as long as it is old:
//
//	age > cost / (here − there)
//
// It never is where it would share the machine with as many. Cost O(1). Calls may
// run concurrently.
func Worthwhile(age, cost time.Duration, here, there int) bool {
	gain := int64(max(0, here)) - int64(max(0, there))
	if gain <= 0 || age <= 0 {
		return false
	}
	hi, lo := bits.Mul64(uint64(age), uint64(gain))
	return hi > 0 || lo > uint64(max(0, cost))
}
