package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

// One pass over a queue of waiting jobs, half of them past their threshold.
func BenchmarkFits(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			pool := newPool(b, 128, 1<<30, 0.26)
			used := admission.Usage{Processors: 100, Memory: 1 << 30}
			needs := make([]admission.Usage, n)
			for i := range needs {
				needs[i] = admission.Usage{Processors: 1 + r.IntN(40), Memory: r.Int64N(1 << 29)}
			}
			admitted := 0
			b.ReportAllocs()
			for b.Loop() {
				admitted = 0
				for i, need := range needs {
					if pool.Fits(used, need, i%2 == 0).Admit {
						admitted++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
			require.Positive(b, admitted, "some relaxed job must fit")
			require.Less(b, admitted, n, "some job must wait")
		})
	}
}

func BenchmarkThreshold(b *testing.B) {
	for _, multiple := range []float64{0, 0.25, 25, 0.123456789} {
		b.Run(fmt.Sprintf("multiple=%v", multiple), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := admission.Threshold(time.Hour, time.Minute, multiple); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewPool(b *testing.B) {
	for _, excess := range []float64{0, 0.26} {
		b.Run(fmt.Sprintf("excess=%v", excess), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: excess}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
