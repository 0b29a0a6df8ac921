// Command relaxed repeats the study of Wang et al. (2007): what happens to
// response times if jobs may start although memory does not suffice. Run it with
// -h.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/examples/relaxed/study"
)

const intro = `relaxed repeats the study of Y.-M. Wang, K.-T. Chien, Y.-H. Chang and S.-H. Tien,
"Memory consideration for parallel job scheduling on SMP clusters" (2007).

Jobs need processors and memory. Where memory is the bottleneck, jobs wait while
processors idle. So let a job start although the jobs then use up to C more memory
than there is, once it has waited T times its run time. It waits less, but all
running jobs slow down by a factor 1 + N (paging, eq. 4), where 1 % too much memory
already costs 10 %. Which wins? Printed are mean response times for C from 0 to
60 %, for FCFS and for EASY backfilling with T = 0 to 100, at three memory sizes,
and then each claim of the paper beside what was measured.

The paper's log, DAS2-fs2 of 2003, is not to be had. By default the jobs are drawn
from the paper's own tables of it: processors and memory (Table 2) and run times
(Table 3), which are taken to be independent; run times below 5 hours, of which the
table says no more, are lognormal with median 60 s. Arrivals are those of the
Lublin-Feitelson model. The sister log DAS2-fs1 can stand in (-trace): its memory
times five, but its jobs then need 350 MB on average, not 107. As in the paper the
scheduler knows run times exactly.

  relaxed                                     five generated workloads
  relaxed -trace DAS2-fs1-2003-1.swf.gz       a log; for DAS2 the paper's machine
  relaxed -out figures                        all points as CSV, and the plots

Flags:
`

type options struct {
	trace            string
	memories         []int64
	scale, load      float64
	processors, jobs int
	seed             uint64
	seeds            int
	order            des.Order
	step             float64
	out              string
	json             bool
}

func main() { command.Main("relaxed", relaxed) }

func parse(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("relaxed", flag.ContinueOnError)
	f.StringVar(&o.trace, "trace", "", "log to replay, `file` in Standard Workload Format, plain or gzip (default: generated workloads)")
	memories := f.String("memory", "", "comma-separated `sizes` of the memory pool (default 1GiB,1.5GiB,2GiB as in the paper; for logs other than DAS2 a half, three quarters and all of twice the average use)")
	f.Float64Var(&o.scale, "scale-memory", 0, "multiply the jobs' memory by this `factor` (default: 5 for DAS2 as in the paper, else 1)")
	f.Float64Var(&o.load, "load", .5, "offered `load` of the generated workloads")
	f.IntVar(&o.processors, "procs", 0, "processors of the machine (default 128 as in the paper; for other logs than DAS2 what the log says)")
	f.IntVar(&o.jobs, "jobs", 0, "number of jobs: of each generated workload (default 3000), or the first of the log (default: all)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first generated workload")
	f.IntVar(&o.seeds, "seeds", 5, "number of generated workloads to average over")
	order := f.String("order", "batch", "what happens first at one instant: `batch`, submit-first or terminate-first")
	f.Float64Var(&o.step, "step", .02, "`step` of C")
	f.StringVar(&o.out, "out", "", "write all points and the plots into `folder`")
	f.BoolVar(&o.json, "json", false, "print points and claims as JSON instead of text")
	err := command.Parse(f, intro, args)
	if err != nil {
		return nil, err
	}
	given := command.Given(f)
	switch {
	case given["procs"] && (o.processors <= 0 || o.processors > 1<<30):
		return nil, fmt.Errorf("-procs %d: want a number from 1 to %d", o.processors, 1<<30)
	case given["jobs"] && o.jobs <= 0:
		return nil, fmt.Errorf("-jobs %d: want a number above 0", o.jobs)
	case o.seeds <= 0 || o.seeds > 1000:
		return nil, fmt.Errorf("-seeds %d: want a number from 1 to 1000", o.seeds)
	case !(o.load > 0 && o.load <= 100):
		return nil, fmt.Errorf("-load %v: want a number above 0, up to 100", o.load)
	case given["load"] && o.trace != "":
		return nil, fmt.Errorf("-load %v: is for generated workloads, not for -trace", o.load)
	case given["scale-memory"] && !(o.scale > 0 && o.scale <= 1e6):
		return nil, fmt.Errorf("-scale-memory %v: want a number above 0, up to 1e6", o.scale)
	case !(o.step >= .001 && o.step <= .1):
		return nil, fmt.Errorf("-step %v: want a number from .001 to .1", o.step)
	}
	if o.order, err = des.ParseOrder(*order); err != nil {
		return nil, fmt.Errorf("-order: %w", err)
	}
	if given["memory"] {
		for _, text := range strings.Split(*memories, ",") {
			size, err := humanize.ParseBytes(strings.TrimSpace(text))
			if err != nil || size == 0 || size > 1<<60 {
				return nil, fmt.Errorf("-memory %q: want sizes like 1GiB or 500MB", text)
			}
			o.memories = append(o.memories, int64(size))
		}
	}
	return o, nil
}

