package paging_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

const forever time.Duration = math.MaxInt64

var badFactors = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 0.5, math.Nextafter(1, 0), -math.MaxFloat64,
	math.SmallestNonzeroFloat64,
}

func TestZeroProgressIsTheEpoch(t *testing.T) {
	var p paging.Progress
	assert.Zero(t, p.Now())
	assert.Zero(t, p.Work())
	assert.Equal(t, 1.0, p.Factor())
	assert.Zero(t, p.When(0))
	assert.Zero(t, p.Remaining(0))
	assert.Equal(t, 7*time.Second, p.When(7*time.Second))
	assert.Equal(t, forever, p.When(forever))
}

// Without a penalty, work is the instant, at all scales.
func TestWithoutPenaltyWorkIsTheInstant(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var p paging.Progress
	for now := time.Duration(0); now < forever/2; now += time.Duration(1 + r.Int64()>>r.IntN(63)) {
		require.NoError(t, p.SetFactor(now, 1))
		require.Equal(t, now, p.Work())
		target := p.Target(time.Duration(r.Int64() >> r.IntN(63)))
		require.Equal(t, target, p.When(target))
		require.Equal(t, target-now, p.Remaining(target))
	}
	require.NoError(t, p.Advance(forever))
	require.Equal(t, forever, p.Work())
	require.Zero(t, p.Remaining(forever))
}

func TestProgressRefusesBadInput(t *testing.T) {
	var p paging.Progress
	require.NoError(t, p.SetFactor(10*time.Second, 1.5))
	require.NoError(t, p.Advance(20*time.Second))
	before := p
	for _, bad := range badFactors {
		require.ErrorIs(t, p.SetFactor(30*time.Second, bad), paging.ErrFactor)
		require.Equal(t, before, p)
	}
	for _, bad := range []time.Duration{20*time.Second - 1, 0, -1, math.MinInt64} {
		require.ErrorIs(t, p.Advance(bad), paging.ErrTime)
		require.ErrorIs(t, p.SetFactor(bad, 3), paging.ErrTime)
		require.ErrorIs(t, p.SetFactor(bad, 1.5), paging.ErrTime)
		require.Equal(t, before, p)
	}
	assert.EqualError(t, p.Advance(0), "advance from 20s to 0s: paging: time runs backwards")
	assert.EqualError(t, p.SetFactor(0, 0.5), "set factor 0.5 at 0s: paging: factor must be finite and at least 1")

	var zero paging.Progress
	require.ErrorIs(t, zero.Advance(-1), paging.ErrTime)
	require.NoError(t, zero.Advance(0))
}

func TestProgressBoundaries(t *testing.T) {
	start := func(now time.Duration, f float64) *paging.Progress {
		var p paging.Progress
		require.NoError(t, p.SetFactor(now, f))
		return &p
	}
	for _, tt := range []struct {
		name string
		p    *paging.Progress
		work time.Duration
		when time.Duration
	}{
		{"reached now", start(100, 2), 100, 100},
		{"reached long ago", start(100, 2), 3, 100},
		{"negative work", start(100, 2), -5, 100},
		{"one nanosecond at half speed", start(100, 2), 101, 102},
		{"one nanosecond at two thirds is two, rounded up", start(0, 1.5), 1, 2},
		{"two nanoseconds at two thirds are three exactly", start(0, 1.5), 2, 3},
		{"a factor of 1 + 2^-52 costs a nanosecond of a day", start(0, math.Nextafter(1, 2)), 24 * time.Hour, 24*time.Hour + 1},
		{"exactly the largest instant", start(forever-10, 2), forever - 5, forever},
		{"one nanosecond beyond", start(forever-10, 2), forever - 4, forever},
		{"far beyond", start(forever-10, 2), forever, forever},
		{"a factor of 2^62, where 2^-32 ns early is a second", start(0, 1<<62), 1, 1<<62 - 1<<30},
		{"a factor of 2^62 does not end three times", start(0, 1<<62), 3, forever},
		{"a factor of 2^64", start(0, 1<<64), 1, forever},
		{"the largest factor", start(5, math.MaxFloat64), 6, forever},
		{"the largest factor, done already", start(5, math.MaxFloat64), 5, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.when, tt.p.When(tt.work))
		})
	}
}

