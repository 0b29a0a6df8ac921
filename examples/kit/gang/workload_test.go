package gang_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/gang"
)

func TestLublinHasTheLoadAskedFor(t *testing.T) {
	for _, load := range []float64{.2, .95} {
		w, err := gang.Lublin(1000, 16, load, 3)
		require.NoError(t, err)
		run, width := 0., 0.
		for i, j := range w.Jobs {
			run += w.Runs[i].Seconds() / 1000
			width += float64(j.Nodes) / 1000
			require.True(t, i == 0 || j.Submit >= w.Jobs[i-1].Submit)
		}
		between := w.Jobs[999].Submit.Seconds() / 1000
		assert.InEpsilon(t, load, run*width/(between*16), 1e-6)
		assert.InDelta(t, load, w.Offered, load)
	}
	for _, load := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := gang.Lublin(1000, 16, load, 3)
		require.ErrorIs(t, err, gang.ErrConfig)
	}
	_, err := gang.Lublin(1, 16, .5, 3)
	require.ErrorIs(t, err, gang.ErrConfig)
	_, err = gang.Lublin(10, 0, .5, 3)
	require.ErrorIs(t, err, gang.ErrConfig)
}
