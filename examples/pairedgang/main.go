// Command pairedgang repeats the experiments of Wiseman & Feitelson (2003): gang
// scheduling that runs two complementary gangs in a quantum. Run it with -h.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/partner"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/pairedgang/study"
)

const intro = `pairedgang repeats the experiments of Y. Wiseman and D. G. Feitelson, "Paired gang
scheduling" (2003).

Under gang scheduling the processes of a job run at the same time, and a node idles
while its process waits. Predict how much each gang will compute in the next quantum,
let two gangs run together whose predictions sum up to less than 1, and much of that
time is used. Policies:

  strict     one slot a quantum
  paired     slots are matched by their busiest gangs, as in Fig. 4 of the paper
  band       the same, with slots of gangs that compute about as much (§2.6)
  per-node   slots are matched if on every node the two processes fit; not of the paper
  best-fit   every slot takes the busiest partner that fits; the paper's comparison
  trusting   paired, without the rule for sharp changes

Fig. 7   four jobs, 0 to 4 of them I/O bound: barriers a second, and who is partner
Fig. 8   the same on clusters of 2 to 12 nodes, Fig. 9 with computation of 20 to 50 ms
         between two barriers
Fig. 10  1000 jobs of the Lublin-Feitelson model on 16 nodes at loads from .5 to .95,
         which all compute 45 % of the time (Figs. 11, 12: or 0 to 100 %, or in phases
         as QCRD does, Fig. 14): mean response and slowdown, with alternates (gangs also
         run in other slots where their nodes are idle) and without
Fig. 13  four copies of QCRD that start together

  pairedgang                     all figures and claims (about a minute)
  pairedgang -quick              fewer jobs and shorter runs
  pairedgang -out figures        tables and plots

Flags:
`

func main() { command.Main("pairedgang", pairedgang) }

func pairedgang(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Default()
	f := flag.NewFlagSet("pairedgang", flag.ContinueOnError)
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the static experiments and of the first workload; the others have the next ones")
	f.IntVar(&c.Seeds, "seeds", c.Seeds, "`number` of workloads to average over")
	f.IntVar(&c.Jobs, "jobs", c.Jobs, "`number` of jobs of a workload")
	f.DurationVar(&c.MixTime, "mix", c.MixTime, "`time` that each mix of Figs. 7 to 9 runs")
	quick := f.Bool("quick", false, "fewer jobs and shorter runs")
	out := f.String("out", "", "write tables and plots into `folder`")
	asJSON := f.Bool("json", false, "print claims and points as JSON instead of text")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if given := command.Given(f); *quick {
		q := c.Quick()
		if given["jobs"] {
			q.Jobs = c.Jobs
		}
		if given["seeds"] {
			q.Seeds = c.Seeds
		}
		if given["mix"] {
			q.MixTime = c.MixTime
		}
		c = q
	}
	if c.Seeds < 1 || c.Seeds > 1000 {
		return command.Input(fmt.Errorf("-seeds %d: want 1 to 1000", c.Seeds))
	}
	if c.Jobs < 2 || c.Jobs > 1e6 {
		return command.Input(fmt.Errorf("-jobs %d: want 2 to 1000000", c.Jobs))
	}
	if c.MixTime < time.Minute || c.MixTime > 24*time.Hour {
		return command.Input(fmt.Errorf("-mix %v: want a minute to a day", c.MixTime))
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
			Figure7 []study.Mix     `json:"figure7"`
			Figure8 []study.Mix     `json:"figure8"`
			Figure9 []study.Mix     `json:"figure9"`
			Dynamic []study.Dynamic `json:"dynamic"`
			Copies  []study.Copies  `json:"figure13"`
		}{claims, s.Figure7, s.Figure8, s.Figure9, s.Dynamic, s.Copies})
	}
	for _, t := range []*report.Table{
		mixes("Fig. 7: four jobs on eight nodes", s.Figure7), mixes("Fig. 8: cluster size", s.Figure8),
		mixes("Fig. 9: granularity", s.Figure9), dynamics(s, c), copies(s.Copies),
	} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, "Claims of the paper")
	return claim.WriteText(stdout, claims)
}

func mixes(title string, points []study.Mix) *report.Table {
	t := &report.Table{Title: title, Columns: []report.Column{
		{Title: "I/O jobs"}, {Title: "nodes"}, {Title: "loop", Unit: "s"}, {Title: "policy"},
		{Title: "compute-bound", Unit: "barriers/s", Format: "%.2f"}, {Title: "I/O-bound", Unit: "barriers/s", Format: "%.2f"},
		{Title: "partner: slot 0", Format: "%.2f"}, {Title: "1", Format: "%.2f"}, {Title: "2", Format: "%.2f"}, {Title: "3", Format: "%.2f"},
	}}
	for _, p := range points {
		row := []any{p.IO, p.Nodes, p.Loop, string(p.Policy), nil, nil}
		if p.IO < len(p.Chosen) {
			row[4] = p.Compute
		}
		if p.IO > 0 {
			row[5] = p.Bound
		}
		for _, share := range p.Chosen {
			row = append(row, share)
		}
		t.Add(row...)
	}
	return t
}

var (
	kinds    = []study.Kind{study.Homogeneous, study.Heterogeneous, study.QCRD}
	policies = []partner.Policy{partner.Strict, partner.Paired, partner.Band, partner.PerNode}
)

