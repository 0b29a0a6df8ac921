package workload_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// line is a job line of the fields that matter here.
func line(number int, submit, run, allocated, memory, requested, estimate, requestedMemory string) string {
	return fmt.Sprintf("%d %s -1 %s %s -1 %s %s %s %s 1 1 1 1 1 1 -1 -1\n", number, submit, run, allocated, memory, requested, estimate, requestedMemory)
}

func read(t *testing.T, text string, processors int) (*workload.Workload, error) {
	t.Helper()
	r, err := swf.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	return workload.Read("log", r, processors)
}

func TestALineBecomesAJob(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name, line string
		want       spaceshare.Job
	}{
		{"a job that asks for what it gets", line(1, "5", "10", "4", "100", "4", "20", "200"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 4, Memory: 4 * 100 * 1024}},
		{"allocated processors count before requested", line(1, "5", "10", "4", "-1", "8", "20", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 4}},
		{"without allocated processors the requested", line(1, "5", "10", "-1", "-1", "8", "20", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 8}},
		{"without used memory the requested", line(1, "5", "10", "2", "0", "8", "20", "300"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 2, Memory: 2 * 300 * 1024}},
		{"used memory of less than a KB is none", line(1, "5", "10", "2", "0.5", "8", "20", "300"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 2, Memory: 2 * 300 * 1024}},
		{"a job without an estimate", line(1, "5", "10", "2", "-1", "8", "-1", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 10 * s, Processors: 2}},
		{"a job killed at its estimate", line(1, "5", "10", "2", "-1", "8", "7", "-1"), spaceshare.Job{Submit: 5 * s, Run: 7 * s, Estimate: 7 * s, Processors: 2}},
		{"fractions are cut off", line(1, "5.9", "10.9", "2.0", "3.7", "8", "20.9", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 2, Memory: 2 * 3 * 1024}},
		{"an estimate of less than a second is none", line(1, "5", "10", "2", "-1", "8", "0.5", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 10 * s, Processors: 2}},
		{"absurd memory counts as very much", line(1, "5", "10", "2", "9e15", "8", "20", "-1"), spaceshare.Job{Submit: 5 * s, Run: 10 * s, Estimate: 20 * s, Processors: 2, Memory: 1 << 53}},
		{"all processors", line(1, "0", "1", "10", "-1", "8", "1", "-1"), spaceshare.Job{Run: s, Estimate: s, Processors: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := read(t, c.line, 10)
			require.NoError(t, err)
			require.Equal(t, []spaceshare.Job{c.want}, w.Jobs)
			assert.Empty(t, w.Dropped)
		})
	}
}

func TestWhatCannotRunIsDroppedAndCounted(t *testing.T) {
	w, err := read(t, "; MaxNodes: 10 (quad)\n"+
		line(1, "-1", "-1", "-1", "-1", "-1", "-1", "-1")+ // the first reason counts
		line(2, "-2", "10", "1", "-1", "1", "1", "-1")+
		line(3, "0", "0", "1", "-1", "1", "1", "-1")+
		line(4, "0", "0.9", "1", "-1", "1", "1", "-1")+
		line(9, "0", "-11000000000", "1", "-1", "1", "10", "-1")+
		line(5, "0", "-1", "1", "-1", "1", "1", "-1")+
		line(6, "0", "5", "0", "-1", "-1", "1", "-1")+
		line(7, "0", "5", "11", "-1", "1", "1", "-1")+
		line(8, "0", "5", "10", "-1", "1", "1", "-1"), 0)
	require.NoError(t, err)
	assert.Equal(t, []int64{8}, w.Numbers)
	assert.Equal(t, 10, w.Processors)
	assert.Equal(t, []workload.Dropped{
		{Reason: "submit time negative", Jobs: 2},
		{Reason: "run time not positive", Jobs: 4},
		{Reason: "no processors", Jobs: 1},
		{Reason: "larger than the machine", Jobs: 1},
	}, w.Dropped)
}

func TestJobsAreSortedBySubmissionAndOtherwiseStay(t *testing.T) {
	var text strings.Builder
	for i, submit := range []string{"7", "3", "7", "3.5", "0"} {
		text.WriteString(line(i+1, submit, "1", "1", "-1", "1", "1", "-1"))
	}
	w, err := read(t, text.String(), 1)
	require.NoError(t, err)
	assert.Equal(t, []int64{5, 2, 4, 1, 3}, w.Numbers)
	assert.Equal(t, 3*time.Second, w.Jobs[2].Submit)
}

