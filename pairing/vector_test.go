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

const idle = pairing.Idle

func TestFitsEach(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want bool
	}{
		{"the busiest are on different PEs", []float64{.9, .1}, []float64{.05, .8}, true},
		{"on the same", []float64{.9, .1}, []float64{.8, .05}, false},
		{"exactly full on one", []float64{.1, .40}, []float64{.1, .59}, false},
		{"nothing beside all", []float64{0, 0}, []float64{.1, 1}, false},
		{"nobody beside all", []float64{0, idle}, []float64{.1, 1}, true},
		{"nobody beside nobody", []float64{idle}, []float64{idle}, true},
		{"no PEs", nil, nil, true},
		{"no utilisation", []float64{math.NaN()}, []float64{idle}, false},
		{"another that is none", []float64{idle}, []float64{-.5}, false},
	} {
		var m pairing.Matcher
		assert.Equal(t, c.want, m.FitsEach(c.x, c.y), c.name)
		assert.Equal(t, c.want, m.FitsEach(c.y, c.x), c.name)
	}
	m := pairing.Matcher{Margin: math.NaN()}
	assert.False(t, m.FitsEach(nil, nil))
	assert.Panics(t, func() { m.FitsEach([]float64{0}, nil) })
}

// Of slots that are as busy on all PEs, FitsEach is Fits.
func TestFitsEachIsFitsWhereAllPEsAreAlike(t *testing.T) {
	var m pairing.Matcher
	r := rand.New(rand.NewPCG(1, 14))
	for range 2000 {
		u := draw(r, 2)
		require.Equal(t, m.Fits(u[0], u[1]), m.FitsEach(slices.Repeat(u[:1], 5), slices.Repeat(u[1:], 5)))
	}
}

func TestCompanions(t *testing.T) {
	slot := []float64{.9, .9, .3, idle, idle}
	gang := func(percent float64, pes ...int) pairing.Placed {
		return pairing.Placed{Utilisation: percent / 100, PEs: pes}
	}
	for _, c := range []struct {
		name  string
		gangs []pairing.Placed
		want  []int
	}{
		{"none", nil, nil},
		{"on all of its PEs", []pairing.Placed{gang(8, 0, 1), gang(8, 1, 2)}, []int{0}},
		{"not on some", []pairing.Placed{gang(60, 1, 2)}, nil},
		{"exactly full", []pairing.Placed{gang(69, 2), gang(68, 2)}, []int{1}},
		{"anybody on idle ones, a new gang too", []pairing.Placed{gang(100, 3, 4)}, []int{0}},
		{"not beside all", []pairing.Placed{gang(100, 3), gang(0, 3, 4)}, []int{0}},
		{"two on an idle one if they fit", []pairing.Placed{gang(40, 3), gang(59, 3), gang(58, 3), gang(1, 3)}, []int{0, 2}},
		{"never a third", []pairing.Placed{gang(1, 2), gang(1, 2)}, []int{0}},
		{"across idle and busy ones", []pairing.Placed{gang(50, 2, 3), gang(40, 3, 4)}, []int{0, 1}},
		{"nobody without PEs", []pairing.Placed{gang(10)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m pairing.Matcher
			got, err := m.AppendCompanions([]int{7}, slot, c.gangs)
			require.NoError(t, err)
			assert.Equal(t, append([]int{7}, c.want...), got)
		})
	}
	var m pairing.Matcher
	for _, c := range []struct {
		slot  []float64
		gangs []pairing.Placed
	}{
		{[]float64{.1, 1.1}, nil}, {[]float64{.1, -.1}, nil}, {[]float64{math.NaN()}, nil},
		{slot, []pairing.Placed{gang(5, 0), gang(101, 0)}}, {slot, []pairing.Placed{gang(5, 0), gang(-100, 0)}}, {slot, []pairing.Placed{gang(5, 0), gang(math.NaN(), 0)}},
	} {
		got, err := m.AppendCompanions([]int{7}, c.slot, c.gangs)
		require.ErrorIs(t, err, pairing.ErrUtilisation)
		assert.Equal(t, []int{7}, got)
	}
	m.Margin = 2
	_, err := m.AppendCompanions(nil, slot, nil)
	require.ErrorIs(t, err, pairing.ErrConfig)
	assert.Panics(t, func() { _, _ = new(pairing.Matcher).AppendCompanions(nil, slot, []pairing.Placed{gang(1, 5)}) })
}

