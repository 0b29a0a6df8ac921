package spaceshare_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

// What a watcher is told at every instant is what the result says of it in the
// end.
func TestWatchAgreesWithTheResult(t *testing.T) {
	for seed := range uint64(30) {
		jobs := randomJobs(seed, 60, 8, 100)
		for _, depth := range []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY, 3, backfill.Conservative} {
			for order := des.Batch; order <= des.TerminateFirst; order++ {
				type view struct {
					now     time.Duration
					ended   int
					used    admission.Usage
					waiting []bool
				}
				var views []view
				_, result := replay(t, jobs, spaceshare.Config{
					Processors: 8, Memory: 150, Depth: depth, Order: order, Excess: .4, Threshold: .5, Penalty: paging.TayZou,
					Watch: func(now time.Duration, m *spaceshare.Machine) {
						v := view{now, m.Ended(), m.Used(), make([]bool, len(jobs))}
						for i := range jobs {
							v.waiting[i] = m.Waiting(i)
						}
						views = append(views, v)
						if next, ok := m.Planner().Next(); ok && next < backfill.Forever {
							require.Greater(t, m.When(next), now, "a reservation that is due must have started")
						}
					},
				})
				for _, v := range views {
					want := view{now: v.now, waiting: make([]bool, len(jobs))}
					for i, j := range jobs {
						switch {
						case result.Ends[i] <= v.now:
							want.ended++
						case result.Starts[i] <= v.now:
							want.used.Processors += j.Processors
							want.used.Memory += j.Memory
						default:
							want.waiting[i] = j.Submit <= v.now
						}
					}
					require.Equal(t, want, v, "seed %d, depth %v, %v", seed, depth, order)
				}
			}
		}
	}
}

// A job that has started has no limit left to relax: nothing happens when its
// threshold comes.
func TestStartedJobsDoNotWakeTheMachine(t *testing.T) {
	var instants []time.Duration
	replay(t, []spaceshare.Job{job(0, 100, 100, 1, 10)}, spaceshare.Config{
		Processors: 1, Memory: 10, Excess: .5, Threshold: .25,
		Watch: func(now time.Duration, _ *spaceshare.Machine) { instants = append(instants, now) },
	})
	assert.Equal(t, []time.Duration{0, 100 * time.Second}, instants)
}

// What is not considered is not in use, however much there is of it.
func TestIgnoredMemoryIsNotInUse(t *testing.T) {
	jobs := []spaceshare.Job{job(0, 5, 5, 1, math.MaxInt64), job(0, 5, 5, 2, math.MaxInt64)}
	var seen []admission.Usage
	replay(t, jobs, spaceshare.Config{Processors: 3, Watch: func(_ time.Duration, m *spaceshare.Machine) {
		seen = append(seen, m.Used())
	}})
	assert.Equal(t, []admission.Usage{{Processors: 3}, {}}, seen)
}

// A replay is cancelled from within: it ends soon, not at the next submission.
func TestReplayCancelledUnderWayEnds(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	instants := 0
	_, err := spaceshare.Replay(ctx, randomJobs(1, 20_000, 8, 100), spaceshare.Config{
		Processors: 8,
		Watch: func(time.Duration, *spaceshare.Machine) {
			if instants++; instants == 3000 {
				cancel(why)
			}
		},
	})
	assert.ErrorIs(t, err, why)
	assert.Less(t, instants, 6000)
}

// Time has no unit and no origin: longer seconds, or a later epoch, give the
// same schedule.
func TestScaledAndShiftedTimesGiveTheSameSchedule(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 12))
		scale, shift := time.Duration(1+r.IntN(1000)), time.Duration(r.IntN(1000))*time.Hour
		jobs := randomJobs(seed, 60, 8, 100)
		moved := make([]spaceshare.Job, len(jobs))
		for i, j := range jobs {
			j.Submit, j.Run, j.Estimate = j.Submit*scale+shift, j.Run*scale, j.Estimate*scale
			moved[i] = j
		}
		for _, depth := range []backfill.Depth{backfill.FCFS, backfill.EASY, backfill.Conservative} {
			c := spaceshare.Config{Processors: 8, Memory: 150, Depth: depth, Excess: .5, Threshold: 2}
			_, a := replay(t, jobs, c)
			_, b := replay(t, moved, c)
			for i := range jobs {
				require.Equal(t, a.Starts[i]*scale+shift, b.Starts[i], "seed %d, depth %v", seed, depth)
			}
		}
	}
}

// The replay only reads its jobs, and says the same again.
func TestReplayIsDeterministicAndKeepsItsInput(t *testing.T) {
	jobs, same := randomJobs(7, 500, 8, 100), randomJobs(7, 500, 8, 100)
	c := spaceshare.Config{Processors: 8, Memory: 150, Depth: backfill.EASY, Excess: .4, Threshold: .5, Penalty: paging.TayZou}
	_, once := replay(t, jobs, c)
	_, again := replay(t, jobs, c)
	assert.Equal(t, once, again)
	assert.Equal(t, same, jobs)
}

// A penalty that is no factor is an error that says where.
func TestPenaltyThatIsNoFactor(t *testing.T) {
	_, err := spaceshare.Replay(t.Context(), []spaceshare.Job{job(5, 1, 1, 1, 20)},
		spaceshare.Config{Processors: 1, Memory: 10, Penalty: func(_, _ int64) float64 { return .5 }})
	assert.ErrorIs(t, err, paging.ErrFactor)
	assert.ErrorContains(t, err, "20 bytes in 10")
}
