package study

import (
	"math"

	"github.com/gangkit/gangkit/paging"
)

// factor is f where the jobs demand c times the memory.
func factor(slowdown paging.Model, c float64) float64 {
	return slowdown(int64(math.Round(c*memory)), memory)
}

// Throughput is what a machine gets done that jobs fill to c times its memory, as a
// multiple of what it gets done when they just fill it: the number of jobs that run
// grows as c, and the speed of each falls as 1/f,
//
//	g(c) = c / f(c)
func Throughput(slowdown paging.Model, c float64) float64 { return c / factor(slowdown, c) }

// A Rule is what g says of the limit.
type Rule struct {
	First     float64 `json:"first_step"` // g(1.01) − 1 per 0.01: > 0 if a little over-commitment gains
	Least     float64 `json:"least"`      // the least g from c = 1 on,
	LeastAt   float64 `json:"least_at"`   // and where
	BreakEven float64 `json:"break_even"` // from this c on g > 1; 0 if that is beyond the most
	Best      float64 `json:"best"`       // where g is greatest
	Gain      float64 `json:"gain"`       // g there
}

// FindRule looks at g from c = 1 to the most that is possible, in steps of 0.01.
func FindRule(slowdown paging.Model, most float64) Rule {
	const steps = 100 // per 1
	r := Rule{Least: 1, LeastAt: 1, Best: 1, Gain: 1}
	r.First = steps * (Throughput(slowdown, 1+1./steps) - 1)
	for i := steps + 1; float64(i) <= float64(most*steps)+1e-9; i++ {
		c := float64(i) / steps
		g := Throughput(slowdown, c)
		if g < r.Least {
			r.Least, r.LeastAt = g, c
		}
		if g > r.Gain {
			r.Best, r.Gain = c, g
		}
		switch {
		case g <= 1:
			r.BreakEven = 0
		case r.BreakEven == 0:
			r.BreakEven = c
		}
	}
	return r
}

// A Queue is the machine as queueing theory sees it: jobs of equal memory come at
// random (Poisson), and as many run as the limit lets in, at speed 1/f; the others
// wait in order of arrival. Times are in mean run times.
type Queue struct {
	Size        float64 // memory of a job, as a share of M
	Load        float64 // of memory
	Variability float64 // squared coefficient of variation of the run times
}

// Predict returns the mean factor by which a job's time is stretched while it runs,
// and its mean wait, with the limit c. Both are +Inf if the machine cannot keep up.
//
// If run times were exponential, the number n of jobs in the system would be a Markov
// chain, with arrivals at rate load/size and ends at rate k/f(k·size), where k = n
// jobs run, c/size at most. Little's law makes times of its means. Sharing is
// insensitive to the variability of run times; waiting in order of arrival is not, and
// grows with it, nearly as in other queues, by (1 + variability)/2. So limits trade
// the one against the other (V. Gupta, M. Harchol-Balter, "Self-adaptive admission
// control policies for resource-sharing systems", SIGMETRICS 2009).
//
// Cost O(c/size).
func (q Queue) Predict(slowdown paging.Model, c float64) (stretch, wait float64) {
	arrivals, most := q.Load/q.Size, c/q.Size
	rate := func(running float64) float64 { return running / factor(slowdown, running*q.Size) }
	ratio := arrivals / rate(most)
	if !(ratio < 1) {
		return math.Inf(1), math.Inf(1)
	}
	p, all, running, waiting := 1., 1., 0., 0. // p of the state with n jobs, and sums over the states
	n := 0.
	for n+1 <= most {
		n++
		p *= arrivals / rate(n)
		all += p
		running += float64(n * p)
	}
	// From here on most run, and the states are a geometric sequence.
	p *= ratio
	tail := p / (1 - ratio)
	all += tail
	running += float64(most * tail)
	waiting = float64(tail*(n+1-most)) + float64(tail*ratio)/(1-ratio)
	return running / all / arrivals, (1 + q.Variability) / 2 * waiting / all / arrivals
}
