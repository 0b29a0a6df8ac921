// Package study repeats the experiments of G. Utrera, J. Corbalán & J. Labarta,
// "Implementing malleability on MPI jobs", PACT 2004, §5 and §6, on a simulated
// machine of 64 processors: who gains and who loses if long jobs are folded to make
// room?
//
// The package carries no promise of compatibility.
package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/folding"
)

// ErrConfig is returned for a study that cannot be made.
var ErrConfig = errors.New("fold: invalid configuration")

// Processors of the machine of the paper.
const Processors = 64

// application is one of those of the paper, with its time on one processor (§5.1).
type application struct {
	name  string
	class folding.Class
	work  time.Duration
}

var applications = []application{
	{"bt.A", folding.Long, 2441 * time.Second},
	{"cg.B", folding.Long, 4385 * time.Second},
	{"lu.W", folding.Short, 177 * time.Second},
	{"sweep3D", folding.Short, 50 * time.Second},
}

// Workload is a workload of the paper: the shares of the machine that long and short
// jobs demand at linear speed (Table 4).
type Workload struct {
	Name        string
	Long, Short float64
}

// Workloads are w1 to w6.
var Workloads = []Workload{{"w1", .4, .1}, {"w2", .4, .2}, {"w3", .4, .3}, {"w4", .1, .4}, {"w5", .2, .4}, {"w6", .3, .4}}

// span is how long jobs arrive.
const span = 15 * time.Minute

// Efficiency is what folding costs: of FJT, whose processes are co-scheduled, and of
// all others, which share time.
type Efficiency struct {
	Name        string
	CoScheduled molding.Sharing
	TimeShared  molding.Sharing
}

// Efficiencies are swept, as the paper does not tell them.
var Efficiencies = []Efficiency{
	{"assumed", molding.CoScheduling, molding.TimeSharing},
	{"free", molding.Free, molding.Free},
	{"costly", molding.Sharing{Two: .85, Four: .70}, molding.Sharing{Two: .60, Four: .40}},
}

// Policies are those compared, and the baseline last.
var Policies = []string{"fjt", "fjt-eager", "folding", "psa", "asp60", "fcfs"}

// Point is the mean over the seeds of what a policy did with a workload or a burst.
type Point struct {
	Workload   string `json:"workload"` // w1 to w6, or burst 3, 6 or 9
	Policy     string `json:"policy"`
	Efficiency string `json:"efficiency"`

	// By class, short and long: response and wait in seconds, mean processors of the
	// jobs, and response as a multiple of that under the baseline.
	Response   [2]float64 `json:"mean_response_s"`
	Wait       [2]float64 `json:"mean_wait_s"`
	Processors [2]float64 `json:"mean_processors"`
	Slowdown   [2]float64 `json:"slowdown_against_fcfs"`
	Spread     [2]float64 `json:"sd_of_slowdown"` // between the seeds

	samples [2][]float64 // slowdowns
}

// Config says what to simulate.
type Config struct {
	Seed    uint64
	Seeds   int
	Speedup molding.Speedup
}

// Study is a study and, after Run, its points.
type Study struct {
	config Config
	Points []Point
}

// Bursts are how many jobs come at once, a third of them long.
var Bursts = []int{3, 6, 9}

// New prepares a study. It refuses what cannot be simulated with [ErrConfig].
func New(c Config) (*Study, error) {
	if c.Seeds < 1 || c.Speedup == nil {
		return nil, fmt.Errorf("%d seeds: %w", c.Seeds, ErrConfig)
	}
	return &Study{config: c}, nil
}

// sources are the workloads and the bursts, by name.
func sources() (names []string) {
	for _, w := range Workloads {
		names = append(names, w.Name)
	}
	for _, n := range Bursts {
		names = append(names, burst(n))
	}
	return names
}

func burst(n int) string { return fmt.Sprintf("burst %d", n) }

