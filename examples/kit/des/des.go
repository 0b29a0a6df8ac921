// Package des runs discrete-event simulations: a virtual clock that goes from
// event to event, with a written order for events of the same instant.
//
// Part of the examples: it carries no compatibility promise.
//
// The order matters. Whether the machine is looked at after every event or once
// per instant, and whether jobs that end are seen before those that arrive,
// moves the mean wait of real logs by some per cent, so results should name it.
package des

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Order says what happens when several events fall on one instant.
type Order int

const (
	// Batch handles all terminations, then all submissions, then timers, and then
	// makes one scheduling pass.
	Batch Order = iota
	// SubmitFirst makes a pass after every event: submissions first, then
	// terminations, then timers.
	SubmitFirst
	// TerminateFirst makes a pass after every event: terminations first, then
	// submissions, then timers.
	TerminateFirst
)

var orders = [...]string{"batch", "submit-first", "terminate-first"}

// ErrOrder is wrapped by [ParseOrder].
var ErrOrder = errors.New("des: unknown order of events")

// ParseOrder returns the order called name: batch, submit-first or
// terminate-first.
func ParseOrder(name string) (Order, error) {
	for i, s := range orders {
		if s == name {
			return Order(i), nil
		}
	}
	return 0, fmt.Errorf("order %q, want batch, submit-first or terminate-first: %w", name, ErrOrder)
}

// String returns the name that [ParseOrder] takes.
func (o Order) String() string {
	if o < 0 || int(o) >= len(orders) {
		return fmt.Sprintf("Order(%d)", int(o))
	}
	return orders[o]
}

// Source is a stream of events of one kind, in order of time. The events may
// change as long as they lie ahead.
type Source interface {
	// Next returns the instant of the earliest event, false if there is none.
	Next() (time.Duration, bool)
	// Handle makes it happen, and takes it off the stream. At equal instants
	// the source decides which comes first.
	Handle(now time.Duration) error
}

// Simulation is what a run consists of. It owns the clock; the state of the
// simulated system belongs to the sources and functions.
type Simulation struct {
	Order                             Order
	Submissions, Terminations, Timers Source
	// Pass makes a scheduling pass.
	Pass func(now time.Duration) error
	// Settle comes after all events and passes of an instant.
	Settle func(now time.Duration) error
}

// checkEvery is the number of instants between two looks at the context.
const checkEvery = 1024

// Run handles events until no source has any, and returns nil; or until a
// function fails, and returns its error; or until ctx is done, and returns its
// cause. An event that lies in the past is an error: time never runs backwards.
func (s *Simulation) Run(ctx context.Context) error {
	if s.Order < 0 || int(s.Order) >= len(orders) {
		return fmt.Errorf("%v: %w", s.Order, ErrOrder)
	}
	sources := [3]Source{s.Terminations, s.Submissions, s.Timers}
	if s.Order == SubmitFirst {
		sources[0], sources[1] = sources[1], sources[0]
	}
	last := time.Duration(-1 << 63)
	for i := 1; ; i++ {
		if i%checkEvery == 1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now, ok := earliest(sources)
		if !ok {
			return nil
		}
		if now < last {
			return past(now, last)
		}
		last = now
		for _, source := range sources {
			for {
				if at, ok := source.Next(); !ok || at > now {
					break
				} else if at < now {
					return past(at, now)
				}
				if err := source.Handle(now); err != nil {
					return err
				}
				if s.Order == Batch {
					continue
				}
				if err := s.Pass(now); err != nil {
					return err
				}
			}
		}
		if s.Order == Batch {
			if err := s.Pass(now); err != nil {
				return err
			}
		}
		if err := s.Settle(now); err != nil {
			return err
		}
	}
}

func past(at, now time.Duration) error {
	return fmt.Errorf("des: event at %v after the clock reached %v", at, now)
}

func earliest(sources [3]Source) (time.Duration, bool) {
	var first time.Duration
	found := false
	for _, source := range sources {
		if at, ok := source.Next(); ok && (!found || at < first) {
			first, found = at, true
		}
	}
	return first, found
}
