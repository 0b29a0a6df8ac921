package pairing_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

func gangs(u ...float64) []pairing.Gang {
	list := make([]pairing.Gang, len(u))
	for i, x := range u {
		list[i] = pairing.Gang{Utilisation: x / 100, PEs: 4}
	}
	return list
}

func TestSlotIsAsBusyAsItsBusiest(t *testing.T) {
	assert.Equal(t, .49, pairing.Slot(gangs(30, 49, 35)))
	assert.Equal(t, 0., pairing.Slot(nil))
	assert.Equal(t, 1., pairing.Slot(append(gangs(30), pairing.Gang{Unmeasured: true})))
	for _, u := range []float64{math.NaN(), -.1, 1.1, math.Inf(-1)} {
		assert.Equal(t, 1., pairing.Slot([]pairing.Gang{{Utilisation: .3}, {Utilisation: u}}))
	}
}

func TestEvict(t *testing.T) {
	fresh := pairing.Gang{Utilisation: 1, PEs: 1, Unmeasured: true}
	narrow := gangs(5, 60, 62)
	narrow[0].PEs = 2
	wide := gangs(5, 60, 62)
	wide[0].PEs = 8
	moved := gangs(30, 35, 50, 60)
	moved[3].Moved = true
	movedLeast := gangs(5, 60, 62)
	movedLeast[0] = pairing.Gang{Utilisation: .05, PEs: 1, Moved: true}
	for _, c := range []struct {
		name  string
		gangs []pairing.Gang
		want  int
	}{
		{"one that moved is not sent on", moved, 2},
		{"others leave it", movedLeast, 2},
		{"nobody of those that moved", []pairing.Gang{{Utilisation: .1, Moved: true}, {Utilisation: .9, Moved: true}}, -1},
		{"no utilisation is no measurement", gangs(30, math.NaN(), -50, 1000, 45), -1},
		{"nobody of none", nil, -1},
		{"nobody of one", gangs(99), -1},
		{"49 within 20 of 30", gangs(30, 35, 49), -1},
		{"50 not within 20 of 30", gangs(30, 35, 50), 2},
		{"the busiest first", gangs(30, 31, 60, 55), 2},
		{"the first of equals", gangs(30, 31, 60, 60), 2},
		{"the least busy if it is alone and narrow", narrow, 0},
		{"not if it is as wide as those above", wide, 2},
		{"two low ones stay", gangs(5, 6, 60), 2},
		{"new gangs do not count", append(gangs(30, 35), fresh), -1},
		{"only new gangs", []pairing.Gang{fresh, fresh}, -1},
	} {
		assert.Equal(t, c.want, pairing.Evict(c.gangs, pairing.Band), c.name)
	}
	for _, band := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		assert.Equal(t, 1, pairing.Evict(gangs(30, 30), band), "a band of nothing holds nobody together")
		assert.Equal(t, -1, pairing.Evict(gangs(30), band), "a gang alone may stay")
		assert.False(t, pairing.Joins(gangs(30), gangs(30)[0], band))
		assert.True(t, pairing.Joins(nil, gangs(30)[0], band))
	}
	for _, band := range []float64{1, 5, math.Inf(1)} {
		assert.Equal(t, -1, pairing.Evict(gangs(0, 99), band))
		assert.Equal(t, 1, pairing.Evict(gangs(0, 100), band))
	}
}

func TestJoins(t *testing.T) {
	fresh := pairing.Gang{Unmeasured: true}
	for _, c := range []struct {
		name      string
		slot      []pairing.Gang
		gang      pairing.Gang
		home      bool
		alternate bool
	}{
		{"less than 20 above the least", gangs(30, 35), gangs(49)[0], true, true},
		{"20 above", gangs(30, 35), gangs(50)[0], false, false},
		{"less than 20 below the busiest", gangs(30, 35), gangs(16)[0], true, true},
		{"20 below", gangs(30, 35), gangs(15)[0], false, false},
		{"within a slot that is not homogeneous", gangs(10, 50), gangs(30)[0], false, false},
		{"an empty slot", nil, gangs(15)[0], true, true},
		{"beside a new gang", []pairing.Gang{fresh}, gangs(15)[0], true, true},
		{"a new gang", gangs(30), fresh, true, false},
		{"a new gang beside busy ones", gangs(81, 95), fresh, true, true},
		{"a new gang beside a less busy one", gangs(80, 95), fresh, true, false},
		{"a new gang beside new ones", []pairing.Gang{fresh, fresh}, fresh, true, true},
		{"what is no utilisation", gangs(30), gangs(math.NaN())[0], true, false},
	} {
		assert.Equal(t, c.home, pairing.Joins(c.slot, c.gang, pairing.Band), c.name)
		assert.Equal(t, c.alternate, pairing.JoinsAsAlternate(c.slot, c.gang, pairing.Band), c.name)
	}
}

