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
	"github.com/gangkit/gangkit/examples/memgang/study"
)

func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	status = command.Run(context.Background(), "memgang", memgang, args, &out, &diagnostics)
	return status, out.String(), diagnostics.String()
}

var small = []string{"-quick", "-references", "20000", "-jobs", "60"}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	status, stdout, stderr := call(t, append(small, "-out", out)...)
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	for _, text := range []string{"Fig. 5", "Fig. 6", "Fig. 7", "B-2 ", "B-3 ", "B-4 ", "B-5 ", "B-6 ", "B-7 ", "B-8 ", "B-9 ", "B-10", "B-11"} {
		assert.Contains(t, stdout, text)
	}
	for _, name := range []string{"figure5.csv", "figure5-limit-none.svg", "figure6.png", "figure7-response-limit-none-eldest.png", "sweep-fair.svg"} {
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
		Figure5 []study.Static
		Figure7 []study.Dynamic
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Claims, 10)
	assert.Len(t, r.Figure5, 3*3*3)
	assert.Len(t, r.Figure7, 3*8*3*2)
	_, other, _ := call(t, append(small, "-json", "-seed", "2")...)
	assert.NotEqual(t, one, other)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-fault", "0"}, {"-fault", "-1ms"}, {"-fault", "2h"}, {"-access", "soon"}, {"-quantum", "0s"}, {"-references", "0"},
		{"-jobs", "1"}, {"-jobs", "many"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
	} {
		status, stdout, stderr := call(t, args...)
		assert.Equal(t, 2, status, "%v", args)
		assert.Empty(t, stdout)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestHelpTeaches(t *testing.T) {
	status, stdout, _ := call(t, "-h")
	assert.Zero(t, status)
	for _, text := range []string{"Batat", "-fault time", "-quick"} {
		assert.Contains(t, stdout, text)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, diagnostics bytes.Buffer
	assert.Equal(t, 1, command.Run(ctx, "memgang", memgang, small, &out, &diagnostics))
	assert.Equal(t, "memgang: interrupted\n", diagnostics.String())
	assert.Empty(t, out.String())
}
