// Command memgang repeats the experiments of Batat & Feitelson (2000): a
// gang-scheduled cluster with and without admission by memory. Run it with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/examples/memgang/study"
)

const intro = `memgang repeats the experiments of A. Batat and D. G. Feitelson, "Gang scheduling
with memory considerations" (2000).

Gangs take turns on the nodes of a cluster, a quantum each, and all stay in memory.
Let every job in, and sooner or later they page; admit only what fits into C times
a node's memory, and some wait. Which costs less? A node has 55 MB of which 45 are
really free; a job takes 10 MB on each of its nodes. Its references to memory are a
random walk of locality θ: jumps exceed u units of 1 KB with probability u^-θ.

Fig. 5   equal jobs, submitted together on two nodes: the time until all are done
         against their number, with C = 1, C = 1.5, and without a limit
Fig. 6   as many of them as Fig. 5 has at most, against θ and C
Fig. 7   jobs of the Lublin-Feitelson model on 16 nodes: mean response and
         slowdown against load, with C = 1 and without a limit; and against C

Figs. 5 and 6 simulate every reference, with page frames given away by least recent
use. In Fig. 7 a process faults at the rate that such references have in its share
of the frames. How long a reference and a fault take is not in the paper; -access
and -fault say what is assumed, and their ratio decides how much paging costs.

  memgang                          all figures and claims (a minute or two)
  memgang -quick                   the same with fewer points and references
  memgang -fault 1ms -out figures  another disk; tables and plots
  memgang -trace LANL-CM5-1994-4.1-cln.swf.gz -first 5000 -quantum 1m
                                   a log, with the memory that its jobs used

Flags:
`

func main() { command.Main("memgang", memgang) }

func memgang(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Default()
	f := flag.NewFlagSet("memgang", flag.ContinueOnError)
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the walks and of the jobs")
	f.DurationVar(&c.Costs.Access, "access", c.Costs.Access, "`time` of a reference to memory")
	f.DurationVar(&c.Costs.Fault, "fault", c.Costs.Fault, "`time` of a page fault")
	f.DurationVar(&c.Quantum, "quantum", c.Quantum, "`time` of a slot's turn")
	f.Int64Var(&c.References, "references", c.References, "`number` of references of each process in Figs. 5 and 6")
	f.IntVar(&c.Jobs, "jobs", c.Jobs, "`number` of jobs in Fig. 7")
	trace := f.String("trace", "", "run the jobs of a log instead, `file` in Standard Workload Format, plain or gzip; -quantum is then best a minute or more")
	memory := f.String("memory", "", "with -trace, memory of a node as `size` like 32MiB (default: twice what a process uses in the mean)")
	first := f.Int("first", 0, "with -trace, only the first so many `jobs`")
	quick := f.Bool("quick", false, "fewer points, references and jobs")
	out := f.String("out", "", "write tables and plots into `folder`")
	asJSON := f.Bool("json", false, "print claims and points as JSON instead of text")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if given := command.Given(f); *quick {
		q := c.Quick()
		if given["references"] {
			q.References = c.References
		}
		if given["jobs"] {
			q.Jobs = c.Jobs
		}
		c = q
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"access", c.Costs.Access}, {"fault", c.Costs.Fault}, {"quantum", c.Quantum}} {
		if d.value <= 0 || d.value > time.Hour {
			return command.Input(fmt.Errorf("-%s %v: want more than 0, up to an hour", d.name, d.value))
		}
	}
	if c.References < 1 || c.References > 1e9 {
		return command.Input(fmt.Errorf("-references %d: want 1 to 1e9", c.References))
	}
	if c.Jobs < 2 || c.Jobs > 1e6 {
		return command.Input(fmt.Errorf("-jobs %d: want 2 to 1e6", c.Jobs))
	}
	if *out != "" {
		if err := report.Writable(*out); err != nil {
			return command.Input(fmt.Errorf("-out %s: %w", *out, err))
		}
	}
	s, err := study.New(c)
	if err != nil {
		return command.Input(err)
	}
	if *trace != "" {
		return replay(ctx, s, c, *trace, *memory, *first, *asJSON, stdout, stderr)
	}
	if given := command.Given(f); given["memory"] || given["first"] {
		return command.Input(errors.New("-memory, -first: are for -trace"))
	}
	progress := command.Progress(stderr, "simulating", int64(s.Size()))
	err = s.Run(ctx, func() { progress.Add(1) })
	progress.Done()
	if err != nil {
		return err
	}
	claims, err := s.Claims()
	if err != nil {
		return err
	}
	if *out != "" {
		if err := write(ctx, s, c, *out); err != nil {
			return err
		}
	}
	if *asJSON {
		return report.WriteJSON(stdout, struct {
			Claims  []claim.Claim   `json:"claims"`
			Figure5 []study.Static  `json:"figure5"`
			Figure6 []study.Static  `json:"figure6"`
			Printed []study.Static  `json:"printed_program"`
			Figure7 []study.Dynamic `json:"figure7"`
			Sweep   []study.Dynamic `json:"sweep_of_c"`
		}{claims, s.Figure5, s.Figure6, s.Printed, s.Figure7, s.Sweep})
	}
	for _, t := range []*report.Table{
		statics("Fig. 5: equal jobs submitted together", s.Figure5), statics("Fig. 6: over θ and C", s.Figure6),
		statics("The program as printed in Fig. 4, which jumps by r^θ", s.Printed),
		dynamics("Fig. 7: jobs that arrive over time", s.Figure7), dynamics("Over C", s.Sweep),
	} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, "Claims of the paper")
	return claim.WriteText(stdout, claims)
}

