package estimate_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
)

func TestZeroHistory(t *testing.T) {
	var h estimate.History
	_, ok := h.Estimate(job)
	assert.False(t, ok)
	h.Rotate()
	h.Rotate()
	assert.Zero(t, h.Records())
	require.NoError(t, h.Observe(job, 0))
	e, ok := h.Estimate(job)
	assert.True(t, ok)
	assert.Equal(t, estimate.Estimate{Memory: 0, Level: estimate.ByPathNodesUser, Samples: 1}, e)
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []estimate.Config{{Paths: -1}, {Records: -1}, {Paths: estimate.MaxRecords + 1}, {Records: math.MaxInt}} {
		h, err := estimate.NewHistory(c)
		assert.ErrorIs(t, err, estimate.ErrConfig)
		assert.Nil(t, h)
	}
	h, err := estimate.NewHistory(estimate.Config{Bound: estimate.Last, Records: 1})
	require.NoError(t, err)
	observe(t, h, job, 5, 3)
	e, _ := h.Estimate(job)
	assert.Equal(t, int64(3), e.Memory)
}

func TestBoundBelowZeroCountsAsZero(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Bound: func(s estimate.Sample) int64 { return s.Max - 100 }})
	require.NoError(t, err)
	observe(t, h, job, 5)
	e, ok := h.Estimate(job)
	assert.True(t, ok)
	assert.Zero(t, e.Memory)
}

func TestBadInputIsRefused(t *testing.T) {
	var h estimate.History
	observe(t, &h, job, 5)
	before := snapshot(t, &h)
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		job    estimate.Job
		memory int64
		want   error
		text   string
	}{
		{estimate.Job{Path: "", Nodes: 8, User: "u"}, 1, estimate.ErrJob, "path of 0 bytes"},
		{estimate.Job{Path: long(2048), Nodes: 8, User: "u"}, 1, estimate.ErrJob, "path of 2048 bytes"},
		{estimate.Job{Path: "/bin/a", Nodes: 8, User: long(256)}, 1, estimate.ErrJob, "user of 256 bytes"},
		{estimate.Job{Path: "/bin/a", Nodes: 0, User: "u"}, 1, estimate.ErrJob, "0 nodes"},
		{estimate.Job{Path: "/bin/a", Nodes: -8, User: "u"}, 1, estimate.ErrJob, "-8 nodes"},
		{job, -1, estimate.ErrMemory, "-1 bytes"},
		{job, math.MinInt64, estimate.ErrMemory, "-9223372036854775808 bytes"},
		{job, estimate.MaxMemory + 1, estimate.ErrMemory, "281474976710656 bytes"},
		{job, math.MaxInt64, estimate.ErrMemory, "9223372036854775807 bytes"},
	} {
		err := h.Observe(c.job, c.memory)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, before, snapshot(t, &h))
		if c.want == estimate.ErrJob {
			_, ok := h.Estimate(c.job)
			require.False(t, ok)
		}
	}
	// The largest that are allowed.
	j := estimate.Job{Path: long(2047), Nodes: estimate.MaxNodes, User: long(255)}
	require.NoError(t, h.Observe(j, estimate.MaxMemory))
	e, ok := h.Estimate(j)
	assert.True(t, ok)
	assert.Equal(t, int64(estimate.MaxMemory), e.Memory)
}

func TestMoreNodesThanAnyJobHas(t *testing.T) {
	nodes := int64(estimate.MaxNodes) + 1
	if nodes > math.MaxInt {
		t.Skip("an int has 32 bits")
	}
	var h estimate.History
	assert.ErrorIs(t, h.Observe(estimate.Job{Path: "a", Nodes: int(nodes)}, 1), estimate.ErrJob)
}

func TestNamesAreBytes(t *testing.T) {
	var h estimate.History
	jobs := []estimate.Job{
		{Path: "a", Nodes: 1, User: "bc"},
		{Path: "ab", Nodes: 1, User: "c"},
		{Path: "abc", Nodes: 1, User: ""},
		{Path: "a\x00", Nodes: 1, User: "bc"},
		{Path: "\xff\xfe", Nodes: 1, User: "\x80"},
		{Path: strings.Repeat("é", 1000), Nodes: 1, User: strings.Repeat("é", 127)},
	}
	for i, j := range jobs {
		observe(t, &h, j, int64(i))
	}
	for i, j := range jobs {
		e, _ := h.Estimate(j)
		assert.Equal(t, estimate.Estimate{Memory: int64(i), Level: estimate.ByPathNodesUser, Samples: 1}, e)
	}
}

