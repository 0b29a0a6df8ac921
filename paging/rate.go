package paging

import (
	"math"
	"time"
)

// FaultTime is how long a page fault takes on the machines of Chen et al.: their
// disk serves 100 a second.
const FaultTime = 10 * time.Millisecond

// Oversize returns by what share of its capacity a memory is exceeded, in bytes:
//
//	Q = (demand − capacity) / capacity
//
// It is 0.05, not 5, where five per cent are missing, negative while there is
// room, −1 without demand, and +Inf if there is a demand but no capacity (zero or
// negative). Cost O(1). Calls may run concurrently.
func Oversize(demand, capacity int64) float64 {
	switch {
	case demand <= 0:
		return -1
	case capacity <= 0:
		return math.Inf(1)
	}
	return float64(demand-capacity) / float64(capacity)
}

// MemoryRate is the rate of page faults due to shortage of memory, Eq. (1) of
// Chen et al.: faults per second on one machine, all of its jobs together, as a
// function of how far its memory is exceeded,
//
//	R(Q) = Max − α / (βQ² + γQ + δ)     Q > 0
//
// Max is the rate when the machine thrashes. With α, δ > 0 and β, γ ≥ 0 the rate
// rises with Q. Only the proportions of α, β, γ and δ matter.
type MemoryRate struct {
	Max, Alpha, Beta, Gamma, Delta float64
}

// Rate returns the faults per second with memory exceeded by q, see [Oversize].
// It is 0 for q ≤ 0, where nothing has to be paged but the equation rises again,
// never less than 0, and NaN for NaN. Cost O(1). Calls may run concurrently.
func (m MemoryRate) Rate(q float64) float64 {
	if q <= 0 {
		return 0
	}
	return max(0, m.printed(q))
}

func (m MemoryRate) printed(q float64) float64 {
	if math.IsInf(q, 0) {
		return m.Max
	}
	return m.Max - m.Alpha/(float64(float64(float64(m.Beta*q)+m.Gamma)*q)+m.Delta)
}

// Line is a rate that is a straight line. As Eq. (2) of Chen et al. it is the rate
// of page faults, per second on one machine, that its reads and writes cause:
//
//	R(N) = η + μN     η = Intercept, μ = Slope
//
// N is the number of reads and writes of the jobs that are on the machine.
type Line struct {
	Intercept, Slope float64
}

// Rate returns the faults per second for x, but never less than 0; NaN for NaN.
// Cost O(1). Calls may run concurrently.
func (l Line) Rate(x float64) float64 { return max(0, l.printed(x)) }

func (l Line) printed(x float64) float64 { return l.Intercept + float64(l.Slope*x) }

// FaultRate is the rate of page faults of one machine from both causes, Eq. (3) of
// Chen et al.
type FaultRate struct {
	Memory MemoryRate // of how far memory is exceeded
	IO     Line       // of reads and writes
}

// ChenXiaoZhang returns the rates that Chen et al. fitted to their workloads, with
// the constants of Eq. (4), for a machine with 128 MB and a 233 MHz processor.
func ChenXiaoZhang() FaultRate {
	return FaultRate{
		Memory: MemoryRate{Max: 120, Alpha: 4, Beta: 0.31, Gamma: 0.19, Delta: 0.034},
		IO:     Line{Intercept: -174.98, Slope: 0.061},
	}
}

// Rate returns the faults per second with memory exceeded by q and after n reads
// and writes: the sum of the two rates, each of which is at least 0. NaN for NaN.
// Cost O(1). Calls may run concurrently.
func (f FaultRate) Rate(q, n float64) float64 { return f.Memory.Rate(q) + f.IO.Rate(n) }

// Printed returns Eqs. (3) and (4) as they are printed, with 0 where they are
// negative. It is for comparison: with few reads and writes it is 0 however far
// memory is exceeded, and with q < −0.61 it tells of faults in an empty memory.
func (f FaultRate) Printed(q, n float64) float64 {
	return max(0, f.IO.printed(n)+f.Memory.printed(q))
}

// Lost returns the share of time, from 0 to 1, that goes to so many page faults
// per second when one takes fault: 1 from where they take all of it. NaN for NaN.
// Cost O(1). Calls may run concurrently.
func Lost(rate float64, fault time.Duration) float64 {
	return max(0, min(1, float64(rate*fault.Seconds())))
}
