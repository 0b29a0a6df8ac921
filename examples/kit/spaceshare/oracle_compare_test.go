package spaceshare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

var depths = map[string]backfill.Depth{"fcfs": backfill.FCFS, "easy": backfill.EASY, "conservative": backfill.Conservative}

// compare replays jobs with both schedulers and demands the same starts. A
// memory of 0 is not considered.
func compare(t *testing.T, jobs []spaceshare.Job, processors int, memory int64, policy string, order des.Order) {
	t.Helper()
	result, err := spaceshare.Replay(context.Background(), jobs, spaceshare.Config{
		Processors: processors, Memory: memory, Depth: depths[policy], Order: order,
	})
	require.NoError(t, err)
	plain := make([]oracleJob, len(jobs))
	for i, j := range jobs {
		plain[i] = oracleJob{int64(j.Submit / time.Second), int64(j.Run / time.Second), int64(j.Estimate / time.Second), int64(j.Processors), j.Memory}
	}
	if memory == 0 {
		memory = -1
	}
	for i, want := range oracle(plain, int64(processors), memory, policy, order.String()) {
		require.Equal(t, time.Duration(want)*time.Second, result.Starts[i], "job at index %d of %d: %+v", i, len(jobs), jobs[i])
	}
}

// Small machines with many equal instants, early ends and jobs too large for
// the memory.
func TestRandomWorkloadsAgainstTheOracle(t *testing.T) {
	seeds := uint64(1500)
	if slow {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		processors, memory := 1+r.IntN(12), 1+r.Int64N(20)
		jobs := make([]spaceshare.Job, 1+r.IntN(60))
		at, span, exact := time.Duration(0), 1+r.IntN(6), seed%2 == 0
		for i := range jobs {
			at += time.Duration(r.IntN(span)) * time.Second
			run := time.Duration(1+r.IntN(12)) * time.Second
			jobs[i] = spaceshare.Job{Submit: at, Run: run, Estimate: run, Processors: 1 + r.IntN(processors), Memory: r.Int64N(memory + 1)}
			if !exact {
				jobs[i].Estimate += time.Duration(r.IntN(20)) * time.Second
			}
			if r.IntN(10) == 0 {
				jobs[i].Memory += memory
			}
		}
		for policy := range depths {
			for order := des.Batch; order <= des.TerminateFirst; order++ {
				compare(t, jobs, processors, 0, policy, order)
				compare(t, jobs, processors, memory, policy, order)
			}
		}
	}
}

// traces returns the recorded logs beside the checkout.
func traces(t *testing.T) []string {
	files, err := filepath.Glob("../../../../shared/traces/*.swf.gz")
	require.NoError(t, err)
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("no logs in ../shared/traces beside the checkout")
		}
		t.Skip("no logs in ../shared/traces beside the checkout")
	}
	return files
}

func read(t *testing.T, file string) *workload.Workload {
	r, err := swf.Open(file)
	require.NoError(t, err)
	defer r.Close()
	w, err := workload.Read(file, r, 0)
	require.NoError(t, err)
	return w
}

// Every job of every log starts when the oracle says, under every policy and in
// every order; and so do the first ones if memory is scarce, where the log tells
// it.
func TestLogsAgainstTheOracle(t *testing.T) {
	for _, file := range traces(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".swf.gz")
		w := read(t, file)
		if slow || testing.Short() {
			w.Jobs = w.Jobs[:1000]
		}
		for policy := range depths {
			for order := des.Batch; order <= des.TerminateFirst; order++ {
				jobs := w.Jobs
				if policy == "conservative" && order != des.Batch && len(jobs) > 250_000 {
					jobs = jobs[:100_000] // a third of the largest log, to be done in minutes
				}
				t.Run(fmt.Sprintf("%s/%s/%v", name, policy, order), func(t *testing.T) {
					t.Parallel()
					compare(t, jobs, w.Processors, 0, policy, order)
				})
			}
			if memory := w.Memory() / 2; memory > 0 {
				t.Run(fmt.Sprintf("%s/%s+memory", name, policy), func(t *testing.T) {
					t.Parallel()
					// With so little memory queues get long, and the oracle is quadratic in them.
					compare(t, w.Jobs[:min(len(w.Jobs), 10_000)], w.Processors, memory, policy, des.Batch)
				})
			}
		}
	}
}
