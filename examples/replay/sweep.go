package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/parallel"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// sweep is what -sweep asks for.
type sweep struct {
	loads  []float64 // offered; none: as it is
	memory []float64 // times that without the sweep; none: once
}

// parseSweep reads "load=.5,.7 memory=1,2".
func parseSweep(text string) (*sweep, error) {
	s := &sweep{}
	for _, field := range strings.Fields(text) {
		name, list, _ := strings.Cut(field, "=")
		values, most := &s.loads, float64(maxLoad)
		switch name {
		case "load":
		case "memory":
			values, most = &s.memory, 1e6
		default:
			return nil, fmt.Errorf("-sweep %q: want load or memory, = and numbers", field)
		}
		if len(*values) > 0 {
			return nil, fmt.Errorf("-sweep %q: %s is given twice", text, name)
		}
		for number := range strings.SplitSeq(list, ",") {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || !(v > 0 && v <= most) {
				return nil, fmt.Errorf("-sweep %q: %q is not a number above 0, up to %v", field, number, most)
			}
			*values = append(*values, v)
		}
	}
	if len(s.loads)+len(s.memory) == 0 {
		return nil, fmt.Errorf("-sweep %q: want something like \"load=.5,.7,.9 memory=1,2\"", text)
	}
	return s, nil
}

// point is a line of the file of a sweep.
type point struct {
	Load   float64 `json:"load"`   // offered
	Memory int64   `json:"memory"` // bytes
	record
}

type key struct {
	load, memory float64 // as asked for
	policy       string
}

// runSweep simulates all points that are not in the file of the output folder yet,
// and adds each to it as soon as it is known.
func runSweep(ctx context.Context, o *options, w *workload.Workload, memory int64, stderr io.Writer) ([]point, error) {
	var keys []key
	loads, factors := o.sweep.loads, o.sweep.memory
	if len(loads) == 0 {
		loads = []float64{w.Load()}
	}
	if len(factors) == 0 {
		factors = []float64{1}
	}
	scaled := map[float64]*workload.Workload{}
	for _, load := range loads {
		own := *w
		if len(o.sweep.loads) > 0 {
			if err := own.Scale(load); err != nil {
				return nil, command.Input(fmt.Errorf("-sweep: %w", err))
			}
		}
		scaled[load] = &own
		for _, factor := range factors {
			for _, p := range o.policies {
				keys = append(keys, key{load, factor, p.Name})
			}
		}
	}
	file, done, err := openPoints(filepath.Join(o.out, "sweep.jsonl"), identity(o, w, memory))
	if err != nil {
		return nil, command.Input(err)
	}
	defer file.Close()

	points := make([]point, len(keys))
	var open []int
	for i, k := range keys {
		if p, ok := done[k]; ok {
			points[i] = p
		} else {
			open = append(open, i)
		}
	}
	progress := command.Progress(stderr, "sweeping", int64(len(keys)))
	defer progress.Done()
	progress.Add(int64(len(keys) - len(open)))
	var guard sync.Mutex
	err = parallel.Each(ctx, len(open), func(ctx context.Context, n int) error {
		k := keys[open[n]]
		policy := o.policies[open[n]%len(o.policies)]
		own := scaled[k.load]
		size := int64(min(math.Round(k.memory*float64(memory)), math.MaxInt64/2))
		r, err := policy.Run(ctx, own, o.config(size))
		if err != nil {
			return fmt.Errorf("load %v, memory %v, %s: %w", k.load, k.memory, k.policy, err)
		}
		p := point{own.Load(), size, records(o, own, []*compare.Outcome{r})[0]}
		p.ReplaySeconds = 0 // it differs from run to run
		guard.Lock()
		defer guard.Unlock()
		points[open[n]] = p
		return file.add(k, p)
	}, func() { progress.Add(1) })
	return points, err
}

// identity tells runs apart whose points do not belong together.
func identity(o *options, w *workload.Workload, memory int64) string {
	h := fnv.New64a()
	for i, j := range w.Jobs {
		fmt.Fprintln(h, j, w.CPU[i])
	}
	return fmt.Sprintf("%s; %d jobs (%016x) on %d processors, memory %d; -order %v -excess %v -threshold %v -factor %v -quantum %v",
		w.Name, len(w.Jobs), h.Sum64(), w.Processors, memory, o.order, o.excess, o.threshold, o.factor, o.quantum)
}

// points is the file of a sweep: its identity, then a point a line.
type points struct{ *os.File }

type line struct {
	Of     string    `json:"of,omitempty"` // identity, in the first line
	Swept  []float64 `json:"swept,omitempty"`
	Policy string    `json:"at,omitempty"`
	Point  *point    `json:"point,omitempty"`
}

