package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var call = commandtest.Program{Name: "memestimate", Run: memestimate}.Call

// toy is a log of a job a month, each larger than the one before: by 1, 1 and 8 MB.
const toy = `; UnixStartTime: 820454400
; TimeZoneString: UTC
1 0       -1 10 4 -1 1024  4 -1 -1 1 1 1 1 1 1 -1 -1
2 2678400 -1 10 4 -1 2048  4 -1 -1 1 1 1 1 1 1 -1 -1
3 5184000 -1 10 4 -1 3072  4 -1 -1 1 1 1 1 1 1 -1 -1
4 7862400 -1 10 4 -1 11264 4 -1 -1 1 1 1 1 1 1 -1 -1
`

func logFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestTextHasTablesAndClaim(t *testing.T) {
	status, stdout, stderr := call(t, "-jobs", "1000")
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	for _, text := range []string{"generated jobs, seed 1: 1,000 jobs", "\npaper ", "\nadaptive ", "\nmax ", "\nlast ", "\nmean+3sd ", "\n  -1      0 ", "\n   -    -50 ", "\nB-1 ", "verdict   reported"} {
		assert.Contains(t, stdout, text)
	}
}

func TestHistogramsInText(t *testing.T) {
	status, stdout, stderr := call(t, "-trace", logFile(t, toy), "-bound", "paper")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "\n   -     -4  33.33\n")
	assert.Contains(t, stdout, "\n  -1      0  66.67\n")
	assert.Contains(t, stdout, "\n   -    -50  33.33\n") // -8 of 11 MB
	assert.Contains(t, stdout, "\n -50      0  66.67\n") // -1 of 2, of 3 MB
}

func TestJSONHasAnObjectABound(t *testing.T) {
	status, stdout, stderr := call(t, "-json", "-trace", logFile(t, toy), "-bound", "paper,max")
	require.Zero(t, status, stderr)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	require.Len(t, list, 2)
	want := map[string]any{"bound": "paper", "jobs": 4., "predicted": 3., "within_1mb": 0., "within_5mb": 2. / 3, "underestimated": 1., "mean_over_mb": 0.}
	assert.Equal(t, want, list[0])
	want["bound"] = "max"
	assert.Equal(t, want, list[1])
}

func TestDates(t *testing.T) {
	log := logFile(t, toy)
	for _, c := range []struct {
		from, to  string
		jobs, low float64
	}{
		{"1996-01-01", "1996-04-01", 4, 1}, {"1996-01-02", "1996-03-31", 2, 1}, {"1996-02-01", "1996-02-01", 1, 1}, {"", "1996-01-31", 1, 0}, {"1996-04-01", "", 1, 1},
	} {
		args := []string{"-json", "-trace", log, "-bound", "last"}
		if c.from != "" {
			args = append(args, "-from", c.from)
		}
		if c.to != "" {
			args = append(args, "-to", c.to)
		}
		status, stdout, stderr := call(t, args...)
		require.Zero(t, status, stderr)
		var list []record
		require.NoError(t, json.Unmarshal([]byte(stdout), &list))
		assert.Equal(t, c.jobs, float64(list[0].Jobs))
		assert.Equal(t, c.low, list[0].Under)
	}
}

func TestOutputFolder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	status, _, stderr := call(t, "-jobs", "500", "-out", out)
	require.Zero(t, status, stderr)
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"megabytes.csv", "megabytes.png", "megabytes.svg", "percent.csv", "percent.png", "percent.svg", "quality.csv"}, names)
	for name, rows := range map[string]int{"megabytes": 41, "percent": 23} {
		text, err := os.ReadFile(filepath.Join(out, name+".csv"))
		require.NoError(t, err)
		table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		require.NoError(t, err)
		require.Len(t, table, 1+rows)
		assert.Equal(t, "paper [%]", table[0][2])
		for column := 2; column < 9; column++ {
			sum := 0.
			for _, row := range table[1:] {
				x, err := strconv.ParseFloat(row[column], 64)
				require.NoError(t, err)
				sum += x
			}
			assert.InDelta(t, 100, sum, 1e-9, name)
		}
	}
}

