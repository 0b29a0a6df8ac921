package estimate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

const mb = 1_000_000

// observe records several runs of a job.
func observe(tb testing.TB, h *estimate.History, j estimate.Job, memory ...int64) {
	for _, m := range memory {
		require.NoError(tb, h.Observe(j, m))
	}
}

// times is x, n times.
func times(n int, x int64) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = x
	}
	return values
}

// §2.1.3: "the minimum between the maximum previous value and the average of
// previous values plus 3 standard deviations", with the standard deviation of the population.
func TestPaperEstimationFunction(t *testing.T) {
	for _, c := range []struct {
		values         []int64 // in MB
		mean, sd, want float64 // in MB
	}{
		{[]int64{10}, 10, 0, 10},
		{[]int64{10, 12}, 11, 1, 12},
		{append(times(4, 8), 40), 14.4, 12.8, 40},
		{append(times(9, 10), 50), 14, 12, 50},
		{append(times(10, 10), 50), 13.636, 11.499, 48.134},
		{append(times(15, 10), 50), 12.5, 9.682, 41.547},
		{append(times(50, 10), 50), 10.784, 5.546, 27.422},
		{append(times(99, 10), 50), 10.4, 3.980, 22.340},
	} {
		name := fmt.Sprint(c.values)
		var h estimate.History
		j := estimate.Job{Path: "/bin/a", Nodes: 16, User: "u"}
		for _, x := range c.values {
			observe(t, &h, j, x*mb)
		}
		s, level := h.Past(j)
		assert.Equal(t, estimate.ByPathNodesUser, level, name)
		assert.Equal(t, len(c.values), s.Count, name)
		assert.InDelta(t, c.mean, s.Mean/mb, 0.0005, name)
		assert.InDelta(t, c.sd, s.Deviation/mb, 0.0005, name)
		e, ok := h.Estimate(j)
		assert.True(t, ok, name)
		assert.InDelta(t, c.want, float64(e.Memory)/mb, 0.0005, name)
		if len(c.values) <= 10 {
			assert.Equal(t, s.Max, e.Memory, name)
		}
		// In whole bytes, and never below the bound in real numbers.
		assert.GreaterOrEqual(t, float64(e.Memory), min(float64(s.Max), s.Mean+3*s.Deviation), name)
		assert.Less(t, float64(e.Memory-1), min(float64(s.Max), s.Mean+3*s.Deviation), name)
	}
}

// §2.1.1: path, number of nodes and user; without information, path and number
// of nodes; path only.
func TestPaperIdentification(t *testing.T) {
	var h estimate.History
	a8u := estimate.Job{Path: "/bin/a", Nodes: 8, User: "u"}
	observe(t, &h, a8u, 10*mb, 12*mb)
	observe(t, &h, estimate.Job{Path: "/bin/a", Nodes: 8, User: "v"}, 30*mb)
	observe(t, &h, estimate.Job{Path: "/bin/a", Nodes: 16, User: "u"}, 70*mb, 60*mb)
	for _, c := range []struct {
		job     estimate.Job
		memory  int64
		level   estimate.Level
		samples int
	}{
		{a8u, 12 * mb, estimate.ByPathNodesUser, 2},
		{estimate.Job{Path: "/bin/a", Nodes: 8, User: "v"}, 30 * mb, estimate.ByPathNodesUser, 1},
		{estimate.Job{Path: "/bin/a", Nodes: 8, User: "w"}, 30 * mb, estimate.ByPathNodes, 3},
		{estimate.Job{Path: "/bin/a", Nodes: 16, User: "v"}, 70 * mb, estimate.ByPathNodes, 2},
		{estimate.Job{Path: "/bin/a", Nodes: 4, User: "u"}, 70 * mb, estimate.ByPath, 5},
		{estimate.Job{Path: "/bin/b", Nodes: 8, User: "u"}, 0, estimate.None, 0},
	} {
		e, ok := h.Estimate(c.job)
		assert.Equal(t, c.level != estimate.None, ok, c.job)
		assert.Equal(t, estimate.Estimate{Memory: c.memory, Level: c.level, Samples: c.samples}, e, c.job)
	}
}

// §2.1.2: "At the end of a month, the current month data becomes the previous
// month data [...]. In case the job hasn't been run for two months, its entry is removed."
func TestPaperTwoMonths(t *testing.T) {
	var h estimate.History
	j := estimate.Job{Path: "/bin/a", Nodes: 8, User: "u"}
	want := func(memory int64, samples int) {
		t.Helper()
		e, ok := h.Estimate(j)
		assert.Equal(t, samples > 0, ok)
		assert.Equal(t, memory, e.Memory)
		assert.Equal(t, samples, e.Samples)
	}
	observe(t, &h, j, 40*mb, 10*mb) // January
	want(40*mb, 2)
	h.Rotate() // February
	want(40*mb, 2)
	observe(t, &h, j, 20*mb)
	want(40*mb, 3)
	h.Rotate() // March: January is forgotten
	want(20*mb, 1)
	h.Rotate() // April: not run in March
	want(0, 0)
	assert.Zero(t, h.Records())
	assert.Zero(t, h.Paths())
}

// §2.1.1: at most 2048 different paths, and 4096 different jobs.
func TestPaperTableSizes(t *testing.T) {
	var paths, jobs estimate.History
	for i := range 5000 {
		observe(t, &paths, estimate.Job{Path: fmt.Sprint("/bin/", i), Nodes: 8, User: "u"}, 1)
		observe(t, &jobs, estimate.Job{Path: "/bin/a", Nodes: 8, User: fmt.Sprint("u", i)}, 1)
	}
	assert.Equal(t, 2048, paths.Paths())
	assert.Equal(t, 2048, paths.Records())
	assert.Equal(t, 1, jobs.Paths())
	assert.Equal(t, 4096, jobs.Records())
}

// §2.2: "We don't always have information from previous runs. The alternative
// is to find static information from the executable."
func TestPaperStaticMemory(t *testing.T) {
	var h estimate.History
	known, unknown := estimate.Job{Path: "/bin/a", Nodes: 8, User: "u"}, estimate.Job{Path: "/bin/b", Nodes: 8, User: "u"}
	observe(t, &h, known, 10*mb)
	memory := estimate.FirstOf(&h, estimate.Executable(func(path string) (int64, bool) { return 3 * mb, path == "/bin/b" }))
	e, ok := memory.Estimate(known)
	assert.True(t, ok)
	assert.Equal(t, estimate.Estimate{Memory: 10 * mb, Level: estimate.ByPathNodesUser, Samples: 1}, e)
	e, ok = memory.Estimate(unknown)
	assert.True(t, ok)
	assert.Equal(t, estimate.Estimate{Memory: 3 * mb, Level: estimate.ByExecutable}, e)
	_, ok = memory.Estimate(estimate.Job{Path: "/bin/c", Nodes: 8, User: "u"})
	assert.False(t, ok)
}
