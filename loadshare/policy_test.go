package loadshare_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/loadshare"
)

func newPolicy(t testing.TB, c loadshare.Config) loadshare.Policy {
	t.Helper()
	p, err := loadshare.NewPolicy(c)
	require.NoError(t, err)
	return p
}

// machine has 1000 bytes, of which jobs demand so many, and what is left is free.
func machine(jobs int, demand int64, threshold float64) loadshare.Machine {
	return loadshare.Machine{Jobs: jobs, Demand: demand, Memory: 1000, Free: max(0, 1000-demand), MaxJobs: 3, Threshold: threshold}
}

func only(k int, m loadshare.Machine) func() (int, loadshare.Machine, bool) {
	return func() (int, loadshare.Machine, bool) { return k, m, true }
}

func none() (int, loadshare.Machine, bool) { return 0, loadshare.Machine{}, false }

// The rows of the loop, with Q exactly at the thresholds: an idle machine takes
// everything, so that what is not done is not wanted.
func TestDecideByRowOfTheLoop(t *testing.T) {
	var (
		accept  = loadshare.Decision{Accept: true}
		submit  = loadshare.Decision{Submit: true, SubmitTo: 7}
		both    = loadshare.Decision{Submit: true, SubmitTo: 7, Migrate: true, Job: 1, To: 7}
		migrate = loadshare.Decision{Migrate: true, Job: 1, To: 7}
	)
	for _, c := range []struct {
		name      string
		threshold float64
		jobs      int
		demand    int64
		want      loadshare.Decision
		inLoop    loadshare.Decision
	}{
		{"room and few jobs", 0, 2, 999, accept, accept},
		{"no jobs at all", 0, 0, 0, accept, accept},
		{"room but as many jobs as allowed", 0, 3, 999, submit, loadshare.Decision{}},
		{"room but more jobs than allowed", 0, 4, 999, both, migrate},
		{"exactly full", 0, 2, 1000, submit, submit},
		{"exactly full, as many jobs as allowed", 0, 3, 1000, submit, submit},
		{"exactly full, more jobs than allowed", 0, 4, 1000, both, both},
		{"one byte over", 0, 2, 1001, both, migrate},
		{"one byte over, as many jobs as allowed", 0, 3, 1001, both, migrate},
		{"one byte over, more jobs than allowed", 0, 4, 1001, both, migrate},
		{"early warning: a byte below it", -.05, 2, 949, accept, accept},
		{"early warning: exactly", -.05, 2, 950, submit, submit},
		{"early warning: full, nothing pages", -.05, 3, 1000, submit, submit},
		{"early warning: full, more jobs than allowed", -.05, 4, 1000, both, both},
		{"early warning: one byte over", -.05, 2, 1001, both, migrate},
		{"faults allowed: a byte below", .05, 2, 1049, accept, accept},
		{"faults allowed: exactly", .05, 2, 1050, both, migrate},
		{"faults allowed: below, as many jobs as allowed", .05, 3, 1049, submit, loadshare.Decision{}},
		{"faults allowed: below, more jobs than allowed", .05, 4, 1049, both, migrate},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := loadshare.State{
				Machine: machine(c.jobs, c.demand, c.threshold),
				Running: []loadshare.Job{{WorkingSet: 1}, {WorkingSet: 2}}, Waiting: true,
			}
			for inLoop, want := range map[bool]loadshare.Decision{false: c.want, true: c.inLoop} {
				p := newPolicy(t, loadshare.Config{Select: loadshare.LargestWorkingSet, InLoop: inLoop})
				assert.Equal(t, want, p.Decide(state, only(7, machine(0, 0, 0))), "in loop: %v", inLoop)

				assert.Equal(t, loadshare.Decision{Accept: want.Accept}, p.Decide(state, none), "no other machine")
				full := machine(3, 0, 0)
				assert.Equal(t, loadshare.Decision{Accept: want.Accept}, p.Decide(state, only(7, full)), "all others have as many jobs as allowed")

				s := state
				s.Waiting = false
				want.Submit, want.SubmitTo = false, 0
				assert.Equal(t, want, p.Decide(s, only(7, machine(0, 0, 0))), "nothing waits")
				s.Migrating = true
				assert.Equal(t, loadshare.Decision{Accept: want.Accept}, p.Decide(s, only(7, machine(0, 0, 0))), "one migrates already")
				s.Migrating, s.Running = false, nil
				assert.Equal(t, loadshare.Decision{Accept: want.Accept}, p.Decide(s, only(7, machine(0, 0, 0))), "no job can be migrated")
			}
		})
	}
}

