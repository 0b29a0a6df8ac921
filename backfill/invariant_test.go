package backfill_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// usage is the slow picture of a state: who holds what, and when. It is checked
// instant by instant against the rules of the package comment.
type usage struct {
	backfill.State
	from, to []time.Duration // running jobs, then reservations
	need     [][]int64
	holder   []int // queue index, -1 for a running job
}

func usageOf(s backfill.State) usage {
	u := usage{State: s}
	for _, r := range s.Running {
		u.add(min(s.Now, r.End), r.End, r.Need, -1)
	}
	for i, at := range s.Reserved {
		if at < backfill.Forever {
			u.add(at, plus(at, s.Queue[i].Estimate), s.Queue[i].Need, i)
		}
	}
	return u
}

func (u *usage) add(from, to time.Duration, need []int64, holder int) {
	u.from, u.to = append(u.from, from), append(u.to, to)
	u.need, u.holder = append(u.need, need), append(u.holder, holder)
}

// at returns what is used at an instant by all but one holder.
func (u *usage) at(t time.Duration, except int) []int64 {
	used := make([]int64, len(u.Capacity))
	for k := range u.from {
		if u.from[k] <= t && t < u.to[k] && (u.holder[k] < 0 || u.holder[k] != except) {
			for i, n := range u.need[k] {
				used[i] += n
			}
		}
	}
	return used
}

func (u *usage) limit(i int) []int64 {
	if u.Queue[i].Relaxed && u.Relaxed != nil {
		return u.Relaxed
	}
	return u.Capacity
}

func within(used, need, limit []int64) bool {
	for i := range limit {
		if used[i]+need[i] > limit[i] {
			return false
		}
	}
	return true
}

// startable says whether queued job i could start now and leave all other
// reservations as they are.
func (u *usage) startable(i int) bool {
	j := u.Queue[i]
	if !within(u.at(u.Now, i), j.Need, u.limit(i)) {
		return false
	}
	for k, h := range u.holder {
		if h < 0 || h == i || u.from[k] >= plus(u.Now, j.Estimate) {
			continue
		}
		if !within(u.at(u.from[k], i), j.Need, u.limit(h)) {
			return false
		}
	}
	return true
}

// watchdog looks at a planner after each pass.
type watchdog struct {
	machine backfill.Machine
	planner *backfill.Planner[int]
	first   map[int]time.Duration // first promise
	last    map[int]time.Duration // those after the last pass
	settled bool                  // the last compression moved nobody
}

func (w *watchdog) look(t *testing.T, now time.Duration, started []int) {
	state, ids := w.planner.State()
	u := usageOf(state)
	require.Equal(t, now, state.Now)

	// Nothing is used that is not there, now or at any planned instant.
	for _, at := range append([]time.Duration{now}, u.from...) {
		if used := u.at(at, -1); w.machine.Relaxed == nil {
			require.True(t, within(used, make([]int64, len(used)), w.machine.Capacity), "%v used at %v of %v", used, at, state)
		}
	}

	// Nobody starts after the first promise, nobody is promised a later start.
	moved := false
	for _, i := range started {
		if at, ok := w.first[i]; ok && w.machine.Relaxed == nil {
			require.LessOrEqual(t, now, at, "start of job %d against its first promise", i)
		}
		before, held := w.last[i]
		moved = moved || held && before > now
	}
	promises := map[int]time.Duration{}
	for k, i := range ids {
		at, ok := w.planner.Reserved(i)
		require.Equal(t, ok, state.Reserved[k] < backfill.Forever)
		if before, held := w.last[i]; held {
			moved = moved || at != before
			if w.machine.Relaxed == nil {
				require.True(t, ok, "job %d lost its promise", i)
				require.LessOrEqual(t, at, before, "job %d is put back", i)
			}
		}
		if ok {
			promises[i] = at
			require.Greater(t, at, now)
			if _, known := w.first[i]; !known {
				w.first[i] = at
			}
		}
	}
	if moved {
		w.settled = false
	}
	w.last = promises

	// The first of the queue, as many as the depth says, hold promises.
	for k := range ids {
		require.Equal(t, k < int(max(0, w.machine.Depth)), state.Reserved[k] < backfill.Forever, "job %d of the queue", k)
	}

	// Nobody was left out that could have started. What a holder gives back is
	// for those behind it, and for those before it at the next compression.
	for k, i := range ids {
		if w.machine.Depth == backfill.FCFS {
			require.False(t, k == 0 && u.startable(k), "the head could start at %v: %v", now, state)
			continue
		}
		if _, holds := promises[i]; holds && !w.settled && w.machine.Depth > 1 {
			continue
		}
		require.False(t, u.startable(k), "job %d could start at %v: %v", i, now, state)
	}

	// The explanation of what is left starts nobody and keeps all promises.
	decisions, err := backfill.Explain(state)
	require.NoError(t, err)
	for k, d := range decisions {
		require.NotEqual(t, backfill.Starts, d.Cause)
		require.Equal(t, state.Reserved[k] < backfill.Forever, d.Reserved)
		if d.Reserved {
			require.Equal(t, state.Reserved[k], d.Start)
		}
	}
}

