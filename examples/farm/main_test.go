package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/farm/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "farm", Run: run}

func TestJSONHasEveryClaimAndPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve seconds of simulation, minutes with the race detector")
	}
	out := t.TempDir()
	text := program.Succeeds(t, "-seeds", "1", "-json", "-out", out)
	var all struct {
		Claims []claim.Claim `json:"claims"`
		Points []study.Point `json:"points"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	assert.Len(t, all.Points, 2*(3*6+3*4+4*4)+11*5)
	ids := map[string]bool{}
	for _, c := range all.Claims {
		ids[c.ID] = true
		assert.NotEmpty(t, c.Measured, c.ID)
		assert.True(t, c.Verdict == claim.Reproduced || c.Why != "", "%s: a reason", c.ID)
	}
	for _, id := range strings.Fields("C-1 C-1b C-2 C-3r C-3l C-4r C-4l C-5r C-5l C-6r C-6l C-7r C-7l C-8r C-8l C-9r C-9l C-10r C-10l") {
		assert.True(t, ids[id], id)
	}

	f, err := os.Open(filepath.Join(out, "points.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, 1+len(all.Points))
	charts, err := filepath.Glob(filepath.Join(out, "*.png"))
	require.NoError(t, err)
	assert.Len(t, charts, 16)
}

func TestTextHasTablesAndClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve seconds of simulation, minutes with the race detector")
	}
	text := program.Succeeds(t, "-seeds", "1")
	for _, want := range []string{"Slowdown, MT = 0", "Where the time of a job goes", "by MT", "by variant", "Claims of the paper", "C-10l"} {
		assert.Contains(t, text, want)
	}
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	for _, args := range [][]string{
		{"-nosuch"}, {"farm.swf"}, {"-seeds", "0"}, {"-seeds", "1001"}, {"-seed", "-1"}, {"-arrivals", "often"},
		{"-max-jobs", "-1"}, {"-ramp", "-1s"}, {"-ramp", "2h"}, {"-out", file + "/x"},
	} {
		program.Refuses(t, args...)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	program.StopsWhenInterrupted(t, "-seeds", "1000", "-json")
}