func TestTargetSaturates(t *testing.T) {
	var p paging.Progress
	require.NoError(t, p.Advance(time.Hour))
	for _, tt := range []struct {
		name      string
		run, want time.Duration
	}{
		{"a minute", time.Minute, time.Hour + time.Minute},
		{"nothing to do", 0, time.Hour},
		{"less than nothing", -time.Minute, time.Hour},
		{"least", math.MinInt64, time.Hour},
		{"just for ever", forever - time.Hour, forever},
		{"for ever", forever, forever},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, p.Target(tt.run)) })
	}
	assert.Equal(t, forever, p.Remaining(p.Target(forever)))
}

// Several jobs start and end at one instant: only the last factor counts, and
// the work is the same to the last bit.
func TestChangesAtOneInstantAreOneChange(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	var one, many paging.Progress
	now := time.Duration(0)
	for range 10_000 {
		now += time.Duration(r.Int64N(1e12))
		f := 1 + r.ExpFloat64()
		work := func() time.Duration { require.NoError(t, many.Advance(now)); return many.Work() }()
		for range r.IntN(5) {
			require.NoError(t, many.SetFactor(now, 1+r.ExpFloat64()))
			require.Equal(t, work, many.Work())
		}
		require.NoError(t, many.SetFactor(now, f))
		require.NoError(t, one.SetFactor(now, f))
		require.Equal(t, one, many)
	}
}

// Instants at which nothing changes leave no trace in any later answer.
func TestAdvanceLeavesNoTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	var seldom, often paging.Progress
	now := time.Duration(0)
	for range 2000 {
		f := 1 + r.ExpFloat64()
		require.NoError(t, seldom.SetFactor(now, f))
		require.NoError(t, often.SetFactor(now, f))
		target := seldom.Target(time.Duration(r.Int64N(1e10)))
		when := often.When(target)
		for range r.IntN(10) {
			now += time.Duration(r.Int64N(1e9))
			require.NoError(t, often.Advance(now))
			require.Equal(t, max(now, when), often.When(target))
			require.NoError(t, often.SetFactor(now, f))
		}
		require.NoError(t, seldom.Advance(now))
		require.Equal(t, seldom, often)
	}
}

// reciprocal is 1/f exactly.
func reciprocal(f float64) *big.Rat {
	q := new(big.Rat)
	q.SetFloat64(f)
	return q.Inv(q)
}

func floor(q *big.Rat) *big.Int { return new(big.Int).Div(q.Num(), q.Denom()) }

// A million changes: the work is that of rational arithmetic, to the nanosecond.
// As the factors are few, the exact sum is one of few terms: time at each factor.
func TestMillionChangesDoNotDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	var random, tayZou []float64
	for range 16 {
		random = append(random, 1+r.ExpFloat64())
		tayZou = append(tayZou, paging.TayZou(r.Int64N(3000), 1000))
	}
	for _, tt := range []struct {
		name    string
		factors []float64
	}{
		{"random factors", random},
		{"factors of over-committed memory", tayZou},
		// Here exact work is often a whole number of nanoseconds, and less than
		// that by some 2⁻⁶⁴ ns would show.
		{"thirds, fifths, sevenths", []float64{1, 1.5, 3, 2.5, 1.25, 5, 1.75, 7}},
	} {
		for _, step := range []int64{10, 1_000_000, 9_000_000_000_000} {
			if testing.Short() && step != 1_000_000 {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, uint64(step)))
				var p paging.Progress
				now, elapsed, at := time.Duration(0), make([]int64, len(tt.factors)), 0
				require.NoError(t, p.SetFactor(0, tt.factors[0]))
				for change := 1; change <= 1_000_000; change++ {
					d := r.Int64N(step)
					now += time.Duration(d)
					elapsed[at] += d
					at = r.IntN(len(tt.factors))
					if err := p.SetFactor(now, tt.factors[at]); err != nil {
						require.NoError(t, err)
					}
					if change%50_000 > 5 {
						continue
					}
					work := new(big.Rat)
					for i, f := range tt.factors {
						work.Add(work, new(big.Rat).Mul(new(big.Rat).SetInt64(elapsed[i]), reciprocal(f)))
					}
					require.Equal(t, floor(work).Int64(), int64(p.Work()), "after %d changes", change)
				}
			})
		}
	}
}