// watched tells a watchdog that a compression is due.
type watched struct {
	stateful
	dog *watchdog
}

func (s watched) finish(t *testing.T, now time.Duration, i int) {
	s.dog.settled = true // until the pass moves somebody
	s.stateful.finish(t, now, i)
}

// FuzzPromises: nothing is used that is not there; nobody starts after its
// first promise (for EASY, no head after its first shadow time) and no promise
// is put off, and its twin: after every pass, nobody waits who could start.
func FuzzPromises(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed, uint8(5+seed%50), uint8(seed%3), uint8(seed%5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, resources, policy uint8) {
		m, tasks := workload(seed, int(n), 1+int(resources%3))
		m.Depth = policies[int(policy)%len(policies)].depth
		p := newStateful(t, m)
		dog := &watchdog{machine: m, planner: p.Planner, first: map[int]time.Duration{}, last: map[int]time.Duration{}, settled: true}
		starts := replay(t, watched{p, dog}, tasks, func(now time.Duration, started []int) { dog.look(t, now, started) })
		for i, at := range starts {
			require.GreaterOrEqual(t, at, tasks[i].submit)
			require.Less(t, at, backfill.Forever, "job %d never starts", i)
		}
		if m.Depth == backfill.FCFS {
			require.True(t, slices.IsSorted(starts), "FCFS starts in order: %v", starts)
		}
	})
}

// The same for relaxed limits, where promises may be broken (with several
// holders, one that starts above capacity can keep a strict one from its
// start): only that nobody was left out, under policies of one holder or none.
func FuzzRelaxedMaximality(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(5+seed%50), uint8(seed%3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, policy uint8) {
		m, tasks := workload(seed, int(n), 2)
		r := rand.New(rand.NewPCG(seed, 5))
		m.Relaxed = []int64{m.Capacity[0], m.Capacity[1] + r.Int64N(m.Capacity[1]+1)}
		for i := range tasks {
			tasks[i].job.Relaxed = r.IntN(3) == 0
		}
		m.Depth = []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY}[policy%3]
		p := newStateful(t, m)
		dog := &watchdog{machine: m, planner: p.Planner, first: map[int]time.Duration{}, last: map[int]time.Duration{}, settled: true}
		replay(t, p, tasks, func(now time.Duration, started []int) { dog.look(t, now, started) })
	})
}

