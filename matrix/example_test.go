package matrix_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gangkit/gangkit/matrix"
)

// Seven gangs on eight PEs, packed by buddy controllers. D gets a slot of its
// own, although slot 0 has a free PE: no controller of two PEs is free. E is
// smaller and its controllers are many; the least loaded one is chosen. Later two
// gangs leave.
func Example() {
	m, err := matrix.New[string](matrix.Config{PEs: 8})
	if err != nil {
		panic(err)
	}
	arrive := func(id string, processes int) {
		if _, ok, err := m.Place(id, processes, nil); err != nil || !ok {
			fmt.Println("no place for", id, err)
		}
	}
	show := func() {
		fmt.Println(m)
		for slot := range m.Slots() {
			if ids := m.AppendAlternates(nil, slot, 0, nil); len(ids) > 0 {
				fmt.Println("alternates of slot", slot, ids)
			}
		}
		fmt.Printf("%.4f of the cells, %.4f with alternates\n\n", m.Utilisation(), m.UtilisationWithAlternates())
	}
	arrive("A", 4)
	arrive("B", 3)
	arrive("C", 8)
	arrive("D", 2)
	arrive("E", 1)
	arrive("F", 5)
	arrive("G", 2)
	show()

	for _, id := range []string{"C", "B"} {
		if err := m.Remove(id); err != nil {
			panic(err)
		}
	}
	fmt.Println("slots saved by unification:", m.Unify())
	arrive("H", 4)
	show()
	// Output:
	// slot 0 | A A A A B B B .
	// slot 1 | C C C C C C C C
	// slot 2 | E . . . G G D D
	// slot 3 | F F F F F . . .
	// alternates of slot 3 [D]
	// 0.7812 of the cells, 0.8438 with alternates
	//
	// slots saved by unification: 0
	// slot 0 | A A A A H H H H
	// slot 1 | E . . . G G D D
	// slot 2 | F F F F F . . .
	// alternates of slot 2 [D]
	// 0.7500 of the cells, 0.8333 with alternates
}

// Memory decides where a gang may go, by Eq. (1) of Batat and Feitelson: process
// memory ≤ (memory of the node)·C − memory used, on each node. Here four nodes
// have 64 MB each, and C is 1.
func ExampleMatrix_Place() {
	const limit = int64(64 << 20 * 1) // memory of a node, times C
	m, err := matrix.New[string](matrix.Config{PEs: 4})
	if err != nil {
		panic(err)
	}
	used := make([]int64, 4)
	for _, job := range []struct {
		id        string
		processes int
		memory    int64 // per process
	}{
		{"A", 2, 40 << 20}, {"B", 2, 30 << 20}, {"C", 2, 30 << 20},
		{"D", 4, 20 << 20}, {"E", 1, 64 << 20}, {"F", 1, 24 << 20},
	} {
		fits := func(pe int) bool { return job.memory <= limit-used[pe] }
		_, ok, err := m.Place(job.id, job.processes, fits)
		if err != nil {
			panic(err)
		}
		if !ok {
			fmt.Println(job.id, "has to wait")
		}
		for pe := range m.PEs(job.id) { // of none if it waits
			used[pe] += job.memory
		}
	}
	fmt.Println(m)
	for pe := range used {
		fmt.Printf("node %d has %d MB left\n", pe, (limit-used[pe])>>20)
	}
	// Output:
	// D has to wait
	// E has to wait
	// slot 0 | A A B B
	// slot 1 | F . C C
	// node 0 has 0 MB left
	// node 1 has 24 MB left
	// node 2 has 4 MB left
	// node 3 has 4 MB left
}

// Two rounds of a machine: in its turn a slot runs its gangs, and on PEs that
// these leave idle gangs of other slots. In the second round the search for them
// starts a slot further on, so that another one comes first.
func ExampleMatrix_AppendAlternates() {
	m := drawn(`
		slot 0 | A A A A . .
		slot 1 | B B B B C C
		slot 2 | D D . . E E`)
	var alternates []string
	for round := range 2 {
		for slot := range m.Slots() {
			alternates = m.AppendAlternates(alternates[:0], slot, round, nil)
			fmt.Println("round", round, "slot", slot, slices.Collect(m.Gangs(slot)), "and", alternates)
		}
	}
	// Output:
	// round 0 slot 0 [A] and [C]
	// round 0 slot 1 [B C] and []
	// round 0 slot 2 [D E] and []
	// round 1 slot 0 [A] and [E]
	// round 1 slot 1 [B C] and []
	// round 1 slot 2 [D E] and []
}