// load makes the workloads, and sets what depends on them.
func load(o *options) ([]*workload.Workload, error) {
	if o.trace == "" {
		o.defaults(study.Processors, 1, 3000, 1<<30)
		var list []*workload.Workload
		for k := range o.seeds {
			w, err := study.Generate(o.jobs, o.processors, o.load, o.seed+uint64(k))
			if err != nil {
				return nil, err
			}
			study.Prepare(w, o.scale)
			list = append(list, w)
		}
		return list, nil
	}
	r, err := swf.Open(o.trace)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	das2 := strings.Contains(strings.ToUpper(r.Header().Get("Computer")+filepath.Base(o.trace)), "DAS2")
	if das2 {
		o.defaults(study.Processors, 5, 0, 1<<30)
	}
	w, err := workload.Read(o.trace, r, o.processors)
	if err != nil {
		return nil, err
	}
	if w.Memory() == 0 {
		return nil, fmt.Errorf("%s: does not tell the jobs' memory", o.trace)
	}
	if o.jobs > 0 {
		w.Cut(o.jobs)
	}
	if !das2 {
		o.defaults(w.Processors, 1, 0, w.Memory()/2)
	}
	study.Prepare(w, o.scale)
	return []*workload.Workload{w}, nil
}

func (o *options) defaults(processors int, scale float64, jobs int, memory int64) {
	if o.processors == 0 {
		o.processors = processors
	}
	if o.scale == 0 {
		o.scale = scale
	}
	if o.jobs == 0 {
		o.jobs = jobs
	}
	if o.memories == nil {
		o.memories = []int64{memory, memory / 2 * 3, 2 * memory}
	}
}

func relaxed(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return command.Input(err)
	}
	if o.out != "" {
		if err := report.Writable(o.out); err != nil {
			return command.Input(fmt.Errorf("-out %s: %w", o.out, err))
		}
	}
	workloads, err := load(o)
	if err != nil {
		return command.Input(err)
	}
	s := &study.Study{Memories: o.memories, Curves: study.Curves(), Excesses: study.Steps(o.step), Workloads: workloads, Order: o.order}
	progress := command.Progress(stderr, "simulating", int64(len(s.Memories)*len(s.Curves)*len(s.Excesses)*len(workloads)))
	err = s.Run(ctx, func() { progress.Add(1) })
	progress.Done()
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := write(ctx, s, o.out); err != nil {
			return err
		}
	}
	if o.json {
		return report.WriteJSON(stdout, struct {
			Claims []claim.Claim `json:"claims"`
			Points []record      `json:"points"`
		}{s.Claims(), records(s)})
	}
	w := workloads[0]
	fmt.Fprintf(stdout, "%s: %d × %s jobs, %d processors, load %.2f, order %v\n",
		w.Name, len(workloads), humanize.Comma(int64(len(w.Jobs))), w.Processors, w.Load(), o.order)
	for m := range s.Memories {
		fmt.Fprintln(stdout)
		if err := table(s, m).WriteText(stdout); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, "\nClaims of the paper")
	return claim.WriteText(stdout, s.Claims())
}

// table shows the mean response at a memory size, at every second value of C up
// to 12 % and every 12 % from there.
func table(s *study.Study, memory int) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("Mean response in seconds, %s of memory (offered load of memory %.2f, %d jobs need more than there is)",
			humanize.IBytes(uint64(s.Memories[memory])), memoryLoad(s, memory), larger(s, memory)),
		Columns: []report.Column{{Title: "C", Unit: "%", Format: "%.1f"}},
	}
	for _, c := range s.Curves {
		t.Columns = append(t.Columns, report.Column{Title: c.Name, Format: "%.0f"})
	}
	for e, excess := range s.Excesses {
		if hundredths := int(excess*100 + .5); hundredths > 12 && hundredths%12 != 0 {
			continue
		}
		row := []any{100 * excess}
		for c := range s.Curves {
			row = append(row, s.Mean(memory, c, e, study.Response))
		}
		t.Add(row...)
	}
	return t
}

