package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/workload"
	"github.com/gangkit/gangkit/folding"
)

// Errors of this package; they come wrapped with the offending value.
var (
	// ErrPolicy is a name that is no policy's.
	ErrPolicy = errors.New("no such policy")
	// ErrConfig is a machine that cannot be.
	ErrConfig = errors.New("compare: invalid configuration")
)

// Form is what a policy makes of memory.
type Form string

// The forms, as they are written behind a policy.
const (
	Plain   Form = ""
	Memory  Form = "+memory"
	Relaxed Form = "+relaxed"
	Paging  Form = "+paging"
)

// A Policy is one of the policies in one of its forms.
type Policy struct {
	Name string // as [Parse] reads it

	base  string
	form  Form
	depth backfill.Depth // of space sharing
}

// moldable are the policies of package folding.
var moldable = []string{"fjt", "folding", "psa", "asp", "equipartition"}

// Names are the policies of a whole comparison.
func Names() []string {
	var names []string
	for _, base := range []string{"fcfs", "easy", "depth=8", "conservative"} {
		for _, form := range []Form{Plain, Memory, Relaxed, Paging} {
			names = append(names, base+string(form))
		}
	}
	names = append(names, "gang", "gang+memory", "paired", "paired+memory")
	return append(names, moldable...)
}

// Parse returns the policy of a name, or an [ErrPolicy].
func Parse(name string) (Policy, error) {
	p := Policy{Name: name, base: name}
	if i := strings.IndexByte(name, '+'); i >= 0 {
		p.base, p.form = name[:i], Form(name[i:])
	}
	forms := []Form{Plain, Memory, Relaxed, Paging}
	k, isDepth := strings.CutPrefix(p.base, "depth=")
	switch n, err := strconv.ParseInt(k, 10, 32); {
	case isDepth && err == nil && n >= 0:
		p.depth = backfill.Depth(n)
	case p.base == "fcfs":
		p.depth = backfill.FCFS
	case p.base == "easy":
		p.depth = backfill.EASY
	case p.base == "conservative":
		p.depth = backfill.Conservative
	case p.shared():
		forms = forms[:2]
	case p.Molds():
		forms = forms[:1]
	default:
		return p, fmt.Errorf("%q, want fcfs, easy, conservative, depth=k with k from 0 on, gang, paired, %s: %w", name, strings.Join(moldable, ", "), ErrPolicy)
	}
	if !slices.Contains(forms, p.form) {
		what := "alone"
		for _, f := range forms[1:] {
			what += " or with " + string(f)
		}
		return p, fmt.Errorf("%q: %s comes %s: %w", name, p.base, what, ErrPolicy)
	}
	return p, nil
}

// shared tells whether processors are shared in time.
func (p Policy) shared() bool { return p.base == "gang" || p.base == "paired" }

// Molds tells whether jobs start on fewer processors than they ask for.
func (p Policy) Molds() bool { return slices.Contains(moldable, p.base) }

// KnowsMemory tells whether jobs wait for memory, or page without it.
func (p Policy) KnowsMemory() bool { return p.form != Plain || p.shared() }

// Space tells whether a job has its processors for itself, and for good.
func (p Policy) Space() bool { return !p.shared() && !p.Molds() }

// Long is the estimate above which a job counts as long.
const Long = time.Hour

func class(estimate time.Duration) folding.Class {
	if estimate > Long {
		return folding.Long
	}
	return folding.Short
}

// Config is the machine, but for its processors, and what the policies need to know.
type Config struct {
	Memory int64     // of the machine, in bytes; 0 if it is not known
	Order  des.Order // of the events of an instant, under space sharing

	Excess    float64       // C of +relaxed: the share by which the limit may be exceeded
	Threshold float64       // T of +relaxed: after how many times its estimate
	Factor    float64       // C of gang scheduling with +memory: the limit as a share of the memory; 0 means 1
	Quantum   time.Duration // of gang scheduling; 0 means a minute

	// Follow is the index of a job whose decisions are told, if Decisions is set.
	// Under space sharing that asks the policy at every instant of its wait; if Brief,
	// only at the first hundred, and then each time that the wait has grown by a tenth.
	Follow    int
	Decisions bool
	Brief     bool

	// Progress, if set, is told of jobs that ended, some at a time.
	Progress func(ended int)
}

// A Decision is what was decided on the job that is followed, and why.
type Decision struct {
	At        time.Duration
	What, Why string // Why may be empty
}

// An Outcome is what a policy made of a workload.
type Outcome struct {
	Policy  Policy
	Jobs    []metrics.Job // by index of the workload
	Summary metrics.Summary
	Took    time.Duration // of the simulation

	// Paged is for how long jobs waited for their memory, together, and Pages tells
	// whether the policy makes them.
	Paged time.Duration
	Pages bool

	Alone      int // jobs that had to run alone because of their memory
	Unfinished int // jobs that had not ended when the run was given up; their times are lower bounds
	NotStarted int // of them, those that had not started

	MaxSlots int // of gang scheduling

	// Matrix is of gang scheduling: the matrix as it had MaxSlots slots, or [Drawn] of
	// them. By slot and processor it has the number of a job, or -1.
	Matrix   [][]int
	MatrixAt time.Duration

	Decisions []Decision
}

// Run runs a workload under a policy, until all jobs have ended, or ctx is done.
// It is deterministic.
func (p Policy) Run(ctx context.Context, w *workload.Workload, c Config) (*Outcome, error) {
	if c.Memory < 0 || c.Quantum < 0 || !(c.Factor >= 0) {
		return nil, fmt.Errorf("memory %d, quantum %v, factor %v: %w", c.Memory, c.Quantum, c.Factor, ErrConfig)
	}
	o := &Outcome{Policy: p, Jobs: make([]metrics.Job, len(w.Jobs))}
	for i, j := range w.Jobs {
		o.Jobs[i] = metrics.Job{Submit: j.Submit, Run: j.Run, Processors: j.Processors, Memory: j.Memory}
	}
	r := run{policy: p, workload: w, config: c, outcome: o}
	began := time.Now()
	simulate := r.space
	switch {
	case p.shared():
		simulate = r.gang
	case p.Molds():
		simulate = r.fold
	}
	if err := simulate(ctx); err != nil {
		return nil, err
	}
	o.Took = time.Since(began)
	var err error
	o.Summary, err = metrics.Summarize(o.Jobs, metrics.Machine{Processors: w.Processors, Memory: c.Memory})
	return o, err
}

// run is a run under way.
type run struct {
	policy   Policy
	workload *workload.Workload
	config   Config
	outcome  *Outcome
	ended    int // as Progress knows
}

func (r *run) progress(ended int) {
	if r.config.Progress != nil && ended > r.ended {
		r.config.Progress(ended - r.ended)
	}
	r.ended = ended
}

// tell notes a decision.
func (r *run) tell(at time.Duration, what, why string, args ...any) {
	r.outcome.Decisions = append(r.outcome.Decisions, Decision{at, what, fmt.Sprintf(why, args...)})
}
