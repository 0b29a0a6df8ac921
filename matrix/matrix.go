package matrix

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// Errors of this package. They come wrapped with the offending value.
var (
	ErrConfig    = errors.New("matrix: bad configuration")
	ErrSize      = errors.New("matrix: gang without processes")
	ErrTooLarge  = errors.New("matrix: gang larger than the machine")
	ErrDuplicate = errors.New("matrix: gang already placed")
	ErrUnknown   = errors.New("matrix: no such gang")
	ErrSlot      = errors.New("matrix: no such slot")
	ErrPE        = errors.New("matrix: bad PE")
)

// MaxPEs is the largest machine there can be.
const MaxPEs = 1 << 26

// Config describes a matrix. Only PEs is required.
type Config struct {
	// PEs is the number of processing elements, the columns: 1 to [MaxPEs].
	PEs int
	// MaxSlots bounds the multiprogramming level; 0 means no bound.
	MaxSlots int
	// Packing chooses slot and PEs of a gang. The zero value is [Buddy].
	Packing Packing
	// ReserveBlock keeps the whole block of its controller for a gang, as in a
	// classical buddy system: the PEs left over count as used, in loads too, but
	// stay idle. For Buddy only.
	ReserveBlock bool
	// KeepEmpty keeps slots that fall empty until [Matrix.DropEmpty], so that slot
	// numbers hold from one call of it to the next, say for a round.
	KeepEmpty bool
}

func (c Config) check() error {
	switch {
	case c.PEs <= 0 || c.PEs > MaxPEs:
		return fmt.Errorf("%d PEs: %w", c.PEs, ErrConfig)
	case c.MaxSlots < 0:
		return fmt.Errorf("at most %d slots: %w", c.MaxSlots, ErrConfig)
	case c.Packing < 0 || int(c.Packing) >= len(packings):
		return fmt.Errorf("%v: %w", c.Packing, ErrConfig)
	case c.ReserveBlock && c.Packing != Buddy:
		return fmt.Errorf("blocks reserved by packing %v: %w", c.Packing, ErrConfig)
	}
	return nil
}

// Matrix is an Ousterhout matrix: which gang has which PEs in which slot. Slots
// are numbered from 0 in the order in which they take turns.
//
// It takes about 19 bytes per PE for up to 64 slots and 9 more for each further 64,
// under a hundred bytes per gang, and 24 for each further span of PEs that a gang
// has. A Matrix must not be used concurrently, and while a range over it runs it
// must not be changed.
type Matrix[ID comparable] struct {
	config Config
	cells  *cells
	gangs  []gang[ID] // slab
	pieces []piece    // slab
	places map[ID]int32
	vacant struct{ gangs, pieces []int32 } // unused places of the slabs
	starts []int32                         // per PE: the first piece that starts there, plus one

	// A slot has a row, whose index is its bit in the sets of the cells.
	rows      []row
	order     []int32 // rows of the slots
	open      []uint64
	processes int64

	// Scratch.
	spans, free []span
	loads       []int32
	list        []int32
	idle        []uint64
}

// row is what is known of a slot.
type row struct {
	slot  int32 // its number
	gangs int32
	used  int32 // cells, those reserved too
}

// gang is a placed gang.
type gang[ID comparable] struct {
	id    ID
	size  int32
	row   int32
	piece int32 // the first of its pieces, which are in order of their PEs
}

// piece is a span of a gang: processes on the PEs lo to hi-1, and those up to
// end-1 reserved.
type piece struct {
	lo, hi, end int32
	gang        int32
	next        int32 // of the gang, or none
	below       int32 // the next piece that starts at the same PE, plus one
}

const none = -1

// New returns an empty matrix. O(PEs).
func New[ID comparable](c Config) (*Matrix[ID], error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Matrix[ID]{
		config: c,
		cells:  newCells(c.PEs, c.Packing == Buddy),
		places: make(map[ID]int32),
		starts: make([]int32, c.PEs),
		open:   make([]uint64, 1),
	}, nil
}

// Placement says where a gang was placed.
type Placement struct {
	Slot int
	New  bool // the slot was opened for it, as the last one
}

// Place gives a gang of n processes a slot and n PEs, chosen by the matrix's
// [Packing]. Each PE must pass fits, which may be asked for any PE, any number
// of times; nil lets all pass. It must not use the matrix.
//
// If there is no such place, Place returns false and changes nothing. Errors:
// [ErrSize] if n ≤ 0, [ErrTooLarge] if n exceeds the machine, [ErrDuplicate].
//
// Buddy takes O(log² PEs) and does not allocate, but for the gang; if PEs do not
// fit, it also takes O(log PEs) for each controller that it passes over. The
// others are rivals to compare with: O(slots) and as much as they have free
// spans, [LoadBased] O(PEs × slots).
func (m *Matrix[ID]) Place(id ID, n int, fits func(pe int) bool) (Placement, bool, error) {
	if err := m.checkNew(id, n); err != nil {
		return Placement{}, false, fmt.Errorf("place %v: %w", id, err)
	}
	slot, ok := m.pack(n, fits)
	if !ok {
		return Placement{}, false, nil
	}
	p := Placement{Slot: slot, New: slot == len(m.order)}
	m.put(id, n, m.at(slot))
	return p, true, nil
}

