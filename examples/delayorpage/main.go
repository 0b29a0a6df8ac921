// Command delayorpage asks whether a job should wait for memory or page: how far
// should memory be over-committed, by three models of what that costs? Run it with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/examples/delayorpage/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

const intro = `delayorpage asks whether a job for which memory does not suffice should wait, or run
and page. Let running jobs demand up to C times the memory M that there is: C = 1 makes
a job wait until it fits, more lets it page, less keeps a reserve. Which C is best?

The machine is space-shared: EASY backfilling, one pool of memory, run times known.
Where jobs demand more than M, all that run slow down by a factor f. Every model of
what paging costs is such a factor, and processors that a waiting job would use are
idle meanwhile, so this is a machine on which over-commitment can win: it lets idle
processors work. (On a gang-scheduled one they never are idle: see memgang.)

  locality    each process has an equal share of its frames and faults as often as
              least-recent use of references of locality θ does, θ from 1 (low) to 2
              (Batat & Feitelson 2000, §4.1); see -access
  tay-zou     f + 1/f = 1 + demand/M (Wang et al. 2007, eq. 4, after Tay & Zou)
  chen        f = 1 / (1 − R·fault), R faults per second by how far memory is exceeded
              (Chen, Xiao & Zhang, eq. 1)
  chen-line   the same with a straight line through their three measurements

What was supposed, to be confirmed or not:

  - The rule. If jobs always wait, C is worth C/f(C): C times as many run, each at speed
    1/f. So an extra job is worth its memory as long as the elasticity of f is below 1.
  - Costs are convex: so the best C is a little above 1, and trying a little more tells.
  - C* rises with locality, falls with load, is higher by slowdown than by response;
    a reserve is a waste if memory is known exactly.
  - A queue of equal jobs that share the machine predicts C*.

Run times and sizes of jobs are those of the Lublin-Feitelson model, arrivals at random,
memory lognormal. Load is that of memory: what jobs hold over their run times. Every
limit sees the same jobs; intervals are for all limits together, at 95 %, and a best C
comes with those that cannot be told from it. The advice is to page if that gains 5 % or
more for sure, to delay if nothing can gain so much and the greatest limit loses for sure.

  delayorpage                               the tables and findings (under a minute)
  delayorpage -out figures                  with plots and all points
  delayorpage -error .3                     what jobs use is 30 % off what they ask for
  delayorpage -headroom 2                   half of the processors idle when memory is full
  delayorpage -trace LANL-CM5-1994-4.1-cln.swf.gz

Flags:
`

func main() { command.Main("delayorpage", delayorpage) }

type options struct {
	study.Config
	quick, json bool
	trace, out  string
}

func parse(args []string) (options, error) {
	o := options{Config: study.Default()}
	f := flag.NewFlagSet("delayorpage", flag.ContinueOnError)
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the first sample, and of the references")
	f.IntVar(&o.Seeds, "seeds", o.Seeds, "`number` of samples")
	f.IntVar(&o.Jobs, "jobs", o.Jobs, "`number` of jobs of each")
	f.Float64Var(&o.Size, "size", o.Size, "mean memory of a job, as a `share` of the machine's")
	f.Float64Var(&o.Spread, "spread", o.Spread, "standard `deviation` of the logarithm of the jobs' memory")
	f.Float64Var(&o.Error, "error", o.Error, "standard `deviation` of the logarithm of what a job uses of the memory that it asks for; adds smaller limits")
	f.Float64Var(&o.Headroom, "headroom", o.Headroom, "`processors` for every one that is busy when memory is just full")
	f.BoolVar(&o.Bursty, "bursty", o.Bursty, "arrivals with the bursts and the daily cycle of the Lublin-Feitelson model")
	f.DurationVar(&o.Access, "access", o.Access, "`time` of a reference to memory, for the locality model")
	f.StringVar(&o.trace, "trace", "", "take the samples from a log, `file` in Standard Workload Format, plain or gzip")
	f.BoolVar(&o.quick, "quick", false, "fewer samples, jobs, limits and costs")
	f.StringVar(&o.out, "out", "", "write tables and plots into `folder`")
	f.BoolVar(&o.json, "json", false, "print all results as JSON instead of text")
	if err := command.Parse(f, intro, args); err != nil {
		return o, err
	}
	given := command.Given(f)
	if o.quick {
		if !given["seeds"] {
			o.Seeds = 4
		}
		if !given["jobs"] {
			o.Jobs = 300
		}
		o.Limits = []float64{.8, 1, 1.05, 1.2, 1.5, 2, 3}
		o.References = 50_000
		o.Localities = []float64{1, 1.5, 2}
		o.LocalityFaults = []time.Duration{10 * time.Millisecond, 100 * time.Microsecond}
		o.ChenFaults = []time.Duration{10 * time.Millisecond, time.Millisecond}
	}
	if o.Error > 0 {
		o.Limits = append([]float64{.5, .6, .7}, o.Limits...)
	}
	switch {
	case o.Seeds < 2 || o.Seeds > 1000:
		return o, command.Input(fmt.Errorf("-seeds %d: want 2 to 1000", o.Seeds))
	case o.Jobs < 2 || o.Jobs > 1e5:
		return o, command.Input(fmt.Errorf("-jobs %d: want 2 to 1e5", o.Jobs))
	case o.Access <= 0 || o.Access > time.Second:
		return o, command.Input(fmt.Errorf("-access %v: want more than 0, up to a second", o.Access))
	case o.trace != "" && (given["size"] || given["spread"] || given["error"] || given["bursty"]):
		return o, command.Input(errors.New("-size, -spread, -error, -bursty: are for generated workloads, not for -trace"))
	}
	if o.out != "" {
		if err := report.Writable(o.out); err != nil {
			return o, command.Input(fmt.Errorf("-out %s: %w", o.out, err))
		}
	}
	return o, nil
}

