package pairing_test

import (
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
	near := make([]uint, n) // of higher index, as bits
	for a := range n {
		for b := a + 1; b < n; b++ {
			if fits(a, b) {
				near[a] |= 1 << b
			}
		}
	}
	best := make([]int8, 1<<n)
	for set := uint(1); set < 1<<n; set++ {
		a := bits.TrailingZeros(set)
		rest := set &^ (1 << a)
		best[set] = best[rest]
		for others := rest & near[a]; others != 0; others &= others - 1 {
			best[set] = max(best[set], 1+best[rest&^(others&-others)])
		}
	}
	return int(best[1<<n-1])
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

// checkMatching checks that partners fit, that nobody is alone who fits with
// anybody, that a partner that is not mutual is half of a pair, and that there are as
// many pairs as there can be. It does without require, as it checks a million.
func checkMatching(t *testing.T, m *pairing.Matcher, u []float64) {
	partners := match(t, m, u)
	key := make([]float64, len(u))
	for i := range u {
		key[i] = math.RoundToEven(u[i] * 1e9)
	}
	fits := func(a, b int) bool { return key[a]+key[b]+1e7 < 1e9 }
	for a, b := range partners {
		switch {
		case b < 0:
			for c := range u {
				if c != a && fits(a, c) {
					t.Fatalf("%v: %d is alone and fits with %d", u, a, c)
				}
			}
		case a == b || !fits(a, b):
			t.Fatalf("%v: %d with %d", u, a, b)
		case partners[b] < 0 || partners[partners[b]] != b:
			t.Fatalf("%v: %d has %d, which has %d", u, a, b, partners[b])
		}
	}
	if len(u) <= 10 {
		if got, most := mutual(partners), mostPairs(len(u), fits); got != most {
			t.Fatalf("%v: %d pairs, %d can be", u, got, most)
		}
	}
}

// Pairs are disjoint, legal and as many as can be, and nobody is alone who fits
// with anybody.
func TestMatchingIsMaximal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	rounds := 1_000_000
	if testing.Short() {
		rounds = 20_000
	}
	var m pairing.Matcher
	for range rounds {
		checkMatching(t, &m, draw(r, r.IntN(11)))
	}
	for range 200 { // by radix
		checkMatching(t, &m, draw(r, 400+r.IntN(400)))
	}
}

// Every multiset of up to seven of these.
func TestMatchingIsMaximalExhaustively(t *testing.T) {
	values := percent(0, 10, 33, 49, 50, 60, 75, 89, 90, 98, 99, 100)
	most, n := 7, 0
	if testing.Short() {
		most = 5
	}
	var m pairing.Matcher
	var extend func(u []float64, from int)
	extend = func(u []float64, from int) {
		checkMatching(t, &m, u)
		n++
		if len(u) < most {
			for i := from; i < len(values); i++ {
				extend(append(u, values[i]), i)
			}
		}
	}
	extend(make([]float64, 0, most), 0)
	if most == 7 {
		require.Equal(t, 50_388, n)
	}
}

// Any bits are matched, or refused with an error that says which and why.
func FuzzMatcherTakesAnything(f *testing.F) {
	for _, u := range []float64{0, .3, 1, -0.1, 1.1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.Nextafter(1, 2)} {
		for _, margin := range []float64{0, -1, .3, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1)} {
			f.Add(u, .2, .7, margin, 0)
			f.Add(.7, u, .1, margin, 1)
			f.Add(.7, .1, u, margin, 2)
			f.Add(.7, .1, u, margin, 3)
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c, margin float64, rule int) {
		u, dst := []float64{a, b, c}, []int{5}
		valid := func(x float64) bool { return x >= 0 && x <= 1 }
		m := pairing.Matcher{Rule: pairing.Rule(rule), Margin: margin}
		got, err := m.AppendPartners(dst, u, nil)
		switch {
		case rule < 0 || rule > 2 || margin != margin || margin > 1:
			require.ErrorIs(t, err, pairing.ErrConfig)
			require.Equal(t, dst, got)
		case !valid(a) || !valid(b) || !valid(c):
			require.ErrorIs(t, err, pairing.ErrUtilisation)
			require.Equal(t, dst, got)
		default:
			require.NoError(t, err)
			require.Len(t, got, 4)
			for i, p := range got[1:] {
				require.True(t, p == -1 || p != i && m.Fits(u[i], u[p]))
			}
		}
	})
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

