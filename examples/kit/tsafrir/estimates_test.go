package tsafrir_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/lublin"
	"github.com/gangkit/gangkit/examples/kit/tsafrir"
)

// workload returns the run times of n jobs of the Lublin-Feitelson model.
func workload(t testing.TB, n int, limit time.Duration, r *rand.Rand) []time.Duration {
	t.Helper()
	m, err := lublin.New(lublin.Config{}, r)
	require.NoError(t, err)
	runs := make([]time.Duration, n)
	for i := range runs {
		runs[i] = min(m.Next().Run, limit)
	}
	return runs
}

// popularity returns the number of jobs of each estimate.
func popularity(estimates []time.Duration) map[time.Duration]int {
	jobs := map[time.Duration]int{}
	for _, e := range estimates {
		jobs[e]++
	}
	return jobs
}

func TestValues(t *testing.T) {
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 1, 4: 2, 20: 10, 110: 15, 200: 20, 600: 28, 1000: 35,
		5500: 63, 10_000: 90, 40_000: 215, 70_000: 340, 160_000: 453, 250_000: 565, 1_000_000: 1207} {
		assert.Equal(t, want, tsafrir.Values(n), "%d jobs", n)
	}
	for n := 2; n < 300_000; n++ {
		require.GreaterOrEqual(t, tsafrir.Values(n), tsafrir.Values(n-1))
		require.LessOrEqual(t, tsafrir.Values(n), n)
	}
}

// Steps 1 and 2: the number of values, and how many jobs the popular ones have.
func TestPopularity(t *testing.T) {
	head := []float64{.21733, .10313, .08710, .07369, .06245, .05305, .04517, .03858, .03305, .02843, .02456, .02131,
		.01860, .01633, .01442, .01283, .01149, .01038, .00944, .00866}
	for _, c := range []struct{ n, values int }{{1000, 35}, {10_000, 90}, {70_000, 340}} {
		for _, limit := range []time.Duration{18 * time.Hour, 36 * time.Hour} {
			t.Run(fmt.Sprintf("%d jobs up to %v", c.n, limit), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 1))
				estimates, err := tsafrir.Estimates(workload(t, c.n, limit, r), limit, r)
				require.NoError(t, err)
				jobs := popularity(estimates)
				assert.Len(t, jobs, c.values)
				assert.InDelta(t, .21733*float64(c.n), jobs[limit], 1.5, "the greatest estimate is the most popular")
				var sizes []int
				for _, n := range jobs {
					sizes = append(sizes, n)
				}
				slices.SortFunc(sizes, func(a, b int) int { return b - a })
				share := 0.
				for i, want := range head {
					share += float64(sizes[i]) / float64(c.n)
					if c.n > 1000 || i < 16 { // of 1000 jobs the first of the tail overtake the last of the head
						assert.InDelta(t, want*float64(c.n), sizes[i], 1.5, "rank %d", i+1)
					}
				}
				t.Logf("%d values, rank 1 %.3f %%, rank 2 %.3f %%, head %.2f %%", len(jobs),
					100*float64(sizes[0])/float64(c.n), 100*float64(sizes[1])/float64(c.n), 100*share)
				assert.InDelta(t, .89, share, .02)
			})
		}
	}
}

// Step 3: every time of the head below the greatest is as likely to be second.
func TestRanksAreRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	second := map[time.Duration]int{}
	const n = 5000
	runs := make([]time.Duration, 300)
	for range n {
		estimates, err := tsafrir.Estimates(runs, 36*time.Hour, r)
		require.NoError(t, err)
		best := time.Duration(0)
		jobs := popularity(estimates)
		delete(jobs, 36*time.Hour)
		for e, n := range jobs {
			if n > jobs[best] {
				best = e
			}
		}
		second[best]++
	}
	assert.Len(t, second, 19)
	for e, got := range second {
		assert.InDelta(t, n/19, got, 4*math.Sqrt(n/19), "%v", e)
	}
}