// At most two processes a PE, and they fit; and whoever is left out, in order, fits
// nowhere on top of those that were taken before.
func TestCompanionsFitAndAreMaximal(t *testing.T) {
	var m pairing.Matcher
	var taken int
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 15))
		slot := draw(r, 1+r.IntN(16))
		on := make([][]float64, len(slot))
		for pe := range slot {
			if r.IntN(3) == 0 {
				slot[pe] = idle
			} else {
				on[pe] = append(on[pe], slot[pe])
			}
		}
		gangs := make([]pairing.Placed, r.IntN(20))
		for i := range gangs {
			gangs[i] = pairing.Placed{Utilisation: draw(r, 1)[0], PEs: r.Perm(len(slot))[:1+r.IntN(len(slot))]}
			if r.IntN(2) == 0 {
				gangs[i].PEs = gangs[i].PEs[:1]
			}
		}
		got, err := m.AppendCompanions(nil, slot, gangs)
		require.NoError(t, err)
		taken += len(got)
		for i, g := range gangs {
			can := !slices.ContainsFunc(g.PEs, func(pe int) bool {
				return len(on[pe]) == 2 || len(on[pe]) == 1 && !fits(on[pe][0], g.Utilisation)
			})
			require.Equal(t, can, slices.Contains(got, i), "seed %d, gang %d", seed, i)
			if can {
				for _, pe := range g.PEs {
					on[pe] = append(on[pe], g.Utilisation)
				}
			}
		}
	}
	require.Greater(t, taken, 1000)
}

// placed packs n gangs of mostly 1 to 4 processes on 16 PEs: a gang of up to 2^i takes
// the first PEs of an aligned block of 2^i that is free in the first slot that has one.
func placed(r *rand.Rand, n int) (slots [][]float64, gangs []pairing.Placed, home []int) {
	for len(gangs) < n {
		size := 1 << r.IntN(3)
		if r.IntN(8) == 0 {
			size = 1 + r.IntN(16)
		}
		block := 1 << bits.Len(uint(size-1))
		g := pairing.Placed{Utilisation: r.Float64()}
	search:
		for s := 0; ; s++ {
			if s == len(slots) {
				slots = append(slots, slices.Repeat([]float64{idle}, 16))
			}
			for at := 0; at < 16; at += block {
				if slices.Max(slots[s][at:at+block]) == idle {
					for pe := at; pe < at+size; pe++ {
						slots[s][pe] = g.Utilisation
						g.PEs = append(g.PEs, pe)
					}
					home = append(home, s)
					break search
				}
			}
		}
		gangs = append(gangs, g)
	}
	return slots, gangs, home
}

// The table of the package comment.
func TestProcessesRunningOnAPE(t *testing.T) {
	for _, n := range []int{8, 16, 32, 64} {
		var cells, strict, alternates, busiest, byPE, companions float64
		var m pairing.Matcher
		const rounds = 200
		for seed := range uint64(rounds) {
			slots, gangs, home := placed(rand.New(rand.NewPCG(seed, 16)), n)
			width, u := make([]float64, len(slots)), make([]float64, len(slots))
			for i, g := range gangs {
				width[home[i]] += float64(len(g.PEs))
				u[home[i]] = max(u[home[i]], g.Utilisation)
			}
			run := func(partners []int) (processes float64) {
				for s, p := range partners {
					processes += width[s]
					if p >= 0 {
						processes += width[p]
					}
				}
				return processes
			}
			beside := func(pair bool) (processes float64) {
				for s, slot := range slots {
					slot = slices.Clone(slot)
					var others []pairing.Placed // in turn, from the next slot on
					for d := 1; d < len(slots); d++ {
						for i, g := range gangs {
							if home[i] == (s+d)%len(slots) {
								if !pair {
									g.Utilisation = 1
								}
								others = append(others, g)
							}
						}
					}
					got, err := m.AppendCompanions(nil, slot, others)
					require.NoError(t, err)
					processes += width[s]
					for _, i := range got {
						processes += float64(len(others[i].PEs))
					}
				}
				return processes
			}
			cells += float64(16 * len(slots))
			strict += run(slices.Repeat([]int{-1}, len(slots)))
			alternates += beside(false)
			busiest += run(match(t, &m, u))
			byPE += run(pairing.Maximum(nil, len(slots), func(a, b int) bool { return m.FitsEach(slots[a], slots[b]) }))
			companions += beside(true)
		}
		t.Logf("%2d gangs, %4.1f slots: strict %.2f, alternates %.2f, by busiest %.2f, by PE %.2f, companions %.2f",
			n, cells/16/rounds, strict/cells, alternates/cells, busiest/cells, byPE/cells, companions/cells)
		assert.Less(t, strict, alternates)
		assert.Less(t, strict, busiest)
		assert.Less(t, busiest, byPE)
		assert.Less(t, 1.2*max(byPE, alternates), companions)
	}
}

