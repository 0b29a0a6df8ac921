package study

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/partner"
)

// Kind is what the jobs of a dynamic workload are like.
type Kind string

// The kinds.
const (
	Homogeneous   Kind = "homogeneous"   // all compute 45 % of the time (§4.2.1)
	Heterogeneous Kind = "heterogeneous" // uniform from 0 to 100 % (§4.2.2)
	QCRD          Kind = "qcrd"          // phases of computation and of I/O (§4.2.3)
)

// Dynamic is a point of Figs. 10 to 12 and 14: jobs that arrive over time.
type Dynamic struct {
	Kind       Kind           `json:"kind"`
	Load       float64        `json:"load"` // mean run × mean nodes / (mean interarrival × nodes)
	Policy     partner.Policy `json:"policy"`
	Alternates bool           `json:"alternates"`
	Seed       uint64         `json:"seed"`

	Offered   float64 `json:"offered_load"`
	Response  float64 `json:"mean_response_s"`
	Slowdown  float64 `json:"mean_slowdown"`
	Backlog   int     `json:"backlog"` // jobs in the system at the last submission
	Drain     float64 `json:"drain_s"` // from there until all have ended
	Saturated bool    `json:"saturated"`

	jobs []metrics.Job
}

// homogeneous is the utilisation of §4.2.1.
const homogeneous = .45

// switching is what it costs if two processes want a whole processor each.
const switching = .02

const nodes = 16

// phasesOf returns what a job does.
func phasesOf(kind Kind, run time.Duration, utilisation float64) []gang.Phase {
	switch kind {
	case Homogeneous:
		utilisation = homogeneous
	case QCRD:
		return qcrd(run)
	}
	return []gang.Phase{{Work: run, CPU: utilisation}}
}

// qcrd scales the QCRD application to a run time: twelve short phases of I/O
// alternate with twelve longer ones of computation, and a long one of I/O ends it.
// How long they are, and how much they compute, is not in the paper: here they take
// 2, 5 and 24 parts of 108.
func qcrd(run time.Duration) []gang.Phase {
	const parts, computing, waiting = 12*(2+5) + 24, .95, .02
	part := max(run/parts, 1)
	var phases []gang.Phase
	for range 12 {
		phases = append(phases, gang.Phase{Work: 2 * part, CPU: waiting}, gang.Phase{Work: 5 * part, CPU: computing})
	}
	return append(phases, gang.Phase{Work: 24 * part, CPU: waiting})
}

// runDynamic fills in what came of a point.
func (s *Study) runDynamic(ctx context.Context, p *Dynamic) error {
	w, err := gang.Lublin(s.config.Jobs, nodes, p.Load, p.Seed)
	if err != nil {
		return err
	}
	p.Offered = w.Offered
	watch := partner.New(p.Policy, len(w.Jobs))
	result, err := gang.Run(ctx, w.Jobs, gang.Config{
		Nodes: nodes, Quantum: time.Second, Alternates: p.Alternates, Partner: watch,
		Machine: &gang.Fluid{
			Switch: switching,
			Phases: func(job int) []gang.Phase { return phasesOf(p.Kind, w.Runs[job], w.Utilisation[job]) },
		},
	})
	if err != nil {
		return fmt.Errorf("%s, load %v, %s: %w", p.Kind, p.Load, p.Policy, err)
	}
	p.jobs = make([]metrics.Job, len(w.Jobs))
	last := w.Jobs[len(w.Jobs)-1].Submit
	for i, o := range result.Jobs {
		p.jobs[i] = metrics.Job{Submit: w.Jobs[i].Submit, Start: o.Start, End: o.End, Run: w.Runs[i], Processors: w.Jobs[i].Nodes}
		if o.End > last {
			p.Backlog++
		}
		p.Drain = max(p.Drain, (o.End - last).Seconds())
	}
	summary, err := metrics.Summarize(p.jobs, metrics.Machine{Processors: nodes})
	if err != nil {
		return err
	}
	saturation, err := metrics.CheckSaturation(p.jobs, metrics.Machine{Processors: nodes})
	if err != nil {
		return err
	}
	p.Response, p.Slowdown, p.Saturated = summary.Response.Mean, summary.Slowdown.Mean, saturation.Saturated
	return nil
}

// Timeline returns the number of jobs in the system over time.
func (p *Dynamic) Timeline() ([]metrics.Sample, error) { return metrics.Timeline(p.jobs) }

// Copies is Fig. 13: four copies of QCRD that start together.
type Copies struct {
	Policy   partner.Policy `json:"policy"`
	Response float64        `json:"mean_response_s"`
	Both     int            `json:"quanta_with_two_computing"` // in which two that computed ran together
	Phases   int            `json:"computing_phases"`

	Errors []float64 `json:"-"` // between prediction and measurement, points
}

func (s *Study) runCopies(ctx context.Context, p *Copies) error {
	const copies = 4
	run := s.config.CopyTime
	watch := partner.New(p.Policy, copies)
	result, err := gang.Run(ctx, slices.Repeat([]gang.Job{{Nodes: nodes}}, copies), gang.Config{
		Nodes: nodes, Quantum: time.Second, Partner: watch,
		Machine: &gang.Fluid{Switch: switching, Phases: func(int) []gang.Phase { return qcrd(run) }},
	})
	if err != nil {
		return err
	}
	for _, o := range result.Jobs {
		p.Response += o.End.Seconds() / copies
	}
	p.Both, p.Phases, p.Errors = watch.Both/2, 12, watch.Errors
	return nil
}