func TestSizeOfTheMachine(t *testing.T) {
	job := line(1, "0", "1", "1", "-1", "1", "1", "-1")
	w, err := read(t, "; MaxNodes: 5\n; MaxProcs: 20\n"+job, 0)
	require.NoError(t, err)
	assert.Equal(t, 20, w.Processors)
	w, err = read(t, "; MaxProcs: 20\n"+job, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, w.Processors)
	for _, header := range []string{"", "; MaxProcs: unknown\n", "; MaxProcs: 0\n", "; MaxProcs: 99999999999\n"} {
		_, err = read(t, header+job, 0)
		assert.ErrorIs(t, err, workload.ErrProcessors, header)
	}
}

func TestLogsThatCannotBeUsed(t *testing.T) {
	_, err := read(t, "", 4)
	assert.ErrorIs(t, err, workload.ErrEmpty)
	_, err = read(t, line(1, "0", "-1", "1", "-1", "1", "1", "-1"), 4)
	assert.ErrorIs(t, err, workload.ErrEmpty)
	for _, bad := range []string{
		line(1, "1e12", "1", "1", "-1", "1", "1", "-1"), line(1, "0", "1e12", "1", "-1", "1", "1", "-1"), line(1, "0", "1", "1", "-1", "1", "1e12", "-1"),
	} {
		_, err = read(t, "; MaxProcs: 4\n"+bad, 0)
		assert.ErrorIs(t, err, workload.ErrRange)
		assert.ErrorContains(t, err, "log: line 2: ")
		assert.ErrorContains(t, err, "1000000000000 s")
	}
	_, err = read(t, "1 2 3\n", 0)
	assert.ErrorIs(t, err, swf.ErrFields, "a faulty line is told before a missing machine size")
}

// Any text ends in a workload that can be replayed, or in an error.
func FuzzRead(f *testing.F) {
	f.Add("; MaxProcs: 4\n"+line(1, "0", "1", "1", "-1", "1", "1", "-1"), 0)
	f.Add(line(1, "1e9", "2e9", "3", "9e15", "1", "0.1", "7"), 3)
	f.Add(line(2, "-0.5", "1.5", "-1", "0", "2", "1e9", "1e15")+line(1, "0", "7", "1", "-1", "1", "1", "-1"), 2)
	f.Fuzz(func(t *testing.T, text string, processors int) {
		r, err := swf.NewReader(strings.NewReader(text))
		if err != nil {
			return
		}
		w, err := workload.Read("log", r, min(max(processors, 0), 1000))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		_, err = spaceshare.Replay(t.Context(), w.Jobs, spaceshare.Config{Processors: w.Processors, Memory: w.Memory(), Depth: 1})
		require.NoError(t, err)
	})
}

// Of the recorded logs as many jobs are usable as their description says, and
// their load is what it says.
func TestRecordedLogs(t *testing.T) {
	for name, want := range map[string]struct {
		processors, jobs int
		load             float64
	}{
		"LANL-CM5-1994-4.1-cln":  {1024, 122_055, .74},
		"DAS2-fs1-2003-1":        {64, 38_294, .12},
		"SDSC-SP2-1998-4.2-cln":  {128, 54_034, .83},
		"KTH-SP2-1996-2.1-cln":   {100, 28_467, .70},
		"NASA-iPSC-1993-3.1-cln": {128, 18_066, .47},
		"SDSC-BLUE-2000-4.2-cln": {1152, 232_536, .77},
		"UniLu-Gaia-2014-1":      {2004, 51_859, .45},
		"CEA-Curie-2011-2.1-cln": {93312, 295_540, .63},
		"lublin_256":             {256, 10_000, 1.06},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := swf.Open(filepath.Join("../../../../shared/traces", name+".swf.gz"))
			if err != nil && os.Getenv("CI") != "true" {
				t.Skip("no logs in ../shared/traces beside the checkout")
			}
			require.NoError(t, err)
			defer r.Close()
			w, err := workload.Read(name, r, 0)
			require.NoError(t, err)
			assert.Equal(t, want.processors, w.Processors)
			assert.Len(t, w.Jobs, want.jobs)
			// The published load counts recorded run times, ours stops at the estimates.
			assert.LessOrEqual(t, w.Load(), want.load+.005)
			assert.GreaterOrEqual(t, w.Load(), want.load*.75)
		})
	}
}

func checksum(w *workload.Workload) uint64 {
	h := fnv.New64a()
	for _, j := range w.Jobs {
		fmt.Fprintln(h, j)
	}
	return h.Sum64()
}

func TestGeneratedJobsAreTheSameEverywhere(t *testing.T) {
	w, err := workload.Generate(1000, 128, 1)
	require.NoError(t, err)
	again, err := workload.Generate(1000, 128, 1)
	require.NoError(t, err)
	assert.Equal(t, w, again)
	other, err := workload.Generate(1000, 128, 2)
	require.NoError(t, err)
	assert.NotEqual(t, w.Jobs, other.Jobs)
	assert.Equal(t, uint64(0x7ceb521d6d03db9), checksum(w))
}

