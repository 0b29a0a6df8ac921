// Command memestimate asks how well the memory of a job can be told from earlier
// runs of the same job, as Batat and Feitelson (2000) did. Run it with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/memestimate/study"
)

const intro = `memestimate repeats Figure 2 of A. Batat and D. G. Feitelson, "Gang scheduling with
memory considerations" (2000): can a scheduler tell how much memory a job will use?

Users run the same programs again and again. So keep a history of what runs used,
by executable, number of nodes and user, and look a new job up in it: first the runs
of the same user on as many nodes, else those of all users, else those on any number
of nodes. Then turn the values found into one number, by a bound:

  paper      the smaller of the maximum and the mean plus 3 standard deviations
  adaptive   the maximum of the last 5 plus 384 KiB; of all, where that was too low
             too often
  max        the maximum; max3 that of the last 3, and so on up to max5
  last       the last value
  mean       the mean; mean+2sd plus two standard deviations, and so on

Too high an estimate keeps memory idle and jobs waiting; too low a one makes a node
page. So a bound is judged by three shares at once, of the jobs that had an estimate:
those less than 1 MB and less than 5 MB off, and those estimated too low.

Every job is estimated when it is submitted, from runs that had ended by then. The
history forgets: it keeps the current and the previous calendar month. Logs name the
memory per processor, which is taken for a node, in the mean over the job. Without
-trace the jobs are generated: users who repeat themselves, an invention.

  memestimate                                 generated jobs, every bound
  memestimate -trace LANL-CM5-1994-4.1-cln.swf.gz -from 1996-01-01 -to 1996-09-30
  memestimate -trace june.swf -snapshot history && memestimate -trace july.swf -snapshot history
  memestimate -bound paper,adaptive -out figures

Flags:
`

type options struct {
	trace    string
	from, to string // dates, or ""
	bounds   []study.Bound
	jobs     int
	seed     uint64
	snapshot string
	out      string
	json     bool
}

// allBounds are as many as a plot has colours.
const allBounds = "paper,adaptive,max,max5,last,mean,mean+3sd"

func main() { command.Main("memestimate", memestimate) }

func parse(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("memestimate", flag.ContinueOnError)
	f.StringVar(&o.trace, "trace", "", "log to study, `file` in Standard Workload Format, plain or gzip (default: generated jobs)")
	f.StringVar(&o.from, "from", "", "judge only jobs submitted from this `date` on, as 1996-01-31, in the log's time zone; the history learns from all")
	f.StringVar(&o.to, "to", "", "judge only jobs submitted up to the end of this `date`")
	bounds := f.String("bound", "all", "comma-separated `list` of bounds; all is "+allBounds)
	f.IntVar(&o.jobs, "jobs", 20_000, "number of generated jobs")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the generated jobs")
	f.StringVar(&o.snapshot, "snapshot", "", "keep the history in `file`: go on from what is there, if anything, and write what was learned")
	f.StringVar(&o.out, "out", "", "write tables and the plots of Figure 2 into `folder`")
	f.BoolVar(&o.json, "json", false, "print one JSON array instead of the tables, an object a bound")
	if err := command.Parse(f, intro, args); err != nil {
		return nil, err
	}
	given := command.Given(f)
	if o.jobs <= 0 || o.jobs > 1e7 {
		return nil, fmt.Errorf("-jobs %d: want a number from 1 to 10000000", o.jobs)
	}
	if given["jobs"] && o.trace != "" {
		return nil, fmt.Errorf("-jobs %d: is for generated jobs, not for -trace", o.jobs)
	}
	if *bounds == "all" {
		*bounds = allBounds
	}
	for _, name := range strings.Split(*bounds, ",") {
		name = strings.TrimSpace(name)
		bound, err := estimate.ParseBound(name)
		if err != nil {
			return nil, fmt.Errorf("-bound: %w", err)
		}
		o.bounds = append(o.bounds, study.Bound{Name: name, Of: bound})
	}
	return o, nil
}

// load reads the log, or generates jobs.
func load(o *options) (*study.Log, error) {
	if o.trace == "" {
		return study.Generate(o.jobs, o.seed)
	}
	r, err := swf.Open(o.trace)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return study.Read(o.trace, r)
}

// restore reads the snapshot, if there is one, and makes sure that one can be
// written.
func restore(o *options, s *study.State) error {
	if o.snapshot == "" {
		return nil
	}
	f, err := os.Open(o.snapshot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = report.Writable(filepath.Dir(o.snapshot))
	case err == nil:
		err = s.Load(f)
		f.Close()
	}
	if err != nil {
		return fmt.Errorf("-snapshot %s: %w", o.snapshot, err)
	}
	return nil
}

// window returns the first instant to be judged, and the first that is not any more.
func window(o *options, l *study.Log) (from, to time.Time, err error) {
	from, to = study.Always(l)
	if o.from != "" {
		if from, err = time.ParseInLocation(time.DateOnly, o.from, l.Start.Location()); err != nil {
			return from, to, fmt.Errorf("-from %q: want a date such as 1996-01-31", o.from)
		}
	}
	if o.to != "" {
		if to, err = time.ParseInLocation(time.DateOnly, o.to, l.Start.Location()); err != nil {
			return from, to, fmt.Errorf("-to %q: want a date such as 1996-01-31", o.to)
		}
		to = to.AddDate(0, 0, 1)
	}
	return from, to, nil
}

func memestimate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return command.Input(err)
	}
	if o.out != "" {
		if err := report.Writable(o.out); err != nil {
			return command.Input(fmt.Errorf("-out %s: %w", o.out, err))
		}
	}
	state, err := study.NewState()
	if err != nil {
		return err
	}
	l, err := load(o)
	if err != nil {
		return command.Input(err)
	}
	if err := restore(o, state); err != nil {
		return command.Input(err)
	}
	from, to, err := window(o, l)
	if err != nil {
		return command.Input(err)
	}
	progress := command.Progress(stderr, "estimating", int64(len(l.Jobs)))
	list, err := study.Judge(ctx, l, state, o.bounds, from, to, func() { progress.Add(1) })
	progress.Done()
	if errors.Is(err, study.ErrEmpty) {
		return command.Input(err)
	} else if err != nil {
		return err
	}
	if o.snapshot != "" {
		if err := report.WriteFile(o.snapshot, state.Save); err != nil {
			return err
		}
	}
	if o.out != "" {
		if err := write(ctx, o.out, list); err != nil {
			return err
		}
	}
	if o.json {
		return report.WriteJSON(stdout, records(list))
	}
	claims, err := study.Claims(ctx, l)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s jobs of known memory (%s others left out), %s judged, %s of them estimated\n\n", l.Name, humanize.Comma(int64(len(l.Jobs))),
		humanize.Comma(int64(l.Dropped)), humanize.Comma(int64(list[0].Jobs)), humanize.Comma(int64(list[0].Predicted)))
	for _, t := range []*report.Table{table(list), megabytes.table(list, -5, 10), percent.table(list, -2, 6)} {
		if err := t.WriteText(stdout); err != nil {
			return err
		}
		fmt.Fprintln(stdout)
	}
	fmt.Fprintln(stdout, "Claims of the paper")
	return claim.WriteText(stdout, claims)
}
