// Command fold repeats the experiments of Utrera et al. (2004): moldable jobs that are
// folded to make room for others. Run it with -h.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/fold/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const intro = `fold repeats the experiments of G. Utrera, J. Corbalan and J. Labarta, "Implementing
malleability on MPI jobs" (2004).

The processes of an MPI job cannot be made more or fewer once it runs, but they can be
put on fewer processors: folded by two or four. Whom to fold, and when, to make room
for whom? Long jobs (bt.A, cg.B) and short ones (lu.W, sweep3D) share 64 processors:

  fjt         folds long jobs only, by 4 at most; as in the paper's pseudo-code
  fjt-eager   the same as in the paper's text: long jobs start folded rather than wait
  folding     folds the latest arrival, of any class, by 2 at most
  psa         a partition is all processors over the number of jobs that wait
  asp60       what is idle, at most 60, to whoever is first
  fcfs        every job on all 64, in order: the baseline

Six workloads, w1 to w6, of long and short jobs that arrive over a quarter of an hour,
and bursts of 3, 6 and 9 jobs that arrive one after the other at one instant, a third
of them long. Slowdown is response over that under the baseline. How fast a program runs on p processors, and what is lost if
four of its processes share one, is not in the paper: speedups are Downey's with
average parallelism -parallelism and variance -variance, and all is done with three
assumptions of what folding costs.

  fold                     all figures and claims (seconds)
  fold -variance 0         linear speedup up to 64
  fold -out figures        tables and plots; gantt-*.svg shows how jobs fold and unfold