func TestRotation(t *testing.T) {
	a, b := estimate.Job{Path: "a", Nodes: 1, User: "u"}, estimate.Job{Path: "b", Nodes: 1, User: "u"}
	var h estimate.History
	for range 3 { // without data
		h.Rotate()
	}
	observe(t, &h, a, 5)
	observe(t, &h, b, 6)
	h.Rotate()
	observe(t, &h, a, 1)
	h.Rotate()
	_, ok := h.Estimate(b)
	assert.False(t, ok, "two rotations after its last run")
	e, ok := h.Estimate(a)
	assert.True(t, ok)
	assert.Equal(t, int64(1), e.Memory)
	h.Rotate()
	h.Rotate()
	assert.Zero(t, h.Records())
	assert.Zero(t, h.Paths())
	observe(t, &h, a, 7)
	e, _ = h.Estimate(a)
	assert.Equal(t, estimate.Estimate{Memory: 7, Level: estimate.ByPathNodesUser, Samples: 1}, e)
}

// When one user's record goes, the coarser levels forget what is too old, and
// nothing else.
func TestRotationOfCoarserLevels(t *testing.T) {
	u, v, w := estimate.Job{Path: "a", Nodes: 1, User: "u"}, estimate.Job{Path: "a", Nodes: 1, User: "v"}, estimate.Job{Path: "a", Nodes: 1, User: "w"}
	var h estimate.History
	observe(t, &h, u, 9, 8)
	observe(t, &h, v, 3)
	h.Rotate()
	observe(t, &h, v, 4)
	e, _ := h.Estimate(w)
	assert.Equal(t, estimate.Estimate{Memory: 9, Level: estimate.ByPathNodes, Samples: 4}, e)
	h.Rotate()
	e, _ = h.Estimate(w)
	assert.Equal(t, estimate.Estimate{Memory: 4, Level: estimate.ByPathNodes, Samples: 1}, e)
	_, level := h.Past(u)
	assert.Equal(t, estimate.ByPathNodes, level)
}

func TestEvictionOfTheLeastRecentlyObserved(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Records: 3})
	require.NoError(t, err)
	known := func() (s string) {
		for _, p := range "abcde" {
			if _, ok := h.Estimate(estimate.Job{Path: string(p), Nodes: 1}); ok {
				s += string(p)
			}
		}
		return s
	}
	for _, c := range []struct{ observed, known string }{
		{"a", "a"}, {"b", "ab"}, {"c", "abc"},
		{"a", "abc"}, // now b is the oldest
		{"d", "acd"},
		{"a", "acd"},
		{"e", "ade"},
		{"b", "abe"},
	} {
		observe(t, h, estimate.Job{Path: c.observed, Nodes: 1}, 1)
		assert.Equal(t, c.known, known(), "after %s", c.observed)
	}
	// An estimate is no observation.
	_, _ = h.Estimate(estimate.Job{Path: "a", Nodes: 1})
	observe(t, h, estimate.Job{Path: "c", Nodes: 1}, 1)
	assert.Equal(t, "bce", known())
}

// Where paths are at their limit, records go until a path does.
func TestEvictionOfPaths(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Paths: 2})
	require.NoError(t, err)
	observe(t, h, estimate.Job{Path: "a", Nodes: 1}, 1)
	observe(t, h, estimate.Job{Path: "b", Nodes: 1}, 2)
	observe(t, h, estimate.Job{Path: "a", Nodes: 2}, 3)
	observe(t, h, estimate.Job{Path: "c", Nodes: 1}, 4)
	assert.Equal(t, 2, h.Paths())
	assert.Equal(t, 2, h.Records())
	_, level := h.Past(estimate.Job{Path: "b", Nodes: 1})
	assert.Equal(t, estimate.None, level)
	e, _ := h.Estimate(estimate.Job{Path: "a", Nodes: 1}) // its record was older than b
	assert.Equal(t, estimate.Estimate{Memory: 3, Level: estimate.ByPath, Samples: 2}, e)
}

// A coarser level keeps the values of an evicted record until they are too old, or
// until it has no record any more.
func TestEvictionKeepsCoarserLevels(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Records: 1})
	require.NoError(t, err)
	want := func(j estimate.Job, memory int64, level estimate.Level, samples int) {
		t.Helper()
		e, _ := h.Estimate(j)
		assert.Equal(t, estimate.Estimate{Memory: memory, Level: level, Samples: samples}, e)
	}
	a1u, a1v, a2v := estimate.Job{Path: "a", Nodes: 1, User: "u"}, estimate.Job{Path: "a", Nodes: 1, User: "v"}, estimate.Job{Path: "a", Nodes: 2, User: "v"}
	observe(t, h, a1u, 9)
	observe(t, h, a1v, 3)
	want(a1v, 3, estimate.ByPathNodesUser, 1)
	want(a1u, 9, estimate.ByPathNodes, 2)
	observe(t, h, a2v, 4)
	want(a2v, 4, estimate.ByPathNodesUser, 1)
	want(a1u, 9, estimate.ByPath, 3)
	h.Rotate()
	observe(t, h, a2v, 5)
	want(a2v, 5, estimate.ByPathNodesUser, 2)
	want(a1u, 9, estimate.ByPath, 4)
	h.Rotate()
	want(a1u, 5, estimate.ByPath, 1)
	observe(t, h, estimate.Job{Path: "b", Nodes: 1, User: "u"}, 7)
	want(a1u, 0, estimate.None, 0)
	assert.Equal(t, 1, h.Paths())
}

