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
		assert.Equal(t, 1, together(half, [2]pairing.Predictor{
			&pairing.Cautious{Predictor: &pairing.Weighted{}}, &pairing.Cautious{Predictor: &pairing.Weighted{}},
		}))
	}
}

// §2.2: a new job is run alone once, so that it is measured truly.
func TestPaperNewJobsRunAlone(t *testing.T) {
	var fresh pairing.Weighted
	for _, other := range []float64{0, .1, .5, 1} {
		assert.Equal(t, []int{-1, -1}, match(t, &pairing.Matcher{}, []float64{fresh.Predict(), other}))
	}
}