Flags:
`

func main() { command.Main("fold", fold) }

func fold(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Config{}
	f := flag.NewFlagSet("fold", flag.ContinueOnError)
	f.Uint64Var(&c.Seed, "seed", 1, "seed of the first workload of each kind; the others have the next ones")
	f.IntVar(&c.Seeds, "seeds", 40, "`number` of workloads of each kind")
	parallelism := f.Float64("parallelism", 64, "average `parallelism` A of the programs")
	variance := f.Float64("variance", .5, "`variance` of it; 0: linear speedup up to A")
	out := f.String("out", "", "write tables and plots into `folder`")
	asJSON := f.Bool("json", false, "print claims and points as JSON instead of text")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if c.Seeds < 1 || c.Seeds > 10_000 {
		return command.Input(fmt.Errorf("-seeds %d: want 1 to 10000", c.Seeds))
	}
	var err error
	if c.Speedup, err = molding.Downey(*parallelism, *variance); err != nil {
		return command.Input(fmt.Errorf("-parallelism, -variance: %w", err))
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
	claims := s.Claims()
	if *out != "" {
		if err := write(ctx, s, *out); err != nil {
			return err
		}
	}
	if *asJSON {
		return report.WriteJSON(stdout, struct {
			Claims []claim.Claim `json:"claims"`
			Points []study.Point `json:"points"`
		}{claims, s.Points})
	}
	if err := table(s.Points, study.Efficiencies[0].Name).WriteText(stdout); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "\nClaims of the paper")
	return claim.WriteText(stdout, claims)
}

// table shows the points, those of one assumption or all.
func table(points []study.Point, efficiency string) *report.Table {
	t := &report.Table{Title: fmt.Sprintf("Means over the seeds, cost of folding: %s", efficiency), Columns: []report.Column{
		{Title: "jobs"}, {Title: "policy"}, {Title: "folding"},
		{Title: "long: slowdown", Format: "%.2f"}, {Title: "sd", Format: "%.2f"}, {Title: "response", Unit: "s", Format: "%.0f"}, {Title: "wait", Unit: "s", Format: "%.1f"}, {Title: "processors", Format: "%.1f"},
		{Title: "short: slowdown", Format: "%.2f"}, {Title: "sd", Format: "%.2f"}, {Title: "response", Unit: "s", Format: "%.1f"}, {Title: "wait", Unit: "s", Format: "%.1f"}, {Title: "processors", Format: "%.1f"},
	}}
	for _, p := range points {
		if efficiency != "" && p.Efficiency != efficiency {
			continue
		}
		row := []any{p.Workload, p.Policy, p.Efficiency}
		for _, class := range []int{1, 0} {
			row = append(row, p.Slowdown[class], p.Spread[class], p.Response[class], p.Wait[class], p.Processors[class])
		}
		t.Add(row...)
	}
	return t
}

// write makes the folder.
func write(ctx context.Context, s *study.Study, folder string) error {
	if err := report.WriteFile(filepath.Join(folder, "points.csv"), table(s.Points, "").WriteCSV); err != nil {
		return err
	}
	efficiency := study.Efficiencies[0]
	for _, class := range []struct {
		index int
		name  string
	}{{1, "long"}, {0, "short"}} {
		for _, figure := range []struct {
			name, title, x, y string
			bursts            bool
			of                func(*study.Point) float64
		}{
			{"figure1-2-slowdown", "Slowdown of " + class.name + " jobs, w1 to w6", "workload", "response / response under FCFS", false, func(p *study.Point) float64 { return p.Slowdown[class.index] }},
			{"figure3-4-wait", "Wait of " + class.name + " jobs, w1 to w6", "workload", "mean wait [s]", false, func(p *study.Point) float64 { return p.Wait[class.index] }},
			{"figure5-processors", "Processors of " + class.name + " jobs in bursts", "jobs of the burst", "mean processors", true, func(p *study.Point) float64 { return p.Processors[class.index] }},
			{"figure6-slowdown", "Slowdown of " + class.name + " jobs in bursts", "jobs of the burst", "response / response under FCFS", true, func(p *study.Point) float64 { return p.Slowdown[class.index] }},
		} {
			var series []report.Series
			for _, policy := range study.Policies[:5] {
				line := report.Series{Name: policy}
				if figure.bursts {
					for _, n := range study.Bursts {
						line.Points = append(line.Points, plotter.XY{X: float64(n), Y: figure.of(s.Point(fmt.Sprintf("burst %d", n), policy, efficiency.Name))})
					}
				} else {
					for i, w := range study.Workloads {
						line.Points = append(line.Points, plotter.XY{X: float64(i + 1), Y: figure.of(s.Point(w.Name, policy, efficiency.Name))})
					}
				}
				series = append(series, line)
			}
			p, err := report.Lines(figure.title, figure.x, figure.y, series...)
			if err != nil {
				return err
			}
			if err := report.Save(filepath.Join(folder, figure.name+"-"+class.name), p); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"w2", "burst 9"} {
		for _, policy := range study.Policies {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := gantt(ctx, s, name, policy, efficiency, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// gantt draws the machine over time: partitions shrink and grow as jobs fold and
// unfold.
func gantt(ctx context.Context, s *study.Study, name, policy string, e study.Efficiency, folder string) error {
	_, outcomes, err := s.Simulate(ctx, name, 0, policy, e)
	if err != nil {
		return err
	}
	var bars []report.Bar
	end := time.Duration(0)
	for job, o := range outcomes {
		for _, p := range o.Pieces {
			bars = append(bars, report.Bar{Job: job, Start: p.From, End: p.To, Processors: p.Processors})
			end = max(end, p.To)
		}
	}
	slices.SortStableFunc(bars, func(a, b report.Bar) int { return cmp.Compare(a.Start, b.Start) })
	p, err := report.Gantt(fmt.Sprintf("%s under %s", name, policy), bars, study.Processors, 0, end)
	if errors.Is(err, report.ErrData) {
		return nil // too many to be told apart
	} else if err != nil {
		return err
	}
	file := "gantt-" + map[string]string{"w2": "w2", "burst 9": "burst9"}[name] + "-" + policy
	return report.Save(filepath.Join(folder, file), p)
}
