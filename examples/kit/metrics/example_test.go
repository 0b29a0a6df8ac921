package metrics_test

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/examples/kit/metrics"
)

// Four jobs on four processors, in order of arrival. The last one needs the
// whole machine, waits 80 s to run for 5, and rules the mean slowdown.
func ExampleSummarize() {
	jobs := []metrics.Job{
		{Submit: 0, Start: 0, End: 100 * time.Second, Run: 100 * time.Second, Processors: 2},
		{Submit: 0, Start: 0, End: 50 * time.Second, Run: 50 * time.Second, Processors: 1},
		{Submit: 10 * time.Second, Start: 50 * time.Second, End: 80 * time.Second, Run: 30 * time.Second, Processors: 2},
		{Submit: 20 * time.Second, Start: 100 * time.Second, End: 105 * time.Second, Run: 5 * time.Second, Processors: 4},
	}
	s, err := metrics.Summarize(jobs, metrics.Machine{Processors: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("wait %.4g s, response %.4g s, weighted by area %.4g s\n", s.Wait.Mean, s.Response.Mean, s.WeightedResponse)
	fmt.Printf("slowdown %.4g, bounded %.4g, median %.4g\n", s.Slowdown.Mean, s.BoundedSlowdown.Mean, s.Slowdown.Median)
	fmt.Printf("utilisation %.4f + loss %.4f + idle without demand %.4f\n", s.Utilisation, s.Loss, s.IdleNoDemand)
	// Output:
	// wait 30 s, response 76.25 s, weighted by area 86.06 s
	// slowdown 5.333, bounded 3.208, median 1
	// utilisation 0.7857 + loss 0.1905 + idle without demand 0.0238
}
