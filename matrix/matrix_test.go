package matrix_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/matrix"
)

func newMatrix(tb testing.TB, c matrix.Config) *matrix.Matrix[string] {
	m, err := matrix.New[string](c)
	require.NoError(tb, err)
	return m
}

// place places a gang that must find a place and returns its slot.
func place(tb testing.TB, m *matrix.Matrix[string], id string, n int) int {
	p, ok, err := m.Place(id, n, nil)
	require.NoError(tb, err)
	require.True(tb, ok, "%s of %d", id, n)
	return p.Slot
}

func remove(tb testing.TB, m *matrix.Matrix[string], ids ...string) {
	for _, id := range ids {
		require.NoError(tb, m.Remove(id))
	}
}

// trim takes the indentation off a picture.
func trim(picture string) string {
	var lines []string
	for line := range strings.Lines(picture) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		config matrix.Config
		says   string
	}{
		{"no PEs", matrix.Config{}, "0 PEs"},
		{"fewer than none", matrix.Config{PEs: -1}, "-1 PEs"},
		{"too many PEs", matrix.Config{PEs: matrix.MaxPEs + 1}, "67108865 PEs"},
		{"negative bound", matrix.Config{PEs: 1, MaxSlots: -3}, "-3 slots"},
		{"no such packing", matrix.Config{PEs: 1, Packing: 6}, "Packing(6)"},
		{"negative packing", matrix.Config{PEs: 1, Packing: -1}, "Packing(-1)"},
		{"blocks reserved by another packing", matrix.Config{PEs: 1, Packing: matrix.BestFit, ReserveBlock: true}, "best-fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := matrix.New[int](c.config)
			assert.Nil(t, m)
			require.ErrorIs(t, err, matrix.ErrConfig)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestErrorsAndRefusalsChangeNothing(t *testing.T) {
	const picture = `
		slot 0 | A A A A B B B .
		slot 1 | C C C C C C C C
		slot 2 | . . . . . . D .`
	type Matrix = matrix.Matrix[string]
	put := func(id string, slot int, pes ...int) func(*Matrix) (bool, error) {
		return func(m *Matrix) (bool, error) { return m.Put(id, slot, pes) }
	}
	gang := func(id string, n int, fits func(int) bool) func(*Matrix) (bool, error) {
		return func(m *Matrix) (bool, error) {
			p, ok, err := m.Place(id, n, fits)
			assert.Zero(t, p)
			return ok, err
		}
	}
	move := func(id string, slot int) func(*Matrix) (bool, error) {
		return func(m *Matrix) (bool, error) { return m.Move(id, slot) }
	}
	nowhere := func(int) bool { return false }
	for _, c := range []struct {
		name string
		call func(m *Matrix) (bool, error)
		is   error // nil: refused
		says []string
	}{
		{"place nobody", gang("X", 0, nil), matrix.ErrSize, []string{"place X", "0 processes"}},
		{"place fewer than nobody", gang("X", -5, nil), matrix.ErrSize, []string{"-5"}},
		{"place more than the machine", gang("X", 9, nil), matrix.ErrTooLarge, []string{"9 processes on 8"}},
		{"place more than a number", gang("X", math.MaxInt, nil), matrix.ErrTooLarge, nil},
		{"place one again", gang("D", 1, nil), matrix.ErrDuplicate, []string{"place D"}},
		{"place what no slot has room for", gang("X", 8, nil), nil, nil},
		{"place where no node fits", gang("X", 1, nowhere), nil, nil},
		{"place where too few nodes fit", gang("X", 2, func(pe int) bool { return pe%2 == 0 }), nil, nil},
		{"put on nothing", put("X", 0), matrix.ErrSize, []string{"put X"}},
		{"put on more than the machine", put("X", 0, 0, 1, 2, 3, 4, 5, 6, 7, 8), matrix.ErrTooLarge, []string{"9 processes"}},
		{"put one again", put("A", 2, 0), matrix.ErrDuplicate, []string{"put A"}},
		{"put below the machine", put("X", 2, 3, -1), matrix.ErrPE, []string{"PE -1 of 8"}},
		{"put beyond the machine", put("X", 2, 3, 8), matrix.ErrPE, []string{"PE 8 of 8"}},
		{"put twice on a PE", put("X", 2, 3, 4, 3), matrix.ErrPE, []string{"PE 3 twice"}},
		{"put below the slots", put("X", -1, 3), matrix.ErrSlot, []string{"slot -1 of 3"}},
		{"put beyond a new slot", put("X", 4, 3), matrix.ErrSlot, []string{"slot 4 of 3"}},
		{"put on a used PE", put("X", 2, 5, 6), nil, nil},
		{"put into one slot too many", put("X", 3, 0), nil, nil},
		{"move a stranger", move("X", 0), matrix.ErrUnknown, []string{"move X"}},
		{"move below the slots", move("D", -1), matrix.ErrSlot, []string{"move D", "slot -1 of 3"}},
		{"move beyond a new slot", move("D", 4), matrix.ErrSlot, []string{"slot 4 of 3"}},
		{"move to where a PE is used", move("D", 0), nil, nil},
		{"move to one slot too many", move("D", 3), nil, nil},
		{"remove a stranger", func(m *Matrix) (bool, error) { return false, m.Remove("X") }, matrix.ErrUnknown, []string{"remove X"}},
		{"migrate to where nobody fits", func(m *Matrix) (bool, error) {
			fresh, ok := m.Migrate(func(string, int) bool { return false }, nil)
			assert.Nil(t, fresh)
			return ok, nil
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := drawnWith(matrix.Config{MaxSlots: 3}, picture)
			ok, err := c.call(m)
			assert.False(t, ok)
			if c.is == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.is)
				for _, word := range c.says {
					assert.ErrorContains(t, err, word)
				}
			}
			require.Equal(t, trim(picture), m.String())
			require.Equal(t, 4, m.Len())
			require.Equal(t, 2, m.Load(0))
			require.Equal(t, 1, m.Free(0))
			require.InDelta(t, 16./24, m.Utilisation(), 1e-15)
		})
	}
}

