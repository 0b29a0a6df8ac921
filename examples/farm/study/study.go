// Package study repeats the experiments of S. Chen, L. Xiao and X. Zhang, "Dynamic
// load sharing with unknown memory demands in clusters", §6, on a simulated farm of
// 32 machines.
//
// The package carries no promise of compatibility.
package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/farm"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/loadshare"
	"github.com/gangkit/gangkit/paging"
)

// ErrConfig is returned for a study that cannot be made.
var ErrConfig = errors.New("farm: invalid configuration")

// The farm of §5.1.
const (
	Machines = 32
	// Memory is what the programs can use of 128 MB: by this the working sets of
	// Table 2 exceed it by the shares that are printed there.
	Memory = 122 * megabyte
	// Swap is "about the same size" as the memory.
	Swap = 128 * megabyte

	slice   = 10 * time.Millisecond
	change  = 100 * time.Microsecond
	ioTime  = 12 * time.Millisecond // as in all of Table 1
	period  = time.Second           // not in the paper
	grace   = time.Second           // not in the paper: "a short period of time"
	horizon = 100_000 * time.Second
)

// Policies are those of Fig. 2, and no load sharing at all.
var Policies = []string{"no-LS", "blocking", "pf-rate", "worksize", "age", "combined"}

// Sharers are the policies that share load.
var Sharers = Policies[2:]

var selectors = map[string]loadshare.Selector{
	"pf-rate":  loadshare.MostFaults,
	"worksize": loadshare.LargestWorkingSet,
	"age":      loadshare.Oldest,
	"combined": loadshare.HighestWeight,
}

// Rates says how many faults a machine has per second.
type Rates string

// The readings of Eqs. (1)-(4).
const (
	// Clamped adds Eqs. (1) and (2), each of which is at least 0, and both 0 where
	// memory suffices.
	Clamped Rates = "clamped"
	// Equation4 is their sum as printed, and 0 where that is negative.
	Equation4 Rates = "equation 4"
	// Equation1 does without Eq. (2).
	Equation1 Rates = "equation 1"
	// Table2 is the straight line through the three rates that are printed.
	Table2 Rates = "table 2"
)

func (r Rates) function() func(q, io float64) float64 {
	model := paging.ChenXiaoZhang()
	switch r {
	case Equation4:
		return model.Printed
	case Equation1:
		return func(q, _ float64) float64 { return model.Memory.Rate(q) }
	case Table2:
		line := paging.Line{Intercept: 5.61, Slope: 149.2}
		return func(q, _ float64) float64 {
			if q <= 0 {
				return 0
			}
			return min(model.Memory.Max, line.Rate(q))
		}
	}
	return func(q, io float64) float64 {
		if q <= 0 {
			return 0
		}
		return model.Rate(q, io)
	}
}

// Reading is what is made of the paper where it is not explicit or cannot be meant.
type Reading struct {
	Name string

	Rates    Rates
	Either   bool          // a target below MT, or with the room, is enough, as printed
	InLoop   bool          // blocked arrivals go elsewhere only where the printed loop does it
	Stall    bool          // a fault stops the whole machine
	Bus      bool          // migrations share the network
	MaxJobs  int           // CT; 0: no bound
	Arrivals Arrivals      // what Eq. (6) means
	Ramp     time.Duration // CPU time in which a program gets its memory
}

// Readings under which the claims are judged: what the paper can be meant to say, and
// what it says where the two differ and the latter can be simulated.
const (
	Resolved = "resolved"
	Literal  = "literal"
)

// ReadingNames are both.
var ReadingNames = []string{Resolved, Literal}

func (r Reading) resolved() Reading {
	r.Name, r.Rates, r.Either, r.InLoop = Resolved, Clamped, false, false
	return r
}

func (r Reading) literal() Reading {
	r.Name, r.Rates, r.Either, r.InLoop = Literal, Equation4, true, true
	return r
}

// Variants are the resolved reading with one thing different.
var Variants = []struct {
	Name   string
	change func(*Reading)
}{
	{"target below MT or with room", func(r *Reading) { r.Either = true }},
	{"submit only if MT <= Q <= 0", func(r *Reading) { r.InLoop = true }},
	{"faults by eq. 4 as printed", func(r *Reading) { r.Rates = Equation4 }},
	{"faults by eq. 1 alone", func(r *Reading) { r.Rates = Equation1 }},
	{"faults by the line of Table 2", func(r *Reading) { r.Rates = Table2 }},
	{"a fault stops the machine", func(r *Reading) { r.Stall = true }},
	{"one bus for all", func(r *Reading) { r.Bus = true }},
	{"at most 4 jobs a machine", func(r *Reading) { r.MaxJobs = 4 }},
	{"memory got in 2 s", func(r *Reading) { r.Ramp = 2 * time.Second }},
	{"arrivals by lognormal density", func(r *Reading) { r.Arrivals = Density }},
	{"uniform arrivals", func(r *Reading) { r.Arrivals = Uniform }},
}

