package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var call = commandtest.Program{Name: "relaxed", Run: relaxed}.Call

var small = []string{"-jobs", "200", "-seeds", "2", "-step", ".1"}

func TestTextHasTablesAndClaims(t *testing.T) {
	status, stdout, stderr := call(t, small...)
	require.Zero(t, status, stderr)
	assert.Empty(t, stderr)
	for _, text := range []string{"1.0 GiB of memory", "1.5 GiB of memory", "2.0 GiB of memory", "W-1 ", "W-2 ", "W-3 ", "W-4 ", "W-5a ", "W-5b ", "W-6 ", ".37 .72 1.00\n      verdict   reproduced"} {
		assert.Contains(t, stdout, text)
	}
}

func TestSameSeedSameBytesOnAnyNumberOfCores(t *testing.T) {
	_, many, _ := call(t, append(small, "-json")...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, one, _ := call(t, append(small, "-json")...)
	assert.Equal(t, many, one)
	var list struct {
		Claims []claim.Claim
		Points []record
	}
	require.NoError(t, json.Unmarshal([]byte(one), &list))
	assert.Len(t, list.Claims, 7)
	assert.Len(t, list.Points, 3*6*7)
}

func TestOutputFolder(t *testing.T) {
	out := t.TempDir()
	status, _, stderr := call(t, append(small, "-out", out)...)
	require.Zero(t, status, stderr)
	for _, name := range []string{"points.csv", "figure3-1.0gib.png", "figure5-1.5gib.svg", "figure6-2.0gib.png"} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}

// Where nothing is scarce, no limit matters, and claims about gains fail.
func TestClaimsAreNotAlwaysReproduced(t *testing.T) {
	status, stdout, stderr := call(t, append(small, "-memory", "1TiB", "-load", ".001")...)
	require.Zero(t, status, stderr)
	assert.Equal(t, 4, strings.Count(stdout, "verdict   not reproduced\n"), stdout)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.swf")
	require.NoError(t, os.WriteFile(log, []byte("; MaxProcs: 4\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n"), 0o666))
	for _, args := range [][]string{
		{"-nosuch"}, {"log.swf"}, {"-procs", "0"}, {"-jobs", "-1"}, {"-seeds", "0"}, {"-load", "NaN"}, {"-load", "-1"},
		{"-scale-memory", "Inf"}, {"-step", "0"}, {"-step", "NaN"}, {"-order", "lifo"}, {"-memory", "1GiB,"}, {"-memory", "-1"},
		{"-out", log + "/x"}, {"-trace", log + ".gz"}, {"-trace", log}, {"-trace", log, "-load", ".5"}, {"-seed", "-1"},
	} {
		status, stdout, stderr := call(t, args...)
		assert.Equal(t, 2, status, args)
		assert.Empty(t, stdout, args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		assert.Contains(t, stderr, strings.TrimSuffix(args[len(args)-1], ","))
	}
}

func TestHelpTeaches(t *testing.T) {
	status, stdout, _ := call(t, "-h")
	assert.Zero(t, status)
	for _, word := range []string{"DAS2-fs2", "not to be had", "-scale-memory", "eq. 4"} {
		assert.Contains(t, stdout, word)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, command.Run(ctx, "relaxed", relaxed, small, &stdout, &stderr))
	assert.Equal(t, "relaxed: interrupted\n", stderr.String())
	assert.Empty(t, stdout.String())
}