// The same with a million different factors, against sums in 300 bits.
func TestMillionFactorsDoNotDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 0))
	var p paging.Progress
	number := func() *big.Float { return new(big.Float).SetPrec(300) }
	work, term, factor := number(), number(), number().SetInt64(1)
	now := time.Duration(0)
	changes := 1_000_000
	if testing.Short() {
		changes /= 5
	}
	for range changes {
		d := r.Int64N(1e12)
		now += time.Duration(d)
		work.Add(work, term.Quo(term.SetInt64(d), factor))
		f := paging.TayZou(1000+r.Int64N(1000), 1000+r.Int64N(1000))
		factor.SetFloat64(f)
		if err := p.SetFactor(now, f); err != nil {
			require.NoError(t, err)
		}
	}
	want, _ := work.Int64() // towards zero
	require.Equal(t, want, int64(p.Work()))
}

// Whatever happened before: after advancing to When(work) that work is done, and
// one nanosecond earlier it was not. The twin computes in rational numbers.
func FuzzWhenIsTheFirstInstant(f *testing.F) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 300
	}
	for seed := range seeds {
		f.Add(seed, uint8(seed%12))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		r := rand.New(rand.NewPCG(seed, 11))
		duration := func() time.Duration { return time.Duration(r.Int64() >> (1 + r.IntN(62))) }
		factor := func() float64 {
			switch r.IntN(8) {
			case 0:
				return 1
			case 1:
				return math.Nextafter(1+float64(r.IntN(3)), 9)
			case 2:
				return 1 + float64(r.IntN(64))/8
			case 3:
				return math.Ldexp(1+r.Float64(), r.IntN(70))
			case 4:
				return math.Ldexp(1+r.Float64(), r.IntN(1024))
			case 5:
				return paging.TayZou(r.Int64N(5000), 1000)
			default:
				return 1 + r.ExpFloat64()
			}
		}
		var p paging.Progress
		work := new(big.Rat) // exact
		for range changes % 32 {
			// The twin.
			d := min(duration()/4, forever-p.Now())
			work.Add(work, new(big.Rat).Mul(new(big.Rat).SetInt64(int64(d)), reciprocal(p.Factor())))
			next := factor()
			require.NoError(t, p.SetFactor(p.Now()+d, next))
			require.Equal(t, next, p.Factor())

			got := new(big.Rat).SetInt64(int64(p.Work()))
			require.LessOrEqual(t, p.Work(), p.Now())
			require.LessOrEqual(t, got.Cmp(new(big.Rat).Add(work, big.NewRat(1, 1<<32))), 0, "more than was done")
			require.Positive(t, got.Cmp(new(big.Rat).Sub(work, big.NewRat(1, 1))), "a nanosecond less than was done")

			for range 8 {
				target := p.Target(duration())
				switch r.IntN(4) {
				case 0:
					target = p.Target(time.Duration(r.IntN(4)))
				case 1:
					target -= min(target, duration())
				}
				when := p.When(target)
				require.GreaterOrEqual(t, when, p.Now())
				if target <= p.Work() {
					require.Equal(t, p.Now(), when)
					require.Zero(t, p.Remaining(target))
					continue
				}
				require.Greater(t, when, p.Now())
				if when != forever {
					require.Equal(t, when-p.Now(), p.Remaining(target))
					there := p
					require.NoError(t, there.Advance(when))
					require.GreaterOrEqual(t, there.Work(), target, "not done at its end")
					require.Equal(t, when, there.When(target))
				} else {
					require.Equal(t, forever, p.Remaining(target))
				}
				early := p
				require.NoError(t, early.Advance(when-1))
				require.Less(t, early.Work(), target, "done before its end")
				require.Equal(t, when, early.When(target))

				// when = now + (target − work)·f, rounded up, in the twin.
				missing := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(target)), work)
				f := new(big.Rat).Inv(reciprocal(p.Factor()))
				exact := missing.Mul(missing, f)
				exact.Add(exact, new(big.Rat).SetInt64(int64(p.Now())))
				// Work counts 2⁻³² ns early, and 2⁻⁶⁴ ns a change late.
				if difference := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(when)), exact); when != forever {
					tolerance := f.Mul(f, big.NewRat(1, 1<<32))
					require.Negative(t, difference.Cmp(big.NewRat(1, 1)), "later than rounded up")
					require.GreaterOrEqual(t, difference.Add(difference, tolerance).Sign(), 0, "early")
				}
			}
		}
	})
}

