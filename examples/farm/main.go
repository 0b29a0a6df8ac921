// Command farm repeats the experiments of Chen, Xiao and Zhang: load sharing in a
// compute farm where nobody knows how much memory a job will need. Run it with -h.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/farm/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const intro = `farm repeats the experiments of S. Chen, L. Xiao and X. Zhang, "Dynamic load sharing
with unknown memory demands in clusters" (about 2001).

Seven programs with working sets of 1 to 66 MB arrive on 32 machines of 128 MB. Nobody
knows what a job will need until it runs, and a machine whose jobs need more than there
is pages. Then it blocks submissions, which go to the machine with the most free memory,
and migrates one of its jobs there. Which job?

  pf-rate    the one with the most page faults
  worksize   the one with the largest working set
  age        the oldest, if its age justifies the cost
  combined   the one that is most active in all of CPU, memory, faults and I/O (eq. 5)
  blocking   none; submissions wait where they are while memory is exceeded
  no-LS      none; jobs are killed when memory and swap space are exhausted

The paper's three traces are not available. Here the programs are drawn from its Table 1,
and arrive as its eq. (6) says if it can be meant so. Other things in print cannot be
meant either, such as fault rates that are negative where memory is short. So there are
two readings: literal, as printed as far as it can be simulated, and resolved. Claims are
judged under both, and the last table has slowdowns for more variants of the resolved
one. Slowdown is wall-clock time since submission over CPU time.

  farm                      all tables and claims (a minute)
  farm -seeds 1             a quick look
  farm -out figures         points as CSV, and Figs. 2 to 5
  farm -max-jobs 4 -bus     with a CPU threshold CT, over one Ethernet for all

