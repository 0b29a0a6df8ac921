package compare_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/compare"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

func generate(t *testing.T, n int) *workload.Workload {
	w, err := workload.Generate(n, 64, 1)
	require.NoError(t, err)
	require.NoError(t, w.Scale(.5))
	require.NoError(t, w.Synthesize(1))
	return w
}

func run(t *testing.T, name string, w *workload.Workload, c compare.Config) *compare.Outcome {
	t.Helper()
	p, err := compare.Parse(name)
	require.NoError(t, err)
	o, err := p.Run(t.Context(), w, c)
	require.NoError(t, err, name)
	return o
}

func TestParseKnowsItsNamesAndRefusesOthers(t *testing.T) {
	for _, name := range append(compare.Names(), "depth=0", "depth=17+relaxed") {
		p, err := compare.Parse(name)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name)
	}
	for _, name := range []string{"", "+memory", "sjf", "easy+", "easy+swap", "gang+paging", "fjt+memory", "depth=", "depth=-1", "depth=99999999999", "easy+memory+memory"} {
		_, err := compare.Parse(name)
		require.ErrorIs(t, err, compare.ErrPolicy, name)
		assert.ErrorContains(t, err, name)
	}
}

func TestBadMachinesAreRefused(t *testing.T) {
	p, err := compare.Parse("gang")
	require.NoError(t, err)
	for _, c := range []compare.Config{{Memory: -1}, {Quantum: -1}, {Factor: -.5}, {Factor: math.NaN()}} {
		_, err := p.Run(t.Context(), generate(t, 10), c)
		require.ErrorIs(t, err, compare.ErrConfig)
	}
}

// Whatever the policy, a job does not start before it came, or end before its work is
// done, and all that are finished add up.
func TestEveryPolicyDoesTheWork(t *testing.T) {
	n := 600
	if testing.Short() {
		n = 150
	}
	w := generate(t, n)
	for _, name := range compare.Names() {
		ended := 0
		c := compare.Config{
			Memory: 2 * w.Memory(), Excess: .1, Threshold: 5, Follow: n / 2, Decisions: true,
			Progress: func(n int) { ended += n },
		}
		o := run(t, name, w, c)
		require.Len(t, o.Jobs, len(w.Jobs))
		for i, j := range o.Jobs {
			require.GreaterOrEqual(t, j.Start, w.Jobs[i].Submit, name)
			if o.Unfinished == 0 {
				require.GreaterOrEqual(t, j.RunningTime(), w.Jobs[i].Run-time.Microsecond, "%s, job %d", name, i)
			}
		}
		assert.LessOrEqual(t, ended, len(w.Jobs), name)
		assert.Greater(t, ended, len(w.Jobs)-o.Unfinished-64, name)
		require.NotEmpty(t, o.Decisions, name)
		for k, d := range o.Decisions {
			assert.NotEmpty(t, d.What)
			assert.GreaterOrEqual(t, d.At, w.Jobs[n/2].Submit)
			assert.True(t, k == 0 || d.At >= o.Decisions[k-1].At, "%s: %v", name, o.Decisions)
		}
		again := run(t, name, w, c)
		again.Took = o.Took
		assert.Equal(t, o, again, "the same twice")
	}
}

func TestSpaceSharingIsThatOfTheSimulator(t *testing.T) {
	w := generate(t, 2000)
	memory := w.Memory()
	o := run(t, "easy+memory", w, compare.Config{Memory: memory})
	want, err := spaceshare.Replay(t.Context(), w.Jobs, spaceshare.Config{Processors: 64, Memory: memory, Depth: backfill.EASY})
	require.NoError(t, err)
	for i, j := range o.Jobs {
		require.Equal(t, want.Starts[i], j.Start)
	}
	assert.False(t, o.Pages)

	two := one(2, spaceshare.Job{Run: time.Minute, Processors: 1, Memory: 80}, spaceshare.Job{Run: time.Minute, Processors: 1, Memory: 80})
	for name, starts := range map[string][2]time.Duration{"easy": {0, 0}, "easy+memory": {0, time.Minute}, "easy+paging": {0, 0}} {
		o := run(t, name, two, compare.Config{Memory: 100})
		assert.Equal(t, starts, [2]time.Duration{o.Jobs[0].Start, o.Jobs[1].Start}, name)
	}
	plain := run(t, "easy", w, compare.Config{Memory: memory})
	over := run(t, "easy+paging", w, compare.Config{Memory: memory})
	enough := run(t, "easy+paging", w, compare.Config{Memory: 1 << 50})
	assert.Positive(t, over.Paged)
	assert.Zero(t, enough.Paged)
	assert.Equal(t, plain.Jobs, enough.Jobs, "with memory for all, memory does not matter")
}

// one returns a workload of jobs that come at once.
func one(processors int, jobs ...spaceshare.Job) *workload.Workload {
	w := &workload.Workload{Processors: processors}
	for i, j := range jobs {
		j.Estimate = j.Run
		w.Jobs, w.Numbers, w.CPU = append(w.Jobs, j), append(w.Numbers, int64(i+1)), append(w.CPU, .4)
	}
	return w
}

