package paging

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

var (
	// ErrTime is returned for an instant before one that was already given.
	ErrTime = errors.New("paging: time runs backwards")

	// ErrFactor is returned for a factor that is below 1, infinite or NaN.
	ErrFactor = errors.New("paging: factor must be finite and at least 1")
)

const forever time.Duration = math.MaxInt64

// Progress is the progress that all running jobs of one memory pool make
// together. It maps instants to work: the time at full speed that has passed
// since the epoch, which grows at the rate 1/factor.
//
//	any start or end   p.SetFactor(now, TayZou(used, capacity))
//	then, at a start   target := p.Target(run)    run time at full speed
//	the next end       p.When(smallest target)
//
// The work that a job has done so far is p.Work() less the work at its start;
// where an estimate is also the limit at which a job is killed, that is what to
// compare it with, not the time elapsed.
//
// The zero value is ready: instant 0, work 0, factor 1. Instants are durations
// since an epoch that the caller picks, and only move forward. A Progress is
// comparable, and a copy is an independent snapshot; a == b says that the two
// will answer alike, though not the reverse. Every method is O(1) and does not
// allocate. A Progress must not be used concurrently; separate ones may.
//
// # Rounding
//
// With factor 1 throughout, work equals the instant exactly. Otherwise it is
// computed in integers, from the last change of the factor, as a multiple of
// 2⁻⁶⁴ ns rounded down: changes to the same factor and any number of calls of
// Advance leave no trace, and a real change loses less than 2⁻⁶⁴ ns. To make up
// for the loss, work counts as reached 2⁻³² ns early, so that three rounded
// thirds are a whole. For up to 2³² changes the answers are therefore those of
// exact arithmetic, unless the exact work lies within 2⁻³² ns below a whole
// nanosecond.
type Progress struct {
	now      time.Duration
	since    time.Duration // last change of the factor
	whole    time.Duration // work at since, in ns,
	fraction uint64        // and in 2⁻⁶⁴ ns
	factor   float64       // 0 means 1
}

// early is how much too early, in 2⁻⁶⁴ ns, work counts as reached.
const early = 1 << 32

// Now returns the last instant given to p.
func (p *Progress) Now() time.Duration { return p.now }

// Factor returns the factor by which jobs are slowed down now, at least 1.
func (p *Progress) Factor() float64 {
	if p.factor == 0 {
		return 1
	}
	return p.factor
}

// Advance moves p to the instant now. An instant before the present one, or
// before the epoch, is refused with [ErrTime] and leaves p as it was.
func (p *Progress) Advance(now time.Duration) error {
	if now < p.now {
		return fmt.Errorf("advance from %v to %v: %w", p.now, now, ErrTime)
	}
	p.now = now
	return nil
}

// SetFactor moves p to the instant now and lets jobs run slower by factor from
// there on. Of several factors given for one instant the last one counts, and
// a factor equal to the present one changes nothing.
//
// A factor below 1, infinite or NaN is refused with [ErrFactor], an instant as
// in [Progress.Advance] with [ErrTime]; p is then as before.
func (p *Progress) SetFactor(now time.Duration, factor float64) error {
	if !valid(factor) {
		return fmt.Errorf("set factor %v at %v: %w", factor, now, ErrFactor)
	}
	if err := p.Advance(now); err != nil {
		return err
	}
	if factor != p.Factor() {
		p.whole, p.fraction = p.work()
		p.since, p.factor = now, factor
	}
	return nil
}

func valid(factor float64) bool { return factor >= 1 && factor <= math.MaxFloat64 }

// Work returns the work done from the epoch to the present instant, in time at
// full speed, rounded down to the nanosecond. It never exceeds Now.
func (p *Progress) Work() time.Duration {
	whole, fraction := p.work()
	_, carry := bits.Add64(fraction, early, 0)
	return whole + time.Duration(carry)
}

// Target returns the work at which a job is done that starts at
// the present instant and runs for run at full speed: Work() + run, at most the
// largest Duration. A run of zero or less is done at once.
func (p *Progress) Target(run time.Duration) time.Duration {
	work := p.Work()
	return work + min(max(run, 0), forever-work)
}

// When returns the first instant at which work has been done, if the factor
// stays as it is: the present one if that is reached already, the largest
// Duration if it is not reached before then.
//
// The instant is rounded up to the nanosecond such that after
// p.Advance(p.When(work)) it holds that p.Work() ≥ work, unless When is the
// largest Duration; an event loop that advances to the next end always finds a
// job that ended. Calls of Advance do not change the answer until it is
// reached.
func (p *Progress) When(work time.Duration) time.Duration {
	// d is the work that is missing at since, in 2⁻⁶⁴ ns and 128 bits.
	fraction, carry := bits.Add64(p.fraction, early, 0)
	whole := p.whole + time.Duration(carry)
	if work <= whole {
		return p.now
	}
	low, borrow := bits.Sub64(0, fraction, 0)
	high := uint64(work) - uint64(whole) - borrow

	// It takes the time d·f, and f is mantissa · 2^−shift.
	mantissa, shift := split(p.Factor())
	q, ok := scaleUp(high, low, mantissa, shift)
	if !ok || q > uint64(forever-p.since) {
		return forever
	}
	return max(p.now, p.since+time.Duration(q))
}

// Remaining returns the time from now until work has been done, if the factor
// stays as it is: (work − Work()) · Factor(), the remaining execution time of
// Eqs. (5) and (6). It is 0 if that is reached already, and the largest Duration
// if When is.
func (p *Progress) Remaining(work time.Duration) time.Duration {
	switch when := p.When(work); {
	case work <= p.Work():
		return 0
	case when == forever:
		return forever
	default:
		return when - p.now
	}
}

// work returns the work at the present instant, in ns and 2⁻⁶⁴ ns.
func (p *Progress) work() (whole time.Duration, fraction uint64) {
	mantissa, shift := split(p.Factor())
	high, low := scaleDown(uint64(p.now-p.since), mantissa, shift)
	fraction, carry := bits.Add64(p.fraction, low, 0)
	return p.whole + time.Duration(high) + time.Duration(carry), fraction
}
