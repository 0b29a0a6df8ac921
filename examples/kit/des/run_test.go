package des_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/des"
)

func TestRunsBySentences(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		order  des.Order
		change func(*des.Simulation)
		want   string // what was handled
		fails  string // what the error says, if there is one
	}{
		{"without events nothing happens, not even a pass", des.Batch, func(s *des.Simulation) {
			s.Submissions.(*script).at, s.Terminations.(*script).at, s.Timers.(*script).at = nil, nil, nil
		}, "", ""},
		{"a timer alone makes a pass", des.Batch, func(s *des.Simulation) {
			s.Submissions.(*script).at, s.Terminations.(*script).at = nil, nil
		}, "5 timer, 5 pass, 5 settle", ""},
		{"time may begin before the epoch", des.Batch, func(s *des.Simulation) {
			s.Submissions.(*script).at, s.Terminations.(*script).at, s.Timers.(*script).at = []time.Duration{-7}, nil, nil
		}, "-7 submit, -7 pass, -7 settle", ""},
		{"nothing follows a failed event", des.SubmitFirst, func(s *des.Simulation) {
			s.Terminations.(*script).fail = broken
		}, "1 submit, 1 pass, 1 settle, 5 submit, 5 pass, 5 submit, 5 pass, 5 terminate", "broken"},
		{"nothing follows a failed pass", des.TerminateFirst, func(s *des.Simulation) {
			s.Pass = func(time.Duration) error { return broken }
		}, "1 submit", "broken"},
		{"events of one source must not go back within an instant", des.Batch, func(s *des.Simulation) {
			s.Submissions.(*script).at = []time.Duration{4, 3}
		}, "4 submit", "event at 3ns after the clock reached 4ns"},
		{"nor between instants", des.Batch, func(s *des.Simulation) {
			settle, later := s.Settle, s.Terminations.(*script)
			s.Settle = func(now time.Duration) error {
				later.at = []time.Duration{0}
				return settle(now)
			}
		}, "1 submit, 1 pass, 1 settle", "event at 0s after the clock reached 1ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, log := simulation(c.order)
			c.change(s)
			err := s.Run(context.Background())
			if c.fails == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.fails)
			}
			assert.Equal(t, c.want, strings.Join(*log, ", "))
		})
	}
}

// The context is looked at now and then: a run that is cancelled under way ends
// within some thousand instants.
func TestContextCancelledUnderWayEndsTheRun(t *testing.T) {
	s, _ := simulation(des.TerminateFirst)
	s.Submissions = &endless{}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	instants := 0
	s.Settle = func(time.Duration) error {
		if instants++; instants == 5000 {
			cancel(why)
		}
		return nil
	}
	require.ErrorIs(t, s.Run(ctx), why)
	assert.Less(t, instants, 8000)
	assert.GreaterOrEqual(t, instants, 5000)
}

// An empty agenda gives the zero value, before and after it held something.
func TestEmptyAgenda(t *testing.T) {
	var agenda des.Agenda[*int]
	_, what, ok := agenda.First()
	assert.False(t, ok)
	assert.Nil(t, what)
	agenda.Add(-3, new(int))
	agenda.Add(-4, nil)
	at, what, ok := agenda.First()
	assert.True(t, ok)
	assert.Nil(t, what)
	assert.Equal(t, time.Duration(-4), at)
	agenda.Remove()
	agenda.Remove()
	assert.Zero(t, agenda.Len())
	_, what, ok = agenda.First()
	assert.False(t, ok)
	assert.Nil(t, what)
	assert.Panics(t, agenda.Remove)
}

// counter is a machine of four processors and jobs that run 5 s.
type counter struct {
	arrivals []time.Duration
	sizes    []int
	arrived  int
	queue    []int
	ends     des.Agenda[int]
	busy     int
	trace    []string
}

type arrivals counter

func (a *arrivals) Next() (time.Duration, bool) {
	if a.arrived == len(a.arrivals) {
		return 0, false
	}
	return a.arrivals[a.arrived], true
}

func (a *arrivals) Handle(time.Duration) error {
	a.queue = append(a.queue, a.arrived)
	a.arrived++
	return nil
}

type ends counter

func (e *ends) Next() (time.Duration, bool) {
	at, _, ok := e.ends.First()
	return at, ok
}

func (e *ends) Handle(time.Duration) error {
	_, i, _ := e.ends.First()
	e.ends.Remove()
	e.busy -= e.sizes[i]
	return nil
}

type never struct{}

func (never) Next() (time.Duration, bool) { return 0, false }
func (never) Handle(time.Duration) error  { return nil }

// pass starts every waiting job that fits, in order of arrival.
func (c *counter) pass(now time.Duration) error {
	var waiting []int
	for _, i := range c.queue {
		if c.busy+c.sizes[i] > 4 {
			waiting = append(waiting, i)
			continue
		}
		c.busy += c.sizes[i]
		c.ends.Add(now+5*time.Second, i)
		c.trace = append(c.trace, fmt.Sprintf("%c at %v", 'A'+i, now))
	}
	c.queue = waiting
	return nil
}

// A, B and C end when G arrives, while D, E and F wait. If every event has its
// pass, small jobs take the processors one by one before D finds all of them
// free; whether G is among them depends on whether it has arrived by then.
func ExampleOrder() {
	for order := des.Batch; order <= des.TerminateFirst; order++ {
		c := &counter{
			arrivals: []time.Duration{0, 0, 0, time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second},
			sizes:    []int{1, 1, 2, 4, 2, 2, 1},
		}
		s := des.Simulation{
			Order:        order,
			Submissions:  (*arrivals)(c),
			Terminations: (*ends)(c),
			Timers:       never{},
			Pass:         c.pass,
			Settle:       func(time.Duration) error { return nil },
		}
		if err := s.Run(context.Background()); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%-15v %s\n", order, strings.Join(c.trace[3:], ", "))
	}
	// Output:
	// batch           D at 5s, E at 10s, F at 10s, G at 15s
	// submit-first    G at 5s, E at 5s, F at 10s, D at 15s
	// terminate-first E at 5s, F at 5s, G at 10s, D at 15s
}
