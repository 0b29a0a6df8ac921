package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/claim"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "claims", Run: run}

func TestExplanationsAreRead(t *testing.T) {
	reasons, err := explanations("# Title\ntext\n## A-1, A-2\nBecause.\nSo.\n\n## B-1\nNo.\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A-1": "Because.\nSo.", "A-2": "Because.\nSo.", "B-1": "No."}, reasons)
	for _, text := range []string{"## A-1\n", "## \nBecause.\n", "## A-1\nOnce.\n## A-1\nTwice.\n"} {
		_, err := explanations(text)
		assert.Error(t, err, text)
	}
}

// With nothing explained the run fails, and names the claims.
func TestWhatIsNeitherReproducedNorExplainedFails(t *testing.T) {
	before := explained
	defer func() { explained = before }()
	explained = "## U-2, U-3\nHere.\n"
	status, stdout, stderr := program.Call(t, "-quick", "-paper", "utrera")
	assert.Equal(t, 1, status)
	assert.Contains(t, stdout, "U-6")
	assert.Contains(t, stderr, "U-6")
	assert.NotContains(t, stderr, "U-2")
	explained = before
	program.Succeeds(t, "-quick", "-paper", "utrera")
}

func TestEveryClaimOfEveryPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of simulations, made one by one in the tests of the programs")
	}
	var list []judged
	require.NoError(t, json.Unmarshal([]byte(program.Succeeds(t, "-quick", "-json", "-seed", "2")), &list))
	ids := map[string]bool{}
	for _, j := range list {
		assert.False(t, ids[j.ID], "%s twice", j.ID)
		ids[j.ID] = true
		assert.Equal(t, uint64(2), j.Seed)
		assert.NotEmpty(t, j.Paper)
		assert.NotEmpty(t, j.Measured, j.ID)
		assert.NotEmpty(t, j.Expected, j.ID)
		assert.Equal(t, j.Verdict != claim.Reproduced, j.Explanation != "", j.ID)
	}
	for _, id := range strings.Fields("B-1 B-2 B-3 B-4 B-5 B-6 B-7 B-8 B-9 B-10 B-11 F-1 F-2 F-3 F-4 F-5 F-6 F-7 F-8 F-9 F-10 " +
		"W-1 W-2 W-3 W-4 W-5a W-5b W-6 U-1 U-2 U-3 U-4 U-5 U-6 C-1 C-1b C-2 C-3r C-4r C-5r C-6r C-7r C-8r C-9r C-10r C-3l C-4l C-5l C-6l C-7l C-8l C-9l C-10l") {
		assert.True(t, ids[id], id)
	}
	// Nothing is explained that is no claim.
	reasons, err := explanations(explained)
	require.NoError(t, err)
	for id := range reasons {
		assert.True(t, ids[id], id)
	}
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	for _, args := range [][]string{{"-nosuch"}, {"x"}, {"-paper", ""}, {"-paper", "batat,knuth"}, {"-cm5", "/no/such/file"}, {"-seed", "-1"}} {
		program.Refuses(t, args...)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	program.StopsWhenInterrupted(t, "-paper", "chen", "-json")
}
