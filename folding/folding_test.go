package folding_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/folding"
)

func short(p int) folding.Running {
	return folding.Running{Class: folding.Short, Processors: p, Processes: p}
}

func long(p, n int) folding.Running {
	return folding.Running{Class: folding.Long, Processors: p, Processes: n}
}

func waitShort(n int) folding.Queued { return folding.Queued{Class: folding.Short, Request: n} }
func waitLong(n int) folding.Queued  { return folding.Queued{Class: folding.Long, Request: n} }

func arrival(t *testing.T, p folding.Policy, s folding.State) []folding.Step {
	t.Helper()
	steps, err := p.AppendArrival(nil, s)
	require.NoError(t, err)
	return steps
}

func release(t *testing.T, p folding.Policy, s folding.State) []folding.Step {
	t.Helper()
	steps, err := p.AppendRelease(nil, s)
	require.NoError(t, err)
	return steps
}

func start(job, p, n int) folding.Step {
	return folding.Step{Kind: folding.Start, Job: job, Processors: p, Processes: n}
}
func fold(job, p, n int) folding.Step {
	return folding.Step{Kind: folding.Fold, Job: job, Processors: p, Processes: n}
}
func unfold(job, p, n int) folding.Step {
	return folding.Step{Kind: folding.Unfold, Job: job, Processors: p, Processes: n}
}

func TestFolds(t *testing.T) {
	for _, c := range []struct{ n, p, want int }{
		{64, 64, 1}, {64, 32, 2}, {64, 16, 4}, {48, 24, 2}, {10, 5, 2}, {10, 3, 4}, {7, 4, 2}, {7, 2, 4}, {1, 1, 1}, {64, 20, 4}, {64, 40, 2}, {9, 1, 16},
	} {
		assert.Equal(t, c.want, folding.Running{Processors: c.p, Processes: c.n}.Folds(), "%d on %d", c.n, c.p)
	}
}

// Every row of the decision on a long job that arrives, by the pseudo-code and by the
// text.
func TestLongJobArrives(t *testing.T) {
	for _, c := range []struct {
		name           string
		running        []folding.Running
		queued         []folding.Queued // before it
		printed, eager []folding.Step
	}{
		{"alone", nil, nil, []folding.Step{start(0, 64, 64)}, []folding.Step{start(0, 64, 64)}},
		{"a short job runs, processors idle", []folding.Running{short(48)}, nil, nil, []folding.Step{start(0, 16, 64)}},
		{"a short and an unfolded long job run, none idle", []folding.Running{short(32), long(32, 32)}, nil, nil,
			[]folding.Step{fold(1, 16, 32), start(0, 16, 64)}},
		{"a short and a folded long job run", []folding.Running{short(32), long(32, 64)}, nil, nil, nil},
		{"processors idle", []folding.Running{long(48, 48)}, nil, []folding.Step{start(0, 16, 64)}, []folding.Step{start(0, 16, 64)}},
		{"20 idle", []folding.Running{long(44, 44)}, nil, []folding.Step{start(0, 16, 64)}, []folding.Step{start(0, 16, 64)}},
		{"40 idle", []folding.Running{long(24, 24)}, nil, []folding.Step{start(0, 32, 64)}, []folding.Step{start(0, 32, 64)}},
		{"none idle, one unfolded", []folding.Running{long(64, 64)}, nil, []folding.Step{fold(0, 32, 64), start(0, 32, 64)}, []folding.Step{fold(0, 32, 64), start(0, 32, 64)}},
		{"none idle, none unfolded", []folding.Running{long(32, 64), long(32, 64)}, nil, nil, nil},
		{"none idle, an unfolded one on one processor", []folding.Running{long(63, 126), long(1, 1)}, nil, nil, nil},
		{"another waits, processors idle", []folding.Running{long(44, 44)}, []folding.Queued{waitLong(64)},
			[]folding.Step{start(1, 10, 10)}, []folding.Step{start(1, 10, 10)}},
		{"another waits, a short job runs, processors idle", []folding.Running{short(44)}, []folding.Queued{waitLong(64)},
			[]folding.Step{start(1, 10, 10)}, []folding.Step{start(1, 16, 64)}},
		{"another waits, a short job runs and one is folded", []folding.Running{short(34), long(10, 20)}, []folding.Queued{waitLong(64)},
			[]folding.Step{start(1, 10, 10)}, []folding.Step{start(1, 10, 10)}},
		{"another waits, one processor idle", []folding.Running{long(63, 63)}, []folding.Queued{waitLong(64)}, nil, nil},
		{"another waits, none idle, one unfolded", []folding.Running{long(24, 24), long(40, 40)}, []folding.Queued{waitLong(64)},
			[]folding.Step{fold(1, 20, 40), start(1, 20, 20)}, []folding.Step{fold(1, 20, 40), start(1, 20, 20)}},
		{"another waits, none idle, none unfolded", []folding.Running{long(64, 128)}, []folding.Queued{waitLong(64)}, nil, nil},
		{"the largest partition, the latest of equals", []folding.Running{long(16, 16), long(24, 24), long(24, 24)}, nil,
			[]folding.Step{fold(2, 12, 24), start(0, 12, 48)}, []folding.Step{fold(2, 12, 24), start(0, 12, 48)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folding.State{Processors: 64, Running: c.running, Queued: append(c.queued, waitLong(64))}
			assert.Equal(t, c.printed, arrival(t, &folding.FJT{}, s))
			assert.Equal(t, c.eager, arrival(t, &folding.FJT{Eager: true}, s))
		})
	}
}

