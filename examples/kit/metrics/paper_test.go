package metrics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/metrics"
)

const second = time.Second

// A job of 1 s that waits 90 s has slowdown 91, and bounded slowdown 9.1 or,
// after Wang et al., 10. The definitions agree from τ = 10 s on.
func TestSlowdownsOfShortAndLongJobs(t *testing.T) {
	for _, c := range []struct {
		wait, run               time.Duration
		slowdown, bounded, wang float64
	}{
		{0, 1, 1, 1, 1},
		{5, 1, 6, 1, 1.5},
		{90, 1, 91, 9.1, 10},
		{100, 5, 21, 10.5, 11},
		{90, 10, 10, 10, 10},
		{3600, 3600, 2, 2, 2},
	} {
		j := metrics.Job{Start: c.wait * second, End: (c.wait + c.run) * second, Run: c.run * second, Processors: 4}
		slowdown, ok := j.Slowdown()
		assert.True(t, ok)
		assert.InDelta(t, c.slowdown, slowdown, 1e-12)
		assert.InDelta(t, c.bounded, j.BoundedSlowdown(metrics.Tau), 1e-12)
		assert.InDelta(t, c.wang, j.WangBoundedSlowdown(metrics.Tau), 1e-12)
		assert.InDelta(t, max(1, c.bounded/4), j.PerProcessorBoundedSlowdown(metrics.Tau), 1e-12)
		assert.Equal(t, c.wait*second, j.Wait())
		assert.Equal(t, (c.wait+c.run)*second, j.Response())
		assert.Equal(t, c.run*second, j.RunningTime())
		assert.InDelta(t, 4*float64(c.run), j.Area(), 1e-12)
	}
}

// fourJobs run under FCFS on 4 processors. Worked by hand: one processor is
// idle from 10 to 50, when c waits, two from 80 to 100, when d waits; during
// the first 10 s one is idle and nobody waits.
var fourJobs = []metrics.Job{
	{Submit: 0, Start: 0, End: 100 * second, Run: 100 * second, Processors: 2},
	{Submit: 0, Start: 0, End: 50 * second, Run: 50 * second, Processors: 1},
	{Submit: 10 * second, Start: 50 * second, End: 80 * second, Run: 30 * second, Processors: 2},
	{Submit: 20 * second, Start: 100 * second, End: 105 * second, Run: 5 * second, Processors: 4},
}

func TestFourJobsByHand(t *testing.T) {
	s, err := metrics.Summarize(fourJobs, metrics.Machine{Processors: 4})
	require.NoError(t, err)
	const e = 1e-12
	assert.Equal(t, 4, s.Jobs)
	assert.InDelta(t, 30, s.Wait.Mean, e)
	assert.InDelta(t, 80, s.Wait.Max, e)
	assert.InDelta(t, 0, s.Wait.Median, e)
	assert.InDelta(t, 76.25, s.Response.Mean, e)
	assert.InDelta(t, 28400./330, s.WeightedResponse, e) // 86.061
	assert.InDelta(t, (1+1+7./3+17)/4, s.Slowdown.Mean, e)
	assert.InDelta(t, (1+1+7./3+8.5)/4, s.BoundedSlowdown.Mean, e)
	assert.Equal(t, 105*second, s.Makespan)
	assert.InDelta(t, 330./420, s.Utilisation, e)
	assert.InDelta(t, 330./420, s.Occupied, e)
	assert.InDelta(t, 330./80, s.OfferedLoad, e)
	assert.InDelta(t, 4./105, s.Throughput, e)
	assert.InDelta(t, 80./420, s.Loss, e) // .1905
	assert.Zero(t, s.LossAvoidable)
	assert.InDelta(t, 80./420, s.LossDemand, e)
	assert.InDelta(t, 10./420, s.IdleNoDemand, e)
	assert.InDelta(t, 1, s.Utilisation+s.Loss+s.IdleNoDemand, e)
	assert.Zero(t, s.Overtakes)
}

// One processor idle while a job of one waits: all three losses see it. With
// two idle the demand-limited loss counts one of them only.
func TestThreeLossesDiffer(t *testing.T) {
	jobs := []metrics.Job{
		{Start: 0, End: 10 * second, Run: 10 * second, Processors: 2},
		{Start: 10 * second, End: 20 * second, Run: 10 * second, Processors: 1},
	}
	s, err := metrics.Summarize(jobs, metrics.Machine{Processors: 4})
	require.NoError(t, err)
	assert.InDelta(t, 20./80, s.Loss, 1e-12)
	assert.InDelta(t, 20./80, s.LossAvoidable, 1e-12)
	assert.InDelta(t, 10./80, s.LossDemand, 1e-12)
	assert.InDelta(t, 30./80, s.IdleNoDemand, 1e-12)
}
