package matrix_test

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gangkit/gangkit/matrix"
)

// twin is the matrix as it is drawn: an array of slots, each an array of cells.
// Every question is answered by looking at the cells.
type twin struct {
	matrix.Config
	rows [][]cell
}

type cell struct {
	id       int // 0 if unused
	reserved bool
}

func newTwin(c matrix.Config) *twin { return &twin{Config: c} }

func (t *twin) controller(n int) int {
	b := 1
	for b < n {
		b *= 2
	}
	return b
}

func (t *twin) load(pe int) int {
	n := 0
	for _, row := range t.rows {
		if row[pe].id != 0 {
			n++
		}
	}
	return n
}

func (t *twin) free(slot, lo, hi int) bool {
	for pe := lo; pe < hi; pe++ {
		if slot < len(t.rows) && t.rows[slot][pe].id != 0 {
			return false
		}
	}
	return true
}

func (t *twin) mayOpen() bool { return t.MaxSlots == 0 || len(t.rows) < t.MaxSlots }

// find returns slot and PEs for a gang, the slot after the last if it is to be
// opened.
func (t *twin) find(n int, fits func(int) bool) (int, []int, bool) {
	if fits == nil {
		fits = func(int) bool { return true }
	}
	if t.Packing == matrix.Buddy && t.controller(n) <= t.PEs {
		return t.findBuddy(n, fits)
	}
	slots := len(t.rows)
	var order []int
	for s := range slots {
		order = append(order, s)
	}
	frees := func(s int) int {
		count := 0
		for pe := range t.PEs {
			if t.free(s, pe, pe+1) {
				count++
			}
		}
		return count
	}
	if t.Packing == matrix.BestFit {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(frees(a), frees(b)) })
	}
	try := func(s int) []int {
		var pes []int
		for pe := range t.PEs {
			if t.free(s, pe, pe+1) && fits(pe) {
				pes = append(pes, pe)
			}
		}
		if len(pes) < n {
			return nil
		}
		switch {
		case t.Packing == matrix.LeftRightBySize && 2*n > t.PEs, t.Packing == matrix.LeftRightBySlots && s%2 == 1:
			return pes[len(pes)-n:]
		case t.Packing == matrix.LoadBased:
			slices.SortStableFunc(pes, func(a, b int) int { return cmp.Compare(t.load(a), t.load(b)) })
			pes = pes[:n]
			slices.Sort(pes)
			return pes
		}
		return pes[:n]
	}
	if t.Packing == matrix.LoadBased {
		best, most, sum := -1, 0, 0
		for _, s := range order {
			if pes := try(s); pes != nil {
				top, total := 0, 0
				for _, pe := range pes {
					top, total = max(top, t.load(pe)), total+t.load(pe)
				}
				if best < 0 || top < most || top == most && total < sum {
					best, most, sum = s, top, total
				}
			}
		}
		if best >= 0 {
			return best, try(best), true
		}
	} else {
		for _, s := range order {
			if pes := try(s); pes != nil {
				return s, pes, true
			}
		}
	}
	if pes := try(slots); pes != nil && t.mayOpen() {
		return slots, pes, true
	}
	return 0, nil, false
}

func (t *twin) findBuddy(n int, fits func(int) bool) (int, []int, bool) {
	b := t.controller(n)
	slots := len(t.rows)
	loads := make([]int, t.PEs)
	for pe := range loads {
		loads[pe] = t.load(pe)
	}
	for _, mayOpen := range []bool{false, t.mayOpen()} {
		slot, first, least := 0, -1, math.MaxInt
	controllers:
		for lo := 0; lo+b <= t.PEs; lo += b {
			for pe := lo; pe < lo+n; pe++ {
				if !fits(pe) {
					continue controllers
				}
			}
			in := 0
			for in < slots && !t.free(in, lo, lo+b) {
				in++
			}
			if mayOpen {
				in = slots
			} else if in == slots {
				continue
			}
			load := 0
			for _, l := range loads[lo : lo+b] {
				load += l
			}
			if load < least {
				slot, first, least = in, lo, load
			}
		}
		if first >= 0 {
			var pes []int
			for pe := first; pe < first+n; pe++ {
				pes = append(pes, pe)
			}
			return slot, pes, true
		}
	}
	return 0, nil, false
}

func (t *twin) place(id, n int, fits func(int) bool) (slot int, opened, ok bool) {
	slot, pes, ok := t.find(n, fits)
	if !ok {
		return 0, false, false
	}
	opened = slot == len(t.rows)
	t.fill(id, slot, pes)
	return slot, opened, true
}

// reserve returns the PEs that are reserved beside a gang's.
func (t *twin) reserve(pes []int) []int {
	b, n := t.controller(len(pes)), len(pes)
	var rest []int
	if t.ReserveBlock && pes[n-1]-pes[0] == n-1 && pes[0]%b == 0 && pes[0]+b <= t.PEs {
		for pe := pes[n-1] + 1; pe < pes[0]+b; pe++ {
			rest = append(rest, pe)
		}
	}
	return rest
}

