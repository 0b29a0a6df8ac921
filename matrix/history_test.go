package matrix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/matrix"
)

// player plays a history of operations, a byte string, on a matrix and on its
// twin at once. After each operation both must be the same, and the matrix must
// be one.
type player struct {
	t     *testing.T
	ops   []byte
	m     *matrix.Matrix[int]
	twin  *twin
	sizes map[int]int
	ids   []int // of sizes, in order of arrival
	last  int
	wild  bool // PEs at random may not fit
}

var allPackings = []matrix.Packing{
	matrix.Buddy, matrix.FirstFit, matrix.BestFit,
	matrix.LeftRightBySize, matrix.LeftRightBySlots, matrix.LoadBased,
}

func newPlayer(t *testing.T, c matrix.Config, ops []byte) *player {
	m, err := matrix.New[int](c)
	require.NoError(t, err)
	return &player{t: t, ops: ops, m: m, twin: newTwin(c), sizes: map[int]int{}}
}

// read returns the next byte of the history as a number below n, 0 at its end.
func (p *player) read(n int) int {
	v := 0
	for high := 1; high < n; high *= 256 { // as many bytes as it takes
		if len(p.ops) > 0 {
			v = v*256 + int(p.ops[0])
			p.ops = p.ops[1:]
		}
	}
	return v % max(n, 1)
}

// size draws a gang's size: half of them narrow, some wide.
func (p *player) size() int {
	pes := p.twin.PEs
	switch p.read(4) {
	case 0:
		return 1 + p.read(pes)
	case 1:
		return 1 + p.read(max(1, pes/4))
	default:
		return 1 + p.read(min(pes, 8))
	}
}

// fits draws a test of PEs: nil half of the time.
func (p *player) fits() func(pe int) bool {
	if !p.wild || p.read(2) == 0 {
		return nil
	}
	mod, rest := 1+p.read(7), p.read(7)
	return func(pe int) bool { return mod == 1 || pe*pe%mod != rest }
}

// anyone draws a gang.
func (p *player) anyone() (id int, ok bool) {
	if len(p.ids) == 0 {
		return 0, false
	}
	return p.ids[p.read(len(p.ids))], true
}

func (p *player) arrived(id, n int) {
	p.sizes[id] = n
	p.ids = append(p.ids, id)
}

func (p *player) step() {
	t := p.t
	switch p.read(16) {
	case 0, 1, 2, 3, 4, 5, 6:
		p.last++
		n, fits := p.size(), p.fits()
		slot, opened, want := p.twin.place(p.last, n, fits)
		got, ok, err := p.m.Place(p.last, n, fits)
		require.NoError(t, err)
		require.Equal(t, want, ok, "a place for %d", n)
		require.Equal(t, matrix.Placement{Slot: slot, New: opened}, got)
		if ok {
			p.arrived(p.last, n)
			for pe := range p.m.PEs(p.last) {
				require.True(t, fits == nil || fits(pe))
			}
		}
	case 7, 8, 9, 10:
		if id, ok := p.anyone(); ok {
			p.twin.remove(id)
			require.NoError(t, p.m.Remove(id))
			delete(p.sizes, id)
			p.ids = slices.DeleteFunc(p.ids, func(i int) bool { return i == id })
		}
	case 11:
		if id, ok := p.anyone(); ok {
			slot := p.read(len(p.twin.rows) + 1)
			got, err := p.m.Move(id, slot)
			require.NoError(t, err)
			require.Equal(t, p.twin.move(id, slot), got, "%d to %d", id, slot)
		}
	case 12:
		p.last++
		slot, lo, step := p.read(len(p.twin.rows)+1), p.read(p.twin.PEs), 1+p.read(3)
		var pes []int
		for pe := lo; pe < p.twin.PEs && len(pes) < 5; pe += step {
			pes = append(pes, pe)
		}
		want := p.twin.put(p.last, slot, pes)
		slices.Reverse(pes)
		got, err := p.m.Put(p.last, slot, pes)
		require.NoError(t, err)
		require.Equal(t, want, got, "%v in %d", pes, slot)
		if got {
			p.arrived(p.last, len(pes))
		}
	case 13:
		before := len(p.twin.rows)
		p.twin.unify()
		require.Equal(t, before-len(p.twin.rows), p.m.Unify())
		require.Zero(t, p.m.Unify())
	case 14:
		if p.read(2) == 0 {
			before := len(p.twin.rows)
			p.twin.dropEmpty()
			require.Equal(t, before-len(p.twin.rows), p.m.DropEmpty())
			break
		}
		require.Equal(t, p.twin.repack(), p.m.Repack())
		require.Zero(t, p.m.Repack())
	case 15:
		fits := p.fits()
		var each func(id, pe int) bool
		if fits != nil {
			each = func(id, pe int) bool { return fits(pe + id) }
		}
		taken := map[int]int{}
		fresh, ok := p.m.Migrate(each, func(id, pe int) {
			require.True(t, each == nil || each(id, pe))
			taken[id]++
		})
		want, wantOK := p.twin.migrate(each)
		require.Equal(t, wantOK, ok)
		if ok {
			require.Equal(t, p.sizes, taken)
			p.check() // the old one stays
			p.m, p.twin = fresh, want
		}
	}
}

