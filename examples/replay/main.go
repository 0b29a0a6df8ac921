// Command replay replays a workload on a space-shared machine under FCFS, EASY
// and conservative backfilling, with and without memory as a second resource,
// and puts the policies into one table. Run it with -h.
package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
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
	job := -1
	if o.explain != 0 {
		if job = slices.Index(w.Numbers, o.explain); job < 0 {
			return command.Input(fmt.Errorf("-explain %d: no such job in %s, or dropped", o.explain, w.Name))
		}
	}

	progress := command.Progress(stderr, "replaying", int64(len(w.Jobs)*len(o.policies)))
	var outcomes []outcome
	for _, p := range o.policies {
		result, err := simulate(ctx, o, w, p, memory, job, progress)
		if err != nil {
			progress.Done()
			return fmt.Errorf("%s: %w", p.name, err)
		}
		outcomes = append(outcomes, result)
	}
	progress.Done()

	if o.starts != "" {
		if err := report.WriteFile(o.starts, func(out io.Writer) error { return writeStarts(out, w, outcomes[0]) }); err != nil {
			return err
		}
	}
	if o.out != "" {
		if err := writeReport(ctx, o, w, memory, outcomes); err != nil {
			return err
		}
	}
	if o.json {
		return report.WriteJSON(stdout, records(o, w, outcomes))
	}
	if err := table(o, w, memory, outcomes).WriteText(stdout); err != nil {
		return err
	}
	fmt.Fprintln(stdout, notes(w, memory, outcomes))
	for _, r := range outcomes {
		for _, line := range r.explanation {
			fmt.Fprintln(stdout, line)
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
	if o.trace != "" && o.jobs > 0 && o.jobs < len(w.Jobs) {
		w.Jobs, w.Numbers = w.Jobs[:o.jobs], w.Numbers[:o.jobs]
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

// outcome is what a policy made of the workload.
type outcome struct {
	policy      policy
	jobs        []metrics.Job
	summary     metrics.Summary
	alone       int
	took        time.Duration
	explanation []string
}

// simulate replays the workload under one policy. If job is an index, its wait
// is explained.
func simulate(ctx context.Context, o *options, w *workload.Workload, p policy, memory int64, job int, progress *report.Progress) (outcome, error) {
	c := p.config(o, w.Processors, memory)
	ended := 0
	why := explainer{workload: w, policy: p, job: job}
	c.Watch = func(now time.Duration, m *spaceshare.Machine) {
		progress.Add(int64(m.Ended() - ended))
		ended = m.Ended()
		why.watch(now, m)
	}
	began := time.Now()
	result, err := spaceshare.Replay(ctx, w.Jobs, c)
	took := time.Since(began)
	if err != nil {
		return outcome{}, err
	}
	r := outcome{policy: p, took: took, alone: result.Alone, jobs: make([]metrics.Job, len(w.Jobs))}
	for i, j := range w.Jobs {
		r.jobs[i] = metrics.Job{
			Submit: j.Submit, Start: result.Starts[i], End: result.Ends[i],
			Run: j.Run, Processors: j.Processors, Memory: j.Memory,
		}
	}
	if r.summary, err = metrics.Summarize(r.jobs, metrics.Machine{Processors: w.Processors, Memory: memory}); err != nil {
		return outcome{}, err
	}
	r.explanation = why.lines(result)
	return r, nil
}
