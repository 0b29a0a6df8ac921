package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/local"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/gangd/study"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const experimentIntro = `gangd experiment repeats experiments on two nodes, with processes that really run:

  figure7    four jobs of two processes, 0 to 4 of them I/O-bound: barriers a second of
             either kind under strict and paired gang scheduling, and how often each
             was the partner of another (Wiseman and Feitelson 2003, Fig. 7). A
             compute-bound job computes for 98 % of the time between barriers, an
             I/O-bound one for 2 %; the rest it sleeps, or with -files writes a file
             to the disk.
  makespan   two jobs of 80 times 0.1 s of computation, two of 60 times 0.2 s mostly
             of sleep, run to their ends: first come first served, strict, paired.
             With I/O-bound jobs that compute 25 % of the time the rule of the paper
             may not pair them with those that compute; with 2 % it may.
  memory     jobs that use more memory than their user says. Nodes may be filled beyond
             their limit by as much as estimates are too low; the second time they are
             learnt, and it does not happen.

Everything else that this machine does disturbs the figures: look at the deviations.

  gangd experiment                      all, some ten minutes
  gangd experiment -quick memory        one, smaller
  gangd experiment -out figures figure7

Flags:
`

var experiments = []string{"figure7", "makespan", "memory"}

type findings struct {
	Figure7  []study.Mix      `json:"figure7,omitempty"`
	Makespan []study.Makespan `json:"makespan,omitempty"`
	Memory   []study.Memory   `json:"memory,omitempty"`
}

func experiment(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := study.Default()
	f := newFlags("gangd experiment")
	f.DurationVar(&c.Quantum, "quantum", c.Quantum, "`time` that a slot runs")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "`number` of rounds of four quanta that a mix of figure7 runs")
	f.IntVar(&c.Runs, "runs", c.Runs, "`number` of runs of each mix and policy of figure7")
	f.DurationVar(&c.Loop, "loop", c.Loop, "`time` between two barriers in figure7")
	f.BoolVar(&c.Files, "files", false, "I/O of figure7 is files written to the disk")
	quick := f.Bool("quick", false, "smaller: to see that it works")
	asJSON := f.Bool("json", false, "print JSON")
	out := f.String("out", "", "write tables and a plot into `folder`")
	log := f.String("log", "", "append every decision as a line of JSON to `file`")
	var wanted []string
	for len(args) > 0 && slices.Contains(experiments, args[len(args)-1]) {
		wanted, args = append(wanted, args[len(args)-1]), args[:len(args)-1]
	}
	if err := command.Parse(f, experimentIntro, args); err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = experiments
	}
	if given := command.Given(f); *quick {
		c.Mixes, c.Repeat = []int{0, 2, 4}, .1
		for name, set := range map[string]func(){
			"quantum": func() { c.Quantum = 100 * time.Millisecond }, "rounds": func() { c.Rounds = 3 }, "runs": func() { c.Runs = 1 },
		} {
			if !given[name] {
				set()
			}
		}
	}
	switch {
	case c.Quantum < 10*time.Millisecond || c.Quantum > time.Minute:
		return command.Input(fmt.Errorf("-quantum %v: want 10ms to 1m", c.Quantum))
	case c.Rounds < 1 || c.Rounds > 1e6 || c.Runs < 1 || c.Runs > 1e6:
		return command.Input(fmt.Errorf("-rounds %d, -runs %d: want 1 to 1000000", c.Rounds, c.Runs))
	case c.Loop < time.Millisecond || c.Loop > time.Minute:
		return command.Input(fmt.Errorf("-loop %v: want 1ms to 1m", c.Loop))
	}
	if *out != "" {
		if err := report.Writable(*out); err != nil {
			return command.Input(fmt.Errorf("-out %s: %w", *out, err))
		}
	}
	if *log != "" {
		f, err := os.OpenFile(*log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return command.Input(fmt.Errorf("-log: %w", err))
		}
		defer f.Close()
		c.Log = slog.New(slog.NewJSONHandler(f, nil))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.Work = []string{self, "work"}
	c.Open = func(memory int64) (backend.Backend, error) {
		return local.New(local.Config{Nodes: 2, Memory: memory, OnDeath: local.Kill, Grace: 2 * time.Second})
	}
	progress := command.Progress(stderr, "running", 0)
	c.Progress = func() { progress.Add(1) }
	var found findings
	for _, name := range experiments {
		if !slices.Contains(wanted, name) || err != nil {
			continue
		}
		switch name {
		case "figure7":
			found.Figure7, err = study.Figure7(ctx, c)
		case "makespan":
			found.Makespan, err = study.Makespans(ctx, c)
		case "memory":
			found.Memory, err = study.Memories(ctx, c)
		}
	}
	progress.Done()
	if err != nil {
		return err
	}
	if *out != "" {
		if err := found.write(*out); err != nil {
			return err
		}
	}
	if *asJSON {
		return report.WriteJSON(stdout, found)
	}
	for i, t := range found.tables() {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		if err := t.WriteText(stdout); err != nil {
			return err
		}
	}
	return nil
}

