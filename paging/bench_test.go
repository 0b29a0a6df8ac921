package paging_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func BenchmarkTayZou(b *testing.B) {
	for _, demand := range []int64{900, 1500} {
		b.Run(fmt.Sprintf("demand=%d", demand), func(b *testing.B) {
			b.ReportAllocs()
			sum := 0.0
			for b.Loop() {
				sum += paging.TayZou(demand, 1000)
			}
			require.NotZero(b, sum)
		})
	}
}

// One change of the factor, and the new end of the job that ends next. With
// form=shared it costs the same for any number of running jobs; with
// form=rescale it grows with them.
func BenchmarkChange(b *testing.B) {
	factors := []float64{1, paging.TayZou(1200, 1000), paging.TayZou(1500, 1000)}
	for _, n := range []int{1, 10, 100, 1_000, 10_000, 100_000} {
		r := rand.New(rand.NewPCG(1, 2))
		run := make([]time.Duration, n)
		for i := range run {
			run[i] = time.Duration(1e17 + r.Int64N(1e17))
		}
		b.Run(fmt.Sprintf("form=shared/jobs=%d", n), func(b *testing.B) {
			var p paging.Progress
			next := forever
			for i := range run {
				next = min(next, p.Target(run[i]))
			}
			b.ReportAllocs()
			now, i, end := time.Duration(0), 0, time.Duration(0)
			for b.Loop() {
				now += 1000
				i = (i + 1) % len(factors)
				if p.SetFactor(now, factors[i]) != nil {
					b.Fatal(now)
				}
				end = p.When(next)
			}
			require.Greater(b, end, now, "the job must still run")
		})
		b.Run(fmt.Sprintf("form=rescale/jobs=%d", n), func(b *testing.B) {
			left := append([]time.Duration(nil), run...)
			b.ReportAllocs()
			i, end := 0, time.Duration(0)
			for b.Loop() {
				next := (i + 1) % len(factors)
				end = forever
				for j := range left {
					left[j], _ = paging.Rescale(left[j]-1000, factors[i], factors[next])
					end = min(end, left[j])
				}
				i = next
			}
			require.Positive(b, end, "the job must still run")
		})
	}
}
