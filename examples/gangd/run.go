package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/jobs"
	"github.com/gangkit/gangkit/examples/gangd/local"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const runIntro = `gangd run runs jobs until all have ended, and prints what became of them.

Jobs are put into an Ousterhout matrix: rows are slots, columns are nodes. Slots take
turns, one -quantum each, and only the jobs of the slot run. A job is admitted if on each
of its nodes (Batat and Feitelson 2000, eq. 1)

  process memory ≤ memory of the node · C − memory used there

else it waits; nobody who waits is skipped more than 15 times. How much memory a job
needs is told from what it used before, if -history keeps that; else from the job file;
else it is the size of the executable.

With -policy paired two slots run in the same quantum if the processor time that they are
predicted to want is less than all there is (Wiseman and Feitelson 2003). A job that
does I/O leaves time, which one that computes can have. -policy strict runs one slot,
and fcfs runs jobs to their ends in order of arrival.

The job file has for each job

  [[job]]
  name = "cfd"
  command = ["./cfd", "-n", "100"]
  processes = 2            # one on each node
  memory = "200 MB"        # of a process; optional, as are
  user = "ada"             #   count, after, limit, exclusive, program, folder,
                           #   output, environment

Processes learn who they are from GANGD_ID, GANGD_RANK, GANGD_SIZE, GANGD_NODE and
GANGD_ADDRESS, where process 0 may listen for the others.

On the local back end nodes are the cores of this machine. If gangd is killed, a
supervisor continues its jobs, or ends them with -on-death kill: nothing stays stopped.
Ctrl-C ends all jobs, and then gangd.

With -backend slurm jobs are those of a Slurm cluster, with their estimates as requests.
A quantum should then be seconds long. To try it, keep
go run ./examples/gangd/slurm/cluster/loopback up, and set SLURM_CONF as it says.

  gangd run -demo
  gangd run -log - -policy strict -quantum 200ms jobs.toml
  gangd run -history history -log decisions.jsonl jobs.toml   and meanwhile   gangd status

Flags:
`

func newFlags(name string) *flag.FlagSet { return flag.NewFlagSet(name, flag.ContinueOnError) }

type runOptions struct {
	config  scheduler.Config
	backend string
	local   local.Config
	slurm   slurm.Config
	history string
	log     string
	socket  string
	demo    bool
	jobs    []scheduler.Job
}

func parseRun(args []string) (*runOptions, error) {
	o := &runOptions{}
	f := newFlags("gangd run")
	policy := f.String("policy", string(scheduler.Paired), "`name` of the policy: paired, strict or fcfs")
	f.DurationVar(&o.config.Quantum, "quantum", 500*time.Millisecond, "`time` that a slot runs")
	f.Float64Var(&o.config.Factor, "C", 1, "C of eq. (1), a `factor` of each node's memory; +Inf admits all")
	f.IntVar(&o.config.MaxSlots, "slots", 0, "bound of the multiprogramming level (default: none; slurm: n of the partition's OverSubscribe=FORCE:n)")
	f.DurationVar(&o.config.Grace, "grace", 5*time.Second, "`time` that processes have to end when they are told to")
	memory := f.String("default-memory", "64 MiB", "`amount` for a process of which nothing is known")
	f.StringVar(&o.backend, "backend", "local", "`name` of where jobs run: local or slurm")
	f.IntVar(&o.local.Nodes, "nodes", 0, "local: `number` of nodes; more than cores share them (default: one for each core)")
	nodeMemory := f.String("node-memory", "", "local: `amount` of memory of each node (default: equal shares of what is available)")
	death := f.String("on-death", string(local.Continue), "local: `what` becomes of jobs when gangd is killed: continue or kill")
	f.StringVar(&o.slurm.Partition, "partition", "", "slurm: `name` of the partition (default: Slurm's)")
	f.Float64Var(&o.slurm.Margin, "margin", 0, "slurm: `part` of an estimate that is requested on top of it")
	f.Func("sbatch", "slurm: further `option` of sbatch, such as --account=physics; may be repeated", func(option string) error {
		o.slurm.Options = append(o.slurm.Options, option)
		return nil
	})
	f.StringVar(&o.history, "history", "", "learn how much memory jobs use, and keep it in `file`")
	f.StringVar(&o.log, "log", "", "write every decision as a line of JSON into `file`; - is standard error")
	f.StringVar(&o.socket, "socket", defaultSocket(), "answer gangd status at this Unix `socket`")
	f.BoolVar(&o.demo, "demo", false, "run jobs that come with gangd")
	// The file may stand before flags as well as behind.
	file := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		file, args = args[0], args[1:]
	}
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	if n := len(args); file == "" && n > 0 {
		if err := f.Parse(args); err == nil && f.NArg() == 1 {
			file, args = args[n-1], args[:n-1]
		}
	}
	if err := command.Parse(f, runIntro, args); err != nil {
		return nil, err
	}
	o.config.Policy, o.local.OnDeath, o.local.Grace = scheduler.Policy(*policy), local.Death(*death), o.config.Grace
	var err error
	if o.config.Memory, err = jobs.ParseBytes(*memory); err != nil {
		return nil, fmt.Errorf("-default-memory: %w", err)
	}
	if c := o.config; c.Quantum == 0 || c.Factor == 0 || c.Grace == 0 || c.Memory == 0 {
		return nil, errors.New("-quantum, -C, -grace and -default-memory: want more than 0")
	}
	if *nodeMemory != "" {
		if o.local.Memory, err = jobs.ParseBytes(*nodeMemory); err != nil {
			return nil, fmt.Errorf("-node-memory: %w", err)
		}
	}
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	switch {
	case o.demo && file != "":
		return nil, fmt.Errorf("-demo and %s: want one of them", file)
	case o.demo:
		o.jobs, err = demo(name)
	case file == "":
		return nil, errors.New("which jobs? gangd run JOBS.toml, or gangd run -demo; -h explains")
	default:
		o.jobs, err = jobs.Read(file, name)
	}
	return o, err
}