func TestGangs(t *testing.T) {
	const minute, size = time.Minute, 100 << 20
	// Each wants both processors, and most of their memory.
	pair := one(2, spaceshare.Job{Run: 3 * minute, Processors: 2, Memory: 2 * 80 << 20}, spaceshare.Job{Run: 3 * minute, Processors: 2, Memory: 2 * 80 << 20})
	c := compare.Config{Memory: 2 * size}

	o := run(t, "gang+memory", pair, c)
	assert.Equal(t, 3*minute, o.Jobs[0].End)
	assert.Equal(t, 6*minute, o.Jobs[1].End, "its memory does not fit before the first has ended")
	assert.Zero(t, o.Paged)
	assert.Equal(t, 1, o.MaxSlots)

	c.Factor = 1.6
	o = run(t, "gang+memory", pair, c)
	assert.Equal(t, 2, o.MaxSlots)
	assert.Equal(t, [][]int{{1, 1}, {2, 2}}, o.Matrix)
	// Until one ends there are 160 of 100 MB: by Tay and Zou's factor.
	factor := .5 * (2.6 + math.Sqrt(2.6*2.6-4))
	first := math.Ceil(3*factor) - 1 // full quanta of the first before that in which it ends
	assert.InDelta(t, (2*first+3*factor-first)*60, o.Jobs[0].End.Seconds(), 1e-3)
	assert.InDelta(t, (3*factor-3+first*(1-1/factor))*60, o.Paged.Seconds(), .01)
	assert.Equal(t, o.Jobs, run(t, "gang", pair, c).Jobs, "without a limit both come in, too")

	// A process that needs more than a processor has counts as so much.
	large := run(t, "gang+memory", one(2, spaceshare.Job{Run: minute, Processors: 1, Memory: 300 << 20}), compare.Config{Memory: 2 * size})
	assert.Equal(t, minute, large.Jobs[0].End)
	assert.Equal(t, int64(size), large.Jobs[0].Memory)

	free := compare.Config{Memory: 1 << 40}
	assert.Equal(t, 6*minute, run(t, "gang", pair, free).Jobs[1].End)
	// Measured for a quantum each, they turn out to fit together: 40 + 40 %.
	paired := run(t, "paired", pair, free)
	assert.Less(t, paired.Jobs[1].End, 5*minute)
}

func TestThrashingIsGivenUp(t *testing.T) {
	var jobs []spaceshare.Job
	for range 300 {
		jobs = append(jobs, spaceshare.Job{Run: time.Hour, Processors: 4, Memory: 4 << 30})
	}
	o := run(t, "gang", one(4, jobs...), compare.Config{Memory: 8 << 30})
	assert.Equal(t, 300, o.Unfinished)
	assert.GreaterOrEqual(t, o.NotStarted, 200, "who has started has a slot, of which there are a hundred at most")
	assert.Less(t, o.NotStarted, 300)
	assert.LessOrEqual(t, len(o.Matrix), compare.Drawn)
}

func TestFolding(t *testing.T) {
	w := one(4, spaceshare.Job{Run: 2 * time.Hour, Processors: 4}, spaceshare.Job{Submit: time.Hour, Run: 10 * time.Minute, Processors: 2})
	o := run(t, "fjt", w, compare.Config{Follow: 0, Decisions: true})
	assert.Equal(t, time.Hour, o.Jobs[1].Start, "the long job is folded at once")
	assert.Equal(t, 70*time.Minute, o.Jobs[1].End)
	// For ten minutes it has half of the processors, at 95 % of their speed.
	assert.InDelta(t, (130*time.Minute - 10*time.Minute*95/200).Seconds(), o.Jobs[0].End.Seconds(), 1)
	var what []string
	for _, d := range o.Decisions {
		what = append(what, d.What)
	}
	assert.Equal(t, []string{
		"starts with 4 processes on 4 of the 4 processors that it asked for", "folds to 2 of the 4 processors that it asked for",
		"unfolds to 4 of the 4 processors that it asked for", "ends",
	}, what)
}

func TestVeryManyProcessors(t *testing.T) {
	w := one(1<<20, spaceshare.Job{Run: 30 * 24 * time.Hour, Processors: 1 << 20, Memory: 1 << 50}, spaceshare.Job{Run: time.Second, Processors: 1})
	for _, name := range []string{"fjt", "equipartition", "gang"} {
		assert.Zero(t, run(t, name, w, compare.Config{Memory: 1 << 52, Quantum: time.Hour}).Unfinished, name)
	}
}

func TestBriefExplanationsLeaveOut(t *testing.T) {
	w := generate(t, 900)
	require.NoError(t, w.Scale(2))
	c := compare.Config{Follow: 700, Decisions: true}
	full := run(t, "fcfs", w, c).Decisions
	c.Brief = true
	brief := run(t, "fcfs", w, c).Decisions
	assert.Less(t, len(brief), len(full)*2/3)
	assert.Equal(t, full[:5], brief[:5])
	assert.Equal(t, full[len(full)-1], brief[len(brief)-1])
}
