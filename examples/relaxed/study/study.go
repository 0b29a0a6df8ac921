// Package study repeats the study of Y.-M. Wang, K.-T. Chien, Y.-H. Chang and S.-H.
// Tien, "Memory consideration for parallel job scheduling on SMP clusters" (2007):
// response times where jobs may start although memory does not suffice.
//
// The package carries no promise of compatibility.
package study

import (
	"context"
	"fmt"
	"math"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/paging"
)

// thresholds are those of the paper's Figures 5 and 6.
var thresholds = []float64{0, 25, 50, 75, 100}

// Curve is what is plotted against C: a policy at a threshold.
type Curve struct {
	Name      string
	depth     backfill.Depth
	threshold float64
}

// Curves returns FCFS without a threshold (Figure 3) and EASY with each
// (Figures 3 to 6).
func Curves() []Curve {
	list := []Curve{{"fcfs", backfill.FCFS, 0}}
	for _, t := range thresholds {
		list = append(list, Curve{fmt.Sprintf("easy T=%v", t), backfill.EASY, t})
	}
	return list
}

// Some of the Curves, by index.
const (
	FCFS   = 0
	EASY   = 1 // T = 0
	EASY25 = 2
)

// Point is the outcome of one run.
type Point struct {
	Response float64 // mean, seconds
	Wang     float64 // mean bounded slowdown, eq. (7)
	Bounded  float64 // mean bounded slowdown, as usual
	Wait     float64 // mean, seconds
}

// Study is a grid of runs: memory sizes, curves, values of C, workloads.
type Study struct {
	Memories  []int64
	Curves    []Curve
	Excesses  []float64
	Workloads []*workload.Workload
	Order     des.Order
	points    []Point
}

func (s *Study) index(memory, curve, excess, sample int) int {
	return ((memory*len(s.Curves)+curve)*len(s.Excesses)+excess)*len(s.Workloads) + sample
}

// Mean returns a figure averaged over the workloads.
func (s *Study) Mean(memory, curve, excess int, of func(Point) float64) float64 {
	sum := 0.
	for k := range s.Workloads {
		sum += of(s.points[s.index(memory, curve, excess, k)])
	}
	return sum / float64(len(s.Workloads))
}

// Response is the mean response, for [Study.Mean].
func Response(p Point) float64 { return p.Response }

// Run fills the grid, and calls done after each point.
func (s *Study) Run(ctx context.Context, done func()) error {
	s.points = make([]Point, len(s.Memories)*len(s.Curves)*len(s.Excesses)*len(s.Workloads))
	return parallel.Each(ctx, len(s.points), func(ctx context.Context, i int) (err error) {
		s.points[i], err = s.one(ctx, i)
		return err
	}, done)
}

func (s *Study) one(ctx context.Context, i int) (Point, error) {
	sample, i := i%len(s.Workloads), i/len(s.Workloads)
	excess, i := s.Excesses[i%len(s.Excesses)], i/len(s.Excesses)
	curve, memory := s.Curves[i%len(s.Curves)], s.Memories[i/len(s.Curves)]
	w := s.Workloads[sample]
	result, err := spaceshare.Replay(ctx, w.Jobs, spaceshare.Config{
		Processors: w.Processors, Memory: memory, Depth: curve.depth, Order: s.Order,
		Excess: excess, Threshold: curve.threshold, Penalty: paging.TayZou,
	})
	if err != nil {
		return Point{}, fmt.Errorf("%s, memory %d, C = %v: %w", curve.Name, memory, excess, err)
	}
	var p Point
	jobs := make([]metrics.Job, len(w.Jobs))
	for k, j := range w.Jobs {
		jobs[k] = metrics.Job{
			Submit: j.Submit, Start: result.Starts[k], End: result.Ends[k],
			Run: j.Run, Processors: j.Processors, Memory: j.Memory,
		}
		p.Response += jobs[k].Response().Seconds()
		p.Wait += jobs[k].Wait().Seconds()
		p.Wang += jobs[k].WangBoundedSlowdown(metrics.Tau)
		p.Bounded += jobs[k].BoundedSlowdown(metrics.Tau)
	}
	n := float64(len(jobs))
	p.Response, p.Wait, p.Wang, p.Bounded = p.Response/n, p.Wait/n, p.Wang/n, p.Bounded/n
	return p, nil
}

// Steps returns the values of C from 0 to 60 %.
func Steps(step float64) []float64 {
	var list []float64
	for i := 0; ; i++ {
		c := math.Round(float64(i)*step*1e6) / 1e6
		if c > .6 {
			return list
		}
		list = append(list, c)
	}
}