func TestThreeRegimes(t *testing.T) {
	state := func(threshold float64, demand int64, short time.Duration) loadshare.State {
		return loadshare.State{Machine: machine(2, demand, threshold), Running: []loadshare.Job{{WorkingSet: 1}}, Short: short}
	}
	migrates := func(c loadshare.Config, s loadshare.State) bool {
		c.Select = loadshare.Oldest
		p := newPolicy(t, c)
		d := p.Decide(s, only(1, machine(0, 0, 0)))
		assert.Equal(t, d.Migrate, p.Short(s.Machine) && s.Short >= c.Grace)
		return d.Migrate
	}
	// MT < 0: at once.
	assert.False(t, migrates(loadshare.Config{}, state(-.15, 1000, 0)))
	assert.True(t, migrates(loadshare.Config{}, state(-.15, 1001, 0)))
	// MT = 0: after the grace.
	grace := loadshare.Config{Grace: time.Second}
	assert.False(t, migrates(grace, state(0, 1001, 0)))
	assert.False(t, migrates(grace, state(0, 1001, time.Second-1)))
	assert.True(t, migrates(grace, state(0, 1001, time.Second)))
	// MT > 0: from the internal threshold on, which is MT at least.
	internal := loadshare.Config{Internal: .1}
	assert.False(t, migrates(internal, state(.05, 1099, time.Hour)))
	assert.True(t, migrates(internal, state(.05, 1100, 0)))
	assert.False(t, migrates(internal, state(.15, 1149, time.Hour)))
	assert.True(t, migrates(internal, state(.15, 1150, 0)))
	// Of too many jobs one goes without a grace.
	grace.Select = loadshare.Oldest
	crowded := loadshare.State{Machine: machine(4, 10, 0), Running: []loadshare.Job{{}}}
	assert.True(t, newPolicy(t, grace).Decide(crowded, only(1, machine(0, 0, 0))).Migrate)
}

func TestBoundOfJobsLowered(t *testing.T) {
	p := newPolicy(t, loadshare.Config{Select: loadshare.Youngest})
	s := loadshare.State{Machine: machine(5, 500, 0), Running: make([]loadshare.Job, 5)}
	for s.Machine.MaxJobs = 5; s.Machine.MaxJobs > 0; s.Machine.MaxJobs-- {
		d := p.Decide(s, only(1, machine(0, 0, 0)))
		assert.Equal(t, s.Machine.MaxJobs < 5, d.Migrate, "CT = %d", s.Machine.MaxJobs)
		assert.False(t, d.Accept)
	}
	assert.True(t, p.Decide(s, none).Accept, "no bound")
}

func TestTakes(t *testing.T) {
	for _, c := range []struct {
		name         string
		m            loadshare.Machine
		workingSet   int64
		printed, fit bool
	}{
		{"below the threshold and fits", loadshare.Machine{Memory: 100, Demand: 90, Free: 10}, 9, true, true},
		{"exactly fits, which is not enough", loadshare.Machine{Memory: 100, Demand: 90, Free: 10}, 10, true, false},
		{"fits with the buffer cache", loadshare.Machine{Memory: 100, Demand: 90, Free: 5, Cache: 5}, 9, true, true},
		{"fits above the threshold", loadshare.Machine{Memory: 100, Demand: 90, Free: 10, Threshold: -.1}, 9, true, false},
		{"neither", loadshare.Machine{Memory: 100, Demand: 90, Free: 10, Threshold: -.1}, 10, false, false},
		{"a job without memory where none is free", loadshare.Machine{Memory: 100, Demand: 100}, 0, false, false},
		{"a job without memory below the threshold", loadshare.Machine{Memory: 100, Demand: 99, Free: 1}, 0, true, true},
		{"no slot", loadshare.Machine{Memory: 100, Free: 100, Jobs: 2, MaxJobs: 2}, 1, false, false},
		{"the sum saturates", loadshare.Machine{Memory: 1, Demand: 1, Free: math.MaxInt64, Cache: math.MaxInt64}, math.MaxInt64 - 1, true, false},
		{"a job larger than any memory", loadshare.Machine{Memory: 100, Demand: 1, Free: 99}, math.MaxInt64, true, false},
		{"a threshold that is none", loadshare.Machine{Memory: 100, Free: 100, Threshold: math.NaN()}, 10, true, false},
	} {
		assert.Equal(t, c.printed, newPolicy(t, loadshare.Config{}).Takes(c.m, c.workingSet), c.name)
		assert.Equal(t, c.fit, newPolicy(t, loadshare.Config{Fit: true}).Takes(c.m, c.workingSet), c.name)
	}
}

