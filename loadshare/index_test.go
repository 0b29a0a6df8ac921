package loadshare_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/loadshare"
)

// draw makes a machine with few values of free memory, so that ties are common.
func draw(r *rand.Rand) loadshare.Machine {
	return loadshare.Machine{Jobs: r.IntN(5), MaxJobs: r.IntN(5), Memory: 100, Free: r.Int64N(4)}
}

// The index and a scan give the same answers, whatever is set, for 1 to 600
// machines: one, two and three levels and more.
func FuzzIndexAgainstScan(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint16(seed*seed/150))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		r := rand.New(rand.NewPCG(seed, 4))
		machines := make([]loadshare.Machine, n%2000)
		for k := range machines {
			machines[k] = draw(r)
		}
		x, err := loadshare.NewIndex(machines)
		require.NoError(t, err)
		for range 50 {
			except := r.IntN(len(machines)+2) - 1
			wantK, wantM, wantOK := loadshare.Candidate(machines, except)
			k, m, ok := x.Candidate(except)
			require.Equal(t, wantOK, ok)
			require.Equal(t, wantK, k, "without %d", except)
			require.Equal(t, wantM, m)
			if len(machines) > 0 {
				k := r.IntN(len(machines))
				if ok && r.IntN(2) == 0 {
					k = wantK // the best changes most often
				}
				machines[k] = draw(r)
				require.NoError(t, x.Set(k, machines[k]))
				require.Equal(t, machines[k], x.Machine(k))
			}
		}
	})
}

func TestCandidate(t *testing.T) {
	free := func(bytes ...int64) []loadshare.Machine {
		var list []loadshare.Machine
		for _, b := range bytes {
			list = append(list, loadshare.Machine{Memory: 1, Free: b})
		}
		return list
	}
	full := func(list []loadshare.Machine, k ...int) []loadshare.Machine {
		for _, i := range k {
			list[i].Jobs, list[i].MaxJobs = 2, 2
		}
		return list
	}
	for _, c := range []struct {
		name     string
		machines []loadshare.Machine
		except   int
		want     int
	}{
		{"no machine", nil, -1, -1},
		{"one", free(5), -1, 0},
		{"no other", free(5), 0, -1},
		{"the largest", free(1, 3, 2), -1, 1},
		{"the largest other", free(1, 3, 2), 1, 2},
		{"the first of equals", free(1, 3, 3), 0, 1},
		{"the first of equals, before and after it", free(3, 9, 3), 1, 0},
		{"nothing free anywhere", free(0, 0, 0), 0, 1},
		{"all memory there can be", free(0, math.MaxInt64, math.MaxInt64-1), 0, 1},
		{"as many jobs as allowed", full(free(1, 3, 2), 1), 0, 2},
		{"all have as many jobs as allowed", full(free(1, 3, 2), 0, 1, 2), -1, -1},
	} {
		k, m, ok := loadshare.Candidate(c.machines, c.except)
		x, err := loadshare.NewIndex(c.machines)
		require.NoError(t, err)
		k2, m2, ok2 := x.Candidate(c.except)
		assert.Equal(t, []any{k, m, ok}, []any{k2, m2, ok2}, c.name)
		assert.Equal(t, c.want >= 0, ok, c.name)
		if ok {
			assert.Equal(t, c.want, k, c.name)
		}
	}
	k, _, _ := loadshare.Candidate([]loadshare.Machine{{Free: -5}, {Free: -3}}, -1)
	assert.Zero(t, k, "negative amounts count as 0")
}

func TestIndexRefuses(t *testing.T) {
	good := loadshare.Machine{Jobs: 1, Memory: 1}
	for text, spoil := range map[string]func(*loadshare.Machine){
		"-1 jobs":           func(m *loadshare.Machine) { m.Jobs = -1 },
		"at most -2 jobs":   func(m *loadshare.Machine) { m.MaxJobs = -2 },
		"memory of 0 bytes": func(m *loadshare.Machine) { m.Memory = 0 },
		"demand of -3":      func(m *loadshare.Machine) { m.Demand = -3 },
		"free -4":           func(m *loadshare.Machine) { m.Free = -4 },
		"cache -5":          func(m *loadshare.Machine) { m.Cache = -5 },
		"threshold NaN":     func(m *loadshare.Machine) { m.Threshold = math.NaN() },
	} {
		bad := good
		spoil(&bad)
		_, err := loadshare.NewIndex([]loadshare.Machine{good, bad})
		require.ErrorIs(t, err, loadshare.ErrMachine)
		assert.ErrorContains(t, err, "machine 1: ")
		assert.ErrorContains(t, err, text)

		x, err := loadshare.NewIndex([]loadshare.Machine{good})
		require.NoError(t, err)
		require.ErrorIs(t, x.Set(0, bad), loadshare.ErrMachine)
		assert.Equal(t, good, x.Machine(0))
	}
	x, err := loadshare.NewIndex([]loadshare.Machine{good})
	require.NoError(t, err)
	assert.Panics(t, func() { _ = x.Set(1, good) })
	assert.Panics(t, func() { _ = x.Set(-1, good) })
	k, _, ok := x.Candidate(-1)
	assert.True(t, ok && k == 0)
}

func TestIndexKeepsItsMachines(t *testing.T) {
	machines := []loadshare.Machine{{Memory: 1, Free: 1}, {Memory: 1, Free: 2}}
	x, err := loadshare.NewIndex(machines)
	require.NoError(t, err)
	machines[0].Free = 3
	k, _, _ := x.Candidate(-1)
	assert.Equal(t, 1, k)
}

func TestIndexDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	machines := make([]loadshare.Machine, 5000)
	for k := range machines {
		machines[k] = draw(r)
	}
	x, err := loadshare.NewIndex(machines)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		_ = x.Set(r.IntN(5000), draw(r))
		x.Candidate(r.IntN(5000))
	}))
}