// Which of the three coarser levels a value came in by makes no difference to
// them: a site of many users is, at the level of the path, one of a single user.
func TestCoarserLevelsSeeAllBelow(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var many, one estimate.History
		for range 200 {
			if r.IntN(30) == 0 {
				many.Rotate()
				one.Rotate()
			}
			j, m := universe{1, 5, 5}.job(r), memory(r)
			observe(t, &many, j, m)
			j.Nodes, j.User = 1, "all"
			observe(t, &one, j, m)
			s, level := many.Past(estimate.Job{Path: "/bin/0", Nodes: 99})
			require.Equal(t, estimate.ByPath, level)
			u, _ := one.Past(j)
			require.Equal(t, u, s)
		}
	}
}

// Other names make no difference.
func TestRenamedJobsAreEstimatedAlike(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := estimate.Config{Paths: 4, Records: 12}
		h, err := estimate.NewHistory(c)
		require.NoError(t, err)
		renamed, err := estimate.NewHistory(c)
		require.NoError(t, err)
		rename := func(j estimate.Job) estimate.Job {
			return estimate.Job{Path: j.Path + strings.Repeat("/x", len(j.Path)), Nodes: 1000 - j.Nodes, User: "z" + j.User}
		}
		u := universe{6, 3, 3}
		for range 200 {
			j, m := u.job(r), memory(r)
			observe(t, h, j, m)
			observe(t, renamed, rename(j), m)
			if r.IntN(40) == 0 {
				h.Rotate()
				renamed.Rotate()
			}
			j = u.job(r)
			e, ok := h.Estimate(j)
			f, ok2 := renamed.Estimate(rename(j))
			require.Equal(t, ok, ok2)
			require.Equal(t, e, f)
		}
	}
}

// Long names come and go, so that the space of those that went is used again.
func TestNamesOfForgottenRecordsAreForgotten(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Paths: 50, Records: 100})
	require.NoError(t, err)
	slow := newTwin(50, 100)
	r := rand.New(rand.NewPCG(1, 2))
	var jobs []estimate.Job
	for range 300 {
		jobs = append(jobs, estimate.Job{
			Path: fmt.Sprint(r.IntN(80)) + strings.Repeat("p", r.IntN(2000)), Nodes: 1 + r.IntN(3), User: strings.Repeat("u", r.IntN(256)),
		})
	}
	for i := range 5000 {
		j, m := jobs[r.IntN(len(jobs))], memory(r)
		observe(t, h, j, m)
		slow.observe(j, m)
		if i%500 == 0 {
			same(t, slow, h, jobs)
		}
		if i%100 == 0 {
			require.NoError(t, h.Check())
		}
	}
}

// However many names were seen, those that are kept count.
func TestForgottenNamesTakeNoMemory(t *testing.T) {
	h, err := estimate.NewHistory(estimate.Config{Records: 10})
	require.NoError(t, err)
	before, long := heap(), strings.Repeat("x", 2000)
	for i := range 20_000 {
		observe(t, h, estimate.Job{Path: fmt.Sprint(i, long), Nodes: 1}, 1) // 40 MB in all
	}
	assert.Less(t, heap()-before, 1<<20)
	for i := range 10_000 {
		observe(t, h, estimate.Job{Path: "a", Nodes: 1, User: fmt.Sprint(i)}, 1)
	}
	require.NoError(t, h.Check())
	assert.Less(t, heap()-before, 1<<20)
}

func TestNothingIsAllocatedForAKnownJob(t *testing.T) {
	h, _, u := random(t, 5, 300)
	jobs := u.all()
	i := 0
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		i++
		h.Estimate(jobs[i%len(jobs)])
	}))
	for _, bound := range []estimate.Bound{estimate.Adaptive, estimate.MaxOfLast(3), estimate.MeanPlus(2)} {
		h, err := estimate.NewHistory(estimate.Config{Bound: bound})
		require.NoError(t, err)
		for _, j := range jobs {
			observe(t, h, j, 1, 2, 3, 4, 5, 6)
		}
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			i++
			if err := h.Observe(jobs[i%len(jobs)], int64(i)); err != nil {
				t.Fatal(err)
			}
			h.Estimate(jobs[i%len(jobs)])
		}))
	}
}

// Estimates may be made at the same time, and snapshots.
func TestConcurrentEstimates(t *testing.T) {
	h, _, u := random(t, 7, 300)
	h.Rotate()
	saved := snapshot(t, h)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				for _, j := range u.all() {
					e, ok := h.Estimate(j)
					s, level := h.Past(j)
					if ok != (level != estimate.None) || ok && e.Memory != estimate.Paper(s) {
						t.Error(j, e, s)
					}
				}
				var b bytes.Buffer
				if err := h.Snapshot(&b); err != nil || !bytes.Equal(saved, b.Bytes()) {
					t.Error("another snapshot", err)
				}
				if err := h.Snapshot(io.Discard); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}
