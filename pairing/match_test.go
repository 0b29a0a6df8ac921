package pairing_test

import (
	"flag"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

func match(tb testing.TB, m *pairing.Matcher, u []float64) []int {
	tb.Helper()
	partners, err := m.AppendPartners(nil, u, nil)
	require.NoError(tb, err)
	return partners
}

func percent(values ...float64) []float64 {
	for i := range values {
		values[i] /= 100
	}
	return values
}

func TestMatchesWorkedByHand(t *testing.T) {
	for _, c := range []struct {
		name          string
		u             []float64
		printed, fair []int
	}{
		{"nobody fits", percent(97, 98, 97, 98), []int{-1, -1, -1, -1}, []int{-1, -1, -1, -1}},
		{"one fits with all", percent(0, 95, 96, 97), []int{3, -1, 0, 0}, []int{3, 0, 0, 0}},
		{"two and two", percent(0, 1, 96, 97), []int{3, 2, 1, 0}, []int{3, 2, 1, 0}},
		{"all idle", percent(0, 0, 0, 0), []int{3, 2, 1, 0}, []int{3, 2, 1, 0}},
		{"odd and all fit", percent(45, 45, 45, 45, 45), []int{4, 3, -1, 1, 0}, []int{4, 3, 1, 1, 0}},
		{"many look back at one", percent(10, 15, 85, 86, 87, 88), []int{5, -1, 0, 0, 0, 0}, []int{5, 0, 0, 0, 0, 0}},
		{"a mixture", percent(5, 20, 50, 60, 78, 90, 95), []int{5, 4, -1, 1, 1, 0, -1}, []int{5, 4, 1, 1, 1, 0, -1}},
		{"an even mixture", percent(10, 30, 60, 65, 75, 85), []int{5, 3, -1, 1, 0, 0}, []int{5, 3, 1, 1, 0, 0}},
		{"the middle fits", percent(2, 3, 4, 80, 81), []int{4, 3, -1, 1, 0}, []int{4, 3, 1, 1, 0}},
		{"exactly full", percent(40, 59), []int{-1, -1}, []int{-1, -1}},
		{"a point less", percent(40, 58), []int{1, 0}, []int{1, 0}},
		{"98 beside none", percent(0, 98), []int{1, 0}, []int{1, 0}},
		{"98 beside one", percent(1, 98), []int{-1, -1}, []int{-1, -1}},
		{"99 beside none", percent(0, 99), []int{-1, -1}, []int{-1, -1}},
		{"two new ones", percent(0, 100, 100, 30), []int{3, -1, -1, 0}, []int{3, -1, -1, 0}},
		{"too busy", percent(60, 60), []int{-1, -1}, []int{-1, -1}},
		{"one slot", percent(30), []int{-1}, []int{-1}},
		{"no slot", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.fair, match(t, &pairing.Matcher{}, c.u))
			assert.Equal(t, c.printed, match(t, &pairing.Matcher{Rule: pairing.Printed}, c.u))
		})
	}
}

func TestExclusiveSlotsRunAlone(t *testing.T) {
	var m pairing.Matcher
	partners, err := m.AppendPartners([]int{7}, percent(10, 10, 10), func(slot int) bool { return slot == 1 })
	require.NoError(t, err)
	assert.Equal(t, []int{7, 2, -1, 0}, partners)
}

func TestMargin(t *testing.T) {
	for _, c := range []struct {
		margin float64
		fits   bool
	}{{0, false}, {-1, true}, {.005, true}, {.01, false}, {1, false}} {
		partners := match(t, &pairing.Matcher{Margin: c.margin}, percent(40, 59))
		assert.Equal(t, c.fits, partners[0] == 1, "margin %v", c.margin)
	}
}

func TestWhatCannotBeMatched(t *testing.T) {
	dst := []int{1, 2}
	for _, c := range []struct {
		m    pairing.Matcher
		u    []float64
		want error
		text string
	}{
		{u: []float64{.1, math.NaN()}, want: pairing.ErrUtilisation, text: "slot 1, NaN"},
		{u: []float64{-.1}, want: pairing.ErrUtilisation, text: "-0.1"},
		{u: []float64{1.1}, want: pairing.ErrUtilisation, text: "1.1"},
		{u: []float64{math.Inf(1)}, want: pairing.ErrUtilisation, text: "+Inf"},
		{m: pairing.Matcher{Margin: 1.5}, want: pairing.ErrConfig, text: "1.5"},
		{m: pairing.Matcher{Margin: math.NaN()}, want: pairing.ErrConfig, text: "NaN"},
		{m: pairing.Matcher{Rule: 9}, want: pairing.ErrConfig, text: "Rule(9)"},
		{m: pairing.Matcher{Rule: -1}, want: pairing.ErrConfig, text: "Rule(-1)"},
	} {
		got, err := c.m.AppendPartners(dst, c.u, nil)
		require.ErrorIs(t, err, c.want)
		assert.ErrorContains(t, err, c.text)
		assert.Equal(t, dst, got)
	}
}

func TestNamesOfRules(t *testing.T) {
	for _, r := range []pairing.Rule{pairing.Fair, pairing.BestFit, pairing.Printed} {
		parsed, err := pairing.ParseRule(r.String())
		require.NoError(t, err)
		assert.Equal(t, r, parsed)
	}
	_, err := pairing.ParseRule("worst")
	assert.ErrorIs(t, err, pairing.ErrConfig)
}

// fits is the test of the paper, in the units of the package.
func fits(a, b float64) bool {
	return math.RoundToEven(a*1e9)+math.RoundToEven(b*1e9)+1e7 < 1e9
}