// In paired gang scheduling (Wiseman and Feitelson, §2.6) alternates must be like
// the gangs of the slot in their use of the CPU: all within a band of 20 %.
func ExampleMatrix_AppendAlternates_condition() {
	m := drawn(`
		slot 0 | A A . .
		slot 1 | B B C D`)
	use := map[string]int{"A": 30, "B": 90, "C": 80, "D": 45} // per cent
	least, most := use["A"], use["A"]
	within := func(id string) bool {
		low, high := min(least, use[id]), max(most, use[id])
		if high-low >= 20 {
			return false
		}
		least, most = low, high
		return true
	}
	fmt.Println(m.AppendAlternates(nil, 0, 0, within))
	// Output:
	// [D]
}

// In paired gang scheduling (Wiseman and Feitelson, §2.5) a gang that is not like
// the others of its slot is moved to the first slot that it is like and that has
// its PEs free, or else to a new one. It keeps its PEs.
func ExampleMatrix_Move() {
	m := drawn(`
		slot 0 | A A B B
		slot 1 | C C . .
		slot 2 | D . . .`)
	use := map[string]int{"A": 30, "B": 95, "C": 20, "D": 90} // per cent
	for slot := range m.Slots() + 1 {
		alike := true
		if slot < m.Slots() {
			for id := range m.Gangs(slot) {
				alike = alike && max(use[id], use["B"])-min(use[id], use["B"]) < 20
			}
		}
		if alike {
			ok, err := m.Move("B", slot)
			if err != nil {
				panic(err)
			}
			if ok {
				break
			}
		}
	}
	fmt.Println(m)
	// Output:
	// slot 0 | A A . .
	// slot 1 | C C . .
	// slot 2 | D . B B
}