func TestGroups(t *testing.T) {
	// Processor, disk: three gangs that keep both busy, and one for which no room is
	// left.
	demands := [][]float64{{.8, .1}, {.1, .8}, {.05, .05}, {.5, .5}}
	for _, c := range []struct {
		name    string
		demands [][]float64
		size    int
		want    []int
	}{
		{"three in one", demands, 3, []int{0, 0, 0, 1}},
		{"as many as devices", demands, 0, []int{0, 0, 1, 1}},
		{"alone", demands, 1, []int{0, 1, 3, 2}},
		{"too much for the margin", [][]float64{{1}, {1}, {0}}, 3, []int{0, 1, 2}},
		{"idle beside all", [][]float64{{1, idle}, {1, 0}, {idle, 1}}, 3, []int{0, 1, 0}},
		{"exactly full", [][]float64{{.4}, {.59}, {.58}}, 2, []int{1, 0, 1}},
		{"nobody", nil, 0, nil},
	} {
		var m pairing.Matcher
		got, err := m.AppendGroups([]int{9}, c.demands, c.size)
		require.NoError(t, err, c.name)
		assert.Equal(t, append([]int{9}, c.want...), got, c.name)
	}

	for _, c := range []struct {
		demands [][]float64
		size    int
		margin  float64
		want    error
	}{
		{demands, -1, 0, pairing.ErrConfig},
		{demands, 2, 1.1, pairing.ErrConfig},
		{demands, 2, math.NaN(), pairing.ErrConfig},
		{[][]float64{{}}, 2, 0, pairing.ErrConfig},
		{[][]float64{{.1}, {.1, .2}}, 2, 0, pairing.ErrConfig},
		{[][]float64{{.1}, {math.NaN()}}, 2, 0, pairing.ErrUtilisation},
		{[][]float64{{1.5}}, 2, 0, pairing.ErrUtilisation},
	} {
		m := pairing.Matcher{Margin: c.margin}
		got, err := m.AppendGroups([]int{9}, c.demands, c.size)
		require.ErrorIs(t, err, c.want)
		require.Equal(t, []int{9}, got)
	}
}

// demanding draws gangs that each use one device at a time, so that their demands
// add up to 1 at most.
func demanding(r *rand.Rand, n, devices int) [][]float64 {
	demands := make([][]float64, n)
	for i := range demands {
		demands[i] = make([]float64, devices)
		sum := r.Float64()
		for d := range demands[i] {
			demands[i][d] = r.ExpFloat64()
			sum += demands[i][d]
		}
		for d := range demands[i] {
			demands[i][d] /= sum
			if r.IntN(8) == 0 {
				demands[i][d] = idle
			}
		}
	}
	return demands
}

// together tells whether these gangs fit as a group.
func together(demands [][]float64, gangs []int) bool {
	for d := range demands[0] {
		users, sum := 0, 1e7
		for _, i := range gangs {
			if u := demands[i][d]; u != idle {
				users++
				sum += math.RoundToEven(u * 1e9)
			}
		}
		if users > 1 && sum >= 1e9 {
			return false
		}
	}
	return true
}

