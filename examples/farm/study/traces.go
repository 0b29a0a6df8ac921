package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gangkit/gangkit/examples/kit/farm"
)

// Trace is one of the three of the paper (§5.2).
type Trace struct {
	Name  string
	Sigma float64 // σ and μ of Eq. (6)
	Jobs  int
	Span  time.Duration // of the submissions
}

// Traces are those of the paper: submissions are highly intensive, moderately
// intensive, and normal.
var Traces = []Trace{
	{"trace 1", .5, 503, 1365 * time.Second},
	{"trace 2", 3.5, 420, 2503 * time.Second},
	{"trace 3", 5, 359, 3634 * time.Second},
}

// Arrivals says what is made of Eq. (6), from which the submissions of a trace do not
// follow: as a density it lacks 1/t, its rate is not that of the trace, and what it
// has for trace 1 ends in seconds.
type Arrivals string

// The readings of Eq. (6). All have exactly the jobs and the span of the trace.
const (
	// Printed takes the equation as it is printed for a density over the span,
	// which is nearly uniform, with a slow start. For trace 1 lognormal are the
	// times between submissions, scaled to the span.
	Printed Arrivals = "printed"
	// Density takes the lognormal density, with 1/t, over the span: half of the
	// jobs come in the first half minute, and of trace 1 all in seconds.
	Density Arrivals = "density"
	// Uniform does without the equation.
	Uniform Arrivals = "uniform"
)

// Instants draws the submissions of the trace, in order.
func (t Trace) Instants(how Arrivals, src rand.Source) ([]time.Duration, error) {
	span := t.Span.Seconds()
	at := make([]float64, t.Jobs)
	// exp(−(ln t − μ)²/2σ²) is t times the density of the lognormal distribution,
	// and so in proportion to that with μ + σ² for μ.
	law := distuv.LogNormal{Mu: t.Sigma, Sigma: t.Sigma, Src: src}
	switch {
	case how == Printed && t.Sigma < 1:
		sum := 0.
		for i := range at {
			sum += law.Rand()
			at[i] = sum
		}
		for i := range at {
			at[i] *= span / sum
		}
	case how == Printed:
		law.Mu += law.Sigma * law.Sigma
		fallthrough
	case how == Density:
		within := law.CDF(span)
		u := rand.New(src)
		for i := range at {
			at[i] = min(span, law.Quantile(u.Float64()*within))
		}
	case how == Uniform:
		u := rand.New(src)
		for i := range at {
			at[i] = u.Float64() * span
		}
	default:
		return nil, fmt.Errorf("arrivals %q, want printed, density or uniform: %w", how, ErrConfig)
	}
	slices.Sort(at)
	instants := make([]time.Duration, t.Jobs)
	for i, s := range at {
		// Whole milliseconds: the last digits of a quantile differ by platform.
		instants[i] = time.Duration(math.Round(s*1000)) * time.Millisecond
	}
	return instants, nil
}

// Draw makes the jobs of the trace: programs and machines are uniform.
func (t Trace) Draw(how Arrivals, ramp time.Duration, seed uint64) ([]farm.Job, error) {
	instants, err := t.Instants(how, rand.NewPCG(seed, 1))
	if err != nil {
		return nil, err
	}
	phases := make([][]farm.Phase, len(Programs))
	for i, p := range Programs {
		phases[i] = p.Phases(ramp)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	jobs := make([]farm.Job, t.Jobs)
	for i := range jobs {
		jobs[i] = farm.Job{Submit: instants[i], Home: r.IntN(Machines), Phases: phases[r.IntN(len(phases))]}
	}
	return jobs, nil
}
