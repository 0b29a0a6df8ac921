package backfill_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
)

// s is the second of the worked schedules.
const s = time.Second

func seconds(of ...int) []time.Duration {
	out := make([]time.Duration, len(of))
	for i, n := range of {
		out[i] = time.Duration(n) * s
	}
	return out
}

// came makes a task that runs exactly its estimate.
func came(submit, run int, need ...int64) task {
	length := time.Duration(run) * s
	return task{submit: time.Duration(submit) * s, job: backfill.Job{Need: need, Estimate: length}, run: length}
}

// Wang et al. §3, Eqs. 1 and 2 with C = 0: processors and memory must both
// suffice, equality starts. The machine and the five jobs are ours: 10
// processors and 1000 units of memory.
//
//	    submit  procs  memory  run
//	A      0      4     700    100
//	B      1      2     500     60
//	C      2      2     200     80
//	D      3      1     100    300
//	E      4      1     600     20
func TestWangMemoryAsSecondResource(t *testing.T) {
	tasks := []task{
		came(0, 100, 4, 700),
		came(1, 60, 2, 500),
		came(2, 80, 2, 200),
		came(3, 300, 1, 100),
		came(4, 20, 1, 600),
	}
	for _, c := range []struct {
		name           string
		depth          backfill.Depth
		starts         []time.Duration
		wait, response time.Duration // means
	}{
		// §2: B lacks memory though six processors idle, and blocks the road. At 100
		// B, C and D start together (800 of 1000); E finds 200 free until B ends.
		{"FCFS", backfill.FCFS, seconds(0, 100, 100, 100, 160), 90 * s, 202 * s},
		// §2, aggressive: at 1 B's shadow time is 100, with (8, 500) extra. C ends
		// at 82. D ends at 303 but needs no more than the extra, and fills memory
		// exactly. E waits for memory, from 100 on as the head, until B ends.
		{"EASY", backfill.EASY, seconds(0, 100, 2, 3, 160), 51 * s, 163 * s},
		// §2, conservative: B holds [100, 160). C and D disturb nobody. E (600) does
		// not fit beside B and D (600), so its reservation is B's end.
		{"conservative", backfill.Conservative, seconds(0, 100, 2, 3, 160), 51 * s, 163 * s},
		// Nobody holds a reservation, but nobody gets in B's way either.
		{"first fit", backfill.FirstFit, seconds(0, 100, 2, 3, 160), 51 * s, 163 * s},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, backfill.Machine{Capacity: []int64{10, 1000}, Depth: c.depth}, func(t *testing.T, f scheduler) {
				starts := replay(t, f, tasks, nil)
				require.Equal(t, c.starts, starts)
				var wait, response time.Duration
				for i, at := range starts {
					wait += at - tasks[i].submit
					response += at + tasks[i].run - tasks[i].submit
				}
				n := time.Duration(len(tasks))
				assert.Equal(t, c.wait, wait/n, "mean wait")
				assert.Equal(t, c.response, response/n, "mean response")
			})
		})
	}
}

// Without memory (§2) the same jobs all start when they come: the second
// resource is what they waited for.
func TestWangProcessorsAloneWouldSuffice(t *testing.T) {
	tasks := []task{came(0, 100, 4), came(1, 60, 2), came(2, 80, 2), came(3, 300, 1), came(4, 20, 1)}
	for _, depth := range []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.Conservative} {
		forms(t, backfill.Machine{Capacity: []int64{10}, Depth: depth}, func(t *testing.T, f scheduler) {
			require.Equal(t, seconds(0, 1, 2, 3, 4), replay(t, f, tasks, nil))
		})
	}
}

