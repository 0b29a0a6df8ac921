package main

import (
	"context"
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "makespan", Run: makespan}

// The gangs of an experiment run this binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestPoliciesRunAllGangs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	cluster.Need(t)
	rows, err := csv.NewReader(strings.NewReader(program.Succeeds(t, "-quick", "-csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 5)
	for i, row := range rows[1:] {
		require.Equal(t, []string{"fcfs", "strict", "paired", "together"}[i], row[0])
		makespan, err := strconv.ParseFloat(row[1], 64)
		require.NoError(t, err)
		last := 0.0
		for _, cell := range row[len(row)-len(gangs):] {
			response, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
			require.Greater(t, response, .8, "a gang needs that long")
			last = max(last, response)
		}
		require.Equal(t, last, makespan)
	}
}

func TestAGangThatDoesNotStartIsNotWaitedFor(t *testing.T) {
	cluster.Need(t)
	wide := policy{run: func(e *experiment, ctx context.Context) error {
		e.jobs[1].Processes = 3
		return e.together(ctx)
	}}
	_, err := measure(t.Context(), wide, 4, 1, time.Second)
	require.ErrorIs(t, err, slurm.ErrGang)
}

func TestBadFlagsAreRefused(t *testing.T) {
	program.Refuses(t, "-steps", "3")
	program.Refuses(t, "-slot", "1ms")
	program.Refuses(t, "-repeats", "0")
	program.Refuses(t, "-policies", "fcfs,fcfs")
	program.Refuses(t, "-policies", "fcfs,")
	program.Refuses(t, "more")
}
