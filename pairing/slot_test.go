package pairing_test

import (
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
	new := append(gangs(30), pairing.Gang{Utilisation: 1, PEs: 1, Unmeasured: true})
	assert.Equal(t, 1., pairing.Slot(new))
}

func TestEvict(t *testing.T) {
	fresh := pairing.Gang{Utilisation: 1, PEs: 1, Unmeasured: true}
	narrow := gangs(5, 60, 62)
	narrow[0].PEs = 2
	wide := gangs(5, 60, 62)
	wide[0].PEs = 8
	for _, c := range []struct {
		name  string
		gangs []pairing.Gang
		want  int
	}{
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
	assert.Equal(t, 0, pairing.Evict(gangs(30, 30), 0), "a band of nothing holds nobody together")
	assert.Equal(t, -1, pairing.Evict(gangs(0, 99), 1))
}

func TestJoins(t *testing.T) {
	new := pairing.Gang{Utilisation: 1, Unmeasured: true}
	assert.True(t, pairing.Joins(gangs(30, 35), gangs(49)[0], pairing.Band))
	assert.False(t, pairing.Joins(gangs(30, 35), gangs(50)[0], pairing.Band))
	assert.True(t, pairing.Joins(gangs(30, 35), gangs(16)[0], pairing.Band))
	assert.False(t, pairing.Joins(gangs(30, 35), gangs(15)[0], pairing.Band))
	assert.True(t, pairing.Joins(nil, gangs(15)[0], pairing.Band))
	assert.True(t, pairing.Joins(gangs(30), new, pairing.Band))
	assert.True(t, pairing.Joins([]pairing.Gang{new}, gangs(15)[0], pairing.Band))
}

// Evicting ends, leaves a homogeneous slot, and would have ended later had nobody
// to leave. Whoever left does not join again.
func TestEvictionLeavesAHomogeneousSlot(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		var slot []pairing.Gang
		for range 1 + r.IntN(8) {
			slot = append(slot, pairing.Gang{Utilisation: float64(r.IntN(101)) / 100, PEs: 1 + r.IntN(16), Unmeasured: r.IntN(6) == 0})
		}
		for {
			i := pairing.Evict(slot, pairing.Band)
			low, high := 2., -1.
			for _, g := range slot {
				if !g.Unmeasured {
					low, high = min(low, g.Utilisation), max(high, g.Utilisation)
				}
			}
			require.Equal(t, high-low < pairing.Band-1e-9, i < 0, "%v", slot)
			if i < 0 {
				break
			}
			require.False(t, slot[i].Unmeasured)
			left := slot[i]
			slot = slices.Delete(slot, i, i+1)
			require.False(t, pairing.Joins(slot, left, pairing.Band))
		}
	}
}
