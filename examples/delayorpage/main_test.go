package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/delayorpage/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "delayorpage", Run: delayorpage}

var small = []string{"-quick", "-seeds", "2", "-jobs", "40"}

func TestTextHasTablesAndFindings(t *testing.T) {
	stdout := program.Succeeds(t, small...)
	for _, text := range []string{"2 samples, 80 jobs", "Throughput if jobs always wait", "a page fault takes less than", "The best limit C*", "D-1 ", "D-9 ", "locality", "tay-zou", "chen-line"} {
		assert.Contains(t, stdout, text)
	}
}

func TestOutputFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many plots: a minute with the race detector")
	}
	out := t.TempDir()
	program.Succeeds(t, append(small, "-out", out)...)
	for _, name := range []string{
		"points.csv", "rules.csv", "best.csv", "thresholds.csv", "phases.png", "limit-locality-fault-100us-response.svg", "limit-chen-slowdown.png",
		"cost-locality-theta-1.5-fault-10ms-response.png", "cost-tay-zou-slowdown.svg", "throughput-locality-fault-10ms.png", "throughput-other-models.svg",
	} {
		assert.FileExists(t, filepath.Join(out, name))
	}
	points, err := os.ReadFile(filepath.Join(out, "points.csv"))
	require.NoError(t, err)
	assert.Equal(t, 1+11*4*7, strings.Count(string(points), "\n"), "costs, loads, limits")
}

func TestSameSeedSameBytesOnAnyNumberOfCores(t *testing.T) {
	many := program.Succeeds(t, append(small, "-json", "-error", ".2")...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := program.Succeeds(t, append(small, "-json", "-error", ".2")...)
	assert.Equal(t, many, one)
	var r struct {
		Summary  study.Summary
		Findings []claim.Claim
		Costs    []result
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Findings, 9)
	assert.Len(t, r.Costs, 3*2+1+2*2)
	assert.Len(t, r.Costs[0].Cells, 4)
	assert.Len(t, r.Costs[0].Cells[0].Points, 10, "limits below .8 are added")
	assert.InDelta(t, .1, r.Summary.Deviation, .05)
	other := program.Succeeds(t, append(small, "-json", "-error", ".2", "-seed", "2")...)
	assert.NotEqual(t, one, other)
}

func TestLog(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("; MaxProcs: 16\n")
	for i := range 60 {
		// Number, submission, wait, run time, processors, CPU time, memory in KB a processor.
		lines.WriteString(strings.Join([]string{strconv.Itoa(i + 1), strconv.Itoa(40 * i), "0", strconv.Itoa(30 + 50*(i%7)), strconv.Itoa(1 + i%3), "-1", strconv.Itoa(1000 + 300*(i%5)), "-1 -1 -1 1 1 1 1 1 1 -1 -1"}, " ") + "\n")
	}
	log := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(log, []byte(lines.String()), 0o666))
	stdout := program.Succeeds(t, "-quick", "-seeds", "3", "-trace", log)
	assert.Contains(t, stdout, "that need more than half of the memory left out)")
	assert.Equal(t, stdout, program.Succeeds(t, "-quick", "-seeds", "3", "-trace", log, "-headroom", "4"))
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(log, []byte("; MaxProcs: 4\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n"), 0o666))
	for _, args := range [][]string{
		{"-seeds", "1"}, {"-jobs", "1"}, {"-jobs", "many"}, {"-seed", "-1"}, {"-size", "0"}, {"-size", "NaN"}, {"-size", ".6"}, {"-size", "1e-9"}, {"-spread", "-1"},
		{"-error", "-1"}, {"-error", "NaN"}, {"-headroom", "0"}, {"-headroom", "Inf"}, {"-access", "0"}, {"-access", "2s"}, {"-speed"}, {"log.swf"},
		{"-out", "/dev/null/x"}, {"-trace", log}, {"-trace", log + ".gz"}, {"-trace", log, "-size", ".1"}, {"-trace", log, "-bursty"},
	} {
		program.Refuses(t, args...)
	}
}

func TestHelpTeaches(t *testing.T) {
	stdout := program.Succeeds(t, "-h")
	for _, text := range []string{"Batat", "Wang", "Chen", "C/f(C)", "supposed", "-error deviation", "-quick"} {
		assert.Contains(t, stdout, text)
	}
}

func TestInterrupted(t *testing.T) { program.StopsWhenInterrupted(t, small...) }
