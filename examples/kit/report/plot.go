package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrData reports numbers that cannot be drawn: NaN, infinities and their
// like beyond 1e300, times that run backwards, empty windows.
var ErrData = errors.New("report: cannot be drawn")

// A Series is a curve with a name for the legend.
type Series struct {
	Name   string
	Points plotter.XYs

	// Low and High, if there are any, bound a shaded band behind a curve of [Lines],
	// such as its confidence interval.
	Low, High plotter.XYs
}

// Colours that differ in brightness too, and for the colour-blind (Okabe and
// Ito), the darkest first.
var colours = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky
	{0x33, 0x33, 0x33, 0xff}, // black
}

// lineStyle is that of the i-th series: beyond the colours, dashed.
func lineStyle(i int) draw.LineStyle {
	style := draw.LineStyle{Color: colours[i%len(colours)], Width: vg.Points(1.2)}
	if i >= len(colours) {
		style.Dashes = []vg.Length{vg.Points(5), vg.Points(2)}
	}
	return style
}

// newPlot returns an empty plot in the package's style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(3), vg.Points(3)
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Length, p.Y.Tick.Length = vg.Points(5), vg.Points(5)
	p.Title.TextStyle.Font.Size = 13
	p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = 11, 11
	p.Legend.TextStyle.Font.Size = 10
	p.Title.TextStyle.Font.Variant = "Sans"
	p.X.Label.TextStyle.Font.Variant, p.Y.Label.TextStyle.Font.Variant = "Sans", "Sans"
	p.X.Tick.Label.Font.Variant, p.Y.Tick.Label.Font.Variant = "Sans", "Sans"
	p.Legend.TextStyle.Font.Variant = "Sans"
	p.Legend.Padding = vg.Points(4)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(grid)
	return p
}

// noData says so in the middle of an otherwise empty plot.
func noData(p *plot.Plot) (*plot.Plot, error) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.X.Scale = plot.LinearScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(nil), plot.ConstantTicks(nil)
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: .5, Y: .5}}, Labels: []string{"no data"}})
	if err != nil {
		return nil, err
	}
	label.TextStyle[0].Font.Variant = "Sans"
	label.TextStyle[0].XAlign = draw.XCenter
	p.Add(label)
	return p, nil
}

// huge is the largest number drawn: sums and differences of two stay finite.
const huge = 1e300

// check also says how many points there are.
func check(series []Series) (points int, err error) {
	for _, s := range series {
		for _, points := range []plotter.XYs{s.Points, s.Low, s.High} {
			for i, p := range points {
				if !(math.Abs(p.X) <= huge && math.Abs(p.Y) <= huge) {
					return 0, fmt.Errorf("series %q, point %d: (%v, %v): %w", s.Name, i, p.X, p.Y, ErrData)
				}
			}
		}
		points += len(s.Points)
	}
	return points, nil
}

// shade fills an outline in the colour of the i-th series.
func shade(i int, outline plotter.XYs) (*plotter.Polygon, error) {
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return nil, err
	}
	colour := colours[i%len(colours)]
	colour.A = 0x40
	band.Color, band.LineStyle.Width = colour, 0
	return band, nil
}

// Lines plots series of points joined by straight lines, such as a mean
// response over a parameter, one series a policy. O(n).
func Lines(title, x, y string, series ...Series) (*plot.Plot, error) {
	p := newPlot(title, x, y)
	if n, err := check(series); err != nil {
		return nil, err
	} else if n == 0 {
		return noData(p)
	}
	for i, s := range series {
		if len(s.Low)+len(s.High) == 0 {
			continue
		}
		path := slices.Clone(s.High)
		for _, pt := range slices.Backward(s.Low) {
			path = append(path, pt)
		}
		band, err := shade(i, path)
		if err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		p.Add(band)
	}
	for i, s := range series {
		if len(s.Points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(s.Points)
		if err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		line.LineStyle = lineStyle(i)
		dots.Color = line.Color
		dots.Radius = vg.Points(2.5)
		dots.Shape = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}[i%3]
		p.Add(line, dots)
		addLegend(p, s.Name, line, dots)
	}
	widen(&p.X)
	widen(&p.Y)
	p.X.Tick.Marker, p.Y.Tick.Marker = linear(p.X.Max-p.X.Min), linear(p.Y.Max-p.Y.Min)
	return p, nil
}

// LogY makes the vertical axis of a plot of [Lines] logarithmic, from low to high, and
// panics unless 0 < low < high. All that is drawn has to lie between them.
func LogY(p *plot.Plot, low, high float64) {
	if !(0 < low && low < high) {
		panic(fmt.Sprintf("report: logarithmic axis from %v to %v", low, high))
	}
	p.Y.Min, p.Y.Max = low, high
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
}

// widen keeps points off the edges, and a constant in the middle.
func widen(a *plot.Axis) {
	by := .04 * (a.Max - a.Min)
	if by == 0 {
		by = max(1, math.Abs(a.Max)/10)
	}
	a.Min, a.Max = a.Min-by, a.Max+by
}

