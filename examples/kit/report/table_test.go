package report_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func ExampleTable() {
	t := report.Table{
		Title: "Three policies",
		Columns: []report.Column{
			{Title: "policy"}, {Title: "jobs"}, {Title: "mean wait", Unit: "s"}, {Title: "utilisation", Format: "%.3f"}, {Title: "makespan", Unit: "s"},
		},
	}
	t.Add("FCFS", 73496, 421345.678, .7857, 105*time.Second)
	t.Add("EASY", 73496, 1042.25, .81, 90500*time.Millisecond)
	t.Add("none, yet", 0, math.NaN(), nil, time.Duration(0))
	t.WriteText(os.Stdout)
	t.WriteCSV(os.Stdout)
	// Output:
	// Three policies
	// policy      jobs  mean wait  utilisation  makespan
	//                           s                      s
	// ----------------------------------------------------
	// FCFS       73496     421346        0.786       105
	// EASY       73496       1042        0.810      90.5
	// none, yet      0          -            -         0
	// policy,jobs,mean wait [s],utilisation,makespan [s]
	// FCFS,73496,421345.678,0.7857,105
	// EASY,73496,1042.25,0.81,90.5
	// "none, yet",0,,,0
}

func TestTenColumnsFitATerminal(t *testing.T) {
	table := report.Table{Columns: make([]report.Column, 10)}
	row := make([]any, 10)
	for i := range row {
		table.Columns[i] = report.Column{Title: "mean wait", Unit: "s"}
		row[i] = -123456.789
	}
	table.Add(row...)
	var out bytes.Buffer
	require.NoError(t, table.WriteText(&out))
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line), 120)
		assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "no spaces at the end")
	}
	for _, b := range out.Bytes() {
		assert.Less(t, b, byte(0x80))
	}
}

func TestTableKeepsItsRows(t *testing.T) {
	table := report.Table{Columns: []report.Column{{Title: "a"}}}
	row := []any{1}
	table.Add(row...)
	row[0] = 2
	var out bytes.Buffer
	require.NoError(t, table.WriteCSV(&out))
	assert.Equal(t, "a\n1\n", out.String())
	assert.Panics(t, func() { table.Add(1, 2) })
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestTableReportsABrokenWriter(t *testing.T) {
	table := report.Table{Columns: []report.Column{{Title: "a"}}}
	table.Add(1)
	require.ErrorIs(t, table.WriteText(broken{}), errBroken)
	require.ErrorIs(t, table.WriteCSV(broken{}), errBroken)
}