func TestOversize(t *testing.T) {
	for _, c := range []struct {
		demand, memory int64
		want           float64
	}{
		{0, 100, -1}, {0, 0, -1}, {-5, 100, -1}, {1, 0, math.Inf(1)}, {1, -1, math.Inf(1)},
		{100, 100, 0}, {105, 100, .05}, {85, 100, -.15}, {math.MaxInt64, 1, math.MaxInt64}, {200, 100, 1},
	} {
		m := loadshare.Machine{Demand: c.demand, Memory: c.memory}
		assert.Equal(t, c.want, m.Oversize(), "%d of %d", c.demand, c.memory)
		assert.Equal(t, c.want < 0, m.Accepts())
	}
	assert.False(t, loadshare.Machine{Memory: 1, Threshold: math.NaN()}.Accepts())
}

func TestPolicyRefused(t *testing.T) {
	for text, c := range map[string]loadshare.Config{
		"NaN":  {Internal: math.NaN()},
		"-1ns": {Grace: -1},
	} {
		_, err := loadshare.NewPolicy(c)
		require.ErrorIs(t, err, loadshare.ErrPolicy)
		assert.ErrorContains(t, err, text)
	}
}

func TestCostDecidesWithAnySelector(t *testing.T) {
	cost := loadshare.Network{Latency: time.Second, BitsPerSecond: 8}.Migration // a second a byte
	p := newPolicy(t, loadshare.Config{Select: loadshare.Oldest, Cost: cost})
	s := loadshare.State{Machine: machine(3, 1001, 0), Running: []loadshare.Job{{Age: 1, WorkingSet: 1}, {Age: 5 * time.Second, WorkingSet: 9}}}
	assert.False(t, p.Decide(s, only(1, machine(0, 0, 0))).Migrate, "5 s = 10 s / (3 − 1)")
	s.Running[1].Age++
	assert.True(t, p.Decide(s, only(1, machine(0, 0, 0))).Migrate)
	assert.False(t, p.Decide(s, only(1, machine(1, 0, 0))).Migrate, "10 s / (3 − 2)")
	s.Running[1].Age = time.Hour
	assert.True(t, p.Decide(s, only(1, machine(1, 0, 0))).Migrate)
	assert.False(t, p.Decide(s, only(1, machine(2, 0, 0))).Migrate, "as many there as here")
}

// What is known of the machines is old: ten of them choose the same target, which
// takes one after another only as long as it looks again.
func TestTenChooseOneTarget(t *testing.T) {
	p := newPolicy(t, loadshare.Config{Select: loadshare.LargestWorkingSet, Fit: true})
	machines := make([]loadshare.Machine, 11)
	for k := range machines[:10] {
		machines[k] = machine(2, 1300, 0)
	}
	machines[10] = machine(0, 0, 0)
	x, err := loadshare.NewIndex(machines)
	require.NoError(t, err)
	taken := 0
	for k := range machines[:10] {
		s := loadshare.State{Machine: machines[k], Running: []loadshare.Job{{WorkingSet: 300}}}
		d := p.Decide(s, func() (int, loadshare.Machine, bool) { return x.Candidate(k) })
		require.Equal(t, loadshare.Decision{Migrate: true, Job: 0, To: 10}, d)
		if target := &machines[10]; p.Takes(*target, 300) {
			*target = machine(target.Jobs+1, target.Demand+300, 0)
			taken++
		}
	}
	assert.Equal(t, 3, taken)
}

