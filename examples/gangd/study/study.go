// Package study has the experiments of gangd: the proof of concept of Y. Wiseman & D. G.
// Feitelson, "Paired gang scheduling", IEEE TPDS 14(6), 2003, §4.1.2, and admission by
// memory after A. Batat & D. G. Feitelson, "Gang scheduling with memory considerations",
// IPDPS 2000, on processes that run.
package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/gangd/work"
)

// Config says how large the experiments are.
type Config struct {
	// Open makes a back end of two nodes, of so much memory each, or all there is for 0.
	Open func(memory int64) (backend.Backend, error)
	Work []string // the command that is followed by arguments of package work

	Quantum time.Duration
	Rounds  int           // of four quanta, in which a mix of Fig. 7 is measured
	Runs    int           // of each mix and policy
	Mixes   []int         // numbers of I/O-bound jobs, of four
	Loop    time.Duration // between two barriers, of either kind of job
	Files   bool          // I/O is files written to the disk, instead of sleep
	Repeat  float64       // the makespan experiment: a share of 80 and 60 barriers a job

	Log      *slog.Logger
	Progress func() // called after each run, if not nil
}

// Default is the size of the experiments that are worth reading.
func Default() Config {
	return Config{Quantum: 200 * time.Millisecond, Rounds: 8, Runs: 5, Mixes: []int{0, 1, 2, 3, 4}, Loop: 20 * time.Millisecond, Repeat: 1}
}

// jobs of a mix.
const jobs = 4

// Policies of Fig. 7.
var policies = []scheduler.Policy{scheduler.Strict, scheduler.Paired}

// A Spread is the mean of some runs, and the standard deviation, that of a sample.
type Spread struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

func spread(values []float64) (s Spread) {
	for _, v := range values {
		s.Mean += v / float64(len(values))
	}
	for _, v := range values {
		s.Deviation += float64((v - s.Mean) * (v - s.Mean))
	}
	if n := len(values); n > 1 {
		s.Deviation = math.Sqrt(s.Deviation / float64(n-1))
	} else {
		s.Deviation = 0
	}
	return s
}

// A Mix is a point of Fig. 7: four jobs of two processes, IO of them I/O-bound.
type Mix struct {
	IO      int              `json:"io_jobs"`
	Policy  scheduler.Policy `json:"policy"`
	Compute Spread           `json:"compute_barriers_per_s"` // mean over the compute-bound jobs
	Bound   Spread           `json:"io_barriers_per_s"`      // and over the I/O-bound ones
	Chosen  [jobs]Spread     `json:"chosen"`                 // share of the quanta in which a job's slot was the partner
}

// Figure7 measures barriers a second of compute-bound and I/O-bound jobs.
//
// A compute-bound job computes for 98 % of the time between two barriers, an I/O-bound
// one for 2 %, each time 20 % more or less. So compute-bound processes wait for each
// other for some per cent of the time, which is what lets a partner fit at all. All jobs
// start together, and are ended after whole rounds of strict gang scheduling.
func Figure7(ctx context.Context, c Config) ([]Mix, error) {
	steps := work.Steps(c.Loop)
	var list []Mix
	for _, io := range c.Mixes {
		for _, policy := range policies {
			list = append(list, Mix{IO: io, Policy: policy})
		}
	}
	type values struct {
		compute, bound []float64
		chosen         [jobs][]float64
	}
	measured := make([]values, len(list))
	for range c.Runs { // outside, so that what else the machine does meets all alike
		for i, m := range list {
			barriers, result, err := mix(ctx, c, m, steps)
			if err != nil {
				return nil, fmt.Errorf("%d I/O jobs, %s: %w", m.IO, m.Policy, err)
			}
			v := &measured[i]
			window := (time.Duration(jobs*c.Rounds) * c.Quantum).Seconds()
			var compute, bound float64
			for j, n := range barriers {
				if rate := float64(n) / window; j < jobs-m.IO {
					compute += rate / float64(jobs-m.IO)
				} else {
					bound += rate / float64(m.IO)
				}
				v.chosen[j] = append(v.chosen[j], float64(result.Jobs[j].Guest)/float64(max(result.Quanta, 1)))
			}
			v.compute, v.bound = append(v.compute, compute), append(v.bound, bound)
			c.progress()
		}
	}
	for i := range list {
		list[i].Compute, list[i].Bound = spread(measured[i].compute), spread(measured[i].bound)
		for j := range jobs {
			list[i].Chosen[j] = spread(measured[i].chosen[j])
		}
	}
	return list, nil
}