func addLegend(p *plot.Plot, name string, thumbs ...plot.Thumbnailer) {
	const longest = 40 // the legend takes its width from the drawing
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest-1]) + "…"
	}
	if name != "" {
		p.Legend.Add(name, thumbs...)
	}
}

// Steps plots step functions of time: X, in seconds and not decreasing, is the
// instant from which on the value is Y. The axis is labelled in seconds to
// days, by its length.
//
// A curve of more than 2000 steps would be a large file and a black smear: its
// time is cut into 500 intervals, and the curve is the mean over each
// (by time), on a shaded band from the smallest to the largest value in it, so
// that no peak is lost. O(n).
func Steps(title, y string, series ...Series) (*plot.Plot, error) {
	p := newPlot(title, "time", y)
	if n, err := check(series); err != nil {
		return nil, err
	} else if n == 0 {
		return noData(p)
	}
	from, to := math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for i, pt := range s.Points {
			from, to = min(from, pt.X), max(to, pt.X)
			if i > 0 && pt.X < s.Points[i-1].X {
				return nil, fmt.Errorf("series %q, point %d: time %v after %v: %w", s.Name, i, pt.X, s.Points[i-1].X, ErrData)
			}
		}
	}
	banded := false
	var lines []*plotter.Line
	counts := true // of things: no marks at halves
	for i, s := range series {
		points := s.Points
		if len(points) == 0 {
			continue
		}
		for _, pt := range points {
			counts = counts && pt.Y == math.Trunc(pt.Y)
		}
		style := lineStyle(i)
		if len(points) > 4*buckets {
			mean, low, high := thin(points)
			banded = true
			band, err := shade(i, outline(low, high))
			if err != nil {
				return nil, fmt.Errorf("series %q: %w", s.Name, err)
			}
			p.Add(band)
			points = mean
			style.Width = vg.Points(.8)
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		line.StepStyle, line.LineStyle = plotter.PostStep, style
		lines = append(lines, line)
		addLegend(p, s.Name, line)
	}
	for _, line := range lines { // over all the bands
		p.Add(line)
	}
	if from > 0 && from < to/20 {
		from = 0 // the first job came a little later
	}
	p.X.Min, p.X.Max = from, to
	if from == to {
		widen(&p.X)
	}
	p.Y.Min = min(p.Y.Min, 0)
	if p.Y.Max += .03 * (p.Y.Max - p.Y.Min); p.Y.Max == p.Y.Min {
		p.Y.Max++
	}
	marks, unit := clock(p.X.Max - p.X.Min)
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, linear(p.Y.Max-p.Y.Min)
	if counts {
		p.Y.Tick.Marker = whole(p.Y.Max - p.Y.Min)
	}
	p.X.Label.Text = "time [" + unit + "]"
	if banded {
		p.X.Label.Text += "   (line: mean, band: range)"
	}
	return p, nil
}

const buckets = 500

// thin cuts the time of a step function into equal intervals and returns, as
// step functions, the mean over each, the smallest and the largest value.
// A value that lasts no time counts for the smallest and largest.
func thin(points plotter.XYs) (mean, low, high plotter.XYs) {
	first, last := points[0].X, points[len(points)-1].X
	width := (last - first) / buckets
	if width <= 0 {
		width = 1 // all at one instant
	}
	next := 0
	value := points[0].Y // as the interval begins
	for b := range buckets {
		from, to := first+float64(b)*width, first+float64(b+1)*width
		if b == buckets-1 {
			to = last
		}
		lo, hi, sum, at := value, value, 0., from
		begun := false
		for ; next < len(points) && (points[next].X < to || b == buckets-1); next++ {
			pt := points[next]
			if pt.X <= from && !begun {
				lo, hi = pt.Y, pt.Y // the value before has ended
			}
			begun = true
			sum += value * (pt.X - at)
			at, value = pt.X, pt.Y
			lo, hi = min(lo, value), max(hi, value)
		}
		sum += value * max(0, to-at)
		average := value
		if to > from {
			average = min(max(sum/(to-from), lo), hi)
		}
		mean = append(mean, plotter.XY{X: from, Y: average})
		low = append(low, plotter.XY{X: from, Y: lo})
		high = append(high, plotter.XY{X: from, Y: hi})
	}
	end := func(s plotter.XYs) plotter.XYs { return append(s, plotter.XY{X: last, Y: s[len(s)-1].Y}) }
	return end(mean), end(low), end(high)
}

// outline is the way along one step function and back along the other.
func outline(low, high plotter.XYs) plotter.XYs {
	path := make(plotter.XYs, 0, 4*len(low))
	for i, pt := range high {
		if i > 0 {
			path = append(path, plotter.XY{X: pt.X, Y: high[i-1].Y})
		}
		path = append(path, pt)
	}
	for i, pt := range slices.Backward(low) {
		path = append(path, pt)
		if i > 0 {
			path = append(path, plotter.XY{X: pt.X, Y: low[i-1].Y})
		}
	}
	return path
}

