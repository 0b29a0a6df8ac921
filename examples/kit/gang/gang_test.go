package gang_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/matrix"
)

// steady is a machine on which jobs do so much work of one kind.
func steady(cpu float64, work ...time.Duration) *gang.Fluid {
	return &gang.Fluid{Phases: func(job int) []gang.Phase { return []gang.Phase{{Work: work[job], CPU: cpu}} }}
}

func run(t *testing.T, jobs []gang.Job, c gang.Config) gang.Result {
	t.Helper()
	result, err := gang.Run(t.Context(), jobs, c)
	require.NoError(t, err)
	return result
}

func ends(r gang.Result) (list []time.Duration) {
	for _, o := range r.Jobs {
		list = append(list, o.End)
	}
	return list
}

const s = time.Second

func TestOneGangRunsWithoutLosingTime(t *testing.T) {
	r := run(t, []gang.Job{{Submit: 7 * s, Nodes: 4}}, gang.Config{Nodes: 4, Quantum: s, Machine: steady(1, 2500*time.Millisecond)})
	assert.Equal(t, []gang.Outcome{{Start: 7 * s, End: 9500 * time.Millisecond}}, r.Jobs)
	assert.Equal(t, 3, r.Quanta)
	assert.Equal(t, 1., r.Busy)
}

// Two gangs of the whole machine take turns, two of half of it share a slot.
func TestSlotsTakeTurns(t *testing.T) {
	wide := []gang.Job{{Nodes: 4}, {Nodes: 4}}
	r := run(t, wide, gang.Config{Nodes: 4, Quantum: s, Machine: steady(1, 3*s, 2*s)})
	assert.Equal(t, []time.Duration{5 * s, 4 * s}, ends(r))
	assert.Equal(t, s, r.Jobs[1].Start)
	assert.Equal(t, 2, r.MaxSlots)
	half := []gang.Job{{Nodes: 2}, {Nodes: 2}}
	r = run(t, half, gang.Config{Nodes: 4, Quantum: s, Machine: steady(1, 3*s, 2*s)})
	assert.Equal(t, []time.Duration{3 * s, 2 * s}, ends(r))
	assert.Equal(t, 1, r.MaxSlots)
	assert.InDelta(t, (1+1+.5)/3, r.Busy, 1e-12)
}

// A 0 1 2 3, B 0 1, C 2 3: the second slot holds B and C. When A has left, so
// that one slot remains, nobody waits any more.
func TestSlotsOfGangsThatLeftAreNotRun(t *testing.T) {
	r := run(t, []gang.Job{{Nodes: 4}, {Nodes: 2}, {Nodes: 2}}, gang.Config{Nodes: 4, Quantum: s, Machine: steady(1, 1*s, 3*s, 3*s)})
	assert.Equal(t, []time.Duration{s, 4 * s, 4 * s}, ends(r))
}

// Slot 0 is A A A A B B B . and slot 2 is E . . . . . D D. When B has left, D also
// runs in slot 0, while E keeps the slots from being unified.
func TestAlternatesRunOnIdleNodes(t *testing.T) {
	jobs := []gang.Job{{Nodes: 4}, {Nodes: 3}, {Nodes: 8}, {Nodes: 2}, {Nodes: 1}}
	work := []time.Duration{6 * s, s, 6 * s, 6 * s, 6 * s}
	config := gang.Config{Nodes: 8, Quantum: s, Machine: steady(1, work...)}
	without := run(t, jobs, config)
	config.Alternates, config.Machine = true, steady(1, work...)
	with := run(t, jobs, config)
	assert.Equal(t, 3, with.MaxSlots)
	assert.Equal(t, 18*s, without.Jobs[3].End, "the third of every three quanta")
	assert.Equal(t, 10*s, with.Jobs[3].End, "from the second round on the first, too")
	assert.Equal(t, without.Jobs[0].End, with.Jobs[0].End)
}

