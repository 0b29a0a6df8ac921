package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const intro = `replay runs a workload through a machine, once under each scheduling policy,
and compares what the jobs went through.

  replay                                    generated workload, every policy
  replay -trace log.swf.gz -policy easy     a log in Standard Workload Format
  replay -policy easy,easy+memory,gang+memory -memory 16GiB -out figures
  replay -policy conservative -explain 4711
  replay -policy easy,easy+memory,easy+paging -sweep "load=.5,.7,.9 memory=.5,1" -out sweep

Space sharing: a job has its processors until it ends. What has a reservation, which
no job that overtakes may delay:

  fcfs           first come, first served; nobody overtakes
  easy           the head of the queue
  conservative   every queued job
  depth=k        the first k queued jobs (0: none, every job that fits starts)

These alone ignore memory. Each also comes with

  +memory    memory is a second resource: jobs of more memory than there is
             left wait, and reservations cover it too
  +relaxed   the same, but jobs that have waited -threshold times their
             estimate may use -excess more memory than there is
  +paging    jobs start as if there were memory for all

Gang scheduling: all slots of a matrix take turns, a -quantum each.

  gang           a job gets a slot at once, whatever its memory
  paired         the same, and gangs that wait for I/O share quanta
  +memory        jobs are admitted by their memory, else they wait

Folding: jobs start on fewer processors than they ask for, several processes on each.

  fjt, folding, psa, asp, equipartition

Where memory is exceeded (+relaxed, +paging, gang and paired) everything takes longer
by Tay and Zou's factor. A run that breaks down under it is given up; what became of
its jobs is not shown, and the last column counts those that never started.

A job runs until its run time or its estimate is over, whichever is first; jobs
that never ran, or are larger than the machine, are left out and counted. Under space
sharing a job of more memory than its limit can be runs alone.

What a log does not tell is made up, seeded by -seed, and said to be: memory, the
share of its time that a job computes. Folding takes jobs for long that are estimated
for more than an hour, and their speed for that of their processors.

Flags:
`

type options struct {
	trace             string
	processors, jobs  int
	memory            int64
	policies          []compare.Policy
	order             des.Order
	load              float64
	excess, threshold float64
	factor            float64
	quantum           time.Duration
	seed              uint64
	starts, out       string
	sweep             *sweep
	explain           int64
	json              bool
}

// The generated workload's defaults.
const (
	defaultJobs       = 10_000
	defaultProcessors = 128
	defaultLoad       = .65
)

// maxLoad bounds -load: beyond it all jobs arrive at once.
const maxLoad = 100

