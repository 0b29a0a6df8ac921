// Command makespan measures how long four gangs take on two processors that Slurm shares
// out in different ways. Run it with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const intro = `makespan runs two gangs that compute (C) and two that wait half of the time (I) on a Slurm of
its own, of two virtual nodes of one processor each. A gang has a process on each node. The
processes compute, C for 100 ms, I for 50 ms and then sleep for 150 ms, tell each other over
TCP that they are ready, and do so again, for a number of steps. Node i is processor i of this
machine.

  fcfs       gangd: one gang after the other
  gang       Slurm's own gang scheduling, with its shortest time slice, 5 s
  strict     gangd: gangs take turns, one at a time, a quantum each
  paired     gangd: so do pairs, if their shares of the processor, measured, fit together
  together   all at once, without control

Makespan is from just before the first submission to the last end, response from there to
each end; both have the mean and the sample standard deviation over repeats. The daemons of
Slurm and the polls of this program share the two processors with the gangs.

  makespan            five repeats (20 minutes, most of them gang: a gang whose job Slurm
                      suspends before it has begun waits a minute or two)
  makespan -quick     one repeat of few steps, without gang (half a minute)

Flags:
`

func main() {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		if err := rank(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "makespan: rank:", err)
			os.Exit(1)
		}
		return
	}
	command.Main("makespan", makespan)
}

// A policy runs gangs and returns when all have ended.
type policy struct {
	name string
	slot time.Duration // of Slurm's gang scheduling
	run  func(*experiment, context.Context) error
}

var policies = []policy{
	{"fcfs", 0, scheduled(scheduler.FCFS)},
	{"gang", 5 * time.Second, (*experiment).together},
	{"strict", 0, scheduled(scheduler.Strict)},
	{"paired", 0, scheduled(scheduler.Paired)},
	{"together", 0, (*experiment).together},
}

const memory = 100 << 20 // of a process, as estimated

var gangs = []string{"C1", "C2", "I1", "I2"} // in the order of submission

func makespan(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("makespan", flag.ContinueOnError)
	steps := f.Int("steps", 40, "`number` of steps of C; I has three quarters of them")
	slot := f.Duration("slot", 2*time.Second, "length of a quantum, of strict and paired")
	repeats := f.Int("repeats", 5, "`number` of repeats of each policy")
	names := f.String("policies", "fcfs,gang,strict,paired,together", "`names` of the policies")
	quick := f.Bool("quick", false, "as -steps 8 -slot 500ms -repeats 1 -policies fcfs,strict,paired,together")
	asCSV := f.Bool("csv", false, "print the table as CSV")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if *quick {
		*steps, *slot, *repeats, *names = 8, 500*time.Millisecond, 1, "fcfs,strict,paired,together"
	}
	var chosen []policy
	for name := range strings.SplitSeq(*names, ",") {
		i := slices.IndexFunc(policies, func(p policy) bool { return p.name == name })
		if i < 0 || slices.ContainsFunc(chosen, func(p policy) bool { return p.name == name }) {
			return command.Input(fmt.Errorf("-policies %s: %q is none, or there twice", *names, name))
		}
		chosen = append(chosen, policies[i])
	}
	switch {
	case *steps < 4 || *steps > 100_000:
		return command.Input(fmt.Errorf("-steps %d: want 4 to 100000", *steps))
	case *slot < 100*time.Millisecond:
		return command.Input(fmt.Errorf("-slot %v: want 100ms or more", *slot))
	case *repeats < 1 || *repeats > 1000:
		return command.Input(fmt.Errorf("-repeats %d: want 1 to 1000", *repeats))
	}
	if err := cluster.Installed(); err != nil {
		return command.Input(err)
	}
	rounds := calibrate()
	progress := command.Progress(stderr, "makespan", int64(*repeats*len(chosen)))
	defer progress.Done()
	makespans, responses := map[string][]float64{}, map[string]map[string][]float64{}
	for range *repeats { // in turn, so that a change of the machine hits all alike
		for _, p := range chosen {
			ends, err := measure(ctx, p, *steps, rounds, *slot)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if responses[p.name] == nil {
				responses[p.name] = map[string][]float64{}
			}
			last := 0.0
			for _, id := range gangs {
				last = max(last, ends[id].Seconds())
				responses[p.name][id] = append(responses[p.name][id], ends[id].Seconds())
			}
			makespans[p.name] = append(makespans[p.name], last)
			progress.Add(1)
		}
	}
	table := report.Table{Columns: []report.Column{{Title: "policy"},
		{Title: "makespan", Unit: "s", Format: "%.1f"}, {Title: "SD", Unit: "s", Format: "%.1f"}, {Title: "runs"}}}
	for _, id := range gangs {
		table.Columns = append(table.Columns, report.Column{Title: id, Unit: "s", Format: "%.1f"})
	}
	for _, p := range chosen {
		d, err := metrics.Describe(makespans[p.name])
		if err != nil {
			return err
		}
		cells := []any{p.name, d.Mean, d.SD, d.Count}
		for _, id := range gangs {
			d, err := metrics.Describe(responses[p.name][id])
			if err != nil {
				return err
			}
			cells = append(cells, d.Mean)
		}
		table.Add(cells...)
	}
	if *asCSV {
		return table.WriteCSV(stdout)
	}
	return table.WriteText(stdout)
}

// An experiment is one run of one policy.
type experiment struct {
	*slurm.Backend
	jobs  []scheduler.Job
	slot  time.Duration
	begin time.Time
	ends  map[string]time.Duration // since begin
}

func measure(ctx context.Context, p policy, steps int, rounds int64, slot time.Duration) (ends map[string]time.Duration, err error) {
	machines, err := cluster.Start(ctx, cluster.Config{Nodes: 2, Slot: p.slot})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, machines.Stop()) }()
	b, err := slurm.New(slurm.Config{Conf: machines.Conf(), Period: 200 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	e := &experiment{Backend: b, slot: slot, begin: time.Now(), ends: map[string]time.Duration{}}
	for _, id := range gangs {
		n := steps
		if id[0] == 'I' {
			n = steps * 3 / 4
		}
		e.jobs = append(e.jobs, scheduler.Job{Name: id, Processes: 2, Command: []string{
			"/bin/sh", "-c", `exec taskset -c "$GANGD_NODE" "$@"`, "sh",
			self, "rank", id[:1], strconv.Itoa(n), strconv.FormatInt(rounds, 10),
		}})
	}
	return e.ends, p.run(e, ctx)
}

func (e *experiment) start(ctx context.Context, j scheduler.Job) error {
	if err := e.Submit(ctx, backend.Gang{ID: j.Name, Name: j.Name, Command: j.Command}, j.Processes); err != nil {
		return err
	}
	return e.Start(ctx, j.Name, []int{0, 1}, memory)
}

// ended records an exit.
func (e *experiment) ended(exit backend.Exit) error {
	e.ends[exit.ID] = time.Since(e.begin)
	return exit.Err
}

// scheduled leaves it to gangd.
func scheduled(p scheduler.Policy) func(*experiment, context.Context) error {
	return func(e *experiment, ctx context.Context) error {
		result, err := scheduler.Run(ctx, e.jobs, scheduler.Config{Backend: e.Backend, Policy: p, Quantum: e.slot, Memory: memory})
		if err != nil {
			return err
		}
		for _, o := range result.Jobs {
			e.ends[o.Job.Name] = o.Ended
			err = errors.Join(err, o.Err)
		}
		return err
	}
}

func (e *experiment) together(ctx context.Context) error {
	started := make(chan error, len(gangs))
	for _, j := range e.jobs {
		go func() { started <- e.start(ctx, j) }()
	}
	for ended := 0; ended < len(gangs); {
		var err error
		select {
		case err = <-started: // of a gang that has not, no exit is told
		case exit := <-e.Exits():
			ended++
			err = e.ended(exit)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