// replay runs the jobs of a log.
func replay(ctx context.Context, s *study.Study, c study.Config, trace, size string, first int, asJSON bool, stdout, stderr io.Writer) error {
	r, err := swf.Open(trace)
	if err != nil {
		return command.Input(err)
	}
	defer r.Close()
	l, err := workload.Read(trace, r, 0)
	if err != nil {
		return command.Input(err)
	}
	if first < 0 {
		return command.Input(fmt.Errorf("-first %d: want more than 0", first))
	}
	if first > 0 && first < len(l.Jobs) {
		l.Jobs = l.Jobs[:first]
	}
	memory := l.Memory() / int64(l.Processors)
	if size != "" {
		bytes, err := humanize.ParseBytes(size)
		if err != nil || bytes == 0 || bytes > 1<<50 {
			return command.Input(fmt.Errorf("-memory %q: want a size like 32MiB", size))
		}
		memory = int64(bytes)
	}
	if memory == 0 {
		return command.Input(fmt.Errorf("%s: does not tell the jobs' memory", trace))
	}
	progress := command.Progress(stderr, "simulating", int64(len(c.Localities)*2*(1+len(c.Factors))))
	points, err := s.Log(ctx, l, memory, func() { progress.Add(1) })
	progress.Done()
	if err != nil {
		return err
	}
	if asJSON {
		return report.WriteJSON(stdout, points)
	}
	return dynamics(fmt.Sprintf("%s: %s jobs on %d nodes of %s", l.Name, humanize.Comma(int64(len(l.Jobs))), l.Processors, humanize.IBytes(uint64(memory))), points).WriteText(stdout)
}

func limitName(factor float64) string {
	if factor == study.Unlimited {
		return "none"
	}
	return fmt.Sprint(factor)
}

func statics(title string, points []study.Static) *report.Table {
	t := &report.Table{Title: title, Columns: []report.Column{
		{Title: "jobs"}, {Title: "θ"}, {Title: "C"}, {Title: "time", Unit: "s", Format: "%.0f"},
		{Title: "faults"}, {Title: "slots"}, {Title: "most skips"},
	}}
	for _, p := range points {
		t.Add(p.Jobs, p.Locality, limitName(p.Factor), p.Time.Seconds(), p.Faults, p.MaxSlots, p.MaxSkips)
	}
	return t
}

func dynamics(title string, points []study.Dynamic) *report.Table {
	t := &report.Table{Title: title, Columns: []report.Column{
		{Title: "load"}, {Title: "offered", Format: "%.2f"}, {Title: "θ"}, {Title: "memory"}, {Title: "C"}, {Title: "mean response", Unit: "s", Format: "%.0f"},
		{Title: "mean slowdown", Format: "%.1f"}, {Title: "of short jobs", Format: "%.1f"}, {Title: "queued", Unit: "%", Format: "%.0f"},
		{Title: "slots"}, {Title: "most skips"}, {Title: ""},
	}}
	for _, p := range points {
		state := ""
		switch {
		case !p.Complete:
			state = "broke down: lower bounds"
		case p.Saturated:
			state = "saturated"
		}
		t.Add(p.Load, p.Offered, p.Locality, sharing(p.Eldest), limitName(p.Factor), p.Response, p.Slowdown, p.Short, 100*p.Queued, p.MaxSlots, p.MaxSkips, state)
	}
	return t
}

