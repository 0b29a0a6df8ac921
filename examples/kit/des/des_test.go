package des_test

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/des"
)

// script is a source of events at given instants, which writes down what
// happens.
type script struct {
	name string
	at   []time.Duration
	log  *[]string
	fail error
}

func (s *script) Next() (time.Duration, bool) {
	if len(s.at) == 0 {
		return 0, false
	}
	return s.at[0], true
}

func (s *script) Handle(now time.Duration) error {
	*s.log = append(*s.log, fmt.Sprintf("%d %s", now, s.name))
	s.at = s.at[1:]
	return s.fail
}

// simulation has two submissions and two terminations at 5, and a timer there.
func simulation(order des.Order) (*des.Simulation, *[]string) {
	log := &[]string{}
	note := func(name string) func(time.Duration) error {
		return func(now time.Duration) error {
			*log = append(*log, fmt.Sprintf("%d %s", now, name))
			return nil
		}
	}
	return &des.Simulation{
		Order:        order,
		Submissions:  &script{"submit", []time.Duration{1, 5, 5}, log, nil},
		Terminations: &script{"terminate", []time.Duration{5, 5, 9}, log, nil},
		Timers:       &script{"timer", []time.Duration{5}, log, nil},
		Pass:         note("pass"),
		Settle:       note("settle"),
	}, log
}

func TestOrderOfEqualInstants(t *testing.T) {
	for order, want := range map[des.Order]string{
		des.Batch: `1 submit, 1 pass, 1 settle,
			5 terminate, 5 terminate, 5 submit, 5 submit, 5 timer, 5 pass, 5 settle,
			9 terminate, 9 pass, 9 settle`,
		des.SubmitFirst: `1 submit, 1 pass, 1 settle,
			5 submit, 5 pass, 5 submit, 5 pass, 5 terminate, 5 pass, 5 terminate, 5 pass, 5 timer, 5 pass, 5 settle,
			9 terminate, 9 pass, 9 settle`,
		des.TerminateFirst: `1 submit, 1 pass, 1 settle,
			5 terminate, 5 pass, 5 terminate, 5 pass, 5 submit, 5 pass, 5 submit, 5 pass, 5 timer, 5 pass, 5 settle,
			9 terminate, 9 pass, 9 settle`,
	} {
		s, log := simulation(order)
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, strings.Join(strings.Fields(want), " "), strings.Join(*log, ", "), order)
	}
}

// What a pass adds to a stream at the same instant is handled at that instant.
func TestEventsMadeAtTheirInstant(t *testing.T) {
	s, log := simulation(des.TerminateFirst)
	submissions := s.Submissions.(*script)
	submissions.at = []time.Duration{5}
	pass := s.Pass
	s.Pass = func(now time.Duration) error {
		if len(*log) == 1 { // after the first termination
			submissions.at = append(submissions.at, 5)
		}
		return pass(now)
	}
	require.NoError(t, s.Run(context.Background()))
	assert.Equal(t, 2, strings.Count(strings.Join(*log, ", "), "5 submit"))
}

func TestErrorsEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	for name, breakIt := range map[string]func(*des.Simulation){
		"submission":  func(s *des.Simulation) { s.Submissions.(*script).fail = broken },
		"termination": func(s *des.Simulation) { s.Terminations.(*script).fail = broken },
		"timer":       func(s *des.Simulation) { s.Timers.(*script).fail = broken },
		"pass":        func(s *des.Simulation) { s.Pass = func(time.Duration) error { return broken } },
		"settle":      func(s *des.Simulation) { s.Settle = func(time.Duration) error { return broken } },
	} {
		for order := des.Batch; order <= des.TerminateFirst; order++ {
			s, _ := simulation(order)
			breakIt(s)
			assert.ErrorIs(t, s.Run(context.Background()), broken, "%s, %v", name, order)
		}
	}
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	s, _ := simulation(des.Batch)
	s.Terminations.(*script).at = []time.Duration{5, 3}
	assert.ErrorContains(t, s.Run(context.Background()), "event at 3ns after the clock reached 5ns")
}

// endless always has one more event.
type endless struct{ now time.Duration }

