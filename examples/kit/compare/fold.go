package compare

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/folding"
)

// fold runs the workload under a policy of package folding.
func (r *run) fold(ctx context.Context) error {
	policy, err := folding.ParsePolicy(r.policy.base)
	if err != nil {
		return err
	}
	w, o := r.workload, r.outcome
	jobs := make([]molding.Job, len(w.Jobs))
	for i, j := range w.Jobs {
		// Relative to all that it asks for, so that the work of jobs on very many
		// processors is in range.
		speedup := func(p int) float64 { return molding.Linear(p) / molding.Linear(j.Processors) }
		jobs[i] = molding.Job{Submit: j.Submit, Class: class(j.Estimate), Work: j.Run, Request: j.Processors, Speedup: speedup}
	}
	started := 0
	c := molding.Config{Processors: w.Processors, Policy: policy, Sharing: molding.CoScheduling, Watch: func(d molding.Decision) {
		r.progress(started - len(d.Running))
		for _, s := range d.Steps {
			if s.Kind == folding.Start {
				started++
			}
		}
		if r.config.Decisions {
			r.folded(d)
		}
	}}
	outcomes, err := molding.Run(ctx, jobs, c)
	if err != nil {
		return err
	}
	for i, done := range outcomes {
		o.Jobs[i].Start, o.Jobs[i].End = done.Start, done.End
	}
	r.progress(len(jobs))
	if r.config.Decisions {
		done := outcomes[r.config.Follow]
		r.tell(done.End, "ends", "after %v, on %.3g processors on average", o.Jobs[r.config.Follow].Response().Round(time.Second), done.Processors)
	}
	return nil
}

// folded tells what a decision means for the followed job.
func (r *run) folded(d molding.Decision) {
	view := func(s folding.Step) string {
		return fmt.Sprintf("%d of the %d processors that it asked for", s.Processors, r.workload.Jobs[r.config.Follow].Processors)
	}
	long, unfolded := 0, 0
	for _, x := range d.State.Running {
		if x.Class == folding.Long {
			long++
			if x.Folds() == 1 {
				unfolded++
			}
		}
	}
	state := fmt.Sprintf("%d processors idle, %d jobs running, %d of them long and %d of those unfolded", d.Idle, len(d.Running), long, unfolded)
	at, starts := slices.Index(d.Queued, r.config.Follow), false
	for _, s := range d.Steps {
		switch {
		case s.Kind == folding.Start && s.Job == at:
			starts = true
			r.tell(d.Now, fmt.Sprintf("starts with %d processes on %s", s.Processes, view(s)), "%s", state)
		case s.Kind != folding.Start && d.Running[s.Job] == r.config.Follow:
			r.tell(d.Now, fmt.Sprintf("%vs to %s", s.Kind, view(s)), "%s, %d waiting", state, len(d.Queued))
		}
	}
	if at >= 0 && !starts && len(r.outcome.Decisions) == 0 {
		r.tell(d.Now, fmt.Sprintf("waits as a %v job", d.State.Queued[at].Class), "%d ahead; %s", at, state)
	}
}