// Slot 0 holds A on half of the nodes, slot 1 holds C on all, slot 2 holds E and D.
// D fits beside A, but when A and C run together there is no idle node for it.
func TestAlternatesOfAPairAreIdleInBoth(t *testing.T) {
	jobs := []gang.Job{{Nodes: 4}, {Nodes: 3}, {Nodes: 8}, {Nodes: 2}, {Nodes: 1}}
	const d = 3
	p := &watched{partners: partners{cpu: map[int][]float64{}}, job: d}
	run(t, jobs, gang.Config{Nodes: 8, Quantum: s, Alternates: true, Partner: p, Machine: steady(1, 6*s, s, 6*s, 6*s, 6*s)})
	assert.NotZero(t, p.alone)
	assert.Zero(t, p.shared, "D is never in a pair")
}

// watched counts the quanta of one job.
type watched struct {
	partners
	job, alone, shared int
}

func (w *watched) Observe(job int, u gang.Usage, alone bool) {
	w.partners.Observe(job, u, alone)
	switch {
	case job != w.job:
	case alone:
		w.alone++
	default:
		w.shared++
	}
}

// A. Batat & D. G. Feitelson (2000), eq. (1): 4 nodes of 64 MB, C = 1.
func TestJobsWaitForMemory(t *testing.T) {
	jobs := []gang.Job{{Nodes: 2, Memory: 40}, {Nodes: 2, Memory: 30}, {Nodes: 2, Memory: 30}, {Nodes: 4, Memory: 20}, {Nodes: 1, Memory: 64}, {Nodes: 1, Memory: 24}}
	var waiting []int
	var picture string
	r := run(t, jobs, gang.Config{
		Nodes: 4, Quantum: s, Memory: 64, Factor: 1, Machine: steady(1, 2*s, 9*s, 9*s, 1*s, 1*s, 1*s),
		Watch: func(now time.Duration, c *gang.Cluster) {
			waiting = append(waiting, c.Waiting())
			if now == 0 {
				picture = c.Matrix().String()
			}
		},
	})
	assert.Equal(t, "slot 0 | 0 0 1 1\nslot 1 | 5 . 2 2", picture)
	assert.Equal(t, 2, waiting[0])
	for i, queued := range []bool{false, false, false, true, true, false} {
		assert.Equal(t, queued, r.Jobs[i].Queued, "job %d", i)
	}
	// Without a limit nobody waits.
	r = run(t, jobs, gang.Config{Nodes: 4, Quantum: s, Memory: 64, Machine: steady(1, 2*s, 9*s, 9*s, 1*s, 1*s, 1*s)})
	for i := range jobs {
		assert.False(t, r.Jobs[i].Queued)
	}
}

// A job larger than the memory runs when the load is zero.
func TestJobLargerThanMemoryRunsAlone(t *testing.T) {
	r := run(t, []gang.Job{{Nodes: 1, Memory: 10}, {Nodes: 2, Memory: 100}, {Submit: s, Nodes: 1, Memory: 10}},
		gang.Config{Nodes: 2, Quantum: s, Memory: 64, Factor: 1, Machine: steady(1, 4*s, 2*s, 9*s)})
	assert.True(t, r.Jobs[1].Queued)
	assert.Equal(t, 1, r.Jobs[1].Skips)
	assert.Equal(t, 10*s, r.Jobs[1].Start, "when the others have ended")
}

// One job that needs a whole node waits; small ones pass it fifteen times.
func TestNobodyIsOvertakenMoreThanFifteenTimes(t *testing.T) {
	var jobs []gang.Job
	var work []time.Duration
	jobs, work = append(jobs, gang.Job{Nodes: 1, Memory: 60}), append(work, 5*s)
	jobs, work = append(jobs, gang.Job{Nodes: 1, Memory: 100}), append(work, s)
	for i := range 100 {
		jobs, work = append(jobs, gang.Job{Submit: time.Duration(i) * s / 2, Nodes: 1, Memory: 30}), append(work, s)
	}
	for _, c := range []struct{ skips, want int }{{0, 15}, {3, 3}} {
		slowest := run(t, jobs, gang.Config{Nodes: 1, Quantum: s, Memory: 100, Factor: 1, Skips: c.skips, Machine: steady(1, work...)})
		assert.Equal(t, c.want, slowest.Jobs[1].Skips)
		for _, o := range slowest.Jobs {
			assert.LessOrEqual(t, o.Skips, c.want)
		}
	}
}

