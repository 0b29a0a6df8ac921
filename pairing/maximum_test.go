package pairing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

// Random graphs, sparse and dense, with odd cycles, against trying all.
func TestMaximumIsMaximum(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 1_000
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 8))
		n := r.IntN(11)
		density := r.Float64()
		near := make([][]bool, n)
		for a := range near {
			near[a] = make([]bool, n)
		}
		for a := range n {
			for b := a + 1; b < n; b++ {
				if r.Float64() < density {
					near[a][b], near[b][a] = true, true
				}
			}
		}
		asked := map[[2]int]int{}
		partners := pairing.Maximum(nil, n, func(a, b int) bool {
			require.Less(t, a, b)
			asked[[2]int{a, b}]++
			return near[a][b]
		})
		require.Len(t, asked, n*(n-1)/2)
		require.Equal(t, mostPairs(n, func(a, b int) bool { return near[a][b] }), mutual(partners), "seed %d", seed)
		for a, b := range partners {
			if b < 0 {
				for c := range n {
					require.False(t, near[a][c], "seed %d: %d is alone", seed, a)
				}
				continue
			}
			require.True(t, near[a][b])
		}
	}
}

// Where one number a slot decides, it finds as many pairs as the matcher.
func TestMaximumAgreesWithMatcher(t *testing.T) {
	for seed := range uint64(300) {
		u := draw(rand.New(rand.NewPCG(seed, 9)), int(seed%60))
		got := pairing.Maximum(nil, len(u), func(a, b int) bool { return fits(u[a], u[b]) })
		require.Equal(t, mutual(match(t, &pairing.Matcher{}, u)), mutual(got))
	}
}

func TestGroups(t *testing.T) {
	// Processor, disk: three gangs that keep both busy, and one for which no room is
	// left.
	demands := [][]float64{{.8, .1}, {.1, .8}, {.05, .05}, {.5, .5}}
	groups, err := pairing.Groups(nil, demands, 3, .01)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 0, 0, 1}, groups)
	groups, err = pairing.Groups([]int{9}, demands, 2, .01)
	require.NoError(t, err)
	assert.Equal(t, []int{9, 0, 0, 1, 1}, groups)
	groups, err = pairing.Groups(nil, [][]float64{{1}, {1}, {0}}, 3, .01)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 2}, groups, "a gang that leaves nothing has a group of its own")

	for _, c := range []struct {
		demands [][]float64
		size    int
		margin  float64
		want    error
	}{
		{demands, 0, .01, pairing.ErrConfig},
		{demands, 2, -1, pairing.ErrConfig},
		{demands, 2, math.NaN(), pairing.ErrConfig},
		{[][]float64{{.1}, {.1, .2}}, 2, 0, pairing.ErrConfig},
		{[][]float64{{.1}, {math.NaN()}}, 2, 0, pairing.ErrUtilisation},
		{[][]float64{{1.5}}, 2, 0, pairing.ErrUtilisation},
	} {
		got, err := pairing.Groups([]int{9}, c.demands, c.size, c.margin)
		require.ErrorIs(t, err, c.want)
		require.Equal(t, []int{9}, got)
	}
}

// Every group fits, and none could be joined by the first of a later one.
func TestGroupsFit(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 10))
		n, devices, size := r.IntN(30), 1+r.IntN(4), 1+r.IntN(5)
		demands := make([][]float64, n)
		for i := range demands {
			demands[i] = make([]float64, devices)
			for d := range demands[i] {
				demands[i][d] = .7 * r.Float64()
			}
		}
		groups, err := pairing.Groups(nil, demands, size, .01)
		require.NoError(t, err)
		used, members := map[[2]int]float64{}, map[int]int{}
		most := 0
		for i, g := range groups {
			members[g]++
			most = max(most, g+1)
			for d, u := range demands[i] {
				used[[2]int{g, d}] += u
			}
		}
		require.Len(t, members, most)
		for g, k := range members {
			require.LessOrEqual(t, k, size)
			for d := range devices {
				require.Less(t, used[[2]int{g, d}], .99+1e-6)
			}
		}
		// The fewest groups there can be, by the most wanted device and by size.
		fewest := (n + size - 1) / size
		for d := range devices {
			sum := 0.
			for i := range demands {
				sum += demands[i][d]
			}
			fewest = max(fewest, int(math.Ceil(sum)))
		}
		require.LessOrEqual(t, fewest, most)
	}
}