func TestStrangersHaveNothing(t *testing.T) {
	m := newMatrix(t, matrix.Config{PEs: 2})
	_, ok := m.Slot("X")
	assert.False(t, ok)
	assert.Empty(t, slices.Collect(m.PEs("X")))
	assert.Zero(t, m.Slots())
	assert.Zero(t, m.Len())
	assert.Empty(t, m.String())
	assert.Zero(t, m.Utilisation())
	assert.Zero(t, m.UtilisationWithAlternates())
	assert.Zero(t, m.Unify())
	assert.Zero(t, m.Repack())
	fresh, ok := m.Migrate(nil, nil)
	require.True(t, ok)
	assert.Zero(t, fresh.Slots())
}

func TestIndicesOutOfRangePanic(t *testing.T) {
	m := newMatrix(t, matrix.Config{PEs: 2})
	place(t, m, "A", 1)
	for _, slot := range []int{-1, 1} {
		assert.PanicsWithValue(t, "matrix: slot "+map[int]string{-1: "-1", 1: "1"}[slot]+" of 1", func() { m.Row(slot) })
		assert.Panics(t, func() { m.Gangs(slot) })
		assert.Panics(t, func() { m.Free(slot) })
		assert.Panics(t, func() { m.AppendAlternates(nil, slot, 0, nil) })
	}
	for _, pe := range []int{-1, 2} {
		assert.Panics(t, func() { m.Load(pe) })
	}
}