func TestCutRun(t *testing.T) {
	r := run(t, []gang.Job{{Nodes: 1}, {Nodes: 1}, {Submit: 100 * s, Nodes: 1}},
		gang.Config{Nodes: 1, Quantum: s, Machine: steady(1, s, time.Hour, s), Until: 10 * s})
	assert.Equal(t, 2, r.Cut)
	assert.Equal(t, gang.Outcome{Start: s, End: 10 * s, Cut: true}, r.Jobs[1])
	assert.Equal(t, gang.Outcome{Start: 100 * s, End: 100 * s, Cut: true}, r.Jobs[2])
	assert.False(t, r.Jobs[0].Cut)
}

func TestWhatCannotBeRun(t *testing.T) {
	machine := steady(1, s, s)
	good := gang.Config{Nodes: 2, Quantum: s, Machine: machine}
	for _, c := range []struct {
		jobs   []gang.Job
		config gang.Config
		want   error
	}{
		{nil, gang.Config{Quantum: s, Machine: machine}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Machine: machine}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Quantum: s}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Quantum: s, Machine: machine, Factor: -1}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Quantum: s, Machine: machine, Factor: 1, Memory: -1}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Quantum: s, Machine: machine, Packing: 99}, gang.ErrConfig},
		{nil, gang.Config{Nodes: 1, Quantum: s, Machine: machine, Skips: -7}, gang.ErrConfig},
		{[]gang.Job{{Nodes: 3}}, good, gang.ErrJob},
		{[]gang.Job{{Nodes: 0}}, good, gang.ErrJob},
		{[]gang.Job{{Nodes: 1, Memory: -1}}, good, gang.ErrJob},
		{[]gang.Job{{Nodes: 1, Submit: s}, {Nodes: 1}}, good, gang.ErrJob},
		{[]gang.Job{{Nodes: 1, Submit: -1}}, good, gang.ErrJob},
		{[]gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: steady(1, 0)}, gang.ErrJob},
		{[]gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: steady(math.NaN(), s)}, gang.ErrJob},
		{[]gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: steady(1.1, s)}, gang.ErrJob},
		{[]gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: &gang.Fluid{Phases: func(int) []gang.Phase { return nil }}}, gang.ErrJob},
	} {
		_, err := gang.Run(t.Context(), c.jobs, c.config)
		require.ErrorIs(t, err, c.want, "%v %v", c.jobs, c.config)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := gang.Run(ctx, []gang.Job{{Nodes: 1}}, good)
	require.ErrorIs(t, err, why)
}

// partners pairs slots 0 and 1, and remembers what it was told.
type partners struct {
	alone, together int
	cpu             map[int][]float64
}

func (p *partners) Match(m *matrix.Matrix[int]) []int {
	partner := slices.Repeat([]int{-1}, m.Slots())
	if m.Slots() >= 2 {
		partner[0], partner[1] = 1, 0
	}
	return partner
}

func (p *partners) Observe(job int, u gang.Usage, alone bool) {
	if alone {
		p.alone++
	} else {
		p.together++
	}
	p.cpu[job] = append(p.cpu[job], u.CPU)
}

// Two gangs of 45 % do not disturb each other; two of 80 % get half the
// processor each, which is 1/1.6 of what they want.
func TestPairsRunTogether(t *testing.T) {
	jobs := []gang.Job{{Nodes: 2}, {Nodes: 2}}
	for _, c := range []struct{ cpu, got float64 }{{.45, .45}, {.8, .5}} {
		p := &partners{cpu: map[int][]float64{}}
		r := run(t, jobs, gang.Config{Nodes: 2, Quantum: s, Machine: steady(c.cpu, 10*s, 10*s), Partner: p})
		want := time.Duration(math.Ceil(10 * c.cpu / c.got * 1e9))
		assert.InDelta(t, want, r.Jobs[0].End, 2)
		assert.InDelta(t, want, r.Jobs[1].End, 2)
		assert.Zero(t, p.alone)
		assert.InDelta(t, c.got, p.cpu[0][0], 1e-9)
	}
	// What switching takes is lost to both.
	machine := steady(.8, 10*s, 10*s)
	machine.Switch = .02
	p := &partners{cpu: map[int][]float64{}}
	run(t, jobs, gang.Config{Nodes: 2, Quantum: s, Machine: machine, Partner: p})
	assert.InDelta(t, .5/1.02, p.cpu[0][0], 1e-9)
	// The I/O of both, 55 % each of two processes, is too much for a server of two.
	p = &partners{cpu: map[int][]float64{}}
	machine = steady(.45, 10*s, 10*s)
	machine.Server = 2
	r := run(t, jobs, gang.Config{Nodes: 2, Quantum: s, Machine: machine, Partner: p})
	assert.InDelta(t, 11*s, r.Jobs[0].End, 2)
}

