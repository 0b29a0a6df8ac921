package paging_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func TestRescale(t *testing.T) {
	const forever time.Duration = math.MaxInt64
	for _, tt := range []struct {
		name      string
		remaining time.Duration
		old, new  float64
		want      time.Duration
	}{
		{"memory exceeded, Eq. (5)", 10 * time.Second, 1, 2, 20 * time.Second},
		{"memory relieved, Eq. (6)", 10 * time.Second, 2, 1, 5 * time.Second},
		{"from one factor to another", 10 * time.Second, 2, 3, 15 * time.Second},
		{"equal factors keep every nanosecond of 292 years", forever - 1, 1.7, 1.7, forever - 1},
		{"nothing left", 0, 1, 2, 0},
		{"less than nothing left", -5, 1, 2, -5},
		{"half a nanosecond is rounded up", 1, 2, 1, 1},
		{"a third is rounded down", 1, 3, 1, 0},
		{"does not fit a Duration", forever, 1, 2, forever},
		{"does not fit by far", time.Second, 1, math.MaxFloat64, forever},
		{"largest to largest", time.Second, math.MaxFloat64, math.MaxFloat64, time.Second},
		{"from the largest to none", forever, math.MaxFloat64, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := paging.Rescale(tt.remaining, tt.old, tt.new)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestRescaleRefusesBadFactors(t *testing.T) {
	for _, bad := range badFactors {
		_, err := paging.Rescale(time.Second, bad, 1)
		require.ErrorIs(t, err, paging.ErrFactor)
		_, err = paging.Rescale(time.Second, 1, bad)
		require.ErrorIs(t, err, paging.ErrFactor)
		_, err = paging.Rescale(0, bad, bad)
		require.ErrorIs(t, err, paging.ErrFactor)
	}
	_, err := paging.Rescale(time.Second, 1, 0.5)
	assert.EqualError(t, err, "rescale 1s from factor 1 to 0.5: paging: factor must be finite and at least 1")
}