// The limits of real sites: the model does not fail on generated workloads.
func TestGeneratedWorkloadsSucceed(t *testing.T) {
	for _, limit := range []time.Duration{8 * time.Hour, 18 * time.Hour, 36 * time.Hour} {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			runs := workload(t, 5000, limit, r)
			before := slices.Clone(runs)
			estimates, err := tsafrir.Estimates(runs, limit, r)
			require.NoError(t, err)
			require.Equal(t, before, runs, "the argument is left alone")
			for i, e := range estimates {
				require.GreaterOrEqual(t, e, runs[i])
				require.LessOrEqual(t, e, limit)
			}
		}
	}
}

func TestFailureNamesTheJob(t *testing.T) {
	runs := make([]time.Duration, 100)
	for i := 70; i < 100; i++ {
		runs[i] = 36 * time.Hour
	}
	estimates, err := tsafrir.Estimates(runs, 36*time.Hour, rand.New(rand.NewPCG(1, 2)))
	require.ErrorIs(t, err, tsafrir.ErrShort)
	// 100 jobs have 14 values; rank 1 has 21.733 of the 82.57 % of those, or 26 jobs.
	assert.EqualError(t, err, "job 96 runs 36h0m0s, and all 26 estimates that long are taken: tsafrir: too few long estimates")
	assert.Nil(t, estimates)
}

func TestBadInput(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	_, err := tsafrir.Estimates(nil, 59*time.Minute, r)
	require.ErrorIs(t, err, tsafrir.ErrMax)
	assert.ErrorContains(t, err, "59m0s")
	_, err = tsafrir.Estimates([]time.Duration{0, time.Hour + 1}, time.Hour, r)
	require.ErrorIs(t, err, tsafrir.ErrRun)
	assert.ErrorContains(t, err, "job 1 runs 1h0m0.000000001s")
	_, err = tsafrir.Estimates([]time.Duration{-1}, time.Hour, r)
	require.ErrorIs(t, err, tsafrir.ErrRun)
	assert.ErrorContains(t, err, "job 0 runs -1ns")

	estimates, err := tsafrir.Estimates(nil, time.Hour, r)
	require.NoError(t, err)
	assert.Empty(t, estimates)
	estimates, err = tsafrir.Estimates([]time.Duration{5}, time.Hour, r)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{time.Hour}, estimates, "one job has the greatest estimate")
}

// The checksum holds on every platform. A change of it changes every set of
// estimates that was generated before, and belongs in the changelog.
func TestSameSeedSameEstimates(t *testing.T) {
	sum := func(seed uint64) uint64 {
		r := rand.New(rand.NewPCG(seed, 1))
		estimates, err := tsafrir.Estimates(workload(t, 10_000, 36*time.Hour, r), 36*time.Hour, r)
		require.NoError(t, err)
		h := fnv.New64a()
		for _, e := range estimates {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(e)))
		}
		return h.Sum64()
	}
	assert.Equal(t, sum(1), sum(1))
	assert.NotEqual(t, sum(1), sum(2))
	assert.Equal(t, uint64(0xa15bde6b8298c0c8), sum(1))
}

// Any limit and number of jobs gives estimates within their bounds or ErrShort.
func FuzzEstimates(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint16(seed*seed%4000), int64(time.Hour)+int64(seed)*int64(seed)*int64(97*time.Second)/3)
	}
	f.Add(uint64(1), uint16(500), int64(math.MaxInt64))
	f.Add(uint64(1), uint16(500), int64(time.Hour))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, limit int64) {
		r := rand.New(rand.NewPCG(seed, 1))
		runs := make([]time.Duration, n)
		for i := range runs {
			runs[i] = time.Duration(r.Int64N(max(limit, 1)) >> r.IntN(30))
		}
		estimates, err := tsafrir.Estimates(runs, time.Duration(limit), r)
		if limit < int64(time.Hour) {
			require.ErrorIs(t, err, tsafrir.ErrMax)
			return
		}
		if err != nil {
			require.ErrorIs(t, err, tsafrir.ErrShort)
			return
		}
		for i, e := range estimates {
			require.True(t, e >= runs[i] && e > 0 && int64(e) <= limit, "job %d runs %v, estimate %v", i, runs[i], e)
		}
		require.Len(t, popularity(estimates), tsafrir.Values(int(n)))
	})
}

func BenchmarkEstimates(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			runs := workload(b, n, 36*time.Hour, r)
			b.ReportAllocs()
			for b.Loop() {
				_, err := tsafrir.Estimates(runs, 36*time.Hour, r)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}