func TestEdgesOfBuddies(t *testing.T) {
	for _, c := range []struct {
		name   string
		config matrix.Config
		sizes  []int
		want   string
	}{
		{"one process on one PE", matrix.Config{PEs: 1}, []int{1, 1}, `
			slot 0 | A
			slot 1 | B`},
		{"as large as the machine", matrix.Config{PEs: 4}, []int{4, 1, 4}, `
			slot 0 | A A A A
			slot 1 | B . . .
			slot 2 | C C C C`},
		{"one more than half: the rest is for small ones", matrix.Config{PEs: 8}, []int{5, 2, 1, 2}, `
			slot 0 | A A A A A C B B
			slot 1 | D D . . . . . .`},
		{"one more than half, block reserved", matrix.Config{PEs: 8, ReserveBlock: true}, []int{5, 2, 1}, `
			slot 0 | A A A A A . . .
			slot 1 | B B C . . . . .`},
		{"six PEs: three blocks of two, one of four", matrix.Config{PEs: 6}, []int{2, 4, 3, 2}, `
			slot 0 | A A . . D D
			slot 1 | B B B B . .
			slot 2 | C C C . . .`},
		{"six PEs: five are packed first fit", matrix.Config{PEs: 6}, []int{1, 5, 6, 5}, `
			slot 0 | A B B B B B
			slot 1 | C C C C C C
			slot 2 | D D D D D .`},
		{"six PEs: the last two in the least loaded block", matrix.Config{PEs: 6}, []int{5, 1, 2, 2, 1}, `
			slot 0 | A A A A A B
			slot 1 | C C D D E .`},
		{"equal loads: the lowest controller", matrix.Config{PEs: 8}, []int{2, 2, 2, 2, 1}, `
			slot 0 | A A B B C C D D
			slot 1 | E . . . . . . .`},
		{"an existing slot before a less loaded controller", matrix.Config{PEs: 4}, []int{2, 2, 4, 1, 2, 1}, `
			slot 0 | A A B B
			slot 1 | C C C C
			slot 2 | D F E E`},
		{"the bound on slots", matrix.Config{PEs: 2, MaxSlots: 2}, []int{2, 1, 2, 1, 1}, `
			slot 0 | A A
			slot 1 | B D`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMatrix(t, c.config)
			for i, n := range c.sizes {
				_, _, err := m.Place(string(rune('A'+i)), n, nil)
				require.NoError(t, err)
			}
			require.Equal(t, trim(c.want), m.String())
		})
	}
}

func TestRivals(t *testing.T) {
	const picture = `
		slot 0 | A . A . B . . .
		slot 1 | C C C C C . . .
		slot 2 | D D . E E E . .`
	for _, c := range []struct {
		name    string
		packing matrix.Packing
		n       int
		slot    int
		pes     []int
	}{
		{"first fit: the first slot", matrix.FirstFit, 3, 0, []int{1, 3, 5}},
		{"first fit: the lowest PEs", matrix.FirstFit, 5, 0, []int{1, 3, 5, 6, 7}},
		{"first fit: a new slot", matrix.FirstFit, 6, 3, []int{0, 1, 2, 3, 4, 5}},
		{"best fit: the first of the fullest", matrix.BestFit, 3, 1, []int{5, 6, 7}},
		{"best fit: full enough", matrix.BestFit, 4, 0, []int{1, 3, 5, 6}},
		{"by size: half the machine is small", matrix.LeftRightBySize, 4, 0, []int{1, 3, 5, 6}},
		{"by size: a large one from the right", matrix.LeftRightBySize, 5, 0, []int{1, 3, 5, 6, 7}},
		{"by size: a large one in a new slot", matrix.LeftRightBySize, 6, 3, []int{2, 3, 4, 5, 6, 7}},
		{"by slots: an even one from the left", matrix.LeftRightBySlots, 4, 0, []int{1, 3, 5, 6}},
		{"by slots: a new odd one from the right", matrix.LeftRightBySlots, 6, 3, []int{2, 3, 4, 5, 6, 7}},
		{"load: the least loaded PEs", matrix.LoadBased, 2, 0, []int{6, 7}},
		{"load: the least greatest load", matrix.LoadBased, 3, 0, []int{5, 6, 7}},
		{"load: the least greatest load, then the least sum", matrix.LoadBased, 4, 0, []int{1, 5, 6, 7}},
		{"load: a new slot", matrix.LoadBased, 6, 3, []int{1, 2, 3, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := drawnWith(matrix.Config{Packing: c.packing}, picture)
			require.Equal(t, c.slot, place(t, m, "X", c.n))
			require.Equal(t, c.pes, slices.Collect(m.PEs("X")))
		})
	}
	t.Run("by slots: an odd one from the right", func(t *testing.T) {
		m := drawnWith(matrix.Config{Packing: matrix.LeftRightBySlots}, `
			slot 0 | A A A A
			slot 1 | . . . B`)
		require.Equal(t, 1, place(t, m, "X", 2))
		require.Equal(t, []int{1, 2}, slices.Collect(m.PEs("X")))
	})
	t.Run("load: a slot further down", func(t *testing.T) {
		m := drawnWith(matrix.Config{Packing: matrix.LoadBased}, `
			slot 0 | . . A A
			slot 1 | B B . .
			slot 2 | C C . .`)
		require.Equal(t, 1, place(t, m, "X", 2))
		require.Equal(t, []int{2, 3}, slices.Collect(m.PEs("X")))
	})
}