// check asserts that the matrix is one, and the twin's.
func (p *player) check() {
	t, m := p.t, p.m
	require.Equal(t, len(p.twin.rows), m.Slots())
	require.Equal(t, len(p.sizes), m.Len())
	loads := make([]int, p.twin.PEs)
	drawn := make([]int, p.twin.PEs)
	home := map[int][]int{} // PEs, as the rows show them
	cells := 0
	for slot, row := range p.twin.rows {
		clear(drawn)
		last := -1
		for pe, id := range m.Row(slot) {
			if pe <= last || id == 0 {
				t.Fatalf("slot %d: %d on PE %d after PE %d", slot, id, pe, last)
			}
			last, drawn[pe] = pe, id
			home[id] = append(home[id], pe)
			cells++
		}
		free := 0
		for pe, c := range row {
			if c.id == 0 {
				free++
			} else {
				loads[pe]++
			}
			if c.reserved {
				c.id = 0
			}
			if drawn[pe] != c.id {
				t.Fatalf("slot %d: %d on PE %d, twin has %d", slot, drawn[pe], pe, c.id)
			}
		}
		require.Equal(t, free, m.Free(slot))
		ids := slices.Collect(m.Gangs(slot))
		require.Equal(t, p.twin.gangs(slot), ids)
		require.True(t, len(ids) > 0 || p.twin.KeepEmpty, "slot %d is empty", slot)
		for _, id := range ids {
			if in, ok := m.Slot(id); !ok || in != slot {
				t.Fatalf("%d in slot %d has home slot %d", id, slot, in)
			}
			if len(home[id]) != p.sizes[id] || !slices.Equal(home[id], slices.Collect(m.PEs(id))) {
				t.Fatalf("%d of %d processes on PEs %v", id, p.sizes[id], home[id])
			}
		}
	}
	require.Len(t, home, len(p.sizes))
	for pe, load := range loads {
		if m.Load(pe) != load {
			t.Fatalf("PE %d has load %d, not %d", pe, m.Load(pe), load)
		}
	}
	if len(p.twin.rows) > 0 {
		require.InDelta(t, float64(cells)/float64(p.twin.PEs*len(p.twin.rows)), m.Utilisation(), 1e-12)
		slot, first := p.last%len(p.twin.rows), p.last/3-2
		var allow func(int) bool
		if p.last%4 == 0 {
			allow = func(id int) bool { return id%3 != 0 }
		}
		want, _ := p.twin.alternates(slot, first, allow)
		require.Equal(t, want, m.AppendAlternates(nil, slot, first, allow), "alternates of slot %d", slot)
	}
}

// play plays to the end of the history.
func (p *player) play() {
	for len(p.ops) > 0 {
		p.step()
		p.check()
	}
	cells := 0
	for slot := range p.twin.rows {
		_, n := p.twin.alternates(slot, 0, nil)
		cells += n
	}
	require.InDelta(p.t, float64(cells)/max(1, float64(p.twin.PEs*len(p.twin.rows))), p.m.UtilisationWithAlternates(), 1e-12)
}

// configOf draws a configuration from two numbers.
func configOf(pes uint16, bits uint8) matrix.Config {
	c := matrix.Config{
		PEs:       1 + int(pes)%400,
		Packing:   allPackings[int(bits>>3)%len(allPackings)],
		KeepEmpty: bits&1 != 0,
	}
	if bits&2 != 0 {
		c.MaxSlots = 1 + int(bits)%7
	}
	c.ReserveBlock = bits&4 != 0 && c.Packing == matrix.Buddy
	return c
}

// Any history on any machine: after every operation the matrix is the one that
// the rules give when they are followed cell by cell.
func FuzzHistory(f *testing.F) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 200
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		ops := make([]byte, 20+r.IntN(300))
		for i := range ops {
			ops[i] = byte(r.Uint32())
		}
		pes := uint16(r.IntN(1 << (1 + seed%9)))
		packing := seed % 12 % 8 // Buddy more often than the others
		if packing > 5 {
			packing = 0
		}
		f.Add(pes, uint8(packing<<3|uint64(r.IntN(8))), r.IntN(2) == 0, ops)
	}
	f.Fuzz(func(t *testing.T, pes uint16, bits uint8, wild bool, ops []byte) {
		p := newPlayer(t, configOf(pes, bits), ops[:min(len(ops), 1000)])
		p.wild = wild
		p.play()
	})
}

// More slots than a word has bits, on few PEs; they go, and come again.
func TestHistoryWithManySlots(t *testing.T) {
	seeds, operations, slots := uint64(12), 500, 130
	if testing.Short() {
		seeds, operations, slots = 7, 200, 70
	}
	for seed := range seeds {
		c := matrix.Config{PEs: 1 + int(seed)%5, Packing: allPackings[seed%6], ReserveBlock: seed == 6, KeepEmpty: seed == 1}
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			p := newPlayer(t, c, nil)
			most := p.seasons(rand.New(rand.NewPCG(seed, 2)), 4, operations)
			require.Greater(t, most, slots)
		})
	}
}

// Machines of several heights of the tree, with few slots.
func TestHistoryOnWideMachines(t *testing.T) {
	for seed, pes := range []int{512, 1023, 4096, 4097, 5000} {
		t.Run(fmt.Sprintf("PEs=%d", pes), func(t *testing.T) {
			p := newPlayer(t, matrix.Config{PEs: pes, MaxSlots: 6, ReserveBlock: seed == 2}, nil)
			p.wild = seed%2 == 0
			p.seasons(rand.New(rand.NewPCG(uint64(seed), 3)), 6, 60)
		})
	}
}

// seasons plays times in which most gangs come, and times in which most go, of
// so many operations, and returns the most slots there were.
func (p *player) seasons(r *rand.Rand, seasons, operations int) (most int) {
	for season := range seasons {
		for i := range operations {
			ops := make([]byte, 16)
			for i := range ops {
				ops[i] = byte(r.Uint32())
			}
			if ops[0]%8 > 0 {
				ops[0] = byte(season % 2 * 7)
			}
			p.ops = ops
			p.step()
			if most = max(most, p.m.Slots()); i%10 == 0 {
				p.check()
			}
		}
	}
	return most
}
