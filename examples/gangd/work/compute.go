package work

import (
	"slices"
	"sync/atomic"
	"time"
)

// sink keeps the compiler from leaving computation out.
var sink atomic.Uint64

// compute does a number of steps.
func compute(steps int64) {
	x := uint64(steps)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// Steps returns how many steps take so much processor time. It takes the fastest of
// several measurements: all others were disturbed.
func Steps(d time.Duration) int64 {
	const steps = 200_000
	var times []time.Duration
	for range 15 {
		began := time.Now()
		compute(steps)
		times = append(times, time.Since(began))
	}
	return int64(float64(d) / float64(max(slices.Min(times), 1)) * steps)
}
