package study_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/farm/study"
	"github.com/gangkit/gangkit/examples/kit/farm"
)

// Table 1: CPU time, working set, reads and writes.
func TestProgramsArePhasesOfTable1(t *testing.T) {
	for _, want := range []struct {
		name        string
		least, most float64 // MB
		io          int64
		cpu         float64 // k-time and u-time
	}{
		{"bit-r", 64.22, 64.22, 9, 192.42}, {"m-sort", 64.27, 64.27, 18, 82.54}, {"m-m", 66.37, 66.37, 4, 4902.24},
		{"t-sim", 4.64, 4.64, 225, 38.93}, {"metis", 1.37, 4.30, 292, 120.91}, {"r-sphere", 36.84, 39.66, 1624, 299.15},
		{"r-wing", 19.53, 23.39, 3541, 30.29},
	} {
		var p study.Program
		for _, x := range study.Programs {
			if x.Name == want.name {
				p = x
			}
		}
		for _, ramp := range []time.Duration{0, 2 * time.Second, time.Hour} {
			var cpu time.Duration
			half := int64(-1)
			var io, last int64
			phases := p.Phases(ramp)
			for _, phase := range phases {
				cpu += phase.CPU
				io += phase.IO
				if half < 0 && cpu >= p.CPU/2 {
					half = io
				}
				require.Positive(t, phase.CPU)
				require.GreaterOrEqual(t, phase.IO, int64(0))
				require.GreaterOrEqual(t, phase.WorkingSet, last, "memory does not shrink")
				last = phase.WorkingSet
			}
			assert.InDelta(t, want.cpu, cpu.Seconds(), .001, want.name)
			assert.Equal(t, want.io, io, want.name)
			if want.least != want.most {
				assert.InEpsilon(t, float64(io)/2, half, .15, "evenly")
			}
			assert.InDelta(t, want.most, float64(last)/(1<<20), .001, want.name)
			if ramp == 0 {
				assert.InDelta(t, want.least, float64(phases[0].WorkingSet)/(1<<20), .001, want.name)
			} else {
				assert.Zero(t, phases[0].WorkingSet)
			}
		}
	}
}

// §5.2: so many jobs in so many seconds.
func TestTracesHaveTheirJobsAndSpan(t *testing.T) {
	want := []struct {
		jobs    int
		seconds float64
	}{{503, 1365}, {420, 2503}, {359, 3634}}
	for i, trace := range study.Traces {
		for _, how := range []study.Arrivals{study.Printed, study.Density, study.Uniform} {
			jobs, err := trace.Draw(how, 0, 7)
			require.NoError(t, err)
			require.Len(t, jobs, want[i].jobs)
			homes, kinds := map[int]bool{}, map[time.Duration]bool{}
			for k, j := range jobs {
				require.True(t, k == 0 || j.Submit >= jobs[k-1].Submit)
				require.LessOrEqual(t, j.Submit.Seconds(), want[i].seconds)
				homes[j.Home], kinds[j.CPU()] = true, true
			}
			assert.Len(t, homes, study.Machines)
			assert.Len(t, kinds, len(study.Programs))
			again, err := trace.Draw(how, 0, 7)
			require.NoError(t, err)
			assert.Equal(t, jobs, again)
		}
	}
	last := study.Traces[2]
	median := func(how study.Arrivals) float64 {
		at, err := last.Draw(how, 0, 3)
		require.NoError(t, err)
		return at[len(at)/2].Submit.Seconds()
	}
	// The medians of the laws cut off at the span.
	assert.InEpsilon(t, 1722, median(study.Printed), .15)
	assert.InEpsilon(t, 28, median(study.Density), .35)
	assert.InEpsilon(t, 1817, median(study.Uniform), .15)
	_, err := last.Draw("often", 0, 1)
	assert.ErrorIs(t, err, study.ErrConfig)
}

// A point is the mean of runs of the farm that it describes.
func TestPointsAreRunsOfTheFarm(t *testing.T) {
	s, err := study.New(study.Config{Seed: 5, Seeds: 2, Base: study.Reading{Arrivals: study.Printed}})
	require.NoError(t, err)
	p := s.Point(study.Case{Reading: study.Resolved, Trace: "trace 3", Policy: "combined", Mbps: 10})
	s.Points = []study.Point{*p}
	count := 0
	require.NoError(t, s.Run(t.Context(), func() { count++ }))
	assert.Equal(t, 2, count)
	got := s.Points[0]

	c, err := got.Farm()
	require.NoError(t, err)
	slowdowns := make([]float64, 2)
	completed := 0
	for i := range slowdowns {
		jobs, err := study.Traces[2].Draw(study.Printed, 0, 5+uint64(i))
		require.NoError(t, err)
		outcomes, err := farm.Run(t.Context(), jobs, c)
		require.NoError(t, err)
		n := 0
		for k, o := range outcomes {
			if o.End == farm.Completed {
				slowdowns[i] += (o.Ended - jobs[k].Submit).Seconds() / jobs[k].CPU().Seconds()
				n++
			}
		}
		slowdowns[i] /= float64(n)
		completed += n
	}
	assert.InDelta(t, (slowdowns[0]+slowdowns[1])/2, got.Slowdown, 1e-9)
	assert.InDelta(t, float64(completed)/2, got.Completed, 1e-9)
	// All of a job's time is in its parts.
	assert.Positive(t, got.Queueing)
	assert.GreaterOrEqual(t, got.Queueing, got.Blocked)
}

func TestBadStudiesAreRefused(t *testing.T) {
	for _, c := range []study.Config{
		{}, {Seeds: -1, Base: study.Reading{Arrivals: study.Printed}}, {Seeds: 1}, {Seeds: 1, Base: study.Reading{Arrivals: "often"}},
		{Seeds: 1, Base: study.Reading{Arrivals: study.Printed, MaxJobs: -1}}, {Seeds: 1, Base: study.Reading{Arrivals: study.Printed, Ramp: -1}},
	} {
		_, err := study.New(c)
		assert.ErrorIs(t, err, study.ErrConfig)
	}
}
