package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bars plots a bar of every series for each label: side by side, or on top of each
// other if stacked, as for the parts of a sum. values[i][k] of a stack must not be
// negative. A series has a value for each label, or it is ErrData.
func Bars(title, y string, labels []string, stacked bool, names []string, values [][]float64) (*plot.Plot, error) {
	p := newPlot(title, "", y)
	if len(labels) == 0 || len(names) == 0 {
		return noData(p)
	}
	const room = 300 // points, for all bars
	width := vg.Points(.75 * room / float64(len(labels)))
	if !stacked {
		width /= vg.Length(len(names))
	}
	var below *plotter.BarChart
	for i, name := range names {
		points := make(plotter.XYs, len(values[i]))
		for k, v := range values[i] {
			points[k].Y = v
			if stacked && v < 0 {
				return nil, fmt.Errorf("series %q, bar %d: %v in a stack: %w", name, k, v, ErrData)
			}
		}
		if _, err := check([]Series{{Name: name, Points: points}}); err != nil {
			return nil, err
		}
		if len(points) != len(labels) {
			return nil, fmt.Errorf("series %q: %d values for %d labels: %w", name, len(points), len(labels), ErrData)
		}
		bars, err := plotter.NewBarChart(plotter.Values(values[i]), width)
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle.Width = colours[i%len(colours)], 0
		if !stacked {
			bars.Offset = width * (vg.Length(i) - vg.Length(len(names)-1)/2)
		} else if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		addLegend(p, name, bars)
	}
	ticks := make([]plot.Tick, len(labels))
	for k, label := range labels {
		ticks[k] = plot.Tick{Value: float64(k), Label: label}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = -.5, float64(len(labels))-.5
	p.Y.Min = min(p.Y.Min, 0)
	return p, nil
}
