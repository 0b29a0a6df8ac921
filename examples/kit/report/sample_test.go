package report_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/paging"
)

// replayed makes a page of a workload replayed under eight policies.
func replayed(t testing.TB, w *workload.Workload) *report.Page {
	memory := w.Memory()
	table := &report.Table{Columns: []report.Column{
		{Title: "policy"},
		{Title: "wait", Unit: "mean, s", Format: "%.0f", Better: report.Lower, About: "From submission to start."},
		{Title: "wait", Unit: "median, s", Format: "%.0f", Better: report.Lower},
		{Title: "wait", Unit: "95th, s", Format: "%.0f", Better: report.Lower},
		{Title: "response", Unit: "mean, s", Format: "%.0f", Better: report.Lower, About: "From submission to end."},
		{Title: "slowdown", Unit: "mean, >10 s", Format: "%.2f", Better: report.Lower, About: "Response over run time, where less than 10 s counts as 10 s."},
		{Title: "utilisation", Unit: "%", Format: "%.2f", Better: report.Higher, About: "Useful work over processors times makespan."},
		{Title: "memory held", Unit: "%", Format: "%.1f", Synthetic: true, About: "Share of the memory that running jobs hold, mean over time."},
		{Title: "makespan", Unit: "days", Format: "%.2f", Better: report.Lower, About: "First submission to last end."},
	}}
	classes := &report.Table{Title: "Slowdown by class of job", Columns: []report.Column{
		{Title: "policy"},
		{Title: "narrow, short", Unit: "mean, >10 s", Format: "%.2f", Better: report.Lower, About: "Up to 8 processors, up to an hour."},
		{Title: "narrow, long", Unit: "mean, >10 s", Format: "%.2f", Better: report.Lower},
		{Title: "wide, short", Unit: "mean, >10 s", Format: "%.2f", Better: report.Lower, About: "More than 8 processors."},
		{Title: "wide, long", Unit: "mean, >10 s", Format: "%.2f", Better: report.Lower},
	}}
	queue := &report.Timeline{Title: "Queue", Unit: "jobs", About: "Jobs submitted and not started."}
	busy := &report.Timeline{Title: "Processors in use", Unit: "%"}
	held := &report.Timeline{Title: "Memory held", Unit: "GiB"}
	response := &report.Cumulative{Title: "Response", Unit: "s", Floor: 1}
	wait := &report.Cumulative{Title: "Wait", Unit: "s", Floor: 1}
	slowdown := &report.Cumulative{Title: "Bounded slowdown", Unit: "response / run time", Floor: 1}
	p := &report.Page{
		Title:    "Eight ways to run a workload",
		Subtitle: fmt.Sprintf("%s: %d jobs on %d processors, load %.2f", w.Name, len(w.Jobs), w.Processors, w.Load()),
		Tables:   []*report.Table{table, classes}, Timelines: []*report.Timeline{queue, busy, held}, Cumulative: []*report.Cumulative{response, wait, slowdown},
		Synthetic: []string{"The jobs' memory is drawn from a model, as the log does not tell it."},
		Notes:     []string{"Jobs that never ran are left out.", "A job runs until its run time or its estimate is over, whichever is first."},
		Command:   "replay -jobs 800 -load .8 -policy all -out figures",
		Decisions: &report.Decisions{Title: "The job that waited longest under EASY"},
	}
	chosen := -1
	for _, c := range []struct {
		name    string
		depth   backfill.Depth
		memory  int64
		relaxed bool
	}{
		{"easy", backfill.EASY, 0, false}, {"fcfs", backfill.FCFS, 0, false}, {"depth=8", 8, 0, false}, {"conservative", backfill.Conservative, 0, false},
		{"fcfs+memory", backfill.FCFS, memory, false}, {"easy+memory", backfill.EASY, memory, false}, {"easy+relaxed", backfill.EASY, memory, true},
		{"conservative+memory", backfill.Conservative, memory, false},
	} {
		config := spaceshare.Config{Processors: w.Processors, Depth: c.depth, Memory: c.memory}
		if c.relaxed {
			config.Excess, config.Threshold, config.Penalty = .1, 25, paging.TayZou
		}
		result, err := spaceshare.Replay(context.Background(), w.Jobs, config)
		require.NoError(t, err)
		jobs := make([]metrics.Job, len(w.Jobs))
		bars := make([]report.Bar, len(w.Jobs))
		var responses, waits, slowdowns []float64
		class := [4][]float64{}
		for i, j := range w.Jobs {
			jobs[i] = metrics.Job{Submit: j.Submit, Start: result.Starts[i], End: result.Ends[i], Run: j.Run, Processors: j.Processors, Memory: j.Memory}
			bars[i] = report.Bar{Job: int(w.Numbers[i]), Start: jobs[i].Start, End: jobs[i].End, Processors: j.Processors}
			responses, waits = append(responses, jobs[i].Response().Seconds()), append(waits, jobs[i].Wait().Seconds())
			slowdowns = append(slowdowns, jobs[i].BoundedSlowdown(metrics.Tau))
			k := 0
			if j.Processors > 8 {
				k = 2
			}
			if j.Run > time.Hour {
				k++
			}
			class[k] = append(class[k], slowdowns[i])
		}
		s, err := metrics.Summarize(jobs, metrics.Machine{Processors: w.Processors, Memory: memory})
		require.NoError(t, err)
		var share any
		if memory > 0 {
			share = 100 * s.MemoryHeld
		}
		table.Add(c.name, s.Wait.Mean, s.Wait.Median, s.Wait.P95, s.Response.Mean, s.BoundedSlowdown.Mean, 100*s.Utilisation, share, s.Makespan.Hours()/24)
		row := []any{c.name}
		for _, values := range class {
			mean := math.NaN()
			if d, err := metrics.Describe(values); err == nil && len(values) > 0 {
				mean = d.Mean
			}
			row = append(row, mean)
		}
		classes.Add(row...)
		samples, err := metrics.Timeline(jobs)
		require.NoError(t, err)
		steps := make(plotter.XYs, len(samples))
		peak := 0
		for _, chart := range []struct {
			timeline *report.Timeline
			value    func(metrics.Sample) float64
		}{
			{queue, func(s metrics.Sample) float64 { return float64(s.Queued) }},
			{busy, func(s metrics.Sample) float64 { return 100 * float64(s.Processors) / float64(w.Processors) }},
			{held, func(s metrics.Sample) float64 { return float64(s.Memory) / (1 << 30) }},
		} {
			for i, s := range samples {
				steps[i] = plotter.XY{X: s.Time.Seconds(), Y: chart.value(s)}
				if s.Queued > samples[peak].Queued {
					peak = i
				}
			}
			require.NoError(t, chart.timeline.Add(c.name, steps))
		}
		require.NoError(t, response.Add(c.name, responses))
		require.NoError(t, wait.Add(c.name, waits))
		require.NoError(t, slowdown.Add(c.name, slowdowns))
		if chosen < 0 {
			for i := range jobs {
				if chosen < 0 || jobs[i].Wait() > jobs[chosen].Wait() {
					chosen = i
				}
			}
			p.Decisions.Submit = jobs[chosen].Submit
		}
		j := jobs[chosen]
		if c.name != "fcfs" && c.name != "fcfs+memory" {
			p.Decisions.Courses = append(p.Decisions.Courses, report.Course{Name: c.name, Start: j.Start, End: j.End, Events: []report.Event{
				{Time: j.Submit, What: "queued, 12 jobs ahead", Why: "waits for processors"},
				{Time: j.Submit + j.Wait()/3, What: "expected to start after 3 h", Why: "would delay the reservation of job 4711"},
				{Time: j.Start, What: "starts", Why: "64 processors are free"},
			}})
		}
		if c.name == "easy" || c.name == "conservative+memory" {
			from, to := samples[max(peak-120, 0)].Time, samples[min(peak+120, len(samples)-1)].Time
			picture, err := report.GanttPicture(c.name+": around the longest queue", bars, w.Processors, from, to)
			require.NoError(t, err)
			picture.About = "As jobs do not say which processors they held, the lowest free ones are drawn."
			p.Pictures = append(p.Pictures, picture)
		}
	}
	slots := make([][]int, 4)
	for s := range slots {
		for pe := range 64 {
			job := 100 + 10*s + pe/(4<<s)
			if (pe+s*7)%64 > 50 {
				job = -1
			}
			slots[s] = append(slots[s], job)
		}
	}
	picture, err := report.MatrixPicture("Ousterhout matrix at day 12", slots)
	require.NoError(t, err)
	p.Pictures = append(p.Pictures, picture)
	return p
}