// Changes of the input that must not change the schedule, or change it in a
// known way.
func FuzzMetamorphic(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(5+seed%40), uint8(seed%3), uint8(seed%5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, resources, policy uint8) {
		m, tasks := workload(seed, int(n), 1+int(resources%3))
		m.Depth = policies[int(policy)%len(policies)].depth
		want := replay(t, newStateful(t, m), tasks, nil)

		change := func(of func(m *backfill.Machine, i int, k *task)) (backfill.Machine, []task) {
			m, tasks := m, slices.Clone(tasks)
			m.Capacity = slices.Clone(m.Capacity)
			for i := range tasks {
				tasks[i].job.Need = slices.Clone(tasks[i].job.Need)
				of(&m, i, &tasks[i])
			}
			return m, tasks
		}
		same := func(name string, m backfill.Machine, tasks []task) {
			require.Equal(t, want, replay(t, newStateful(t, m), tasks, nil), name)
		}

		_, changed := change(func(_ *backfill.Machine, _ int, k *task) {
			k.submit, k.run, k.job.Estimate = 3*k.submit, 3*k.run, 3*k.job.Estimate
		})
		got := replay(t, newStateful(t, m), changed, nil)
		for i := range got {
			require.Equal(t, 3*want[i], got[i], "three times as slow")
		}

		for _, shift := range []time.Duration{12345, -12345, 1 << 60, -1 << 60, backfill.Forever - 1<<20, -backfill.Forever} {
			_, changed := change(func(_ *backfill.Machine, _ int, k *task) { k.submit += shift })
			got := replay(t, newStateful(t, m), changed, nil)
			for i := range got {
				require.Equal(t, want[i]+shift, got[i], "shifted by %v", shift)
			}
		}

		m2, changed := change(func(m *backfill.Machine, i int, k *task) {
			k.job.Need = append(k.job.Need, 0)
			if i == 0 {
				m.Capacity = append(m.Capacity, int64(seed%3))
			}
		})
		same("a resource that nobody needs", m2, changed)

		m2, changed = change(func(m *backfill.Machine, i int, k *task) {
			k.job.Need = append(k.job.Need, int64(i)<<40)
			if i == 0 {
				m.Capacity = append(m.Capacity, math.MaxInt64)
			}
		})
		same("a resource without limit", m2, changed)

		m2, changed = change(func(m *backfill.Machine, i int, k *task) {
			k.job.Need = append(k.job.Need, k.job.Need[0])
			if i == 0 {
				m.Capacity = append(m.Capacity, m.Capacity[0])
			}
		})
		same("a resource twice", m2, changed)

		m2, changed = change(func(m *backfill.Machine, i int, k *task) {
			slices.Reverse(k.job.Need)
			if i == 0 {
				slices.Reverse(m.Capacity)
			}
		})
		same("resources in another order", m2, changed)

		m2, changed = change(func(m *backfill.Machine, i int, k *task) {
			for r := range k.job.Need {
				k.job.Need[r] *= 1 << 50
			}
			if i == 0 {
				for r := range m.Capacity { // less than one more unit each
					m.Capacity[r] = m.Capacity[r]<<50 + 1<<50 - 1
				}
			}
		})
		same("resources in smaller units", m2, changed)

		m2, changed = change(func(m *backfill.Machine, i int, k *task) {
			if m.Relaxed = slices.Clone(m.Capacity); i%2 == 0 {
				k.job.Relaxed = true
			}
		})
		same("a relaxed limit that is none", m2, changed)
	})
}

// An estimate that reaches Forever is the same as Forever.
func TestEstimatesSaturate(t *testing.T) {
	for seed := range uint64(200) {
		m, tasks := workload(seed, 30, 1+int(seed%2))
		r := rand.New(rand.NewPCG(seed, 9))
		for _, p := range policies {
			m.Depth = p.depth
			long, reaching := slices.Clone(tasks), slices.Clone(tasks)
			for i := range tasks {
				if r.IntN(5) == 0 { // ends all the same
					long[i].job.Estimate = backfill.Forever
					reaching[i].job.Estimate = backfill.Forever - tasks[i].submit
				}
			}
			want := replay(t, newStateful(t, m), long, nil)
			require.Equal(t, want, replay(t, newPure(m), long, nil))
			require.Equal(t, want, replay(t, newStateful(t, m), reaching, nil))
			require.Equal(t, want, replay(t, newPure(m), reaching, nil))
		}
	}
}

// A depth that no queue exceeds is conservative, at every pass.
func TestDeepEnoughIsConservative(t *testing.T) {
	for seed := range uint64(200) {
		m, tasks := workload(seed, 40, 1+int(seed%3))
		m.Depth = backfill.Conservative
		conservative, longest := newStateful(t, m), 1
		promises := map[time.Duration][]time.Duration{}
		want := replay(t, conservative, tasks, func(now time.Duration, _ []int) {
			state, _ := conservative.State()
			longest = max(longest, len(state.Queue))
			promises[now] = state.Reserved
		})
		m.Depth = backfill.Depth(longest)
		deep := newStateful(t, m)
		got := replay(t, deep, tasks, func(now time.Duration, _ []int) {
			state, _ := deep.State()
			require.Equal(t, promises[now], state.Reserved, "at %v", now)
		})
		require.Equal(t, want, got)
	}
}

