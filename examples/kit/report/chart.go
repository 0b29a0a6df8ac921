package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// The page's charts are SVG of our own. Those of gonum's plots are files with
// fixed colours, fonts and sizes; a page is read on a phone, at night and on
// paper. So a curve is a bare path in a box that stretches to any width, its
// colour is the style sheet's, and the words around it are text of the page's size.

// side is the width and height of a chart's own coordinates, all integers.
const side = 10_000

// A Timeline is a chart of step functions of time, one strip a policy, all on
// the same axes. If some peaks are more than five times others, the vertical axis
// is logarithmic, log(1 + y).
type Timeline struct {
	Title  string
	Unit   string // of the values
	About  string // a sentence or two
	curves []timelineCurve
}

type timelineCurve struct {
	name            string
	mean, low, high plotter.XYs
	peak, average   float64
}

// Add adds a policy's curve: X, in seconds and not decreasing, is the instant
// from which on the value is Y, ≥ 0. It keeps the curve as Steps would draw it,
// 500 intervals with mean and range, if it is longer; steps is the caller's. O(n).
func (t *Timeline) Add(name string, steps plotter.XYs) error {
	if _, err := check([]Series{{Name: name, Points: steps}}); err != nil {
		return err
	}
	c := timelineCurve{name: name}
	span := 0.
	if n := len(steps); n > 0 {
		span = steps[n-1].X - steps[0].X
	}
	for i, pt := range steps {
		if pt.Y < 0 {
			return fmt.Errorf("series %q, point %d: %v: %w", name, i, pt.Y, ErrData)
		}
		if i > 0 {
			dt := pt.X - steps[i-1].X
			if dt < 0 {
				return fmt.Errorf("series %q, point %d: time %v after %v: %w", name, i, pt.X, steps[i-1].X, ErrData)
			}
			if dt > 0 {
				c.average += float64(dt / span * steps[i-1].Y)
			}
		}
		c.peak = max(c.peak, pt.Y)
	}
	if n := len(steps); n > 0 && span == 0 {
		c.average = steps[n-1].Y
	}
	if len(steps) > 2*buckets {
		c.mean, c.low, c.high = thin(steps)
	} else {
		c.mean = slices.Clone(steps)
	}
	t.curves = append(t.curves, c)
	return nil
}

// Cumulative is a chart of what share of a policy's values is at most x, over a
// logarithmic axis, all policies in one.
type Cumulative struct {
	Title  string
	Unit   string  // of the values; the marks of "s" are minutes, hours and days
	About  string  // a sentence or two
	Floor  float64 // where the axis begins, > 0; values below count as so much
	curves []cumulativeCurve
}

type cumulativeCurve struct {
	name        string
	points      plotter.XYs
	median, p95 float64
	clipped     bool
}

// Add adds a policy's values, in any order, ≥ 0. It keeps some thousand points
// of them; values is the caller's. O(n log n).
func (c *Cumulative) Add(name string, values []float64) error {
	if err := checkFloor(c.Floor); err != nil {
		return err
	}
	sorted, clipped, err := aboveFloor(Sample{name, values}, c.Floor)
	if err != nil {
		return err
	}
	curve := cumulativeCurve{name: name, clipped: clipped}
	if n := len(sorted); n > 0 {
		curve.points = cumulative(sorted)
		curve.median, curve.p95 = sorted[(n-1)/2], sorted[(19*n-1)/20]
	}
	c.curves = append(c.curves, curve)
	return nil
}

// A mark is a label on an axis.
type mark struct {
	share  float64 // of the axis before it
	At     string  // the same in percent
	Label  string
	Anchor string // start, middle or end, as svg calls it
	Fine   bool   // to be left out where there is little room
}

// scale maps a stretch of numbers to 0..1.
type scale struct {
	from, to float64
	warp     func(float64) float64 // nil: linear
}