// The policies of Wang et al. §2 part where a narrow long job comes behind two
// wide ones on 10 processors:
//
//	    submit  procs  run
//	A      0      8     10
//	B      1      8     10
//	C      2     10     10
//	D      3      2     30
func TestWangPoliciesPart(t *testing.T) {
	tasks := []task{came(0, 10, 8), came(1, 10, 8), came(2, 10, 10), came(3, 30, 2)}
	for _, c := range []struct {
		name   string
		depth  backfill.Depth
		starts []time.Duration
	}{
		{"FCFS starts in order", backfill.FCFS, seconds(0, 10, 20, 30)},
		{"EASY lets D use what is extra beside B, and C waits for it", backfill.EASY, seconds(0, 10, 33, 3)},
		{"two reservations protect C too", 2, seconds(0, 10, 20, 30)},
		{"conservative protects C too", backfill.Conservative, seconds(0, 10, 20, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, backfill.Machine{Capacity: []int64{10}, Depth: c.depth}, func(t *testing.T, f scheduler) {
				require.Equal(t, c.starts, replay(t, f, tasks, nil))
			})
		})
	}
}

// Lifka 1995 and Skovira et al. 1996: a job may overtake the head if it ends by
// the shadow time, or if it needs no more than the extra nodes. Six of ten
// nodes are busy until 100; the head needs eight, so its shadow time is 100 and
// two nodes are extra.
func TestEASYTwoConditions(t *testing.T) {
	job := func(nodes int64, estimate time.Duration) backfill.Job {
		return backfill.Job{Need: []int64{nodes}, Estimate: estimate}
	}
	const forever = backfill.Forever
	for _, c := range []struct {
		name   string
		behind []backfill.Job
		starts []bool
	}{
		{"nobody is behind the head", nil, nil},
		{"a job that ends before the shadow time starts on all idle nodes", []backfill.Job{job(4, 99*s)}, []bool{true}},
		{"a job that ends at the shadow time starts", []backfill.Job{job(4, 100*s)}, []bool{true}},
		{"a job that ends after it does not", []backfill.Job{job(4, 100*s+1)}, []bool{false}},
		{"a job as wide as the extra may run for ever", []backfill.Job{job(2, forever)}, []bool{true}},
		{"a job one wider may not", []backfill.Job{job(3, forever)}, []bool{false}},
		{"a short job wider than what is idle does not start", []backfill.Job{job(5, s)}, []bool{false}},
		{
			"the extra nodes are given away once",
			[]backfill.Job{job(1, forever), job(1, forever), job(1, forever), job(1, 100*s)},
			[]bool{true, true, false, true},
		},
		{
			"a job that ends in time uses idle nodes but no extra",
			[]backfill.Job{job(2, 100*s), job(2, forever)},
			[]bool{true, true},
		},
		{
			"a job that was left out takes nothing from those behind it",
			[]backfill.Job{job(3, forever), job(2, forever)},
			[]bool{false, true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			decisions := decide(t, backfill.State{
				Machine: backfill.Machine{Capacity: []int64{10}, Depth: backfill.EASY},
				Running: []backfill.Running{{Need: []int64{6}, End: 100 * s}},
				Queue:   append([]backfill.Job{job(8, 10*s)}, c.behind...),
			})
			require.Equal(t, backfill.Decision{Start: 100 * s, Reserved: true, Cause: backfill.Resource}, decisions[0])
			for i, starts := range c.starts {
				assert.Equal(t, starts, decisions[i+1].Cause == backfill.Starts, "job %d behind the head", i)
			}
		})
	}
}

