package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/paging"
)

// ErrConfig is returned for a study that cannot be made.
var ErrConfig = errors.New("delayorpage: invalid configuration")

// Backlog is the load of a machine to which all jobs have come before it starts.
const Backlog = 0

// Config says what to simulate.
type Config struct {
	Seed  uint64
	Seeds int // samples, ≥ 2
	Jobs  int // of each, ≥ 2

	Size, Spread float64 // of the jobs' memory: mean as a share of M, standard deviation of the logarithm
	Headroom     float64 // processors per processor that is busy when memory is just full; ≥ 1
	Error        float64 // of what jobs ask for: standard deviation of the logarithm of what they use of it
	Bursty       bool    // arrivals of the Lublin-Feitelson model, not at random

	Loads  []float64 // of memory, ascending, > 0
	Limits []float64 // C, ascending, from .5 on; 1 is one of them

	Access         time.Duration // a reference takes so long, in the locality model
	References     int           // of each walk from which its faults are measured
	Localities     []float64     // θ, ascending, from 1 to 2
	LocalityFaults []time.Duration
	ChenFaults     []time.Duration
}

// Default is the study as it is reported. A reference takes 2 µs and a fault on a disk
// 10 ms, as in the study of Batat & Feitelson's experiments; 1 ms and 100 µs are for
// faster devices.
func Default() Config {
	return Config{
		Seed: 1, Seeds: 10, Jobs: 1500,
		Size: .125, Spread: .88, Headroom: 4,
		Loads:  []float64{.5, .7, .9},
		Limits: []float64{.8, .9, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3},
		Access: 2 * time.Microsecond, References: 2_000_000,
		Localities:     []float64{1, 1.25, 1.5, 1.75, 2},
		LocalityFaults: []time.Duration{10 * time.Millisecond, time.Millisecond, 100 * time.Microsecond},
		ChenFaults:     []time.Duration{10 * time.Millisecond, 5 * time.Millisecond, 2 * time.Millisecond, time.Millisecond, 100 * time.Microsecond},
	}
}

func (c Config) check() error {
	switch {
	case c.Seeds < 2 || c.Jobs < 2:
		return fmt.Errorf("%d samples of %d jobs: %w", c.Seeds, c.Jobs, ErrConfig)
	case !(c.Size >= .001 && c.Size <= largest):
		return fmt.Errorf("size %v, not in [0.001, %v]: %w", c.Size, largest, ErrConfig)
	case !(c.Spread >= 0 && c.Spread <= 3):
		return fmt.Errorf("spread %v, not in [0, 3]: %w", c.Spread, ErrConfig)
	case !(c.Error >= 0 && c.Error <= 3):
		return fmt.Errorf("error %v, not in [0, 3]: %w", c.Error, ErrConfig)
	case !(c.Headroom >= 1 && c.Headroom <= 1000):
		return fmt.Errorf("headroom %v, not in [1, 1000]: %w", c.Headroom, ErrConfig)
	case len(c.Limits) < 2 || !ascending(c.Limits) || !(c.Limits[0] >= largest) || !slices.Contains(c.Limits, 1) || c.Limits[len(c.Limits)-1] == 1 || c.Limits[len(c.Limits)-1] > 1000:
		return fmt.Errorf("limits %v: %w", c.Limits, ErrConfig)
	case c.Access <= 0 || c.References < 4:
		return fmt.Errorf("%v an access, %d references: %w", c.Access, c.References, ErrConfig)
	}
	if !ascending(c.Loads) {
		return fmt.Errorf("loads %v: %w", c.Loads, ErrConfig)
	}
	for _, load := range c.Loads {
		if !(load > 0 && load <= 100) {
			return fmt.Errorf("load %v, not in (0, 100]: %w", load, ErrConfig)
		}
	}
	for _, fault := range slices.Concat(c.LocalityFaults, c.ChenFaults) {
		if fault < 0 {
			return fmt.Errorf("%v a fault: %w", fault, ErrConfig)
		}
	}
	return nil
}

// ascending says whether each is greater than the one before.
func ascending(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i] > x[i-1]) {
			return false
		}
	}
	return true
}

// An Outcome is what a limit made of a sample.
type Outcome struct {
	Response       float64 `json:"mean_response_s"`
	MedianResponse float64 `json:"median_response_s"`
	P95Response    float64 `json:"p95_response_s"`
	Slowdown       float64 `json:"mean_bounded_slowdown"`
	MedianSlowdown float64 `json:"median_bounded_slowdown"`
	P95Slowdown    float64 `json:"p95_bounded_slowdown"`
	Wait           float64 `json:"mean_wait_s"`   // to be let in
	Paging         float64 `json:"mean_paging_s"` // response = run time + wait + paging
	Throughput     float64 `json:"throughput"`    // M·s of run·memory done per second, until 90 % are done
	Saturated      float64 `json:"saturated"`     // 1 if the backlog grew to the end, of means the share
}

