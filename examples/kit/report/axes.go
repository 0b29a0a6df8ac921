package report

import (
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
)

// ticks are the labelled marks of a linear axis: multiples of step, shown as
// multiples of unit.
type ticks struct{ step, unit float64 }

func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	var marks []plot.Tick
	const slack = 1e-9 // of a step: 3·0.1 is to count as 0.3
	first, last := math.Ceil(lo/t.step-slack), math.Floor(hi/t.step+slack)
	for i := range int(min(last-first, 100)) + 1 { // adding 1 to a large float may not change it
		v := (first + float64(i)) * t.step
		marks = append(marks, plot.Tick{Value: v, Label: number(v / t.unit)})
	}
	return marks
}

// number formats a mark without the noise of k·step.
func number(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if v == 0 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e9 || a < 1e-4 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return humanize.Commaf(v)
}

const wanted = 8 // marks on an axis, at most and nearly

// linear returns the marks for a span of plain numbers: steps of 1, 2 or 5
// times a power of ten.
func linear(span float64) ticks {
	if span <= 0 {
		return ticks{1, 1}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/wanted)))
	for _, f := range []float64{1, 2, 5, 10} {
		if span/(f*step) <= wanted {
			return ticks{f * step, 1}
		}
	}
	return ticks{10 * step, 1}
}

// whole returns the marks for a span of things that are counted.
func whole(span float64) ticks {
	t := linear(span)
	t.step = max(1, t.step)
	return t
}

const (
	minute = 60.
	hour   = 60 * minute
	day    = 24 * hour
)

// clock returns the marks for a span of seconds, and the unit they are in:
// steps that people use for times of this size.
func clock(span float64) (ticks, string) {
	var unit float64
	var name string
	var steps []float64
	switch {
	case span <= 3*minute:
		unit, name, steps = 1, "s", []float64{1, 2, 5, 10, 15, 30}
	case span <= 3*hour:
		unit, name, steps = minute, "min", []float64{.5, 1, 2, 5, 10, 15, 30}
	case span <= 3*day:
		unit, name, steps = hour, "h", []float64{.5, 1, 2, 3, 6, 12}
	default:
		unit, name = day, "d"
		steps = []float64{.5, 1, 2, 7, 14, 28}
	}
	for _, s := range steps {
		if n := span / (s * unit); n <= wanted && n >= 2 {
			return ticks{s * unit, unit}, name
		}
	}
	t := linear(span / unit) // below a second, beyond half a year
	return ticks{t.step * unit, unit}, name
}

// decades are the marks of a logarithmic axis: labels on powers of ten, few
// enough to be read, and small marks between them as long as there is room; over little
// more than one power, labels also on twice and five times it.
type decades struct{ floor string }

func (d decades) Ticks(lo, hi float64) []plot.Tick {
	var marks []plot.Tick
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	every := math.Ceil((last - first) / wanted)
	for e := first; e <= last; e++ {
		v := math.Pow(10, e)
		mark := plot.Tick{Value: v}
		if math.Mod(e-first, every) == 0 {
			switch {
			case v >= 1e6 && v < 1e12:
				mark.Label = number(v/1e6) + "M"
			case v >= 1e4 && v < 1e6:
				mark.Label = number(v/1e3) + "k"
			default:
				mark.Label = number(v)
			}
			if v == lo {
				mark.Label = d.floor + mark.Label
			}
		}
		marks = append(marks, mark)
		for k := 2.; k < 10 && every == 1; k++ {
			mark := plot.Tick{Value: k * v}
			if hi < 30*lo && (k == 2 || k == 5) {
				mark.Label = number(mark.Value)
			}
			marks = append(marks, mark)
		}
	}
	return marks
}