func (s scale) at(v float64) float64 {
	from, to := s.from, s.to
	if s.warp != nil {
		v, from, to = s.warp(v), s.warp(from), s.warp(to)
	}
	if to <= from {
		return 0
	}
	return min(max((v-from)/(to-from), 0), 1)
}

func (s scale) unit(v float64) int { return int(math.Round(side * s.at(v))) }

// marks are the labelled ticks within the scale.
func (s scale) marks(ticks []plot.Tick) []mark {
	var marks []mark
	for _, t := range ticks {
		if t.Label == "" || t.Value < s.from || t.Value > s.to {
			continue
		}
		at := s.at(t.Value)
		m := mark{share: at, At: decimal(100*at, 2), Label: t.Label, Anchor: "middle", Fine: len(marks)%2 == 1}
		if at < .02 {
			m.Anchor = "start"
		} else if at > .98 {
			m.Anchor = "end"
		}
		marks = append(marks, m)
	}
	if len(marks) <= 5 {
		for i := range marks {
			marks[i].Fine = false
		}
	}
	return marks
}

// upward are the same marks for an axis that goes from bottom to top.
func upward(marks []mark) []mark {
	for i, m := range marks {
		marks[i].At = decimal(100-100*m.share, 2)
	}
	return marks
}

// pen writes a path of horizontal and vertical lines, in few bytes.
type pen struct {
	b    []byte
	x, y int
}

func (p *pen) moveTo(x, y int) {
	p.b = fmt.Appendf(p.b, "M%d %d", x, y)
	p.x, p.y = x, y
}

func (p *pen) horizontal(x int) {
	if x != p.x {
		p.b = strconv.AppendInt(append(p.b, 'h'), int64(x-p.x), 10)
		p.x = x
	}
}

func (p *pen) vertical(y int) {
	if y != p.y {
		p.b = strconv.AppendInt(append(p.b, 'v'), int64(y-p.y), 10)
		p.y = y
	}
}

// steps draws a step function; y grows downwards in a drawing.
func (p *pen) steps(points plotter.XYs, x, y scale) {
	for _, pt := range points {
		px, py := x.unit(pt.X), side-y.unit(pt.Y)
		if len(p.b) == 0 {
			p.moveTo(px, py)
		}
		p.horizontal(px)
		p.vertical(py)
	}
}

// band is the area between two step functions of the same instants.
func band(low, high plotter.XYs, x, y scale) string {
	var p pen
	p.steps(high, x, y)
	// Backwards the value changes at the later end of each step.
	for i := len(low) - 1; i >= 0; i-- {
		p.horizontal(x.unit(low[i].X))
		if i > 0 {
			p.vertical(side - y.unit(low[i-1].Y))
		}
	}
	return string(append(p.b, 'z'))
}

// hill is a step function that rises from zero and falls to it again: its own
// outline, and with the axis that of the area beneath it.
func hill(points plotter.XYs, x, y scale) string {
	if len(points) == 0 {
		return ""
	}
	var p pen
	p.moveTo(x.unit(points[0].X), side)
	p.steps(points, x, y)
	p.vertical(side)
	return string(p.b)
}

type timelineView struct {
	*Timeline
	From, To        string // seconds
	Top, TopLabel   string // of the vertical axis
	Half, HalfLabel string // percent from its top
	Log, Banded     bool
	TimeUnit        string
	Marks           []mark
	Strips          []stripView
}

type stripView struct {
	Style         style
	Band, Line    string // paths
	Mean, Highest string
}