func TestShortJobArrives(t *testing.T) {
	for _, c := range []struct {
		name    string
		running []folding.Running
		queued  []folding.Queued
		want    []folding.Step
	}{
		{"alone", nil, []folding.Queued{waitShort(16)}, []folding.Step{start(0, 16, 16)}},
		{"fewer idle than it asks for", []folding.Running{long(60, 60)}, []folding.Queued{waitShort(16)}, []folding.Step{start(0, 4, 4)}},
		{"none idle, a long one unfolded", []folding.Running{long(64, 64)}, []folding.Queued{waitShort(16)}, []folding.Step{fold(0, 32, 64), start(0, 16, 16)}},
		{"none idle, a long one folded by 2", []folding.Running{long(32, 64), short(32)}, []folding.Queued{waitShort(64)}, []folding.Step{fold(0, 16, 64), start(0, 16, 16)}},
		{"none idle, all long ones folded by 4", []folding.Running{long(16, 64), short(48)}, []folding.Queued{waitShort(16)}, nil},
		{"none idle, only short ones", []folding.Running{short(64)}, []folding.Queued{waitShort(16)}, nil},
		{"an odd partition", []folding.Running{long(7, 7), short(57)}, []folding.Queued{waitShort(16)}, []folding.Step{fold(0, 4, 7), start(0, 3, 3)}},
		{"others wait, too", []folding.Running{short(44)}, []folding.Queued{waitShort(64), waitShort(64)}, []folding.Step{start(1, 10, 10)}},
		{"a long one waits", []folding.Running{short(44)}, []folding.Queued{waitLong(64), waitShort(64)}, []folding.Step{start(1, 20, 20)}},
		{"one processor", nil, []folding.Queued{waitShort(1)}, []folding.Step{start(0, 1, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folding.State{Processors: 64, Running: c.running, Queued: c.queued}
			assert.Equal(t, c.want, arrival(t, &folding.FJT{}, s))
		})
	}
}

func TestProcessorsAreReleased(t *testing.T) {
	for _, c := range []struct {
		name    string
		running []folding.Running
		queued  []folding.Queued
		want    []folding.Step
	}{
		{"nobody waits or is folded", []folding.Running{long(32, 32)}, nil, nil},
		{"short jobs share", nil, []folding.Queued{waitShort(64), waitShort(64), waitShort(64)}, []folding.Step{start(0, 22, 22), start(1, 21, 21), start(2, 21, 21)}},
		{"a long job waits: short ones take all they can", nil, []folding.Queued{waitShort(40), waitLong(64), waitShort(40)},
			[]folding.Step{start(0, 40, 40), start(2, 24, 24)}},
		{"a folded job unfolds, the most folded first", []folding.Running{long(16, 32), long(8, 32)}, nil,
			[]folding.Step{unfold(0, 32, 32), unfold(1, 32, 32)}},
		{"not enough for all", []folding.Running{long(16, 32), long(8, 32), long(24, 24)}, nil, []folding.Step{unfold(1, 16, 32)}},
		{"exactly enough", []folding.Running{long(32, 64)}, nil, []folding.Step{unfold(0, 64, 64)}},
		{"one less", []folding.Running{long(32, 64), short(1)}, nil, nil},
		{"unfolding and folding again is nothing", []folding.Running{long(32, 64)}, []folding.Queued{waitLong(64)}, []folding.Step{start(0, 32, 64)}},
		{"long jobs in order", nil, []folding.Queued{waitLong(64), waitLong(64)}, []folding.Step{start(0, 32, 32), start(1, 32, 64)}},
		{"long jobs wait while a short one runs", []folding.Running{short(10)}, []folding.Queued{waitLong(64)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folding.State{Processors: 64, Running: c.running, Queued: c.queued}
			assert.Equal(t, c.want, release(t, &folding.FJT{}, s))
		})
	}
}

// A thousand short jobs on 64 processors: one each.
func TestManyShortJobs(t *testing.T) {
	s := folding.State{Processors: 64}
	for range 1000 {
		s.Queued = append(s.Queued, waitShort(8))
	}
	steps := release(t, &folding.FJT{}, s)
	require.Len(t, steps, 64)
	for i, step := range steps {
		require.Equal(t, start(i, 1, 1), step)
	}
}

func queue(n, request int) (list []folding.Queued) {
	for range n {
		list = append(list, waitLong(request))
	}
	return list
}

func TestPSA(t *testing.T) {
	for _, c := range []struct{ free, waiting, starts, each int }{
		{64, 1, 1, 64}, {64, 3, 3, 21}, {40, 1, 0, 0}, {40, 2, 1, 32}, {10, 3, 0, 0}, {10, 6, 1, 10}, {10, 7, 1, 9}, {64, 100, 64, 1},
	} {
		s := folding.State{Processors: 64, Queued: queue(c.waiting, 64)}
		if c.free < 64 {
			s.Running = []folding.Running{long(64-c.free, 64-c.free)}
		}
		steps := release(t, &folding.PSA{}, s)
		require.Len(t, steps, c.starts, "%+v", c)
		for i, step := range steps {
			require.Equal(t, start(i, c.each, c.each), step)
		}
	}
	s := folding.State{Processors: 64, Running: []folding.Running{long(16, 16)}, Queued: queue(1, 64)}
	assert.Equal(t, []folding.Step{start(0, 32, 32)}, release(t, &folding.PSA{CountRunning: true}, s))
}

func TestASP(t *testing.T) {
	s := folding.State{Processors: 64, Queued: queue(3, 64)}
	assert.Equal(t, []folding.Step{start(0, 64, 64)}, release(t, &folding.ASP{}, s))
	assert.Equal(t, []folding.Step{start(0, 60, 60), start(1, 4, 4)}, release(t, &folding.ASP{Max: 60}, s))
	assert.Equal(t, []folding.Step{start(0, 22, 22), start(1, 21, 21), start(2, 21, 21)}, release(t, &folding.ASP{Share: true}, s))
	assert.Equal(t, []folding.Step{start(0, 10, 10), start(1, 10, 10), start(2, 10, 10)}, release(t, &folding.ASP{Share: true, Max: 10}, s))
	s.Running, s.Queued = []folding.Running{long(62, 62)}, queue(5, 64)
	assert.Equal(t, []folding.Step{start(0, 1, 1), start(1, 1, 1)}, release(t, &folding.ASP{Share: true}, s))
}

func TestFoldingPolicy(t *testing.T) {
	p := &folding.Folding{}
	s := folding.State{Processors: 64, Queued: queue(1, 64)}
	assert.Equal(t, []folding.Step{start(0, 64, 64)}, arrival(t, p, s))
	s.Running = []folding.Running{long(64, 64)}
	assert.Equal(t, []folding.Step{fold(0, 32, 64), start(0, 32, 32)}, arrival(t, p, s))
	s.Running = []folding.Running{long(32, 64), short(32)}
	assert.Equal(t, []folding.Step{fold(1, 16, 32), start(0, 16, 16)}, arrival(t, p, s), "the latest, of any class, that is unfolded")
	s.Running = []folding.Running{long(32, 64), long(32, 64)}
	assert.Empty(t, arrival(t, p, s))
	s = folding.State{Processors: 64, Running: []folding.Running{long(16, 32), long(16, 32)}}
	assert.Equal(t, []folding.Step{unfold(0, 32, 32), unfold(1, 32, 32)}, release(t, p, s))
	s.Running = append(s.Running, short(16))
	assert.Equal(t, []folding.Step{unfold(1, 32, 32)}, release(t, p, s), "the latest")
}

func TestEquipartition(t *testing.T) {
	p := &folding.Equipartition{}
	s := folding.State{Processors: 64, Running: []folding.Running{long(64, 64)}, Queued: queue(2, 64)}
	assert.Equal(t, []folding.Step{fold(0, 22, 64), start(0, 21, 64), start(1, 21, 64)}, arrival(t, p, s))
	s = folding.State{Processors: 64, Running: []folding.Running{long(20, 64), short(4)}, Queued: []folding.Queued{waitShort(10)}}
	assert.Equal(t, []folding.Step{unfold(0, 50, 64), start(0, 10, 10)}, release(t, p, s))
	s = folding.State{Processors: 2, Queued: queue(5, 64)}
	assert.Equal(t, []folding.Step{start(0, 1, 2), start(1, 1, 2)}, release(t, p, s))
}

func TestFCFS(t *testing.T) {
	s := folding.State{Processors: 64, Running: []folding.Running{long(20, 20)}, Queued: []folding.Queued{waitLong(40), waitLong(40), waitLong(1)}}
	assert.Equal(t, []folding.Step{start(0, 40, 40)}, release(t, &folding.FCFS{}, s))
	s = folding.State{Processors: 64, Queued: queue(2, 1000)}
	assert.Equal(t, []folding.Step{start(0, 64, 64)}, release(t, &folding.FCFS{}, s))
}

func TestStatesThatCannotBe(t *testing.T) {
	dst := []folding.Step{start(9, 9, 9)}
	for _, s := range []folding.State{
		{}, {Processors: -1}, {Processors: 1 << 29},
		{Processors: 4, Running: []folding.Running{{Processors: 0, Processes: 1}}},
		{Processors: 4, Running: []folding.Running{{Processors: 2, Processes: 1}}},
		{Processors: 4, Running: []folding.Running{{Processors: 2, Processes: 1 << 30}}},
		{Processors: 4, Running: []folding.Running{{Class: 2, Processors: 2, Processes: 2}}},
		{Processors: 4, Running: []folding.Running{short(3), short(2)}},
		{Processors: 4, Queued: []folding.Queued{{}}},
		{Processors: 4, Queued: []folding.Queued{{Request: -1}}},
		{Processors: 4, Queued: []folding.Queued{{Class: 9, Request: 1}}},
		{Processors: 4, Queued: []folding.Queued{{Request: math.MaxInt32}}},
	} {
		for _, name := range names {
			p := policy(t, name)
			got, err := p.AppendArrival(dst, s)
			require.ErrorIs(t, err, folding.ErrState, "%s %+v", name, s)
			require.Equal(t, dst, got)
			_, err = p.AppendRelease(dst, s)
			require.ErrorIs(t, err, folding.ErrState)
		}
	}
	for _, name := range []string{"", "asp0", "asp-1", "aspx", "fifo"} {
		_, err := folding.ParsePolicy(name)
		require.ErrorIs(t, err, folding.ErrPolicy, name)
	}
}

var names = []string{"fjt", "fjt-eager", "folding", "psa", "asp", "asp60", "equipartition", "fcfs"}

func policy(tb testing.TB, name string) folding.Policy {
	p, err := folding.ParsePolicy(name)
	require.NoError(tb, err)
	return p
}

func TestClasses(t *testing.T) {
	c := folding.Classes[string]{Threshold: time.Minute}
	assert.Equal(t, folding.Short, c.Class("cfd"))
	require.NoError(t, c.Observe("cfd", 30*time.Second))
	assert.Equal(t, folding.Short, c.Class("cfd"))
	require.NoError(t, c.Observe("cfd", 90*time.Second))
	assert.Equal(t, folding.Long, c.Class("cfd"))
	require.ErrorIs(t, c.Observe("cfd", -1), folding.ErrState)
	var none folding.Classes[int]
	require.NoError(t, none.Observe(1, time.Hour))
	assert.Equal(t, folding.Short, none.Class(1))
}

// machine does what a policy says, and knows how many steps each job still takes.
type machine struct {
	state folding.State
	left  []int // of the running jobs
	limit int   // folds
}

func (m *machine) do(t *testing.T, steps []folding.Step) {
	idle := m.state.Processors
	for _, r := range m.state.Running {
		idle -= r.Processors
	}
	started := map[int]bool{}
	touched := map[int]bool{}
	for _, step := range steps {
		switch step.Kind {
		case folding.Start:
			require.False(t, started[step.Job])
			started[step.Job] = true
			q := m.state.Queued[step.Job]
			require.Positive(t, step.Processors)
			require.LessOrEqual(t, step.Processors, step.Processes)
			require.LessOrEqual(t, step.Processes, q.Request)
			idle -= step.Processors
			r := folding.Running{Class: q.Class, Processors: step.Processors, Processes: step.Processes}
			require.LessOrEqual(t, r.Folds(), m.limit)
			m.state.Running = append(m.state.Running, r)
			m.left = append(m.left, 1+step.Processes%5)
		default:
			require.False(t, touched[step.Job], "a job is resized once")
			touched[step.Job] = true
			r := &m.state.Running[step.Job]
			require.Equal(t, r.Processes, step.Processes)
			require.Equal(t, step.Kind == folding.Fold, step.Processors < r.Processors)
			require.NotEqual(t, step.Processors, r.Processors)
			idle += r.Processors - step.Processors
			r.Processors = step.Processors
			require.LessOrEqual(t, r.Folds(), m.limit)
		}
		require.GreaterOrEqual(t, idle, 0, "after %+v", step)
	}
	var queued []folding.Queued
	for i, q := range m.state.Queued {
		if !started[i] {
			queued = append(queued, q)
		}
	}
	m.state.Queued = queued
}

// Whatever arrives and ends: steps can be done in their order, no processor is given
// twice, nobody is folded too often, short jobs are not folded by FJT, and all jobs
// end. Started jobs are the latest in the order of running ones, so arrivals are only
// nearly in order, as after a late start.
func checkHistory(t *testing.T, name string, seed uint64, events int) {
	r := rand.New(rand.NewPCG(seed, 1))
	p := policy(t, name)
	m := &machine{state: folding.State{Processors: 1 + r.IntN(80)}, limit: map[string]int{"fjt": 4, "fjt-eager": 4, "folding": 2, "equipartition": 1 << 20}[name]}
	m.limit = max(m.limit, 1)
	arrivals := events / 2
	for arrivals > 0 || len(m.state.Queued) > 0 || len(m.state.Running) > 0 {
		events--
		require.Greater(t, events, -100*len(m.state.Queued)-10_000, "%s, seed %d: nobody ends", name, seed)
		if arrivals > 0 && (len(m.state.Running) == 0 || r.IntN(2) == 0) {
			arrivals--
			m.state.Queued = append(m.state.Queued, folding.Queued{Class: folding.Class(r.IntN(2)), Request: 1 + r.IntN(100)})
			m.do(t, arrival(t, p, m.state))
			if len(m.state.Running) == 0 {
				t.Fatalf("%s, seed %d: nothing runs though jobs wait", name, seed)
			}
			continue
		}
		i := r.IntN(len(m.state.Running))
		if m.left[i]--; m.left[i] > 0 {
			continue
		}
		m.state.Running = append(m.state.Running[:i:i], m.state.Running[i+1:]...)
		m.left = append(m.left[:i:i], m.left[i+1:]...)
		m.do(t, release(t, p, m.state))
		require.False(t, len(m.state.Running) == 0 && len(m.state.Queued) > 0, "%s, seed %d: nothing runs though jobs wait", name, seed)
		for _, x := range m.state.Running {
			require.False(t, (name == "fjt" || name == "fjt-eager") && x.Class == folding.Short && x.Folds() > 1)
		}
	}
}

var histories = flag.Uint64("histories", 400, "number of random histories of each policy")

func TestHistories(t *testing.T) {
	if testing.Short() {
		*histories = min(*histories, 100)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for seed := range *histories {
				checkHistory(t, name, seed, 10+int(seed%90))
			}
		})
	}
}