// Phases end in mid-quantum; rates change there and nowhere else.
func TestPhasesEndInMidQuantum(t *testing.T) {
	ms := time.Millisecond
	phases := [][]gang.Phase{{{Work: 300 * ms, CPU: 1}, {Work: 500 * ms, CPU: 0}}, {{Work: 2 * s, CPU: 1}}}
	p := &partners{cpu: map[int][]float64{}}
	r := run(t, []gang.Job{{Nodes: 1}, {Nodes: 1}}, gang.Config{
		Nodes: 1, Quantum: s, Partner: p,
		Machine: &gang.Fluid{Phases: func(job int) []gang.Phase { return phases[job] }},
	})
	// Half speed until .6 s, then both at full speed: the first ends at 1.1 s. The
	// other has done .3 + .5 s by then and has 1.2 s left.
	assert.InDelta(t, 1100*ms, r.Jobs[0].End, 2)
	assert.InDelta(t, 2300*ms, r.Jobs[1].End, 2)
	assert.InDelta(t, .3, p.cpu[0][0], 1e-9)
	assert.InDelta(t, .7, p.cpu[1][0], 1e-9)
}

// Processes of 10 on a node with room for 25: the eldest two have all they need
// and the third a half, or each five sixths.
func TestMemoryIsShared(t *testing.T) {
	for _, c := range []struct {
		eldest bool
		want   []float64
	}{{true, []float64{1, 1, .5}}, {false, []float64{25. / 30, 25. / 30, 25. / 30}}} {
		got := []float64{1, 1, 1}
		machine := steady(1, time.Hour, time.Hour, time.Hour)
		machine.Available, machine.Eldest = 25, c.eldest
		machine.Memory = func(int) int64 { return 10 }
		machine.Paging = func(job int, share float64) float64 { got[job] = share; return share }
		run(t, []gang.Job{{Nodes: 1}, {Nodes: 1}, {Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: machine, Until: 3 * s})
		assert.Equal(t, c.want, got)
	}
}

// A run loses no work: every gang gets as many quanta as its work needs, no two on
// a node at once, and with alternates nobody is later on average.
func TestWorkIsConserved(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		nodes := 1 + r.IntN(16)
		var jobs []gang.Job
		var work []time.Duration
		var at, sum time.Duration
		for range 40 {
			at += time.Duration(r.Int64N(int64(4 * s)))
			jobs = append(jobs, gang.Job{Submit: at, Nodes: 1 + r.IntN(nodes), Memory: r.Int64N(60)})
			w := 1 + time.Duration(r.Int64N(int64(5*s)))
			work = append(work, w)
			sum += w
		}
		for _, factor := range []float64{0, 1, 1.5} {
			for _, alternates := range []bool{false, true} {
				ran := map[int]float64{}
				config := gang.Config{
					Nodes: nodes, Quantum: s, Memory: 100, Factor: factor, Alternates: alternates, Machine: steady(1, work...),
					Partner: observer(func(job int, u gang.Usage) { ran[job] += u.CPU }),
					Watch: func(_ time.Duration, c *gang.Cluster) {
						if factor == 0 {
							return
						}
						used := make([]int64, nodes)
						load := make([]int, nodes)
						for slot := range c.Matrix().Slots() {
							for n, job := range c.Matrix().Row(slot) {
								used[n] += jobs[job].Memory
								load[n]++
							}
						}
						for n := range used {
							require.LessOrEqual(t, used[n], int64(100*factor), "seed %d", seed)
						}
					},
				}
				result := run(t, jobs, config)
				for i, o := range result.Jobs {
					require.GreaterOrEqual(t, o.Start, jobs[i].Submit)
					require.GreaterOrEqual(t, o.End-o.Start, work[i]-1)
					require.InDelta(t, work[i].Seconds(), ran[i], 1e-6, "seed %d, job %d", seed, i)
					require.LessOrEqual(t, o.Skips, 15)
					require.False(t, o.Cut)
				}
			}
		}
	}
}