// Mu'alem & Feitelson 2001, on conservative backfilling: "the schedule is
// compressed" when a job ends early, each job in its turn, so that everybody
// moves up and nobody is harmed.
func TestConservativeCompression(t *testing.T) {
	type promise map[int]time.Duration
	for _, c := range []struct {
		name  string
		tasks []task
		// promises by instant, after the pass
		promises map[time.Duration]promise
		starts   []time.Duration
	}{
		{
			// At 40 job 2 has its turn while job 3 still holds [100, 130); what job 3
			// then gives back is there for it at the next compression.
			name: "all move up when the machine falls idle early",
			tasks: []task{
				{0, backfill.Job{Need: []int64{10}, Estimate: 100 * s}, 40 * s},
				came(0, 50, 5),
				came(0, 20, 10),
				came(0, 30, 5), // into the hole beside the first of the two
			},
			promises: map[time.Duration]promise{
				0:      {1: 100 * s, 2: 150 * s, 3: 100 * s},
				40 * s: {2: 130 * s},
				70 * s: {2: 90 * s},
			},
			starts: seconds(0, 40, 90, 40),
		},
		{
			// Planning anew would give job 2 the nodes from 50 on, and job 3 would
			// wait until 110 for what it was promised for 50. Compression leaves
			// job 2 where it is until job 3 has moved away.
			name: "a job stays rather than push another back",
			tasks: []task{
				{0, backfill.Job{Need: []int64{6}, Estimate: 100 * s}, 40 * s},
				came(0, 50, 4),
				came(0, 60, 8),
				came(0, 50, 4),
			},
			promises: map[time.Duration]promise{
				0:      {2: 100 * s, 3: 50 * s},
				40 * s: {2: 100 * s},
				50 * s: {2: 90 * s},
			},
			starts: seconds(0, 0, 90, 40),
		},
		{
			name: "a job that ends at its estimate moves nobody",
			tasks: []task{
				came(0, 100, 10),
				came(0, 50, 5),
				came(0, 20, 10),
				came(0, 30, 5),
			},
			promises: map[time.Duration]promise{
				0:       {1: 100 * s, 2: 150 * s, 3: 100 * s},
				100 * s: {2: 150 * s},
			},
			starts: seconds(0, 100, 150, 100),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			forms(t, backfill.Machine{Capacity: []int64{10}, Depth: backfill.Conservative}, func(t *testing.T, f scheduler) {
				seen := 0
				starts := replay(t, f, c.tasks, func(now time.Duration, _ []int) {
					want, ok := c.promises[now]
					if !ok {
						return
					}
					seen++
					got := promise{}
					for i := range c.tasks {
						if at, ok := f.promised(i); ok {
							got[i] = at
						}
					}
					assert.Equal(t, want, got, "promises after the pass at %v", now)
				})
				assert.Equal(t, len(c.promises), seen)
				assert.Equal(t, c.starts, starts)
			})
		})
	}
}

