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

// Matching against sorting the same utilisations, and against Fig. 4 to the letter,
// both in the same run. Its look-backs make that quadratic to the eye only: the first
// one looked at always fits.
func BenchmarkMatch(b *testing.B) {
	for _, jobs := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			u := make([]float64, jobs)
			for i := range u {
				u[i] = r.Float64()
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

			sorted := make([]float64, jobs)
			b.ReportMetric(own/timeOf(func() {
				copy(sorted, u)
				slices.SortFunc(sorted, cmp.Compare[float64])
			}), "x-sort")
			b.ReportMetric(timeOf(func() { printed(u) })/own, "x-twin")
		})
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

// A quantum of a gang: what it used, and what it will.
func BenchmarkCautious(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	measured := make([]float64, 1024)
	for i := range measured {
		measured[i] = .3 + .22*r.Float64()
	}
	var c pairing.Cautious
	b.ReportAllocs()
	sum, i := 0., 0
	for b.Loop() {
		if c.Observe(measured[i%1024]) != nil {
			b.Fatal(i)
		}
		sum += c.Predict()
		i++
	}
	require.Positive(b, sum)
}

// Any two slots fit with a probability of a quarter.
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
			var dst []int
			b.ReportAllocs()
			for b.Loop() {
				dst = pairing.Maximum(dst[:0], slots, func(a, b int) bool { return near[a][b] })
			}
			require.Positive(b, mutual(dst))
		})
	}
}

// The companions of each slot of a round.
func BenchmarkCompanions(b *testing.B) {
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("gangs=%d", n), func(b *testing.B) {
			slots, gangs, home := placed(rand.New(rand.NewPCG(1, 2)), n)
			others := make([][]pairing.Placed, len(slots))
			for s := range slots {
				for i, g := range gangs {
					if home[i] != s {
						others[s] = append(others[s], g)
					}
				}
			}
			var m pairing.Matcher
			var dst []int
			taken := 0
			b.ReportAllocs()
			for b.Loop() {
				for s := range slots {
					dst, _ = m.AppendCompanions(dst[:0], slots[s], others[s])
					taken += len(dst)
				}
			}
			require.Positive(b, taken)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(slots)), "ns/slot")
		})
	}
}

func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("gangs=%d", n), func(b *testing.B) {
			demands := demanding(rand.New(rand.NewPCG(1, 2)), n, 3)
			var m pairing.Matcher
			var dst []int
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = m.AppendGroups(dst[:0], demands, 0)
			}
			require.Less(b, slices.Max(dst), n-1)
		})
	}
}
