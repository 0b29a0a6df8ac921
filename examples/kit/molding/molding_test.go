package molding_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/molding"
	"github.com/gangkit/gangkit/folding"
)

const s = time.Second

// A. Downey (1997), values worked by hand from his formulas.
func TestSpeedups(t *testing.T) {
	for _, c := range []struct {
		a, sigma float64
		want     map[int]float64
	}{
		{16, 0, map[int]float64{1: 1, 2: 2, 8: 8, 16: 16, 32: 16}},
		{16, .5, map[int]float64{1: 1, 2: 1.969, 8: 7.211, 16: 12.962, 32: 16}},
		{16, 1, map[int]float64{2: 1.939, 8: 6.564, 16: 10.894, 32: 16}},
		{16, 2, map[int]float64{2: 1.920, 8: 6.194, 16: 9.846, 32: 13.964, 64: 16}},
		{64, 1, map[int]float64{8: 7.585, 64: 42.890, 128: 64}},
		{64, 2, map[int]float64{64: 38.642, 128: 55.103}},
	} {
		f, err := molding.Downey(c.a, c.sigma)
		require.NoError(t, err)
		for p, want := range c.want {
			assert.InDelta(t, want, f(p), .001, "A %v, σ %v, %d processors", c.a, c.sigma, p)
		}
		for p := range 300 {
			require.GreaterOrEqual(t, f(p+2), f(p+1)-1e-9)
		}
	}
	amdahl, err := molding.Amdahl(.05)
	require.NoError(t, err)
	assert.InDelta(t, 5.926, amdahl(8), .001)
	assert.InDelta(t, 15.422, amdahl(64), .001)
	assert.Equal(t, 7., molding.Linear(7))
	for _, x := range []float64{-1, 2, math.NaN()} {
		_, err := molding.Amdahl(x)
		assert.ErrorIs(t, err, molding.ErrSpeedup)
	}
	for _, x := range [][2]float64{{.5, 1}, {2, -1}, {math.NaN(), 1}, {2, math.Inf(1)}} {
		_, err := molding.Downey(x[0], x[1])
		assert.ErrorIs(t, err, molding.ErrSpeedup)
	}
}

func run(t *testing.T, jobs []molding.Job, policy string, sharing molding.Sharing) []molding.Outcome {
	t.Helper()
	p, err := folding.ParsePolicy(policy)
	require.NoError(t, err)
	outcomes, err := molding.Run(t.Context(), jobs, molding.Config{Processors: 64, Policy: p, Sharing: sharing})
	require.NoError(t, err)
	return outcomes
}

func long(submit, work time.Duration) molding.Job {
	return molding.Job{Submit: submit, Class: folding.Long, Work: work, Request: 64, Speedup: molding.Linear}
}

// A long job of 64 × 100 s; at 10 s a short one of 16 × 5 s folds it in two, and when
// that ends it unfolds.
func TestJobFoldsAndUnfolds(t *testing.T) {
	jobs := []molding.Job{long(0, 6400*s), {Submit: 10 * s, Work: 80 * s, Request: 16, Speedup: molding.Linear}}
	got := run(t, jobs, "fjt", molding.Free)
	assert.Equal(t, 15*s, got[1].End)
	// 10 s at 64, 5 s at 32, the rest at 64.
	assert.InDelta(t, 102500*time.Millisecond, got[0].End, 2)
	assert.Equal(t, []molding.Piece{{0, 10 * s, 64, 1}, {10 * s, 15 * s, 32, 2}, {15 * s, got[0].End, 64, 1}}, got[0].Pieces)
	assert.InDelta(t, (10*64+5*32+87.5*64)/102.5, got[0].Processors, 1e-6)
	// Sharing a processor costs a tenth: 5 s count 4.5.
	got = run(t, jobs, "fjt", molding.Sharing{Two: .9, Four: .8})
	assert.InDelta(t, 102750*time.Millisecond, got[0].End, 2)
}

// Whatever the policy, jobs do the work they have: time at each partition times its
// speed.
func TestWorkIsConserved(t *testing.T) {
	downey, err := molding.Downey(64, 1)
	require.NoError(t, err)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		var jobs []molding.Job
		var at time.Duration
		for range 40 {
			at += time.Duration(r.Int64N(int64(20 * s)))
			jobs = append(jobs, molding.Job{
				Submit: at, Class: folding.Class(r.IntN(2)), Work: 1 + time.Duration(r.Int64N(int64(2000*s))), Request: 1 + r.IntN(80), Speedup: downey,
			})
		}
		for _, name := range []string{"fjt", "fjt-eager", "folding", "psa", "asp60", "equipartition", "fcfs"} {
			sharing := molding.Sharing{Two: .8, Four: .5}
			for i, o := range run(t, jobs, name, sharing) {
				require.GreaterOrEqual(t, o.Start, jobs[i].Submit)
				work := 0.
				for k, p := range o.Pieces {
					require.True(t, k == 0 && p.From == o.Start || k > 0 && p.From == o.Pieces[k-1].To)
					share := map[int]float64{1: 1, 2: .8}[p.Folds]
					if p.Folds > 2 {
						share = .5
					}
					work += float64(p.To-p.From) * downey(p.Processors) * share
				}
				require.Equal(t, o.End, o.Pieces[len(o.Pieces)-1].To)
				require.InDelta(t, float64(jobs[i].Work), work, 200, "%s, seed %d, job %d", name, seed, i)
			}
		}
	}
}

func TestWhatCannotBeRun(t *testing.T) {
	p := &folding.FCFS{}
	good := molding.Config{Processors: 4, Policy: p, Sharing: molding.Free}
	for _, c := range []struct {
		jobs   []molding.Job
		config molding.Config
		want   error
	}{
		{nil, molding.Config{Policy: p, Sharing: molding.Free}, molding.ErrConfig},
		{nil, molding.Config{Processors: 4, Sharing: molding.Free}, molding.ErrConfig},
		{nil, molding.Config{Processors: 4, Policy: p}, molding.ErrConfig},
		{nil, molding.Config{Processors: 4, Policy: p, Sharing: molding.Sharing{Two: 1, Four: 2}}, molding.ErrConfig},
		{[]molding.Job{{}}, good, molding.ErrJob},
		{[]molding.Job{long(-1, s)}, good, molding.ErrJob},
		{[]molding.Job{long(s, s), long(0, s)}, good, molding.ErrJob},
		{[]molding.Job{long(0, 0)}, good, molding.ErrJob},
	} {
		_, err := molding.Run(t.Context(), c.jobs, c.config)
		require.ErrorIs(t, err, c.want)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := molding.Run(ctx, []molding.Job{long(0, s)}, good)
	require.ErrorIs(t, err, why)
}
