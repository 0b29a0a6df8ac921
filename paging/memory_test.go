package paging_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func newMemory(tb testing.TB, frames int) *paging.Memory {
	m, err := paging.NewMemory(frames)
	require.NoError(tb, err)
	return m
}

func newProcess(tb testing.TB, m *paging.Memory, pages int) *paging.Process {
	p, err := m.NewProcess(pages)
	require.NoError(tb, err)
	return p
}

func TestMemoryRefusesBadSizes(t *testing.T) {
	m := newMemory(t, 1)
	for _, n := range []int{0, -1, math.MinInt, 1<<29 + 1, math.MaxInt} {
		_, err := paging.NewMemory(n)
		require.ErrorIs(t, err, paging.ErrSize)
		_, err = m.NewProcess(n)
		require.ErrorIs(t, err, paging.ErrSize)
	}
	_, err := paging.NewMemory(0)
	assert.EqualError(t, err, "memory of 0 frames: paging: size out of range")
	_, err = m.NewProcess(0)
	assert.EqualError(t, err, "process of 0 pages: paging: size out of range")
	p := newProcess(t, m, 3)
	assert.Panics(t, func() { p.Touch(3) })
	assert.Panics(t, func() { p.Touch(-1) })
}

// Three frames, processes A and B, by hand.
func TestMemoryTakesTheLeastRecentlyUsed(t *testing.T) {
	const hit, first, fault = paging.Hit, paging.First, paging.Fault
	m := newMemory(t, 3)
	a, b := newProcess(t, m, 4), newProcess(t, m, 2)
	for i, step := range []struct {
		process *paging.Process
		page    int
		want    paging.Outcome
		a, b    int // resident
	}{
		{a, 0, first, 1, 0},
		{a, 1, first, 2, 0},
		{a, 0, hit, 2, 0},
		{b, 0, first, 2, 1}, // B0 A0 A1
		{b, 1, first, 1, 2}, // A1 goes: B1 B0 A0
		{a, 1, fault, 1, 2}, // A0 goes: A1 B1 B0
		{b, 0, hit, 1, 2},   // B0 A1 B1
		{a, 3, first, 2, 1}, // B1 goes: A3 B0 A1
		{b, 1, fault, 1, 2}, // A1 goes: B1 A3 B0
		{b, 1, hit, 1, 2},   //
		{a, 0, fault, 2, 1}, // B0 goes: A0 B1 A3
		{a, 3, hit, 2, 1},   // A3 A0 B1
		{b, 0, fault, 2, 1}, // B1 goes
		{nil, 0, hit, 0, 1}, // A exits: B0 - -
		{b, 1, fault, 0, 2}, // into an unused frame: B0 stays
		{b, 0, hit, 0, 2},   //
		{a, 3, first, 1, 2}, // A again, as new
		{a, 2, first, 2, 1}, // B1 goes: A2 A3 B0
		{b, 0, hit, 2, 1},   //
		{b, 1, fault, 1, 2}, // A3 goes
		{a, 3, fault, 1, 2}, // A2 goes
		{nil, 0, hit, 0, 2}, // A exits
		{nil, 0, hit, 0, 2}, // again: nothing happens
		{a, 0, first, 1, 2}, //
	} {
		if step.process == nil {
			a.Exit()
		} else {
			require.Equal(t, step.want, step.process.Touch(step.page), "step %d", i)
		}
		require.Equal(t, [3]int{step.a, step.b, step.a + step.b}, [3]int{a.Resident(), b.Resident(), m.Used()}, "step %d", i)
	}
}

// reference is a page of a process.
type reference struct{ process, page int }

// pool is a memory as a list of references, most recent first.
type pool struct {
	frames int
	list   []reference
	seen   map[reference]bool
}

func (p *pool) touch(r reference) paging.Outcome {
	outcome := paging.First
	if p.seen[r] {
		outcome = paging.Fault
	}
	p.seen[r] = true
	if at := slices.Index(p.list, r); at >= 0 {
		outcome = paging.Hit
		p.list = slices.Delete(p.list, at, at+1)
	}
	p.list = slices.Insert(p.list, 0, r)
	p.list = p.list[:min(len(p.list), p.frames)]
	return outcome
}

func (p *pool) exit(process int) {
	p.list = slices.DeleteFunc(p.list, func(r reference) bool { return r.process == process })
	for r := range p.seen {
		if r.process == process {
			delete(p.seen, r)
		}
	}
}

func (p *pool) resident(process int) (n int) {
	for _, r := range p.list {
		if r.process == process {
			n++
		}
	}
	return n
}

func FuzzMemory(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed%50), uint8(seed%5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, frames, processes uint8) {
		r := rand.New(rand.NewPCG(seed, 37))
		n := int(frames) + 1
		m, twin := newMemory(t, n), &pool{frames: n, seen: map[reference]bool{}}
		p, pages := make([]*paging.Process, int(processes%8)+1), make([]int, int(processes%8)+1)
		for i := range p {
			pages[i] = 1 + r.IntN(n+n/2)
			p[i] = newProcess(t, m, pages[i])
		}
		for i := range 400 {
			at := r.IntN(len(p))
			if r.IntN(60) == 0 {
				p[at].Exit()
				twin.exit(at)
			}
			page := r.IntN(pages[at])
			require.Equal(t, twin.touch(reference{at, page}), p[at].Touch(page), "reference %d", i)
			require.Equal(t, len(twin.list), m.Used())
			for i := range p {
				require.Equal(t, twin.resident(i), p[i].Resident())
			}
		}
	})
}

// More frames never mean more faults, nor different first references: LRU has
// the inclusion property.
func TestMoreFramesNeverFaultMore(t *testing.T) {
	const pages, references = 200, 20_000
	last := references
	for frames := 1; frames <= pages; frames += 7 {
		p := newProcess(t, newMemory(t, frames), pages)
		w := newWalk(t, paging.WalkConfig{Locality: 1, Range: 4 * pages}, 5)
		var count [3]int
		for range references {
			count[p.Touch(w.Next()/4)]++
		}
		require.LessOrEqual(t, count[paging.Fault], last)
		require.Equal(t, pages, count[paging.First])
		last = count[paging.Fault]
	}
	require.Positive(t, last)
}

func TestMemoryDoesNotAllocate(t *testing.T) {
	m := newMemory(t, 50)
	a, b := newProcess(t, m, 40), newProcess(t, m, 40)
	r := rand.New(rand.NewPCG(38, 0))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		a.Touch(r.IntN(40))
		b.Touch(r.IntN(40))
		if r.IntN(20) == 0 {
			b.Exit()
		}
	}))
}
