package matrix_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/matrix"
)

const benchSlots = 64

// mill is a machine of 64 slots, about 80 % full, on which for ever a gang leaves
// and another one of its size comes. Sizes are log-uniform from 1 to the machine.
type mill struct {
	m     *matrix.Matrix[int]
	rand  *rand.Rand
	nodes int
	sizes []int // by ID
	among []int // the gangs that leave and come

	placing, removing watch
	turns, refused    int
	pes               []int
}

// watch adds up times, and keeps the last ones for their median, as the mean also
// tells of what else a busy computer does.
type watch struct {
	sum  time.Duration
	last [1 << 14]time.Duration
	n    int
}

func (w *watch) add(d time.Duration) {
	w.sum += d
	w.last[w.n%len(w.last)] = d
	w.n++
}

func (w *watch) mean() float64 { return float64(w.sum.Nanoseconds()) / float64(w.n) }

func (w *watch) median() float64 {
	last := slices.Clone(w.last[:min(w.n, len(w.last))])
	slices.Sort(last)
	return float64(last[len(last)/2].Nanoseconds())
}

// newMill returns a mill. Width, unless 0, is the size of every fourth gang, and
// only these leave and come.
func newMill(tb testing.TB, nodes, width int) *mill {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	m, err := matrix.New[int](matrix.Config{PEs: nodes, MaxSlots: benchSlots, KeepEmpty: true})
	require.NoError(tb, err)
	l := &mill{m: m, rand: r, nodes: nodes}
	for tries := 0; m.Slots() < benchSlots || m.Utilisation() < 0.8; tries++ {
		require.Less(tb, tries, 1_000_000)
		n := min(nodes, int(math.Exp(r.Float64()*math.Log(float64(nodes+1)))))
		if width > 0 && tries%4 == 0 {
			n = width
		}
		id := len(l.sizes)
		_, ok, err := m.Place(id, n, nil)
		require.NoError(tb, err)
		if ok {
			l.sizes = append(l.sizes, n)
			if width == 0 || n == width {
				l.among = append(l.among, id)
			}
		}
	}
	require.NotEmpty(tb, l.among)
	for range 1000 {
		l.turn(tb, nil)
	}
	l.placing, l.removing, l.turns, l.refused = watch{}, watch{}, 0, 0
	return l
}

// turn lets one gang leave and come again. If it finds no place, because others
// use what it left over of its block, it returns to where it was. A grid, unless
// nil, does the same in times of its own.
func (l *mill) turn(tb testing.TB, g *grid) {
	id := l.among[l.rand.IntN(len(l.among))]
	n, old := l.sizes[id], l.home(id)
	start := time.Now()
	err := l.m.Remove(id)
	l.removing.add(time.Since(start))
	if err != nil {
		tb.Fatal(err)
	}
	start = time.Now()
	_, ok, err := l.m.Place(id, n, nil)
	l.placing.add(time.Since(start))
	if err != nil {
		tb.Fatal(err)
	}
	l.turns++
	if g != nil {
		placed := g.turn(id, n)
		if placed != ok || ok && g.gangs[id] != l.home(id) {
			tb.Fatalf("%d of %d: %v, twin %v", id, n, l.home(id), g.gangs[id])
		}
		if !placed {
			g.put(id, old)
		}
	}
	if !ok {
		l.refused++
		l.pes = l.pes[:0]
		for pe := old.lo; pe < old.lo+n; pe++ {
			l.pes = append(l.pes, pe)
		}
		if ok, err := l.m.Put(id, old.slot, l.pes); err != nil || !ok {
			tb.Fatal("no way back", err)
		}
	}
}

func (l *mill) home(id int) home {
	slot, _ := l.m.Slot(id)
	for pe := range l.m.PEs(id) {
		return home{slot, pe, l.sizes[id]}
	}
	return home{}
}

// grid is the twin to be timed: an array of slots, each an array of cells, and
// the place of every gang.
type grid struct {
	rows  [][]bool
	gangs map[int]home

	placing, removing watch
}

type home struct{ slot, lo, n int }

func (l *mill) grid() *grid {
	g := &grid{gangs: map[int]home{}}
	for slot := range l.m.Slots() {
		g.rows = append(g.rows, make([]bool, l.nodes))
		for pe, id := range l.m.Row(slot) {
			if _, ok := g.gangs[id]; !ok {
				g.gangs[id] = home{slot, pe, l.sizes[id]}
			}
			g.rows[slot][pe] = true
		}
	}
	return g
}

// turn says whether the gang found a place.
func (g *grid) turn(id, n int) bool {
	start := time.Now()
	h := g.gangs[id]
	clear(g.rows[h.slot][h.lo : h.lo+h.n])
	delete(g.gangs, id)
	g.removing.add(time.Since(start))

	start = time.Now()
	h, ok := g.find(n)
	if ok {
		g.put(id, h)
	}
	g.placing.add(time.Since(start))
	return ok
}

func (g *grid) put(id int, h home) {
	for pe := h.lo; pe < h.lo+h.n; pe++ {
		g.rows[h.slot][pe] = true
	}
	g.gangs[id] = h
}

