package paging_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func newStack(tb testing.TB, pages int) *paging.Stack {
	s, err := paging.NewStack(pages)
	require.NoError(tb, err)
	return s
}

func TestNewStackRefusesBadSizes(t *testing.T) {
	for _, pages := range []int{0, -1, math.MinInt, 1<<29 + 1, math.MaxInt} {
		_, err := paging.NewStack(pages)
		require.ErrorIs(t, err, paging.ErrSize)
	}
	_, err := paging.NewStack(-3)
	assert.EqualError(t, err, "stack of -3 pages: paging: size out of range")
	s := newStack(t, 3)
	assert.Panics(t, func() { s.Touch(3) })
	assert.Panics(t, func() { s.Touch(-1) })
}

func TestStackDepths(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stream []int
		depths []int
	}{
		{"one page", []int{0, 0, 0}, []int{0, 1, 1}},
		{"two in turn", []int{0, 1, 0, 1, 0}, []int{0, 0, 2, 2, 2}},
		{"a loop over all", []int{0, 1, 2, 3, 0, 1, 2, 3}, []int{0, 0, 0, 0, 4, 4, 4, 4}},
		{"there and back", []int{0, 1, 2, 3, 2, 1, 0}, []int{0, 0, 0, 0, 2, 3, 4}},
		{"others count once", []int{0, 1, 2, 1, 2, 1, 0}, []int{0, 0, 0, 2, 2, 2, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStack(t, 4)
			for i, page := range tt.stream {
				assert.Equal(t, tt.depths[i], s.Touch(page), "reference %d", i)
			}
		})
	}
}

// list is the LRU stack as a list, top first.
type list []int

func (l *list) touch(page int) int {
	at := slices.Index(*l, page)
	if at >= 0 {
		*l = slices.Delete(*l, at, at+1)
	}
	*l = slices.Insert(*l, 0, page)
	return at + 1
}

func FuzzStack(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint8(seed%67))
	}
	f.Fuzz(func(t *testing.T, seed uint64, pages uint8) {
		n := int(pages) + 1
		r := rand.New(rand.NewPCG(seed, 33))
		s, twin := newStack(t, n), list{}
		local := 1 + r.IntN(n)
		faults, references, discard := make([]int, n+1), 0, r.IntN(8*n)
		for i := range 8 * n {
			if i == discard {
				s.Discard()
				faults, references = make([]int, n+1), 0
			}
			page := r.IntN(n)
			if r.IntN(4) > 0 {
				page = r.IntN(local)
			}
			want := twin.touch(page)
			require.Equal(t, want, s.Touch(page), "reference %d", i)
			references++
			for frames := range want {
				faults[frames]++
			}
		}
		curve := s.Curve()
		require.Len(t, curve, n+1)
		for frames, want := range faults {
			require.Equal(t, float64(want)/float64(references), curve[frames], "%d frames", frames)
			require.Equal(t, curve[frames], curve.Rate(float64(frames)))
		}
	})
}

// One pass tells the faults of every memory, each simulated here on its own.
func TestCurveIsLRUAtEverySize(t *testing.T) {
	const pages, references = 64, 20_000
	for _, theta := range []float64{1, 1.5, 2} {
		stream := make([]int, references)
		w := newWalk(t, paging.WalkConfig{Locality: theta, Range: 4 * pages}, 3)
		s := newStack(t, pages)
		for i := range stream {
			stream[i] = w.Next() / 4
			s.Touch(stream[i])
		}
		curve := s.Curve()
		require.Zero(t, curve[pages])
		for frames := 1; frames <= pages; frames++ {
			p := newProcess(t, newMemory(t, frames), pages)
			faults := 0
			for _, page := range stream {
				if p.Touch(page) == paging.Fault {
					faults++
				}
			}
			require.Equal(t, float64(faults)/references, curve[frames], "θ = %v, %d frames", theta, frames)
		}
	}
}

// Several processes in turn are one stream over all of their pages.
func TestCurveIsGlobalLRUAtEverySize(t *testing.T) {
	const pages, processes, quantum, quanta = 32, 4, 50, 200
	run := func(touch func(process, page int)) {
		var walks [processes]*paging.Walk
		for i := range walks {
			walks[i] = newWalk(t, paging.WalkConfig{Locality: 1.25, Range: 4 * pages}, uint64(i))
		}
		for i := range quanta {
			for range quantum {
				touch(i%processes, walks[i%processes].Next()/4)
			}
		}
	}
	s := newStack(t, processes*pages)
	run(func(process, page int) { s.Touch(process*pages + page) })
	curve := s.Curve()
	for frames := 1; frames <= processes*pages; frames++ {
		m := newMemory(t, frames)
		var p [processes]*paging.Process
		for i := range p {
			p[i] = newProcess(t, m, pages)
		}
		faults := 0
		run(func(process, page int) {
			if p[process].Touch(page) == paging.Fault {
				faults++
			}
		})
		require.Equal(t, float64(faults)/(quantum*quanta), curve[frames], "%d frames", frames)
	}
}

