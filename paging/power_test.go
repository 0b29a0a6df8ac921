package paging

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPowerIsAccurate(t *testing.T) {
	check := func(v, y float64) { require.InEpsilon(t, math.Pow(v, y), power(v, y), 0x1p-45, "%v^%v", v, y) }
	r := rand.New(rand.NewPCG(21, 0))
	for range 20_000 {
		v := float64(r.Uint64()>>(11+r.IntN(53))+1) * 0x1p-53
		check(v, 4*r.Float64()-2)
		check(v, -1/(1+r.Float64()))
	}
	for _, v := range []float64{1, math.Nextafter(1, 0), math.Sqrt2 / 2, math.Nextafter(math.Sqrt2/2, 0), 0.5, 0.25, 0x1p-53} {
		for _, y := range []float64{-2, -1, -0.5, 0, 0.5, 1, 2} {
			check(v, y)
		}
	}
}

// The bits that every platform has to give.
func TestPowerIsTheSameEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 0))
	digest := uint64(0)
	for range 100_000 {
		v := float64(r.Uint64()>>11+1) * 0x1p-53
		digest = digest*0x9e3779b97f4a7c15 + math.Float64bits(power(v, 4*r.Float64()-2))
	}
	require.Equal(t, uint64(0x6ee92a0ba0568c6), digest)
}