// Put gives a gang these PEs of a slot, whatever the packing, to restore a state
// or to place by rules of the caller. The slot after the last one is a new one.
// If one of the cells is used, or no more slots may be opened, Put returns false
// and changes nothing. With ReserveBlock, a gang on the first PEs of a block
// reserves the block.
//
// The order of pes does not matter. Errors: [ErrSize], [ErrTooLarge],
// [ErrDuplicate], [ErrSlot], and [ErrPE] if there is no such PE or it occurs
// twice. O(n log n).
func (m *Matrix[ID]) Put(id ID, slot int, pes []int) (bool, error) {
	n := len(pes)
	if err := m.checkNew(id, n); err != nil {
		return false, fmt.Errorf("put %v: %w", id, err)
	}
	if slot < 0 || slot > len(m.order) {
		return false, fmt.Errorf("put %v into slot %d of %d: %w", id, slot, len(m.order), ErrSlot)
	}
	m.list = m.list[:0]
	for _, pe := range pes {
		if pe < 0 || pe >= m.config.PEs {
			return false, fmt.Errorf("put %v on PE %d of %d: %w", id, pe, m.config.PEs, ErrPE)
		}
		m.list = append(m.list, int32(pe))
	}
	slices.Sort(m.list)
	m.spans = m.spans[:0]
	for i, pe := range m.list {
		if i > 0 && pe == m.list[i-1] {
			return false, fmt.Errorf("put %v on PE %d twice: %w", id, pe, ErrPE)
		}
		m.spans = appendSpan(m.spans, int(pe), int(pe)+1)
	}
	if slot == len(m.order) && !m.mayOpen() {
		return false, nil
	}
	for _, s := range m.spans {
		if slot < len(m.order) && has(m.cells.used(s.lo, m.end(s, n)), int(m.order[slot])) {
			return false, nil
		}
	}
	m.put(id, n, m.at(slot))
	return true, nil
}

// Remove takes a gang out. If it was the last one of its slot, the slot is
// dropped and those after it move up, unless KeepEmpty is set. Error:
// [ErrUnknown]. O(log² PEs + slots) for each span of PEs it has.
func (m *Matrix[ID]) Remove(id ID) error {
	k, ok := m.places[id]
	if !ok {
		return fmt.Errorf("remove %v: %w", id, ErrUnknown)
	}
	g := m.gangs[k]
	m.carry(k, false)
	for i := g.piece; i != none; i = m.pieces[i].next {
		m.unstart(i)
		m.vacant.pieces = append(m.vacant.pieces, i)
	}
	m.gangs[k] = gang[ID]{}
	m.vacant.gangs = append(m.vacant.gangs, k)
	delete(m.places, id)
	m.processes -= int64(g.size)
	m.vacate(int(g.row))
	return nil
}

// Move gives a gang the same PEs in another slot; nobody migrates. The slot
// after the last one is a new one. If one of the cells is used, or no more slots
// may be opened, Move returns false and changes nothing. If the gang was the
// last one of its slot, that is dropped as by [Matrix.Remove]. Errors:
// [ErrUnknown], [ErrSlot]. Costs as Remove.
func (m *Matrix[ID]) Move(id ID, slot int) (bool, error) {
	k, ok := m.places[id]
	if !ok {
		return false, fmt.Errorf("move %v: %w", id, ErrUnknown)
	}
	if slot < 0 || slot > len(m.order) {
		return false, fmt.Errorf("move %v to slot %d of %d: %w", id, slot, len(m.order), ErrSlot)
	}
	if slot == len(m.order) {
		if !m.mayOpen() {
			return false, nil
		}
	} else if r := m.order[slot]; r == m.gangs[k].row {
		return true, nil
	} else if has(m.usedBy(k), int(r)) {
		return false, nil
	}
	from := int(m.gangs[k].row)
	m.transfer(k, m.at(slot))
	m.vacate(from)
	return true, nil
}

// DropEmpty drops the slots that are empty, which there are with KeepEmpty only,
// and returns how many they were. O(slots).
func (m *Matrix[ID]) DropEmpty() int {
	before := len(m.order)
	m.order = slices.DeleteFunc(m.order, func(r int32) bool {
		if m.rows[r].gangs > 0 {
			return false
		}
		m.open[r/64] &^= 1 << (r % 64)
		return true
	})
	for s, r := range m.order {
		m.rows[r].slot = int32(s)
	}
	return before - len(m.order)
}

