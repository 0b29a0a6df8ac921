package spaceshare_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

func job(submit, run, estimate time.Duration, processors int, memory int64) spaceshare.Job {
	return spaceshare.Job{Submit: submit * time.Second, Run: run * time.Second, Estimate: estimate * time.Second, Processors: processors, Memory: memory}
}

func replay(t *testing.T, jobs []spaceshare.Job, c spaceshare.Config) (starts []float64, result spaceshare.Result) {
	t.Helper()
	result, err := spaceshare.Replay(t.Context(), jobs, c)
	require.NoError(t, err)
	for _, s := range result.Starts {
		starts = append(starts, s.Seconds())
	}
	return starts, result
}

func TestStartsBySentences(t *testing.T) {
	for _, c := range []struct {
		name   string
		jobs   []spaceshare.Job
		config spaceshare.Config
		want   []float64
	}{
		{"nobody comes", nil, spaceshare.Config{Processors: 1}, nil},
		{"one job starts at once", []spaceshare.Job{job(5, 3, 3, 1, 0)}, spaceshare.Config{Processors: 1}, []float64{5}},
		{"memory is ignored unless it is considered", []spaceshare.Job{job(0, 9, 9, 1, 6), job(0, 9, 9, 1, 6)}, spaceshare.Config{Processors: 2}, []float64{0, 0}},
		{"exactly full memory", []spaceshare.Job{job(0, 9, 9, 1, 6), job(0, 9, 9, 1, 4)}, spaceshare.Config{Processors: 2, Memory: 10}, []float64{0, 0}},
		{"one byte over", []spaceshare.Job{job(0, 9, 9, 1, 6), job(0, 9, 9, 1, 5)}, spaceshare.Config{Processors: 2, Memory: 10}, []float64{0, 9}},
		{"a job of more memory than there is runs alone", []spaceshare.Job{job(0, 9, 9, 1, 0), job(1, 5, 5, 1, 11), job(2, 1, 1, 1, 0)},
			spaceshare.Config{Processors: 3, Memory: 10, Depth: backfill.EASY}, []float64{0, 9, 2}},
		{"nobody joins a job that runs alone", []spaceshare.Job{job(0, 9, 9, 1, 11), job(1, 5, 5, 1, 0)},
			spaceshare.Config{Processors: 3, Memory: 10, Depth: backfill.Conservative}, []float64{0, 9}},
		{"the limit is relaxed between two events", []spaceshare.Job{job(0, 100, 100, 1, 10), job(2, 20, 20, 1, 5)},
			spaceshare.Config{Processors: 2, Memory: 10, Depth: backfill.EASY, Excess: .5, Threshold: .5}, []float64{0, 12}},
		{"the limit is relaxed from the start", []spaceshare.Job{job(0, 100, 100, 1, 10), job(2, 20, 20, 1, 5)},
			spaceshare.Config{Processors: 2, Memory: 10, Excess: .5}, []float64{0, 2}},
		{"a job of memory between M and M(1 + C) waits for its threshold", []spaceshare.Job{job(0, 20, 20, 1, 12)},
			spaceshare.Config{Processors: 2, Memory: 10, Excess: .5, Threshold: 2}, []float64{40}},
		{"a job beyond M(1 + C) runs alone at once", []spaceshare.Job{job(0, 20, 20, 1, 16)},
			spaceshare.Config{Processors: 2, Memory: 10, Excess: .5, Threshold: 2}, []float64{0}},
		{"conservative backfilling keeps a reservation that nothing else marks", []spaceshare.Job{
			job(0, 4, 10, 2, 0), job(0, 5, 5, 2, 0), job(0, 5, 10, 1, 0)},
			spaceshare.Config{Processors: 2, Depth: backfill.Conservative}, []float64{0, 4, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			starts, _ := replay(t, c.jobs, c.config)
			assert.Equal(t, c.want, starts)
		})
	}
}

// A run that pages takes longer, by exactly the factor while it lasts.
func TestPenaltyStretchesRuns(t *testing.T) {
	jobs := []spaceshare.Job{job(0, 10, 10, 1, 15)}
	_, result := replay(t, jobs, spaceshare.Config{Processors: 1, Memory: 10, Penalty: paging.TayZou})
	assert.Equal(t, []time.Duration{20 * time.Second}, result.Ends, "alone, with 1.5 times the memory")
	assert.Equal(t, 1, result.Alone)
	_, result = replay(t, jobs, spaceshare.Config{Processors: 1, Memory: 10})
	assert.Equal(t, []time.Duration{10 * time.Second}, result.Ends, "without a penalty")
}

// Two jobs that ask for half of the memory each are admitted together. What they use
// of it decides whether they page: three quarters each is 1.5 times the memory, so that
// they take twice as long, and the one that is left has room again.
func TestPenaltyIsOfWhatJobsUse(t *testing.T) {
	jobs := []spaceshare.Job{job(0, 10, 10, 1, 500), job(0, 20, 20, 1, 500)}
	uses := []int64{750, 750}
	config := spaceshare.Config{Processors: 2, Memory: 1000, Penalty: paging.TayZou, Demand: func(job int) int64 { return uses[job] }}
	_, result := replay(t, jobs, config)
	assert.Equal(t, []time.Duration{20 * time.Second, 30 * time.Second}, result.Ends)
	uses = []int64{0, 1000}
	_, result = replay(t, jobs, config)
	assert.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second}, result.Ends)

	for _, bad := range [][]int64{{0, -1}, {1, math.MaxInt64}} {
		uses = bad
		_, err := spaceshare.Replay(t.Context(), jobs, config)
		require.ErrorIs(t, err, spaceshare.ErrJob)
		assert.ErrorContains(t, err, "job 1")
	}
}

func TestMachinesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		config spaceshare.Config
		want   string
	}{
		{spaceshare.Config{}, "processors"},
		{spaceshare.Config{Processors: -3}, "-3"},
		{spaceshare.Config{Processors: 1, Memory: -7}, "-7"},
		{spaceshare.Config{Processors: 1, Memory: 7, Excess: -.5}, "-0.5"},
		{spaceshare.Config{Processors: 1, Memory: 7, Excess: math.NaN()}, "NaN"},
		{spaceshare.Config{Processors: 1, Threshold: -1}, "-1"},
		{spaceshare.Config{Processors: 1, Threshold: math.NaN()}, "NaN"},
		{spaceshare.Config{Processors: 1, Threshold: math.Inf(1)}, "threshold +Inf"},
		{spaceshare.Config{Processors: 1, Memory: 7, Excess: math.Inf(1)}, "excess +Inf"},
		{spaceshare.Config{Processors: 1, Order: 3}, "Order(3)"},
		{spaceshare.Config{Processors: 1, Depth: -2}, "-2"},
	} {
		_, err := spaceshare.Replay(t.Context(), nil, c.config)
		require.ErrorIs(t, err, spaceshare.ErrConfig, c.want)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestJobsThatCannotBe(t *testing.T) {
	good := job(5, 1, 1, 1, 0)
	for name, bad := range map[string]spaceshare.Job{
		"submitted before the one before":  job(4, 1, 1, 1, 0),
		"never runs":                       job(5, 0, 1, 1, 0),
		"estimate below the run time":      job(5, 2, 1, 1, 0),
		"no processors":                    job(5, 1, 1, 0, 0),
		"more processors than there are":   job(5, 1, 1, 5, 0),
		"negative memory":                  job(5, 1, 1, 1, -1),
		"runs beyond the end of the clock": {Submit: 5 * time.Second, Run: backfill.Forever, Estimate: backfill.Forever, Processors: 1},
	} {
		_, err := spaceshare.Replay(t.Context(), []spaceshare.Job{good, bad}, spaceshare.Config{Processors: 4, Memory: 1})
		require.ErrorIs(t, err, spaceshare.ErrJob, name)
		assert.ErrorContains(t, err, "job 1", name)
	}
	_, err := spaceshare.Replay(t.Context(), []spaceshare.Job{job(-1, 1, 1, 1, 0)}, spaceshare.Config{Processors: 4})
	assert.ErrorIs(t, err, spaceshare.ErrJob)
}

func TestCancelledReplayEnds(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err := spaceshare.Replay(ctx, randomJobs(1, 3, 8, 100), spaceshare.Config{Processors: 8})
	assert.ErrorIs(t, err, why)
}

// randomJobs returns jobs at random, in whole seconds.
func randomJobs(seed uint64, n, processors int, memory int64) []spaceshare.Job {
	r := rand.New(rand.NewPCG(seed, 5))
	jobs := make([]spaceshare.Job, n)
	at := time.Duration(0)
	for i := range jobs {
		at += time.Duration(r.IntN(4))
		run := time.Duration(1 + r.IntN(15))
		jobs[i] = job(at, run, run+time.Duration(r.IntN(10)), 1+r.IntN(processors), r.Int64N(memory))
	}
	return jobs
}

// Unlimited memory is as none considered; depth 1 is EASY, a depth of the whole
// queue is conservative in all but the order of equal instants; and whatever
// limit is relaxed at whatever penalty, all invariants hold.
func TestPoliciesAgreeWhereTheyMust(t *testing.T) {
	seeds := uint64(100)
	if slow {
		seeds = 8
	}
	for seed := range seeds {
		jobs := randomJobs(seed, 80, 8, 100)
		for _, depth := range []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY, 3, backfill.Conservative} {
			for order := des.Batch; order <= des.TerminateFirst; order++ {
				plain, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Depth: depth, Order: order})
				unlimited, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Memory: math.MaxInt64, Depth: depth, Order: order, Penalty: paging.TayZou})
				require.Equal(t, plain, unlimited)
				strict, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Memory: 150, Depth: depth, Order: order})
				none, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Memory: 150, Depth: depth, Order: order, Threshold: 3, Penalty: paging.TayZou})
				require.Equal(t, strict, none, "C = 0")
				replay(t, jobs, spaceshare.Config{Processors: 8, Memory: 150, Depth: depth, Order: order, Excess: .4, Threshold: .5, Penalty: paging.TayZou})
			}
		}
		deep, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Depth: 1 << 20})
		all, _ := replay(t, jobs, spaceshare.Config{Processors: 8, Depth: backfill.Conservative})
		require.Equal(t, all, deep)
	}
}

func TestWatchSeesEveryInstantOnce(t *testing.T) {
	jobs := randomJobs(3, 200, 8, 100)
	var instants []time.Duration
	_, result := replay(t, jobs, spaceshare.Config{Processors: 8, Order: des.SubmitFirst, Watch: func(now time.Duration, m *spaceshare.Machine) {
		instants = append(instants, now)
		for i, j := range jobs {
			assert.Equal(t, j.Submit <= now && m.Waiting(i), m.Waiting(i))
		}
	}})
	assert.True(t, slices.IsSorted(instants))
	assert.Len(t, slices.Compact(slices.Clone(instants)), len(instants))
	for i, j := range jobs {
		for _, at := range []time.Duration{j.Submit, result.Starts[i], result.Ends[i]} {
			_, found := slices.BinarySearch(instants, at)
			assert.True(t, found)
		}
	}
}
