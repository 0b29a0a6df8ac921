package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/estimate"
)

// twin is the obvious History: every level keeps every value in a map.
type twin struct {
	paths, records int // limits
	period         int
	kept           [estimate.ByPath + 1]map[estimate.Job]*values
	order          []estimate.Job // records, least recently observed first
}

type values struct {
	x      []int64
	period []int // of each
	missed float32
}

func newTwin(paths, records int) *twin {
	t := &twin{paths: paths, records: records}
	for level := range t.kept {
		t.kept[level] = map[estimate.Job]*values{}
	}
	return t
}

// at is what identifies a job at a level.
func at(level estimate.Level, j estimate.Job) estimate.Job {
	if level >= estimate.ByPathNodes {
		j.User = ""
	}
	if level == estimate.ByPath {
		j.Nodes = 0
	}
	return j
}

// recent are the values of the current and the previous period.
func (v *values) recent(now int) []int64 {
	for i, p := range v.period {
		if p >= now-1 {
			return v.x[i:]
		}
	}
	return nil
}

func (t *twin) observe(j estimate.Job, memory int64) {
	for level := estimate.ByPathNodesUser; level <= estimate.ByPath; level++ {
		v := t.kept[level][at(level, j)]
		if v == nil {
			v = &values{}
			t.kept[level][at(level, j)] = v
		}
		if x := v.recent(t.period); len(x) > 0 {
			var miss float32
			if memory > slices.Max(x[max(0, len(x)-5):])+384*1024 {
				miss = 1
			}
			v.missed += (miss - v.missed) / 32
		}
		v.x, v.period = append(v.x, memory), append(v.period, t.period)
	}
	t.order = slices.DeleteFunc(t.order, func(k estimate.Job) bool { return k == j })
	t.order = append(t.order, j)
	for len(t.order) > t.records || len(t.kept[estimate.ByPath]) > t.paths {
		t.forget()
	}
}

// forget removes the record observed least recently, and the coarser ones that
// no record is left of.
func (t *twin) forget() {
	gone := t.order[0]
	t.order = t.order[1:]
	for level := estimate.ByPathNodesUser; level <= estimate.ByPath; level++ {
		if !slices.ContainsFunc(t.order, func(k estimate.Job) bool { return at(level, k) == at(level, gone) }) {
			delete(t.kept[level], at(level, gone))
		}
	}
}

func (t *twin) rotate() {
	t.period++
	for len(t.order) > 0 && len(t.kept[estimate.ByPathNodesUser][t.order[0]].recent(t.period)) == 0 {
		t.forget()
	}
}

func (t *twin) past(j estimate.Job) (estimate.Sample, estimate.Level) {
	for level := estimate.ByPathNodesUser; level <= estimate.ByPath; level++ {
		v := t.kept[level][at(level, j)]
		if v == nil {
			continue
		}
		x := v.recent(t.period)
		s := estimate.Sample{Count: len(x), Max: slices.Max(x), Missed: float64(v.missed)}
		floats := make([]float64, len(x))
		for i := range x {
			floats[i] = float64(x[i])
		}
		var variance float64
		s.Mean, variance = stat.PopMeanVariance(floats, nil)
		s.Deviation = math.Sqrt(variance)
		for i := range min(len(x), len(s.Recent)) {
			s.Recent[i] = x[len(x)-1-i]
		}
		return s, level
	}
	return estimate.Sample{}, estimate.None
}

// sameSample requires equal samples, up to rounding of the mean and the deviation.
func sameSample(tb testing.TB, want, got estimate.Sample, message ...any) {
	scale := max(want.Mean, 1)
	require.InDelta(tb, want.Mean, got.Mean, 1e-12*scale, message...)
	require.InDelta(tb, want.Deviation, got.Deviation, 1e-7*scale, message...)
	want.Mean, want.Deviation = got.Mean, got.Deviation
	require.Equal(tb, want, got, message...)
}

// universe is a small set of jobs, so that they meet at all levels.
type universe struct{ paths, nodes, users int }

func (u universe) job(r *rand.Rand) estimate.Job {
	j := estimate.Job{Path: fmt.Sprintf("/bin/%d", r.IntN(u.paths)), Nodes: 1 + r.IntN(u.nodes), User: fmt.Sprint("u", r.IntN(u.users))}
	if j.User == "u0" {
		j.User = ""
	}
	return j
}

func (u universe) all() (jobs []estimate.Job) {
	for p := range u.paths {
		for n := range u.nodes {
			for v := range u.users {
				j := estimate.Job{Path: fmt.Sprintf("/bin/%d", p), Nodes: 1 + n, User: fmt.Sprint("u", v)}
				if v == 0 {
					j.User = ""
				}
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

func memory(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return r.Int64N(estimate.MaxMemory + 1)
	case 1:
		return 0
	case 2:
		return estimate.MaxMemory
	default: // some within the margin, some beyond it
		return 1<<20 + r.Int64N(1<<19)
	}
}

func same(tb testing.TB, want *twin, got *estimate.History, jobs []estimate.Job, message ...any) {
	require.Equal(tb, len(want.order), got.Records(), message...)
	require.Equal(tb, len(want.kept[estimate.ByPath]), got.Paths(), message...)
	for _, j := range jobs {
		s, level := want.past(j)
		t, found := got.Past(j)
		require.Equal(tb, level, found, message...)
		sameSample(tb, s, t, message...)
	}
}

func compare(tb testing.TB, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 1))
	u := universe{1 + r.IntN(6), 1 + r.IntN(4), 1 + r.IntN(4)}
	jobs := u.all()
	paths, records := 1+r.IntN(u.paths), 1+r.IntN(len(jobs))
	h, err := estimate.NewHistory(estimate.Config{Paths: paths, Records: records})
	require.NoError(tb, err)
	slow := newTwin(paths, records)
	rotate := r.IntN(3) * r.IntN(20)
	for i := range steps {
		if r.IntN(100) < rotate {
			h.Rotate()
			slow.rotate()
		} else {
			j, m := u.job(r), memory(r)
			require.NoError(tb, h.Observe(j, m))
			slow.observe(j, m)
		}
		same(tb, slow, h, jobs[r.IntN(len(jobs)):][:1], "seed %d step %d", seed, i)
	}
	same(tb, slow, h, jobs, "seed %d", seed)
	require.NoError(tb, h.Check(), "seed %d", seed)
}

func TestTwinOfManyRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	u := universe{500, 4, 4}
	const paths, records = 300, 1000
	h, err := estimate.NewHistory(estimate.Config{Paths: paths, Records: records})
	require.NoError(t, err)
	slow := newTwin(paths, records)
	for i := range 12_000 {
		j, m := u.job(r), memory(r)
		if r.IntN(3) > 0 { // more often than others
			j.Path = fmt.Sprintf("/bin/%d", r.IntN(50))
		}
		require.NoError(t, h.Observe(j, m))
		slow.observe(j, m)
		if i%1500 == 0 {
			h.Rotate()
			slow.rotate()
			require.NoError(t, h.Check())
		}
	}
	same(t, slow, h, u.all())
	for range 2 {
		h.Rotate()
		slow.rotate()
		same(t, slow, h, u.all())
		require.NoError(t, h.Check())
	}
}

func FuzzTwin(f *testing.F) {
	for seed := range uint64(1000) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		compare(t, seed, int(steps))
	})
}
