package main

import (
	"context"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/memestimate/study"
)

// record is the JSON object of a bound.
type record struct {
	Bound     string  `json:"bound"`
	Jobs      int     `json:"jobs"`
	Predicted int     `json:"predicted"`
	Within1MB float64 `json:"within_1mb"`
	Within5MB float64 `json:"within_5mb"`
	Under     float64 `json:"underestimated"`
	MeanOver  float64 `json:"mean_over_mb"`
}

func records(list []study.Quality) []record {
	records := make([]record, len(list))
	for i := range list {
		q := &list[i]
		records[i] = record{q.Bound, q.Jobs, q.Predicted, q.Share(q.Within1MB), q.Share(q.Within5MB), q.Share(q.Under), q.MeanOver()}
	}
	return records
}

// table compares the bounds.
func table(list []study.Quality) *report.Table {
	t := &report.Table{
		Title: "How far estimates are from what jobs used",
		Columns: []report.Column{{Title: "bound"}, {Title: "jobs"}, {Title: "predicted"}, {Title: "within 1 MB", Unit: "%", Format: "%.2f"},
			{Title: "within 5 MB", Unit: "%", Format: "%.2f"}, {Title: "too low", Unit: "%", Format: "%.2f"}, {Title: "too high by", Unit: "MB, mean", Format: "%.2f"}},
	}
	for _, r := range records(list) {
		t.Add(r.Bound, r.Jobs, r.Predicted, 100*r.Within1MB, 100*r.Within5MB, 100*r.Under, r.MeanOver)
	}
	return t
}

// A figure is a histogram of errors: one half of the paper's Figure 2.
type figure struct {
	name, title, axis, unit string
	width, lowest           int // of the buckets; the lowest begins at width·lowest
	counts                  func(*study.Quality) []int
}

var megabytes = figure{
	"megabytes", "Errors, estimate - actual", "estimate - actual, MB (the outermost: and beyond)", "MB",
	1, study.FirstMB, func(q *study.Quality) []int { return q.Megabytes[:] },
}

var percent = figure{
	"percent", "Errors in % of the actual memory", "(estimate - actual) / actual, % (the last: and beyond)", "%",
	50, study.FirstPercent, func(q *study.Quality) []int { return q.Percent[:] },
}

// table shows the shares of the predicted jobs in the buckets from first to last.
// These two also hold what is beyond.
func (f figure) table(list []study.Quality, first, last int) *report.Table {
	t := &report.Table{Title: f.title, Columns: []report.Column{{Title: "from", Unit: f.unit}, {Title: "below", Unit: f.unit}}}
	rows := make([][]any, last-first+1)
	for k := range rows {
		rows[k] = []any{f.width * (first + k), f.width * (first + k + 1)}
	}
	rows[0][0], rows[last-first][1] = nil, nil
	for i := range list {
		t.Columns = append(t.Columns, report.Column{Title: list[i].Bound, Unit: "%", Format: "%.2f"})
		sums := make([]int, len(rows))
		for k, n := range f.counts(&list[i]) {
			sums[min(max(f.lowest+k, first), last)-first] += n
		}
		for k, n := range sums {
			rows[k] = append(rows[k], 100*list[i].Share(n))
		}
	}
	for _, row := range rows {
		t.Add(row...)
	}
	return t
}

// least is the smallest share that a plot shows, in percent.
const least = .01

// plot draws the logarithm of the shares, where the paper splits a linear scale.
func (f figure) plot(list []study.Quality) (*plot.Plot, error) {
	var lines []report.Series
	for i := range list {
		line := report.Series{Name: list[i].Bound}
		for k, n := range f.counts(&list[i]) {
			line.Points = append(line.Points, plotter.XY{
				X: float64(f.width) * (float64(f.lowest+k) + .5), Y: math.Log10(max(100*list[i].Share(n), least)),
			})
		}
		lines = append(lines, line)
	}
	p, err := report.Lines(f.title, f.axis, "% of the predicted jobs", lines...)
	if err != nil {
		return nil, err
	}
	p.Y.Min, p.Y.Max = math.Log10(least), 2
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: -2, Label: "≤ 0.01"}, {Value: -1, Label: "0.1"}, {Value: 0, Label: "1"}, {Value: 1, Label: "10"}, {Value: 2, Label: "100"}}
	return p, nil
}

// write makes the folder: the tables as CSV, and the plots.
func write(ctx context.Context, folder string, list []study.Quality) error {
	if err := report.WriteFile(filepath.Join(folder, "quality.csv"), table(list).WriteCSV); err != nil {
		return err
	}
	for _, f := range []figure{megabytes, percent} {
		if err := ctx.Err(); err != nil {
			return err
		}
		all := f.table(list, f.lowest, f.lowest+len(f.counts(&list[0]))-1)
		path := filepath.Join(folder, f.name)
		if err := report.WriteFile(path+".csv", all.WriteCSV); err != nil {
			return err
		}
		drawn, err := f.plot(list)
		if err != nil {
			return err
		}
		if err := report.Save(path, drawn); err != nil {
			return err
		}
	}
	return nil
}