// memoryLoad is the memory that the jobs hold over their run times, as a share of
// what there is between the first submission and the last.
func memoryLoad(s *study.Study, memory int) float64 {
	held, there := 0., 0.
	for _, w := range s.Workloads {
		for _, j := range w.Jobs {
			held += float64(j.Run.Seconds() * float64(j.Memory))
		}
		span := w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit
		there += float64(span.Seconds() * float64(s.Memories[memory]))
	}
	return held / there
}

// larger counts the jobs that need more memory than there is. They run alone, and
// page.
func larger(s *study.Study, memory int) int {
	n := 0
	for _, w := range s.Workloads {
		for _, j := range w.Jobs {
			if j.Memory > s.Memories[memory] {
				n++
			}
		}
	}
	return n
}

// record is a point with its place in the grid.
type record struct {
	Memory    int64   `json:"memory_bytes"`
	Policy    string  `json:"policy"`
	Excess    float64 `json:"excess"`
	Response  float64 `json:"mean_response_s"`
	Wait      float64 `json:"mean_wait_s"`
	Wang      float64 `json:"mean_bounded_slowdown_eq7"`
	Bounded   float64 `json:"mean_bounded_slowdown"`
	Workloads int     `json:"workloads"`
}

func records(s *study.Study) []record {
	var list []record
	for m, memory := range s.Memories {
		for c, curve := range s.Curves {
			for e, excess := range s.Excesses {
				list = append(list, record{
					memory, curve.Name, excess,
					s.Mean(m, c, e, study.Response), s.Mean(m, c, e, func(p study.Point) float64 { return p.Wait }),
					s.Mean(m, c, e, func(p study.Point) float64 { return p.Wang }), s.Mean(m, c, e, func(p study.Point) float64 { return p.Bounded }),
					len(s.Workloads),
				})
			}
		}
	}
	return list
}

// write makes the folder: points.csv, and for each memory size the plots of the
// paper's figures.
func write(ctx context.Context, s *study.Study, folder string) error {
	t := &report.Table{Columns: []report.Column{
		{Title: "memory", Unit: "bytes"}, {Title: "policy"}, {Title: "C"}, {Title: "mean response", Unit: "s"}, {Title: "mean wait", Unit: "s"},
		{Title: "mean bounded slowdown, eq. 7"}, {Title: "mean bounded slowdown"}, {Title: "workloads"},
	}}
	for _, r := range records(s) {
		t.Add(r.Memory, r.Policy, r.Excess, r.Response, r.Wait, r.Wang, r.Bounded, r.Workloads)
	}
	if err := report.WriteFile(filepath.Join(folder, "points.csv"), t.WriteCSV); err != nil {
		return err
	}
	for m, memory := range s.Memories {
		size := humanize.IBytes(uint64(memory))
		for _, figure := range []struct {
			file, title, y string
			curves         []int
			of             func(study.Point) float64
		}{
			{"figure3", "FCFS and EASY", "mean response, s", []int{study.FCFS, study.EASY}, study.Response},
			{"figure5", "EASY by waiting threshold", "mean response, s", []int{1, 2, 3, 4, 5}, study.Response},
			{"figure6", "EASY by waiting threshold", "mean bounded slowdown, eq. 7", []int{1, 2, 3, 4, 5}, func(p study.Point) float64 { return p.Wang }},
		} {
			if err := ctx.Err(); err != nil {
				return err
			}
			var lines []report.Series
			for _, c := range figure.curves {
				line := report.Series{Name: s.Curves[c].Name}
				for e, excess := range s.Excesses {
					line.Points = append(line.Points, plotter.XY{X: 100 * excess, Y: s.Mean(m, c, e, figure.of)})
				}
				lines = append(lines, line)
			}
			drawn, err := report.Lines(figure.title+", "+size+" of memory", "C: memory beyond what there is, %", figure.y, lines...)
			if err != nil {
				return err
			}
			name := figure.file + "-" + strings.ReplaceAll(strings.ToLower(size), " ", "")
			if err := report.Save(filepath.Join(folder, name), drawn); err != nil {
				return err
			}
		}
	}
	return nil
}
