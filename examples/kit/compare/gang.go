package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/examples/kit/partner"
	"github.com/gangkit/gangkit/matrix"
	"github.com/gangkit/gangkit/paging"
)

// switching is what it costs if two processes on a processor both want more of it
// than there is.
const switching = .02

// patience is after how many times the span of the submissions, and how many times
// what the machine needs for all jobs at full speed, gang scheduling is given up.
// It is given up, too, if there are so many slots: a job then runs for one quantum in
// as many.
const (
	patience = 2
	maxSlots = 100
)

// Drawn is how many slots a picture of the matrix may have.
const Drawn = 40

// gang runs the workload under gang scheduling.
func (r *run) gang(ctx context.Context) error {
	w, o := r.workload, r.outcome
	node := r.config.Memory / int64(w.Processors)
	jobs := make([]gang.Job, len(w.Jobs))
	var work, longest float64
	for i, j := range w.Jobs {
		jobs[i] = gang.Job{Submit: j.Submit, Nodes: j.Processors}
		if node > 0 {
			jobs[i].Memory = min(j.Memory/int64(j.Processors), node)
		}
		work += j.Run.Seconds() * float64(j.Processors) / float64(w.Processors)
		longest = max(longest, j.Run.Seconds())
	}
	first := w.Jobs[0].Submit
	span := (w.Jobs[len(w.Jobs)-1].Submit - first).Seconds()
	machine := &gang.Fluid{
		Switch: switching,
		Phases: func(job int) []gang.Phase { return []gang.Phase{{Work: w.Jobs[job].Run, CPU: w.CPU[job]}} },
	}
	c := gang.Config{
		Nodes: w.Processors, Quantum: cmp.Or(r.config.Quantum, time.Minute), Alternates: true, Machine: machine,
		Until:      first + time.Duration(min(patience*max(span, work+longest), maxSeconds))*time.Second,
		UntilSlots: maxSlots,
	}
	if node > 0 {
		o.Pages = true
		machine.Available, machine.Memory, machine.Paging = node, func(job int) int64 { return jobs[job].Memory }, speed
		if r.policy.form == Memory {
			c.Memory, c.Factor = node, cmp.Or(r.config.Factor, 1)
		}
	}
	if r.policy.base == "paired" {
		c.Partner = partner.New(partner.Paired, len(jobs))
	}
	slot := -1
	c.Watch = func(now time.Duration, cluster *gang.Cluster) {
		r.progress(cluster.Ended())
		m := cluster.Matrix()
		if n := m.Slots(); n > o.MaxSlots {
			o.MaxSlots = n
			if n <= Drawn {
				o.Matrix, o.MatrixAt = r.draw(m), now
			}
		}
		if r.config.Decisions && cluster.Arrived() > r.config.Follow {
			slot = r.place(now, m, slot)
		}
	}
	result, err := gang.Run(ctx, jobs, c)
	if err != nil {
		return err
	}
	for i, done := range result.Jobs {
		j := &o.Jobs[i]
		j.Start, j.End = done.Start, done.End
		j.Memory = jobs[i].Memory * int64(j.Processors)
		o.Paged += done.Paged
		if done.Cut {
			o.Unfinished++
			if done.Start == done.End {
				o.NotStarted++
			}
		}
	}
	if r.config.Decisions {
		j, done := o.Jobs[r.config.Follow], result.Jobs[r.config.Follow]
		what, why := "ends", fmt.Sprintf("after %v, of which it would have run %v on its own", j.Response().Round(time.Second), j.Run)
		if done.Cut {
			what, why = "is given up", "with all jobs, as the machine has broken down"
		}
		if done.Paged >= time.Second {
			why += fmt.Sprintf("; it waited %v for its memory", done.Paged.Round(time.Second))
		}
		if done.Skips > 0 {
			why += fmt.Sprintf("; %d jobs overtook it in the queue", done.Skips)
		}
		r.tell(j.End, what, "%s", why)
	}
	return nil
}

// maxSeconds bounds a run.
const maxSeconds = 1 << 32

// speed is that of processes which have a share of their memory, by the factor of
// Tay and Zou for a demand of one over that share.
func speed(_ int, share float64) float64 {
	const size = 1 << 30
	demand := size / share
	if !(demand < math.MaxInt64) {
		demand = math.MaxInt64
	}
	return 1 / paging.TayZou(int64(demand), size)
}

// draw returns the matrix in numbers of jobs.
func (r *run) draw(m *matrix.Matrix[int]) [][]int {
	slots := make([][]int, m.Slots())
	for s := range slots {
		slots[s] = slices.Repeat([]int{-1}, r.workload.Processors)
		for pe, job := range m.Row(s) {
			slots[s][pe] = int(r.workload.Numbers[job])
		}
	}
	return slots
}

// waits stands for the slot of a job that is in the queue.
const waits = -2

// place tells where in the matrix the followed job is, if that has changed, and
// returns its slot, -1 as long as it has not come.
func (r *run) place(now time.Duration, m *matrix.Matrix[int], before int) int {
	slot, ok := m.Slot(r.config.Follow)
	switch {
	case !ok && before == -1:
		r.tell(now, "waits for memory", "its processes do not fit beside those which are there")
		return waits
	case !ok:
		return before
	case before < 0:
		r.tell(now, fmt.Sprintf("gets slot %d of %d", slot+1, m.Slots()), "%s", processors(m, r.config.Follow))
	case slot != before:
		r.tell(now, fmt.Sprintf("now in slot %d of %d", slot+1, m.Slots()), "slots were unified, or the last one was emptied")
	}
	return slot
}

// processors writes where a gang is.
func processors(m *matrix.Matrix[int], job int) string {
	pes := slices.Sorted(m.PEs(job))
	if first, last := pes[0], pes[len(pes)-1]; last-first+1 == len(pes) {
		return fmt.Sprintf("processors %d to %d", first, last)
	}
	return fmt.Sprintf("%d processors between %d and %d", len(pes), pes[0], pes[len(pes)-1])
}
