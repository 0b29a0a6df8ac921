package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// program is how the processes of a job behave on a fake machine.
type program struct {
	run    time.Duration // that it has to run
	share  float64       // of its processors that it computes meanwhile
	then   float64       // the same, from the third second on, if not 0
	memory int64         // of a process, from the start on
	fault  error         // why it does not start
	status error         // with which it ends
	sticky int           // how often it cannot be stopped
	slow   time.Duration // that it takes to start
	half   int           // how often it is stopped, and the answer is lost
	deaf   int           // how often it cannot be continued
	polite time.Duration // that it takes to ask it to end
	old    int           // how often its usage is the last known, from the second time on
}

// fake is a machine in the time of a testing/synctest bubble. It checks that it is used
// as a back end may be.
type fake struct {
	t        *testing.T
	nodes    []backend.Node
	programs map[string]program
	together int // how many gangs may run on a node at the same time

	mu    sync.Mutex
	gangs map[string]*fakeGang
	exits chan backend.Exit
	trace []string // who began to run or ceased to
}

type fakeGang struct {
	program
	size    int
	nodes   []int
	started bool
	runs    bool
	killed  bool
	doubt   bool // the last Stop or Continue failed
	since   time.Time
	ran     time.Duration
	timer   *time.Timer
	last    backend.Usage
}

func newFake(t *testing.T, nodes int, memory int64, programs map[string]program) *fake {
	f := &fake{t: t, programs: programs, together: 2, gangs: map[string]*fakeGang{}, exits: make(chan backend.Exit)}
	for i := range nodes {
		f.nodes = append(f.nodes, backend.Node{Name: fmt.Sprint(i), Memory: memory})
	}
	return f
}

func (f *fake) Nodes() []backend.Node      { return f.nodes }
func (f *fake) Exits() <-chan backend.Exit { return f.exits }
func (f *fake) Close() error               { return nil }

func (f *fake) Submit(_ context.Context, g backend.Gang, processes int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	assert.NotContains(f.t, f.gangs, g.ID, "submitted twice")
	f.gangs[g.ID] = &fakeGang{program: f.programs[g.ID], size: processes}
	return nil
}

func (f *fake) Start(_ context.Context, id string, nodes []int, memory int64) error {
	time.Sleep(f.programs[id].slow)
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.gangs[id]
	if !assert.NotNil(f.t, g, "%s is not known", id) || !assert.False(f.t, g.started, "%s runs already", id) {
		return backend.ErrUnknown
	}
	assert.Len(f.t, nodes, g.size)
	assert.True(f.t, slices.IsSorted(nodes) && len(slices.Compact(slices.Clone(nodes))) == len(nodes), "nodes %v", nodes)
	assert.GreaterOrEqual(f.t, memory, int64(0))
	if g.fault != nil {
		delete(f.gangs, id)
		return g.fault
	}
	g.started, g.nodes = true, nodes
	f.resume(id, g)
	return nil
}

func (f *fake) resume(id string, g *fakeGang) {
	for n := range f.nodes {
		load := 0
		for _, other := range f.gangs {
			if other.runs && !other.killed && slices.Contains(other.nodes, n) {
				load++
			}
		}
		if slices.Contains(g.nodes, n) {
			assert.Less(f.t, load, f.together, "gangs on node %d when %s comes", n, id)
		}
	}
	g.runs, g.since = true, time.Now()
	f.trace = append(f.trace, "+"+id)
	if g.run == 0 {
		return // for ever
	}
	g.timer = time.AfterFunc(g.run-g.ran, func() { f.end(id, g.status) })
}

func (f *fake) halt(id string, g *fakeGang) {
	if g.runs {
		g.ran += time.Since(g.since)
		g.runs = false
		f.trace = append(f.trace, "-"+id)
		if g.timer != nil {
			g.timer.Stop()
		}
	}
}

func (f *fake) end(id string, err error) {
	f.mu.Lock()
	g := f.gangs[id]
	if g == nil {
		f.mu.Unlock()
		return
	}
	f.halt(id, g)
	delete(f.gangs, id)
	e := backend.Exit{ID: id, Err: err, Killed: g.killed, Usage: g.usage()}
	f.mu.Unlock()
	f.exits <- e
}

func (g *fakeGang) usage() backend.Usage {
	ran := g.ran
	if g.runs {
		ran += time.Since(g.since)
	}
	first, then := min(ran, 2*time.Second), g.then
	if then == 0 {
		then = g.share
	}
	u := backend.Usage{CPU: time.Duration((float64(first)*g.share + float64(ran-first)*then) * float64(g.size))}
	if g.started {
		u.Resident = slices.Repeat([]int64{g.memory}, g.size)
		u.Peak = u.Resident
	}
	return u
}

func (f *fake) find(id string) (*fakeGang, error) {
	g := f.gangs[id]
	if g == nil || !g.started || g.killed {
		return nil, backend.ErrUnknown
	}
	return g, nil
}

func (f *fake) Stop(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, err := f.find(id)
	if err == nil {
		assert.True(f.t, g.runs || g.doubt, "%s does not run", id)
		if g.doubt = g.sticky > 0; g.doubt {
			g.sticky--
			return errors.New("it does not stop")
		}
		f.halt(id, g)
		if g.doubt = g.half > 0; g.doubt {
			g.half--
			return errors.New("it may have stopped")
		}
	}
	return err
}

func (f *fake) Continue(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, err := f.find(id)
	if err == nil {
		assert.True(f.t, !g.runs || g.doubt, "%s runs", id)
		if g.doubt = g.deaf > 0; g.doubt {
			g.deaf--
			return errors.New("it does not go on")
		}
		if !g.runs {
			f.resume(id, g)
		}
	}
	return err
}

func (f *fake) Kill(_ context.Context, id string, grace time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.gangs[id]
	if g == nil {
		return backend.ErrUnknown
	}
	assert.False(f.t, g.killed, "%s is killed twice", id)
	g.killed = true
	f.mu.Unlock()
	time.Sleep(g.polite)
	f.mu.Lock()
	time.AfterFunc(grace/2, func() { f.end(id, errors.New("killed")) })
	return nil
}

func (f *fake) Usage(_ context.Context, id string) (backend.Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, err := f.find(id)
	if err != nil {
		return backend.Usage{}, err
	}
	if g.old == 0 || g.last.Measured.IsZero() {
		g.last = g.usage()
		g.last.Measured = time.Now()
	} else {
		g.old--
	}
	return g.last, nil
}

var _ backend.Backend = (*fake)(nil)