// resolved is Fig. 4 as the package comment has it: it looks for the ends of what is
// left, and all the way back, anew each time.
func resolved(u []float64) []int {
	partners := slices.Repeat([]int{-1}, len(u))
	key := func(i int) float64 { return math.RoundToEven(u[i] * 1e9) }
	less := func(i, j int) bool { return key(i) < key(j) || key(i) == key(j) && i < j }
	left, paired := map[int]bool{}, []int{} // the lower halves of pairs
	for i := range u {
		left[i] = true
	}
	for len(left) > 0 {
		s, g := -1, -1
		for i := range left {
			if s < 0 || less(i, s) {
				s = i
			}
			if g < 0 || less(g, i) {
				g = i
			}
		}
		delete(left, g)
		if s != g && fits(u[s], u[g]) {
			delete(left, s)
			partners[s], partners[g] = g, s
			paired = append(paired, s)
			continue
		}
		for _, b := range paired {
			if fits(u[b], u[g]) && (partners[g] < 0 || less(partners[g], b)) {
				partners[g] = b
			}
		}
	}
	// A slot that was left over while pairs were still to be made looks back at those
	// made by then only; those made later are busier, and do not fit with it.
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
		require.Equal(t, resolved(u), match(t, &pairing.Matcher{}, u), "%v", u)
		require.Equal(t, bestFit(u), match(t, &pairing.Matcher{Rule: pairing.BestFit}, u), "%v", u)
	}
}

func TestFunctionEqualsMatcher(t *testing.T) {
	u := draw(rand.New(rand.NewPCG(1, 11)), 700)
	odd := func(slot int) bool { return slot%7 == 0 }
	want, err := new(pairing.Matcher).AppendPartners([]int{3}, u, odd)
	require.NoError(t, err)
	got, err := pairing.AppendPartners([]int{3}, u, odd)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		name         string
		x, y, margin float64
		want         bool
	}{
		{"40 and 58", .40, .58, 0, true},
		{"40 and 59 are exactly full", .40, .59, 0, false},
		{"a billionth less", .40, .589999999, 0, true},
		{"what rounds to exactly full", .40, .5899999999, 0, false},
		{"nothing and 98", 0, .98, 0, true},
		{"nothing and 99", 0, .99, 0, false},
		{"without a margin", .4, .59, -1, true},
		{"without a margin, full", .4, .6, -1, false},
		{"no utilisation", math.NaN(), .1, 0, false},
		{"less than nothing", .1, -.5, 0, false},
		{"more than all", -1, 1.5, 0, false},
		{"no margin", .1, .1, math.NaN(), false},
		{"a margin of more than all", .1, .1, 1.5, false},
	} {
		m := pairing.Matcher{Margin: c.margin}
		assert.Equal(t, c.want, m.Fits(c.x, c.y), c.name)
		assert.Equal(t, c.want, m.Fits(c.y, c.x), c.name)
	}
}

// What must not change a matching, and what may change it in one direction only.
func TestMatchingOfChangedSlots(t *testing.T) {
	var m pairing.Matcher
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 12))
		u := draw(r, 1+r.IntN(60))
		was := match(t, &m, u)

		busy := append(slices.Clone(u), .99, 1) // nobody fits with these
		require.Equal(t, append(slices.Clone(was), -1, -1), match(t, &m, busy))

		alone := r.IntN(len(u)) // exclusive is as good as fully busy
		changed := slices.Clone(u)
		changed[alone] = 1
		exclusive, err := m.AppendPartners(nil, u, func(slot int) bool { return slot == alone })
		require.NoError(t, err)
		require.Equal(t, match(t, &m, changed), exclusive)
		pairs := mutual(was)
		require.LessOrEqual(t, mutual(exclusive), pairs)

		changed[alone] = u[alone] * r.Float64() // less busy
		n := mutual(match(t, &m, changed))
		require.True(t, n == pairs || n == pairs+1, "%d pairs, then %d", pairs, n)

		narrow := pairing.Matcher{Margin: .05}
		require.LessOrEqual(t, mutual(match(t, &narrow, u)), pairs)
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
