package matrix

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	columns = 64 // of so many PEs each is drawn
	runs    = 16 // of a wider machine, so many runs of each slot
)

// String draws the matrix: a line for each slot, in it a column for each PE, with
// a dot where there is no process.
//
//	slot 0 | A A A A B B B .
//	slot 1 | C C C C C C C C
//
// Of machines of more than 64 PEs it draws runs, the first 16 of each slot.
//
//	slot 0 | A×600 B×300 .×124
//
// A matrix without slots is the empty string.
func (m *Matrix[ID]) String() string {
	var b strings.Builder
	number := len(fmt.Sprint(len(m.order) - 1))
	width := 1
	if m.config.PEs <= columns {
		for id := range m.places {
			width = max(width, utf8.RuneCountInString(fmt.Sprint(id)))
		}
	}
	for slot, r := range m.order {
		if slot > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "slot %*d |", number, slot)
		if m.config.PEs <= columns {
			b.WriteString(m.drawColumns(slot, width))
		} else {
			m.drawRuns(&b, int(r))
		}
	}
	return b.String()
}

func (m *Matrix[ID]) drawColumns(slot, width int) string {
	names := make([]string, m.config.PEs)
	for pe, id := range m.Row(slot) {
		names[pe] = fmt.Sprint(id)
	}
	var b strings.Builder
	for _, name := range names {
		if name == "" {
			name = "."
		}
		fmt.Fprintf(&b, " %-*s", width, name)
	}
	return strings.TrimRight(b.String(), " ")
}

func (m *Matrix[ID]) drawRuns(b *strings.Builder, r int) {
	drawn, end := 0, 0
	run := func(name any, pes int) bool {
		if pes == 0 {
			return true
		}
		if drawn++; drawn > runs {
			b.WriteString(" …")
			return false
		}
		fmt.Fprintf(b, " %v×%d", name, pes)
		return true
	}
	for i := range m.piecesOf(r) {
		p := &m.pieces[i]
		if !run(".", int(p.lo)-end) || !run(m.gangs[p.gang].id, int(p.hi-p.lo)) {
			return
		}
		end = int(p.hi)
	}
	run(".", m.config.PEs-end)
}