// Wang et al. §3, Eq. 2 with C = 0.5, at single passes. Ten processors, memory
// 1000, and 1500 for jobs that waited long enough (Eq. 3). One job holds 4
// processors and 700 of memory until 100.
func TestWangRelaxedLimitAtOnePass(t *testing.T) {
	job := func(memory int64, estimate int, relaxed bool) backfill.Job {
		return backfill.Job{Need: []int64{1, memory}, Estimate: time.Duration(estimate) * s, Relaxed: relaxed}
	}
	var (
		starts  = backfill.Decision{Cause: backfill.Starts}
		memory  = backfill.Decision{Start: backfill.Forever, Cause: backfill.Resource, Which: 1}
		disturb = backfill.Decision{Start: backfill.Forever, Cause: backfill.Reservation, Which: 0}
		shadow  = backfill.Decision{Start: 100 * s, Reserved: true, Cause: backfill.Resource, Which: 1}
	)
	for _, c := range []struct {
		name  string
		queue []backfill.Job
		want  []backfill.Decision
	}{
		{"a strict head fills memory exactly", []backfill.Job{job(300, 60, false)}, []backfill.Decision{starts}},
		{"a strict head needs one more", []backfill.Job{job(301, 60, false)}, []backfill.Decision{shadow}},
		{"a relaxed head fills the relaxed limit exactly", []backfill.Job{job(800, 60, true)}, []backfill.Decision{starts}},
		{"a relaxed head needs one more", []backfill.Job{job(801, 60, true)}, []backfill.Decision{shadow}},
		{
			"a relaxed head takes no more than a machine of its own at its shadow time",
			[]backfill.Job{job(1500, 60, true)}, []backfill.Decision{shadow},
		},

		// A strict head of 900 leaves 100 extra at 100.
		{
			"strict head, a strict job within the extra",
			[]backfill.Job{job(900, 60, false), job(100, 200, false)}, []backfill.Decision{shadow, starts},
		},
		{
			"strict head, a strict job one over the extra",
			[]backfill.Job{job(900, 60, false), job(101, 200, false)}, []backfill.Decision{shadow, disturb},
		},
		{
			"strict head, a strict job over the extra that ends by the shadow time",
			[]backfill.Job{job(900, 60, false), job(300, 100, false)}, []backfill.Decision{shadow, starts},
		},
		{
			"strict head, a relaxed job has its own limit now, but no more than the extra",
			[]backfill.Job{job(900, 60, false), job(101, 200, true)}, []backfill.Decision{shadow, disturb},
		},
		{
			"strict head, a relaxed job to its own limit that ends by the shadow time",
			[]backfill.Job{job(900, 60, false), job(800, 100, true)}, []backfill.Decision{shadow, starts},
		},
		{
			"strict head, the same job strict does not fit",
			[]backfill.Job{job(900, 60, false), job(800, 100, false)}, []backfill.Decision{shadow, memory},
		},
		{
			"strict head, a relaxed job to its own limit that ends too late",
			[]backfill.Job{job(900, 60, false), job(800, 101, true)}, []backfill.Decision{shadow, disturb},
		},

		// A relaxed head of 900 leaves 600 extra at 100, by its own limit.
		{
			"relaxed head, a strict job within the extra",
			[]backfill.Job{job(900, 60, true), job(300, 200, false)}, []backfill.Decision{shadow, starts},
		},
		{
			"relaxed head, a strict job that does not fit now",
			[]backfill.Job{job(900, 60, true), job(301, 200, false)}, []backfill.Decision{shadow, memory},
		},
		{
			"relaxed head, a relaxed job as large as the extra",
			[]backfill.Job{job(900, 60, true), job(600, 200, true)}, []backfill.Decision{shadow, starts},
		},
		{
			"relaxed head, a relaxed job one over the extra",
			[]backfill.Job{job(900, 60, true), job(601, 200, true)}, []backfill.Decision{shadow, disturb},
		},
		{
			"relaxed head, a relaxed job over the extra that ends by the shadow time",
			[]backfill.Job{job(900, 60, true), job(800, 100, true)}, []backfill.Decision{shadow, starts},
		},
		{
			"relaxed jobs share the extra of a relaxed head",
			[]backfill.Job{job(900, 60, true), job(300, 200, true), job(300, 200, true), job(1, 200, true)},
			[]backfill.Decision{shadow, starts, starts, disturb},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decide(t, backfill.State{
				Machine: backfill.Machine{Capacity: []int64{10, 1000}, Relaxed: []int64{10, 1500}, Depth: backfill.EASY},
				Running: []backfill.Running{{Need: []int64{4, 700}, End: 100 * s}},
				Queue:   c.queue,
			})
			require.Equal(t, c.want, got)
		})
	}
}

// Wang et al. §3.1: a job waits under M until its threshold, then under M·(1+C).
// Memory 1000 and 1500; A (600) runs, B (600) waits and is relaxed at 50.
func TestWangThresholdIsAnEvent(t *testing.T) {
	p, err := backfill.NewPlanner[string](backfill.Machine{
		Capacity: []int64{10, 1000}, Relaxed: []int64{10, 1500}, Depth: backfill.EASY,
	})
	require.NoError(t, err)
	require.NoError(t, p.Submit("A", backfill.Job{Need: []int64{1, 600}, Estimate: 100 * s}))
	require.NoError(t, p.Submit("B", backfill.Job{Need: []int64{1, 600}, Estimate: 10 * s}))
	started, err := p.AppendStarts(nil, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"A"}, started)
	shadow, ok := p.Reserved("B")
	require.True(t, ok)
	require.Equal(t, 100*s, shadow)

	require.NoError(t, p.Relax(50*s, "B"))
	started, err = p.AppendStarts(nil, 50*s)
	require.NoError(t, err)
	require.Equal(t, []string{"B"}, started)
}
