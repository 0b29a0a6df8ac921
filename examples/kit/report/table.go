package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Column is the head of a table's column. Columns that hold a string are
// aligned to the left, all others to the right.
type Column struct {
	Title string
	Unit  string // below the title; empty if it has none

	// Format is the fmt verb for the column's numbers in text, such as "%.2f".
	// The default shows four digits of a float64, or all before the point, and
	// all else by "%v". CSV does not use it.
	Format string

	// What follows shows on a Page only.
	About     string // what the numbers are, a sentence or two
	Better    Better // which end is good; the best is marked
	Synthetic bool   // rests on values that are generated or modelled, not logged
}

// Better says which numbers of a column are good ones.
type Better int8

const (
	Lower  Better = -1
	Higher Better = +1
)

func (b Better) words() string {
	switch {
	case b < 0:
		return "Lower is better."
	case b > 0:
		return "Higher is better."
	}
	return ""
}

// A Table is rows of cells beneath columns. Cells are strings, numbers or
// time.Durations, which are shown in seconds. A nil or NaN cell is one without
// a value: "-" in text, nothing in CSV.
type Table struct {
	Title   string // above the table in text; empty if it has none
	Columns []Column
	rows    [][]any
}

// Add appends a row. It panics unless there is one cell a column.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("report: row of %d cells for %d columns", len(cells), len(t.Columns)))
	}
	t.rows = append(t.rows, append([]any(nil), cells...))
}

// WriteText writes the table for a terminal, in ASCII as far as the cells are.
func (t *Table) WriteText(w io.Writer) error {
	pretty := table.NewWriter()
	style := table.StyleDefault
	style.Format = table.FormatOptions{} // headers as they are
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	pretty.SetStyle(style)
	pretty.SuppressTrailingSpaces()

	titles, units := make(table.Row, len(t.Columns)), make(table.Row, len(t.Columns))
	configs := make([]table.ColumnConfig, len(t.Columns))
	anyUnit := false
	for i, c := range t.Columns {
		titles[i], units[i] = c.Title, c.Unit
		anyUnit = anyUnit || c.Unit != ""
		align := text.AlignRight
		for _, row := range t.rows {
			if _, ok := row[i].(string); ok {
				align = text.AlignLeft
			}
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	pretty.SetColumnConfigs(configs)
	pretty.AppendHeader(titles)
	if anyUnit {
		pretty.AppendHeader(units)
	}
	for _, row := range t.rows {
		cells := make(table.Row, len(row))
		for i, v := range row {
			cells[i] = textCell(v, t.Columns[i].Format)
		}
		pretty.AppendRow(cells)
	}
	title := ""
	if t.Title != "" {
		title = t.Title + "\n"
	}
	_, err := fmt.Fprintf(w, "%s%s\n", title, pretty.Render())
	return err
}

// WriteCSV writes the table for other programs: titles with their units in
// brackets, numbers in full precision.
func (t *Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Title
		if c.Unit != "" {
			line[i] += " [" + c.Unit + "]"
		}
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, row := range t.rows {
		for i, v := range row {
			line[i] = csvCell(v)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func textCell(v any, format string) string {
	if d, ok := v.(time.Duration); ok {
		v = d.Seconds()
	}
	switch x := v.(type) {
	case nil:
		return "-"
	case string:
		return x
	case float64:
		if math.IsNaN(x) {
			return "-"
		}
		if a := math.Abs(x); format == "" && 1e4 <= a && a < 1e15 {
			format = "%.0f"
		} else if format == "" {
			format = "%.4g"
		}
	}
	if format == "" {
		format = "%v"
	}
	return fmt.Sprintf(format, v)
}

func csvCell(v any) string {
	if d, ok := v.(time.Duration); ok {
		v = d.Seconds()
	}
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
