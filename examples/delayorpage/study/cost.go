package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/paging"
)

// A Cost says what over-committed memory costs.
type Cost struct {
	Model    string        // the name of the model
	Locality float64       // θ of a locality model; 0 for others
	Fault    time.Duration // a page fault takes so long; 0 where the model does not know it
	Slowdown paging.Model  // factor by which all running jobs slow down
}

// The models.
const (
	LocalityModel = "locality"
	TayZouModel   = "tay-zou"
	ChenModel     = "chen"
	LineModel     = "chen-line"
)

// Models are all of them.
var Models = []string{LocalityModel, TayZouModel, ChenModel, LineModel}

// String names the model and its parameter.
func (c Cost) String() string {
	switch {
	case c.Locality > 0:
		return fmt.Sprintf("%s θ=%v, fault %v", c.Model, c.Locality, c.Fault)
	case c.Fault > 0:
		return fmt.Sprintf("%s, fault %v", c.Model, c.Fault)
	}
	return c.Model
}

// thrash bounds every factor: a machine that does nothing but page still gets a
// thousandth of its work done, or no run would end. No limit that comes near it is
// the best one, and how far it is from being that does not matter.
const thrash = 1000

func bounded(factor float64) float64 { return min(factor, thrash) }

// Locality is the cost by the reference streams of Batat & Feitelson, §4.1. Of a
// memory that is exceeded, every process has the same share of its own, the share
// s = capacity/demand. It then faults at the rate curve has for s of its frames, per
// reference, and stands still meanwhile: with ratio the time of a fault in
// references,
//
//	f = 1 + ratio · μ(s)
func Locality(curve paging.Curve, ratio float64) paging.Model {
	return func(demand, capacity int64) float64 {
		if demand <= capacity {
			return 1
		}
		share := float64(capacity) / float64(demand)
		return bounded(1 + float64(ratio*curve.Rate(share*float64(len(curve)-1))))
	}
}

// Chen is the cost by the fault rate of Chen, Xiao & Zhang, Eq. (1): of each second
// R(Q) faults take their time, and all jobs progress in what is left,
//
//	f = 1 / (1 − R(Q) · fault)
//
// Their jobs read and write nothing here.
func Chen(rate paging.MemoryRate, fault time.Duration) paging.Model {
	return func(demand, capacity int64) float64 {
		lost := paging.Lost(rate.Rate(paging.Oversize(demand, capacity)), fault)
		return bounded(1 / (1 - lost))
	}
}

// Line is the cost by a rate of faults that is a straight line in Q; see [Chen].
func Line(rate paging.Line, fault time.Duration) paging.Model {
	return func(demand, capacity int64) float64 {
		if demand <= capacity {
			return 1
		}
		return bounded(1 / (1 - paging.Lost(rate.Rate(paging.Oversize(demand, capacity)), fault)))
	}
}

// measured is the straight line through the three rates of faults that Chen et al.
// print, of 12.52, 44.12 and 102.03 faults a second (Table 2). It meets them better
// than Eq. (1) does, and does not level off.
func measured() paging.Line {
	fit, err := paging.FitLine([]float64{.0534, .2475, .6495}, []float64{12.52, 44.12, 102.03})
	if err != nil {
		panic(err) // three points determine a line
	}
	return fit.Model
}

// The process of Batat & Feitelson: 10 MB in units of 1 KB, pages of 4 KB.
const (
	processUnits = 10 << 10
	unitsPerPage = 4
	processPages = processUnits / unitsPerPage
	walks        = 8
)

// measure returns the faults per reference of a process of that locality, in a memory
// of each size: the mean of several walks, as one wanders slowly where locality is
// high. All pages are referred to before it counts, since a job that runs for hours
// has seen all its memory.
func measure(ctx context.Context, locality float64, references int, seed uint64) (paging.Curve, error) {
	curves := make([]paging.Curve, walks)
	err := parallel.Each(ctx, walks, func(_ context.Context, k int) error {
		w, err := paging.NewWalk(paging.WalkConfig{Locality: locality, Range: processUnits}, rand.New(rand.NewPCG(seed, uint64(k)<<32|3)))
		if err != nil {
			return err
		}
		stack, err := paging.NewStack(processPages)
		if err != nil {
			return err
		}
		for page := range processPages {
			stack.Touch(page)
		}
		for i := range references {
			if i == references/4 {
				stack.Discard()
			}
			stack.Touch(w.Next() / unitsPerPage)
		}
		curves[k] = stack.Curve()
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	mean := make(paging.Curve, len(curves[0]))
	for _, c := range curves {
		for i, rate := range c {
			mean[i] += rate / walks
		}
	}
	return mean, nil
}
