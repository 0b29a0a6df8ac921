package study

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/folding"
)

// Nobody is slower or faster than the baseline under the baseline, and the first of
// a burst has the machine for itself under PSA: jobs of a burst arrive one after the
// other, if at one instant.
func TestBaseline(t *testing.T) {
	s, err := New(Config{Seed: 1, Seeds: 20, Speedup: molding.Linear})
	require.NoError(t, err)
	fcfs := Point{Workload: burst(9), Policy: "fcfs", Efficiency: "free"}
	require.NoError(t, s.point(t.Context(), &fcfs))
	assert.Equal(t, [2]float64{1, 1}, fcfs.Slowdown)
	assert.Zero(t, fcfs.Spread)
	_, outcomes, err := s.Simulate(t.Context(), burst(9), 0, "psa", Efficiencies[1])
	require.NoError(t, err)
	assert.Equal(t, 64., outcomes[0].Processors)
	for _, o := range outcomes[1:] {
		assert.Equal(t, outcomes[0].End, o.Start)
		assert.Equal(t, 8., o.Processors)
	}
}

// The workloads of Table 4 demand what they should, at linear speed.
func TestWorkloadsDemandWhatTheyShould(t *testing.T) {
	s, err := New(Config{Seed: 1, Seeds: 1, Speedup: molding.Linear})
	require.NoError(t, err)
	for _, w := range Workloads {
		const seeds = 300
		var demand [2]float64
		for seed := range uint64(seeds) {
			for _, j := range s.Jobs(w.Name, seed) {
				require.Less(t, j.Submit, span)
				demand[j.Class] += j.Work.Seconds() / Processors / span.Seconds() / seeds
			}
		}
		assert.InEpsilon(t, w.Long, demand[folding.Long], .12, w.Name)
		assert.InEpsilon(t, w.Short, demand[folding.Short], .05, w.Name)
	}
}

func TestStudiesThatCannotBe(t *testing.T) {
	_, err := New(Config{Seeds: 0, Speedup: molding.Linear})
	assert.ErrorIs(t, err, ErrConfig)
	_, err = New(Config{Seeds: 1})
	assert.ErrorIs(t, err, ErrConfig)
}