func (t *twin) fill(id, slot int, pes []int) {
	if slot == len(t.rows) {
		t.rows = append(t.rows, make([]cell, t.PEs))
	}
	for _, pe := range pes {
		t.rows[slot][pe] = cell{id: id}
	}
	for _, pe := range t.reserve(pes) {
		t.rows[slot][pe] = cell{id: id, reserved: true}
	}
}

// put expects PEs in order.
func (t *twin) put(id, slot int, pes []int) bool {
	if slot == len(t.rows) && !t.mayOpen() {
		return false
	}
	for _, pe := range append(t.reserve(pes), pes...) {
		if !t.free(slot, pe, pe+1) {
			return false
		}
	}
	t.fill(id, slot, pes)
	return true
}

// home returns a gang's slot and PEs in order.
func (t *twin) home(id int) (slot int, pes []int) {
	for s, row := range t.rows {
		for pe, c := range row {
			if c.id == id && !c.reserved {
				slot, pes = s, append(pes, pe)
			}
		}
	}
	return slot, pes
}

func (t *twin) clear(id int) {
	for _, row := range t.rows {
		for pe := range row {
			if row[pe].id == id {
				row[pe] = cell{}
			}
		}
	}
}

func (t *twin) remove(id int) {
	t.clear(id)
	if !t.KeepEmpty {
		t.dropEmpty()
	}
}

func (t *twin) dropEmpty() {
	t.rows = slices.DeleteFunc(t.rows, func(row []cell) bool {
		return !slices.ContainsFunc(row, func(c cell) bool { return c.id != 0 })
	})
}

func (t *twin) move(id, slot int) bool {
	from, pes := t.home(id)
	if from == slot {
		return true
	}
	if !t.put(id, slot, pes) {
		return false
	}
	for pe := range t.rows[from] {
		if t.rows[from][pe].id == id {
			t.rows[from][pe] = cell{}
		}
	}
	if !t.KeepEmpty {
		t.dropEmpty()
	}
	return true
}

// unify follows the rule to the letter: after each union it starts again.
func (t *twin) unify() {
	t.dropEmpty()
	for i := 0; i < len(t.rows); i++ {
		for j := len(t.rows) - 1; j > i; j-- {
			disjoint := true
			for pe := range t.PEs {
				disjoint = disjoint && (t.rows[i][pe].id == 0 || t.rows[j][pe].id == 0)
			}
			if disjoint {
				for pe, c := range t.rows[j] {
					if c.id != 0 {
						t.rows[i][pe] = c
					}
				}
				t.rows = slices.Delete(t.rows, j, j+1)
				i = -1
				break
			}
		}
	}
}

// gangs returns the gangs of a slot by lowest PE.
func (t *twin) gangs(slot int) []int {
	var ids []int
	for _, c := range t.rows[slot] {
		if c.id != 0 && !c.reserved && !slices.Contains(ids, c.id) {
			ids = append(ids, c.id)
		}
	}
	return ids
}

func (t *twin) repack() int {
	t.dropEmpty()
	keep := t.KeepEmpty
	t.KeepEmpty = true
	moved := 0
	for slot := range t.rows {
		for _, id := range t.gangs(slot) {
			for lower := range slot {
				if t.move(id, lower) {
					moved++
					break
				}
			}
		}
	}
	t.KeepEmpty = keep
	t.dropEmpty()
	return moved
}

func (t *twin) migrate(fits func(id, pe int) bool) (*twin, bool) {
	fresh := newTwin(t.Config)
	var ids []int
	size := map[int]int{}
	for slot := range t.rows {
		ids = append(ids, t.gangs(slot)...)
	}
	for _, id := range ids {
		_, pes := t.home(id)
		size[id] = len(pes)
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	for _, id := range ids {
		if _, _, ok := fresh.place(id, size[id], func(pe int) bool { return fits == nil || fits(id, pe) }); !ok {
			return nil, false
		}
	}
	return fresh, true
}

// alternates returns them and how many cells of the slot then hold a process.
func (t *twin) alternates(slot, first int, allow func(int) bool) (ids []int, cells int) {
	busy := map[int]bool{}
	for pe, c := range t.rows[slot] {
		if c.id != 0 && !c.reserved {
			busy[pe] = true
		}
	}
	others := len(t.rows) - 1
	for i := range others {
		s := (slot + 1 + ((first+i)%others+others)%others) % len(t.rows)
		for _, id := range t.gangs(s) {
			_, pes := t.home(id)
			if slices.ContainsFunc(pes, func(pe int) bool { return busy[pe] }) || allow != nil && !allow(id) {
				continue
			}
			for _, pe := range pes {
				busy[pe] = true
			}
			ids = append(ids, id)
		}
	}
	return ids, len(slices.Collect(maps.Keys(busy)))
}
