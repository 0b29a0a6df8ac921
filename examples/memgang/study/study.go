// Package study repeats the experiments of A. Batat & D. G. Feitelson, "Gang
// scheduling with memory considerations", IPDPS 2000, §4, on a simulated cluster:
// what does it cost to let jobs in whose memory does not fit, and what to make
// them wait?
//
// The static experiments (Figs. 5 and 6) simulate every reference to memory of
// every process, with the frames of a node given away by least recent use. The
// dynamic ones (Fig. 7) run hours of a cluster; there a process faults at the
// rate which the same references, in a memory of its share of the frames, show.
//
// The package carries no promise of compatibility.
package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/paging"
)

// ErrConfig is returned for a study that cannot be made.
var ErrConfig = errors.New("memgang: invalid configuration")

// Config says what to simulate.
type Config struct {
	Seed    uint64
	Costs   Costs
	Quantum time.Duration

	Localities []float64 // θ, from 1 to 2; each at least once 1 and 2

	// Static experiments. The programs are shorter than the paper's, and so are the
	// turns of the slots.
	References int64         // of each process
	Turn       time.Duration // instead of Quantum
	Counts     []int         // of jobs, Fig. 5
	Limits     []float64     // C, Fig. 5; Unlimited besides
	Factors    []float64     // C, Fig. 6

	// Dynamic experiments.
	CurveReferences int // of each of the walks from which rates of faults are taken
	Jobs            int
	Loads           []float64 // Fig. 7
	SweepLoad       float64   // at which C is swept
	Sweep           []float64 // C
}

// Default is the paper's experiment as far as it is described. The costs of a
// reference and of a fault, the quantum and the number of references are ours: the
// paper has them from a machine. A reference of its program, with a random number
// and a power, is taken to last 2 µs, and a disk to deliver a hundred pages a
// second.
func Default() Config {
	return Config{
		Seed:            1,
		Costs:           Costs{Access: 2 * time.Microsecond, Fault: 10 * time.Millisecond},
		Quantum:         time.Second,
		Localities:      []float64{1, 1.25, 1.5, 2},
		References:      600_000,
		Turn:            100 * time.Millisecond,
		Counts:          []int{5, 10, 20, 35, 50},
		Limits:          []float64{1, 1.5},
		Factors:         []float64{.8, 1, 1.25, 1.5, 2},
		CurveReferences: 1_000_000,
		Jobs:            1000,
		Loads:           []float64{.2, .3, .4, .5, .6, .7, .8, .9},
		SweepLoad:       .7,
		Sweep:           []float64{.4, .6, .8, 1, 1.2, 1.5, 2, 3},
	}
}

// Quick returns c with fewer points, references and jobs.
func (c Config) Quick() Config {
	c.References, c.CurveReferences = 100_000, 100_000
	c.Localities = []float64{1, 1.5, 2}
	c.Counts = []int{5, 10, 20}
	c.Turn = 10 * time.Millisecond
	c.Jobs = 300
	return c
}

// Study is a study and, after Run, its points.
type Study struct {
	config Config
	curves map[float64]paging.Curve

	Figure5 []Static
	Figure6 []Static
	Printed []Static // some of Fig. 5 again, with the program as printed in Fig. 4
	Figure7 []Dynamic
	Sweep   []Dynamic
}

// New prepares a study. It refuses what cannot be simulated with [ErrConfig].
func New(c Config) (*Study, error) {
	switch {
	case c.Costs.Access <= 0 || c.Costs.Fault < 0:
		return nil, fmt.Errorf("%v a reference, %v a fault: %w", c.Costs.Access, c.Costs.Fault, ErrConfig)
	case c.Quantum <= 0 || c.Turn <= 0:
		return nil, fmt.Errorf("quantum %v, turn %v: %w", c.Quantum, c.Turn, ErrConfig)
	case c.References <= 0:
		return nil, fmt.Errorf("%d references: %w", c.References, ErrConfig)
	case c.CurveReferences <= 0:
		return nil, fmt.Errorf("%d references for a curve: %w", c.CurveReferences, ErrConfig)
	case c.Jobs < 2:
		return nil, fmt.Errorf("%d jobs: %w", c.Jobs, ErrConfig)
	}
	s := &Study{config: c}
	for _, theta := range c.Localities {
		for _, n := range c.Counts {
			for _, factor := range append([]float64{Unlimited}, c.Limits...) {
				s.Figure5 = append(s.Figure5, Static{Jobs: n, Locality: theta, Factor: factor})
			}
		}
		most := c.Counts[len(c.Counts)-1]
		for _, factor := range c.Factors {
			s.Figure6 = append(s.Figure6, Static{Jobs: most, Locality: theta, Factor: factor})
		}
		for _, factor := range []float64{Unlimited, 1} {
			s.Printed = append(s.Printed, Static{Jobs: most, Locality: theta, Factor: factor, Printed: true})
		}
		for _, load := range c.Loads {
			for _, factor := range []float64{Unlimited, Free, 1} {
				for _, eldest := range []bool{true, false} {
					s.Figure7 = append(s.Figure7, Dynamic{Load: load, Locality: theta, Factor: factor, Eldest: eldest})
				}
			}
		}
		for _, factor := range c.Sweep {
			for _, eldest := range []bool{true, false} {
				s.Sweep = append(s.Sweep, Dynamic{Load: c.SweepLoad, Locality: theta, Factor: factor, Eldest: eldest})
			}
		}
	}
	return s, nil
}

// Size is the number of points.
func (s *Study) Size() int {
	return len(s.Figure5) + len(s.Figure6) + len(s.Printed) + len(s.Figure7) + len(s.Sweep)
}

// makeCurves measures how often processes of each locality fault.
func (s *Study) makeCurves(ctx context.Context) error {
	curves := make([]paging.Curve, len(s.config.Localities))
	err := parallel.Each(ctx, len(curves), func(_ context.Context, i int) (err error) {
		curves[i], err = s.curve(s.config.Localities[i])
		return err
	}, nil)
	if err != nil {
		return err
	}
	s.curves = map[float64]paging.Curve{}
	for i, theta := range s.config.Localities {
		s.curves[theta] = curves[i]
	}
	return nil
}

// Run simulates all points, on all cores, and calls done after each.
func (s *Study) Run(ctx context.Context, done func()) error {
	if err := s.makeCurves(ctx); err != nil {
		return err
	}
	var points []func(context.Context) error
	for _, list := range [][]Static{s.Figure5, s.Figure6, s.Printed} {
		for i := range list {
			points = append(points, func(ctx context.Context) error { return s.runStatic(ctx, &list[i]) })
		}
	}
	for _, list := range [][]Dynamic{s.Figure7, s.Sweep} {
		for i := range list {
			points = append(points, func(ctx context.Context) error { return s.runDynamic(ctx, &list[i]) })
		}
	}
	return parallel.Each(ctx, len(points), func(ctx context.Context, i int) error { return points[i](ctx) }, done)
}