// form is one of the two ways to know when running jobs end.
type form interface {
	change(now time.Duration, factor float64) // before start, after end
	start(job int, run time.Duration)
	next() (job int, at time.Duration) // the first end, forever if none
	end(job int)
}

// shared is the form with one Progress for all jobs.
type shared struct {
	t        *testing.T
	progress paging.Progress
	target   map[int]time.Duration
}

func (s *shared) change(now time.Duration, factor float64) {
	require.NoError(s.t, s.progress.SetFactor(now, factor))
}
func (s *shared) start(job int, run time.Duration) { s.target[job] = s.progress.Target(run) }
func (s *shared) end(job int)                      { delete(s.target, job) }
func (s *shared) next() (int, time.Duration) {
	return earliest(s.target, func(target time.Duration) time.Duration { return s.progress.When(target) })
}

// printed is the form of Eqs. (5) and (6): each job's remaining time, rescaled.
type printed struct {
	t         *testing.T
	now       time.Duration
	factor    float64
	remaining map[int]time.Duration
}

func (p *printed) change(now time.Duration, factor float64) {
	for job, remaining := range p.remaining {
		var err error
		p.remaining[job], err = paging.Rescale(remaining-(now-p.now), p.factor, factor)
		require.NoError(p.t, err)
	}
	p.now, p.factor = now, factor
}
func (p *printed) start(job int, run time.Duration) {
	var err error
	p.remaining[job], err = paging.Rescale(run, 1, p.factor)
	require.NoError(p.t, err)
}
func (p *printed) end(job int) { delete(p.remaining, job) }
func (p *printed) next() (int, time.Duration) {
	return earliest(p.remaining, func(remaining time.Duration) time.Duration { return p.now + remaining })
}

func earliest(jobs map[int]time.Duration, when func(time.Duration) time.Duration) (int, time.Duration) {
	first, at := -1, forever
	for job, x := range jobs {
		if t := when(x); t < at || t == at && job < first {
			first, at = job, t
		}
	}
	return first, at
}

// The event loop of a simulator with shared work, and with the remaining time of
// every job rescaled at every change: the jobs end at the same instants, but for
// what rescaling rounds.
func FuzzSharedWorkIsRescaling(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint8(seed%40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, jobs uint8) {
		r := rand.New(rand.NewPCG(seed, 12))
		n := int(jobs%64) + 1
		submit, run, memory := make([]time.Duration, n), make([]time.Duration, n), make([]int64, n)
		for i := range n {
			submit[i] = time.Duration(r.IntN(1000)) * time.Second
			run[i] = time.Duration(1+r.IntN(500)) * time.Second
			memory[i] = 1 + r.Int64N(900)
		}
		simulate := func(form form) (ended []time.Duration) {
			ended = make([]time.Duration, n)
			used, submitted := int64(0), make([]bool, n)
			for range 2 * n {
				job, at := form.next()
				starts := false
				for i := range n {
					if !submitted[i] && submit[i] < at {
						job, at, starts = i, submit[i], true
					}
				}
				require.NotEqual(t, -1, job, "each event is a start or an end")
				if starts {
					submitted[job] = true
					used += memory[job]
					form.change(at, paging.TayZou(used, 1000))
					form.start(job, run[job])
				} else {
					ended[job] = at
					used -= memory[job]
					form.end(job)
					form.change(at, paging.TayZou(used, 1000))
				}
			}
			return ended
		}
		want := simulate(&printed{t: t, factor: 1, remaining: map[int]time.Duration{}})
		got := simulate(&shared{t: t, target: map[int]time.Duration{}})
		for i := range n {
			require.InDelta(t, int64(want[i]), int64(got[i]), 10_000, "end of job %d, in ns", i)
			require.GreaterOrEqual(t, got[i], submit[i]+run[i], "faster than at full speed")
		}
	})
}

func TestProgressDoesNotAllocate(t *testing.T) {
	var p paging.Progress
	now := time.Duration(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		now += 12345
		_ = p.SetFactor(now, paging.TayZou(1000+int64(now)%1000, 1000))
		_ = p.Advance(now + 1)
		now++
		_ = p.When(p.Target(time.Second)) + p.Remaining(p.Work())
		_, _ = paging.Rescale(now, 1, p.Factor())
	}))
}