// Jobs draws the jobs of a workload or burst.
func (s *Study) Jobs(name string, seed uint64) []molding.Job {
	r := rand.New(rand.NewPCG(s.config.Seed+seed, 1))
	var jobs []molding.Job
	add := func(at time.Duration, class folding.Class) {
		a := applications[r.IntN(2)]
		if class == folding.Short {
			a = applications[2+r.IntN(2)]
		}
		jobs = append(jobs, molding.Job{Submit: at, Class: class, Work: a.work, Request: Processors, Speedup: s.config.Speedup})
	}
	for _, n := range Bursts {
		if name == burst(n) {
			order := r.Perm(n)
			for _, i := range order {
				class := folding.Short
				if i < n/3 {
					class = folding.Long
				}
				add(0, class)
			}
			return jobs
		}
	}
	for _, w := range Workloads {
		if w.Name != name {
			continue
		}
		for _, class := range []folding.Class{folding.Short, folding.Long} {
			share, mean := w.Short, (applications[2].work+applications[3].work)/2
			if class == folding.Long {
				share, mean = w.Long, (applications[0].work+applications[1].work)/2
			}
			gap := distuv.Exponential{Rate: share * Processors / mean.Seconds(), Src: rand.NewPCG(s.config.Seed+seed, 2+uint64(class))}
			for at := gap.Rand(); at < span.Seconds(); at += gap.Rand() {
				add(time.Duration(at*float64(time.Second)), class)
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b molding.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Class, b.Class))
	})
	return jobs
}

// Simulate runs the jobs of a workload or burst under a policy.
func (s *Study) Simulate(ctx context.Context, name string, seed uint64, policy string, e Efficiency) ([]molding.Job, []molding.Outcome, error) {
	p, err := folding.ParsePolicy(policy)
	if err != nil {
		return nil, nil, err
	}
	sharing := e.TimeShared
	if _, ok := p.(*folding.FJT); ok {
		sharing = e.CoScheduled
	}
	jobs := s.Jobs(name, seed)
	outcomes, err := molding.Run(ctx, jobs, molding.Config{Processors: Processors, Policy: p, Sharing: sharing})
	return jobs, outcomes, err
}

// Size is the number of points.
func (s *Study) Size() int { return len(sources()) * len(Policies) * len(Efficiencies) }

// Run simulates all points, on all cores, and calls done after each.
func (s *Study) Run(ctx context.Context, done func()) error {
	s.Points = s.Points[:0]
	for _, name := range sources() {
		for _, e := range Efficiencies {
			for _, policy := range Policies {
				s.Points = append(s.Points, Point{Workload: name, Policy: policy, Efficiency: e.Name})
			}
		}
	}
	return parallel.Each(ctx, len(s.Points), func(ctx context.Context, i int) error { return s.point(ctx, &s.Points[i]) }, done)
}

func (s *Study) point(ctx context.Context, p *Point) error {
	e := Efficiencies[slices.IndexFunc(Efficiencies, func(e Efficiency) bool { return e.Name == p.Efficiency })]
	var seeds [2]int
	for seed := range uint64(s.config.Seeds) {
		jobs, outcomes, err := s.Simulate(ctx, p.Workload, seed, p.Policy, e)
		if err != nil {
			return fmt.Errorf("%s, %s, seed %d: %w", p.Workload, p.Policy, seed, err)
		}
		_, baseline, err := s.Simulate(ctx, p.Workload, seed, "fcfs", e)
		if err != nil {
			return err
		}
		for class := range 2 {
			n, response, wait, processors, base := 0., 0., 0., 0., 0.
			for i, o := range outcomes {
				if int(jobs[i].Class) != class {
					continue
				}
				n++
				response += (o.End - jobs[i].Submit).Seconds()
				wait += (o.Start - jobs[i].Submit).Seconds()
				processors += o.Processors
				base += (baseline[i].End - jobs[i].Submit).Seconds()
			}
			if n == 0 {
				continue
			}
			seeds[class]++
			p.Response[class] += response / n
			p.Wait[class] += wait / n
			p.Processors[class] += processors / n
			p.samples[class] = append(p.samples[class], response/base)
		}
	}
	for class, n := range seeds {
		if n == 0 {
			continue
		}
		for _, sum := range []*[2]float64{&p.Response, &p.Wait, &p.Processors} {
			sum[class] /= float64(n)
		}
		p.Slowdown[class], p.Spread[class] = meanAndDeviation(p.samples[class])
	}
	return nil
}
