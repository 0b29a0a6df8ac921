package paging_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func newWalk(tb testing.TB, c paging.WalkConfig, seed uint64) *paging.Walk {
	w, err := paging.NewWalk(c, rand.New(rand.NewPCG(seed, 30)))
	require.NoError(tb, err)
	return w
}

func TestNewWalkRefusesBadInput(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, theta := range []float64{0, -1, math.Nextafter(1, 0), math.Nextafter(2, 3), math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := paging.NewWalk(paging.WalkConfig{Locality: theta, Range: 10}, random)
		require.ErrorIs(t, err, paging.ErrLocality)
	}
	for _, units := range []int{0, -1, math.MinInt} {
		_, err := paging.NewWalk(paging.WalkConfig{Locality: 1, Range: units}, random)
		require.ErrorIs(t, err, paging.ErrSize)
	}
	if math.MaxInt > math.MaxInt32 {
		_, err := paging.NewWalk(paging.WalkConfig{Locality: 1, Range: math.MaxInt}, random)
		require.ErrorIs(t, err, paging.ErrSize)
	}
	_, err := paging.NewWalk(paging.WalkConfig{Range: 10}, random)
	assert.EqualError(t, err, "walk of locality 0: paging: locality must be from 1 to 2")
	_, err = paging.NewWalk(paging.WalkConfig{Locality: 1}, random)
	assert.EqualError(t, err, "walk over 0 units: paging: size out of range")
	assert.Panics(t, func() { _, _ = paging.NewWalk(paging.WalkConfig{Locality: 1, Range: 10}, nil) })
}

// The first jump of a walk over so large a memory that its direction shows.
func firstJump(t *testing.T, c paging.WalkConfig, r *rand.Rand) int {
	c.Range = math.MaxInt32
	w, err := paging.NewWalk(c, r)
	require.NoError(t, err)
	unit := w.Next()
	if unit > c.Range/2 {
		unit -= c.Range // a jump of −3.2 is in unit −4
	}
	return unit
}

func TestJumpsFollowTheLaw(t *testing.T) {
	const jumps = 100_000
	for _, theta := range []float64{1, 1.25, 1.5, 1.75, 2} {
		r := rand.New(rand.NewPCG(1, 31))
		var below [3]int // jumps less than 2, 4 and 16
		up := 0
		for range jumps {
			unit := firstJump(t, paging.WalkConfig{Locality: theta}, r)
			for i, u := range []int{2, 4, 16} {
				if -u <= unit && unit < u {
					below[i]++
				}
			}
			if unit >= 0 {
				up++
			}
			require.False(t, -1 <= unit && unit < 1, "no jump is shorter than a unit")
		}
		for i, u := range []float64{2, 4, 16} {
			// Four standard deviations are below 0.0065.
			assert.InDelta(t, 1-math.Pow(u, -theta), float64(below[i])/jumps, 0.0065, "θ = %v, u = %v", theta, u)
		}
		assert.InDelta(t, 0.5, float64(up)/jumps, 0.0065, "θ = %v", theta)
	}
}

// Fig. 4 as printed: Pr[jump > u] = 1 − u^(1/θ), for u up to one unit.
func TestPrintedJumpsAreOneUnitAtMost(t *testing.T) {
	for _, theta := range []float64{1, 1.5, 2} {
		w := newWalk(t, paging.WalkConfig{Locality: theta, Range: 1000, Printed: true}, 1)
		unit := w.Next()
		for range 100_000 {
			next := w.Next()
			distance := (next - unit + 1000) % 1000
			require.Contains(t, []int{0, 1, 999}, distance)
			unit = next
		}
	}
}

// position is where the walk is, computed as the definition reads.
type position struct {
	config paging.WalkConfig
	random *rand.Rand
	at     float64
}

func (p *position) next() float64 {
	draw := p.random.Uint64()
	v := float64(draw>>11+1) / (1 << 53)
	jump := math.Pow(v, -1/p.config.Locality)
	if p.config.Printed {
		jump = math.Pow(v, p.config.Locality)
	}
	if draw%2 == 1 {
		jump = -jump
	}
	units := float64(p.config.Range)
	p.at += jump
	p.at -= units * math.Floor(p.at/units)
	return p.at
}

