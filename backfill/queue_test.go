package backfill

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The index against a scan of all keys, while positions fill and empty. The
// greatest free amounts and needs are among the values, for an empty position
// must not look like a large job.
func FuzzIndexEqualsScan(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, uint8(seed%3), uint16(1+seed*3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, resources uint8, size uint16) {
		r := rand.New(rand.NewPCG(seed, 1))
		width, n := 2+int(resources%3), 1+int(size%500)
		var x index
		x.reset(width, n)
		keys := make([][]int64, n) // nil where empty
		amount := func() int64 {
			switch r.IntN(12) {
			case 0:
				return int64(Forever)
			case 1:
				return 0
			}
			return r.Int64N(40)
		}
		scan := func(from int, free, extra []int64, window int64) int {
			for i := from; i < n; i++ {
				if keys[i] == nil {
					continue
				}
				fits, narrow := true, len(extra) > 0
				for k := range free {
					fits = fits && keys[i][k] <= free[k]
					narrow = narrow && keys[i][k] <= extra[k]
				}
				if fits && (len(extra) == 0 || narrow || keys[i][width-1] <= window) {
					return i
				}
			}
			return -1
		}
		for range 200 {
			i := r.IntN(n)
			if keys[i] != nil && r.IntN(2) == 0 {
				keys[i] = nil
				x.clear(i)
			} else {
				keys[i] = nil
				for range width - 1 {
					keys[i] = append(keys[i], amount())
				}
				keys[i] = append(keys[i], min(1+amount()/2, empty-1))
				copy(x.leaf(i), keys[i])
				x.set(i)
			}
			free, extra := make([]int64, width-1), make([]int64, width-1)
			for k := range free {
				free[k], extra[k] = amount(), amount()
			}
			window, from := amount(), r.IntN(n+1)
			if r.IntN(3) == 0 {
				extra, window = nil, int64(Forever)
			}
			require.Equal(t, scan(from, free, extra, window), x.next(from, free, extra, window))
		}
		for i := range n {
			x.clear(i)
		}
		require.Equal(t, -1, x.next(0, make([]int64, width-1), nil, int64(Forever)))
		x.clear(x.size) // beyond the end: never entered
		require.Equal(t, -1, x.next(x.size, make([]int64, width-1), nil, int64(Forever)))
	})
}
