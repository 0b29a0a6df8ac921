package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// page is the report of a comparison.
func page(ctx context.Context, o *options, w *workload.Workload, c compare.Config, outcomes []*compare.Outcome) (*report.Page, error) {
	job, memory := c.Follow, c.Memory
	p := &report.Page{
		Title:  "Scheduling policies compared",
		Answer: answer(outcomes),
		Subtitle: fmt.Sprintf("%s: %s jobs, %s processors, load %.2f",
			w.Name, humanize.Comma(int64(len(w.Jobs))), humanize.Comma(int64(w.Processors)), w.Load()),
		Synthetic: synthetic(w, outcomes),
		Notes:     notes(w, memory, outcomes)[len(synthetic(w, outcomes)):],
		Tables:    []*report.Table{table(o, w, outcomes), classes(w, outcomes)},
		Decisions: &report.Decisions{Title: describe(w, job), Submit: w.Jobs[job].Submit},
	}
	queue := &report.Timeline{Title: "Queue", Unit: "jobs", About: "Jobs that were submitted and have not started."}
	busy := &report.Timeline{Title: "Utilisation", Unit: "%", About: "Processors that jobs hold. Where jobs share processors they add up to more than there are."}
	held := &report.Timeline{Title: "Memory", Unit: "%", About: "Memory that jobs hold, of what there is."}
	responses := &report.Cumulative{Title: "Response", Unit: "s", About: "Share of the jobs that ended within so long.", Floor: 1}
	waits := &report.Cumulative{Title: "Wait", Unit: "s", About: "Share of the jobs that started within so long.", Floor: 1}
	slowdowns := &report.Cumulative{Title: "Bounded slowdown", Unit: "", About: "Share of the jobs of at most that slowdown.", Floor: 1}
	for _, r := range outcomes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := follow(p, w, job, r); err != nil {
			return nil, err
		}
		if r.Unfinished > 0 {
			continue // what there is of its jobs is cut off
		}
		name := r.Policy.Name
		timeline, err := metrics.Timeline(r.Jobs)
		if err != nil {
			return nil, err
		}
		for _, c := range []struct {
			chart *report.Timeline
			value func(metrics.Sample) float64
		}{
			{queue, func(s metrics.Sample) float64 { return float64(s.Queued) }},
			{busy, func(s metrics.Sample) float64 { return 100 * float64(s.Processors) / float64(w.Processors) }},
			{held, func(s metrics.Sample) float64 { return 100 * float64(s.Memory) / float64(max(memory, 1)) }},
		} {
			if err := c.chart.Add(name, series(name, timeline, c.value).Points); err != nil {
				return nil, err
			}
		}
		for _, c := range []struct {
			chart *report.Cumulative
			value func(metrics.Job) float64
		}{
			{responses, func(j metrics.Job) float64 { return j.Response().Seconds() }},
			{waits, func(j metrics.Job) float64 { return j.Wait().Seconds() }},
			{slowdowns, func(j metrics.Job) float64 { return j.BoundedSlowdown(metrics.Tau) }},
		} {
			if err := c.chart.Add(name, values(r.Jobs, c.value)); err != nil {
				return nil, err
			}
		}
		if r.Policy.Space() {
			from, to := window(timeline)
			picture, err := report.GanttPicture(name+": around the longest queue", bars(w, r), w.Processors, from, to)
			if err != nil {
				return nil, err
			}
			p.Pictures = append(p.Pictures, picture)
		}
	}
	p.Timelines = []*report.Timeline{queue, busy}
	if memory > 0 {
		p.Timelines = append(p.Timelines, held)
	}
	p.Cumulative = []*report.Cumulative{responses, slowdowns, waits}
	return p, nil
}

// answer says which policy responds fastest, of each family.
func answer(outcomes []*compare.Outcome) string {
	var sentences []string
	for _, family := range []struct {
		name, remark string
		is           func(compare.Policy) bool
	}{
		{"space sharing that knows of memory", "", func(p compare.Policy) bool { return p.Space() && p.KnowsMemory() }},
		{"space sharing that ignores memory", "", func(p compare.Policy) bool { return p.Space() && !p.KnowsMemory() }},
		{"gang scheduling", "", func(p compare.Policy) bool { return !p.Space() && !p.Molds() }},
		{"folding", ", if all jobs are moldable", compare.Policy.Molds},
	} {
		var best *compare.Outcome
		ran := 0
		for _, r := range outcomes {
			if !family.is(r.Policy) {
				continue
			}
			ran++
			if r.Unfinished == 0 && (best == nil || r.Summary.Response.Mean < best.Summary.Response.Mean) {
				best = r
			}
		}
		switch {
		case ran == 0:
		case best == nil:
			sentences = append(sentences, fmt.Sprintf("Under %s the machine broke down.", family.name))
		default:
			sentences = append(sentences, fmt.Sprintf("Of %s %s responds fastest, in %s s (mean) and %s s (median)%s.", family.name, best.Policy.Name,
				humanize.Comma(int64(best.Summary.Response.Mean)), humanize.Comma(int64(best.Summary.Response.Median)), family.remark))
		}
	}
	return strings.Join(sentences, " ")
}

// follow adds what a policy decided on the job, and its matrix.
func follow(p *report.Page, w *workload.Workload, job int, r *compare.Outcome) error {
	course := report.Course{Name: r.Policy.Name, Start: r.Jobs[job].Start, End: r.Jobs[job].End}
	for _, d := range r.Decisions {
		course.Events = append(course.Events, report.Event{Time: d.At, What: d.What, Why: d.Why})
	}
	p.Decisions.Courses = append(p.Decisions.Courses, course)
	if len(r.Matrix) == 0 {
		return nil
	}
	picture, err := report.MatrixPicture(fmt.Sprintf("%s: the matrix at %s", r.Policy.Name, compare.Instant(r.MatrixAt)), r.Matrix)
	if err != nil {
		return err
	}
	p.Pictures = append(p.Pictures, picture)
	return nil
}

// example is the job whose decisions are told if none is asked for: of the tenth that
// are widest the one in the middle.
func example(w *workload.Workload) int {
	widths := make([]float64, len(w.Jobs))
	for i, j := range w.Jobs {
		widths[i] = float64(j.Processors)
	}
	d, err := metrics.Describe(widths)
	if err != nil {
		return 0
	}
	var wide []int
	for i, x := range widths {
		if x >= d.P95 {
			wide = append(wide, i)
		}
	}
	return wide[len(wide)/2]
}

// commandLine is what was typed, as far as it says what was run.
func commandLine(args []string) string {
	var words []string
	for _, a := range args {
		if strings.ContainsAny(a, " \"'\\$&|;<>*?(){}[]`#~!\n\t") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return "replay " + strings.Join(words, " ")
}