// Len returns how many gangs there are.
func (m *Matrix[ID]) Len() int { return len(m.places) }

// Slots returns how many slots there are: the multiprogramming level.
func (m *Matrix[ID]) Slots() int { return len(m.order) }

// Slot returns the home slot of a gang, false if there is no such gang. O(1).
func (m *Matrix[ID]) Slot(id ID) (int, bool) {
	k, ok := m.places[id]
	if !ok {
		return 0, false
	}
	return int(m.rows[m.gangs[k].row].slot), true
}

// PEs yields the PEs of a gang in order, none if there is no such gang.
func (m *Matrix[ID]) PEs(id ID) iter.Seq[int] {
	return func(yield func(int) bool) {
		k, ok := m.places[id]
		if !ok {
			return
		}
		for i := m.gangs[k].piece; i != none; i = m.pieces[i].next {
			for pe := m.pieces[i].lo; pe < m.pieces[i].hi; pe++ {
				if !yield(int(pe)) {
					return
				}
			}
		}
	}
}

// Row yields the PEs on which gangs have their processes in a slot, in order,
// each with its gang. It panics if there is no such slot. O(log PEs + slots) for
// each span of PEs that a gang has.
func (m *Matrix[ID]) Row(slot int) iter.Seq2[int, ID] {
	r := m.row(slot)
	return func(yield func(int, ID) bool) {
		for i := range m.piecesOf(r) {
			p := m.pieces[i]
			for pe := p.lo; pe < p.hi; pe++ {
				if !yield(int(pe), m.gangs[p.gang].id) {
					return
				}
			}
		}
	}
}

// Gangs yields the gangs of a slot in order of their lowest PEs. It panics if
// there is no such slot. Costs as [Matrix.Row].
func (m *Matrix[ID]) Gangs(slot int) iter.Seq[ID] {
	r := m.row(slot)
	return func(yield func(ID) bool) {
		for k := range m.gangsOf(r) {
			if !yield(m.gangs[k].id) {
				return
			}
		}
	}
}

// Free returns how many PEs no gang has, or has reserved, in a slot. It panics
// if there is no such slot. O(1).
func (m *Matrix[ID]) Free(slot int) int {
	return m.config.PEs - int(m.rows[m.row(slot)].used)
}

// Load returns in how many slots a PE is used: the processes it has, and with
// ReserveBlock the blocks it is reserved in. It panics if there is no such PE.
// O(log PEs).
func (m *Matrix[ID]) Load(pe int) int {
	if pe < 0 || pe >= m.config.PEs {
		panic(fmt.Sprintf("matrix: PE %d of %d", pe, m.config.PEs))
	}
	return m.cells.load(pe)
}

// Utilisation returns the share of the cells, of all slots and PEs, that hold a
// process; 0 if there are no slots. O(1).
func (m *Matrix[ID]) Utilisation() float64 {
	return m.share(m.processes)
}

func (m *Matrix[ID]) share(cells int64) float64 {
	if len(m.order) == 0 {
		return 0
	}
	return float64(cells) / (float64(m.config.PEs) * float64(len(m.order)))
}

func (m *Matrix[ID]) checkNew(id ID, n int) error {
	if n <= 0 {
		return fmt.Errorf("%d processes: %w", n, ErrSize)
	}
	if n > m.config.PEs {
		return fmt.Errorf("%d processes on %d PEs: %w", n, m.config.PEs, ErrTooLarge)
	}
	if _, ok := m.places[id]; ok {
		return ErrDuplicate
	}
	return nil
}

// row returns the row of a slot.
func (m *Matrix[ID]) row(slot int) int {
	if slot < 0 || slot >= len(m.order) {
		panic(fmt.Sprintf("matrix: slot %d of %d", slot, len(m.order)))
	}
	return int(m.order[slot])
}

func (m *Matrix[ID]) mayOpen() bool {
	return m.config.MaxSlots == 0 || len(m.order) < m.config.MaxSlots
}

// at returns the row of a slot, which it opens if it is the one after the last.
func (m *Matrix[ID]) at(slot int) int {
	if slot < len(m.order) {
		return int(m.order[slot])
	}
	r := 0
	for w, word := range m.open {
		if r = w*64 + bits.TrailingZeros64(^word); ^word != 0 {
			break
		}
	}
	if r == len(m.open)*64 {
		m.open = append(m.open, 0)
		m.cells.widen()
	}
	if r == len(m.rows) {
		m.rows = append(m.rows, row{})
	}
	m.rows[r] = row{slot: int32(slot)}
	m.open[r/64] |= 1 << (r % 64)
	m.order = append(m.order, int32(r))
	return r
}

