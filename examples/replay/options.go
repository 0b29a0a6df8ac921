package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

const intro = `replay runs a workload of rigid parallel jobs through a space-shared machine,
once under each scheduling policy, and compares what the jobs went through.

  replay                                    generated workload, every policy
  replay -trace log.swf.gz -policy easy     a log in Standard Workload Format
  replay -policy easy,easy+memory,easy+relaxed -memory 16GiB -out figures
  replay -policy conservative -explain 4711

Policies, and what holds a reservation, so that no job that overtakes may delay it:

  fcfs           first come, first served; nobody overtakes
  easy           the head of the queue
  conservative   every queued job
  depth=k        the first k queued jobs (0: none, every job that fits starts)

Each comes in three forms:

  easy           memory is ignored
  easy+memory    memory is a second resource: jobs of more memory than there is
                 left wait, and reservations cover it too
  easy+relaxed   the same, but jobs that have waited -threshold times their
                 estimate may use -excess more memory than there is; all running
                 jobs then slow down by Tay and Zou's factor

A job runs until its run time or its estimate is over, whichever is first; jobs
that never ran, or are larger than the machine, are left out and counted. A job
of more memory than its limit can be runs alone. Only +relaxed models what paging
costs; that job pays too.

Flags:
`

type options struct {
	trace             string
	processors, jobs  int
	memory            int64
	policies          []policy
	order             des.Order
	load              float64
	excess, threshold float64
	seed              uint64
	starts, out       string
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
	policies := f.String("policy", "all", "comma-separated `list` of policies; all is fcfs, easy, depth=8 and conservative, each in its three forms")
	order := f.String("order", "batch", "what happens first at one instant: `batch` (terminations, submissions, one pass), submit-first or terminate-first (a pass after each event)")
	f.Float64Var(&o.load, "load", 0, fmt.Sprintf("offered `load` to scale the times between submissions to, .8 is 80 %% (default: the log's own; %v for the generated workload)", defaultLoad))
	f.IntVar(&o.jobs, "jobs", 0, fmt.Sprintf("number of jobs: the first of the log (default: all), or to be generated (default %d)", defaultJobs))
	f.Uint64Var(&o.seed, "seed", 1, "seed of the generated workload")
	f.Float64Var(&o.excess, "excess", .1, "C of +relaxed: by what `share` the memory limit may be exceeded")
	f.Float64Var(&o.threshold, "threshold", 25, "T of +relaxed: how many times its estimate a job waits before it may")
	f.StringVar(&o.starts, "starts", "", "write job_id,submit,start,end,procs of every job to `file` (one policy)")
	f.StringVar(&o.out, "out", "", "write tables and plots into `folder`")
	f.Int64Var(&o.explain, "explain", 0, "say why the job of this `number` waited, and when it was promised what")
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
	}{{"excess", o.excess}, {"threshold", o.threshold}} {
		if !(n.value >= 0) || math.IsInf(n.value, 0) {
			return nil, fmt.Errorf("-%s %v: want a number that is not negative", n.name, n.value)
		}
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

// policy is a scheduling policy in one of its forms.
type policy struct {
	name            string
	depth           backfill.Depth
	memory, relaxed bool
}

var forms = []string{"", "+memory", "+relaxed"}

func parsePolicies(list string) ([]policy, error) {
	names := strings.Split(list, ",")
	if list == "all" {
		names = nil
		for _, depth := range []string{"fcfs", "easy", "depth=8", "conservative"} {
			for _, form := range forms {
				names = append(names, depth+form)
			}
		}
	}
	var policies []policy
	for _, name := range names {
		p, err := parsePolicy(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
	}
	return policies, nil
}

func parsePolicy(name string) (policy, error) {
	p := policy{name: name}
	depth, form, formed := strings.Cut(name, "+")
	switch {
	case !formed:
	case form == "memory":
		p.memory = true
	case form == "relaxed":
		p.memory, p.relaxed = true, true
	default:
		return p, fmt.Errorf("-policy %q: after + comes memory or relaxed", name)
	}
	k, isDepth := strings.CutPrefix(depth, "depth=")
	switch n, err := strconv.ParseInt(k, 10, 32); {
	case isDepth && err == nil && n >= 0:
		p.depth = backfill.Depth(n)
	case depth == "fcfs":
		p.depth = backfill.FCFS
	case depth == "easy":
		p.depth = backfill.EASY
	case depth == "conservative":
		p.depth = backfill.Conservative
	default:
		return p, fmt.Errorf("-policy %q: want fcfs, easy, conservative or depth=k with k from 0 on, alone, +memory or +relaxed", name)
	}
	return p, nil
}

// config is the machine under this policy.
func (p policy) config(o *options, processors int, memory int64) spaceshare.Config {
	c := spaceshare.Config{Processors: processors, Depth: p.depth, Order: o.order}
	if p.memory {
		c.Memory = memory
	}
	if p.relaxed {
		c.Excess, c.Threshold, c.Penalty = o.excess, o.threshold, paging.TayZou
	}
	return c
}