// With what january taught, february knows the job.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "history")
	header, jobs, _ := strings.Cut(toy, "1 0 ")
	january, february, _ := strings.Cut("1 0 "+jobs, "2 267")
	args := []string{"-json", "-bound", "last", "-snapshot", snapshot, "-trace"}
	status, _, stderr := call(t, append(args, logFile(t, header+january))...)
	require.Zero(t, status, stderr)
	status, stdout, stderr := call(t, append(args, logFile(t, header+"2 267"+february))...)
	require.Zero(t, status, stderr)
	var list []record
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	assert.Equal(t, [2]int{3, 3}, [2]int{list[0].Jobs, list[0].Predicted})
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	before, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.Equal(t, 1, command.Run(ctx, "memestimate", memestimate, append(args, logFile(t, toy)), io.Discard, io.Discard))
	after, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	assert.Equal(t, before, after, "an interrupted run leaves it as it was")
}

func TestSameSeedSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, one, _ := call(t, "-jobs", "2000", "-seed", "7")
	runtime.GOMAXPROCS(4)
	_, many, _ := call(t, "-jobs", "2000", "-seed", "7")
	assert.Equal(t, one, many)
	_, other, _ := call(t, "-jobs", "2000", "-seed", "8")
	assert.NotEqual(t, one, other)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	log := logFile(t, toy)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-nosuch"}, "-nosuch"},
		{[]string{"log.swf"}, "a log goes with -trace"},
		{[]string{"-jobs", "0"}, "-jobs 0"},
		{[]string{"-jobs", "20000000"}, "-jobs 20000000"},
		{[]string{"-seed", "-1"}, "-seed"},
		{[]string{"-bound", "best"}, `-bound: "best"`},
		{[]string{"-bound", ""}, `-bound: ""`},
		{[]string{"-bound", "paper,mean+-1sd"}, `-bound: "mean+-1sd"`},
		{[]string{"-snapshot", log}, "-snapshot " + log},
		{[]string{"-snapshot", t.TempDir()}, "-snapshot"},
		{[]string{"-snapshot", log + "/x"}, "-snapshot"},
		{[]string{"-trace", log, "-jobs", "5"}, "-jobs 5"},
		{[]string{"-trace", log, "-from", "yesterday"}, `-from "yesterday"`},
		{[]string{"-trace", log, "-to", "1996-02-30"}, `-to "1996-02-30"`},
		{[]string{"-trace", log, "-from", "1997-01-01"}, "no job"},
		{[]string{"-trace", log, "-from", "1996-03-01", "-to", "1996-02-01"}, "no job"},
		{[]string{"-trace", log + ".gz"}, "log.swf.gz"},
		{[]string{"-trace", logFile(t, "")}, "no job whose memory is known"},
		{[]string{"-trace", logFile(t, strings.ReplaceAll(toy, " 4 -1 ", " 4 x "))}, "line 3"},
		{[]string{"-trace", logFile(t, strings.ReplaceAll(toy, "11264", "1e15"))}, "line 6: used memory"},
		{[]string{"-out", log + "/x"}, "-out"},
	} {
		status, stdout, stderr := call(t, c.args...)
		assert.Equal(t, 2, status, c.args)
		assert.Empty(t, stdout, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		assert.Contains(t, stderr, c.want)
	}
}

func TestHelpTeaches(t *testing.T) {
	status, stdout, _ := call(t, "-h")
	assert.Zero(t, status)
	for _, word := range []string{"Figure 2", "  paper ", "  adaptive ", "3 standard deviations", "calendar month", "-snapshot"} {
		assert.Contains(t, stdout, word)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, command.Run(ctx, "memestimate", memestimate, []string{"-jobs", "1000", "-out", out}, &stdout, &stderr))
	assert.Equal(t, "memestimate: interrupted\n", stderr.String())
	assert.Empty(t, stdout.String())
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
