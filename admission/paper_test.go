package admission_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

// Wang, Chien, Chang, Tien: "Memory consideration for parallel job scheduling on
// SMP clusters", 2007. Sections, equations and figures are theirs.

// Figure 2: two SMP nodes of 64 processors and 1 GB, taken as one pool.
const (
	figure2Processors = 128
	figure2Memory     = 2 << 30
)

// Eq. (1): required ≤ physical − used processors.
func TestPaperEquation1(t *testing.T) {
	pool := newPool(t, figure2Processors, figure2Memory, 0)
	for used := 0; used <= figure2Processors; used++ {
		for need := 1; need <= figure2Processors; need++ {
			d := pool.Fits(admission.Usage{Processors: used}, admission.Usage{Processors: need}, false)
			require.Equal(t, need <= figure2Processors-used, d.Admit)
			require.Equal(t, max(0, need-(figure2Processors-used)), d.Short.Processors)
			require.False(t, d.Never)
		}
	}
}

// Eq. (2): required ≤ physical·(1 + C) − used memory, C ≥ 0, for the memory sizes
// and the range of C of §5, Figs. 3-6: 1, 1.5 and 2 GB, up to 60 per cent.
func TestPaperEquation2(t *testing.T) {
	for _, memory := range []int64{1 << 30, 3 << 29, 2 << 30} {
		for percent := int64(0); percent <= 60; percent += 2 {
			pool := newPool(t, figure2Processors, memory, float64(percent)/100)
			for used := int64(0); used < memory; used += memory/8 - 1 {
				fits := memory + memory*percent/100 - used
				usage := admission.Usage{Memory: used}
				d := pool.Fits(usage, admission.Usage{Processors: 1, Memory: fits}, true)
				require.True(t, d.Admit, "C = %d %%, %d used, exactly full", percent, used)
				d = pool.Fits(usage, admission.Usage{Processors: 1, Memory: fits + 1}, true)
				require.False(t, d.Admit, "C = %d %%, %d used, one byte over", percent, used)
				require.EqualValues(t, 1, d.Short.Memory)
			}
		}
	}
}

// "Only when (1) and (2) both hold may the job run", §3.
func TestPaperBothEquationsMustHold(t *testing.T) {
	pool := newPool(t, 10, 1000, 0)
	used := admission.Usage{Processors: 6, Memory: 700}
	for _, processors := range []int{4, 5} {
		for _, memory := range []int64{300, 301} {
			d := pool.Fits(used, admission.Usage{Processors: processors, Memory: memory}, false)
			assert.Equal(t, processors == 4 && memory == 300, d.Admit)
		}
	}
}

// §3.2, the example in the text: the limit may be exceeded by 60 %, and a job
// that starts exceeds it by exactly 50 %.
func TestPaperExampleOf60Percent(t *testing.T) {
	pool := newPool(t, figure2Processors, 1<<30, 0.6)
	used := admission.Usage{Processors: 1, Memory: 1 << 30}
	need := admission.Usage{Processors: 1, Memory: 1 << 29}
	assert.True(t, pool.Fits(used, need, true).Admit)
	assert.False(t, pool.Fits(used, need, false).Admit)
}

// Eq. (3), threshold = run time · T, with the values of T in Figs. 5 and 6; T = 0
// is the control group without a threshold.
func TestPaperEquation3(t *testing.T) {
	const submit, run = 1000 * time.Second, 90 * time.Second
	for _, row := range []struct {
		multiple float64
		want     time.Duration
	}{
		{0, submit},
		{25, submit + 2250*time.Second},
		{50, submit + 4500*time.Second},
		{75, submit + 6750*time.Second},
		{100, submit + 9000*time.Second},
	} {
		got, err := admission.Threshold(submit, run, row.multiple)
		require.NoError(t, err)
		assert.Equal(t, row.want, got, "T = %v", row.multiple)
	}
}

