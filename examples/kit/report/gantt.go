package report

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ErrRows reports bars that need more processors than there are.
var ErrRows = errors.New("report: out of processors")

// A Bar is a job in a Gantt chart: Processors held from Start up to, and
// without, End.
type Bar struct {
	Job        int
	Start, End time.Duration
	Processors int
}

// Rows are the processors First to First + Count − 1.
type Rows struct{ First, Count int }

// Layout gives every bar its processors, lowest free ones first, in order of
// start, ties in order of the bars, as a machine would that does not care
// which. A bar gets several Rows if its processors are not contiguous, none if
// it ends as it starts. More processors than are free at a start is ErrRows. Time
// is O(n log n + k), k the number of free pieces looked at.
func Layout(bars []Bar, processors int) ([][]Rows, error) {
	starts, ends := make([]int, 0, len(bars)), make([]int, 0, len(bars))
	for i, b := range bars {
		if b.Processors <= 0 || b.End < b.Start {
			return nil, fmt.Errorf("bar %d: %d processors from %v to %v: %w", i, b.Processors, b.Start, b.End, ErrData)
		}
		if b.Start < b.End {
			starts, ends = append(starts, i), append(ends, i)
		}
	}
	by := func(at func(Bar) time.Duration) func(a, b int) int {
		return func(a, b int) int {
			return cmp.Or(cmp.Compare(at(bars[a]), at(bars[b])), cmp.Compare(a, b))
		}
	}
	slices.SortFunc(starts, by(func(b Bar) time.Duration { return b.Start }))
	slices.SortFunc(ends, by(func(b Bar) time.Duration { return b.End }))

	rows := make([][]Rows, len(bars))
	free := []Rows{{0, processors}} // ascending, never touching each other
	for _, i := range starts {
		for ; bars[ends[0]].End <= bars[i].Start; ends = ends[1:] {
			for _, r := range rows[ends[0]] {
				free = release(free, r)
			}
		}
		need, used := bars[i].Processors, 0
		for need > 0 && used < len(free) {
			r := &free[used]
			n := min(need, r.Count)
			rows[i] = append(rows[i], Rows{r.First, n})
			need -= n
			r.First, r.Count = r.First+n, r.Count-n
			if r.Count == 0 {
				used++
			}
		}
		if need > 0 {
			return nil, fmt.Errorf("bar %d (job %d): %d of %d processors free at %v, %d needed: %w",
				i, bars[i].Job, bars[i].Processors-need, processors, bars[i].Start, bars[i].Processors, ErrRows)
		}
		free = slices.Delete(free, 0, used)
	}
	return rows, nil
}

// release adds r to the free rows and joins it to its neighbours.
func release(free []Rows, r Rows) []Rows {
	k, _ := slices.BinarySearchFunc(free, r, func(a, b Rows) int { return cmp.Compare(a.First, b.First) })
	if k < len(free) && r.First+r.Count == free[k].First {
		r.Count += free[k].Count
		free = slices.Delete(free, k, k+1)
	}
	if k > 0 && free[k-1].First+free[k-1].Count == r.First {
		free[k-1].Count += r.Count
		return free
	}
	return slices.Insert(free, k, r)
}

// maxBars is what can be told apart in a chart, generously.
const maxBars = 20_000

// Gantt plots which job held which processors from one instant up to another.
// Bars outside are left out, those across the edge are cut. As jobs do not say
// which processors they held, Layout chooses. More than 20,000 bars in the
// window is ErrData: choose a shorter one. The axis is labelled in seconds to
// days, by its length.
func Gantt(title string, bars []Bar, processors int, from, to time.Duration) (*plot.Plot, error) {
	if to <= from || processors <= 0 {
		return nil, fmt.Errorf("chart of %d processors from %v to %v: %w", processors, from, to, ErrData)
	}
	p := newPlot(title, "", "processor")
	var inside []Bar
	for _, b := range bars {
		if b.Start < to && b.End > from {
			inside = append(inside, b)
		}
	}
	switch n := len(inside); {
	case n == 0:
		p.X.Label.Text = fmt.Sprintf("from %v to %v", from, to)
		return noData(p)
	case n > maxBars:
		return nil, fmt.Errorf("chart from %v to %v: %d bars, at most %d can be told apart: %w", from, to, n, maxBars, ErrData)
	}
	rows, err := Layout(inside, processors)
	if err != nil {
		return nil, err
	}
	palette, err := brewer.GetPalette(brewer.TypeQualitative, "Set3", 12)
	if err != nil {
		return nil, err
	}
	chart := &gantt{bars: inside, rows: rows, colours: palette.Colors(), label: p.X.Tick.Label}
	chart.label.Font.Size = 7
	chart.label.XAlign, chart.label.YAlign = draw.XCenter, draw.YCenter
	p.Add(chart)
	p.X.Min, p.X.Max = from.Seconds(), to.Seconds()
	p.Y.Min, p.Y.Max = 0, float64(processors)
	marks, unit := clock(p.X.Max - p.X.Min)
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, whole(p.Y.Max)
	p.X.Label.Text = "time [" + unit + "]"
	return p, nil
}

// gantt is a plot.Plotter.
type gantt struct {
	bars    []Bar
	rows    [][]Rows
	colours []color.Color
	label   draw.TextStyle
}

func (g *gantt) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := plotter.DefaultLineStyle
	edge.Width, edge.Color = vg.Points(.25), color.Gray{0x60}
	for i, b := range g.bars {
		left := max(c.Min.X, x(b.Start.Seconds()))
		right := min(c.Max.X, x(b.End.Seconds()))
		name := strconv.Itoa(b.Job)
		for _, r := range g.rows[i] {
			box := vg.Rectangle{
				Min: vg.Point{X: left, Y: y(float64(r.First))},
				Max: vg.Point{X: right, Y: y(float64(r.First + r.Count))},
			}
			colour := g.colours[((b.Job%len(g.colours))+len(g.colours))%len(g.colours)]
			c.SetColor(colour)
			c.Fill(box.Path())
			// A line around a sliver would hide its colour.
			if size := box.Size(); size.X > 1.5 && size.Y > 1.5 {
				c.SetLineStyle(edge)
				c.Stroke(box.Path())
			}
			if text := g.label.Rectangle(name).Size(); text.X+2 <= box.Size().X && text.Y <= box.Size().Y {
				middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
				c.FillText(g.label, middle, name)
			}
		}
	}
}