func TestPackingNames(t *testing.T) {
	for _, p := range allPackings {
		got, err := matrix.ParsePacking(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	}
	_, err := matrix.ParsePacking("worst-fit")
	require.ErrorIs(t, err, matrix.ErrConfig)
	require.ErrorContains(t, err, `"worst-fit"`)
	require.ErrorContains(t, err, "left-right-by-slots")
	require.Equal(t, "Packing(17)", matrix.Packing(17).String())
	require.Equal(t, matrix.Buddy, matrix.Config{}.Packing)
}

// What comes and goes leaves no trace.
func TestRemoveUndoesPlace(t *testing.T) {
	for _, packing := range allPackings {
		t.Run(packing.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			p := newPlayer(t, matrix.Config{PEs: 150, Packing: packing}, nil)
			for range 20 {
				p.seasons(r, 1, 5)
				before := p.m.String()
				loads := loadsOf(p.m, 150)
				p.check()
				for id := -10; id < 0; id++ {
					_, ok, err := p.m.Place(id, 1+r.IntN(150), nil)
					require.NoError(t, err)
					require.True(t, ok)
				}
				require.NotEqual(t, before, p.m.String())
				for id := -10; id < 0; id++ {
					require.NoError(t, p.m.Remove(id))
				}
				require.Equal(t, before, p.m.String())
				require.Equal(t, loads, loadsOf(p.m, 150))
				p.check()
			}
		})
	}
}

func loadsOf(m *matrix.Matrix[int], pes int) []int {
	loads := make([]int, pes)
	for pe := range loads {
		loads[pe] = m.Load(pe)
	}
	return loads
}

func TestSlotsFallEmpty(t *testing.T) {
	const picture = `
		slot 0 | A A . .
		slot 1 | B B B .
		slot 2 | C . . .`
	t.Run("dropped", func(t *testing.T) {
		m := drawn(picture)
		remove(t, m, "B")
		require.Equal(t, trim(`
			slot 0 | A A . .
			slot 1 | C . . .`), m.String())
		require.Zero(t, m.DropEmpty())
		ok, err := m.Move("C", 2)
		require.NoError(t, err)
		require.True(t, ok, "to a new slot, from one that is dropped")
		slot, _ := m.Slot("C")
		require.Equal(t, 1, slot)
		remove(t, m, "C", "A")
		require.Zero(t, m.Slots())
		require.Zero(t, place(t, m, "A", 1))
	})
	t.Run("kept", func(t *testing.T) {
		m := drawnWith(matrix.Config{KeepEmpty: true}, picture)
		remove(t, m, "B")
		ok, err := m.Move("A", 2)
		require.NoError(t, err)
		require.False(t, ok)
		ok, err = m.Move("C", 3)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, trim(`
			slot 0 | A A . .
			slot 1 | . . . .
			slot 2 | . . . .
			slot 3 | C . . .`), m.String())
		require.InDelta(t, 3./16, m.Utilisation(), 1e-15)
		require.Equal(t, []string{"C"}, m.AppendAlternates(nil, 1, 0, nil))
		require.Equal(t, []string{"A"}, m.AppendAlternates(nil, 1, 2, nil))
		require.Equal(t, 1, place(t, m, "D", 4), "an empty slot is one with room")
		require.Equal(t, 1, m.DropEmpty())
		require.Equal(t, trim(`
			slot 0 | A A . .
			slot 1 | D D D D
			slot 2 | C . . .`), m.String())
		remove(t, m, "A", "C", "D")
		require.Equal(t, 3, m.Slots())
		require.Equal(t, 3, m.Unify())
		require.Zero(t, m.Slots())
	})
}

