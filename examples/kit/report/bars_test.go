package report_test

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

// reddish counts the pixels of the second series' colour.
func reddish(t *testing.T, stacked bool, values [][]float64) int {
	p, err := report.Bars("t", "y", []string{"a", "b"}, stacked, []string{"one", "two"}, values)
	require.NoError(t, err)
	var picture bytes.Buffer
	require.NoError(t, report.WritePNG(&picture, p))
	drawn, err := png.Decode(&picture)
	require.NoError(t, err)
	n := 0
	for x := range drawn.Bounds().Dx() {
		for y := range drawn.Bounds().Dy() {
			if r, g, b, _ := drawn.At(x, y).RGBA(); r>>8 == 0xd5 && g>>8 == 0x5e && b>>8 == 0 {
				n++
			}
		}
	}
	return n
}

func TestBarsAreAsLargeAsTheirValues(t *testing.T) {
	low := reddish(t, true, [][]float64{{3, 3}, {1, 1}})
	high := reddish(t, true, [][]float64{{2, 2}, {2, 2}})
	assert.InEpsilon(t, 2, float64(high)/float64(low), .1, "the axis is the same, and stacked bars do not hide each other")
	assert.InEpsilon(t, .5, float64(reddish(t, false, [][]float64{{4, 4}, {2, 2}}))/float64(high), .35, "side by side they are half as wide")
}

func TestBarsRefuseWhatCannotBeDrawn(t *testing.T) {
	for _, values := range [][][]float64{{{1, math.NaN()}}, {{1}}, {{1, 2, 3}}, {{math.Inf(1), 0}}, {{-1, 1}}} {
		_, err := report.Bars("t", "y", []string{"a", "b"}, true, []string{"one"}, values)
		assert.ErrorIs(t, err, report.ErrData)
	}
	_, err := report.Bars("t", "y", nil, false, nil, nil)
	assert.NoError(t, err)
}
