package main

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
	"github.com/gangkit/gangkit/examples/pairedgang/study"
)

var program = commandtest.Program{Name: "pairedgang", Run: pairedgang}

var small = []string{"-quick", "-jobs", "40"}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	stdout := program.Succeeds(t, append(small, "-out", out)...)
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
	many := program.Succeeds(t, append(small, "-json")...)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := program.Succeeds(t, append(small, "-json")...)
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
	other := program.Succeeds(t, append(small, "-json", "-seed", "2")...)
	assert.NotEqual(t, one, other)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-seeds", "0"}, {"-seeds", "1001"}, {"-jobs", "1"}, {"-jobs", "many"}, {"-mix", "1s"}, {"-mix", "25h"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
	} {
		program.Refuses(t, args...)
	}
}

func TestInterrupted(t *testing.T) { program.StopsWhenInterrupted(t, small...) }