func FuzzHistories(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which uint8) {
		checkHistory(t, names[int(which)%len(names)], seed, 200)
	})
}

func TestPoliciesDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := crowd(r, 1000, 300, 50)
	for _, name := range names {
		p := policy(t, name)
		var dst []folding.Step
		for range 3 {
			dst, _ = p.AppendArrival(dst[:0], s)
			dst, _ = p.AppendRelease(dst[:0], s)
		}
		require.Zero(t, testing.AllocsPerRun(50, func() {
			dst, _ = p.AppendArrival(dst[:0], s)
			dst, _ = p.AppendRelease(dst[:0], s)
		}), name)
	}
}

// crowd is a full machine: so many jobs run and wait.
func crowd(r *rand.Rand, processors, running, queued int) folding.State {
	s := folding.State{Processors: processors}
	each := processors / running
	for i := range running {
		n := max(1, each)
		if i%3 > 0 {
			n *= 1 << (i % 3)
		}
		s.Running = append(s.Running, folding.Running{Class: folding.Class(r.IntN(10) / 2 % 2), Processors: max(1, each), Processes: n})
	}
	for range queued {
		s.Queued = append(s.Queued, folding.Queued{Class: folding.Class(r.IntN(2)), Request: 1 + r.IntN(processors)})
	}
	return s
}

