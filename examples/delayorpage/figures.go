package main

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gangkit/gangkit/examples/delayorpage/study"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/report"
)

// write makes the folder.
func write(ctx context.Context, s *study.Study, c study.Config, folder string) error {
	for name, t := range map[string]*report.Table{"rules.csv": rules(s), "thresholds.csv": thresholds(s), "best.csv": best(s), "points.csv": points(s)} {
		if err := report.WriteFile(filepath.Join(folder, name), t.WriteCSV); err != nil {
			return err
		}
	}
	f := figures{s: s, c: c}
	f.limits()
	f.costs()
	f.throughputs()
	f.phases()
	return parallel.Each(ctx, len(f.drawings), func(_ context.Context, i int) error {
		d := f.drawings[i]
		if d.err != nil {
			return d.err
		}
		return report.Save(filepath.Join(folder, d.name), d.plot)
	}, nil)
}

// points is the table of all points.
func points(s *study.Study) *report.Table {
	t := &report.Table{Columns: costColumns(
		report.Column{Title: "load"}, report.Column{Title: "C"},
		report.Column{Title: "mean response", Unit: "s"}, report.Column{Title: "median response", Unit: "s"}, report.Column{Title: "p95 response", Unit: "s"},
		report.Column{Title: "mean bounded slowdown"}, report.Column{Title: "median bounded slowdown"}, report.Column{Title: "p95 bounded slowdown"},
		report.Column{Title: "mean wait", Unit: "s"}, report.Column{Title: "mean paging", Unit: "s"}, report.Column{Title: "throughput", Unit: "M"}, report.Column{Title: "saturated"},
	)}
	for _, figure := range []string{"response", "slowdown", "throughput"} {
		t.Columns = append(t.Columns, report.Column{Title: figure + " ratio"}, report.Column{Title: figure + " low"}, report.Column{Title: figure + " high"})
	}
	t.Columns = append(t.Columns, report.Column{Title: "predicted response", Unit: "s"}, report.Column{Title: "predicted slowdown"}, report.Column{Title: "predicted throughput ratio"})
	for _, c := range s.Cells {
		for _, p := range c.Points {
			m := p.Mean
			row := costCells(s.Costs[c.Cost], c.Load, p.Limit, m.Response, m.MedianResponse, m.P95Response, m.Slowdown, m.MedianSlowdown, m.P95Slowdown, m.Wait, m.Paging, m.Throughput, m.Saturated)
			for _, r := range []study.Ratio{p.Response, p.Slowdown, p.Rate} {
				row = append(row, r.Mean, r.Low, r.High)
			}
			t.Add(append(row, p.PredictedResponse, p.PredictedSlowdown, p.PredictedRate)...)
		}
	}
	return t
}

type figures struct {
	s        *study.Study
	c        study.Config
	drawings []drawing
}

type drawing struct {
	name string
	plot *plot.Plot
	err  error
}

func (f *figures) draw(name, title, x, y string, series []report.Series, change func(*plot.Plot) error) {
	p, err := report.Lines(title, x, y, series...)
	if err == nil && change != nil {
		err = change(p)
	}
	f.drawings = append(f.drawings, drawing{name, p, err})
}