Flags:
`

func main() { command.Main("farm", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Config{}
	f := flag.NewFlagSet("farm", flag.ContinueOnError)
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the first workload of each trace; the others have the next ones")
	f.IntVar(&c.Seeds, "seeds", 8, "`number` of workloads of each trace")
	f.StringVar((*string)(&c.Base.Arrivals), "arrivals", string(study.Printed), "what eq. (6) means: `printed`, density or uniform")
	f.IntVar(&c.Base.MaxJobs, "max-jobs", 0, "CPU threshold CT: most `jobs` of a machine; 0 for no bound")
	f.DurationVar(&c.Base.Ramp, "ramp", 0, "CPU `time` in which a program gets the memory that it starts with by Table 1")
	f.BoolVar(&c.Base.Bus, "bus", false, "let migrations share the network, rather than each have all of it")
	f.BoolVar(&c.Base.Stall, "stall", false, "let a page fault stop all jobs of its machine")
	out := f.String("out", "", "write points and plots into `folder`")
	asJSON := f.Bool("json", false, "print claims and points as JSON instead of text")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if c.Seeds > 1000 {
		return command.Input(fmt.Errorf("-seeds %d: want 1 to 1000", c.Seeds))
	}
	if c.Base.Ramp > time.Hour {
		return command.Input(fmt.Errorf("-ramp %v: want an hour at most", c.Base.Ramp))
	}
	s, err := study.New(c)
	if err != nil {
		return command.Input(err)
	}
	if *out != "" {
		if err := report.Writable(*out); err != nil {
			return command.Input(fmt.Errorf("-out %s: %w", *out, err))
		}
	}
	progress := command.Progress(stderr, "simulating", int64(s.Size()))
	err = s.Run(ctx, func() { progress.Add(1) })
	progress.Done()
	if err != nil {
		return err
	}
	if *out != "" {
		if err := write(ctx, s, *out); err != nil {
			return err
		}
	}
	claims := s.Claims()
	if *asJSON {
		return report.WriteJSON(stdout, struct {
			Claims []claim.Claim `json:"claims"`
			Points []study.Point `json:"points"`
		}{claims, s.Points})
	}
	for _, t := range []*report.Table{slowdowns(s), breakdown(s), thresholds(s), variants(s)} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, "Claims of the paper")
	return claim.WriteText(stdout, claims)
}

func slowdowns(s *study.Study) *report.Table {
	t := &report.Table{Title: "Slowdown, MT = 0, mean over the seeds (Figs. 2 and 5)", Columns: []report.Column{{Title: "trace"}, {Title: "policy"}}}
	for _, reading := range study.ReadingNames {
		t.Columns = append(t.Columns, report.Column{Title: reading, Unit: "10 Mbps", Format: "%.2f"}, report.Column{Title: "sd", Format: "%.2f"},
			report.Column{Title: "completed", Format: "%.1f"}, report.Column{Title: "slowdown", Unit: "100 Mbps", Format: "%.2f"})
	}
	for _, trace := range study.Traces {
		for i, policy := range study.Policies {
			row := []any{trace.Name, policy}
			for _, reading := range study.ReadingNames {
				p := s.Point(study.Case{Reading: reading, Trace: trace.Name, Policy: policy, Mbps: 10})
				row = append(row, p.Slowdown, p.Spread, p.Completed)
				if i < 2 {
					row = append(row, nil) // nothing goes over the network
				} else {
					row = append(row, s.Point(study.Case{Reading: reading, Trace: trace.Name, Policy: policy, Mbps: 100}).Slowdown)
				}
			}
			t.Add(row...)
		}
	}
	return t
}

func breakdown(s *study.Study) *report.Table {
	t := &report.Table{Title: "Where the time of a job goes in trace 1, MT = 0, 10 Mbps (Fig. 2)", Columns: []report.Column{
		{Title: "reading"}, {Title: "policy"}, {Title: "CPU", Unit: "s", Format: "%.0f"}, {Title: "I/O", Unit: "s", Format: "%.0f"},
		{Title: "queueing", Unit: "s", Format: "%.0f"}, {Title: "to start", Unit: "s", Format: "%.0f"}, {Title: "paging", Unit: "s", Format: "%.0f"},
		{Title: "migration", Unit: "s", Format: "%.1f"}, {Title: "migrations", Format: "%.0f"}, {Title: "submissions", Format: "%.0f"},
	}}
	for _, reading := range study.ReadingNames {
		for _, policy := range study.Policies {
			p := s.Point(study.Case{Reading: reading, Trace: study.Traces[0].Name, Policy: policy, Mbps: 10})
			t.Add(reading, policy, p.CPU, p.IO, p.Queueing, p.Blocked, p.Paging, p.Migration, p.Migrations, p.Submissions)
		}
	}
	return t
}

func thresholds(s *study.Study) *report.Table {
	t := &report.Table{Title: "Slowdown in trace 1 by MT, 10 Mbps (Fig. 3)", Columns: []report.Column{{Title: "reading"}, {Title: "policy"}}}
	for _, mt := range study.MTs {
		t.Columns = append(t.Columns, report.Column{Title: fmt.Sprintf("%.0f", 100*mt), Unit: "%", Format: "%.2f"})
	}
	for _, reading := range study.ReadingNames {
		for _, policy := range study.Sharers {
			row := []any{reading, policy}
			for _, mt := range study.MTs {
				row = append(row, s.Point(study.Case{Reading: reading, Trace: study.Traces[0].Name, Policy: policy, MT: mt, Mbps: 10}).Slowdown)
			}
			t.Add(row...)
		}
	}
	return t
}

func variants(s *study.Study) *report.Table {
	t := &report.Table{Title: "Slowdown in trace 1 by variant of the resolved reading, MT = 0, 10 Mbps", Columns: []report.Column{{Title: "variant"}}}
	for _, policy := range study.Policies[1:] {
		t.Columns = append(t.Columns, report.Column{Title: policy, Format: "%.1f"})
	}
	t.Columns = append(t.Columns, report.Column{Title: "sd of combined", Format: "%.1f"}, report.Column{Title: "completed", Format: "%.1f"}, report.Column{Title: "killed", Format: "%.1f"})
	names := []string{study.Resolved}
	for _, v := range study.Variants {
		names = append(names, v.Name)
	}
	for _, name := range names {
		row := []any{name}
		var last *study.Point
		for _, policy := range study.Policies[1:] {
			last = s.Point(study.Case{Reading: name, Trace: study.Traces[0].Name, Policy: policy, Mbps: 10})
			row = append(row, last.Slowdown)
		}
		t.Add(append(row, last.Spread, last.Completed, last.Killed)...)
	}
	return t
}

func points(s *study.Study) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "reading"}, {Title: "trace"}, {Title: "policy"}, {Title: "MT"}, {Title: "network", Unit: "Mbps"},
		{Title: "slowdown"}, {Title: "sd"}, {Title: "completed"}, {Title: "killed"},
		{Title: "CPU", Unit: "s"}, {Title: "I/O", Unit: "s"}, {Title: "queueing", Unit: "s"}, {Title: "to start", Unit: "s"},
		{Title: "paging", Unit: "s"}, {Title: "migration", Unit: "s"}, {Title: "migrations"}, {Title: "remote submissions"}, {Title: "makespan", Unit: "s"},
	}}
	for _, p := range s.Points {
		t.Add(p.Reading, p.Trace, p.Policy, p.MT, p.Mbps, p.Slowdown, p.Spread, p.Completed, p.Killed,
			p.CPU, p.IO, p.Queueing, p.Blocked, p.Paging, p.Migration, p.Migrations, p.Submissions, p.Makespan)
	}
	return t
}

// chart draws a figure.
type chart func(title, x, y string) (*plot.Plot, error)

// write makes the folder: all points, and the paper's figures under each reading.
func write(ctx context.Context, s *study.Study, folder string) error {
	if err := report.WriteFile(filepath.Join(folder, "points.csv"), points(s).WriteCSV); err != nil {
		return err
	}
	slowdown := func(p *study.Point) float64 { return p.Slowdown }
	paging := func(p *study.Point) float64 { return p.Paging }
	migration := func(p *study.Point) float64 { return p.Migration }
	queueing := func(p *study.Point) float64 { return p.Queueing }
	for _, reading := range study.ReadingNames {
		overTraces := func(mbps int64, policies []string, of func(*study.Point) float64) chart {
			return func(title, _, y string) (*plot.Plot, error) {
				var traces []string
				values := make([][]float64, len(policies))
				for _, t := range study.Traces {
					traces = append(traces, t.Name)
					for i, policy := range policies {
						values[i] = append(values[i], of(s.Point(study.Case{Reading: reading, Trace: t.Name, Policy: policy, Mbps: mbps})))
					}
				}
				return report.Bars(title, y, traces, false, policies, values)
			}
		}
		overMT := func(of func(*study.Point) float64) chart {
			var list []report.Series
			for _, policy := range study.Sharers {
				line := report.Series{Name: policy}
				for _, mt := range study.MTs {
					p := s.Point(study.Case{Reading: reading, Trace: study.Traces[0].Name, Policy: policy, MT: mt, Mbps: 10})
					line.Points = append(line.Points, plotter.XY{X: 100 * mt, Y: of(p)})
				}
				list = append(list, line)
			}
			return func(title, x, y string) (*plot.Plot, error) { return report.Lines(title, x, y, list...) }
		}
		parts := func(title, _, y string) (*plot.Plot, error) {
			names := []string{"CPU", "I/O", "queueing", "paging", "migration"}
			values := make([][]float64, len(names))
			for _, policy := range study.Policies {
				p := s.Point(study.Case{Reading: reading, Trace: study.Traces[0].Name, Policy: policy, Mbps: 10})
				for k, part := range []float64{p.CPU, p.IO, p.Queueing, p.Paging, p.Migration} {
					values[k] = append(values[k], part)
				}
			}
			return report.Bars(title, y, study.Policies, true, names, values)
		}
		for _, figure := range []struct {
			file, title, x, y string
			draw              chart
		}{
			{"figure2-slowdown", "Slowdown, MT = 0, 10 Mbps", "", "mean slowdown", overTraces(10, study.Policies[1:], slowdown)},
			{"figure2-breakdown", "Where the time of a job goes, trace 1, MT = 0, 10 Mbps", "", "mean [s]", parts},
			{"figure3-slowdown", "Slowdown, trace 1, 10 Mbps", "MT [%]", "mean slowdown", overMT(slowdown)},
			{"figure3-paging", "Paging, trace 1, 10 Mbps", "MT [%]", "mean time [s]", overMT(paging)},
			{"figure4-migration", "Migration, trace 1, 10 Mbps", "MT [%]", "mean time [s]", overMT(migration)},
			{"figure4-queueing", "Queueing, trace 1, 10 Mbps", "MT [%]", "mean time [s]", overMT(queueing)},
			{"figure5-slowdown", "Slowdown, MT = 0, 100 Mbps", "", "mean slowdown", overTraces(100, study.Sharers, slowdown)},
			{"figure5-migration", "Migration, MT = 0, 100 Mbps", "", "mean time [s]", overTraces(100, study.Sharers, migration)},
		} {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, err := figure.draw(figure.title+" ("+reading+" reading)", figure.x, figure.y)
			if err != nil {
				return err
			}
			if err := report.Save(filepath.Join(folder, figure.file+"-"+reading), p); err != nil {
				return err
			}
		}
	}
	return nil
}