// obviousArrival decides on the arrival of a short or a long job by the table, from
// scratch, with a slice of the jobs that could be folded, sorted.
func obviousArrival(s folding.State) []folding.Step {
	idle := s.Processors
	var s1, q1 bool
	for _, r := range s.Running {
		idle -= r.Processors
		s1 = s1 || r.Class == folding.Short
	}
	newcomer := s.Queued[len(s.Queued)-1]
	waiting := map[folding.Class]int{}
	for _, q := range s.Queued {
		waiting[q.Class]++
	}
	q1 = waiting[folding.Long] > 1
	victim := func(folds int) (best int) {
		best = -1
		for i, r := range s.Running {
			if r.Class == folding.Long && r.Folds() <= folds && r.Processors > 1 && (best < 0 || r.Processors >= s.Running[best].Processors) {
				best = i
			}
		}
		return best
	}
	var steps []folding.Step
	free := idle
	shrink := func(folds int) bool {
		v := victim(folds)
		if v < 0 {
			return false
		}
		keep := (s.Running[v].Processors + 1) / 2
		free = s.Running[v].Processors - keep
		steps = append(steps, fold(v, keep, s.Running[v].Processes))
		return true
	}
	job := len(s.Queued) - 1
	begin := func(p int) []folding.Step {
		n := min(p, newcomer.Request)
		return append(steps, start(job, n, n))
	}
	if newcomer.Class == folding.Short {
		switch {
		case idle > 0 && waiting[folding.Long] > 0:
			return begin(idle)
		case idle > 0 && idle/waiting[folding.Short] > 0:
			return begin(idle / waiting[folding.Short])
		case idle > 0 || !shrink(2):
			return nil
		}
		return begin(free)
	}
	switch {
	case !q1 && s1:
		return nil
	case q1 && idle > 0:
		if idle/waiting[folding.Long] == 0 {
			return nil
		}
		return begin(idle / waiting[folding.Long])
	case idle == 0 && !shrink(1):
		return nil
	case q1:
		return begin(free)
	}
	n := min(newcomer.Request, s.Processors, 4*free)
	f := 1
	for n > f*free {
		f *= 2
	}
	return append(steps, start(job, (n+f-1)/f, n))
}