// A depth of one finds nothing to compress for that a fresh shadow time does
// not have: EASY that forgets is EASY that remembers.
func TestEASYNeedNotRemember(t *testing.T) {
	for seed := range uint64(300) {
		m, tasks := workload(seed, 40, 1+int(seed%3))
		m.Depth = backfill.EASY
		require.Equal(t, replay(t, newStateful(t, m), tasks, nil), replay(t, forgetful{newPure(m)}, tasks, nil))
	}
}

// forgetful makes all reservations anew at every pass.
type forgetful struct{ *pure }

func (s forgetful) pass(t *testing.T, now time.Duration) []int {
	for i := range s.state.Reserved {
		s.state.Reserved[i] = backfill.Forever
	}
	return s.pure.pass(t, now)
}

// Reserve is the first half of a pass, however often it is made, and after it
// the promises of those who start next are for now.
func TestReserveThenStartIsOnePass(t *testing.T) {
	for seed := range uint64(300) {
		m, tasks := workload(seed, 40, 1+int(seed%3))
		for _, p := range policies {
			m.Depth = p.depth
			want := replay(t, newStateful(t, m), tasks, nil)
			require.Equal(t, want, replay(t, twice{newStateful(t, m)}, tasks, nil), "seed %d under %s", seed, p.name)
		}
	}
}

// twice reserves before it starts jobs.
type twice struct{ stateful }

func (s twice) pass(t *testing.T, now time.Duration) []int {
	require.NoError(t, s.Reserve(now))
	before, _ := s.State()
	require.NoError(t, s.Reserve(now))
	after, _ := s.State()
	require.Equal(t, before, after, "nothing is left to reserve")
	started := s.stateful.pass(t, now)
	var due int
	for _, at := range before.Reserved {
		if at <= now {
			due++
		}
	}
	require.LessOrEqual(t, due, len(started))
	again, err := s.AppendStarts(nil, now)
	require.NoError(t, err)
	require.Empty(t, again, "a pass leaves nothing for another")
	return started
}

// IDs are names: any type and any values do.
func TestNamesDoNotMatter(t *testing.T) {
	for seed := range uint64(100) {
		m, tasks := workload(seed, 40, 1+int(seed%3))
		r := rand.New(rand.NewPCG(seed, 13))
		names := r.Perm(len(tasks))
		for _, p := range policies {
			m.Depth = p.depth
			want := replay(t, newStateful(t, m), tasks, nil)
			byName, err := backfill.NewPlanner[string](m)
			require.NoError(t, err)
			require.Equal(t, want, replay(t, named{byName, names}, tasks, nil))
		}
	}
}

type named struct {
	*backfill.Planner[string]
	names []int
}

func (s named) name(i int) string { return fmt.Sprint("job-", s.names[i]) }
func (s named) submit(t *testing.T, i int, j backfill.Job) {
	require.NoError(t, s.Submit(s.name(i), j))
}
func (s named) finish(t *testing.T, now time.Duration, i int) {
	require.NoError(t, s.Finish(now, s.name(i)))
}
func (s named) next() (time.Duration, bool)          { return s.Next() }
func (s named) promised(i int) (time.Duration, bool) { return s.Reserved(s.name(i)) }
func (s named) pass(t *testing.T, now time.Duration) []int {
	ids, err := s.AppendStarts(nil, now)
	require.NoError(t, err)
	var started []int
	for _, id := range ids {
		started = append(started, slices.IndexFunc(s.names, func(n int) bool { return fmt.Sprint("job-", n) == id }))
	}
	return started
}

// Without a queue behind the head there is nothing to backfill: one job at a
// time, all policies are one.
func TestPoliciesAgreeOnAShortQueue(t *testing.T) {
	for seed := range uint64(100) {
		m, tasks := workload(seed, 30, 1+int(seed%3))
		m.Depth = backfill.FCFS
		for i := range tasks { // a job comes when the one before has ended
			if i > 0 {
				tasks[i].submit = tasks[i-1].submit + 20
			}
		}
		want := replay(t, newStateful(t, m), tasks, nil)
		for _, p := range policies {
			m.Depth = p.depth
			require.Equal(t, want, replay(t, newStateful(t, m), tasks, nil))
		}
	}
}