func TestFirstSlot(t *testing.T) {
	slots := [][]pairing.Gang{gangs(10), gangs(50, 60), {}, gangs(55)}
	for _, c := range []struct {
		name string
		u    float64
		free []bool
		want int
	}{
		{"an empty slot takes anybody", 90, []bool{true, true, true, true}, 2},
		{"in the band", 65, []bool{true, true, true, true}, 1},
		{"if its PEs are free", 65, []bool{true, false, false, true}, 3},
		{"a new slot", 90, []bool{true, true, false, true}, 4},
	} {
		var asked []int
		got := pairing.FirstSlot(slots, gangs(c.u)[0], pairing.Band, func(slot int) bool {
			asked = append(asked, slot)
			return c.free[slot]
		})
		assert.Equal(t, c.want, got, c.name)
		assert.NotContains(t, asked, 0, c.name)
	}
	assert.Zero(t, pairing.FirstSlot(nil, pairing.Gang{}, pairing.Band, nil))
}

// Evicting ends, and leaves a slot in which all that may leave are homogeneous with
// the least busy gang. Who leaves is too busy, or else the least busy of all, and
// then nobody else has to. Whoever left does not join again, and the more the band
// the fewer leave.
func TestEvictionLeavesAHomogeneousSlot(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		var slot []pairing.Gang
		for range 1 + r.IntN(8) {
			slot = append(slot, pairing.Gang{
				Utilisation: float64(r.IntN(101)) / 100, PEs: 1 + r.IntN(16), Unmeasured: r.IntN(6) == 0, Moved: r.IntN(6) == 0,
			})
		}
		for {
			i := pairing.Evict(slot, pairing.Band)
			low, high, may, least := 200, -1, false, 0 // in points
			for k, g := range slot {
				if g.Unmeasured {
					continue
				}
				u := int(math.Round(100 * g.Utilisation))
				if u < low {
					low, least = u, k
				}
				high = max(high, u)
			}
			tooBusy := func(g pairing.Gang) bool {
				return !g.Unmeasured && !g.Moved && int(math.Round(100*g.Utilisation)) >= low+20
			}
			pes := 0
			for _, g := range slot {
				if tooBusy(g) {
					may = true
					pes += g.PEs
				}
			}
			require.Equal(t, may, i >= 0, "%v", slot)
			if i < 0 {
				break
			}
			require.False(t, slot[i].Unmeasured || slot[i].Moved)
			rest := slices.Delete(slices.Clone(slot), least, least+1)
			narrow := !slot[least].Moved && slot[least].PEs < pes && pairing.Evict(rest, pairing.Band) < 0
			require.Equal(t, narrow, i == least, "%v", slot)
			left := slot[i]
			slot = slices.Delete(slot, i, i+1)
			if !narrow {
				require.True(t, tooBusy(left))
				for _, g := range slot {
					require.False(t, tooBusy(g) && g.Utilisation > left.Utilisation)
				}
			}
			require.False(t, pairing.Joins(slot, left, pairing.Band))
			require.False(t, pairing.JoinsAsAlternate(slot, left, pairing.Band))
		}
	}
}

// Whatever is in a slot, evicting ends.
func FuzzEvictionEnds(f *testing.F) {
	for _, u := range []float64{0, .5, 1, -1, 2, math.NaN(), math.Inf(1)} {
		for _, band := range []float64{0, .2, -1, 2, math.NaN()} {
			f.Add(u, .3, .9, band, 4, uint8(0))
			f.Add(u, u, .1, band, math.MaxInt, uint8(1))
			f.Add(.1, u, .1, band, math.MinInt, uint8(6))
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c, band float64, pes int, bits uint8) {
		slot := []pairing.Gang{
			{Utilisation: a, PEs: pes, Moved: bits&1 > 0}, {Utilisation: b, PEs: pes, Unmeasured: bits&2 > 0},
			{Utilisation: c, PEs: 1, Moved: bits&4 > 0}, {Utilisation: a, PEs: pes}, {Utilisation: c, PEs: 2},
		}
		for range len(slot) {
			u := pairing.Slot(slot)
			require.True(t, u >= 0 && u <= 1)
			if i := pairing.Evict(slot, band); i >= 0 {
				slot = slices.Delete(slot, i, i+1)
			}
		}
		require.Equal(t, -1, pairing.Evict(slot, band))
		pairing.Joins(slot, slot[0], band)
		pairing.JoinsAsAlternate(slot, slot[0], band)
	})
}
