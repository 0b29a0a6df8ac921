package matrix

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where all PEs fit, the search for a controller goes straight down the tree: of
// each node on its way it leaves at most one, the other child, behind.
func TestSearchGoesStraightDown(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, err := New[int](Config{PEs: 5000 + r.IntN(5000), MaxSlots: 3 + r.IntN(10)})
		require.NoError(t, err)
		for id := range 2000 {
			_, ok, err := m.Place(id, 1+r.IntN(1<<r.IntN(13)), nil)
			require.NoError(t, err)
			require.LessOrEqual(t, len(m.cells.search), len(m.cells.tiers))
			if victim := r.IntN(id + 1); !ok || r.IntN(3) == 0 {
				_ = m.Remove(victim) // which may have found no place, or have left
			}
		}
	}
}