// add adds w times x.
func (o *Outcome) add(x Outcome, w float64) {
	for _, f := range fields {
		*f(o) += float64(w * *f(&x))
	}
}

var fields = []func(*Outcome) *float64{
	func(o *Outcome) *float64 { return &o.Response }, func(o *Outcome) *float64 { return &o.MedianResponse }, func(o *Outcome) *float64 { return &o.P95Response },
	func(o *Outcome) *float64 { return &o.Slowdown }, func(o *Outcome) *float64 { return &o.MedianSlowdown }, func(o *Outcome) *float64 { return &o.P95Slowdown },
	func(o *Outcome) *float64 { return &o.Wait }, func(o *Outcome) *float64 { return &o.Paging },
	func(o *Outcome) *float64 { return &o.Throughput }, func(o *Outcome) *float64 { return &o.Saturated },
}

// Study is a study and, after Run, its results.
type Study struct {
	config   Config
	samples  []*Sample
	shape    shape
	curves   []paging.Curve // of each locality
	outcomes []Outcome      // see index

	Costs      []Cost
	Rules      []Rule // of each cost
	Cells      []Cell // of each cost, its loads in order, Backlog last
	Thresholds []Threshold
}

// New prepares a study of generated workloads. It refuses what cannot be simulated
// with [ErrConfig].
func New(c Config) (*Study, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var samples []*Sample
	for k := range uint64(c.Seeds) {
		s, err := generate(c, c.Seed+k)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return newStudy(c, samples), nil
}

// NewOf prepares a study of a log, from which it takes c.Seeds samples of up to c.Jobs
// jobs. Run times are taken to be known. Jobs that need more than half of the memory
// are left out.
func NewOf(l *workload.Workload, c Config) (*Study, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	samples, err := cut(l, c)
	if err != nil {
		return nil, err
	}
	return newStudy(c, samples), nil
}

func newStudy(c Config, samples []*Sample) *Study {
	return &Study{config: c, samples: samples, shape: shapeOf(samples)}
}

// A Summary is what the samples have in common.
type Summary struct {
	Samples     int     `json:"samples"`
	Jobs        int     `json:"jobs"`    // of all samples
	Dropped     int     `json:"dropped"` // jobs of a log that need more than half of the memory
	Run         float64 `json:"mean_run_s"`
	Variability float64 `json:"run_variability"`  // squared coefficient of variation, within a sample
	Size        float64 `json:"size"`             // of a job, by its run time: mean share of the memory
	Short       float64 `json:"waiting_weighs"`   // what a mean run time of waiting adds to the mean bounded slowdown
	Deviation   float64 `json:"memory_deviation"` // of what is used if jobs ask for all memory, as a share of it
}

// Summary describes the samples.
func (s *Study) Summary() Summary {
	x := Summary{
		Samples: len(s.samples), Run: s.shape.mean, Variability: s.shape.variability,
		Size: s.shape.size, Short: s.shape.short, Deviation: s.shape.deviation,
	}
	for _, sample := range s.samples {
		x.Jobs += len(sample.Jobs)
		x.Dropped += sample.Dropped
	}
	return x
}

// loads are those of the cells of a cost.
func (s *Study) loads() []float64 { return append(slices.Clone(s.config.Loads), Backlog) }

func (s *Study) index(cost, load, limit, sample int) int {
	return ((cost*(len(s.config.Loads)+1)+load)*len(s.config.Limits)+limit)*len(s.samples) + sample
}

// makeCosts makes the models. The faults of a locality are measured.
func (s *Study) makeCosts(ctx context.Context) error {
	s.Costs, s.curves = nil, nil
	c := s.config
	for _, theta := range c.Localities {
		curve, err := measure(ctx, theta, c.References, c.Seed)
		if err != nil {
			return err
		}
		s.curves = append(s.curves, curve)
		for _, fault := range c.LocalityFaults {
			s.Costs = append(s.Costs, Cost{LocalityModel, theta, fault, Locality(curve, fault.Seconds()/c.Access.Seconds())})
		}
	}
	s.Costs = append(s.Costs, Cost{Model: TayZouModel, Slowdown: paging.TayZou})
	for _, fault := range c.ChenFaults {
		s.Costs = append(s.Costs, Cost{ChenModel, 0, fault, Chen(paging.ChenXiaoZhang().Memory, fault)})
	}
	for _, fault := range c.ChenFaults {
		s.Costs = append(s.Costs, Cost{LineModel, 0, fault, Line(measured(), fault)})
	}
	return nil
}

// Run simulates all points, on all cores, and calls done after each of Size.
func (s *Study) Run(ctx context.Context, done func()) error {
	if err := s.makeCosts(ctx); err != nil {
		return err
	}
	s.Thresholds = s.thresholds()
	return s.simulate(ctx, done)
}

// Size is the number of points.
func (s *Study) Size() int {
	costs := len(s.config.Localities)*len(s.config.LocalityFaults) + 1 + 2*len(s.config.ChenFaults)
	return (costs*(len(s.config.Limits)-s.alike()) + s.alike()) * (len(s.config.Loads) + 1) * len(s.samples)
}

// factor is what theory takes for the factor of a cost.
func (s *Study) factor(cost int) Factor { return Expected(s.Costs[cost].Slowdown, s.shape.deviation) }

// reach is how far jobs can fill memory with a limit, until processors run out.
func (s *Study) reach(limit float64) float64 { return min(limit, s.config.Headroom) }

// one is the index of C = 1.
func (s *Study) one() int { return slices.Index(s.config.Limits, 1) }

// alike is the number of limits at which nothing pages, and all costs are alike.
func (s *Study) alike() int {
	if s.config.Error > 0 {
		return 0
	}
	return s.one() + 1
}

func (s *Study) simulate(ctx context.Context, done func()) error {
	loads, limits := s.loads(), s.config.Limits
	s.outcomes = make([]Outcome, s.index(len(s.Costs), 0, 0, 0))
	type point struct{ cost, load, limit, sample int }
	var points []point
	for cost := range s.Costs {
		for load := range loads {
			for limit := range limits {
				for sample := range s.samples {
					if cost == 0 || limit >= s.alike() {
						points = append(points, point{cost, load, limit, sample})
					}
				}
			}
		}
	}
	err := parallel.Each(ctx, len(points), func(ctx context.Context, i int) (err error) {
		p := points[i]
		s.outcomes[s.index(p.cost, p.load, p.limit, p.sample)], err = replay(ctx, s.samples[p.sample], s.Costs[p.cost].Slowdown, loads[p.load], limits[p.limit])
		return err
	}, done)
	if err != nil {
		return err
	}
	s.Rules, s.Cells = nil, nil
	for cost := range s.Costs {
		s.Rules = append(s.Rules, s.factor(cost).Rule(limits[0], s.reach(limits[len(limits)-1])))
		for load := range loads {
			for limit := range s.alike() {
				copy(s.outcomes[s.index(cost, load, limit, 0):s.index(cost, load, limit+1, 0)], s.outcomes[s.index(0, load, limit, 0):])
			}
			s.Cells = append(s.Cells, s.cell(cost, load))
		}
	}
	return nil
}

// replay runs a sample at a load with a limit.
func replay(ctx context.Context, sample *Sample, slowdown paging.Model, load, limit float64) (Outcome, error) {
	jobs, err := sample.at(load)
	if err != nil {
		return Outcome{}, err
	}
	config := spaceshare.Config{
		Processors: sample.Processors, Depth: backfill.EASY,
		Memory:  int64(math.Round(limit * memory)),                                 // what is promised,
		Penalty: func(demand, _ int64) float64 { return slowdown(demand, memory) }, // and what is there
	}
	if sample.Uses != nil {
		config.Demand = func(job int) int64 { return sample.Uses[job] }
	}
	result, err := spaceshare.Replay(ctx, jobs, config)
	if err != nil {
		return Outcome{}, fmt.Errorf("load %v, C = %v: %w", load, limit, err)
	}
	return judge(jobs, result)
}

// judge computes the figures of a run.
func judge(jobs []spaceshare.Job, result spaceshare.Result) (o Outcome, err error) {
	const unit = memory >> 12 // memory is what is scarce, and counts for processors here
	done := make([]metrics.Job, len(jobs))
	for i, j := range jobs {
		done[i] = metrics.Job{Submit: j.Submit, Start: result.Starts[i], End: result.Ends[i], Run: j.Run, Processors: int(j.Memory/unit) + 1}
		o.Paging += (done[i].RunningTime() - j.Run).Seconds() / float64(len(jobs))
	}
	machine := metrics.Machine{Processors: memory / unit}
	summary, err := metrics.Summarize(done, machine)
	if err != nil {
		return o, err
	}
	saturation, err := metrics.CheckSaturation(done, machine)
	if err != nil {
		return o, err
	}
	if saturation.Saturated {
		o.Saturated = 1
	}
	o.Wait = summary.Wait.Mean
	o.Response, o.MedianResponse, o.P95Response = summary.Response.Mean, summary.Response.Median, summary.Response.P95
	o.Slowdown, o.MedianSlowdown, o.P95Slowdown = summary.BoundedSlowdown.Mean, summary.BoundedSlowdown.Median, summary.BoundedSlowdown.P95
	o.Throughput = throughput(jobs, result.Ends)
	return o, nil
}

// throughput is the work done per second until nine tenths of it are: the last jobs
// have the machine for themselves.
func throughput(jobs []spaceshare.Job, ends []time.Duration) float64 {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	all, _ := held(jobs)
	work := 0.
	for _, i := range order {
		memories, _ := held(jobs[i : i+1])
		if work += memories; work >= .9*all {
			return work / (ends[i] - jobs[0].Submit).Seconds()
		}
	}
	return 0
}
