package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// seconds writes a time in seconds, with as many decimals as it has.
func seconds(t time.Duration) string {
	if t%time.Second == 0 {
		return strconv.FormatInt(int64(t/time.Second), 10)
	}
	return strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
}

// writeStarts writes when each job started, in order of job numbers.
func writeStarts(out io.Writer, w *workload.Workload, r outcome) error {
	order := make([]int, len(w.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(w.Numbers[a]-w.Numbers[b], -1), 1)) })
	c := csv.NewWriter(out)
	if err := c.Write([]string{"job_id", "submit", "start", "end", "procs"}); err != nil {
		return err
	}
	for _, i := range order {
		j := r.jobs[i]
		if err := c.Write([]string{
			strconv.FormatInt(w.Numbers[i], 10), seconds(j.Submit), seconds(j.Start), seconds(j.End), strconv.Itoa(j.Processors),
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// record is the JSON object of a policy.
type record struct {
	Policy              string  `json:"policy"`
	Order               string  `json:"order"`
	Jobs                int     `json:"jobs"`
	Dropped             int     `json:"dropped"`
	ReplaySeconds       float64 `json:"replay_seconds"`
	MeanWait            float64 `json:"mean_wait_s"`
	MeanResponse        float64 `json:"mean_response_s"`
	MeanBoundedSlowdown float64 `json:"mean_bounded_slowdown"`
	Utilisation         float64 `json:"utilisation"`
	Makespan            float64 `json:"makespan_s"`
}

func records(o *options, w *workload.Workload, outcomes []outcome) []record {
	list := make([]record, len(outcomes))
	for i, r := range outcomes {
		list[i] = record{
			Policy: r.policy.name, Order: o.order.String(), Jobs: len(w.Jobs), Dropped: dropped(w),
			ReplaySeconds: r.took.Seconds(), MeanWait: r.summary.Wait.Mean, MeanResponse: r.summary.Response.Mean,
			MeanBoundedSlowdown: r.summary.BoundedSlowdown.Mean, Utilisation: r.summary.Utilisation, Makespan: r.summary.Makespan.Seconds(),
		}
	}
	return list
}

func dropped(w *workload.Workload) int {
	n := 0
	for _, d := range w.Dropped {
		n += d.Jobs
	}
	return n
}

// table compares the policies.
func table(o *options, w *workload.Workload, memory int64, outcomes []outcome) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s jobs, %s processors, load %.2f, order %v",
			w.Name, humanize.Comma(int64(len(w.Jobs))), humanize.Comma(int64(w.Processors)), w.Load(), o.order),
		Columns: []report.Column{
			{Title: "policy"},
			{Title: "wait", Unit: "mean, s", Format: "%.0f"},
			{Title: "wait", Unit: "median, s", Format: "%.0f"},
			{Title: "wait", Unit: "95th, s", Format: "%.0f"},
			{Title: "response", Unit: "mean, s", Format: "%.0f"},
			{Title: "slowdown", Unit: "mean, >10 s", Format: "%.2f"},
			{Title: "utilisation", Unit: "%", Format: "%.2f"},
			{Title: "memory held", Unit: "%", Format: "%.1f"},
			{Title: "makespan", Unit: "days", Format: "%.2f"},
		},
	}
	for _, r := range outcomes {
		s := r.summary
		var held any
		if memory > 0 {
			held = 100 * s.MemoryHeld
		}
		t.Add(r.policy.name, s.Wait.Mean, s.Wait.Median, s.Wait.P95, s.Response.Mean, s.BoundedSlowdown.Mean,
			100*s.Utilisation, held, s.Makespan.Hours()/24)
	}
	return t
}

// notes says what the table does not.
func notes(w *workload.Workload, memory int64, outcomes []outcome) string {
	var lines []string
	if n := dropped(w); n > 0 {
		reasons := make([]string, len(w.Dropped))
		for i, d := range w.Dropped {
			reasons[i] = fmt.Sprintf("%s %s", humanize.Comma(int64(d.Jobs)), d.Reason)
		}
		lines = append(lines, fmt.Sprintf("Left out: %s.", strings.Join(reasons, ", ")))
	}
	if memory > 0 {
		pool := fmt.Sprintf("Memory: one pool of %s.", humanize.IBytes(uint64(memory)))
		for _, r := range outcomes {
			if r.alone > 0 {
				pool += fmt.Sprintf(" %s: %d jobs need more and run alone.", r.policy.name, r.alone)
				break
			}
		}
		lines = append(lines, pool)
	} else {
		lines = append(lines, "The log does not tell the jobs' memory: +memory and +relaxed change nothing.")
	}
	lines = append(lines, "Slowdown is bounded: response / run time, where less than 10 s counts as 10 s.")
	return strings.Join(lines, "\n")
}