// parse reads the command line.
func parse(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	f.StringVar(&o.trace, "trace", "", "log to replay, `file` in Standard Workload Format, plain or gzip (default: jobs of the Lublin-Feitelson model)")
	f.IntVar(&o.processors, "procs", 0, fmt.Sprintf("processors of the machine (default: what the log says; %d for the generated workload)", defaultProcessors))
	memory := f.String("memory", "", "memory of the machine, one pool, as `size` like 64GiB (default: twice what the jobs use on average when they keep all processors busy)")
	policies := f.String("policy", "all", "comma-separated `list` of policies; all is those above, with k = 8, in all their forms")
	order := f.String("order", "batch", "what happens first at one instant: `batch` (terminations, submissions, one pass), submit-first or terminate-first (a pass after each event)")
	f.Float64Var(&o.load, "load", 0, fmt.Sprintf("offered `load` to scale the times between submissions to, .8 is 80 %% (default: the log's own; %v for the generated workload)", defaultLoad))
	f.IntVar(&o.jobs, "jobs", 0, fmt.Sprintf("number of jobs: the first of the log (default: all), or to be generated (default %d)", defaultJobs))
	f.Uint64Var(&o.seed, "seed", 1, "seed of the generated workload, and of what a log does not tell")
	f.Float64Var(&o.excess, "excess", .1, "C of +relaxed: by what `share` the memory limit may be exceeded")
	f.Float64Var(&o.threshold, "threshold", 25, "T of +relaxed: how many times its estimate a job waits before it may")
	f.Float64Var(&o.factor, "factor", 1, "C of gang scheduling with +memory: the limit of a processor's memory as a share of it")
	f.DurationVar(&o.quantum, "quantum", time.Minute, "`time` for which a slot runs under gang scheduling")
	f.StringVar(&o.starts, "starts", "", "write job_id,submit,start,end,procs of every job to `file` (one policy)")
	f.StringVar(&o.out, "out", "", "write tables and plots into `folder`")
	f.Int64Var(&o.explain, "explain", 0, "say why the job of this `number` waited, and when it was promised what")
	sweep := f.String("sweep", "", "simulate every policy at all `points` of \"load=.5,.7,.9 memory=.5,1,2\" (memory: times that without), into -out; run again it goes on")
	f.BoolVar(&o.json, "json", false, "print one JSON array instead of the table, an object a policy")

	err := command.Parse(f, intro, args)
	if err != nil {
		return nil, err
	}
	given := command.Given(f)
	for _, n := range []struct {
		name  string
		value int
	}{{"procs", o.processors}, {"jobs", o.jobs}} {
		if given[n.name] && (n.value <= 0 || n.value > math.MaxInt32) {
			return nil, fmt.Errorf("-%s %d: want a number from 1 to %d", n.name, n.value, math.MaxInt32)
		}
	}
	if given["load"] && !(o.load > 0 && o.load <= maxLoad) {
		return nil, fmt.Errorf("-load %v: want a number above 0, up to %d", o.load, maxLoad)
	}
	for _, n := range []struct {
		name  string
		value float64
	}{{"excess", o.excess}, {"threshold", o.threshold}, {"factor", o.factor}} {
		if !(n.value >= 0) || math.IsInf(n.value, 0) {
			return nil, fmt.Errorf("-%s %v: want a number that is not negative", n.name, n.value)
		}
	}
	if o.factor == 0 {
		return nil, fmt.Errorf("-factor 0: want a number above 0")
	}
	if o.quantum < time.Second || o.quantum > 24*time.Hour {
		return nil, fmt.Errorf("-quantum %v: want a time from 1s to 24h", o.quantum)
	}
	if given["memory"] {
		size, err := humanize.ParseBytes(*memory)
		if err != nil || size == 0 || size > math.MaxInt64/2 {
			return nil, fmt.Errorf("-memory %q: want a size like 64GiB or 500MB", *memory)
		}
		o.memory = int64(size)
	}
	if o.order, err = des.ParseOrder(*order); err != nil {
		return nil, fmt.Errorf("-order: %w", err)
	}
	if o.policies, err = parsePolicies(*policies); err != nil {
		return nil, err
	}
	if o.starts != "" {
		if len(o.policies) != 1 {
			return nil, fmt.Errorf("-starts %s: needs one policy, not the %d of -policy %s", o.starts, len(o.policies), *policies)
		}
		switch s, err := os.Stat(o.starts); {
		case err == nil && s.IsDir():
			return nil, fmt.Errorf("-starts %s: is a folder", o.starts)
		case err == nil && !s.Mode().IsRegular(): // a pipe, a terminal
		default:
			if err := report.Writable(filepath.Dir(o.starts)); err != nil {
				return nil, fmt.Errorf("-starts %s: %w", o.starts, err)
			}
		}
	}
	if *sweep != "" {
		if o.sweep, err = parseSweep(*sweep); err != nil {
			return nil, err
		}
		switch {
		case o.out == "":
			return nil, fmt.Errorf("-sweep %q: needs -out, where it keeps its points", *sweep)
		case o.starts != "" || o.explain != 0:
			return nil, fmt.Errorf("-sweep %q: goes with neither -starts nor -explain", *sweep)
		case given["load"] && len(o.sweep.loads) > 0:
			return nil, fmt.Errorf("-sweep %q: goes without -load", *sweep)
		}
	}
	if o.out != "" {
		if err := report.Writable(o.out); err != nil {
			return nil, fmt.Errorf("-out %s: %w", o.out, err)
		}
	}
	if o.trace == "" {
		o.processors = cmp.Or(o.processors, defaultProcessors)
		o.jobs = cmp.Or(o.jobs, defaultJobs)
		o.load = cmp.Or(o.load, defaultLoad)
	}
	return o, nil
}

func parsePolicies(list string) ([]compare.Policy, error) {
	names := strings.Split(list, ",")
	if list == "all" {
		names = compare.Names()
	}
	var policies []compare.Policy
	for _, name := range names {
		p, err := compare.Parse(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("-policy %w", err)
		}
		policies = append(policies, p)
	}
	return policies, nil
}

// config is the machine.
func (o *options) config(memory int64) compare.Config {
	return compare.Config{
		Memory: memory, Order: o.order, Excess: o.excess, Threshold: o.threshold, Factor: o.factor, Quantum: o.quantum,
	}
}
