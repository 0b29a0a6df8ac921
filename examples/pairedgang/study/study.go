// Package study repeats the experiments of Y. Wiseman & D. G. Feitelson, "Paired
// gang scheduling", IEEE TPDS 14(6), 2003, §4, on a simulated cluster: what is
// gained if two gangs that complement each other share a quantum?
//
// The static experiments (Figs. 7 to 9) simulate every process, its node's
// scheduler, the file server and the barriers. The dynamic ones (Figs. 10 to 12, 14)
// run hours of a cluster, on which processes progress at the rates their demands
// allow.
//
// The package carries no promise of compatibility.
package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/partner"
)

// ErrConfig is returned for a study that cannot be made.
var ErrConfig = errors.New("pairedgang: invalid configuration")

// Config says what to simulate.
type Config struct {
	Seed  uint64 // of the static experiments, and of the first dynamic workload
	Seeds int    // dynamic workloads to average over

	MixTime  time.Duration // of each static experiment
	CopyTime time.Duration // run time of each copy of QCRD alone
	Jobs     int           // of a dynamic workload
	Loads    []float64     // in rising order
}

// Default is the paper's experiment.
func Default() Config {
	return Config{
		Seed: 1, Seeds: 3, MixTime: 120 * time.Second, CopyTime: 540 * time.Second,
		Jobs: 1000, Loads: []float64{.5, .6, .7, .8, .9, .95},
	}
}

// Quick returns c with fewer and smaller workloads, and shorter runs.
func (c Config) Quick() Config {
	c.Jobs, c.Seeds = 200, 1
	c.MixTime, c.CopyTime = time.Minute, 216*time.Second
	return c
}

// Study is a study and, after Run, its points.
type Study struct {
	config Config

	Figure7 []Mix
	Figure8 []Mix // cluster size
	Figure9 []Mix // granularity
	Dynamic []Dynamic
	Copies  []Copies
}

// New prepares a study. It refuses what cannot be simulated with [ErrConfig].
func New(c Config) (*Study, error) {
	switch {
	case c.Seeds < 1:
		return nil, fmt.Errorf("%d workloads: %w", c.Seeds, ErrConfig)
	case c.MixTime < 60*time.Second || c.CopyTime < 108*time.Second:
		return nil, fmt.Errorf("mixes of %v, copies of %v: want a minute or two at least: %w", c.MixTime, c.CopyTime, ErrConfig)
	case c.Jobs < 2 || len(c.Loads) == 0:
		return nil, fmt.Errorf("%d jobs, %d loads: %w", c.Jobs, len(c.Loads), ErrConfig)
	}
	s := &Study{config: c}
	for io := range mixJobs + 1 {
		for _, policy := range []partner.Policy{partner.Strict, partner.Paired, partner.BestFit} {
			s.Figure7 = append(s.Figure7, Mix{IO: io, Nodes: mixNodes, Loop: computeLoop, Policy: policy})
		}
		for _, n := range []int{2, 4, 8, 12} {
			s.Figure8 = append(s.Figure8, Mix{IO: io, Nodes: n, Loop: computeLoop, Policy: partner.Paired})
		}
		for _, loop := range []time.Duration{20, 30, 40, 50} { // 1 to 2.5 million turns
			s.Figure9 = append(s.Figure9, Mix{IO: io, Nodes: mixNodes, Loop: loop * time.Millisecond, Policy: partner.Paired})
		}
	}
	for _, kind := range []Kind{Homogeneous, Heterogeneous, QCRD} {
		for _, load := range c.Loads {
			for _, policy := range []partner.Policy{partner.Strict, partner.Paired, partner.Band, partner.PerNode} {
				for _, alternates := range []bool{false, true} {
					for k := range c.Seeds {
						s.Dynamic = append(s.Dynamic, Dynamic{Kind: kind, Load: load, Policy: policy, Alternates: alternates, Seed: c.Seed + uint64(k)})
					}
				}
			}
		}
	}
	s.Copies = []Copies{{Policy: partner.Strict}, {Policy: partner.Trust}, {Policy: partner.Paired}}
	return s, nil
}

// Size is the number of points.
func (s *Study) Size() int {
	return len(s.Figure7) + len(s.Figure8) + len(s.Figure9) + len(s.Dynamic) + len(s.Copies)
}

// Run simulates all points, on all cores, and calls done after each.
func (s *Study) Run(ctx context.Context, done func()) error {
	var points []func(context.Context) error
	for _, list := range [][]Mix{s.Figure7, s.Figure8, s.Figure9} {
		for i := range list {
			points = append(points, func(ctx context.Context) error { return s.runMix(ctx, &list[i]) })
		}
	}
	for i := range s.Copies {
		points = append(points, func(ctx context.Context) error { return s.runCopies(ctx, &s.Copies[i]) })
	}
	for i := range s.Dynamic {
		points = append(points, func(ctx context.Context) error { return s.runDynamic(ctx, &s.Dynamic[i]) })
	}
	return parallel.Each(ctx, len(points), func(ctx context.Context, i int) error { return points[i](ctx) }, done)
}

// Mean returns a figure of the dynamic points of a kind, averaged over the
// workloads.
func (s *Study) Mean(kind Kind, load float64, policy partner.Policy, alternates bool, of func(*Dynamic) float64) float64 {
	sum, n := 0., 0
	for i := range s.Dynamic {
		if p := &s.Dynamic[i]; p.Kind == kind && p.Load == load && p.Policy == policy && p.Alternates == alternates {
			sum += of(p)
			n++
		}
	}
	return sum / float64(n)
}

// Response is mean response in seconds, for [Study.Mean].
func Response(p *Dynamic) float64 { return p.Response }