func (t *Timeline) view(names *styles) timelineView {
	x := scale{math.Inf(1), math.Inf(-1), nil}
	top, least := 0., math.Inf(1)
	for _, c := range t.curves {
		if n := len(c.mean); n > 0 {
			x.from, x.to = min(x.from, c.mean[0].X), max(x.to, c.mean[n-1].X)
		}
		top = max(top, c.peak)
		if c.peak > 0 {
			least = min(least, c.peak)
		}
	}
	if x.from > x.to {
		x.from, x.to = 0, 0
	}
	if x.from > 0 && x.from < x.to/20 {
		x.from = 0 // the first job came a little later
	}
	v := timelineView{Timeline: t, From: full(x.from), To: full(x.to)}
	ticks, unit := clock(x.to - x.from)
	v.TimeUnit = unit
	v.Marks = x.marks(ticks.Ticks(x.from, x.to))
	y := scale{0, roundUp(top), nil}
	half := y.to / 2
	if v.Log = top > 5*least; v.Log {
		y.warp = math.Log1p
		half = math.Pow(10, math.Round(math.Log10(y.to)/2))
	}
	v.Top, v.TopLabel = full(y.to), short(y.to)
	v.Half, v.HalfLabel = decimal(100-100*y.at(half), 2), short(half)
	for _, c := range t.curves {
		s := stripView{Style: names.get(c.name), Line: hill(c.mean, x, y), Mean: short(c.average), Highest: short(c.peak)}
		if len(c.low) > 0 {
			s.Band, v.Banded = band(c.low, c.high, x, y), true
		}
		v.Strips = append(v.Strips, s)
	}
	return v
}

// roundUp returns the next number that reads well at the end of an axis, and
// whose half does.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8} {
		if v <= f*power {
			return f * power
		}
	}
	return 10 * power
}

type cumulativeView struct {
	*Cumulative
	From, To string
	Marks    []mark
	Shares   []mark
	Lines    []lineView
}

type lineView struct {
	Style       style
	Line        string
	Median, P95 string
}

func (c *Cumulative) view(names *styles) cumulativeView {
	highest, clipped := 0., false
	for _, curve := range c.curves {
		if n := len(curve.points); n > 0 {
			highest = max(highest, curve.points[n-1].X)
			clipped = clipped || curve.clipped
		}
	}
	x := scale{c.Floor, max(2*c.Floor, 1.2*highest), math.Log10}
	floor := ""
	if clipped {
		floor = "≤ "
	}
	var ticks []plot.Tick
	if c.Unit == "s" {
		for _, d := range []struct {
			seconds float64
			label   string
		}{
			{.001, "1 ms"}, {.01, "10 ms"}, {.1, "0.1 s"}, {1, "1 s"}, {10, "10 s"}, {minute, "1 min"}, {10 * minute, "10 min"}, {hour, "1 h"}, {6 * hour, "6 h"},
			{day, "1 d"}, {10 * day, "10 d"}, {100 * day, "100 d"}, {1000 * day, "1,000 d"},
		} {
			label := d.label
			if d.seconds == c.Floor {
				label = floor + label
			}
			ticks = append(ticks, plot.Tick{Value: d.seconds, Label: label})
		}
	} else if c.Floor > 0 {
		ticks = decades{floor}.Ticks(x.from, x.to)
	}
	y := scale{0, 1, nil}
	v := cumulativeView{Cumulative: c, From: full(x.from), To: full(x.to), Marks: x.marks(ticks)}
	for _, share := range []float64{0, .25, .5, .75, 1} {
		v.Shares = append(v.Shares, mark{At: decimal(100-100*share, 0), Label: decimal(100*share, 0) + " %", Anchor: "end"})
	}
	for _, curve := range c.curves {
		line := lineView{Style: names.get(curve.name), Median: "–", P95: "–"}
		if len(curve.points) > 0 {
			points := append(slices.Clip(curve.points), plotter.XY{X: x.to, Y: 1})
			var p pen
			p.steps(points, x, y)
			line.Line = string(p.b)
			line.Median, line.P95 = c.value(curve.median), c.value(curve.p95)
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// value writes one of the values for people.
func (c *Cumulative) value(v float64) string {
	if c.Unit == "s" {
		return human(v)
	}
	return short(v)
}

// full writes a number for the page's script.
func full(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// short writes a number in three digits, more before the point.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e15 || a > 0 && a < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 100:
		return thousands(decimal(v, 0))
	case a >= 10:
		return decimal(v, 1)
	}
	return decimal(v, 2)
}

// human writes a time in seconds in its two largest units.
func human(seconds float64) string {
	if seconds < 0 {
		return "−" + human(-seconds)
	}
	if seconds < minute {
		return short(seconds) + " s"
	}
	if seconds >= 1e15 {
		return short(seconds/day) + " d"
	}
	whole := int64(math.Round(seconds))
	large, small, l, m := int64(minute), int64(1), "min", "s"
	if whole >= day {
		large, small, l, m = day, hour, "d", "h"
	} else if whole >= hour {
		large, small, l, m = hour, minute, "h", "min"
	}
	text := thousands(strconv.FormatInt(whole/large, 10)) + " " + l
	if rest := whole % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, m)
	}
	return text
}