func TestCurveRate(t *testing.T) {
	curve := paging.Curve{0.5, 0.25, 0.25, 0}
	for _, tt := range []struct {
		name         string
		frames, want float64
	}{
		{"no frame", 0, 0.5},
		{"less than none", -7, 0.5},
		{"minus infinity", math.Inf(-1), 0.5},
		{"a quarter of the first", 0.25, 0.4375},
		{"one", 1, 0.25},
		{"where the curve is flat", 1.5, 0.25},
		{"between the last two", 2.5, 0.125},
		{"all", 3, 0},
		{"more", 3.5, 0},
		{"infinitely many", math.Inf(1), 0},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, curve.Rate(tt.frames)) })
	}
	assert.True(t, math.IsNaN(curve.Rate(math.NaN())))
	assert.True(t, math.IsNaN(paging.Curve(nil).Rate(1)))
	assert.Equal(t, paging.Curve{0, 0, 0}, newStack(t, 2).Curve(), "no references, no faults")
}

func TestCurveNeverRises(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 0))
	for range 10_000 {
		curve := make(paging.Curve, 2+r.IntN(6))
		for i := range curve {
			curve[i] = math.Ldexp(r.Float64(), -r.IntN(60))
		}
		slices.Sort(curve)
		slices.Reverse(curve)
		at := make([]float64, 0, 3*len(curve))
		for i := range curve {
			whole := float64(i)
			at = append(at, math.Nextafter(whole, -1), whole, math.Nextafter(whole, 9), whole+r.Float64())
		}
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			require.LessOrEqual(t, curve.Rate(at[i]), curve.Rate(at[i-1]), "%v from %v to %v", curve, at[i-1], at[i])
		}
	}
}

// Which page is which makes no difference.
func TestCurveOfRelabelledPages(t *testing.T) {
	const pages = 100
	name := rand.New(rand.NewPCG(35, 0)).Perm(pages)
	w := newWalk(t, paging.WalkConfig{Locality: 1, Range: 4 * pages}, 4)
	a, b := newStack(t, pages), newStack(t, pages)
	for range 10_000 {
		page := w.Next() / 4
		require.Equal(t, a.Touch(page), b.Touch(name[page]))
	}
	require.Equal(t, a.Curve(), b.Curve())
}

// Faults per reference in 10 MB of 4 KB pages. Expected, from another program, is the
// mean of four walks of 3·10⁶ references, the first quarter dropped. Walks of high
// locality wander so slowly that one of this length has seen only a part of the
// memory: the factors are about four standard deviations, and where these reach the
// mean itself, nothing is expected.
func TestCurvesOfTheFractalModel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const pages, references = 2560, 3_000_000
	frames := []int{256, 640, 1280, 1707, 2048, 2304, 2432}
	last := make([]float64, len(frames)) // of the lower locality
	for _, tt := range []struct {
		theta  float64
		factor float64
		rates  []float64
	}{
		{1, 1.12, []float64{.1421, .1160, .0780, .0526, .0321, .0160, .0081}},
		{1.25, 1.4, []float64{.0560, .0410, .0276, .0192, .0119, .0064, .0033}},
		{1.5, 2, []float64{.0205, .0123, .0083, .0060, .0038, .0021, .0012}},
		{1.75, 2, []float64{.0073, .0038, .0021}},
		{2, 2.3, []float64{.0027, .0009}},
	} {
		t.Run(fmt.Sprintf("θ=%v", tt.theta), func(t *testing.T) {
			w := newWalk(t, paging.WalkConfig{Locality: tt.theta, Range: 4 * pages}, 0)
			s := newStack(t, pages)
			for i := range references {
				if i == references/4 {
					s.Discard()
				}
				s.Touch(w.Next() / 4)
			}
			curve, rates := s.Curve(), make([]float64, len(frames))
			for i := range frames {
				rates[i] = curve[frames[i]]
			}
			t.Logf("%.4f", rates)
			for i, want := range tt.rates {
				const digits = 0.00005 // are four
				assert.LessOrEqual(t, rates[i], want*tt.factor+digits, "%d frames", frames[i])
				assert.GreaterOrEqual(t, rates[i], want/tt.factor-digits, "%d frames", frames[i])
			}
			for i := range frames {
				if tt.theta > 1 {
					assert.Less(t, rates[i], last[i], "%d frames: fewer faults with more locality", frames[i])
				}
			}
			last = rates
		})
	}
}

func TestStackDoesNotAllocate(t *testing.T) {
	const pages = 100
	s := newStack(t, pages)
	r := rand.New(rand.NewPCG(36, 0))
	require.Zero(t, testing.AllocsPerRun(1000, func() { s.Touch(r.IntN(pages)) }))
}
