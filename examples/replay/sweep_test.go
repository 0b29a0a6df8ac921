package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(content)
}

func TestSweepGoesOnWhereItWasStopped(t *testing.T) {
	args := []string{"-jobs", "300", "-procs", "16", "-policy", "easy,easy+memory,gang+memory,fjt", "-sweep", "load=.4,.8 memory=.5,1"}
	whole := t.TempDir()
	status, stdout, stderr := call(t, append(args, "-out", whole)...)
	require.Zero(t, status, stderr)
	lines := strings.SplitAfter(strings.TrimSuffix(read(t, whole, "sweep.jsonl"), "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	require.Len(t, lines, 1+2*2*4)

	// As a run that is killed leaves it: some points, and a part of one. A point that
	// is there is taken as it is.
	cut := t.TempDir()
	marked := strings.Replace(lines[1], `"not_started":0`, `"not_started":77`, 1)
	require.NotEqual(t, lines[1], marked)
	kept := lines[0] + marked + strings.Join(lines[2:6], "")
	require.NoError(t, os.WriteFile(filepath.Join(cut, "sweep.jsonl"), []byte(kept+lines[6][:len(lines[6])/2]), 0o666))
	status, again, stderr := call(t, append(args, "-out", cut)...)
	require.Zero(t, status, stderr)
	assert.Equal(t, 1, strings.Count(again, " 77\n"))
	assert.Equal(t, stdout, strings.Replace(again, "77\n", " 0\n", 1))
	after := read(t, cut, "sweep.jsonl")
	assert.True(t, strings.HasPrefix(after, kept))
	assert.ElementsMatch(t, lines[6:], strings.SplitAfter(after, "\n")[6:len(lines)])

	// Once all is there nothing is simulated.
	status, again, stderr = call(t, append(args, "-out", cut)...)
	require.Zero(t, status, stderr)
	assert.Equal(t, 1, strings.Count(again, " 77\n"))
	assert.Equal(t, after, read(t, cut, "sweep.jsonl"))
	assert.FileExists(t, filepath.Join(whole, "sweep.csv"))
	charts, err := filepath.Glob(filepath.Join(whole, "response-*-MiB.png"))
	require.NoError(t, err)
	assert.Len(t, charts, 2)

	for name, fault := range map[string]string{
		"is of another run":  strings.Replace(lines[0], "300 jobs", "301 jobs", 1) + lines[1],
		"line 3: no point":   lines[0] + lines[1] + "{}\n" + lines[2],
		"line 2: invalid ch": lines[0] + "nonsense\n" + lines[2],
	} {
		require.NoError(t, os.WriteFile(filepath.Join(cut, "sweep.jsonl"), []byte(fault), 0o666))
		status, _, stderr = call(t, append(args, "-out", cut)...)
		assert.Equal(t, 2, status)
		assert.Contains(t, stderr, name)
		assert.Equal(t, fault, read(t, cut, "sweep.jsonl"), "left as it was")
	}
}

func TestSweepOverMemoryAlone(t *testing.T) {
	out := t.TempDir()
	status, stdout, stderr := call(t, "-jobs", "100", "-procs", "16", "-policy", "easy+paging", "-sweep", "memory=.25,1,1e6", "-out", out, "-json")
	require.Zero(t, status, stderr)
	var points []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &points))
	require.Len(t, points, 3)
	assert.Greater(t, points[0]["mean_paging_s"], points[1]["mean_paging_s"])
	assert.Zero(t, points[2]["mean_paging_s"])
	charts, err := filepath.Glob(filepath.Join(out, "response-load-*.svg"))
	require.NoError(t, err)
	assert.Len(t, charts, 1)
}

func TestBadSweepsAreRefused(t *testing.T) {
	out := t.TempDir()
	for text, complaint := range map[string]string{
		"speed=3": `want load`, "load": `""`, "load=.5,x": `"x"`, "load=0": `"0"`, "load=.5 load=.6": "twice", " ": "something like",
		"memory=-1": `"-1"`, "memory=NaN": `"NaN"`, "load=1e9": `"1e9"`,
	} {
		status, _, stderr := call(t, "-sweep", text, "-out", out)
		assert.Equal(t, 2, status, text)
		assert.Contains(t, stderr, complaint)
	}
	for _, args := range [][]string{
		{"-sweep", "load=.5"}, {"-sweep", "load=.5", "-out", out, "-load", ".5"}, {"-sweep", "load=.5", "-out", out, "-explain", "1"},
	} {
		status, _, stderr := call(t, args...)
		assert.Equal(t, 2, status)
		assert.Contains(t, stderr, "-sweep")
	}
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
