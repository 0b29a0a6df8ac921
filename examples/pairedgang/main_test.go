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

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/pairedgang/study"
)

func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	status = command.Run(context.Background(), "pairedgang", pairedgang, args, &out, &diagnostics)
	return status, out.String(), diagnostics.String()
}

var small = []string{"-quick", "-jobs", "60"}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	status, stdout, stderr := call(t, append(small, "-out", out)...)
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	for _, text := range []string{"Fig. 7", "Fig. 8", "Fig. 9", "Figs. 10", "Fig. 13", "F-1 ", "F-2 ", "F-3 ", "F-4 ", "F-5 ", "F-6 ", "F-7 ", "F-8 ", "F-9 ", "F-10"} {
		assert.Contains(t, stdout, text)
	}
	for _, name := range []string{
		"figure3.png", "figure7-compute.svg", "figure8-io.png", "figure9-io.svg", "figure10-qcrd-alternates.png", "figure11-heterogeneous.svg", "figure10.csv",
	} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}

func TestSameSeedSameBytesOnAnyNumberOfCores(t *testing.T) {
	_, many, _ := call(t, append(small, "-json")...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, one, _ := call(t, append(small, "-json")...)
	assert.Equal(t, many, one)
	var r struct {
		Claims  []claim.Claim
		Figure7 []study.Mix
		Dynamic []study.Dynamic
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Claims, 10)
	assert.Len(t, r.Figure7, 5*3)
	assert.Len(t, r.Dynamic, 3*6*4*2)
	_, other, _ := call(t, append(small, "-json", "-seed", "2")...)
	assert.NotEqual(t, one, other)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-seeds", "0"}, {"-seeds", "1001"}, {"-jobs", "1"}, {"-jobs", "many"}, {"-mix", "1s"}, {"-mix", "25h"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
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
	assert.Equal(t, 1, command.Run(ctx, "pairedgang", pairedgang, small, &out, &diagnostics))
	assert.Equal(t, "pairedgang: interrupted\n", diagnostics.String())
	assert.Empty(t, out.String())
}
