package study

import (
	"math"
	"time"

	"github.com/gangkit/gangkit/paging"
)

// A Factor is f(c), by which running jobs slow down where they use c times the memory.
type Factor func(c float64) float64

// Exactly is the factor of a model.
func Exactly(slowdown paging.Model) Factor {
	return func(c float64) float64 { return slowdown(int64(math.Round(c*memory)), memory) }
}

// Expected is the factor of a model to be expected where jobs asked for c times the
// memory, and what they use of it is another amount: normally distributed with mean c
// and, for c = 1, that standard deviation, which grows as √c, as that of the sum of
// many jobs does. It is the mean of f, and not of speeds 1/f: which jobs run together
// changes as they get their work done, so that a mix of jobs that is slow lasts longer.
func Expected(slowdown paging.Model, deviation float64) Factor {
	exactly := Exactly(slowdown)
	if deviation == 0 {
		return exactly
	}
	return func(c float64) float64 {
		const steps, widest = 200, 5.
		sum, weights := 0., 0.
		for i := range 2*steps + 1 {
			z := widest * float64(i-steps) / steps
			weight := math.Exp(-z * z / 2)
			weights += weight
			sum += float64(weight * exactly(max(0, c+float64(z*deviation)*math.Sqrt(c))))
		}
		return sum / weights
	}
}

// Throughput is what a machine gets done whose jobs fill c times its memory, where 1 is
// what it would get done with jobs that just fill it and do not page: the number of jobs
// grows as c, and the speed of each falls as 1/f,
//
//	g(c) = c / f(c)
func (f Factor) Throughput(c float64) float64 { return c / f(c) }

// A Rule is what g says of the limit. All values of g are relative to g(1).
type Rule struct {
	First     float64 `json:"first_step"` // what one per cent of over-commitment gains, in per cent
	Least     float64 `json:"least"`      // the least g above C = 1,
	LeastAt   float64 `json:"least_at"`   // and where
	BreakEven float64 `json:"break_even"` // from this C on g > 1; 0 if that is beyond the most
	Best      float64 `json:"best"`       // where g is greatest
	Gain      float64 `json:"gain"`       // g there
}

// Rule looks at g from least ≤ 1 to most, in steps of 0.01.
func (f Factor) Rule(least, most float64) Rule {
	const steps = 100 // per 1
	one := f.Throughput(1)
	r := Rule{First: 100 * (f.Throughput(1+1./steps)/one - 1), Least: 1, LeastAt: 1, Best: 1, Gain: 1}
	for i := int(math.Round(least * steps)); i <= int(math.Round(most*steps)); i++ {
		c := float64(i) / steps
		g := f.Throughput(c) / one
		if g > r.Gain {
			r.Best, r.Gain = c, g
		}
		if i <= steps {
			continue
		}
		if g < r.Least {
			r.Least, r.LeastAt = g, c
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
// random, and as many run as the limit lets in, at speed 1/f; the others wait in order
// of arrival. Times are in mean run times.
type Queue struct {
	Size        float64 // memory of a job, as a share of M
	Load        float64 // of memory
	Variability float64 // squared coefficient of variation of the run times
}

// Predict returns the mean factor by which a job's time is stretched while it runs, and
// its mean wait, with limit C. Both are +Inf if the machine cannot keep up.
//
// If run times were exponential, the number n of jobs in the system would be a Markov
// chain, with arrivals at rate load/size and ends at rate k/f(k·size), where k = n jobs
// run, or C/size if that is less. Little's law turns its means into times. Sharing a
// machine is insensitive to the variability of run times, but waiting in order of
// arrival is not: it grows with it, nearly as in a queue without sharing, as
// (1 + variability)/2.
//
// Cost O(C/size) calls of f.
func (q Queue) Predict(f Factor, limit float64) (stretch, wait float64) {
	arrivals, most := q.Load/q.Size, limit/q.Size
	rate := func(running float64) float64 { return running / f(running*q.Size) }
	ratio := arrivals / rate(most)
	if !(ratio < 1) {
		return math.Inf(1), math.Inf(1)
	}
	n, p, all, running := 0., 1., 1., 0. // jobs; the weight of that state; sums over the states
	for n+1 <= most {
		n++
		p *= arrivals / rate(n)
		all += p
		running += float64(n * p)
	}
	// From here on most run, and the states are a geometric sequence.
	tail := p * ratio / (1 - ratio)
	all += tail
	running += float64(most * tail)
	waiting := float64(tail*(n+1-most)) + float64(tail*ratio)/(1-ratio)
	return running / all / arrivals, (1 + q.Variability) / 2 * waiting / all / arrivals
}

// A Threshold is the time of a page fault below which over-commitment lets a machine
// get more done: g(C) > 1 where the fault is shorter, by a model in which f grows with
// the time of a fault.
type Threshold struct {
	Model    string        `json:"model"`
	Locality float64       `json:"locality,omitempty"`
	Limit    float64       `json:"c"`
	Fault    time.Duration `json:"fault"`
}

// thresholds are those of the first limit above 1 and of the last.
func (s *Study) thresholds() (list []Threshold) {
	limits := s.config.Limits
	for _, c := range []float64{limits[s.one()+1], limits[len(limits)-1]} {
		seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
		for i, theta := range s.config.Localities {
			// 1 + μ·fault/access = c
			missed := s.curves[i].Rate(processPages / c)
			list = append(list, Threshold{LocalityModel, theta, c, seconds((c - 1) / missed * s.config.Access.Seconds())})
		}
		// 1 − R·fault = 1/c
		list = append(list, Threshold{ChenModel, 0, c, seconds((1 - 1/c) / paging.ChenXiaoZhang().Memory.Rate(c-1))})
		list = append(list, Threshold{LineModel, 0, c, seconds((1 - 1/c) / measured().Rate(c-1))})
	}
	return list
}