func ExampleMatrix_Remove() {
	m := drawn(`
		slot 0 | A A B B
		slot 1 | C C C .
		slot 2 | D . . E`)
	for _, id := range []string{"C", "A", "F"} {
		if err := m.Remove(id); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(m)
	// Output:
	// remove F: matrix: no such gang
	// slot 0 | . . B B
	// slot 1 | D . . E
}

// Two slots that use no PE in common become one, and the round becomes shorter.
func ExampleMatrix_Unify() {
	m := drawn(`
		slot 0 | A A . .
		slot 1 | B B B B
		slot 2 | . . C .`)
	fmt.Println("slots saved:", m.Unify())
	fmt.Println(m)
	// Output:
	// slots saved: 1
	// slot 0 | A A C .
	// slot 1 | B B B B
}

// Slots 1 and 2 both use PEs 0 and 1, so they cannot be unified. But D can move to
// slot 0, and E to where D was, next to a hole that thereby becomes larger.
func ExampleMatrix_Repack() {
	m := drawn(`
		slot 0 | A A . .
		slot 1 | C C . D
		slot 2 | B B E E`)
	fmt.Println("gangs moved:", m.Repack())
	fmt.Println(m)
	// Output:
	// gangs moved: 2
	// slot 0 | A A . D
	// slot 1 | C C E E
	// slot 2 | B B . .
}

// Mapped anew the gangs need a slot less, but three of them have to migrate. Of
// memory, an account is kept for the fresh matrix, beside that of the one in force.
func ExampleMatrix_Migrate() {
	m := drawn(`
		slot 0 | A A . . . . B B
		slot 1 | C C C C . . . .
		slot 2 | . . . D D D D .`)
	const limit = 100
	memory := map[string]int{"A": 40, "B": 20, "C": 70, "D": 30} // per process
	used := make([]int, 8)
	fresh, ok := m.Migrate(
		func(id string, pe int) bool { return memory[id] <= limit-used[pe] },
		func(id string, pe int) { used[pe] += memory[id] },
	)
	if !ok || fresh.Slots() >= m.Slots() {
		fmt.Println("not worth it")
		return
	}
	fmt.Println(fresh)
	for slot := range fresh.Slots() {
		for id := range fresh.Gangs(slot) {
			from, to := slices.Collect(m.PEs(id)), slices.Collect(fresh.PEs(id))
			if !slices.Equal(from, to) {
				fmt.Println(id, "migrates from", from, "to", to)
			}
		}
	}
	// Output:
	// slot 0 | C C C C D D D D
	// slot 1 | B B . . A A . .
	// D migrates from [3 4 5 6] to [4 5 6 7]
	// B migrates from [6 7] to [0 1]
	// A migrates from [0 1] to [4 5]
}

// A state is saved as the gangs of each slot with their PEs, and restored by
// giving these back. The slot after the last one is a new one.
func ExampleMatrix_Put() {
	type saved struct {
		id  string
		pes []int
	}
	m := drawn(`
		slot 0 | A A B .
		slot 1 | . C C C`)
	var slots [][]saved
	for slot := range m.Slots() {
		var gangs []saved
		for id := range m.Gangs(slot) {
			gangs = append(gangs, saved{id, slices.Collect(m.PEs(id))})
		}
		slots = append(slots, gangs)
	}

	restored, err := matrix.New[string](matrix.Config{PEs: 4})
	if err != nil {
		panic(err)
	}
	for slot, gangs := range slots {
		for _, g := range gangs {
			if ok, err := restored.Put(g.id, slot, g.pes); err != nil || !ok {
				fmt.Println("a cell used twice, or", err)
			}
		}
	}
	fmt.Println(restored)
	// Output:
	// slot 0 | A A B .
	// slot 1 | . C C C
}

// What each node is told at a switch to a slot.
func ExampleMatrix_Row() {
	m := drawn(`
		slot 0 | A A B .
		slot 1 | . C C C`)
	for pe, id := range m.Row(1) {
		fmt.Printf("PE %d runs %s\n", pe, id)
	}
	// Output:
	// PE 1 runs C
	// PE 2 runs C
	// PE 3 runs C
}

// A wide machine is drawn as runs of PEs.
func ExampleMatrix_String() {
	m, err := matrix.New[string](matrix.Config{PEs: 4096})
	if err != nil {
		panic(err)
	}
	for i, n := range []int{2048, 1500, 100, 3000} {
		if _, _, err := m.Place(fmt.Sprint("job", i), n, nil); err != nil {
			panic(err)
		}
	}
	fmt.Println(m)
	// Output:
	// slot 0 | job0×2048 job1×1500 .×36 job2×100 .×412
	// slot 1 | job3×3000 .×1096
}

// The same gangs, packed by each rule.
func ExamplePacking() {
	for _, name := range []string{"buddy", "best-fit", "left-right-by-size"} {
		packing, err := matrix.ParsePacking(name)
		if err != nil {
			panic(err)
		}
		m, err := matrix.New[string](matrix.Config{PEs: 8, Packing: packing})
		if err != nil {
			panic(err)
		}
		for i, n := range []int{3, 6, 2, 5, 2} {
			if _, _, err := m.Place(string(rune('A'+i)), n, nil); err != nil {
				panic(err)
			}
		}
		fmt.Printf("%v\n%v\n", packing, m)
	}
	// Output:
	// buddy
	// slot 0 | A A A . . . C C
	// slot 1 | B B B B B B E E
	// slot 2 | D D D D D . . .
	// best-fit
	// slot 0 | A A A D D D D D
	// slot 1 | B B B B B B C C
	// slot 2 | E E . . . . . .
	// left-right-by-size
	// slot 0 | A A A C C E E .
	// slot 1 | . . B B B B B B
	// slot 2 | . . . D D D D D
}

// drawn returns the matrix of a picture in which gangs have names of one word.
func drawn(picture string) *matrix.Matrix[string] {
	return drawnWith(matrix.Config{}, picture)
}

func drawnWith(c matrix.Config, picture string) *matrix.Matrix[string] {
	var m *matrix.Matrix[string]
	for line := range strings.Lines(picture) {
		_, row, ok := strings.Cut(line, "|")
		if !ok {
			continue
		}
		cells := strings.Fields(row)
		if m == nil {
			c.PEs = len(cells)
			var err error
			if m, err = matrix.New[string](c); err != nil {
				panic(err)
			}
		}
		slot := m.Slots()
		for first, id := range cells {
			if id == "." || slices.Contains(cells[:first], id) {
				continue
			}
			var pes []int
			for pe, other := range cells {
				if other == id {
					pes = append(pes, pe)
				}
			}
			if ok, err := m.Put(id, slot, pes); err != nil || !ok {
				panic(fmt.Sprint("put ", id, ": ", err))
			}
		}
	}
	return m
}

// With KeepEmpty slots keep their numbers when they fall empty, until the caller
// drops them.
func ExampleMatrix_DropEmpty() {
	m, err := matrix.New[string](matrix.Config{PEs: 4, KeepEmpty: true})
	if err != nil {
		panic(err)
	}
	for _, gang := range []string{"A", "B", "C"} {
		if _, _, err := m.Place(gang, 3, nil); err != nil {
			panic(err)
		}
	}
	if err := m.Remove("B"); err != nil {
		panic(err)
	}
	show := func() {
		slot, _ := m.Slot("C")
		fmt.Printf("%d slots, C in slot %d, %d gangs use PE 0, %d PEs free in the last slot\n", m.Slots(), slot, m.Load(0), m.Free(m.Slots()-1))
	}
	show()
	fmt.Println("dropped:", m.DropEmpty())
	show()
	// Output:
	// 3 slots, C in slot 2, 2 gangs use PE 0, 1 PEs free in the last slot
	// dropped: 1
	// 2 slots, C in slot 1, 2 gangs use PE 0, 1 PEs free in the last slot
}
