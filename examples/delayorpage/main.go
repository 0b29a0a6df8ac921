// Command delayorpage asks whether a job should wait or page.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gangkit/gangkit/examples/delayorpage/study"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
)

func main() { command.Main("delayorpage", delayorpage) }

func delayorpage(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Default()
	f := flag.NewFlagSet("delayorpage", flag.ContinueOnError)
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the first sample, and of the walks")
	f.IntVar(&c.Seeds, "seeds", c.Seeds, "`number` of samples")
	f.IntVar(&c.Jobs, "jobs", c.Jobs, "`number` of jobs of each")
	f.Float64Var(&c.Size, "size", c.Size, "mean memory of a job, as a `share` of the machine's")
	f.Float64Var(&c.Spread, "spread", c.Spread, "standard deviation of the logarithm of the jobs' memory")
	f.Float64Var(&c.Headroom, "headroom", c.Headroom, "processors for one that is busy when memory is just full")
	f.BoolVar(&c.Bursty, "bursty", c.Bursty, "arrivals with the bursts and the daily cycle of the Lublin-Feitelson model")
	if err := command.Parse(f, "", args); err != nil {
		return err
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
	t := &report.Table{Columns: []report.Column{{Title: "cost"}, {Title: "first"}, {Title: "least"}, {Title: "at"}, {Title: "even"}, {Title: "best"}, {Title: "gain"}, {Title: "measured"}, {Title: "ties"}, {Title: "gain"}}}
	u := &report.Table{Columns: []report.Column{{Title: "cost"}, {Title: "load"}, {Title: "C* resp"}, {Title: "ties"}, {Title: "ratio"}, {Title: "low"}, {Title: "high"}, {Title: "theory"}, {Title: "C* sld"}, {Title: "ties"}, {Title: "ratio"}, {Title: "theory"}}}
	for _, cell := range s.Cells {
		r := s.Rules[cell.Cost]
		if cell.Load == study.Backlog {
			t.Add(s.Costs[cell.Cost].String(), r.First, r.Least, r.LeastAt, r.BreakEven, r.Best, r.Gain, cell.Rate.Limit, strings.Trim(fmt.Sprint(cell.Rate.Ties), "[]"), cell.Rate.Ratio.Mean)
			continue
		}
		u.Add(s.Costs[cell.Cost].String(), cell.Load, cell.Response.Limit, fmt.Sprint(cell.Response.Ties), cell.Response.Ratio.Mean, cell.Response.Ratio.Low, cell.Response.Ratio.High, cell.Response.Predicted,
			cell.Slowdown.Limit, fmt.Sprint(cell.Slowdown.Ties), cell.Slowdown.Ratio.Mean, cell.Slowdown.Predicted)
	}
	t.WriteText(stdout)
	u.WriteText(stdout)
	for _, cell := range s.Cells {
		if cell.Load != study.Backlog {
			fmt.Fprintf(stdout, "%s load %v\n", s.Costs[cell.Cost], cell.Load)
			for _, p := range cell.Points {
				fmt.Fprintf(stdout, "  %5.2f resp %6.2f theory %6.2f  sld %6.2f theory %6.2f  wait %.0f paging %.0f\n", p.Limit, p.Response.Mean, p.PredictedResponse, p.Slowdown.Mean, p.PredictedSlowdown, p.Mean.Wait, p.Mean.Paging)
			}
		}
	}
	return nil
}