// mostPairs finds the largest number of disjoint pairs by trying all.
func mostPairs(n int, fits func(a, b int) bool) int {
	best := make([]int, 1<<n)
	for set := 1; set < 1<<n; set++ {
		a := bits.TrailingZeros(uint(set))
		rest := set &^ (1 << a)
		best[set] = best[rest]
		for b := a + 1; b < n; b++ {
			if rest>>b&1 == 1 && fits(a, b) {
				best[set] = max(best[set], 1+best[rest&^(1<<b)])
			}
		}
	}
	return best[1<<n-1]
}

func mutual(partners []int) (pairs int) {
	for a, b := range partners {
		if b > a && partners[b] == a {
			pairs++
		}
	}
	return pairs
}

// draw draws utilisations of a few kinds, so that ties and full sums occur.
func draw(r *rand.Rand, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		switch r.IntN(3) {
		case 0:
			u[i] = r.Float64()
		case 1:
			u[i] = float64(r.IntN(101)) / 100
		default:
			u[i] = []float64{0, .1, .33, .49, .5, .6, .75, .89, .9, .98, .99, 1}[r.IntN(12)]
		}
	}
	return u
}

func checkMatching(t *testing.T, m *pairing.Matcher, u []float64) {
	partners := match(t, m, u)
	for a, b := range partners {
		if b < 0 {
			for c := range u {
				require.False(t, c != a && fits(u[a], u[c]), "%v: %d is alone and fits with %d", u, a, c)
			}
			continue
		}
		require.NotEqual(t, a, b)
		require.True(t, fits(u[a], u[b]), "%v: %d with %d", u, a, b)
		require.GreaterOrEqual(t, partners[b], 0)
		// A partner of others that is not mutual has a mutual partner.
		require.Equal(t, b, partners[partners[b]], "%v: %d has %d, which has %d", u, a, b, partners[b])
	}
	if len(u) <= 10 {
		require.Equal(t, mostPairs(len(u), func(a, b int) bool { return fits(u[a], u[b]) }), mutual(partners), "%v", u)
	}
}

var rounds = flag.Int("rounds", 100_000, "number of random inputs to match")

// Pairs are disjoint, legal and as many as can be, and nobody is alone who fits
// with anybody.
func TestMatchingIsMaximal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	if testing.Short() {
		*rounds = min(*rounds, 5_000)
	}
	var m pairing.Matcher
	for range *rounds {
		checkMatching(t, &m, draw(r, r.IntN(11)))
	}
	for range 200 { // by radix
		checkMatching(t, &m, draw(r, 400+r.IntN(400)))
	}
}

func FuzzMatchingIsMaximal(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed%11))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		checkMatching(t, &pairing.Matcher{}, draw(rand.New(rand.NewPCG(seed, 2)), int(n)))
	})
}

// The order of slots does not matter, as long as utilisations differ.
func TestOrderOfSlotsDoesNotMatter(t *testing.T) {
	for _, rule := range []pairing.Rule{pairing.Fair, pairing.BestFit, pairing.Printed} {
		m := pairing.Matcher{Rule: rule}
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 3))
			n := 1 + r.IntN(700)
			u := make([]float64, n)
			for i := range u {
				u[i] = float64(i) / float64(n)
			}
			was := match(t, &m, u)
			to := r.Perm(n)
			moved := make([]float64, n)
			for i := range u {
				moved[to[i]] = u[i]
			}
			is := match(t, &m, moved)
			for i, p := range was {
				if p >= 0 {
					p = to[p]
				}
				require.Equal(t, p, is[to[i]])
			}
		}
	}
}

// printed is Fig. 4 as it stands in the paper, with the one-sided reading of its
// "match" when a job looks back.
func printed(u []float64) []int {
	order := make([]int, len(u))
	partners := make([]int, len(u))
	for i := range u {
		order[i], partners[i] = i, -1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(math.RoundToEven(u[a]*1e9) - math.RoundToEven(u[b]*1e9))
	})
	ps, pe := 0, len(u)-1
	for ps < pe {
		for ps < pe && !fits(u[order[ps]], u[order[pe]]) {
			partners[order[pe]] = -1
			for back := ps - 1; back >= 0; back-- {
				if fits(u[order[back]], u[order[pe]]) {
					partners[order[pe]] = order[back]
					break
				}
			}
			pe--
		}
		if ps < pe {
			partners[order[ps]], partners[order[pe]] = order[pe], order[ps]
			ps++
		}
		pe--
	}
	return partners
}

// bestFit looks at everybody for everybody.
func bestFit(u []float64) []int {
	partners := make([]int, len(u))
	for a := range u {
		partners[a] = -1
		for b := range u {
			if a == b || !fits(u[a], u[b]) {
				continue
			}
			if p := partners[a]; p < 0 || math.RoundToEven(u[b]*1e9) >= math.RoundToEven(u[p]*1e9) {
				partners[a] = b
			}
		}
	}
	return partners
}

func TestFastEqualsObvious(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := r.IntN(40)
		if seed%50 == 0 {
			n = 500 + r.IntN(300)
		}
		u := draw(r, n)
		if n == 0 {
			continue
		}
		require.Equal(t, printed(u), match(t, &pairing.Matcher{Rule: pairing.Printed}, u), "%v", u)
		require.Equal(t, bestFit(u), match(t, &pairing.Matcher{Rule: pairing.BestFit}, u), "%v", u)
	}
}

func TestMatcherDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{100, 2000} {
		u := draw(r, n)
		for _, rule := range []pairing.Rule{pairing.Fair, pairing.BestFit, pairing.Printed} {
			m := pairing.Matcher{Rule: rule}
			dst, err := m.AppendPartners(nil, u, nil)
			require.NoError(t, err)
			require.Zero(t, testing.AllocsPerRun(100, func() { dst, _ = m.AppendPartners(dst[:0], u, nil) }))
		}
	}
}