// A Picture shows jobs as boxes: over time or processors. GanttPicture and
// MatrixPicture make one.
type Picture struct {
	Title  string
	About  string // a sentence or two
	x, y   string // what is along the axes, and which way
	xs, ys []mark
	boxes  []box
	height int // in lines of text
}

// A box is a job's place in the picture.
type box struct {
	colour int
	title  string
	path   string
	labels []boxLabel
}

// A boxLabel is a job's number in a box that has room for it.
type boxLabel struct {
	X, Y, Text string
	Fine       bool // only where the page is wide
}

// maxBoxes is what can be told apart on a page.
const maxBoxes = 2_000

// GanttPicture is Gantt for a Page: the same arguments, the same picture, and at
// most 2,000 bars.
func GanttPicture(title string, bars []Bar, processors int, from, to time.Duration) (*Picture, error) {
	if to <= from || processors <= 0 {
		return nil, fmt.Errorf("chart of %d processors from %v to %v: %w", processors, from, to, ErrData)
	}
	var inside []Bar
	for _, b := range bars {
		if b.Start < to && b.End > from {
			inside = append(inside, b)
		}
	}
	if len(inside) > maxBoxes {
		return nil, fmt.Errorf("chart from %v to %v: %d bars, at most %d can be told apart: %w", from, to, len(inside), maxBoxes, ErrData)
	}
	rows, err := Layout(inside, processors)
	if err != nil {
		return nil, err
	}
	x, y := scale{from.Seconds(), to.Seconds(), nil}, scale{0, float64(processors), nil}
	ticks, unit := clock(x.to - x.from)
	p := &Picture{
		Title: title, x: "time [" + unit + "] →", y: "↑ processor", height: 20,
		xs: x.marks(ticks.Ticks(x.from, x.to)), ys: upward(y.marks(whole(y.to).Ticks(0, y.to))),
	}
	for i, b := range inside {
		g := box{colour: colourOf(b.Job), title: fmt.Sprintf("job %d: %d processors, %s", b.Job, b.Processors, human((b.End - b.Start).Seconds()))}
		left, right := x.unit(b.Start.Seconds()), x.unit(b.End.Seconds())
		for _, r := range rows[i] {
			g.add(left, side-y.unit(float64(r.First+r.Count)), right, side-y.unit(float64(r.First)), strconv.Itoa(b.Job), p.height)
		}
		p.boxes = append(p.boxes, g)
	}
	return p, nil
}