// A Sample is a set of values with a name for the legend, in any order.
type Sample struct {
	Name   string
	Values []float64
}

// Distribution plots for each sample which share of its values is at most x,
// over a logarithmic axis. Values below floor, which is positive, count as floor: zero has no
// logarithm, and waits of less than a second are of no interest. Negative
// values are refused. Some thousand points are drawn of a sample, whatever its
// size. O(n log n).
func Distribution(title, x string, floor float64, samples ...Sample) (*plot.Plot, error) {
	if err := checkFloor(floor); err != nil {
		return nil, err
	}
	p := newPlot(title, x, "share of values up to x")
	below, highest := "", 0.
	var lines []*plotter.Line
	for i, s := range samples {
		values, clipped, err := aboveFloor(s, floor)
		if err != nil {
			return nil, err
		}
		if clipped {
			below = "≤ "
		}
		if len(values) == 0 {
			continue
		}
		highest = max(highest, values[len(values)-1])
		line, err := plotter.NewLine(cumulative(values))
		if err != nil {
			return nil, fmt.Errorf("sample %q: %w", s.Name, err)
		}
		line.StepStyle, line.LineStyle = plotter.PostStep, lineStyle(i)
		lines = append(lines, line)
		addLegend(p, s.Name, line)
	}
	if len(lines) == 0 {
		return noData(p)
	}
	p.X.Scale = plot.LogScale{}
	p.X.Min = floor
	p.X.Max = max(2*floor, math.Pow(10, math.Ceil(math.Log10(highest)*20+.1)/20)) // a little beyond
	for _, line := range lines {
		line.XYs = append(line.XYs, plotter.XY{X: p.X.Max, Y: 1}) // stays there
		p.Add(line)
	}
	p.Y.Min, p.Y.Max = 0, 1.02
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{below}, ticks{.1, 1}
	return p, nil
}

// checkFloor checks where a logarithmic axis is to begin.
func checkFloor(floor float64) error {
	if !(floor >= 1/huge && floor <= huge) {
		return fmt.Errorf("floor %v of a logarithmic axis: %w", floor, ErrData)
	}
	return nil
}

// aboveFloor returns the values sorted, those below floor raised to it, and
// whether there were any.
func aboveFloor(s Sample, floor float64) (sorted []float64, clipped bool, err error) {
	sorted = slices.Clone(s.Values)
	for k, v := range sorted {
		if !(v >= 0 && v <= huge) {
			return nil, false, fmt.Errorf("sample %q, value %d: %v: %w", s.Name, k, v, ErrData)
		}
		if v < floor {
			sorted[k], clipped = floor, true
		}
	}
	slices.Sort(sorted)
	return sorted, clipped, nil
}

// cumulative returns the steps of the distribution function of sorted values,
// leaving out those that rise by less than a thousandth.
func cumulative(sorted []float64) plotter.XYs {
	n := len(sorted)
	points := plotter.XYs{{X: sorted[0], Y: 0}}
	for i, v := range sorted {
		if i+1 < n && sorted[i+1] == v {
			continue
		}
		y := float64(i+1) / float64(n)
		if y-points[len(points)-1].Y >= 1./1000 || i+1 == n {
			points = append(points, plotter.XY{X: v, Y: y})
		}
	}
	return points
}

const (
	width, height = 9 * vg.Inch, 4.5 * vg.Inch
	gap           = 8 // points around the drawing
)

// WriteSVG writes the plot as an SVG document of 9 by 4.5 inches.
func WriteSVG(w io.Writer, p *plot.Plot) error {
	c := vgsvg.New(width, height)
	return drawTo(w, c, c, p)
}

// WritePNG writes the plot as a PNG image of 1296 by 648 pixels.
func WritePNG(w io.Writer, p *plot.Plot) error {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	return drawTo(w, c, c, p)
}

// Save writes the plot to path.svg and path.png, each as WriteFile does.
func Save(path string, p *plot.Plot) error {
	return errors.Join(
		WriteFile(path+".svg", func(w io.Writer) error { return WriteSVG(w, p) }),
		WriteFile(path+".png", func(w io.Writer) error { return WritePNG(w, p) }),
	)
}

// drawTo draws the plot with its legend to the right of it, where it hides
// nothing.
func drawTo(w io.Writer, canvas vg.CanvasSizer, content io.WriterTo, p *plot.Plot) error {
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, gap, -2*gap, gap, -gap)

	body := *p
	legend := p.Legend
	legend.Top, legend.Left = true, true
	body.Legend = plot.NewLegend()
	if size := legend.Rectangle(c).Size(); size.Y > 0 {
		legend.Draw(draw.Crop(c, c.Size().X-size.X, 0, 0, -p.Title.TextStyle.Height(p.Title.Text)-p.Title.Padding))
		c = draw.Crop(c, 0, -size.X-2*gap, 0, 0)
	}
	body.Draw(c)
	_, err := content.WriteTo(w)
	return err
}