func TestUnify(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
	}{
		{"a chain of three", `
			slot 0 | A A . . . .
			slot 1 | . . B B . .
			slot 2 | . . . . C C`, `
			slot 0 | A A B B C C`},
		{"the highest slot first", `
			slot 0 | A A . .
			slot 1 | . . B .
			slot 2 | . . C C`, `
			slot 0 | A A C C
			slot 1 | . . B .`},
		{"the lowest slot first", `
			slot 0 | A A A A
			slot 1 | B . . .
			slot 2 | C C . .
			slot 3 | . . D D`, `
			slot 0 | A A A A
			slot 1 | B . D D
			slot 2 | C C . .`},
		{"then the next", `
			slot 0 | A . A . .
			slot 1 | B B . . .
			slot 2 | . . C . .
			slot 3 | . D . D .`, `
			slot 0 | A D A D .
			slot 1 | B B C . .`},
		{"nothing to be done", `
			slot 0 | A A . .
			slot 1 | . B B .
			slot 2 | C . C C`, `
			slot 0 | A A . .
			slot 1 | . B B .
			slot 2 | C . C C`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := drawn(c.before)
			before := m.Slots()
			require.Equal(t, strings.Count(trim(c.before), "\n")-strings.Count(trim(c.after), "\n"), m.Unify())
			require.LessOrEqual(t, m.Slots(), before)
			require.Equal(t, trim(c.after), m.String())
		})
	}
}

func TestUnifyRespectsReservedBlocks(t *testing.T) {
	m := newMatrix(t, matrix.Config{PEs: 4, ReserveBlock: true})
	place(t, m, "A", 3)
	place(t, m, "B", 4)
	ok, err := m.Put("C", 2, []int{3})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{"C"}, m.AppendAlternates(nil, 0, 0, nil), "reserved PEs are idle")
	require.Zero(t, m.Unify(), "but not free")
	require.Zero(t, m.Repack())
	ok, err = m.Move("C", 0)
	require.NoError(t, err)
	require.False(t, ok)
	require.Zero(t, m.Free(0))
	require.Equal(t, 3, m.Load(3))
	require.InDelta(t, 8./12, m.Utilisation(), 1e-15)
}

func TestRepackGathersHoles(t *testing.T) {
	m := drawn(`
		slot 0 | A A . . B B
		slot 1 | C . D D . .
		slot 2 | E . F . G G`)
	require.Zero(t, m.Unify())
	require.Equal(t, 3, m.Repack())
	require.Equal(t, trim(`
		slot 0 | A A D D B B
		slot 1 | C . F . G G
		slot 2 | E . . . . .`), m.String())
}

// Larger gangs on a larger machine, by the same factor, lie in the same slots on
// the same share of it.
func TestBuddiesScale(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		m, err := matrix.New[int](matrix.Config{PEs: 64, MaxSlots: 4})
		require.NoError(t, err)
		wide, err := matrix.New[int](matrix.Config{PEs: 64 * 32, MaxSlots: 4})
		require.NoError(t, err)
		for id := range 60 {
			if victim := r.IntN(id + 1); id > 20 && r.IntN(2) == 0 {
				require.Equal(t, m.Remove(victim) == nil, wide.Remove(victim) == nil)
			}
			n := 1 + r.IntN(1<<r.IntN(7))
			p, ok, err := m.Place(id, n, nil)
			require.NoError(t, err)
			wp, wok, err := wide.Place(id, 32*n, nil)
			require.NoError(t, err)
			require.Equal(t, ok, wok)
			require.Equal(t, p, wp)
			for pe := range m.PEs(id) {
				require.Equal(t, m.Load(pe), wide.Load(32*pe))
			}
		}
	}
}

// More memory never turns a place into none.
func TestMoreFittingPEsRefuseNobody(t *testing.T) {
	refused, placed := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		p := newPlayer(t, matrix.Config{PEs: 40, MaxSlots: 3, Packing: allPackings[seed%6]}, nil)
		p.seasons(r, 1, 12)
		n := 1 + r.IntN(20)
		memory := make([]int, 40)
		for i := range memory {
			memory[i] = r.IntN(100)
		}
		was := false
		for _, need := range []int{100, 60, 40, 20, 10, 5, 0} {
			_, ok, err := p.m.Place(-1, n, func(pe int) bool { return need <= memory[pe] })
			require.NoError(t, err)
			require.False(t, was && !ok, "seed %d, need %d", seed, need)
			if was = ok; ok {
				placed++
				require.NoError(t, p.m.Remove(-1))
			} else {
				refused++
			}
		}
	}
	require.Greater(t, refused, 300)
	require.Greater(t, placed, 300)
}

