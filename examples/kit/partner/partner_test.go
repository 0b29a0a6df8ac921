package partner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/examples/kit/partner"
	"github.com/gangkit/gangkit/matrix"
)

func slots(t *testing.T, gangs ...int) *matrix.Matrix[int] {
	m, err := matrix.New[int](matrix.Config{PEs: 4, KeepEmpty: true})
	require.NoError(t, err)
	for id, size := range gangs {
		_, ok, err := m.Place(id, size, nil)
		require.True(t, ok && err == nil)
	}
	return m
}

func used(share float64) gang.Usage { return gang.Usage{CPU: share, Work: time.Second} }

func TestGangsArePairedOnceTheyWereMeasuredAlone(t *testing.T) {
	m := slots(t, 4, 4)
	p := partner.New(partner.Paired, 2)
	assert.Equal(t, []int{-1, -1}, p.Match(m), "nothing is known of them")
	p.Observe(0, used(.3), false)
	p.Observe(1, used(.3), false)
	assert.Equal(t, []int{-1, -1}, p.Match(m), "what was measured beside others does not count")
	for range 5 {
		p.Observe(0, used(.3), true)
		p.Observe(1, used(.3), true)
	}
	assert.Equal(t, []int{1, 0}, p.Match(m))
	assert.Equal(t, 3, p.Rounds)
	assert.Equal(t, []int{1, 1}, p.Chosen)
	p.Observe(0, used(1), false)
	assert.Equal(t, []int{-1, -1}, p.Match(m), "it has changed sharply")

	assert.Nil(t, partner.New(partner.Strict, 2).Match(m))
}

func TestPerNodePairsSlotsWhoseBusiestWouldNotFit(t *testing.T) {
	// Slot 0 has a busy gang left and an idle one right, slot 1 the reverse.
	m := slots(t, 2, 2, 2, 2)
	for policy, want := range map[partner.Policy][]int{partner.Paired: {-1, -1}, partner.PerNode: {1, 0}} {
		p := partner.New(policy, 4)
		for range 5 {
			for job, share := range []float64{.9, .05, .05, .9} {
				p.Observe(job, used(share), true)
			}
		}
		assert.Equal(t, want, p.Match(m), policy)
	}
}

func TestBandMakesSlotsHomogeneous(t *testing.T) {
	m := slots(t, 2, 2, 2, 2)
	p := partner.New(partner.Band, 4)
	for range 5 {
		for job, share := range []float64{.9, .1, .1, .9} {
			p.Observe(job, used(share), true)
		}
	}
	p.Match(m)
	for s := range m.Slots() {
		gangs := slices.Sorted(m.Gangs(s))
		assert.False(t, slices.Contains(gangs, 0) && slices.Contains(gangs, 1), "slot %d: %v", s, gangs)
	}
}
