// Command replay replays a workload under every policy of the library, space
// sharing with backfilling, gang scheduling and folding, with and without regard for
// memory, and puts the policies into one table. Run it with -h.
package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

func main() { command.Main("replay", replay) }

func replay(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return command.Input(err)
	}
	w, err := load(o)
	if err != nil {
		return command.Input(err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	memory := o.memory
	if memory == 0 {
		memory = w.Memory()
	}
	if o.sweep != nil {
		points, err := runSweep(ctx, o, w, memory, stderr)
		if err != nil {
			return err
		}
		if err := writeSweep(o, w, points); err != nil {
			return err
		}
		if o.json {
			return report.WriteJSON(stdout, points)
		}
		return sweepTable(w, points).WriteText(stdout)
	}
	job := -1
	if o.explain != 0 {
		if job = slices.Index(w.Numbers, o.explain); job < 0 {
			return command.Input(fmt.Errorf("-explain %d: no such job in %s, or dropped", o.explain, w.Name))
		}
	}

	c := o.config(memory)
	c.Follow, c.Decisions = job, job >= 0
	if o.out != "" && job < 0 {
		c.Follow, c.Decisions, c.Brief = example(w), true, true
	}
	outcomes, err := run(ctx, o.policies, w, c, command.Progress(stderr, "replaying", int64(len(w.Jobs)*len(o.policies))))
	if err != nil {
		return err
	}
	if o.starts != "" {
		if err := report.WriteFile(o.starts, func(out io.Writer) error { return writeStarts(out, w, outcomes[0]) }); err != nil {
			return err
		}
	}
	if o.out != "" {
		if err := writeReport(ctx, o, w, outcomes); err != nil {
			return err
		}
		p, err := page(ctx, o, w, c, outcomes)
		if err != nil {
			return err
		}
		p.Command = commandLine(args)
		if err := report.WriteFile(filepath.Join(o.out, "report.html"), p.WriteHTML); err != nil {
			return err
		}
	}
	if o.json {
		return report.WriteJSON(stdout, records(o, w, outcomes))
	}
	for _, t := range []*report.Table{table(o, w, outcomes), classes(w, outcomes)} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, strings.Join(notes(w, memory, outcomes), "\n"))
	if job >= 0 {
		for _, r := range outcomes {
			fmt.Fprintln(stdout)
			explain(stdout, w, job, r)
		}
	}
	return nil
}

// load reads the log, or generates a workload.
func load(o *options) (*workload.Workload, error) {
	w, err := source(o)
	if err != nil {
		return nil, err
	}
	if o.trace != "" && o.jobs > 0 {
		w.Cut(o.jobs)
	}
	if err := w.Synthesize(o.seed); err != nil {
		return nil, err
	}
	if o.load > 0 {
		if err := w.Scale(o.load); err != nil {
			return nil, fmt.Errorf("-load: %w", err)
		}
	}
	return w, nil
}

func source(o *options) (*workload.Workload, error) {
	if o.trace == "" {
		return workload.Generate(o.jobs, o.processors, o.seed)
	}
	r, err := swf.Open(o.trace)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return workload.Read(o.trace, r, o.processors)
}

// run runs the workload under every policy, as many at a time as there are cores.
func run(ctx context.Context, policies []compare.Policy, w *workload.Workload, c compare.Config, progress *report.Progress) ([]*compare.Outcome, error) {
	defer progress.Done()
	var guard sync.Mutex
	c.Progress = func(ended int) {
		guard.Lock()
		defer guard.Unlock()
		progress.Add(int64(ended))
	}
	outcomes := make([]*compare.Outcome, len(policies))
	return outcomes, parallel.Each(ctx, len(policies), func(ctx context.Context, i int) (err error) {
		if outcomes[i], err = policies[i].Run(ctx, w, c); err != nil {
			return fmt.Errorf("%s: %w", policies[i].Name, err)
		}
		return nil
	}, nil)
}
