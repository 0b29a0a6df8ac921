package main

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

// curve is what is plotted against C: a policy at a threshold.
type curve struct {
	name      string
	depth     backfill.Depth
	threshold float64
}

// curves returns FCFS without a threshold (Figure 3) and EASY with each
// (Figures 3 to 6).
func curves() []curve {
	list := []curve{{"fcfs", backfill.FCFS, 0}}
	for _, t := range thresholds {
		list = append(list, curve{fmt.Sprintf("easy T=%v", t), backfill.EASY, t})
	}
	return list
}

const (
	fcfs   = 0
	easy   = 1 // T = 0
	easy25 = 2
)

// point is the outcome of one run.
type point struct {
	Response float64 // mean, seconds
	Wang     float64 // mean bounded slowdown, eq. (7)
	Bounded  float64 // mean bounded slowdown, as usual
	Wait     float64 // mean, seconds
}

// study is a grid of runs: memory sizes, curves, values of C, workloads.
type study struct {
	memories  []int64
	curves    []curve
	excesses  []float64
	workloads []*workload.Workload
	order     des.Order
	points    []point
}

func (s *study) index(memory, curve, excess, sample int) int {
	return ((memory*len(s.curves)+curve)*len(s.excesses)+excess)*len(s.workloads) + sample
}

// mean returns a figure averaged over the workloads.
func (s *study) mean(memory, curve, excess int, of func(point) float64) float64 {
	sum := 0.
	for k := range s.workloads {
		sum += of(s.points[s.index(memory, curve, excess, k)])
	}
	return sum / float64(len(s.workloads))
}

func response(p point) float64 { return p.Response }

// run fills the grid, and calls done after each point.
func (s *study) run(ctx context.Context, done func()) error {
	s.points = make([]point, len(s.memories)*len(s.curves)*len(s.excesses)*len(s.workloads))
	return parallel.Each(ctx, len(s.points), func(ctx context.Context, i int) (err error) {
		s.points[i], err = s.one(ctx, i)
		return err
	}, done)
}

func (s *study) one(ctx context.Context, i int) (point, error) {
	sample, i := i%len(s.workloads), i/len(s.workloads)
	excess, i := s.excesses[i%len(s.excesses)], i/len(s.excesses)
	curve, memory := s.curves[i%len(s.curves)], s.memories[i/len(s.curves)]
	w := s.workloads[sample]
	result, err := spaceshare.Replay(ctx, w.Jobs, spaceshare.Config{
		Processors: w.Processors, Memory: memory, Depth: curve.depth, Order: s.order,
		Excess: excess, Threshold: curve.threshold, Penalty: paging.TayZou,
	})
	if err != nil {
		return point{}, fmt.Errorf("%s, memory %d, C = %v: %w", curve.name, memory, excess, err)
	}
	var p point
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

// steps returns the values of C from 0 to 60 %.
func steps(step float64) []float64 {
	var list []float64
	for i := 0; ; i++ {
		c := math.Round(float64(i)*step*1e6) / 1e6
		if c > .6 {
			return list
		}
		list = append(list, c)
	}
}
