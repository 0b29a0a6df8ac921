package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/fold/study"
	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
)

func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	status = command.Run(context.Background(), "fold", fold, args, &out, &diagnostics)
	return status, out.String(), diagnostics.String()
}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	status, stdout, stderr := call(t, "-seeds", "3", "-out", out)
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	for _, text := range []string{"w1 ", "burst 9", "U-1 ", "U-2 ", "U-3 ", "U-4 ", "U-5 ", "U-6 ", "folding costly"} {
		assert.Contains(t, stdout, text)
	}
	for _, name := range []string{"points.csv", "figure1-2-slowdown-long.png", "figure6-slowdown-short.svg", "gantt-burst9-fjt.png", "gantt-w2-folding.svg"} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}

func TestSameSeedSameBytesOnAnyNumberOfCores(t *testing.T) {
	_, many, _ := call(t, "-seeds", "3", "-json")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, one, _ := call(t, "-seeds", "3", "-json")
	assert.Equal(t, many, one)
	var r struct {
		Claims []claim.Claim
		Points []study.Point
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Claims, 6)
	assert.Len(t, r.Points, 9*6*3)
	_, other, _ := call(t, "-seeds", "3", "-json", "-seed", "2")
	assert.NotEqual(t, one, other)
	_, linear, _ := call(t, "-seeds", "3", "-json", "-variance", "0")
	assert.NotEqual(t, one, linear)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-seeds", "0"}, {"-seeds", "10001"}, {"-parallelism", "0"}, {"-parallelism", "NaN"}, {"-variance", "-1"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
	} {
		status, stdout, stderr := call(t, args...)
		assert.Equal(t, 2, status, "%v", args)
		assert.Empty(t, stdout)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, diagnostics bytes.Buffer
	assert.Equal(t, 1, command.Run(ctx, "fold", fold, nil, &out, &diagnostics))
	assert.Equal(t, "fold: interrupted\n", diagnostics.String())
}
