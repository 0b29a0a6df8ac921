// Command claims judges what five papers say happens, all at once. Run it with -h.
package main

import (
	"context"
	_ "embed" // the explanations
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	farm "github.com/gangkit/gangkit/examples/farm/study"
	fold "github.com/gangkit/gangkit/examples/fold/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/swf"
	memestimate "github.com/gangkit/gangkit/examples/memestimate/study"
	memgang "github.com/gangkit/gangkit/examples/memgang/study"
	pairedgang "github.com/gangkit/gangkit/examples/pairedgang/study"
	relaxed "github.com/gangkit/gangkit/examples/relaxed/study"
)

const intro = `claims runs the experiments of five papers and prints each of their claims, what
is expected, what was measured, and the verdict:

  batat     Batat & Feitelson, "Gang scheduling with memory considerations" (B-...)
  wiseman   Wiseman & Feitelson, "Paired gang scheduling" (F-...)
  wang      Wang et al., "Memory consideration for parallel job scheduling" (W-...)
  utrera    Utrera et al., "Implementing malleability on MPI jobs" (U-...)
  chen      Chen, Xiao & Zhang, "Dynamic load sharing with unknown memory demands" (C-...)

The programs memestimate, memgang, pairedgang, relaxed, fold and farm run them one by
one, and show what is behind the figures. The exit status is 0 if every claim is
reproduced, or explained in explained.md beside this program, and 1 if not.

  claims                          all of them, as the papers have them (five minutes)
  claims -quick                   with fewer jobs, seeds and points
  claims -paper wang,utrera
  claims -cm5 LANL-CM5-1994-4.1-cln.swf.gz
                                  B-1 on the log of the paper

Flags:
`

//go:embed explained.md
var explained string

func main() { command.Main("claims", run) }

// config is what the experiments are made of.
type config struct {
	seed  uint64
	quick bool
	cm5   string
}

// paper is one of the five.
type paper struct {
	name, title string
	claims      func(ctx context.Context, c config, done func()) ([]claim.Claim, error)
}

var papers = []paper{
	{"batat", "Batat & Feitelson, Gang scheduling with memory considerations", batat},
	{"wiseman", "Wiseman & Feitelson, Paired gang scheduling", wiseman},
	{"wang", "Wang et al., Memory consideration for parallel job scheduling on SMP clusters", wang},
	{"utrera", "Utrera et al., Implementing malleability on MPI jobs", utrera},
	{"chen", "Chen, Xiao & Zhang, Dynamic load sharing with unknown memory demands in clusters", chen},
}

// judged is a claim with what it was judged with.
type judged struct {
	claim.Claim
	Paper       string `json:"paper"`
	Seed        uint64 `json:"seed"`
	Explanation string `json:"explanation,omitempty"`
}

// errUnexplained makes the exit status 1.
var errUnexplained = errors.New("claims neither reproduced nor explained")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("claims", flag.ContinueOnError)
	f.Uint64Var(&c.seed, "seed", 1, "seed of all experiments")
	f.BoolVar(&c.quick, "quick", false, "fewer jobs, seeds and points: verdicts may differ")
	f.StringVar(&c.cm5, "cm5", "", "judge B-1 on this `log` of the LANL CM-5, in Standard Workload Format (default: generated jobs, which judge nothing)")
	names := f.String("paper", "all", "comma-separated `list` of batat, wiseman, wang, utrera and chen")
	asJSON := f.Bool("json", false, "print one JSON array instead of text, an object a claim")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	chosen := papers
	if *names != "all" {
		chosen = nil
		for name := range strings.SplitSeq(*names, ",") {
			k := slices.IndexFunc(papers, func(p paper) bool { return p.name == strings.TrimSpace(name) })
			if k < 0 {
				return command.Input(fmt.Errorf("-paper %q: want batat, wiseman, wang, utrera or chen", name))
			}
			chosen = append(chosen, papers[k])
		}
	}
	if c.cm5 != "" {
		if _, err := os.Stat(c.cm5); err != nil {
			return command.Input(fmt.Errorf("-cm5: %w", err))
		}
	}
	reasons, err := explanations(explained)
	if err != nil {
		return err
	}

	var all []judged
	for _, p := range chosen {
		progress := command.Progress(stderr, p.name, 0)
		claims, err := p.claims(ctx, c, func() { progress.Add(1) })
		progress.Done()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, x := range claims {
			j := judged{Claim: x, Paper: p.title, Seed: c.seed}
			if x.Verdict != claim.Reproduced {
				j.Explanation = reasons[x.ID]
			}
			all = append(all, j)
		}
	}
	if *asJSON {
		err = report.WriteJSON(stdout, all)
	} else {
		err = write(stdout, all)
	}
	if err != nil {
		return err
	}
	var bare []string
	for _, j := range all {
		if j.Verdict != claim.Reproduced && j.Explanation == "" {
			bare = append(bare, j.ID)
		}
	}
	if len(bare) > 0 {
		return fmt.Errorf("%w: %s", errUnexplained, strings.Join(bare, ", "))
	}
	return nil
}

