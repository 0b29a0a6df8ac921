package pairing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/pairing"
)

// Y. Wiseman, D. G. Feitelson, "Paired gang scheduling", IEEE TPDS 14(6), 2003.
// Sections, equations and figures are theirs.

// §4.1, Fig. 7, bottom: in which share of the quanta a slot is somebody's partner.
// Compute-bound jobs are in the lower slots. Best fit chooses one of the slots of
// I/O-bound jobs again and again, Fig. 4 chooses all alike.
func TestPaperFigure7SharesOfPartners(t *testing.T) {
	mixes := [][]float64{{.97, .96, .965, .955}, {.97, .96, .965, 0}, {.97, .96, 0, 0}, {.97, 0, 0, 0}, {0, 0, 0, 0}}
	for _, c := range []struct {
		rule   pairing.Rule
		chosen [][4]int // of four quanta
	}{
		{pairing.BestFit, [][4]int{{}, {1, 0, 0, 3}, {2, 0, 0, 2}, {3, 0, 0, 1}, {0, 0, 1, 3}}},
		{pairing.Fair, [][4]int{{}, {1, 0, 0, 3}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
	} {
		for mix, u := range mixes {
			var chosen [4]int
			for _, p := range match(t, &pairing.Matcher{Rule: c.rule}, u) {
				if p >= 0 {
					chosen[p]++
				}
			}
			assert.Equal(t, c.chosen[mix], chosen, "%v, %d I/O-bound jobs", c.rule, mix)
		}
	}
}

// §2.4: of two jobs of 80 and 81 % beside many of at most 5 %, best fit always
// chooses the one of 81 %. Fig. 4 gives both a distinct partner, and pairs the others
// with each other.
func TestPaperBestFitIsUnfair(t *testing.T) {
	u := []float64{.80, .05, .04, .03, .02, .81, .01, .05}
	assert.Equal(t, []int{7, 5, 5, 5, 5, 7, 5, 5}, match(t, &pairing.Matcher{Rule: pairing.BestFit}, u))
	assert.Equal(t, []int{4, 2, 1, 7, 0, 6, 5, 3}, match(t, &pairing.Matcher{}, u))
}

// §4.1: with one I/O-bound job among three others, that job is the partner in 75 %
// of the quanta. Fig. 4 as printed would leave one of the three alone.
func TestPaperFigure4AsPrintedMissesTheMiddle(t *testing.T) {
	u := []float64{.97, .96, .965, 0}
	for rule, want := range map[pairing.Rule]int{pairing.Fair: 3, pairing.Printed: 2} {
		n := 0
		for _, p := range match(t, &pairing.Matcher{Rule: rule}, u) {
			if p == 3 {
				n++
			}
		}
		assert.Equal(t, want, n, "%v", rule)
	}
}

// §2.2, §4.2.3: two gangs of 5 % that both turn to computing at the same time get
// half a processor each, or a little less as switching takes time. By eq. (1) alone
// they then stay together for ever; with the rule for sharp changes they are apart
// after one quantum. If they got exactly half, the margin would part them once all
// of the last four quanta say so.
func TestPaperSharpChangeSeparates(t *testing.T) {
	together := func(half float64, predictors [2]pairing.Predictor) (quanta int) {
		demand := .05
		var m pairing.Matcher
		for quantum := range 60 {
			if quantum == 20 {
				demand = 1
			}
			u := []float64{predictors[0].Predict(), predictors[1].Predict()}
			paired := match(t, &m, u)[0] == 1
			for _, p := range predictors {
				got := demand
				if paired {
					got = min(demand, half)
				}
				require.NoError(t, p.Observe(got))
			}
			if paired && quantum >= 20 {
				quanta++
			}
		}
		return quanta
	}
	assert.Equal(t, 40, together(.49, [2]pairing.Predictor{&pairing.Weighted{}, &pairing.Weighted{}}))
	assert.Equal(t, 4, together(.5, [2]pairing.Predictor{&pairing.Weighted{}, &pairing.Weighted{}}))
	for _, half := range []float64{.49, .5} {
		assert.Equal(t, 1, together(half, [2]pairing.Predictor{&pairing.Cautious{}, &pairing.Cautious{}}))
	}
}

// The same in rounds (§2.4), in which a mutual pair runs together twice. If what is
// measured in the second quantum is believed, the rule comes to nothing. It is not
// if the caller says that the processors were shared, or parts the pair.
func TestPaperSharpChangeWithinARound(t *testing.T) {
	together := func(part, tell bool) (quanta int) {
		var gangs [2]pairing.Cautious
		var m pairing.Matcher
		for round := range 50 {
			partners := match(t, &m, []float64{gangs[0].Predict(), gangs[1].Predict()})
			for slot, partner := range partners {
				paired := partner >= 0 && (!part || m.Fits(gangs[0].Predict(), gangs[1].Predict()))
				if !paired {
					used := .05
					if round >= 5 {
						used = 1
					}
					require.NoError(t, gangs[slot].Observe(used))
					continue
				}
				used := .05
				if round >= 5 {
					used = .49
					quanta++
				}
				for i := range gangs {
					observe := gangs[i].Observe
					if tell {
						observe = gangs[i].ObserveShared
					}
					require.NoError(t, observe(used))
				}
			}
		}
		return quanta
	}
	assert.Equal(t, 90, together(false, false), "for ever")
	assert.Equal(t, 2, together(false, true))
	assert.Equal(t, 1, together(true, false))
	assert.Equal(t, 1, together(true, true))
}

// §2.2: effective utilisations tell that both compute, but are also high for two
// jobs that want a little less than all together, as 50 and 48 % do.
func TestPaperEffectiveUtilisationMisleads(t *testing.T) {
	var m pairing.Matcher
	assert.False(t, m.Fits(pairing.Effective(.49, .49), pairing.Effective(.49, .49)))
	assert.True(t, m.Fits(.50, .48))
	assert.False(t, m.Fits(pairing.Effective(.50, .48), pairing.Effective(.48, .50)))
}

// §2.5, with M = 20 %: in a slot of 30, 35 and 49 % all may stay, and 50 % has to
// leave; max(x) + max(y) + m < 100 % then decides.
func TestPaperSlots(t *testing.T) {
	slot := gangs(30, 35, 49)
	assert.Equal(t, -1, pairing.Evict(slot, pairing.Band))
	assert.Equal(t, 2, pairing.Evict(gangs(30, 35, 50), pairing.Band))
	var m pairing.Matcher
	assert.True(t, m.Fits(pairing.Slot(slot), pairing.Slot(gangs(48, 40))))
	assert.False(t, m.Fits(pairing.Slot(slot), pairing.Slot(gangs(40, 50))))
	// §2.6: an alternate must match them, too.
	assert.True(t, pairing.JoinsAsAlternate(slot, gangs(31)[0], pairing.Band))
	assert.False(t, pairing.JoinsAsAlternate(slot, gangs(29)[0], pairing.Band))
}

// §5: "N + 1 gangs can be dispatched, where N is the number of I/O devices": one that
// computes, one at the disk, one that communicates.
func TestPaperGangsForEachDevice(t *testing.T) {
	var m pairing.Matcher
	groups, err := m.AppendGroups(nil, [][]float64{{.9, 0, .05}, {.9, 0, .05}, {.05, .9, 0}, {.05, .9, 0}, {0, .05, .9}, {0, .05, .9}}, 0)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 0, 1, 0, 1}, groups)
}

// §2.2: a new job is run alone once, so that it is measured truly.
func TestPaperNewJobsRunAlone(t *testing.T) {
	var fresh pairing.Weighted
	for _, other := range []float64{0, .1, .5, 1} {
		assert.Equal(t, []int{-1, -1}, match(t, &pairing.Matcher{}, []float64{fresh.Predict(), other}))
	}
}