// find looks at every cell once, row by row.
func (g *grid) find(n int) (home, bool) {
	width := 1
	for width < n {
		width *= 2
	}
	loads := make([]int, len(g.rows[0])/width)
	first := make([]int, len(loads)) // slots, plus one
	for slot, row := range g.rows {
		for c := range loads {
			used := 0
			for _, cell := range row[c*width : (c+1)*width] {
				if cell {
					used++
				}
			}
			if loads[c] += used; used == 0 && first[c] == 0 {
				first[c] = slot + 1
			}
		}
	}
	best := -1
	for c := range loads {
		if first[c] > 0 && (best < 0 || loads[c] < loads[best]) {
			best = c
		}
	}
	if best < 0 {
		return home{}, false
	}
	return home{first[best] - 1, best * width, n}, true
}

// BenchmarkPlaceBuddy places a gang on a machine of 64 slots that is about 80 %
// full, after another one of its size has left. x-twin says how many times as
// long the twin takes, an array of arrays, for the same turns.
func BenchmarkPlaceBuddy(b *testing.B) {
	benchmarkTurns(b, func(l *mill) *watch { return &l.placing }, func(g *grid) *watch { return &g.placing })
}

// BenchmarkRemove removes the gangs of [BenchmarkPlaceBuddy]. The twin clears
// the cells; for narrow gangs there is nothing faster.
func BenchmarkRemove(b *testing.B) {
	benchmarkTurns(b, func(l *mill) *watch { return &l.removing }, func(g *grid) *watch { return &g.removing })
}

func benchmarkTurns(b *testing.B, ours func(*mill) *watch, twins func(*grid) *watch) {
	run := func(name string, nodes, width int) {
		b.Run(name, func(b *testing.B) {
			l := newMill(b, nodes, width)
			b.ReportAllocs()
			for b.Loop() {
				l.turn(b, nil)
			}
			took := *ours(l)
			b.ReportMetric(took.mean(), "ns/op") // of the one half only
			b.ReportMetric(took.median(), "median-ns")
			b.ReportMetric(l.m.Utilisation(), "utilisation")
			b.ReportMetric(float64(l.refused)/float64(l.turns), "refused")
			b.ReportMetric(float64(l.m.Len()), "gangs")
			if nodes <= 1<<16 || !testing.Short() {
				g := l.grid()
				turns := max(2, min(1000, 1<<21/nodes))
				for range turns {
					l.turn(b, g)
				}
				b.ReportMetric(twins(g).mean()/took.mean(), "x-twin")
			}
		})
	}
	for _, nodes := range []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20} {
		run(fmt.Sprintf("nodes=%d", nodes), nodes, 0)
	}
	for _, width := range []int{1, 1 << 4, 1 << 8, 1 << 12, 1 << 16, 1 << 18, 1 << 20} {
		run(fmt.Sprintf("nodes=%d/gang=%d", 1<<20, width), 1<<20, width)
	}
}

// Beside the gangs, a matrix of 64 slots takes at most 24 bytes per PE.
func TestMemoryPerPE(t *testing.T) {
	const nodes = 1 << 20
	before := heap()
	m, err := matrix.New[int](matrix.Config{PEs: nodes})
	require.NoError(t, err)
	for id := range 64 * 4 { // few gangs, that take little themselves
		_, ok, err := m.Place(id, nodes/5+id, nil)
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.Equal(t, 64, m.Slots())
	require.Empty(t, m.AppendAlternates(nil, 0, 0, nil))
	perPE := float64(heap()-before) / nodes
	t.Logf("%.2f bytes per PE", perPE)
	require.LessOrEqual(t, perPE, 24.0)
	runtime.KeepAlive(m)
}

// What gangs and slots leave is used again.
func TestComingAndGoingTakesNoMemory(t *testing.T) {
	m, err := matrix.New[int](matrix.Config{PEs: 200})
	require.NoError(t, err)
	turns := func(n int) {
		for id := range n {
			if _, ok, err := m.Place(id, 1+id%200, nil); !ok || err != nil {
				t.Fatal("no place", err)
			}
			if id >= 20 && m.Remove(id-20) != nil {
				t.Fatal("no gang")
			}
		}
		for id := n - 20; id < n; id++ {
			require.NoError(t, m.Remove(id))
		}
	}
	turns(1000)
	before := heap()
	turns(20_000)
	require.Less(t, int64(heap()-before), int64(50_000))
	runtime.KeepAlive(m)
}

func heap() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// In a steady state nothing makes garbage.
func TestNothingAllocates(t *testing.T) {
	l := newMill(t, 1000, 0)
	odd := func(pe int) bool { return pe%512 > 3 }
	var alternates []int
	slot := 0
	for name, f := range map[string]func(){
		"place and remove": func() { l.turn(t, nil) },
		"place with a condition": func() {
			if _, ok, err := l.m.Place(-1, 7, odd); !ok || err != nil {
				t.Fatal("no place", err)
			}
			if l.m.Remove(-1) != nil {
				t.Fatal("no gang")
			}
		},
		"alternates": func() {
			slot = (slot + 1) % l.m.Slots()
			alternates = l.m.AppendAlternates(alternates[:0], slot, 0, nil)
		},
		"move": func() {
			id := l.among[l.rand.IntN(len(l.among))]
			if _, err := l.m.Move(id, l.rand.IntN(l.m.Slots())); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				f()
			}
			require.Zero(t, testing.AllocsPerRun(1000, f))
		})
	}
}

// The twin that is timed decides as the matrix does.
func TestMillEqualsGrid(t *testing.T) {
	for _, nodes := range []int{64, 256, 1024, 8192} {
		l := newMill(t, nodes, 0)
		g := l.grid()
		for range 200_000 / nodes {
			l.turn(t, g)
		}
	}
}
