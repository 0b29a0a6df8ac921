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
	"github.com/gangkit/gangkit/examples/memgang/study"
)

var program = commandtest.Program{Name: "memgang", Run: memgang}

var small = []string{"-quick", "-references", "5000", "-jobs", "40"}

func TestTextHasTablesAndClaims(t *testing.T) {
	out := t.TempDir()
	stdout := program.Succeeds(t, append(small, "-out", out)...)
	for _, text := range []string{"Fig. 5", "Fig. 6", "Fig. 7", "B-2 ", "B-3 ", "B-4 ", "B-5 ", "B-6 ", "B-7 ", "B-8 ", "B-9 ", "B-10", "B-11"} {
		assert.Contains(t, stdout, text)
	}
	for _, name := range []string{"figure5.csv", "figure5-limit-none.svg", "figure6.png", "figure7-response-limit-none-eldest.png", "sweep-fair.svg"} {
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
		Figure5 []study.Static
		Figure7 []study.Dynamic
	}
	require.NoError(t, json.Unmarshal([]byte(one), &r))
	assert.Len(t, r.Claims, 10)
	assert.Len(t, r.Figure5, 3*3*3)
	assert.Len(t, r.Figure7, 3*8*3*2)
	other := program.Succeeds(t, append(small, "-json", "-seed", "2")...)
	assert.NotEqual(t, one, other)
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"-fault", "0"}, {"-fault", "-1ms"}, {"-fault", "2h"}, {"-access", "soon"}, {"-quantum", "0s"}, {"-references", "0"},
		{"-jobs", "1"}, {"-jobs", "many"}, {"-seed", "-1"}, {"-speed"}, {"log.swf"}, {"-out", "/dev/null/x"},
	} {
		program.Refuses(t, args...)
	}
}

func TestHelpTeaches(t *testing.T) {
	stdout := program.Succeeds(t, "-h")
	for _, text := range []string{"Batat", "-fault time", "-quick"} {
		assert.Contains(t, stdout, text)
	}
}

func TestInterrupted(t *testing.T) { program.StopsWhenInterrupted(t, small...) }