// fewestGroups tries all.
func fewestGroups(demands [][]float64, size int) int {
	n := len(demands)
	fits := make([]bool, 1<<n)
	for set := range fits {
		var gangs []int
		for i := range n {
			if set>>i&1 == 1 {
				gangs = append(gangs, i)
			}
		}
		fits[set] = len(gangs) <= size && together(demands, gangs)
	}
	fewest := make([]int, 1<<n)
	for set := 1; set < 1<<n; set++ {
		fewest[set] = n
		lowest := set & -set
		for group := set; group > 0; group = (group - 1) & set {
			if group&lowest != 0 && fits[group] {
				fewest[set] = min(fewest[set], 1+fewest[set&^group])
			}
		}
	}
	return fewest[1<<n-1]
}

// Every group fits, numbers have no gaps, and there are few more groups than the
// fewest: see AppendGroups for how many.
func TestGroupsFitAndAreFew(t *testing.T) {
	var m pairing.Matcher
	for devices := 2; devices <= 4; devices++ {
		made, fewest := 0, 0
		for seed := range uint64(200) {
			demands := demanding(rand.New(rand.NewPCG(seed, 17)), 9, devices)
			groups, err := m.AppendGroups(nil, demands, 0)
			require.NoError(t, err)
			n := slices.Max(groups) + 1
			for group := range n {
				var gangs []int
				for i, g := range groups {
					if g == group {
						gangs = append(gangs, i)
					}
				}
				require.NotEmpty(t, gangs)
				require.LessOrEqual(t, len(gangs), devices)
				require.True(t, together(demands, gangs) || len(gangs) == 1, "%v", demands)
			}
			least := fewestGroups(demands, devices)
			require.GreaterOrEqual(t, n, least)
			made, fewest = made+n, fewest+least
		}
		more := 100 * float64(made-fewest) / float64(fewest)
		t.Logf("%d devices: %.1f %% more groups than the fewest", devices, more)
		assert.Less(t, more, 7.)
	}
}

// Groups of two are pairs, none of which Maximum would miss.
func TestGroupsOfTwoAgainstMaximum(t *testing.T) {
	var m pairing.Matcher
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 18))
		demands := demanding(r, 1+r.IntN(30), 1+r.IntN(4))
		groups, err := m.AppendGroups(nil, demands, 2)
		require.NoError(t, err)
		pairs := mutual(pairing.Maximum(nil, len(demands), func(a, b int) bool { return m.FitsEach(demands[a], demands[b]) }))
		made := len(demands) - (slices.Max(groups) + 1)
		require.LessOrEqual(t, made, pairs)
		require.GreaterOrEqual(t, 2*made, pairs, "a maximal set of pairs has half of the most at least")
	}
}

func TestVectorsDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 19))
	slots, gangs, home := placed(r, 60)
	for i := range gangs {
		if home[i] == 0 {
			gangs[i].PEs = nil
		}
	}
	demands := demanding(r, 50, 3)
	var m pairing.Matcher
	var dst []int
	require.Zero(t, testing.AllocsPerRun(100, func() {
		dst, _ = m.AppendCompanions(dst[:0], slots[0], gangs)
		dst, _ = m.AppendGroups(dst[:0], demands, 0)
		_ = m.FitsEach(slots[0], slots[1])
	}))
}

// Anything is answered, or refused with an error.
func FuzzVectorsTakeAnything(f *testing.F) {
	for _, u := range []float64{0, .3, 1, -1, -.5, 1.1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, v := range []float64{0, .3, 1, -1, -.5, math.NaN()} {
			f.Add(u, v, .4, 0., 0)
			f.Add(.4, u, v, -1., 3)
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c, margin float64, size int) {
		m := pairing.Matcher{Margin: margin}
		m.FitsEach([]float64{a, b}, []float64{b, c})
		got, err := m.AppendCompanions(nil, []float64{a, b}, []pairing.Placed{{b, []int{0}}, {c, []int{0, 1}}, {.2, []int{1}}})
		require.True(t, err == nil || len(got) == 0)
		got, err = m.AppendGroups(nil, [][]float64{{a, b}, {b, c}, {c, a}, {.3, .3}}, size)
		if err != nil {
			require.Empty(t, got)
			return
		}
		require.Len(t, got, 4)
		require.GreaterOrEqual(t, slices.Min(got), 0)
	})
}
