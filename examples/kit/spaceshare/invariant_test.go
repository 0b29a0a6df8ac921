package spaceshare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
)

// A machine that is led astray notices.
func TestBrokenInvariantsAreFound(t *testing.T) {
	jobs := []Job{
		{Run: 10, Estimate: 10, Processors: 1, Memory: 6},
		{Run: 10, Estimate: 10, Processors: 1, Memory: 6},
		{Run: 10, Estimate: 10, Processors: 1, Memory: 6},
	}
	fresh := func(c Config) *Machine {
		m, err := newMachine(jobs, c)
		require.NoError(t, err)
		m.now, m.arrived = 0, int32(len(jobs))
		return m
	}
	for name, lead := range map[string]func() error{
		"a job starts twice": func() error {
			m := fresh(Config{Processors: 3})
			require.NoError(t, m.begin(0))
			return m.begin(0)
		},
		"a job starts before its submission": func() error {
			m := fresh(Config{Processors: 3})
			m.now = -1
			return m.begin(0)
		},
		"FCFS overtakes": func() error {
			m := fresh(Config{Processors: 3, Depth: backfill.FCFS})
			require.NoError(t, m.begin(1))
			return m.begin(0)
		},
		"a promise is broken": func() error {
			m := fresh(Config{Processors: 3, Depth: backfill.EASY})
			m.promise[0], m.now = 4, 5
			return m.begin(0)
		},
		"memory is exceeded by a start": func() error {
			m := fresh(Config{Processors: 3, Memory: 10})
			require.NoError(t, m.begin(0))
			return m.begin(1)
		},
		"memory is exceeded at the end of an instant": func() error {
			m := fresh(Config{Processors: 3, Memory: 10, Order: des.SubmitFirst})
			require.NoError(t, m.begin(0))
			require.NoError(t, m.begin(1))
			return m.settle(0)
		},
		"processors are exceeded": func() error {
			m := fresh(Config{Processors: 2})
			for i := range jobs {
				require.NoError(t, m.begin(int32(i)))
			}
			return m.settle(0)
		},
		"a job that must be alone is not": func() error {
			m := fresh(Config{Processors: 3, Memory: 5, Order: des.SubmitFirst})
			require.NoError(t, m.begin(0))
			require.NoError(t, m.begin(1))
			return m.settle(0)
		},
		"a job ends too late": func() error {
			m := fresh(Config{Processors: 3})
			for i := range jobs {
				require.NoError(t, m.planner.Submit(int32(i), backfill.Job{Need: []int64{1}, Estimate: 10}))
			}
			require.NoError(t, m.start())
			return (*terminations)(m).Handle(11)
		},
	} {
		assert.ErrorIs(t, lead(), ErrInvariant, name)
	}
}
