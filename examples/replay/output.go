package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// writeStarts writes when each job started, in order of job numbers.
func writeStarts(out io.Writer, w *workload.Workload, r *compare.Outcome) error {
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
		j := r.Jobs[i]
		if err := c.Write([]string{
			strconv.FormatInt(w.Numbers[i], 10), compare.Seconds(j.Submit), compare.Seconds(j.Start), compare.Seconds(j.End), strconv.Itoa(j.Processors),
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// record is the JSON object of a policy. Under a run that was given up times are
// lower bounds.
type record struct {
	Policy              string   `json:"policy"`
	Order               string   `json:"order"`
	Jobs                int      `json:"jobs"`
	Dropped             int      `json:"dropped"`
	ReplaySeconds       float64  `json:"replay_seconds,omitempty"` // not in files: it differs from run to run
	MeanWait            float64  `json:"mean_wait_s"`
	MeanResponse        float64  `json:"mean_response_s"`
	MeanBoundedSlowdown float64  `json:"mean_bounded_slowdown"`
	Utilisation         float64  `json:"utilisation"`
	Makespan            float64  `json:"makespan_s"`
	MedianResponse      float64  `json:"median_response_s"`
	P95Response         float64  `json:"p95_response_s"`
	MedianSlowdown      float64  `json:"median_bounded_slowdown"`
	P95Slowdown         float64  `json:"p95_bounded_slowdown"`
	HalfWidth           *float64 `json:"mean_response_half_width_s,omitempty"`
	MemoryHeld          float64  `json:"memory_held"`
	Paging              *float64 `json:"mean_paging_s,omitempty"`
	Unfinished          int      `json:"unfinished"`
	NotStarted          int      `json:"not_started"`
	Synthetic           []string `json:"synthetic"`
}

func records(o *options, w *workload.Workload, outcomes []*compare.Outcome) []record {
	list := make([]record, len(outcomes))
	for i, r := range outcomes {
		s := r.Summary
		list[i] = record{
			Policy: r.Policy.Name, Order: o.order.String(), Jobs: len(w.Jobs), Dropped: dropped(w),
			ReplaySeconds: r.Took.Seconds(), MeanWait: s.Wait.Mean, MeanResponse: s.Response.Mean,
			MeanBoundedSlowdown: s.BoundedSlowdown.Mean, Utilisation: s.Utilisation, Makespan: s.Makespan.Seconds(),
			MedianResponse: s.Response.Median, P95Response: s.Response.P95,
			MedianSlowdown: s.BoundedSlowdown.Median, P95Slowdown: s.BoundedSlowdown.P95,
			MemoryHeld: s.MemoryHeld, Unfinished: r.Unfinished, NotStarted: r.NotStarted, Synthetic: w.Synthetic,
		}
		if h := halfWidth(r); !math.IsNaN(h) {
			list[i].HalfWidth = &h
		}
		if r.Pages {
			p := paging(r)
			list[i].Paging = &p
		}
	}
	return list
}

// batches is the number of batches of which confidence is made.
const batches = 20

// halfWidth is half of the 95 % confidence interval of the mean response, by batch
// means, or NaN.
func halfWidth(r *compare.Outcome) float64 {
	responses := metrics.Values(r.Jobs, func(j metrics.Job) (float64, bool) { return j.Response().Seconds(), true })
	interval, err := metrics.BatchMeans(responses, batches)
	if err != nil { // too few jobs
		return math.NaN()
	}
	return interval.HalfWidth
}

// paging is the mean time that a job waits for its memory, in seconds.
func paging(r *compare.Outcome) float64 { return r.Paged.Seconds() / float64(len(r.Jobs)) }

func dropped(w *workload.Workload) int {
	n := 0
	for _, d := range w.Dropped {
		n += d.Jobs
	}
	return n
}

// table compares the policies.
func table(o *options, w *workload.Workload, outcomes []*compare.Outcome) *report.Table {
	made := slices.Contains(w.Synthetic, "memory")
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s jobs, %s processors, load %.2f, order %v",
			w.Name, humanize.Comma(int64(len(w.Jobs))), humanize.Comma(int64(w.Processors)), w.Load(), o.order),
		Columns: []report.Column{
			{Title: "policy"},
			{Title: "wait", Unit: "mean, s", Format: "%.0f", Better: report.Lower, About: "From submission to start."},
			{Title: "response", Unit: "mean, s", Format: "%.0f", Better: report.Lower, About: "From submission to end."},
			{Title: "±", Unit: "95 %", Format: "%.0f", About: "Half of the confidence interval of the mean response, by batch means."},
			{Title: "median", Unit: "s", Format: "%.0f", About: "Of the response."},
			{Title: "95th", Unit: "s", Format: "%.0f", About: "Percentile of the response."},
			{Title: "slowdown", Unit: "mean", Format: "%.2f", Better: report.Lower, About: "Bounded: response over run time, where less than 10 s counts as 10 s."},
			{Title: "median", Format: "%.2f", About: "Of the bounded slowdown."},
			{Title: "95th", Format: "%.1f", About: "Percentile of the bounded slowdown."},
			{Title: "util.", Unit: "%", Format: "%.1f", Better: report.Higher, About: "Useful work, of what the processors could do until the last job ended."},
			{Title: "memory", Unit: mark("held %", made), Format: "%.1f", Synthetic: made, About: "Memory that jobs held in the mean, of what there is."},
			{Title: "paging", Unit: mark("mean, s", made), Format: "%.0f", Better: report.Lower, Synthetic: made, About: "For how long a job waited for its memory while it had processors."},
			{Title: "never", Unit: "started", About: "Jobs that had not started when the run was given up."},
		},
	}
	for _, r := range outcomes {
		s := r.Summary
		if r.Unfinished > 0 {
			t.Add(r.Policy.Name, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, r.NotStarted)
			continue
		}
		var held, paged any
		if s.MemoryHeld > 0 {
			held = 100 * s.MemoryHeld
		}
		if r.Pages {
			paged = paging(r)
		}
		t.Add(r.Policy.Name, s.Wait.Mean, s.Response.Mean, halfWidth(r), s.Response.Median, s.Response.P95,
			s.BoundedSlowdown.Mean, s.BoundedSlowdown.Median, s.BoundedSlowdown.P95, 100*s.Utilisation, held, paged, r.NotStarted)
	}
	return t
}

// mark marks what rests on numbers that were made up.
func mark(unit string, made bool) string {
	if made {
		return unit + "*"
	}
	return unit
}

// short and narrow bound the classes of jobs.
const short = time.Hour

func narrow(w *workload.Workload) int { return max(1, w.Processors/16) }

// classes compares the policies by classes of jobs.
func classes(w *workload.Workload, outcomes []*compare.Outcome) *report.Table {
	names := [4]string{"short narrow", "short wide", "long narrow", "long wide"}
	class := func(j metrics.Job) int {
		k := 0
		if j.Run > short {
			k = 2
		}
		if j.Processors > narrow(w) {
			k++
		}
		return k
	}
	var count [4]int
	for _, j := range w.Jobs {
		count[class(metrics.Job{Run: j.Run, Processors: j.Processors})]++
	}
	t := &report.Table{
		Title:   fmt.Sprintf("By class of jobs: short ones run for up to an hour, narrow ones on up to %d processors", narrow(w)),
		Columns: []report.Column{{Title: "policy"}},
	}
	for k, name := range names {
		t.Columns = append(t.Columns,
			report.Column{Title: name, Unit: humanize.Comma(int64(count[k])) + ": mean, s", Format: "%.0f"},
			report.Column{Title: "slowdown", Unit: "mean", Format: "%.1f"})
	}
	for _, r := range outcomes {
		row := make([]any, 9)
		row[0] = r.Policy.Name
		var response, slowdown [4]float64
		for _, j := range r.Jobs {
			k := class(j)
			response[k] += j.Response().Seconds() / float64(count[k])
			slowdown[k] += j.BoundedSlowdown(metrics.Tau) / float64(count[k])
		}
		for k := range names {
			if count[k] > 0 && r.Unfinished == 0 {
				row[1+2*k], row[2+2*k] = response[k], slowdown[k]
			}
		}
		t.Add(row...)
	}
	return t
}

// synthetic says what was made up of what the policies look at.
func synthetic(w *workload.Workload, outcomes []*compare.Outcome) (lines []string) {
	for _, what := range w.Synthetic {
		switch {
		case what == "memory":
			lines = append(lines, "* Not known and made up: memory, on which +memory, +relaxed, +paging and gang scheduling rest.")
		case slices.ContainsFunc(outcomes, func(r *compare.Outcome) bool { return strings.HasPrefix(r.Policy.Name, "paired") }):
			lines = append(lines, fmt.Sprintf("Not known and made up: %s, on which paired gang scheduling rests.", what))
		}
	}
	return lines
}

// notes says what the tables do not.
func notes(w *workload.Workload, memory int64, outcomes []*compare.Outcome) []string {
	var lines []string
	if dropped(w) > 0 {
		reasons := make([]string, len(w.Dropped))
		for i, d := range w.Dropped {
			reasons[i] = fmt.Sprintf("%s %s", humanize.Comma(int64(d.Jobs)), d.Reason)
		}
		lines = append(lines, fmt.Sprintf("Left out: %s.", strings.Join(reasons, ", ")))
	}
	lines = append(lines, synthetic(w, outcomes)...)
	if memory > 0 {
		pool := fmt.Sprintf("Memory: one pool of %s.", humanize.IBytes(uint64(memory)))
		node := memory / int64(w.Processors)
		larger := 0
		for _, j := range w.Jobs {
			if j.Memory/int64(j.Processors) > node {
				larger++
			}
		}
		for _, r := range outcomes {
			if r.MaxSlots > 0 {
				pool += fmt.Sprintf(" Gang scheduling: %s a processor; larger processes (%s jobs) count as so much.",
					humanize.IBytes(uint64(node)), humanize.Comma(int64(larger)))
				break
			}
		}
		for _, r := range outcomes {
			if r.Alone > 0 {
				pool += fmt.Sprintf(" %s: %s jobs need more and run alone.", r.Policy.Name, humanize.Comma(int64(r.Alone)))
				break
			}
		}
		lines = append(lines, pool)
	}
	for _, r := range outcomes {
		if r.Unfinished > 0 {
			lines = append(lines, fmt.Sprintf("%s broke down, with %d slots at most, and was given up: %s jobs had not ended.",
				r.Policy.Name, r.MaxSlots, humanize.Comma(int64(r.Unfinished))))
		}
	}
	if slices.ContainsFunc(outcomes, func(r *compare.Outcome) bool { return r.Policy.Molds() }) {
		lines = append(lines, "Folding takes all jobs for moldable, as fast as their processors and hardly slowed by sharing them: bounds.")
	}
	return append(lines, "Slowdown is bounded: response / run time, where less than 10 s counts as 10 s.")
}

// writeReport writes tables and plots into the output folder.
func writeReport(ctx context.Context, o *options, w *workload.Workload, outcomes []*compare.Outcome) error {
	path := func(name string) string { return filepath.Join(o.out, name) }
	if err := report.WriteFile(path("table.csv"), table(o, w, outcomes).WriteCSV); err != nil {
		return err
	}
	list := records(o, w, outcomes)
	for i := range list {
		list[i].ReplaySeconds = 0
	}
	if err := report.WriteFile(path("table.json"), func(out io.Writer) error { return report.WriteJSON(out, list) }); err != nil {
		return err
	}
	var waits, slowdowns []report.Sample
	var queue, busy []report.Series
	for _, r := range outcomes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Unfinished > 0 {
			continue // what there is of its jobs is cut off
		}
		waits = append(waits, report.Sample{Name: r.Policy.Name, Values: values(r.Jobs, func(j metrics.Job) float64 { return j.Wait().Seconds() })})
		slowdowns = append(slowdowns, report.Sample{Name: r.Policy.Name, Values: values(r.Jobs, func(j metrics.Job) float64 { return j.BoundedSlowdown(metrics.Tau) })})
		timeline, err := metrics.Timeline(r.Jobs)
		if err != nil {
			return err
		}
		queue = append(queue, series(r.Policy.Name, timeline, func(s metrics.Sample) float64 { return float64(s.Queued) }))
		busy = append(busy, series(r.Policy.Name, timeline, func(s metrics.Sample) float64 { return 100 * float64(s.Processors) / float64(w.Processors) }))
		if !r.Policy.Space() {
			continue // jobs share processors, or change them
		}
		from, to := window(timeline)
		chart, err := report.Gantt(fmt.Sprintf("%s: around the longest queue", r.Policy.Name), bars(w, r), w.Processors, from, to)
		if err != nil {
			return err
		}
		if err := report.Save(path("gantt-"+r.Policy.Name), chart); err != nil {
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

func bars(w *workload.Workload, r *compare.Outcome) []report.Bar {
	b := make([]report.Bar, len(r.Jobs))
	for i, j := range r.Jobs {
		b[i] = report.Bar{Job: int(w.Numbers[i]), Start: j.Start, End: j.End, Processors: j.Processors}
	}
	return b
}