// writeReport writes tables and plots into the output folder.
func writeReport(ctx context.Context, o *options, w *workload.Workload, memory int64, outcomes []outcome) error {
	path := func(name string) string { return filepath.Join(o.out, name) }
	if err := report.WriteFile(path("table.csv"), table(o, w, memory, outcomes).WriteCSV); err != nil {
		return err
	}
	if err := report.WriteFile(path("table.json"), func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(records(o, w, outcomes))
	}); err != nil {
		return err
	}
	var waits, slowdowns []report.Sample
	var queue, busy []report.Series
	for _, r := range outcomes {
		if err := ctx.Err(); err != nil {
			return err
		}
		waits = append(waits, report.Sample{Name: r.policy.name, Values: values(r.jobs, func(j metrics.Job) float64 { return j.Wait().Seconds() })})
		slowdowns = append(slowdowns, report.Sample{Name: r.policy.name, Values: values(r.jobs, func(j metrics.Job) float64 { return j.BoundedSlowdown(metrics.Tau) })})
		timeline, err := metrics.Timeline(r.jobs)
		if err != nil {
			return err
		}
		queue = append(queue, series(r.policy.name, timeline, func(s metrics.Sample) float64 { return float64(s.Queued) }))
		busy = append(busy, series(r.policy.name, timeline, func(s metrics.Sample) float64 { return 100 * float64(s.Processors) / float64(w.Processors) }))
		from, to := window(timeline)
		chart, err := report.Gantt(fmt.Sprintf("%s: around the longest queue", r.policy.name), bars(w, r), w.Processors, from, to)
		if err != nil {
			return err
		}
		if err := report.Save(path("gantt-"+r.policy.name), chart); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name string
		draw func() (*plot.Plot, error)
	}{
		{"wait", func() (*plot.Plot, error) { return report.Distribution("Wait", "wait, s", 1, waits...) }},
		{"slowdown", func() (*plot.Plot, error) {
			return report.Distribution("Bounded slowdown", "response / run time", 1, slowdowns...)
		}},
		{"queue", func() (*plot.Plot, error) { return report.Steps("Jobs in the queue", "jobs", queue...) }},
		{"utilisation", func() (*plot.Plot, error) { return report.Steps("Processors in use", "%", busy...) }},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		drawn, err := p.draw()
		if err != nil {
			return err
		}
		if err := report.Save(path(p.name), drawn); err != nil {
			return err
		}
	}
	return nil
}

func values(jobs []metrics.Job, value func(metrics.Job) float64) []float64 {
	v := make([]float64, len(jobs))
	for i, j := range jobs {
		v[i] = value(j)
	}
	return v
}

func series(name string, timeline []metrics.Sample, value func(metrics.Sample) float64) report.Series {
	s := report.Series{Name: name, Points: make(plotter.XYs, len(timeline))}
	for i, sample := range timeline {
		s.Points[i].X, s.Points[i].Y = sample.Time.Seconds(), value(sample)
	}
	return s
}

// ganttJobs is about how many jobs a Gantt chart shows.
const ganttJobs = 150

// window returns the time around the longest queue in which so many jobs start
// or end that a chart of it can be read.
func window(timeline []metrics.Sample) (from, to time.Duration) {
	peak := 0
	for i, s := range timeline {
		if s.Queued > timeline[peak].Queued {
			peak = i
		}
	}
	first := max(peak-ganttJobs, 0)
	last := min(peak+ganttJobs, len(timeline)-1)
	return timeline[first].Time, max(timeline[last].Time, timeline[first].Time+time.Second)
}

func bars(w *workload.Workload, r outcome) []report.Bar {
	b := make([]report.Bar, len(r.jobs))
	for i, j := range r.jobs {
		b[i] = report.Bar{Job: int(w.Numbers[i]), Start: j.Start, End: j.End, Processors: j.Processors}
	}
	return b
}