func TestGeneratedJobsCanBeReplayed(t *testing.T) {
	for _, processors := range []int{1, 2, 16, 100, 128, 1024} {
		for _, n := range []int{1, 2, 10, 1000} {
			for seed := range uint64(20) {
				w, err := workload.Generate(n, processors, seed)
				require.NoError(t, err, "%d jobs, %d processors, seed %d", n, processors, seed)
				_, err = spaceshare.Replay(t.Context(), w.Jobs, spaceshare.Config{Processors: processors, Depth: 1})
				require.NoError(t, err)
			}
		}
	}
	_, err := workload.Generate(0, 4, 1)
	assert.ErrorIs(t, err, workload.ErrEmpty)
	_, err = workload.Generate(10, -1, 1)
	assert.ErrorContains(t, err, "-1")
}

func TestScaleHitsTheLoad(t *testing.T) {
	for _, load := range []float64{.1, .5, .95, 3} {
		w, err := workload.Generate(5000, 128, 3)
		require.NoError(t, err)
		before := w.Jobs
		require.NoError(t, w.Scale(load))
		assert.InEpsilon(t, load, w.Load(), .001)
		for i, j := range w.Jobs {
			require.Equal(t, before[i].Run, j.Run)
			require.Zero(t, j.Submit%time.Second)
			require.True(t, i == 0 || j.Submit >= w.Jobs[i-1].Submit)
		}
	}
	w, err := workload.Generate(100, 128, 3)
	require.NoError(t, err)
	before := w.Jobs
	for _, load := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-12, 1e12} {
		assert.ErrorIs(t, w.Scale(load), workload.ErrRange, load)
		assert.True(t, slices.Equal(before, w.Jobs))
	}
	one, err := workload.Generate(1, 128, 3)
	require.NoError(t, err)
	assert.ErrorIs(t, one.Scale(.5), workload.ErrRange, "one job has no load")
}

func TestMemoryIsTwiceTheUseOfTheAverageMix(t *testing.T) {
	w := &workload.Workload{Processors: 10, Jobs: []spaceshare.Job{
		{Run: 10 * time.Second, Processors: 2, Memory: 200}, {Run: 20 * time.Second, Processors: 1, Memory: 400},
	}}
	assert.EqualValues(t, 2*10*(10*200+20*400)/(10*2+20*1), w.Memory())
	w.Jobs[0].Memory, w.Jobs[1].Memory = 0, 0
	assert.Zero(t, w.Memory())
}

// What a log tells stays, and what it does not tell is made up and named.
func TestSynthesize(t *testing.T) {
	w := &workload.Workload{Processors: 8, Numbers: []int64{1, 2, 3}, CPU: []float64{.25, 0, 0}, Jobs: []spaceshare.Job{
		{Run: time.Second, Processors: 2, Memory: 100}, {Run: time.Second, Processors: 1}, {Run: time.Second, Processors: 8},
	}}
	require.NoError(t, w.Synthesize(1))
	assert.Equal(t, []string{"CPU share of 66.7 % of the jobs"}, w.Synthetic)
	assert.Equal(t, .25, w.CPU[0])
	for _, u := range w.CPU[1:] {
		assert.True(t, u > 0 && u <= 1, u)
	}
	assert.Equal(t, []int64{100, 0, 0}, []int64{w.Jobs[0].Memory, w.Jobs[1].Memory, w.Jobs[2].Memory})

	none := &workload.Workload{Processors: 8, CPU: []float64{1, 1}, Jobs: []spaceshare.Job{{Run: time.Second, Processors: 2}, {Run: time.Second, Processors: 8}}}
	require.NoError(t, none.Synthesize(1))
	assert.Equal(t, []string{"memory"}, none.Synthetic)
	assert.Equal(t, []float64{1, 1}, none.CPU)
	for _, j := range none.Jobs {
		assert.Positive(t, j.Memory)
		assert.Zero(t, j.Memory%int64(j.Processors))
	}
	again := &workload.Workload{Processors: 8, CPU: []float64{0}, Jobs: []spaceshare.Job{{Run: time.Second, Processors: 2}}}
	require.NoError(t, again.Synthesize(1))
	assert.Equal(t, none.Jobs[0].Memory, again.Jobs[0].Memory, "the same seed makes up the same")
	w.Cut(2)
	assert.Len(t, w.Jobs, 2)
	assert.Len(t, w.CPU, 2)
}