// Eqs. (1)-(3) together. P = 10, M = 1000, C = 0.5, T = 0.5. From 0 a job holds 4
// processors and 700, from 2 another 2 and 200, from 3 a third 1 and 100. The job
// submitted at 1 needs 2 processors and 500 for 60 s: the limit is relaxed for it
// at 31, and its 1500 are exactly full.
func TestPaperEquationsTogether(t *testing.T) {
	pool := newPool(t, 10, 1000, 0.5)
	used := admission.Usage{Processors: 7, Memory: 1000}
	need := admission.Usage{Processors: 2, Memory: 500}
	threshold, err := admission.Threshold(1*time.Second, 60*time.Second, 0.5)
	require.NoError(t, err)
	assert.Equal(t, 31*time.Second, threshold)
	for now := time.Duration(0); now < time.Minute; now += time.Second {
		d := pool.Fits(used, need, now >= threshold)
		assert.Equal(t, now >= 31*time.Second, d.Admit, "at %v", now)
	}
	used.Memory++
	assert.False(t, pool.Fits(used, need, true).Admit)
}

// Batat, Feitelson: "Gang scheduling with memory considerations", IPDPS 2000.
// Sections and equations are theirs.

// §4.2: nodes of 64 MB, 55 MB of which are not the kernel's and count as free,
// while 45 MB are; each process uses 10 MB.
const (
	paperFree   = 55 << 20
	paperActual = 45 << 20
	paperNeed   = 10 << 20
)

// Eq. (1), with the values of C in Figs. 5 and 6: proc mem ≤ phys mem · C − used
// mem.
func TestPaperNodeEquation(t *testing.T) {
	for _, percent := range []int64{80, 100, 150, 200} {
		n := newNodes(t, float64(percent)/100, paperFree)
		for used := int64(0); used <= paperFree*percent/100; used += 1 << 19 {
			fits := paperFree*percent/100 - used
			require.True(t, n.Fits(fits, 0).Admit, "C = %d %%, %d used, exactly full", percent, used)
			d := n.Fits(fits+1, 0)
			require.False(t, d.Admit, "C = %d %%, %d used, one byte over", percent, used)
			require.EqualValues(t, 1, d.Short)
			require.Equal(t, used == 0, d.Never)
			require.NoError(t, n.Occupy(1<<19, 0))
		}
	}
}

// §4.2: how many of 50 jobs run at once on two nodes, for each C of Figs. 5 and 6,
// and what they use beyond the memory that is really free. At C = 0.8 they stay
// within it, "so 80% is roughly the actual free memory"; "the available memory on
// a node can contain 4 jobs at most".
func TestPaperJobsOf10MB(t *testing.T) {
	for _, row := range []struct {
		factor float64
		jobs   int
		over   int64 // MB
	}{
		{0.8, 4, -5},
		{1, 5, 5},
		{1.5, 8, 35},
		{2, 11, 65},
		{math.Inf(1), 50, 455},
	} {
		n := newNodes(t, row.factor, paperFree, paperFree)
		jobs := 0
		for range 50 {
			if on, ok := n.AppendNodes(nil, admission.Need{Nodes: 2, Memory: paperNeed}); ok {
				require.NoError(t, n.Occupy(paperNeed, on...))
				jobs++
			}
		}
		assert.Equal(t, row.jobs, jobs, "C = %v", row.factor)
		assert.Equal(t, row.over<<20, n.Used(0)-paperActual, "C = %v", row.factor)
		assert.Equal(t, n.Used(0), n.Used(1))
	}
}

// §3.2: a job that does not fit waits "until the required memory will be
// available, or until the system total load will be zero".
func TestPaperTotalLoadZero(t *testing.T) {
	n := newNodes(t, 1, 64, 64)
	q := newQueue[string](t, 0)
	var on []int
	start := func(_ string, need admission.Need) (ok bool) {
		on, ok = n.AppendNodes(on[:0], need)
		return ok && n.Occupy(need.Memory, on...) == nil
	}
	small, big := mb(1), admission.Need{Nodes: 2, Memory: 100}
	for _, id := range []string{"a", "b"} {
		started, err := q.Arrive(id, small, start)
		require.NoError(t, err)
		require.True(t, started)
	}
	started, err := q.Arrive("big", big, start)
	require.NoError(t, err)
	require.False(t, started, "the system is not idle")
	require.NoError(t, n.Release(1, 0))
	_, _, ok := q.Next(n.Enough, start)
	require.False(t, ok, "still not")
	require.NoError(t, n.Release(1, 0))
	id, _, ok := q.Next(n.Enough, start)
	require.True(t, ok)
	require.Equal(t, "big", id)
	require.Equal(t, []int64{100, 100}, used(n))

	// On an empty system it starts as it arrives.
	require.NoError(t, n.Release(100, 0, 1))
	started, err = q.Arrive("bigger", admission.Need{Nodes: 2, Memory: 1000}, start)
	require.NoError(t, err)
	require.True(t, started)
}

