package pairing_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

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
		n, density := r.IntN(11), r.Float64()
		if seed%100 == 0 {
			n = 14
		}
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
		guests := make([]int, n)
		for a, b := range partners {
			if b >= 0 && partners[b] == a {
				guests[b]++
			}
		}
		for a, b := range partners {
			if b < 0 {
				for c := range n {
					require.False(t, near[a][c], "seed %d: %d is alone", seed, a)
				}
				continue
			}
			require.True(t, near[a][b])
			if partners[b] == a {
				continue
			}
			for c := range n {
				require.False(t, near[a][c] && (guests[c] < guests[b] || guests[c] == guests[b] && c < b), "seed %d: %d rather than %d", seed, c, b)
			}
			guests[b]++
		}
		require.Equal(t, firstPaired(n, func(a, b int) bool { return near[a][b] }), paired(partners), "seed %d", seed)
	}
}

// paired returns the slots in mutual pairs.
func paired(partners []int) (slots []int) {
	for a, b := range partners {
		if b >= 0 && partners[b] == a {
			slots = append(slots, a)
		}
	}
	return slots
}

// firstPaired returns the set of slots that can be paired with each other that has
// the first slots, by trying all: which sets can be, and then slot by slot.
func firstPaired(n int, fits func(a, b int) bool) (slots []int) {
	perfect := make([]bool, 1<<n)
	perfect[0] = true
	for set := 1; set < 1<<n; set++ {
		a := bits.TrailingZeros(uint(set))
		for b := a + 1; b < n && !perfect[set]; b++ {
			perfect[set] = set>>b&1 == 1 && fits(a, b) && perfect[set&^(1<<a|1<<b)]
		}
	}
	want := 0
	for a := range n {
		for set, ok := range perfect {
			if ok && set&want == want && set>>a&1 == 1 {
				want |= 1 << a
				slots = append(slots, a)
				break
			}
		}
	}
	return slots
}

// Where one number a slot decides, it finds as many pairs as the matcher.
func TestMaximumAgreesWithMatcher(t *testing.T) {
	for seed := range uint64(300) {
		u := draw(rand.New(rand.NewPCG(seed, 9)), int(seed%60))
		got := pairing.Maximum(nil, len(u), func(a, b int) bool { return fits(u[a], u[b]) })
		require.Equal(t, mutual(match(t, &pairing.Matcher{}, u)), mutual(got))
	}
}
