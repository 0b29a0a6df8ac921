package matrix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/matrix"
)

func TestPictureColumnsAreAligned(t *testing.T) {
	m := newMatrix(t, matrix.Config{PEs: 4})
	place(t, m, "größer", 2)
	place(t, m, "b", 1)
	require.Equal(t, "slot 0 | größer größer b      .", m.String())
	for i := range 10 {
		place(t, m, strings.Repeat("x", i+2), 4)
	}
	lines := strings.Split(m.String(), "\n")
	require.Len(t, lines, 11)
	require.Equal(t, "slot  0 | größer      größer      b           .", lines[0])
	require.Equal(t, "slot 10 | xxxxxxxxxxx xxxxxxxxxxx xxxxxxxxxxx xxxxxxxxxxx", lines[10])
}

func TestPictureOfWideMachine(t *testing.T) {
	m, err := matrix.New[int](matrix.Config{PEs: 64, Packing: matrix.FirstFit})
	require.NoError(t, err)
	_, _, err = m.Place(7, 63, nil)
	require.NoError(t, err)
	assert.Equal(t, "slot 0 |"+strings.Repeat(" 7", 63)+" .", m.String(), "64 PEs are drawn")

	m, err = matrix.New[int](matrix.Config{PEs: 65})
	require.NoError(t, err)
	for _, pes := range [][]int{{3, 4, 5, 9}, {0}, {64}} {
		ok, err := m.Put(pes[0], 0, pes)
		require.NoError(t, err)
		require.True(t, ok)
	}
	assert.Equal(t, "slot 0 | 0×1 .×2 3×3 .×3 3×1 .×54 64×1", m.String())
	require.NoError(t, m.Remove(64))
	assert.Equal(t, "slot 0 | 0×1 .×2 3×3 .×3 3×1 .×55", m.String())
	for i := range 5 {
		ok, err := m.Put(100+i, 0, []int{20 + 2*i})
		require.NoError(t, err)
		require.True(t, ok)
	}
	runs := "slot 0 | 0×1 .×2 3×3 .×3 3×1 .×10 100×1 .×1 101×1 .×1 102×1 .×1 103×1 .×1 104×1 .×36"
	assert.Equal(t, runs, m.String(), "16 runs are drawn")
	ok, err := m.Put(64, 0, []int{64})
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, strings.Replace(runs, "36", "35 …", 1), m.String())
}

func TestPictureOfReservedBlock(t *testing.T) {
	m, err := matrix.New[string](matrix.Config{PEs: 128, ReserveBlock: true})
	require.NoError(t, err)
	for _, id := range []string{"A", "B"} {
		_, ok, err := m.Place(id, 33, nil)
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.Equal(t, "slot 0 | A×33 .×31 B×33 .×31", m.String())
}

// A range may be left at any point.
func TestRangesEndEarly(t *testing.T) {
	m := drawn(`
		slot 0 | A A B A C`)
	for pe, id := range m.Row(0) {
		require.Zero(t, pe)
		require.Equal(t, "A", id)
		break
	}
	n := 0
	for range m.Row(0) {
		if n++; n == 3 {
			break
		}
	}
	for id := range m.Gangs(0) {
		require.Equal(t, "A", id)
		break
	}
	for pe := range m.PEs("A") {
		require.Zero(t, pe)
		break
	}
}