// MatrixPicture is an Ousterhout matrix: slots[s][pe] is the number of the job
// that has this processing element in slot s, negative for none. Rows may differ
// in length. More than 2,000 boxes of neighbouring elements are ErrData.
func MatrixPicture(title string, slots [][]int) (*Picture, error) {
	elements := 0
	for _, row := range slots {
		elements = max(elements, len(row))
	}
	x := scale{0, float64(elements), nil}
	p := &Picture{Title: title, x: "processing element →", y: "↓ slot", height: min(max(2*len(slots), 2), 40), xs: x.marks(whole(x.to).Ticks(0, x.to))}
	every := 1 + len(slots)/20 // labels do not overlap
	of := map[int]int{}        // boxes of jobs
	drawn := 0
	for s, row := range slots {
		top, bottom := side*s/len(slots), side*(s+1)/len(slots)
		if s%every == 0 {
			p.ys = append(p.ys, mark{At: decimal(float64(top+bottom)/2/side*100, 2), Label: strconv.Itoa(s)})
		}
		for from := 0; from < len(row); {
			to := from + 1
			for to < len(row) && row[to] == row[from] {
				to++
			}
			if job := row[from]; job >= 0 {
				k, ok := of[job]
				if !ok {
					k = len(p.boxes)
					of[job] = k
					p.boxes = append(p.boxes, box{colour: colourOf(job), title: fmt.Sprintf("job %d", job)})
				}
				p.boxes[k].add(x.unit(float64(from)), top, x.unit(float64(to)), bottom, strconv.Itoa(job), p.height)
				drawn++
			}
			from = to
		}
	}
	if drawn > maxBoxes {
		return nil, fmt.Errorf("matrix of %d boxes, at most %d can be told apart: %w", drawn, maxBoxes, ErrData)
	}
	return p, nil
}

func colourOf(job int) int { return ((job % len(colours)) + len(colours)) % len(colours) }

// add draws a rectangle, with its label if there is room for it: a picture is
// some 100 characters wide, on a phone 40.
func (b *box) add(left, top, right, bottom int, label string, lines int) {
	b.path += fmt.Sprintf("M%d %dH%dV%dH%dz", left, top, right, bottom, left)
	characters := float64(right-left) / side * 100
	if float64(bottom-top)/side*float64(lines) < .9 || characters < float64(len(label))+1 {
		return
	}
	b.labels = append(b.labels, boxLabel{
		X: decimal(float64(left+right)/2/side*100, 2), Y: decimal(float64(top+bottom)/2/side*100, 2),
		Text: label, Fine: .4*characters < float64(len(label))+1,
	})
}

type pictureView struct {
	*Picture
	X, Y   string
	Xs, Ys []mark
	Size   string
	Boxes  []boxView
	Labels []boxLabel
}

type boxView struct {
	Class, Title, Path string
}

func (p *Picture) view() pictureView {
	v := pictureView{Picture: p, X: p.x, Y: p.y, Xs: p.xs, Ys: p.ys, Size: strconv.Itoa(18*p.height) + "px"}
	for _, b := range p.boxes {
		v.Boxes = append(v.Boxes, boxView{fmt.Sprintf("c%d", b.colour), b.title, b.path})
		v.Labels = append(v.Labels, b.labels...)
	}
	return v
}

type decisionsView struct {
	*Decisions
	Marks    []mark
	TimeUnit string
	Courses  []courseView
}

type courseView struct {
	Style       style
	Wait, Run   string // paths
	Waited, Ran string
	Events      []eventView
	Decided     []string // where on the axis, percent
}

type eventView struct{ After, What, Why string }

func (d *Decisions) view(names *styles) *decisionsView {
	x := scale{0, 0, nil}
	for _, c := range d.Courses {
		x.to = max(x.to, (c.End - d.Submit).Seconds())
	}
	ticks, unit := clock(x.to)
	v := &decisionsView{Decisions: d, TimeUnit: unit, Marks: x.marks(ticks.Ticks(0, x.to))}
	for _, c := range d.Courses {
		start, end := (c.Start - d.Submit).Seconds(), (c.End - d.Submit).Seconds()
		s, e := x.unit(start), x.unit(end)
		course := courseView{
			Style: names.get(c.Name), Waited: human(start), Ran: human(end - start),
			Wait: fmt.Sprintf("M0 3500H%dV6500H0z", s), Run: fmt.Sprintf("M%d 1500H%dV8500H%dz", s, e, s),
		}
		events := slices.Clone(c.Events)
		slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
		for _, event := range events {
			after := (event.Time - d.Submit).Seconds()
			course.Events = append(course.Events, eventView{human(after), event.What, event.Why})
			course.Decided = append(course.Decided, decimal(100*x.at(after), 2))
		}
		v.Courses = append(v.Courses, course)
	}
	return v
}