// newBackend is where back ends are chosen: a further one is a case here, with its flags
// in parseRun.
func newBackend(o *runOptions) (backend.Backend, error) {
	switch o.backend {
	case "local":
		return local.New(o.local)
	case "slurm":
		b, err := slurm.New(o.slurm)
		if err == nil && o.config.MaxSlots == 0 {
			o.config.MaxSlots = b.Share()
		}
		return b, err
	default:
		return nil, command.Input(fmt.Errorf("-backend %q: want local or slurm", o.backend))
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parseRun(args)
	if err != nil {
		return command.Input(err)
	}
	keep := func() error { return nil }
	if o.history != "" {
		if o.config.History, err = restore(o.history); err != nil {
			return command.Input(fmt.Errorf("-history %s: %w", o.history, err))
		}
		keep = func() error { return report.WriteFile(o.history, o.config.History.Snapshot) }
	}
	switch o.log {
	case "":
	case "-":
		o.config.Log = slog.New(slog.NewJSONHandler(stderr, nil))
	default:
		f, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return command.Input(fmt.Errorf("-log: %w", err))
		}
		defer f.Close()
		o.config.Log = slog.New(slog.NewJSONHandler(f, nil))
	}
	var state atomic.Pointer[scheduler.Status]
	answer, err := serve(o.socket, state.Load)
	if err != nil {
		return command.Input(fmt.Errorf("-socket: %w", err))
	}
	defer answer.Close()
	b, err := newBackend(o)
	if err != nil {
		return command.Input(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	o.config.Backend = b
	o.config.Watch = func(s *scheduler.Status) { state.Store(s) }
	kept := time.Now()
	o.config.Exited = func(*scheduler.Outcome) {
		if time.Since(kept) > time.Second {
			_ = keep() // so that not much is lost if gangd is killed; errors are told at the end
			kept = time.Now()
		}
	}
	result, err := scheduler.Run(ctx, o.jobs, o.config)
	if result == nil {
		return command.Input(err)
	}
	err = errors.Join(err, keep(), outcomes(result).WriteText(stdout))
	if err != nil {
		return err
	}
	failed := 0
	for _, j := range result.Jobs {
		if j.Err != nil || j.Killed {
			failed++
		}
	}
	fmt.Fprintf(stdout, "\n%d jobs, %d of them without success, in %.1f s; %d quanta, %d of two slots\n",
		len(result.Jobs), failed, result.Time.Seconds(), result.Quanta, result.Pairs)
	if failed > 0 {
		return fmt.Errorf("%d of %d jobs did not end well", failed, len(result.Jobs))
	}
	return nil
}

// restore reads a history, if there is one, and makes sure that one can be written.
func restore(path string) (*estimate.History, error) {
	h := &estimate.History{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, report.Writable(filepath.Dir(path))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return h, h.Restore(f)
}

// outcomes is what became of the jobs.
func outcomes(r *scheduler.Result) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "job"}, {Title: "nodes"}, {Title: "waited", Unit: "s", Format: "%.2f"}, {Title: "response", Unit: "s", Format: "%.2f"},
		{Title: "CPU", Unit: "s", Format: "%.2f"}, {Title: "estimate"}, {Title: "from"}, {Title: "peak"}, {Title: "quanta"}, {Title: "shared"}, {Title: "skips"}, {Title: "status"},
	}}
	for _, o := range r.Jobs {
		status := "ok"
		switch {
		case o.Killed:
			status = "killed"
		case o.Err != nil:
			status = o.Err.Error()
		case o.Ended == 0 && o.Started > 0:
			status = "does not end"
		case o.Ended == 0:
			status = "not run"
		}
		var waited, response any
		if o.Started > 0 {
			waited = (o.Started - o.Submitted).Seconds()
		}
		if o.Ended > 0 {
			response = (o.Ended - o.Submitted).Seconds()
		}
		t.Add(o.Job.Name, fmt.Sprint(o.Nodes), waited, response, o.CPU.Seconds(), humanize.IBytes(uint64(o.Estimate)), o.Level,
			humanize.IBytes(uint64(o.Peak)), o.Quanta, o.Beside, o.Skips, status)
	}
	return t
}

// demo is a mix of jobs: two that compute, two that do I/O, one that touches memory, and
// one that waits a while before it comes.
func demo(user string) ([]scheduler.Job, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	job := func(name string, processes int, args ...string) scheduler.Job {
		return scheduler.Job{Name: name, User: user, Program: "gangd " + name, Processes: processes, Memory: 32 << 20, Command: append([]string{self, "work"}, args...)}
	}
	list := []scheduler.Job{
		job("compute-1", 2, "loop", "-compute", "20ms", "-n", "60"),
		job("compute-2", 2, "loop", "-compute", "20ms", "-n", "60"),
		job("io-1", 2, "loop", "-compute", "2ms", "-io", "18ms", "-n", "60"),
		job("io-2", 2, "loop", "-compute", "2ms", "-io", "18ms", "-n", "60"),
		job("memory", 1, "stream", "-memory", "40000000", "-fill", "-n", "20000000"),
		job("late", 1, "loop", "-compute", "10ms", "-n", "50"),
	}
	list[5].After = 2 * time.Second
	return list, nil
}