func (e *endless) Next() (time.Duration, bool)    { return e.now + 1, true }
func (e *endless) Handle(now time.Duration) error { e.now = now; return nil }

func TestCancelledContextEndsAnEndlessRun(t *testing.T) {
	s, _ := simulation(des.Batch)
	s.Submissions = &endless{}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	assert.ErrorIs(t, s.Run(ctx), why)
}

func TestUnknownOrder(t *testing.T) {
	s, _ := simulation(des.Batch)
	s.Order = 3
	assert.ErrorIs(t, s.Run(context.Background()), des.ErrOrder)
}

func TestNamesOfOrders(t *testing.T) {
	for order := des.Batch; order <= des.TerminateFirst; order++ {
		parsed, err := des.ParseOrder(order.String())
		require.NoError(t, err)
		assert.Equal(t, order, parsed)
	}
	for _, name := range []string{"", "Batch", "lifo"} {
		_, err := des.ParseOrder(name)
		assert.ErrorIs(t, err, des.ErrOrder)
		assert.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
	assert.Equal(t, "Order(7)", des.Order(7).String())
}

type item struct{ at, order int }

// The earliest comes first, and of equals the one that was added first, however
// additions and removals mix.
func TestAgendaAgainstSortedSlice(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var agenda des.Agenda[item]
		var twin []item
		for n := range 300 {
			if r.IntN(3) > 0 {
				i := item{r.IntN(20), n}
				agenda.Add(time.Duration(i.at), i)
				twin = append(twin, i)
				slices.SortStableFunc(twin, func(a, b item) int { return cmp.Compare(a.at, b.at) })
			} else if len(twin) > 0 {
				agenda.Remove()
				twin = twin[1:]
			}
			require.Equal(t, len(twin), agenda.Len())
			at, first, ok := agenda.First()
			require.Equal(t, len(twin) > 0, ok)
			if ok {
				require.Equal(t, twin[0], first)
				require.Equal(t, time.Duration(first.at), at)
			}
		}
	}
}

func TestAgendaDoesNotAllocateOnceGrown(t *testing.T) {
	var agenda des.Agenda[int]
	round := func() {
		for i := range 100 {
			agenda.Add(time.Duration(i*7919%100), i)
		}
		for range 100 {
			agenda.Remove()
		}
	}
	round()
	assert.Zero(t, testing.AllocsPerRun(100, round))
}

// standard is the agenda by the standard library.
type standard []item

func (s standard) Len() int { return len(s) }
func (s standard) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].order < s[j].order
}
func (s standard) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *standard) Push(x any)   { *s = append(*s, x.(item)) }
func (s *standard) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}

// One removal and one addition on an agenda of n.
func BenchmarkAgenda(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var agenda des.Agenda[int]
			var twin standard
			for i := range n {
				at := r.IntN(n)
				agenda.Add(time.Duration(at), i)
				heap.Push(&twin, item{at, i})
			}
			const rounds = 1000
			began := time.Now()
			for i := range rounds {
				first := heap.Pop(&twin).(item)
				heap.Push(&twin, item{first.at + r.IntN(n), n + i})
			}
			slow := float64(time.Since(began).Nanoseconds()) / rounds
			b.ReportAllocs()
			for b.Loop() {
				at, what, _ := agenda.First()
				agenda.Remove()
				agenda.Add(at+time.Duration(r.IntN(n)), what)
			}
			b.ReportMetric(slow/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
		})
	}
}

// Two jobs end and one arrives at the same instant: what a pass can know then
// depends on the order.
func ExampleSimulation() {
	for _, order := range []des.Order{des.Batch, des.SubmitFirst} {
		s, log := simulation(order)
		s.Submissions.(*script).at = []time.Duration{5}
		s.Timers.(*script).at = nil
		if err := s.Run(context.Background()); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%v: %s\n", order, strings.Join((*log)[:len(*log)-3], ", "))
	}
	// Output:
	// batch: 5 terminate, 5 terminate, 5 submit, 5 pass, 5 settle
	// submit-first: 5 submit, 5 pass, 5 terminate, 5 pass, 5 terminate, 5 pass, 5 settle
}