// openPoints opens the file, or makes it, and returns what is in it. A last line that
// is not whole, as a run leaves it that was killed, is taken away.
func openPoints(path, of string) (*points, map[key]point, error) {
	done := map[key]point{}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	whole := bytes.LastIndexByte(content, '\n') + 1
	number := 0
	for text := range bytes.Lines(content[:whole]) {
		number++
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %w", path, number, err)
		}
		switch {
		case number == 1 && l.Of != of:
			return nil, nil, fmt.Errorf("%s is of another run (%s): remove it, or choose another folder", path, l.Of)
		case number == 1:
		case l.Point == nil || len(l.Swept) != 2:
			return nil, nil, fmt.Errorf("%s: line %d: no point", path, number)
		default:
			done[key{l.Swept[0], l.Swept[1], l.Policy}] = *l.Point
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	file := &points{f}
	err = f.Truncate(int64(whole))
	if err == nil {
		_, err = f.Seek(int64(whole), io.SeekStart)
	}
	if err == nil && number == 0 {
		err = file.write(line{Of: of})
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return file, done, nil
}

func (f *points) add(k key, p point) error {
	return f.write(line{Swept: []float64{k.load, k.memory}, Policy: k.policy, Point: &p})
}

func (f *points) write(l line) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	return err
}

// sweepTable has a row a point.
func sweepTable(w *workload.Workload, points []point) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s: %d jobs, %d processors", w.Name, len(w.Jobs), w.Processors),
		Columns: []report.Column{
			{Title: "load", Format: "%.2f"},
			{Title: "memory", Unit: "MiB", Format: "%.0f"},
			{Title: "policy"},
			{Title: "wait", Unit: "mean, s", Format: "%.0f"},
			{Title: "response", Unit: "mean, s", Format: "%.0f"},
			{Title: "±", Unit: "95 %", Format: "%.0f"},
			{Title: "median", Unit: "s", Format: "%.0f"},
			{Title: "slowdown", Unit: "mean", Format: "%.2f"},
			{Title: "util.", Unit: "%", Format: "%.1f"},
			{Title: "paging", Unit: "mean, s", Format: "%.0f"},
			{Title: "never", Unit: "started"},
		},
	}
	for _, p := range points {
		row := []any{p.Load, float64(p.Memory) / (1 << 20), p.Policy, nil, nil, nil, nil, nil, nil, nil, p.NotStarted}
		if p.Unfinished == 0 {
			copy(row[3:], []any{p.MeanWait, p.MeanResponse, value(p.HalfWidth), p.MedianResponse, p.MeanBoundedSlowdown, 100 * p.Utilisation, value(p.Paging)})
		}
		t.Add(row...)
	}
	return t
}

func value(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// writeSweep writes the points into the output folder, and draws the response over
// what was swept.
func writeSweep(o *options, w *workload.Workload, points []point) error {
	if err := report.WriteFile(filepath.Join(o.out, "sweep.csv"), sweepTable(w, points).WriteCSV); err != nil {
		return err
	}
	// Curves over load for each memory, or if there is one load, over memory.
	over, each := func(p point) float64 { return p.Load }, func(p point) float64 { return float64(p.Memory) / (1 << 20) }
	axis, name := "offered load", "response-%.0f-MiB"
	if len(o.sweep.loads) <= 1 {
		over, each, axis, name = each, over, "memory, MiB", "response-load-%.2f"
	}
	var order []float64
	charts := map[float64][]report.Series{}
	for _, p := range points {
		at := each(p)
		if _, ok := charts[at]; !ok {
			order = append(order, at)
		}
		if p.Unfinished > 0 {
			continue
		}
		lines := charts[at]
		n := len(lines)
		for i := range lines {
			if lines[i].Name == p.Policy {
				n = i
			}
		}
		if n == len(lines) {
			lines = append(lines, report.Series{Name: p.Policy})
		}
		lines[n].Points = append(lines[n].Points, plotter.XY{X: over(p), Y: p.MeanResponse})
		charts[at] = lines
	}
	for _, at := range order {
		chart, err := report.Lines(fmt.Sprintf("Mean response, "+strings.ReplaceAll(name[len("response-"):], "-", " "), at), axis, "s", charts[at]...)
		if err != nil {
			return err
		}
		least := math.Inf(1)
		for _, line := range charts[at] {
			for _, p := range line.Points {
				least = min(least, p.Y)
			}
		}
		if least > 0 && !math.IsInf(least, 1) {
			chart.Y.Min, chart.Y.Max = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(chart.Y.Max)))
			chart.Y.Scale, chart.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		}
		if err := report.Save(filepath.Join(o.out, fmt.Sprintf(name, at)), chart); err != nil {
			return err
		}
	}
	return nil
}