// §3.2: "a job in the queue cannot be skipped more than 15 times. If a job was
// skipped 15 times no job will be executed until this job will."
func TestPaper15Skips(t *testing.T) {
	q, err := admission.NewQueue[int](admission.QueueConfig{})
	require.NoError(t, err)
	require.NoError(t, q.Push(0, mb(100)))
	for i := 1; i <= 20; i++ {
		require.NoError(t, q.Push(i, mb(10)))
	}
	little := func(n admission.Need) bool { return n.Memory <= 10 }
	for i := 1; i <= 15; i++ {
		id, _, ok := q.Next(little, nil)
		require.True(t, ok)
		require.Equal(t, i, id, "the first that can be executed")
		skips, _ := q.Skips(0)
		require.Equal(t, i, skips)
	}
	_, _, ok := q.Next(little, nil)
	require.False(t, ok)
	started, err := q.Arrive(21, mb(0), nil)
	require.NoError(t, err)
	require.False(t, started, "nor one that arrives")
	id, skips, ok := q.Next(nil, nil)
	require.True(t, ok)
	require.Equal(t, 0, id)
	require.Equal(t, 15, skips)
	id, _, ok = q.Next(little, nil)
	require.True(t, ok)
	require.Equal(t, 16, id)
}

// §3.2, the rules of the queue together. One node of 100, K = 2. R holds 60, and
// A to E wait.
func TestPaperQueue(t *testing.T) {
	n, q := newNodes(t, 1, 100), newQueue[string](t, 2)
	start := func(_ string, need admission.Need) bool {
		return n.Fits(need.Memory, 0).Admit && n.Occupy(need.Memory, 0) == nil
	}
	scan := func() (started string) {
		for {
			id, _, ok := q.Next(n.Enough, start)
			if !ok {
				return started
			}
			started += id
		}
	}
	skips := func() string {
		var s strings.Builder
		for id := range q.All() {
			n, _ := q.Skips(id)
			s.WriteString(id + string(rune('0'+n)))
		}
		return s.String()
	}
	require.NoError(t, n.Occupy(60, 0)) // R
	for _, j := range []struct {
		id     string
		memory int64
	}{{"A", 80}, {"B", 30}, {"C", 30}, {"D", 20}, {"E", 10}} {
		require.NoError(t, q.Push(j.id, mb(j.memory)))
	}
	assert.Equal(t, "BE", scan())
	assert.Equal(t, "A2C1D1", skips())
	assert.EqualValues(t, 100, n.Used(0))

	require.NoError(t, n.Release(60, 0)) // R ends; C and D would fit
	assert.Empty(t, scan())
	assert.Equal(t, "A2C1D1", skips())
	assert.EqualValues(t, 40, n.Used(0))

	require.NoError(t, n.Release(30, 0)) // B ends
	assert.Equal(t, "A", scan())
	assert.Equal(t, "C1D1", skips())
	assert.EqualValues(t, 90, n.Used(0))
}

// §5: a job whose memory was underestimated is "detected, swapped out of memory",
// and its use "re-estimated".
func TestPaperUnderestimatedJob(t *testing.T) {
	n, q := newNodes(t, 1, 100), newQueue[string](t, 0)
	require.NoError(t, n.Occupy(50, 0)) // other
	require.NoError(t, q.Push("waiting", mb(60)))
	require.NoError(t, q.Push("job", mb(40)))
	start := func(_ string, need admission.Need) bool {
		return n.Fits(need.Memory, 0).Admit && n.Occupy(need.Memory, 0) == nil
	}
	id, skips, ok := q.Next(nil, start)
	require.True(t, ok)
	require.Equal(t, "job", id)

	require.NoError(t, n.Reestimate(40, 70, 0))
	require.Greater(t, n.Used(0), n.Limit(0), "more than the node has")
	require.NoError(t, n.Release(70, 0))
	require.NoError(t, q.PutBack(id, mb(70), skips))
	_, _, ok = q.Next(nil, start)
	require.False(t, ok)

	require.NoError(t, n.Release(50, 0)) // other ends
	id, _, ok = q.Next(nil, start)
	require.True(t, ok)
	require.Equal(t, "job", id, "before all others")
	skips, _ = q.Skips("waiting")
	require.Equal(t, 1, skips, "its first start was a skip, its second is none")
}