func TestArrivalsEqualTheObvious(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := folding.State{Processors: 1 + r.IntN(64)}
		left := s.Processors
		for left > 0 && r.IntN(5) > 0 {
			p := 1 + r.IntN(left)
			left -= p
			n := p
			if r.IntN(2) == 0 {
				n = p << r.IntN(3)
			}
			s.Running = append(s.Running, folding.Running{Class: folding.Class(r.IntN(2)), Processors: p, Processes: n})
		}
		for range 1 + r.IntN(3) {
			s.Queued = append(s.Queued, folding.Queued{Class: folding.Class(r.IntN(2)), Request: 1 + r.IntN(100)})
		}
		require.Equal(t, fmt.Sprint(obviousArrival(s)), fmt.Sprint(arrival(t, &folding.FJT{}, s)), "seed %d: %+v", seed, s)
	}
}

func BenchmarkArrival(b *testing.B) {
	for _, jobs := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
		for _, name := range []string{"fjt", "folding", "psa", "equipartition"} {
			b.Run(fmt.Sprintf("running=%d/policy=%s", jobs, name), func(b *testing.B) {
				s := crowd(rand.New(rand.NewPCG(1, 2)), 10*jobs, jobs, 3)
				s.Queued[2] = waitShort(5)
				p := policy(b, name)
				dst, err := p.AppendArrival(nil, s)
				require.NoError(b, err)
				require.True(b, name != "fjt" || len(dst) == 2, "somebody is to be folded")
				b.ReportAllocs()
				for b.Loop() {
					dst, _ = p.AppendArrival(dst[:0], s)
				}
				if name != "fjt" {
					return
				}
				own := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				begin, n := time.Now(), 0
				for time.Since(begin) < 20*time.Millisecond {
					obviousArrival(s)
					n++
				}
				b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(n)/own, "x-twin")
			})
		}
	}
}
