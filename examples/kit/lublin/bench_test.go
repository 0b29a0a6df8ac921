package lublin_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

func BenchmarkNext(b *testing.B) {
	for _, typed := range []bool{false, true} {
		for _, n := range []int{128, 1 << 20} {
			b.Run(fmt.Sprintf("typed=%v/processors=%d", typed, n), func(b *testing.B) {
				m, err := lublin.New(lublin.Config{Processors: n, Typed: typed}, rand.New(rand.NewPCG(1, 2)))
				require.NoError(b, err)
				b.ReportAllocs()
				for b.Loop() {
					m.Next()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/job")
			})
		}
	}
}
