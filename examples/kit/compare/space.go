package compare

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

// brief is at how many instants a brief explanation asks every time.
const brief = 100

// unlimited is C of a limit that no demand reaches.
const unlimited = 1e18

// machine is the space-shared machine of the policy.
func (r *run) machine() spaceshare.Config {
	c := spaceshare.Config{Processors: r.workload.Processors, Depth: r.policy.depth, Order: r.config.Order}
	if r.policy.form != Plain {
		c.Memory = r.config.Memory
	}
	if c.Memory > 0 {
		switch r.policy.form {
		case Relaxed:
			c.Excess, c.Threshold, c.Penalty = r.config.Excess, r.config.Threshold, paging.TayZou
		case Paging:
			c.Excess, c.Penalty = unlimited, paging.TayZou
		}
	}
	r.outcome.Pages = c.Penalty != nil
	return c
}

// space runs the workload under space sharing.
func (r *run) space(ctx context.Context) error {
	c := r.machine()
	var last reason
	asked, next := 0, time.Duration(0)
	c.Watch = func(now time.Duration, m *spaceshare.Machine) {
		r.progress(m.Ended())
		if !r.config.Decisions || now < next || !m.Waiting(r.config.Follow) {
			return
		}
		r.explain(now, m, &last)
		if asked++; r.config.Brief && asked >= brief {
			next = now + (now-r.workload.Jobs[r.config.Follow].Submit)/10
		}
	}
	result, err := spaceshare.Replay(ctx, r.workload.Jobs, c)
	if err != nil {
		return err
	}
	o := r.outcome
	o.Alone = result.Alone
	for i := range o.Jobs {
		j := &o.Jobs[i]
		j.Start, j.End = result.Starts[i], result.Ends[i]
		o.Paged += j.RunningTime() - j.Run
	}
	if r.config.Decisions {
		j := o.Jobs[r.config.Follow]
		r.tell(j.Start, "starts", "after a wait of %v", j.Wait())
		if stretched := j.RunningTime() - j.Run; stretched > 0 {
			r.tell(j.End, "ends", "%v later than without paging", stretched.Round(time.Second))
		}
	}
	return nil
}

// reason is why a job waits; it is told when it changes.
type reason struct {
	decision backfill.Decision // Start only if promised
	blocker  int               // index of the job that Decision.Which names
	ahead    int
}

// explain tells why the job waits, after an instant.
func (r *run) explain(now time.Duration, m *spaceshare.Machine, last *reason) {
	state, ids := m.Planner().State()
	decisions, err := backfill.Explain(state)
	if err != nil {
		r.tell(now, "waits", "%v", err)
		return
	}
	at := slices.Index(ids, int32(r.config.Follow))
	d := decisions[at]
	why := reason{decision: d, ahead: at, blocker: -1}
	if d.Cause == backfill.Reservation || d.Cause == backfill.Order {
		why.blocker = int(ids[d.Which])
	}
	expected := "no start can be foreseen"
	if d.Start < backfill.Forever {
		expected = "expected to start at " + Instant(m.When(d.Start))
	}
	if d.Reserved {
		expected = "reserved to start at " + Instant(m.When(d.Start))
	} else {
		why.decision.Start = 0
	}
	if why != *last {
		*last = why
		r.tell(now, r.because(why), "%d ahead, %s", at, expected)
	}
}

func (r *run) because(why reason) string {
	switch number := func() int64 { return r.workload.Numbers[why.blocker] }; why.decision.Cause {
	case backfill.Resource:
		return "waits for " + [...]string{"processors", "memory"}[why.decision.Which]
	case backfill.Reservation:
		if why.blocker == r.config.Follow {
			return "waits for its own reservation"
		}
		return fmt.Sprintf("would delay the reservation of job %d", number())
	case backfill.Order:
		return fmt.Sprintf("waits for its turn behind job %d", number())
	default:
		return "starts"
	}
}

// Instant writes a point in time in the log's seconds, with as many decimals as it
// has.
func Instant(t time.Duration) string { return Seconds(t) + " s" }

// Seconds is [Instant] without the unit.
func Seconds(t time.Duration) string {
	if t%time.Second == 0 {
		return strconv.FormatInt(int64(t/time.Second), 10)
	}
	return strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
}