func load(o options) (*study.Study, error) {
	if o.trace == "" {
		return study.New(o.Config)
	}
	r, err := swf.Open(o.trace)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	l, err := workload.Read(o.trace, r, 0)
	if err != nil {
		return nil, err
	}
	return study.NewOf(l, o.Config)
}

func delayorpage(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	s, err := load(o)
	if err != nil {
		return command.Input(err)
	}
	progress := command.Progress(stderr, "simulating", int64(s.Size()))
	err = s.Run(ctx, func() { progress.Add(1) })
	progress.Done()
	if err != nil {
		return err
	}
	findings := s.Findings()
	if o.out != "" {
		if err := write(ctx, s, o.Config, o.out); err != nil {
			return err
		}
	}
	if o.json {
		return writeJSON(stdout, s, findings)
	}
	x := s.Summary()
	fmt.Fprintf(stdout, "%d samples, %s jobs", x.Samples, humanize.Comma(int64(x.Jobs)))
	if x.Dropped > 0 {
		fmt.Fprintf(stdout, " (%s that need more than half of the memory left out)", humanize.Comma(int64(x.Dropped)))
	}
	fmt.Fprintf(stdout, "; mean run time %.0f s, squared coefficient of variation %.1f; a job holds %.0f %% of the memory\n\n", x.Run, x.Variability, 100*x.Size)
	for _, t := range []*report.Table{rules(s), thresholds(s), best(s)} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, "Findings")
	return claim.WriteText(stdout, findings)
}

// result is a cost with what came of it.
type result struct {
	Model    string        `json:"model"`
	Locality float64       `json:"locality,omitempty"`
	Fault    time.Duration `json:"fault_ns,omitempty"`
	Rule     study.Rule    `json:"rule"`
	Cells    []study.Cell  `json:"cells"`
}

func writeJSON(w io.Writer, s *study.Study, findings []claim.Claim) error {
	results := make([]result, len(s.Costs))
	for i, c := range s.Costs {
		results[i] = result{Model: c.Model, Locality: c.Locality, Fault: c.Fault, Rule: s.Rules[i]}
	}
	for _, c := range s.Cells {
		results[c.Cost].Cells = append(results[c.Cost].Cells, c)
	}
	return report.WriteJSON(w, struct {
		Summary    study.Summary     `json:"summary"`
		Findings   []claim.Claim     `json:"findings"`
		Thresholds []study.Threshold `json:"thresholds"`
		Costs      []result          `json:"costs"`
	}{s.Summary(), findings, s.Thresholds, results})
}

// costColumns are those that say which cost it is; see costCells.
func costColumns(more ...report.Column) []report.Column {
	return append([]report.Column{{Title: "cost"}, {Title: "θ"}, {Title: "fault", Unit: "ms"}}, more...)
}

func costCells(c study.Cost, more ...any) []any {
	cells := []any{c.Model, nil, nil}
	if c.Locality > 0 {
		cells[1] = c.Locality
	}
	if c.Fault > 0 {
		cells[2] = c.Fault.Seconds() * 1000
	}
	return append(cells, more...)
}