var measures = []struct {
	name  string
	best  func(study.Cell) study.Best
	ratio func(study.Point) study.Ratio
}{
	{"response", func(c study.Cell) study.Best { return c.Response }, func(p study.Point) study.Ratio { return p.Response }},
	{"slowdown", func(c study.Cell) study.Best { return c.Slowdown }, func(p study.Point) study.Ratio { return p.Slowdown }},
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// limits draws the best limit against what the model depends on, a line a load, with
// grey dots for limits that cannot be told from it.
func (f *figures) limits() {
	for _, m := range measures {
		for _, fault := range f.c.LocalityFaults {
			f.limit(m.name, m.best, study.LocalityModel, fmt.Sprintf("locality, fault %v", fault), "θ",
				func(c study.Cost) (float64, bool) { return c.Locality, c.Fault == fault })
		}
		for _, model := range []string{study.ChenModel, study.LineModel} {
			f.limit(m.name, m.best, model, model, "log10 of the time of a fault in ms",
				func(c study.Cost) (float64, bool) { return math.Log10(milliseconds(c.Fault)), true })
		}
	}
}

func (f *figures) limit(figure string, of func(study.Cell) study.Best, model, title, x string, at func(study.Cost) (float64, bool)) {
	var series []report.Series
	var ties plotter.XYs
	for i, load := range f.c.Loads {
		line := report.Series{Name: fmt.Sprintf("load %v", load)}
		for _, c := range f.s.Cells {
			cost := f.s.Costs[c.Cost]
			x, ok := at(cost)
			if !ok || cost.Model != model || c.Load != load {
				continue
			}
			x += .02 * float64(i) // beside each other
			line.Points = append(line.Points, plotter.XY{X: x, Y: of(c).Limit})
			for _, tie := range of(c).Ties {
				ties = append(ties, plotter.XY{X: x, Y: tie})
			}
		}
		series = append(series, line)
	}
	f.draw("limit-"+slug(title)+"-"+figure, "Best limit by "+figure+": "+title, x, "C*", series, func(p *plot.Plot) error {
		return scatter(p, "not told from it", ties, draw.CircleGlyph{}, 1.5)
	})
}

// scatter adds grey points.
func scatter(p *plot.Plot, name string, points plotter.XYs, shape draw.GlyphDrawer, radius float64) error {
	if len(points) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.Shape, dots.Radius, dots.Color = shape, vg.Points(radius), color.Gray{0x50}
	p.Add(dots)
	p.Legend.Add(name, dots)
	return nil
}

// costs draws, for each cost, what a limit is worth, a line a load.
func (f *figures) costs() {
	for _, m := range measures {
		for i, cost := range f.s.Costs {
			var series []report.Series
			var low, high float64 = 1, 1
			for _, c := range f.s.Cells {
				if c.Cost != i || c.Load == study.Backlog {
					continue
				}
				line := report.Series{Name: fmt.Sprintf("load %v", c.Load)}
				for _, p := range c.Points {
					r := m.ratio(p)
					line.Points = append(line.Points, plotter.XY{X: p.Limit, Y: r.Mean})
					line.Low = append(line.Low, plotter.XY{X: p.Limit, Y: r.Low})
					line.High = append(line.High, plotter.XY{X: p.Limit, Y: r.High})
					low, high = min(low, r.Low), max(high, r.High)
				}
				series = append(series, line)
			}
			f.draw("cost-"+slug(cost.String())+"-"+m.name, "What a limit does to the "+m.name+": "+cost.String(), "C", "multiple of that with C = 1", series, logarithmic(low, high))
		}
	}
}

func logarithmic(low, high float64) func(*plot.Plot) error {
	return func(p *plot.Plot) error {
		report.LogY(p, low/1.2, high*1.2)
		return nil
	}
}

// throughputs draws backlogs, measured and, dashed, by the rule.
func (f *figures) throughputs() {
	for _, fault := range append(slices.Clone(f.c.LocalityFaults), 0) {
		var series []report.Series
		var rule []plotter.XYs
		title := "other models"
		for _, c := range f.s.Cells {
			cost := f.s.Costs[c.Cost]
			if c.Load != study.Backlog || (cost.Model == study.LocalityModel) != (fault > 0) || fault > 0 && cost.Fault != fault || cost.Fault > 0 && fault == 0 && cost.Fault < time.Millisecond {
				continue
			}
			name := cost.String()
			if fault > 0 {
				title = fmt.Sprintf("locality, fault %v", fault)
				name = fmt.Sprintf("θ = %v", cost.Locality)
			}
			line := report.Series{Name: name}
			var dashed plotter.XYs
			for _, p := range c.Points {
				line.Points = append(line.Points, plotter.XY{X: p.Limit, Y: p.Rate.Mean})
				line.Low = append(line.Low, plotter.XY{X: p.Limit, Y: p.Rate.Low})
				line.High = append(line.High, plotter.XY{X: p.Limit, Y: p.Rate.High})
				dashed = append(dashed, plotter.XY{X: p.Limit, Y: p.PredictedRate})
			}
			series, rule = append(series, line), append(rule, dashed)
		}
		f.draw("throughput-"+slug(title), "Throughput of a backlog: "+title+" (dashed: the rule C/f(C))", "C", "multiple of that with C = 1", series, func(p *plot.Plot) error {
			for _, dashed := range rule {
				if err := addLine(p, dashed, []vg.Length{vg.Points(3), vg.Points(3)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func addLine(p *plot.Plot, points plotter.XYs, dashes []vg.Length) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Dashes, line.Width = dashes, vg.Points(1)
	p.Add(line)
	return nil
}

// phases draws where it pays to page, over locality and the time of a fault: by the
// rule below the lines, and as it was measured with a backlog.
func (f *figures) phases() {
	lines := map[float64]*report.Series{}
	var series []report.Series
	var pages, waits plotter.XYs
	low, high := math.Inf(1), 0.
	for _, x := range f.s.Thresholds {
		if x.Model != study.LocalityModel {
			continue
		}
		if lines[x.Limit] == nil {
			lines[x.Limit] = &report.Series{Name: fmt.Sprintf("C = %v gains below", x.Limit)}
		}
		y := milliseconds(x.Fault)
		lines[x.Limit].Points = append(lines[x.Limit].Points, plotter.XY{X: x.Locality, Y: y})
		low, high = min(low, y), max(high, y)
	}
	for _, limit := range f.c.Limits {
		if lines[limit] != nil {
			series = append(series, *lines[limit])
		}
	}
	for _, c := range f.s.Cells {
		cost := f.s.Costs[c.Cost]
		if c.Load != study.Backlog || cost.Model != study.LocalityModel {
			continue
		}
		at := plotter.XY{X: cost.Locality, Y: milliseconds(cost.Fault)}
		low, high = min(low, at.Y), max(high, at.Y)
		if c.Rate.Limit > 1 {
			pages = append(pages, at)
		} else {
			waits = append(waits, at)
		}
	}
	f.draw("phases", "Where to page, and where to delay", "θ", "time of a fault [ms]", series, func(p *plot.Plot) error {
		if len(series) == 0 {
			return nil
		}
		report.LogY(p, low/2, high*2)
		if err := scatter(p, "measured: page", pages, draw.PlusGlyph{}, 5); err != nil {
			return err
		}
		return scatter(p, "measured: delay", waits, draw.RingGlyph{}, 5)
	})
}

// slug is a title as a file name.
func slug(title string) string {
	return strings.NewReplacer(", ", "-", " ", "-", "=", "-", "θ", "theta", "µ", "u").Replace(title)
}
