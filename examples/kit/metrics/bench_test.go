package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/metrics"
)

// overloaded is n jobs with waits of up to a thousand arrivals, so that the
// queue is deep and jobs overtake each other.
func overloaded(n int) []metrics.Job {
	r := rand.New(rand.NewPCG(1, 2))
	jobs := make([]metrics.Job, n)
	for i := range jobs {
		at := time.Duration(i) * time.Minute
		start := at + time.Duration(r.Int64N(int64(1000*time.Minute)))
		run := time.Duration(r.Int64N(int64(time.Hour)))
		jobs[i] = metrics.Job{Submit: at, Start: start, End: start + run, Run: run, Processors: 1 + r.IntN(512), Memory: 1 << 30}
	}
	return jobs
}

func BenchmarkSummarize(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000, 100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			jobs := overloaded(n)
			m := metrics.Machine{Processors: 8192, Memory: 1 << 40}
			s, err := metrics.Summarize(jobs, m)
			require.NoError(b, err)
			require.Positive(b, s.Overtakes)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := metrics.Summarize(jobs, m); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}

func BenchmarkTimeline(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			jobs := overloaded(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := metrics.Timeline(jobs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
