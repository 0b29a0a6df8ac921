package study

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

func job(submit, run time.Duration, processors int, memory int64) spaceshare.Job {
	return spaceshare.Job{Submit: submit * time.Second, Run: run * time.Second, Estimate: run * time.Second, Processors: processors, Memory: memory}
}

// Five jobs on 10 processors and 1000 of memory, worked by hand: with C = 0.5 and
// T = 0.5, B may use 1500 from 1 + 0.5·60 = 31 s on, and 1000 + 500 is exactly
// full.
func TestWorkedSchedules(t *testing.T) {
	jobs := []spaceshare.Job{job(0, 100, 4, 700), job(1, 60, 2, 500), job(2, 80, 2, 200), job(3, 300, 1, 100), job(4, 20, 1, 600)}
	for _, c := range []struct {
		name              string
		depth             backfill.Depth
		excess, threshold float64
		want              [][2]float64
		wait, response    float64
	}{
		{"FCFS, C = 0", backfill.FCFS, 0, 0, [][2]float64{{0, 100}, {100, 160}, {100, 180}, {100, 400}, {160, 180}}, 90, 202},
		{"EASY, C = 0", backfill.EASY, 0, 0, [][2]float64{{0, 100}, {100, 160}, {2, 82}, {3, 303}, {160, 180}}, 51, 163},
		{"EASY, C = 0.5, T = 0", backfill.EASY, .5, 0, [][2]float64{{0, 175.492}, {1, 120.643}, {2, 141.285}, {3, 377.671}, {141.285, 177.134}}, 27.457, 196.445},
		{"EASY, C = 0.5, T = 0.5", backfill.EASY, .5, .5, [][2]float64{{0, 165.231}, {31, 148.461}, {2, 133}, {3, 368.231}, {148.461, 176.231}}, 34.892, 196.231},
		{"FCFS, C = 0.5, T = 0.5", backfill.FCFS, .5, .5, [][2]float64{{0, 149.646}, {31, 140.646}, {42, 167.705}, {140.646, 440.646}, {149.646, 169.646}}, 70.658, 211.658},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := spaceshare.Replay(context.Background(), jobs, spaceshare.Config{
				Processors: 10, Memory: 1000, Depth: c.depth, Excess: c.excess, Threshold: c.threshold, Penalty: paging.TayZou,
			})
			require.NoError(t, err)
			var wait, response float64
			for i, want := range c.want {
				assert.InDelta(t, want[0], result.Starts[i].Seconds(), .0005, "start of job %c", 'A'+i)
				assert.InDelta(t, want[1], result.Ends[i].Seconds(), .0005, "end of job %c", 'A'+i)
				wait += (result.Starts[i] - jobs[i].Submit).Seconds() / 5
				response += (result.Ends[i] - jobs[i].Submit).Seconds() / 5
			}
			assert.InDelta(t, c.wait, wait, .0005)
			assert.InDelta(t, c.response, response, .0005)
		})
	}
}

// Eqs. (5) and (6) with several changes: three jobs that start beyond the memory
// one by one, and the paper's own case of a job that takes 20 s instead of 10.
func TestRemainingTimesAreRescaled(t *testing.T) {
	config := spaceshare.Config{Processors: 10, Memory: 1000, Depth: backfill.FCFS, Excess: .5, Penalty: paging.TayZou}
	result, err := spaceshare.Replay(context.Background(), []spaceshare.Job{job(0, 100, 1, 600), job(20, 50, 1, 600), job(30, 40, 1, 300)}, config)
	require.NoError(t, err)
	for i, want := range []float64{145.583, 115.583, 110} {
		assert.InDelta(t, want, result.Ends[i].Seconds(), .0005)
	}
	result, err = spaceshare.Replay(context.Background(), []spaceshare.Job{job(0, 100, 1, 750), job(40, 10, 1, 750)}, config)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{110 * time.Second, 60 * time.Second}, result.Ends)
}

// The generated workload has the histograms of Tables 2 and 3.
func TestGeneratedWorkloadMatchesTheTables(t *testing.T) {
	const n = 61040
	w, err := Generate(n, Processors, .5, 1)
	require.NoError(t, err)
	assert.InDelta(t, .5, w.Load(), .005)
	count := func(bins []bin, value func(spaceshare.Job) float64) []int {
		counts := make([]int, len(bins))
		for _, j := range w.Jobs {
			for k, b := range bins {
				if v := value(j); v > b.low && v <= b.high {
					counts[k]++
				}
			}
		}
		return counts
	}
	memory := 0.
	for _, j := range w.Jobs {
		memory += float64(j.Memory) / mega / n
		require.Equal(t, j.Run, j.Estimate)
	}
	assert.InDelta(t, paperMeanMemory, memory, 2)
	for _, c := range []struct {
		bins  []bin
		value func(spaceshare.Job) float64
	}{
		{paperProcessors, func(j spaceshare.Job) float64 { return float64(j.Processors) }},
		{paperMemory, func(j spaceshare.Job) float64 { return float64(j.Memory+1) / mega }},
		{paperRun, func(j spaceshare.Job) float64 { return j.Run.Hours() }},
	} {
		for k, got := range count(c.bins, c.value) {
			want := float64(c.bins[k].jobs)
			assert.InDelta(t, want, got, 5*max(1, math.Sqrt(want)), "%+v", c.bins[k])
		}
	}
}