// Case is a cell of the study.
type Case struct {
	Reading string  `json:"reading"`
	Trace   string  `json:"trace"`
	Policy  string  `json:"policy"`
	MT      float64 `json:"mt"` // a share
	Mbps    int64   `json:"network_mbps"`
}

// Point is the mean over the seeds of what happened. Times are means over the jobs
// that completed, in seconds.
type Point struct {
	Case

	Slowdown  float64 `json:"slowdown"` // wall-clock time from submission over CPU time
	Spread    float64 `json:"sd_of_slowdown"`
	Completed float64 `json:"completed"` // jobs
	Killed    float64 `json:"killed"`    // for want of memory and swap space

	CPU       float64 `json:"cpu_s"`
	IO        float64 `json:"io_s"`
	Queueing  float64 `json:"queueing_s"` // for the processor, or to start
	Blocked   float64 `json:"blocked_s"`  // of these, to start
	Paging    float64 `json:"paging_s"`
	Migration float64 `json:"migration_s"` // and remote submission

	Migrations  float64 `json:"migrations"` // of all jobs
	Submissions float64 `json:"remote_submissions"`
	Makespan    float64 `json:"makespan_s"` // until the last job ended

	reading Reading
}

// Config says what to simulate.
type Config struct {
	Seed  uint64
	Seeds int
	// Base says what all readings have in common: all but the name, and Rates,
	// Either and InLoop, in which they differ.
	Base Reading
}

// Study is a study and, after Run, its points.
type Study struct {
	config Config
	Points []Point
}

// MTs are the thresholds of Figs. 3 and 4.
var MTs = []float64{-.15, -.05, 0, .05, .15}

// New prepares a study. It refuses what cannot be simulated with [ErrConfig].
func New(c Config) (*Study, error) {
	switch {
	case c.Seeds < 1:
		return nil, fmt.Errorf("%d seeds: %w", c.Seeds, ErrConfig)
	case c.Base.MaxJobs < 0:
		return nil, fmt.Errorf("at most %d jobs a machine: %w", c.Base.MaxJobs, ErrConfig)
	case c.Base.Ramp < 0:
		return nil, fmt.Errorf("memory got in %v: %w", c.Base.Ramp, ErrConfig)
	}
	if _, err := Traces[0].Instants(c.Base.Arrivals, rand.NewPCG(0, 0)); err != nil {
		return nil, err
	}
	s := &Study{config: c}
	for _, r := range []Reading{c.Base.resolved(), c.Base.literal()} {
		for _, t := range Traces {
			for _, p := range Policies { // Fig. 2
				s.add(r, t.Name, p, 0, 10)
			}
			for _, p := range Sharers { // Fig. 5
				s.add(r, t.Name, p, 0, 100)
			}
		}
		for _, mt := range MTs { // Figs. 3 and 4
			for _, p := range Sharers {
				if mt != 0 {
					s.add(r, Traces[0].Name, p, mt, 10)
				}
			}
		}
	}
	for _, v := range Variants {
		r := c.Base.resolved()
		v.change(&r)
		r.Name = v.Name
		for _, p := range Policies[1:] {
			s.add(r, Traces[0].Name, p, 0, 10)
		}
	}
	return s, nil
}

func (s *Study) add(r Reading, trace, policy string, mt float64, mbps int64) {
	s.Points = append(s.Points, Point{Case: Case{r.Name, trace, policy, mt, mbps}, reading: r})
}

// Point returns a point of the study. It panics if there is none.
func (s *Study) Point(c Case) *Point {
	i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Case == c })
	if i < 0 {
		panic(fmt.Sprintf("farm: no point %+v", c))
	}
	return &s.Points[i]
}

// Size is the number of runs: of each point one a seed.
func (s *Study) Size() int { return len(s.Points) * s.config.Seeds }