func (c *Config) progress() {
	if c.Progress != nil {
		c.Progress()
	}
}

// mix runs four jobs for some rounds, and returns the barriers of each.
func mix(ctx context.Context, c Config, m Mix, steps int64) ([]int, *scheduler.Result, error) {
	folder, err := os.MkdirTemp("", "gangd-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(folder)
	var list []scheduler.Job
	for i := range jobs {
		compute, io := .98, .02
		if i >= jobs-m.IO {
			compute, io = io, compute
		}
		args := []string{"loop", "-spread", ".2", "-seed", fmt.Sprint(i), "-steps", fmt.Sprint(max(int64(compute*float64(steps)), 1))}
		if c.Files && io > compute {
			args = append(args, "-files", "1", "-folder", folder)
		} else {
			args = append(args, "-io", time.Duration(io*float64(c.Loop)).String())
		}
		list = append(list, c.job(fmt.Sprintf("job-%d", i), filepath.Join(folder, fmt.Sprint(i)), args...))
	}
	b, err := c.Open(0)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	over := errors.New("the window is over")
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(jobs*c.Rounds)*c.Quantum, over)
	defer cancel()
	result, err := scheduler.Run(limited, list, scheduler.Config{Backend: b, Policy: m.Policy, Quantum: c.Quantum, Factor: math.Inf(1), Log: c.Log})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if !errors.Is(err, over) {
		return nil, nil, fmt.Errorf("jobs ended before the window did: %w", err)
	}
	barriers := make([]int, jobs)
	for i, j := range list {
		text, err := os.ReadFile(j.Output)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		// A job that was ended before it began prints nothing, and a process that lost
		// the others before it was told to end itself complains.
		for line := range strings.Lines(string(text)) {
			_, _ = fmt.Sscanf(line, "barriers %d", &barriers[i])
		}
	}
	return barriers, result, b.Close()
}

func (c *Config) job(name, output string, args ...string) scheduler.Job {
	return scheduler.Job{Name: name, Processes: 2, Output: output, Memory: 16 << 20, Program: strings.Join(args, " "),
		Command: append(append([]string(nil), c.Work...), args...)}
}

// A Makespan is what a policy made of two compute-bound and two I/O-bound jobs that
// arrive together and run to their ends.
type Makespan struct {
	Share     float64          `json:"io_job_computes"` // of the time between two barriers
	Policy    scheduler.Policy `json:"policy"`
	Makespan  float64          `json:"makespan_s"`
	Responses [jobs]float64    `json:"responses_s"` // two compute-bound jobs, two I/O-bound ones
	Quanta    int              `json:"quanta"`
	Pairs     int              `json:"pairs"`
}

// Makespans runs 2 jobs of 80 times 0.1 s of computation and 2 of 60 times 0.2 s, of
// which they compute for a quarter or for a fiftieth, under three policies.
func Makespans(ctx context.Context, c Config) ([]Makespan, error) {
	const loop = 100 * time.Millisecond
	steps := work.Steps(loop)
	count := func(n int) string { return fmt.Sprint(max(1, int(c.Repeat*float64(n)))) }
	var list []Makespan
	for _, share := range []float64{.25, .02} {
		for _, policy := range []scheduler.Policy{scheduler.FCFS, scheduler.Strict, scheduler.Paired} {
			compute := []string{"loop", "-steps", fmt.Sprint(steps), "-n", count(80)}
			io := []string{"loop", "-steps", fmt.Sprint(int64(2 * share * float64(steps))), "-io", time.Duration(2 * (1 - share) * float64(loop)).String(), "-n", count(60)}
			b, err := c.Open(0)
			if err != nil {
				return nil, err
			}
			result, err := scheduler.Run(ctx, []scheduler.Job{c.job("C1", "", compute...), c.job("C2", "", compute...), c.job("I1", "", io...), c.job("I2", "", io...)},
				scheduler.Config{Backend: b, Policy: policy, Quantum: c.Quantum, Factor: math.Inf(1), Log: c.Log})
			if err := errors.Join(err, b.Close()); err != nil {
				return nil, err
			}
			m := Makespan{Share: share, Policy: policy, Makespan: result.Time.Seconds(), Quanta: result.Quanta, Pairs: result.Pairs}
			for i, o := range result.Jobs {
				if o.Err != nil {
					return nil, fmt.Errorf("%s: %w", o.Job.Name, o.Err)
				}
				m.Responses[i] = (o.Ended - o.Submitted).Seconds()
			}
			list = append(list, m)
			c.progress()
		}
	}
	return list, nil
}
