package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Ratio compares a limit with C = 1: the geometric mean, over the samples, of the
// one's figure over the other's, and its confidence interval. Both limits see the same
// jobs. All intervals of a cell hold together with 95 %: Bonferroni's correction for
// so many comparisons, Student's t on the logarithms.
type Ratio struct {
	Mean float64 `json:"ratio"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Point is a limit.
type Point struct {
	Limit    float64 `json:"c"`
	Mean     Outcome `json:"mean"`     // over the samples
	Response Ratio   `json:"response"` // of mean responses,
	Slowdown Ratio   `json:"slowdown"` // of mean bounded slowdowns
	Rate     Ratio   `json:"rate"`     // and of throughputs, to those with C = 1

	// What theory says, see [Queue]; 0 of a backlog, and if the machine cannot keep up.
	PredictedResponse float64 `json:"predicted_response_s"`
	PredictedSlowdown float64 `json:"predicted_slowdown"`
	PredictedRate     float64 `json:"predicted_rate"` // g(C)/g(1)
}

// A Best is the limit that is best by some figure.
type Best struct {
	Limit     float64   `json:"c"`
	Ties      []float64 `json:"cannot_be_told_apart"` // limits that are not worse for sure, itself among them
	Ratio     Ratio     `json:"ratio"`                // to C = 1
	Predicted float64   `json:"predicted_c"`
	Advice    Advice    `json:"advice,omitempty"` // not of a backlog
}

// Agrees says whether what was predicted cannot be told from the best.
func (b Best) Agrees() bool { return slices.Contains(b.Ties, b.Predicted) }

// An Advice is what a cell says to do.
type Advice string

// The advice. Page: the best limit is above 1, and its figure better than that with C = 1
// for sure, by 5 % or more. Delay: no limit above 1 can be better by so much, and the
// greatest is worse for sure. Either: it matters little, or cannot be told.
const (
	Page   Advice = "page"
	Delay  Advice = "delay"
	Either Advice = "either"
)

// material is the least difference that is worth a decision.
const material = .05

// advise looks at the limits of a cell above 1 and their figures, of which less is better.
func advise(points []Point, best float64, measured func(Point) Ratio) Advice {
	advice := Delay
	for i, p := range points {
		switch r := measured(p); {
		case p.Limit <= 1:
		case p.Limit == best && r.High < 1 && r.Mean <= 1-material:
			return Page
		case r.Low < 1-material, i == len(points)-1 && r.Low <= 1:
			advice = Either
		}
	}
	return advice
}

// A Cell is a cost at a load.
type Cell struct {
	Cost   int     `json:"-"`
	Load   float64 `json:"load"` // of memory; 0: a backlog
	Points []Point `json:"points"`

	Response Best `json:"best_by_response"`
	Slowdown Best `json:"best_by_slowdown"`
	Rate     Best `json:"best_by_throughput"` // of a backlog only, as the others are not
}

// logs are the logarithms of a figure of each sample at a limit over that at another.
func (s *Study) logs(cost, load, limit, base int, of func(*Outcome) *float64) []float64 {
	x := make([]float64, len(s.samples))
	for k := range x {
		x[k] = math.Log(*of(&s.outcomes[s.index(cost, load, limit, k)]) / *of(&s.outcomes[s.index(cost, load, base, k)]))
	}
	return x
}

// ratio is what logarithms say, of which so many are looked at together.
func ratio(logs []float64, comparisons int) Ratio {
	n := float64(len(logs))
	mean, sd := stat.MeanStdDev(logs, nil)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - .025/float64(comparisons))
	half := t * stat.StdErr(sd, n)
	return Ratio{math.Exp(mean), math.Exp(mean - half), math.Exp(mean + half)}
}

// cell compares the limits.
func (s *Study) cell(cost, load int) Cell {
	limits, one := s.config.Limits, s.one()
	c := Cell{Cost: cost, Load: s.loads()[load], Points: make([]Point, len(limits))}
	f := s.factor(cost)
	queue := Queue{Size: s.shape.size, Load: c.Load, Variability: s.shape.variability}
	for i, limit := range limits {
		p := &c.Points[i]
		p.Limit = limit
		for k := range s.samples {
			p.Mean.add(s.outcomes[s.index(cost, load, i, k)], 1/float64(len(s.samples)))
		}
		of := func(f func(*Outcome) *float64) Ratio { return ratio(s.logs(cost, load, i, one, f), len(limits)-1) }
		p.Response, p.Slowdown, p.Rate = of(responseOf), of(slowdownOf), of(throughputOf)
		p.PredictedRate = f.Throughput(s.reach(limit)) / f.Throughput(1)
		if c.Load == Backlog {
			continue
		}
		if stretch, wait := queue.Predict(f, s.reach(limit)); !math.IsInf(wait, 1) {
			p.PredictedResponse = (stretch + wait) * s.shape.mean
			p.PredictedSlowdown = stretch + float64(wait*s.shape.short)
		}
	}
	if c.Load == Backlog {
		c.Rate = s.best(c, load, throughputOf, -1, func(p Point) Ratio { return p.Rate }, func(Point) float64 { return 0 })
		return c
	}
	c.Response = s.best(c, load, responseOf, 1, func(p Point) Ratio { return p.Response }, func(p Point) float64 { return p.PredictedResponse })
	c.Slowdown = s.best(c, load, slowdownOf, 1, func(p Point) Ratio { return p.Slowdown }, func(p Point) float64 { return p.PredictedSlowdown })
	return c
}

func responseOf(o *Outcome) *float64   { return &o.Response }
func slowdownOf(o *Outcome) *float64   { return &o.Slowdown }
func throughputOf(o *Outcome) *float64 { return &o.Throughput }

// best finds the limit with the least figure if sign is 1, with the greatest if it is
// −1, and what theory says: the limit of the least prediction, the greatest of several
// (processors then run out before memory), or if no machine keeps up, the limit of the
// greatest throughput.
func (s *Study) best(c Cell, load int, figure func(*Outcome) *float64, sign float64, measured func(Point) Ratio, predicted func(Point) float64) Best {
	best, theory := c.Points[0], c.Points[0]
	at := 0
	for i, p := range c.Points[1:] {
		if sign*measured(p).Mean < sign*measured(best).Mean {
			best, at = p, i+1
		}
		switch a, b := predicted(p), predicted(theory); {
		case a > 0 && (b == 0 || a <= b), a == 0 && b == 0 && p.PredictedRate > theory.PredictedRate:
			theory = p
		}
	}
	b := Best{Limit: best.Limit, Ratio: measured(best), Predicted: theory.Limit}
	for i, p := range c.Points {
		r := ratio(s.logs(c.Cost, load, i, at, figure), len(c.Points)-1)
		if sign > 0 && r.Low <= 1 || sign < 0 && r.High >= 1 {
			b.Ties = append(b.Ties, p.Limit)
		}
	}
	if sign > 0 {
		b.Advice = advise(c.Points, b.Limit, measured)
	}
	return b
}