// Names of gangs do not matter.
func TestRelabelling(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	type name struct{ a, b int }
	a, err := matrix.New[int](matrix.Config{PEs: 100})
	require.NoError(t, err)
	b, err := matrix.New[name](matrix.Config{PEs: 100})
	require.NoError(t, err)
	alias := func(id int) name { return name{-id, id * id} }
	for id := range 300 {
		n := 1 + r.IntN(30)
		pa, _, err := a.Place(id, n, nil)
		require.NoError(t, err)
		pb, _, err := b.Place(alias(id), n, nil)
		require.NoError(t, err)
		require.Equal(t, pa, pb)
		if victim := r.IntN(id + 1); r.IntN(3) > 0 {
			require.Equal(t, a.Remove(victim) == nil, b.Remove(alias(victim)) == nil)
		}
	}
	require.Greater(t, a.Slots(), 2)
	for slot := range a.Slots() {
		var renamed []name
		for id := range a.Gangs(slot) {
			renamed = append(renamed, alias(id))
			require.Equal(t, slices.Collect(a.PEs(id)), slices.Collect(b.PEs(alias(id))))
		}
		require.Equal(t, renamed, slices.Collect(b.Gangs(slot)))
	}
}

// The search for the least loaded controller goes by what nodes of a tree know of
// those in them. Here this is as deceptive as can be: each block of a slot is idle,
// or has one process, or as many as PEs, so that loads and slots used go all ways;
// wide gangs add to the loads of some parts of the machine; and some blocks do not
// fit.
func TestSearchAmongDeceptiveBlocks(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 10))
		width := []int{2, 16, 64, 128}[seed%4]
		c := matrix.Config{PEs: 32 * width, MaxSlots: 9}
		m, err := matrix.New[int](c)
		require.NoError(t, err)
		tw := newTwin(c)
		id := 0
		put := func(slot, lo, n int) {
			id++
			var pes []int
			for pe := lo; pe < lo+n; pe++ {
				pes = append(pes, pe)
			}
			ok, err := m.Put(id, slot, pes)
			require.NoError(t, err)
			require.True(t, ok)
			tw.fill(id, slot, pes)
		}
		put(0, 0, c.PEs)
		for slot := 1; slot < c.MaxSlots; slot++ {
			put(slot, 0, 1)
			wide := width << (1 + slot%4)
			for lo := 0; lo < c.PEs; lo += wide {
				if lo > 0 && r.IntN(3) == 0 {
					put(slot, lo, wide)
					continue
				}
				for block := max(lo, width); block < lo+wide; block += width {
					switch r.IntN(6) {
					case 0, 1, 2:
						put(slot, block+r.IntN(width), 1)
					case 3, 4:
						put(slot, block, width)
					}
				}
			}
		}
		id = 1_000_000
		for _, n := range []int{width, 2*width - 1, width / 2, 1, width} {
			placed := 0
			for ; ; placed++ {
				id++
				var fits func(int) bool
				if unfit := r.IntN(c.PEs); placed%2 == 1 {
					fits = func(pe int) bool { return pe/width%5 != unfit%5 && pe != unfit }
				}
				slot, opened, want := tw.place(id, n, fits)
				p, ok, err := m.Place(id, n, fits)
				require.NoError(t, err)
				require.Equal(t, want, ok)
				require.Equal(t, matrix.Placement{Slot: slot, New: opened}, p)
				if !ok || placed == 40 {
					break
				}
				_, pes := tw.home(id)
				require.Equal(t, pes, slices.Collect(m.PEs(id)), "seed %d, %d of %d", seed, placed, n)
			}
		}
	}
}

// A condition is asked of each gang that fits, once.
func TestAlternatesAreAskedForOnce(t *testing.T) {
	m := drawn(`
		slot 0 | . . . . A .
		slot 1 | B C B D D B
		slot 2 | E F . F . E`)
	for _, answer := range []bool{false, true} {
		var asked []string
		got := m.AppendAlternates(nil, 0, 0, func(id string) bool {
			asked = append(asked, id)
			return answer
		})
		if answer {
			require.Equal(t, []string{"B", "C"}, asked)
			require.Equal(t, asked, got)
		} else {
			require.Equal(t, []string{"B", "C", "E", "F"}, asked)
			require.Empty(t, got)
		}
	}
}
