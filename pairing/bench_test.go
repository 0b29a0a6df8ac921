package pairing_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

// Matching against sorting the same utilisations, and against Fig. 4 to the letter
// with its look-backs, both in the same run. Utilisations are uniform, so that half
// of the slots find a partner from the ends; with those of I/O-bound and
// compute-bound jobs nearly all look back.
func BenchmarkMatch(b *testing.B) {
	for _, jobs := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
		for _, kind := range []string{"", "/look-back"} {
			b.Run(fmt.Sprintf("jobs=%d%s", jobs, kind), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				u := make([]float64, jobs)
				for i := range u {
					if u[i] = r.Float64(); kind != "" {
						u[i] = .9 + .09*r.Float64()
						if r.IntN(10) == 0 {
							u[i] = .09 * r.Float64()
						}
					}
				}
				var m pairing.Matcher
				dst, err := m.AppendPartners(nil, u, nil)
				require.NoError(b, err)
				require.Positive(b, mutual(dst))
				b.ReportAllocs()
				for b.Loop() {
					dst, _ = m.AppendPartners(dst[:0], u, nil)
				}
				own := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(own/float64(jobs), "ns/job")

				type job struct {
					u    float64
					slot int
				}
				sorted := make([]job, jobs)
				b.ReportMetric(own/timeOf(func() {
					for i := range u {
						sorted[i] = job{u[i], i}
					}
					slices.SortFunc(sorted, func(a, b job) int { return cmp.Compare(a.u, b.u) })
				}), "x-sort")
				if jobs <= 100_000 && kind == "" || jobs <= 10_000 {
					b.ReportMetric(timeOf(func() { printed(u) })/own, "x-twin")
				}
			})
		}
	}
}

// timeOf returns how many nanoseconds f takes.
func timeOf(f func()) float64 {
	begin, n := time.Now(), 0
	for time.Since(begin) < 50*time.Millisecond {
		f()
		n++
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(n)
}

func BenchmarkMaximum(b *testing.B) {
	for _, slots := range []int{8, 64, 256} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			near := make([][]bool, slots)
			for i := range near {
				near[i] = make([]bool, slots)
				for j := range near[i] {
					near[i][j] = r.IntN(4) == 0
				}
			}
			for b.Loop() {
				pairing.Maximum(nil, slots, func(a, b int) bool { return near[a][b] })
			}
		})
	}
}
