package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
)

// The whole way: estimates, admission, matrix and pairing decide, Slurm runs the jobs, and
// what they used is in the requests of the second run.
func TestASchedulerOverSlurm(t *testing.T) {
	long(t)
	s := open(t, cluster.Config{Nodes: 16, Memory: 300 * mebi}, slurm.Config{})
	var history estimate.History
	for run, policy := range []scheduler.Policy{scheduler.Paired, scheduler.Strict} {
		var jobs []scheduler.Job
		for i, processes := range []int{16, 8, 4, 12, 1, 6} {
			program, wait := "computes", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1"
			if i%2 == 1 {
				program, wait = "waits", "sleep 1.5"
			}
			jobs = append(jobs, scheduler.Job{
				Name: fmt.Sprintf("%s-%d-%d", program, run, i), User: "somebody", Program: program, Processes: processes,
				Command: []string{"/bin/sh", "-c", `x=$(head -c 10000000 /dev/zero | tr "\0" x); ` + wait + `; echo done`},
				Folder:  s.cluster.Folder(), Output: s.shell(fmt.Sprintf("%d-%d", run, i), "").Output,
				After: time.Duration(i) * 100 * time.Millisecond,
			})
		}
		result, err := scheduler.Run(s.ctx, jobs, scheduler.Config{
			Backend: s.Backend, Policy: policy, Quantum: time.Second, History: &history,
		})
		require.NoError(t, err)
		require.Len(t, result.Jobs, len(jobs))
		requests := map[string]string{}
		for line := range strings.Lines(s.slurm("squeue", "-h", "-t", "all", "-o", "%j %m")) {
			name, memory, _ := strings.Cut(strings.TrimSpace(line), " ")
			requests[name] = memory
		}
		learnt := 0
		for i, o := range result.Jobs {
			require.NoError(t, o.Err, o.Job.Name)
			require.Equal(t, jobs[i].Processes, strings.Count(s.output(fmt.Sprintf("%d-%d", run, i)), "done"), o.Job.Name)
			require.Equal(t, fmt.Sprintf("%dM", (o.Estimate+mebi-1)/mebi), requests[o.Job.Name], "%s: %d", o.Job.Name, o.Estimate)
			if run == 1 && o.Estimate != 64*mebi {
				learnt++
				require.Greater(t, o.Estimate, int64(10e6))
			}
		}
		t.Logf("%s: %v, %d quanta, %d of pairs", policy, result.Time, result.Quanta, result.Pairs)
		if run == 1 {
			require.GreaterOrEqual(t, learnt, 4, "of 6 that the history knows: what is shorter than a sample is not known")
		}
	}
}
