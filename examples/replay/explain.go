package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// explainer follows one job through the queue.
type explainer struct {
	workload *workload.Workload
	policy   policy
	job      int // index, negative for none
	last     reason
	text     []string
}

// reason is why the job waits; a line is written when it changes.
type reason struct {
	decision backfill.Decision // Start only if promised
	blocker  int               // index of the job that Decision.Which names
	ahead    int
}

// watch looks at the job after an instant.
func (e *explainer) watch(now time.Duration, m *spaceshare.Machine) {
	if e.job < 0 || !m.Waiting(e.job) {
		return
	}
	state, ids := m.Planner().State()
	decisions, err := backfill.Explain(state)
	if err != nil {
		e.text = append(e.text, err.Error())
		return
	}
	at := slices.Index(ids, int32(e.job))
	d := decisions[at]
	r := reason{decision: d, ahead: at, blocker: -1}
	if d.Cause == backfill.Reservation || d.Cause == backfill.Order {
		r.blocker = int(ids[d.Which])
	}
	expected := "no start can be foreseen"
	if d.Start < backfill.Forever {
		expected = "expected to start at " + instant(m.When(d.Start))
	}
	if d.Reserved {
		expected = "reserved to start at " + instant(m.When(d.Start))
	} else {
		r.decision.Start = 0
	}
	if r != e.last {
		e.last = r
		e.text = append(e.text, fmt.Sprintf("  %s  %d ahead, %s, %s", instant(now), at, e.because(r), expected))
	}
}

func (e *explainer) because(r reason) string {
	switch number := func() int64 { return e.workload.Numbers[r.blocker] }; r.decision.Cause {
	case backfill.Resource:
		return "waits for " + [...]string{"processors", "memory"}[r.decision.Which]
	case backfill.Reservation:
		if r.blocker == e.job {
			return "waits for its own reservation"
		}
		return fmt.Sprintf("would delay the reservation of job %d", number())
	case backfill.Order:
		return fmt.Sprintf("waits for its turn behind job %d", number())
	default:
		return "starts"
	}
}

// lines returns the story of the job, if there is one to tell.
func (e *explainer) lines(result spaceshare.Result) []string {
	if e.job < 0 {
		return nil
	}
	j := e.workload.Jobs[e.job]
	head := fmt.Sprintf("\n%s: job %d, %d processors, %s, estimate %v, submitted at %s",
		e.policy.name, e.workload.Numbers[e.job], j.Processors, humanize.IBytes(uint64(j.Memory)), j.Estimate, instant(j.Submit))
	start := result.Starts[e.job]
	tail := fmt.Sprintf("  %s  starts after a wait of %v", instant(start), start-j.Submit)
	return append(append([]string{head}, e.text...), tail)
}

// instant writes a point in time in the log's seconds.
func instant(t time.Duration) string { return seconds(t) + " s" }