func dynamics(s *study.Study, c study.Config) *report.Table {
	t := &report.Table{Title: "Figs. 10, 12 and 14: jobs that arrive over time, means over the workloads", Columns: []report.Column{
		{Title: "jobs"}, {Title: "load"}, {Title: "offered", Format: "%.2f"}, {Title: "alternates"}, {Title: "policy"},
		{Title: "mean response", Unit: "s", Format: "%.0f"}, {Title: "mean slowdown", Format: "%.1f"},
		{Title: "backlog", Unit: "jobs", Format: "%.0f"}, {Title: "drained in", Unit: "s", Format: "%.0f"},
	}}
	for _, kind := range kinds {
		for _, load := range c.Loads {
			for _, alternates := range []bool{false, true} {
				for _, policy := range policies {
					mean := func(of func(*study.Dynamic) float64) float64 { return s.Mean(kind, load, policy, alternates, of) }
					t.Add(string(kind), load, mean(func(p *study.Dynamic) float64 { return p.Offered }), fmt.Sprint(alternates), string(policy),
						mean(study.Response), mean(func(p *study.Dynamic) float64 { return p.Slowdown }),
						mean(func(p *study.Dynamic) float64 { return float64(p.Backlog) }), mean(func(p *study.Dynamic) float64 { return p.Drain }))
				}
			}
		}
	}
	return t
}

func copies(points []study.Copies) *report.Table {
	t := &report.Table{Title: "Fig. 13: four copies of QCRD", Columns: []report.Column{
		{Title: "policy"}, {Title: "mean response", Unit: "s", Format: "%.0f"}, {Title: "quanta with two that compute"},
	}}
	for _, p := range points {
		t.Add(string(p.Policy), p.Response, p.Both)
	}
	return t
}

// write makes the folder.
func write(ctx context.Context, s *study.Study, c study.Config, folder string) error {
	for name, t := range map[string]*report.Table{
		"figure7.csv": mixes("", s.Figure7), "figure8.csv": mixes("", s.Figure8), "figure9.csv": mixes("", s.Figure9),
		"figure10.csv": dynamics(s, c), "figure13.csv": copies(s.Copies),
	} {
		if err := report.WriteFile(filepath.Join(folder, name), t.WriteCSV); err != nil {
			return err
		}
	}
	lines := func(name, title, x, y string, series []report.Series) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := report.Lines(title, x, y, series...)
		if err != nil {
			return err
		}
		return report.Save(filepath.Join(folder, name), p)
	}
	for _, bound := range []bool{false, true} {
		name, job := "compute", "compute-bound"
		if bound {
			name, job = "io", "I/O-bound"
		}
		series := func(points []study.Mix, of func(study.Mix) string) (list []report.Series) {
			for _, p := range points {
				y, there := p.Compute, p.IO < 4
				if bound {
					y, there = p.Bound, p.IO > 0
				}
				i := slices.IndexFunc(list, func(s report.Series) bool { return s.Name == of(p) })
				if i < 0 {
					i = len(list)
					list = append(list, report.Series{Name: of(p)})
				}
				if there {
					list[i].Points = append(list[i].Points, plotter.XY{X: float64(p.IO), Y: y})
				}
			}
			return list
		}
		for _, figure := range []struct {
			name   string
			points []study.Mix
			of     func(study.Mix) string
		}{
			{"figure7-", s.Figure7, func(p study.Mix) string { return string(p.Policy) }},
			{"figure8-", s.Figure8, func(p study.Mix) string { return fmt.Sprintf("%d nodes", p.Nodes) }},
			{"figure9-", s.Figure9, func(p study.Mix) string { return p.Loop.String() }},
		} {
			if err := lines(figure.name+name, "Progress of "+job+" jobs", "I/O-bound jobs of four", "barriers a second", series(figure.points, figure.of)); err != nil {
				return err
			}
		}
	}
	for _, kind := range kinds {
		for _, alternates := range []bool{false, true} {
			suffix, title := "", ""
			if alternates {
				suffix, title = "-alternates", ", with alternates"
			}
			var series []report.Series
			for _, policy := range policies {
				line := report.Series{Name: string(policy)}
				for _, load := range c.Loads {
					line.Points = append(line.Points, plotter.XY{X: load, Y: s.Mean(kind, load, policy, alternates, study.Response)})
				}
				series = append(series, line)
			}
			if err := lines("figure10-"+string(kind)+suffix, "Response, "+string(kind)+" jobs"+title, "load", "mean response [s]", series); err != nil {
				return err
			}
		}
		if err := evolution(s, c, kind, folder); err != nil {
			return err
		}
	}
	var samples []report.Sample
	for _, p := range s.Copies[1:] {
		samples = append(samples, report.Sample{Name: string(p.Policy), Values: p.Errors})
	}
	p, err := report.Distribution("Fig. 3: how far predictions are off, four copies of QCRD", "between prediction and measurement [points of utilisation]", .1, samples...)
	if err != nil {
		return err
	}
	return report.Save(filepath.Join(folder, "figure3"), p)
}

// evolution draws Figs. 11, 12 and 14: the jobs in the system over time, at the
// highest load, of the first workload.
func evolution(s *study.Study, c study.Config, kind study.Kind, folder string) error {
	high := c.Loads[len(c.Loads)-1]
	var series []report.Series
	for i := range s.Dynamic {
		p := &s.Dynamic[i]
		if p.Kind != kind || p.Load != high || p.Alternates || p.Seed != c.Seed {
			continue
		}
		samples, err := p.Timeline()
		if err != nil {
			return err
		}
		line := report.Series{Name: string(p.Policy)}
		for _, x := range samples {
			line.Points = append(line.Points, plotter.XY{X: x.Time.Seconds(), Y: float64(x.Queued + x.Running)})
		}
		series = append(series, line)
	}
	p, err := report.Steps(fmt.Sprintf("Jobs in the system at load %v, %s", high, kind), "jobs", series...)
	if err != nil {
		return err
	}
	return report.Save(filepath.Join(folder, "figure11-"+string(kind)), p)
}
