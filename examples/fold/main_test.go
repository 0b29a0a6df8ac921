package main

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/fold/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "fold", Run: fold}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	stdout := program.Succeeds(t, "-seeds", "3", "-out", out)
	for _, text := range []string{"w1 ", "burst 9", "U-1 ", "U-2 ", "U-3 ", "U-4 ", "U-5 ", "U-6 ", "folding costly"} {
		assert.Contains(t, stdout, text)
	}
	for _, name := range []string{"points.csv", "figure1-2-slowdown-long.png", "figure6-slowdown-short.svg", "gantt-burst9-fjt.png", "gantt-w2-folding.svg"} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}

func TestSameSeedSameBytesOnAnyNumberOfCores(t *testing.T) {
	many := program.Succeeds(t, "-seeds", "3", "-json")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := program.Succeeds(t, "-seeds", "3", "-json")
	assert.Equal(t, many, one)
	var r struct {
		Claims []claim.Claim
		Points []study.Point
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Claims, 6)
	assert.Len(t, r.Points, 9*6*3)
	other := program.Succeeds(t, "-seeds", "3", "-json", "-seed", "2")
	assert.NotEqual(t, one, other)
	linear := program.Succeeds(t, "-seeds", "3", "-json", "-variance", "0")
	assert.NotEqual(t, one, linear)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-seeds", "0"}, {"-seeds", "10001"}, {"-parallelism", "0"}, {"-parallelism", "NaN"}, {"-variance", "-1"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
	} {
		program.Refuses(t, args...)
	}
}

func TestInterrupted(t *testing.T) { program.StopsWhenInterrupted(t) }