type observer func(job int, u gang.Usage)

func (observer) Match(m *matrix.Matrix[int]) []int {
	m.Unify()
	return nil
}

func (o observer) Observe(job int, u gang.Usage, _ bool) { o(job, u) }

// With enough memory a process takes as long as its references; with too little,
// longer by a fault for each that finds its page gone.
func TestReferencesAndFaults(t *testing.T) {
	machine := func(frames int) *gang.Reference {
		return &gang.Reference{
			Frames: frames, Access: time.Millisecond, Fault: 10 * time.Millisecond,
			Process: func(job, node int) (int, int64, func() int) {
				page := -1
				return 5, 3000, func() int { page = (page + 1) % 5; return page } // in turn: the worst for LRU
			},
		}
	}
	jobs := []gang.Job{{Nodes: 2}, {Nodes: 2}}
	roomy := machine(10)
	r := run(t, jobs, gang.Config{Nodes: 2, Quantum: s, Machine: roomy})
	assert.Equal(t, []time.Duration{5 * s, 6 * s}, ends(r))
	assert.Zero(t, roomy.Faults)

	// Five frames hold one of them: each reads its five pages again at every turn.
	tight := machine(5)
	run(t, jobs, gang.Config{Nodes: 2, Quantum: s, Machine: tight})
	assert.Equal(t, int64(2*2*3*5), tight.Faults)

	// With four, every reference faults.
	one := machine(4)
	r = run(t, jobs[:1], gang.Config{Nodes: 2, Quantum: s, Machine: one})
	assert.Equal(t, int64(2*(3000-5)), one.Faults)
	assert.Equal(t, 3*s+2995*10*time.Millisecond, r.Jobs[0].End)
}

func TestReferenceMachinesThatCannotBe(t *testing.T) {
	process := func(pages int, references int64) func(int, int) (int, int64, func() int) {
		return func(int, int) (int, int64, func() int) { return pages, references, func() int { return 0 } }
	}
	for _, c := range []struct {
		machine *gang.Reference
		want    error
	}{
		{&gang.Reference{Frames: 0, Access: 1, Process: process(1, 1)}, gang.ErrConfig},
		{&gang.Reference{Frames: 1, Access: 0, Process: process(1, 1)}, gang.ErrConfig},
		{&gang.Reference{Frames: 1, Access: 1, Fault: -1, Process: process(1, 1)}, gang.ErrConfig},
		{&gang.Reference{Frames: 1, Access: 1, Process: process(0, 1)}, gang.ErrJob},
		{&gang.Reference{Frames: 1, Access: 1, Process: process(1, 0)}, gang.ErrJob},
	} {
		_, err := gang.Run(t.Context(), []gang.Job{{Nodes: 1}}, gang.Config{Nodes: 1, Quantum: s, Machine: c.machine})
		require.ErrorIs(t, err, c.want)
	}
}

func BenchmarkRun(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var jobs []gang.Job
	var work []time.Duration
	var at time.Duration
	for range 1000 {
		at += time.Duration(r.ExpFloat64() * float64(60*s))
		jobs = append(jobs, gang.Job{Submit: at, Nodes: 1 + r.IntN(16), Memory: 10})
		work = append(work, time.Duration(r.ExpFloat64()*float64(90*s))+1)
	}
	quanta := 0
	for b.Loop() {
		result, err := gang.Run(b.Context(), jobs, gang.Config{Nodes: 16, Quantum: s, Memory: 45, Factor: 1, Machine: steady(1, work...)})
		if err != nil {
			b.Fatal(err)
		}
		quanta += result.Quanta
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(quanta), "ns/quantum")
}