// write makes the folder.
func write(ctx context.Context, s *study.Study, c study.Config, folder string) error {
	for name, t := range map[string]*report.Table{
		"figure5.csv": statics("", s.Figure5), "figure6.csv": statics("", s.Figure6), "printed.csv": statics("", s.Printed),
		"figure7.csv": dynamics("", s.Figure7), "sweep.csv": dynamics("", s.Sweep),
	} {
		if err := report.WriteFile(filepath.Join(folder, name), t.WriteCSV); err != nil {
			return err
		}
	}
	line := func(name string, add func(func(x, y float64))) report.Series {
		series := report.Series{Name: name}
		add(func(x, y float64) { series.Points = append(series.Points, plotter.XY{X: x, Y: y}) })
		return series
	}
	draw := func(name, title, x, y string, series []report.Series) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := report.Lines(title, x, y, series...)
		if err != nil {
			return err
		}
		return report.Save(filepath.Join(folder, name), p)
	}
	for _, factor := range append([]float64{study.Unlimited}, c.Limits...) {
		var series []report.Series
		for _, theta := range c.Localities {
			series = append(series, line(fmt.Sprintf("θ = %v", theta), func(add func(x, y float64)) {
				for _, p := range s.Figure5 {
					if p.Locality == theta && p.Factor == factor {
						add(float64(p.Jobs), p.Time.Seconds())
					}
				}
			}))
		}
		if err := draw("figure5-limit-"+limitName(factor), "Equal jobs, limit C: "+limitName(factor), "jobs", "time until all are done [s]", series); err != nil {
			return err
		}
	}
	var series []report.Series
	for _, factor := range c.Factors {
		series = append(series, line(fmt.Sprintf("C = %v", factor), func(add func(x, y float64)) {
			for _, p := range s.Figure6 {
				if p.Factor == factor {
					add(p.Locality, p.Time.Seconds())
				}
			}
		}))
	}
	if err := draw("figure6", "Locality and limit", "θ", "time until all are done [s]", series); err != nil {
		return err
	}
	for _, y := range []struct {
		name, title string
		of          func(study.Dynamic) float64
	}{
		{"response", "mean response [s]", func(p study.Dynamic) float64 { return p.Response }},
		{"slowdown", "mean slowdown", func(p study.Dynamic) float64 { return p.Slowdown }},
	} {
		for _, factor := range []float64{study.Unlimited, study.Free} {
			for _, eldest := range []bool{true, false} {
				series := overLocality(c, s.Figure7, func(p study.Dynamic) (x, value float64, ok bool) {
					return p.Load, y.of(p), p.Factor == factor && p.Eldest == eldest && !p.Saturated
				})
				name := "figure7-" + y.name + "-limit-" + limitName(factor) + "-" + sharing(eldest)
				title := "Below saturation, limit C: " + limitName(factor) + ", memory: " + sharing(eldest)
				if err := draw(name, title, "load", y.title, series); err != nil {
					return err
				}
			}
		}
	}
	for _, eldest := range []bool{true, false} {
		series := overLocality(c, s.Sweep, func(p study.Dynamic) (x, value float64, ok bool) {
			return p.Factor, p.Response, p.Eldest == eldest && p.Complete
		})
		title := fmt.Sprintf("Limit and response at load %v, memory: %s", c.SweepLoad, sharing(eldest))
		if err := draw("sweep-"+sharing(eldest), title, "C", "mean response [s]", series); err != nil {
			return err
		}
	}
	return nil
}

// overLocality draws a line for each locality.
func overLocality(c study.Config, points []study.Dynamic, of func(study.Dynamic) (x, y float64, ok bool)) (series []report.Series) {
	for _, theta := range c.Localities {
		line := report.Series{Name: fmt.Sprintf("θ = %v", theta)}
		for _, p := range points {
			if x, y, ok := of(p); ok && p.Locality == theta {
				line.Points = append(line.Points, plotter.XY{X: x, Y: y})
			}
		}
		series = append(series, line)
	}
	return series
}

func sharing(eldest bool) string {
	if eldest {
		return "eldest"
	}
	return "fair"
}