func (f *findings) tables() (list []*report.Table) {
	if f.Figure7 != nil {
		t := &report.Table{Title: "figure7: barriers a second of a job, means over runs and standard deviations; share of quanta as a partner", Columns: []report.Column{
			{Title: "I/O jobs"}, {Title: "policy"}, {Title: "compute-bound", Format: "%.2f"}, {Title: "±", Format: "%.2f"},
			{Title: "I/O-bound", Format: "%.2f"}, {Title: "±", Format: "%.2f"},
			{Title: "job 0", Format: "%.2f"}, {Title: "1", Format: "%.2f"}, {Title: "2", Format: "%.2f"}, {Title: "3", Format: "%.2f"},
		}}
		for _, m := range f.Figure7 {
			row := []any{m.IO, string(m.Policy), nil, nil, nil, nil}
			if m.IO < len(m.Chosen) {
				row[2], row[3] = m.Compute.Mean, m.Compute.Deviation
			}
			if m.IO > 0 {
				row[4], row[5] = m.Bound.Mean, m.Bound.Deviation
			}
			for _, s := range m.Chosen {
				row = append(row, s.Mean)
			}
			t.Add(row...)
		}
		list = append(list, t)
	}
	if f.Makespan != nil {
		t := &report.Table{Title: "makespan: two jobs that compute and two that do I/O", Columns: []report.Column{
			{Title: "I/O jobs compute"}, {Title: "policy"}, {Title: "makespan", Unit: "s", Format: "%.1f"},
			{Title: "C1", Unit: "s", Format: "%.1f"}, {Title: "C2", Unit: "s", Format: "%.1f"}, {Title: "I1", Unit: "s", Format: "%.1f"}, {Title: "I2", Unit: "s", Format: "%.1f"},
			{Title: "quanta"}, {Title: "of two"},
		}}
		for _, m := range f.Makespan {
			t.Add(m.Share, string(m.Policy), m.Makespan, m.Responses[0], m.Responses[1], m.Responses[2], m.Responses[3], m.Quanta, m.Pairs)
		}
		list = append(list, t)
	}
	if f.Memory != nil {
		t := &report.Table{Title: "memory: six jobs that use more than their users say", Columns: []report.Column{
			{Title: "run"}, {Title: "limit"}, {Title: "most on a node"}, {Title: "estimates too low by"}, {Title: "processes beside"}, {Title: "learnt"}, {Title: "waited"},
		}}
		for _, m := range f.Memory {
			t.Add(m.Run, humanize.IBytes(uint64(m.Limit)), humanize.IBytes(uint64(m.Most)), humanize.IBytes(uint64(m.TooLow)), m.Beside, m.Learnt, m.Queued)
		}
		list = append(list, t)
	}
	return list
}

// write writes the tables, and Fig. 7 as a plot.
func (f *findings) write(folder string) error {
	for _, t := range f.tables() {
		name, _, _ := strings.Cut(t.Title, ":")
		if err := report.WriteFile(filepath.Join(folder, name+".csv"), t.WriteCSV); err != nil {
			return err
		}
	}
	if f.Figure7 == nil {
		return nil
	}
	var series []report.Series
	for _, policy := range []scheduler.Policy{scheduler.Strict, scheduler.Paired} {
		compute, bound := report.Series{Name: "compute-bound, " + string(policy)}, report.Series{Name: "I/O-bound, " + string(policy)}
		for _, m := range f.Figure7 {
			if m.Policy != policy {
				continue
			}
			if m.IO < len(m.Chosen) {
				compute.Points = append(compute.Points, plotter.XY{X: float64(m.IO), Y: m.Compute.Mean})
			}
			if m.IO > 0 {
				bound.Points = append(bound.Points, plotter.XY{X: float64(m.IO), Y: m.Bound.Mean})
			}
		}
		series = append(series, compute, bound)
	}
	p, err := report.Lines("Fig. 7 on real processes", "I/O-bound jobs of four", "barriers per second", series...)
	if err != nil {
		return err
	}
	return report.Save(filepath.Join(folder, "figure7"), p)
}
