package study

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/paging"
)

// Dynamic is a point of Fig. 7, or of the sweep of C: jobs that arrive over time.
type Dynamic struct {
	Load     float64 `json:"load"` // the paper's: mean run × mean nodes / (mean interarrival × nodes)
	Locality float64 `json:"locality"`
	Factor   float64 `json:"factor"` // C; 0: not limited
	Eldest   bool    `json:"eldest"` // how memory is shared, see gang.Fluid

	Offered   float64 `json:"offered_load"` // Σ run × nodes / (span × nodes)
	Response  float64 `json:"mean_response_s"`
	Slowdown  float64 `json:"mean_slowdown"`
	Short     float64 `json:"mean_slowdown_of_short_jobs"` // the half of the jobs with the shorter run times
	Queued    float64 `json:"queued"`                      // share of the jobs that waited in the queue
	MaxSkips  int     `json:"max_skips"`
	MaxSlots  int     `json:"max_slots"`
	Saturated bool    `json:"saturated"` // the backlog grew to the end
	Complete  bool    `json:"complete"`  // all jobs ended; if not, times are lower bounds
}

// curve is the rate at which a process of locality θ faults, by the frames it
// has. It is the mean of several walks, as one wanders slowly where θ is high.
func (s *Study) curve(locality float64) (paging.Curve, error) {
	const walks = 8
	references := s.config.CurveReferences
	var sum paging.Curve
	for k := range walks {
		w, err := paging.NewWalk(paging.WalkConfig{Locality: locality, Range: processUnits}, rand.New(rand.NewPCG(s.config.Seed, uint64(k)<<32|1<<31)))
		if err != nil {
			return nil, err
		}
		stack, err := paging.NewStack(processPages)
		if err != nil {
			return nil, err
		}
		for i := range references {
			if i == references/4 {
				stack.Discard()
			}
			stack.Touch(w.Next() / unitsPerPage)
		}
		c := stack.Curve()
		if sum == nil {
			sum = make(paging.Curve, len(c))
		}
		for i, rate := range c {
			sum[i] += rate / walks
		}
	}
	return sum, nil
}

// limit is how many times the span of its submissions a run may take. A machine
// that takes longer has broken down.
const limit = 20

// machine is what a dynamic experiment runs on.
type machine struct {
	nodes             int
	memory, available int64 // of a node: as eq. (1) takes it, and really free
}

// runDynamic fills in what came of a point.
func (s *Study) runDynamic(ctx context.Context, p *Dynamic) error {
	w, err := gang.Lublin(s.config.Jobs, dynamicNodes, p.Load, s.config.Seed)
	if err != nil {
		return err
	}
	for i := range w.Jobs {
		w.Jobs[i].Memory = processMemory
	}
	return s.simulate(ctx, p, w, machine{dynamicNodes, nodeMemory, availableBytes})
}

// simulate fills in what came of a workload. Processes progress at the rates that the
// curve gives for their share of a node's frames.
func (s *Study) simulate(ctx context.Context, p *Dynamic, w *gang.Workload, m machine) error {
	p.Offered = w.Offered
	faults := s.curves[p.Locality]
	costs := s.config.Costs
	first, last := w.Jobs[0].Submit, w.Jobs[len(w.Jobs)-1].Submit
	result, err := gang.Run(ctx, w.Jobs, gang.Config{
		Nodes: m.nodes, Quantum: s.config.Quantum, Memory: m.memory, Factor: p.Factor,
		Until: last + (limit-1)*(last-first),
		Machine: &gang.Fluid{
			Phases:    func(job int) []gang.Phase { return []gang.Phase{{Work: w.Runs[job], CPU: 1}} },
			Available: m.available,
			Eldest:    p.Eldest,
			Memory:    func(job int) int64 { return w.Jobs[job].Memory },
			Paging: func(_ int, share float64) float64 {
				perAccess := faults.Rate(share*processPages) * costs.Fault.Seconds()
				return costs.Access.Seconds() / (costs.Access.Seconds() + perAccess)
			},
		},
	})
	if err != nil {
		return fmt.Errorf("load %v, locality %v, C = %v: %w", p.Load, p.Locality, p.Factor, err)
	}
	return p.judge(w.Jobs, w.Runs, m.nodes, result)
}

// Log simulates the jobs of a log, one process to a processor, which is a node of so
// much memory, all of it really free: for each locality, each way to share memory, no
// limit and the limits of Fig. 6. It calls done after each point. The study need not
// have been run.
func (s *Study) Log(ctx context.Context, l *workload.Workload, memory int64, done func()) ([]Dynamic, error) {
	w := &gang.Workload{Offered: l.Load()}
	for _, j := range l.Jobs {
		each := j.Memory / int64(j.Processors)
		w.Jobs = append(w.Jobs, gang.Job{Submit: j.Submit, Nodes: j.Processors, Memory: each})
		w.Runs = append(w.Runs, j.Run)
	}
	if err := s.makeCurves(ctx); err != nil {
		return nil, err
	}
	var points []Dynamic
	for _, theta := range s.config.Localities {
		for _, eldest := range []bool{true, false} {
			for _, factor := range append([]float64{Unlimited}, s.config.Factors...) {
				points = append(points, Dynamic{Load: w.Offered, Locality: theta, Factor: factor, Eldest: eldest})
			}
		}
	}
	return points, parallel.Each(ctx, len(points), func(ctx context.Context, i int) error {
		return s.simulate(ctx, &points[i], w, machine{l.Processors, memory, memory})
	}, done)
}

// judge computes the figures of a run.
func (p *Dynamic) judge(jobs []gang.Job, runs []time.Duration, nodes int, result gang.Result) error {
	done := make([]metrics.Job, len(jobs))
	for i, o := range result.Jobs {
		done[i] = metrics.Job{Submit: jobs[i].Submit, Start: o.Start, End: o.End, Run: runs[i], Processors: jobs[i].Nodes}
		if o.Queued {
			p.Queued += 1 / float64(len(jobs))
		}
		p.MaxSkips = max(p.MaxSkips, o.Skips)
	}
	machine := metrics.Machine{Processors: nodes}
	summary, err := metrics.Summarize(done, machine)
	if err != nil {
		return err
	}
	saturation, err := metrics.CheckSaturation(done, machine)
	if err != nil {
		return err
	}
	p.Response, p.Slowdown = summary.Response.Mean, summary.Slowdown.Mean
	slices.SortStableFunc(done, func(a, b metrics.Job) int { return cmp.Compare(a.Run, b.Run) })
	for _, j := range done[:len(done)/2] {
		slowdown, _ := j.Slowdown()
		p.Short += slowdown / float64(len(done)/2)
	}
	p.MaxSlots, p.Complete, p.Saturated = result.MaxSlots, result.Cut == 0, saturation.Saturated
	return nil
}