func FuzzWalk(f *testing.F) {
	r := rand.New(rand.NewPCG(32, 0))
	for seed := range uint64(500) {
		f.Add(seed, r.Float64(), r.Uint32()>>r.IntN(32), seed%4 == 0)
	}
	f.Add(uint64(1), 0.0, uint32(1), false)
	f.Add(uint64(1), 1.0, uint32(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, locality float64, units uint32, printed bool) {
		c := paging.WalkConfig{Locality: 1 + locality, Range: int(units>>1) + 1, Printed: printed}
		if !(locality >= 0 && locality <= 1) {
			t.Skip()
		}
		w, same := newWalk(t, c, seed), newWalk(t, c, seed)
		twin := position{config: c, random: rand.New(rand.NewPCG(seed, 30))}
		for range 200 {
			unit := w.Next()
			require.True(t, unit >= 0 && unit < c.Range, "%d of %d", unit, c.Range)
			require.Equal(t, unit, same.Next())
			// The twin's powers and remainders are rounded otherwise.
			want := twin.next()
			off := math.Remainder(want-(float64(unit)+0.5), float64(c.Range))
			require.InDelta(t, 0, off, 0.5+1e-3, "%d for %v", unit, want)
		}
	})
}

// The same source gives the same units on every platform, also where a jump
// exceeds the integers of some.
func TestWalkIsTheSameEverywhere(t *testing.T) {
	for _, tt := range []struct {
		config paging.WalkConfig
		digest uint64
	}{
		{paging.WalkConfig{Locality: 1, Range: 10240}, 0x3e3d69443840c6bd},
		{paging.WalkConfig{Locality: 1.3, Range: 10240}, 0xbd90bdd9759f08e2},
		{paging.WalkConfig{Locality: 2, Range: 10240}, 0xcbd89f302062b621},
		{paging.WalkConfig{Locality: 1, Range: math.MaxInt32}, 0xbd26265b132217a6},
		{paging.WalkConfig{Locality: 1.7, Range: 10240, Printed: true}, 0xa58b53b1063f7d69},
	} {
		w := newWalk(t, tt.config, 7)
		digest := uint64(0)
		for range 200_000 {
			digest = digest*0x9e3779b97f4a7c15 + uint64(w.Next())
		}
		assert.Equal(t, fmt.Sprintf("%#x", tt.digest), fmt.Sprintf("%#x", digest), "%+v", tt.config)
	}
}

// source gives one number for ever.
type source uint64

func (s source) Uint64() uint64 { return uint64(s) }

func TestWalkAtTheEndsOfItsRange(t *testing.T) {
	const up, down, shortest, longest = 0, 1, math.MaxUint64 - 1, 0
	for _, tt := range []struct {
		name   string
		config paging.WalkConfig
		draw   source
		want   []int
	}{
		{"the shortest jump up is one unit", paging.WalkConfig{Locality: 1.3, Range: 3}, shortest | up, []int{1, 2, 0, 1}},
		{"the shortest jump down", paging.WalkConfig{Locality: 1.3, Range: 3}, shortest | down, []int{2, 1, 0, 2}},
		{"the longest jump is 2^53", paging.WalkConfig{Locality: 1, Range: 1<<31 - 1}, longest | up, []int{1 << 22, 1 << 23}},
		{"down too", paging.WalkConfig{Locality: 1, Range: 1<<31 - 1}, longest | down, []int{1<<31 - 1 - 1<<22, 1<<31 - 1 - 1<<23}},
		{"a little below 0 is the end, which is 0", paging.WalkConfig{Locality: 2, Range: 3, Printed: true}, longest | down, []int{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := paging.NewWalk(tt.config, rand.New(tt.draw))
			require.NoError(t, err)
			for _, want := range tt.want {
				require.Equal(t, want, w.Next())
			}
		})
	}
}

func TestWalkOverOneUnitStays(t *testing.T) {
	w := newWalk(t, paging.WalkConfig{Locality: 1, Range: 1}, 1)
	for range 10_000 {
		require.Zero(t, w.Next())
	}
}

func TestWalkDoesNotAllocate(t *testing.T) {
	w := newWalk(t, paging.WalkConfig{Locality: 1, Range: 10240}, 1)
	require.Zero(t, testing.AllocsPerRun(1000, func() { w.Next() }))
}