// explanations reads what follows each heading "## ID", or "## ID, ID".
func explanations(text string) (map[string]string, error) {
	reasons := map[string]string{}
	for k, part := range strings.Split("\n"+text, "\n## ") {
		if k == 0 {
			continue
		}
		ids, reason, _ := strings.Cut(part, "\n")
		reason = strings.TrimSpace(reason)
		for id := range strings.SplitSeq(ids, ",") {
			if id = strings.TrimSpace(id); id == "" || reason == "" || reasons[id] != "" {
				return nil, fmt.Errorf("explained.md: %q: no claim, no explanation, or the second one", ids)
			}
			reasons[id] = reason
		}
	}
	return reasons, nil
}

// write writes the claims, and then the count of each verdict.
func write(out io.Writer, all []judged) error {
	var b strings.Builder
	count := map[claim.Verdict]int{}
	for i, j := range all {
		if i == 0 || j.Paper != all[i-1].Paper {
			fmt.Fprintf(&b, "%s; seed %d\n", j.Paper, j.Seed)
		}
		x := j.Claim
		if j.Explanation != "" {
			x.Why = strings.TrimSpace(x.Why + "\n" + j.Explanation)
		}
		if err := claim.WriteText(&b, []claim.Claim{x}); err != nil {
			return err
		}
		if i == len(all)-1 || j.Paper != all[i+1].Paper {
			b.WriteString("\n")
		}
		count[j.Verdict]++
	}
	var verdicts []string
	for _, v := range slices.Sorted(maps.Keys(count)) {
		verdicts = append(verdicts, fmt.Sprintf("%d %s", count[v], v))
	}
	fmt.Fprintf(&b, "%d claims: %s.\n", len(all), strings.Join(verdicts, ", "))
	_, err := io.WriteString(out, b.String())
	return err
}

func batat(ctx context.Context, c config, done func()) ([]claim.Claim, error) {
	l, err := memory(c)
	if err != nil {
		return nil, command.Input(err)
	}
	claims, err := memestimate.Claims(ctx, l)
	if err != nil {
		return nil, err
	}
	k := memgang.Default()
	if c.quick {
		k = k.Quick()
	}
	k.Seed = c.seed
	s, err := memgang.New(k)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, done); err != nil {
		return nil, err
	}
	more, err := s.Claims()
	return append(claims, more...), err
}

// memory returns the jobs of B-1.
func memory(c config) (*memestimate.Log, error) {
	if c.cm5 == "" {
		return memestimate.Generate(20_000, c.seed)
	}
	r, err := swf.Open(c.cm5)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return memestimate.Read(c.cm5, r)
}

func wiseman(ctx context.Context, c config, done func()) ([]claim.Claim, error) {
	k := pairedgang.Default()
	if c.quick {
		k = k.Quick()
	}
	k.Seed = c.seed
	s, err := pairedgang.New(k)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, done); err != nil {
		return nil, err
	}
	return s.Claims()
}

func wang(ctx context.Context, c config, done func()) ([]claim.Claim, error) {
	seeds, jobs, step := 5, 3000, .02
	if c.quick {
		seeds, jobs, step = 2, 500, .05
	}
	s := &relaxed.Study{Memories: []int64{1 << 30, 3 << 29, 2 << 30}, Curves: relaxed.Curves(), Excesses: relaxed.Steps(step)}
	for k := range seeds {
		w, err := relaxed.Generate(jobs, relaxed.Processors, .5, c.seed+uint64(k))
		if err != nil {
			return nil, err
		}
		s.Workloads = append(s.Workloads, w)
	}
	if err := s.Run(ctx, done); err != nil {
		return nil, err
	}
	return s.Claims(), nil
}

func utrera(ctx context.Context, c config, done func()) ([]claim.Claim, error) {
	speedup, err := molding.Downey(64, .5)
	if err != nil {
		return nil, err
	}
	k := fold.Config{Seed: c.seed, Seeds: 40, Speedup: speedup}
	if c.quick {
		k.Seeds = 5
	}
	s, err := fold.New(k)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, done); err != nil {
		return nil, err
	}
	return s.Claims(), nil
}

func chen(ctx context.Context, c config, done func()) ([]claim.Claim, error) {
	k := farm.Config{Seed: c.seed, Seeds: 8, Base: farm.Reading{Arrivals: farm.Printed}}
	if c.quick {
		k.Seeds = 1
	}
	s, err := farm.New(k)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, done); err != nil {
		return nil, err
	}
	return s.Claims(), nil
}