// vacate drops a row that fell empty.
func (m *Matrix[ID]) vacate(r int) {
	if m.rows[r].gangs == 0 && !m.config.KeepEmpty {
		m.DropEmpty()
	}
}

// block returns the width of the smallest controller of n PEs.
func block(n int) int { return 1 << bits.Len(uint(n-1)) }

// end returns where the cells end that a gang of n processes on a span takes.
func (m *Matrix[ID]) end(s span, n int) int {
	if b := block(n); m.config.ReserveBlock && s.hi-s.lo == n && s.lo%b == 0 && s.lo+b <= m.config.PEs {
		return s.lo + b
	}
	return s.hi
}

// put enters a gang of n processes on m.spans.
func (m *Matrix[ID]) put(id ID, n, r int) {
	k := m.vacantGang()
	g := gang[ID]{id: id, size: int32(n), row: int32(r), piece: none}
	for _, s := range slices.Backward(m.spans) {
		i := m.vacantPiece()
		m.pieces[i] = piece{
			lo: int32(s.lo), hi: int32(s.hi), end: int32(m.end(s, n)),
			gang: k, next: g.piece, below: m.starts[s.lo],
		}
		m.starts[s.lo] = i + 1
		g.piece = i
	}
	m.gangs[k] = g
	m.places[id] = k
	m.processes += int64(n)
	m.carry(k, true)
}

func (m *Matrix[ID]) vacantGang() int32 {
	if n := len(m.vacant.gangs); n > 0 {
		k := m.vacant.gangs[n-1]
		m.vacant.gangs = m.vacant.gangs[:n-1]
		return k
	}
	m.gangs = append(m.gangs, gang[ID]{})
	return int32(len(m.gangs) - 1)
}

func (m *Matrix[ID]) vacantPiece() int32 {
	if n := len(m.vacant.pieces); n > 0 {
		i := m.vacant.pieces[n-1]
		m.vacant.pieces = m.vacant.pieces[:n-1]
		return i
	}
	m.pieces = append(m.pieces, piece{})
	return int32(len(m.pieces) - 1)
}

// carry marks the cells of a gang in its row, or clears them.
func (m *Matrix[ID]) carry(k int32, in bool) {
	r := &m.rows[m.gangs[k].row]
	sign := int32(1)
	if !in {
		sign = -1
	}
	r.gangs += sign
	for i := m.gangs[k].piece; i != none; i = m.pieces[i].next {
		p := m.pieces[i]
		r.used += sign * (p.end - p.lo)
		m.cells.toggle(int(m.gangs[k].row), int(p.lo), int(p.end))
	}
}

// transfer carries a gang to another row.
func (m *Matrix[ID]) transfer(k int32, r int) {
	m.carry(k, false)
	m.gangs[k].row = int32(r)
	m.carry(k, true)
}

// usedBy returns the rows in which some PE of a gang is used. The set is valid
// until the next one.
func (m *Matrix[ID]) usedBy(k int32) []uint64 {
	clear(m.cells.set)
	for i := m.gangs[k].piece; i != none; i = m.pieces[i].next {
		m.cells.collect(int(m.pieces[i].lo), int(m.pieces[i].end))
	}
	return m.cells.set
}

// unstart takes a piece off the list of those that start at its PE.
func (m *Matrix[ID]) unstart(i int32) {
	at := &m.starts[m.pieces[i].lo]
	for *at != i+1 {
		at = &m.pieces[*at-1].below
	}
	*at = m.pieces[i].below
}

// starting returns the piece that starts at a PE in a row.
func (m *Matrix[ID]) starting(r, pe int) int32 {
	i := m.starts[pe] - 1
	for int(m.gangs[m.pieces[i].gang].row) != r {
		i = m.pieces[i].below - 1
	}
	return i
}

// piecesOf yields the pieces in a row, in order.
func (m *Matrix[ID]) piecesOf(r int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for pe := m.cells.next(r, 0); pe >= 0; {
			i := m.starting(r, pe)
			if !yield(i) {
				return
			}
			pe = m.cells.next(r, int(m.pieces[i].end))
		}
	}
}

// gangsOf yields the gangs in a row, in order of their lowest PEs.
func (m *Matrix[ID]) gangsOf(r int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range m.piecesOf(r) {
			if k := m.pieces[i].gang; m.gangs[k].piece == i && !yield(k) {
				return
			}
		}
	}
}

// appendGangs appends the gangs in a row, in order of their lowest PEs.
func (m *Matrix[ID]) appendGangs(dst []int32, r int) []int32 {
	for k := range m.gangsOf(r) {
		dst = append(dst, k)
	}
	return dst
}