// Run simulates all points, on all cores, and calls done after each run of one.
func (s *Study) Run(ctx context.Context, done func()) error {
	seeds := s.config.Seeds
	runs := make([]Point, s.Size())
	if err := parallel.Each(ctx, len(runs), func(ctx context.Context, i int) (err error) {
		runs[i], err = s.simulate(ctx, s.Points[i/seeds], s.config.Seed+uint64(i%seeds))
		return err
	}, done); err != nil {
		return err
	}
	for i := range s.Points {
		s.Points[i].average(runs[i*seeds : (i+1)*seeds])
	}
	return nil
}

// Farm is the farm of a point.
func (p *Point) Farm() (farm.Config, error) {
	r := p.reading
	// r = 0.1 s for 10 Mbps, 0.05 s for 100 (§5.1)
	network := loadshare.Network{Latency: 100 * time.Millisecond, BitsPerSecond: p.Mbps * 1e6}
	if p.Mbps >= 100 {
		network.Latency = 50 * time.Millisecond
	}
	rules := loadshare.Config{Select: selectors[p.Policy], Fit: !r.Either, InLoop: r.InLoop}
	if p.Policy == "age" {
		rules.Cost = network.Migration
	}
	if p.MT == 0 {
		rules.Grace = grace
	}
	policy, err := loadshare.NewPolicy(rules)
	if err != nil {
		return farm.Config{}, err
	}
	c := farm.Config{
		Machines: Machines, Memory: Memory, Swap: Swap,
		Slice: slice, Switch: change, IOTime: ioTime,
		Rate: r.Rates.function(), FaultTime: paging.FaultTime, Stall: r.Stall,
		Sharing: farm.On, Policy: policy, Threshold: p.MT, MaxJobs: r.MaxJobs,
		Network: network, Bus: r.Bus, Period: period, Horizon: horizon,
	}
	switch p.Policy {
	case "no-LS":
		c.Sharing = farm.Off
	case "blocking":
		c.Sharing = farm.Blocking
	}
	return c, nil
}

// simulate returns what happens at a point under one seed.
func (s *Study) simulate(ctx context.Context, p Point, seed uint64) (Point, error) {
	c, err := p.Farm()
	if err != nil {
		return p, err
	}
	trace := Traces[slices.IndexFunc(Traces, func(t Trace) bool { return t.Name == p.Trace })]
	jobs, err := trace.Draw(p.reading.Arrivals, p.reading.Ramp, seed)
	if err != nil {
		return p, err
	}
	outcomes, err := farm.Run(ctx, jobs, c)
	if err != nil {
		return p, fmt.Errorf("%+v, seed %d: %w", p.Case, seed, err)
	}
	var cpu, io, ready, blocked, paged, moving, last time.Duration
	for i, o := range outcomes {
		p.Migrations += float64(o.Migrations)
		p.Submissions += float64(o.Submissions)
		last = max(last, o.Ended)
		switch o.End {
		case farm.Killed:
			p.Killed++
		case farm.Completed:
			p.Completed++
			p.Slowdown += (o.Ended - jobs[i].Submit).Seconds() / jobs[i].CPU().Seconds()
			cpu += o.CPU
			io += o.IO
			ready += o.Ready
			blocked += o.Blocked
			paged += o.Paging
			moving += o.Moving
		}
	}
	p.Makespan = last.Seconds()
	if p.Completed == 0 {
		return p, nil
	}
	mean := func(sum time.Duration) float64 { return sum.Seconds() / p.Completed }
	p.Slowdown /= p.Completed
	p.CPU, p.IO, p.Queueing, p.Blocked = mean(cpu), mean(io), mean(ready+blocked), mean(blocked)
	p.Paging, p.Migration = mean(paged), mean(moving)
	return p, nil
}

// average sets the point to the mean of its runs.
func (p *Point) average(runs []Point) {
	var slowdowns []float64
	n := float64(len(runs))
	for _, r := range runs {
		slowdowns = append(slowdowns, r.Slowdown)
		p.Completed += r.Completed / n
		p.Killed += r.Killed / n
		p.CPU += r.CPU / n
		p.IO += r.IO / n
		p.Queueing += r.Queueing / n
		p.Blocked += r.Blocked / n
		p.Paging += r.Paging / n
		p.Migration += r.Migration / n
		p.Migrations += r.Migrations / n
		p.Submissions += r.Submissions / n
		p.Makespan += r.Makespan / n
	}
	p.Slowdown, p.Spread = stat.MeanStdDev(slowdowns, nil)
	if len(runs) == 1 {
		p.Spread = 0
	}
}