// A second reading of the loop, from the text: what may happen in which state.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		draw := func() loadshare.Machine {
			thresholds := []float64{-.15, -.05, 0, .05, .15}
			m := machine(r.IntN(6), r.Int64N(1400), thresholds[r.IntN(5)])
			m.MaxJobs, m.Cache = r.IntN(5), r.Int64N(100)
			if r.IntN(4) == 0 { // exactly at a threshold
				m.Demand = 1000 + int64(math.Round(1000*thresholds[r.IntN(5)]))
			}
			return m
		}
		selectors := []loadshare.Selector{nil, loadshare.MostFaults, loadshare.LargestWorkingSet, loadshare.MostIO, loadshare.Oldest, loadshare.Youngest, loadshare.HighestWeight, loadshare.LowestWeight}
		c := loadshare.Config{
			Select: selectors[r.IntN(len(selectors))], Internal: float64(r.IntN(3)) / 10,
			Grace: time.Duration(r.IntN(3)), Fit: r.IntN(2) == 0, InLoop: r.IntN(2) == 0,
		}
		if r.IntN(2) == 0 {
			c.Cost = func(ws int64) time.Duration { return time.Duration(ws) }
		}
		s := loadshare.State{
			Machine: draw(), Running: someJobs(r), Waiting: r.IntN(2) == 0,
			Migrating: r.IntN(3) == 0, Short: time.Duration(r.IntN(4)),
		}
		target, called := draw(), 0
		d := newPolicy(t, c).Decide(s, func() (int, loadshare.Machine, bool) {
			called++
			return 9, target, true
		})
		require.LessOrEqual(t, called, 1)

		unbounded := func(m loadshare.Machine) loadshare.Machine {
			if m.MaxJobs == 0 {
				m.MaxJobs = 1000
			}
			return m
		}
		here, there := unbounded(s.Machine), unbounded(target)
		q := float64(here.Demand-1000) / 1000
		if here.Demand == 0 {
			q = -1
		}
		room := q < here.Threshold
		var want loadshare.Decision
		if room && here.Jobs < here.MaxJobs {
			want.Accept = true
		} else {
			quiet := !room && q <= 0
			if s.Waiting && (quiet || !c.InLoop) && there.Jobs < there.MaxJobs && target.Oversize() < target.Threshold {
				want.Submit, want.SubmitTo = true, 9
			}
			memory := !room && !quiet && q >= c.Internal && s.Short >= c.Grace
			if (memory || here.Jobs > here.MaxJobs) && !s.Migrating && c.Select != nil && len(s.Running) > 0 {
				i, _ := c.Select(s.Running)
				j := s.Running[i]
				below, fits := target.Oversize() < target.Threshold, target.Free+target.Cache > j.WorkingSet
				ok := below || fits
				if c.Fit {
					ok = below && fits
				}
				if c.Cost != nil {
					gain := here.Jobs - (there.Jobs + 1)
					ok = ok && gain > 0 && float64(j.Age) > float64(j.WorkingSet)/float64(gain)
				}
				if ok && there.Jobs < there.MaxJobs {
					want.Migrate, want.Job, want.To = true, i, 9
				}
			}
		}
		require.Equal(t, want, d, "%+v\n%+v\n%+v", c, s, target)
	})
}

func someJobs(r *rand.Rand) []loadshare.Job {
	jobs := make([]loadshare.Job, r.IntN(5))
	for i := range jobs {
		jobs[i] = loadshare.Job{
			Faults: float64(r.IntN(4)), WorkingSet: r.Int64N(600), IO: r.Int64N(4), Age: time.Duration(r.IntN(600)),
		}
	}
	return jobs
}

// The unit of memory does not matter.
func TestDecideScales(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		here, there := machine(r.IntN(5), r.Int64N(1300), 0), machine(r.IntN(5), r.Int64N(1300), .05)
		s := loadshare.State{Machine: here, Running: someJobs(r), Waiting: true}
		p := newPolicy(t, loadshare.Config{Select: loadshare.HighestWeight, Fit: true})
		d := p.Decide(s, only(1, there))
		const unit = 1 << 20
		scale := func(m *loadshare.Machine) {
			m.Demand, m.Memory, m.Free = unit*m.Demand, unit*m.Memory, unit*m.Free
		}
		scale(&s.Machine)
		scale(&there)
		for i := range s.Running {
			s.Running[i].WorkingSet *= unit
		}
		assert.Equal(t, d, p.Decide(s, only(1, there)))
	}
}

func TestDecideDoesNotAllocate(t *testing.T) {
	machines := make([]loadshare.Machine, 1000)
	for k := range machines {
		machines[k] = machine(1, int64(k), 0)
	}
	x, err := loadshare.NewIndex(machines)
	require.NoError(t, err)
	network := loadshare.Network{Latency: time.Millisecond, BitsPerSecond: 1e9}
	s := loadshare.State{Machine: machine(3, 1500, 0), Running: someJobs(rand.New(rand.NewPCG(3, 0))), Waiting: true}
	require.NotEmpty(t, s.Running)
	weights := make([]float64, 0, len(s.Running))
	for _, selector := range []loadshare.Selector{loadshare.MostFaults, loadshare.LargestWorkingSet, loadshare.MostIO, loadshare.Oldest, loadshare.Youngest, loadshare.HighestWeight, loadshare.LowestWeight} {
		p := newPolicy(t, loadshare.Config{Select: selector, Cost: network.Migration})
		self := 0
		require.Zero(t, testing.AllocsPerRun(100, func() {
			p.Decide(s, func() (int, loadshare.Machine, bool) { return x.Candidate(self) })
			self++
			weights = loadshare.AppendWeights(weights[:0], s.Running)
		}))
	}
}