// rules is the table of the rule and the backlogs.
func rules(s *study.Study) *report.Table {
	t := &report.Table{
		Title: "Throughput if jobs always wait, as a multiple of that with C = 1: by the rule, C/f(C), and measured",
		Columns: costColumns(report.Column{Title: "first step", Unit: "% per %", Format: "%.2f"}, report.Column{Title: "least", Format: "%.2f"}, report.Column{Title: "at C"},
			report.Column{Title: "gains from"}, report.Column{Title: "best C"}, report.Column{Title: "gain", Format: "× %.2f"},
			report.Column{Title: "measured C*"}, report.Column{Title: "not told apart"}, report.Column{Title: "gain", Format: "× %.2f"}),
	}
	for _, c := range s.Cells {
		if c.Load != study.Backlog {
			continue
		}
		r := s.Rules[c.Cost]
		var from any
		if r.BreakEven > 0 {
			from = r.BreakEven
		}
		t.Add(costCells(s.Costs[c.Cost], r.First, r.Least, r.LeastAt, from, r.Best, r.Gain, c.Rate.Limit, set(c, c.Rate.Ties), c.Rate.Ratio.Mean)...)
	}
	return t
}

func thresholds(s *study.Study) *report.Table {
	t := &report.Table{
		Title:   "By the rule throughput gains with a limit of C if a page fault takes less than",
		Columns: []report.Column{{Title: "cost"}, {Title: "θ"}, {Title: "C"}, {Title: "fault", Unit: "ms"}},
	}
	for _, x := range s.Thresholds {
		var theta any
		if x.Locality > 0 {
			theta = x.Locality
		}
		t.Add(x.Model, theta, x.Limit, x.Fault.Seconds()*1000)
	}
	return t
}

// best is the table of the best limits.
func best(s *study.Study) *report.Table {
	t := &report.Table{Title: "The best limit C* where jobs arrive over time, those not told from it, its figure as a multiple of that with C = 1, and C* by theory", Columns: costColumns(report.Column{Title: "load"})}
	for _, figure := range []string{"response", "slowdown"} {
		t.Columns = append(t.Columns, report.Column{Title: figure, Unit: "C*"}, report.Column{Title: "", Unit: "not told apart"},
			report.Column{Title: "", Unit: "×", Format: "%.3f"}, report.Column{Title: "", Unit: "95 % interval"}, report.Column{Title: "", Unit: "theory"}, report.Column{Title: "", Unit: "do"})
	}
	t.Columns = append(t.Columns, report.Column{Title: "saturated", Unit: "C = 1, C*"})
	for _, c := range s.Cells {
		if c.Load == study.Backlog {
			continue
		}
		row := costCells(s.Costs[c.Cost], c.Load)
		for _, b := range []study.Best{c.Response, c.Slowdown} {
			row = append(row, b.Limit, set(c, b.Ties), b.Ratio.Mean, fmt.Sprintf("%.3f-%.3f", b.Ratio.Low, b.Ratio.High), b.Predicted, string(b.Advice))
		}
		t.Add(append(row, saturated(s, c))...)
	}
	return t
}

// saturated tells how many samples did not keep up, with C = 1 and with the best limit
// by response.
func saturated(s *study.Study, c study.Cell) string {
	var n [2]float64
	for _, p := range c.Points {
		if p.Limit == 1 {
			n[0] = p.Mean.Saturated
		}
		if p.Limit == c.Response.Limit {
			n[1] = p.Mean.Saturated
		}
	}
	samples := float64(s.Summary().Samples)
	return fmt.Sprintf("%.0f, %.0f", n[0]*samples, n[1]*samples)
}

// set writes limits, of the cell's, with a dash for neighbours.
func set(c study.Cell, limits []float64) string {
	var b strings.Builder
	in := func(i int) bool {
		for _, x := range limits {
			if i >= 0 && i < len(c.Points) && c.Points[i].Limit == x {
				return true
			}
		}
		return false
	}
	for i, p := range c.Points {
		switch {
		case !in(i):
		case !in(i-1) && b.Len() == 0:
			fmt.Fprint(&b, p.Limit)
		case !in(i - 1):
			fmt.Fprintf(&b, " %v", p.Limit)
		case !in(i + 1):
			fmt.Fprintf(&b, "-%v", p.Limit)
		}
	}
	return b.String()
}
