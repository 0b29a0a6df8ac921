package metrics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/metrics"
)

// firstFit runs n random jobs on p processors, starting whatever fits in the
// order of submission, and nobody is stretched. Times are whole seconds.
func firstFit(r *rand.Rand, n, p int) []metrics.Job {
	jobs := make([]metrics.Job, n)
	at := time.Duration(0)
	for i := range jobs {
		at += time.Duration(r.IntN(8)) * second
		jobs[i] = metrics.Job{
			Submit: at, Run: time.Duration(r.IntN(30)) * second,
			Processors: 1 + r.IntN(p), Memory: int64(r.IntN(100)),
		}
	}
	started := make([]bool, n)
	for now, left := time.Duration(0), n; left > 0; now += second {
		free := p
		for i, j := range jobs {
			if started[i] && j.End > now {
				free -= j.Processors
			}
		}
		for i, j := range jobs {
			if !started[i] && j.Submit <= now && j.Processors <= free {
				jobs[i].Start, jobs[i].End = now, now+j.Run
				started[i] = true
				left--
				if j.Run > 0 {
					free -= j.Processors
				}
			}
		}
	}
	return jobs
}

// slow is Summarize's integrals and pairs, second by second and pair by pair.
func slow(jobs []metrics.Job, m metrics.Machine) (s metrics.Summary) {
	first, last := jobs[0].Submit, jobs[0].End
	for _, j := range jobs {
		first, last = min(first, j.Submit), max(last, j.End)
	}
	var used, loss, avoidable, demanded, nobody, memory float64
	for t := first; t < last; t += second {
		busy, held, queued, smallest, demand := 0, int64(0), 0, math.MaxInt, 0
		for _, j := range jobs {
			switch {
			case j.Submit <= t && t < j.Start:
				queued, demand, smallest = queued+1, demand+j.Processors, min(smallest, j.Processors)
			case j.Start <= t && t < j.End:
				busy, held = busy+j.Processors, held+j.Memory
			}
		}
		idle := max(0, m.Processors-busy)
		used += float64(busy)
		memory += float64(held)
		s.PeakMemory = max(s.PeakMemory, held)
		if held > m.Memory {
			s.MemoryOver += second
		}
		if queued == 0 {
			nobody += float64(idle)
			continue
		}
		loss += float64(idle)
		demanded += float64(min(idle, demand))
		if smallest <= idle {
			avoidable += float64(idle)
		}
	}
	all := float64(m.Processors) * (last - first).Seconds()
	s.Occupied, s.Loss, s.LossAvoidable, s.LossDemand, s.IdleNoDemand =
		used/all, loss/all, avoidable/all, demanded/all, nobody/all
	s.MemoryHeld = memory / float64(m.Memory) / (last - first).Seconds()
	for i, a := range jobs {
		overtaken := 0
		for k, b := range jobs {
			if (b.Submit > a.Submit || b.Submit == a.Submit && k > i) && b.Start < a.Start {
				s.Overtakes++
				s.OvertakesArea += b.Area()
				overtaken++
			}
		}
		s.MaxOvertaken = max(s.MaxOvertaken, overtaken)
	}
	return s
}

func system(s metrics.Summary) []float64 {
	return []float64{
		s.Occupied, s.Loss, s.LossAvoidable, s.LossDemand, s.IdleNoDemand, s.MemoryHeld,
		float64(s.PeakMemory), s.MemoryOver.Seconds(), float64(s.Overtakes), s.OvertakesArea, float64(s.MaxOvertaken),
	}
}

func all(s metrics.Summary) []float64 {
	x := append(system(s), s.Utilisation, s.OfferedLoad, s.Throughput, s.WeightedResponse, s.Makespan.Seconds(),
		float64(s.Jobs), float64(s.Undefined))
	for _, d := range []metrics.Distribution{s.Wait, s.Response, s.Slowdown, s.BoundedSlowdown} {
		x = append(x, float64(d.Count), d.Mean, d.Median, d.P95, d.P99, d.Max, d.SD, d.Jain)
	}
	return x
}

func FuzzSummarizeAgreesWithSecondBySecond(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(seed%30))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := metrics.Machine{Processors: 1 + r.IntN(8), Memory: 150}
		jobs := firstFit(r, 1+int(n%40), m.Processors)
		if seed%2 == 1 { // no policy at all: anything may overlap
			for i := range jobs {
				jobs[i].Start = jobs[i].Submit + time.Duration(r.IntN(20))*second
				jobs[i].End = jobs[i].Start + time.Duration(r.IntN(20))*second
			}
		}
		got, err := metrics.Summarize(jobs, m)
		require.NoError(t, err)
		if got.Makespan == 0 {
			return
		}
		require.InDeltaSlice(t, system(slow(jobs, m)), system(got), 1e-9)
		for _, x := range all(got) {
			require.False(t, math.IsNaN(x) || math.IsInf(x, 0))
		}
	})
}

func FuzzSummaryInvariants(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(seed%30))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := metrics.Machine{Processors: 1 + r.IntN(8), Memory: 150}
		jobs := firstFit(r, 1+int(n%40), m.Processors)
		before := slices.Clone(jobs)
		s, err := metrics.Summarize(jobs, m)
		require.NoError(t, err)
		require.Equal(t, before, jobs, "the argument is not written to")

		if s.Makespan > 0 {
			require.InDelta(t, 1, s.Utilisation+s.Loss+s.IdleNoDemand, 1e-12)
		}
		require.InDelta(t, s.Occupied, s.Utilisation, 1e-12, "nobody is stretched")
		require.Zero(t, s.LossAvoidable, "first fit leaves nothing that fits")
		require.LessOrEqual(t, s.LossDemand, s.Loss)

		shifted := slices.Clone(jobs)
		by := time.Duration(r.Int64N(2e18) - 1e18)
		for i := range shifted {
			shifted[i].Submit += by
			shifted[i].Start += by
			shifted[i].End += by
		}
		after, err := metrics.Summarize(shifted, m)
		require.NoError(t, err)
		require.Equal(t, s, after, "moved in time")

		// Ties of submission go by index, so make them distinct first.
		for i := range jobs {
			jobs[i].Submit -= time.Duration(len(jobs) - i)
		}
		s, err = metrics.Summarize(jobs, m)
		require.NoError(t, err)
		r.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
		after, err = metrics.Summarize(jobs, m)
		require.NoError(t, err)
		require.InDeltaSlice(t, all(s), all(after), 1e-6, "relabelled")
		require.Equal(t, s.Wait, after.Wait, "relabelled")
		require.Equal(t, s.Overtakes, after.Overtakes, "relabelled")
	})
}

func TestOvertakes(t *testing.T) {
	// d jumps over b and c; c ties with b in its start; a and b tie in submission.
	jobs := []metrics.Job{
		{Submit: 0, Start: 0, End: 9, Run: 9, Processors: 1},
		{Submit: 0, Start: 8, End: 9, Run: 1, Processors: 1},
		{Submit: 1, Start: 8, End: 9, Run: 1, Processors: 1},
		{Submit: 2, Start: 3, End: 9, Run: 6 * second, Processors: 2},
	}
	s, err := metrics.Summarize(jobs, metrics.Machine{Processors: 8})
	require.NoError(t, err)
	assert.EqualValues(t, 2, s.Overtakes)
	assert.InDelta(t, 24, s.OvertakesArea, 1e-12)
	assert.Equal(t, 1, s.MaxOvertaken)
}

func TestNoJobsGiveZeroes(t *testing.T) {
	m := metrics.Machine{Processors: 1}
	s, err := metrics.Summarize(nil, m)
	require.NoError(t, err)
	assert.Zero(t, s)
	saturation, err := metrics.CheckSaturation(nil, m)
	require.NoError(t, err)
	assert.Zero(t, saturation)
	samples, err := metrics.Timeline(nil)
	require.NoError(t, err)
	assert.Empty(t, samples)
	d, err := metrics.Describe(nil)
	require.NoError(t, err)
	assert.Zero(t, d)
}

func TestOneJobOfNoLength(t *testing.T) {
	s, err := metrics.Summarize([]metrics.Job{{Submit: 5, Start: 5, End: 5, Processors: 1}}, metrics.Machine{Processors: 1})
	require.NoError(t, err)
	assert.Equal(t, 1, s.Undefined)
	assert.Zero(t, s.Slowdown)
	assert.Equal(t, 1., s.BoundedSlowdown.Mean)
	for _, x := range all(s) {
		assert.False(t, math.IsNaN(x) || math.IsInf(x, 0))
	}
}

func TestHugeTimesAndMachines(t *testing.T) {
	year := 365 * 24 * time.Hour
	jobs := make([]metrics.Job, 1000)
	for i := range jobs {
		jobs[i] = metrics.Job{Submit: -100 * year, Start: -100 * year, End: 100 * year, Run: 200 * year, Processors: 1e6, Memory: 1 << 52}
	}
	s, err := metrics.Summarize(jobs, metrics.Machine{Processors: 1e9, Memory: 1000 << 52})
	require.NoError(t, err)
	assert.InDelta(t, 1, s.Utilisation, 1e-12)
	assert.InDelta(t, 1, s.MemoryHeld, 1e-12)
	assert.Zero(t, s.Loss)
	assert.Zero(t, s.MemoryOver, "exactly full is not over")
}

func TestBadJobsAreNamed(t *testing.T) {
	good := metrics.Job{Submit: 1, Start: 2, End: 3, Run: 1, Processors: 1}
	for name, c := range map[string]struct {
		bad  func(*metrics.Job)
		want string
	}{
		"end before start":        {func(j *metrics.Job) { j.End = 1 }, "job 1: end 1ns before start 2ns"},
		"start before submission": {func(j *metrics.Job) { j.Start = 0 }, "job 1: start 0s before submission 1ns"},
		"no processors":           {func(j *metrics.Job) { j.Processors = 0 }, "job 1: 0 processors"},
		"negative processors":     {func(j *metrics.Job) { j.Processors = -3 }, "job 1: -3 processors"},
		"negative memory":         {func(j *metrics.Job) { j.Memory = -7 }, "job 1: memory of -7 bytes"},
		"too long": {func(j *metrics.Job) {
			j.Submit, j.Start, j.End = math.MinInt64, 0, math.MaxInt64
		}, "job 1: submission"},
		"too wide": {func(j *metrics.Job) { j.Processors = math.MaxInt }, "job 1: 9223372036854775807 processors"},
		"too much": {func(j *metrics.Job) { j.Memory = math.MaxInt64 }, "job 1: memory of 9223372036854775807 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := []metrics.Job{good, good}
			jobs[0].Memory = 1
			c.bad(&jobs[1])
			m := metrics.Machine{Processors: 1}
			_, err := metrics.Summarize(jobs, m)
			require.ErrorIs(t, err, metrics.ErrJob)
			if math.MaxInt == math.MaxInt64 || name != "too wide" {
				assert.ErrorContains(t, err, c.want)
			}
			_, err = metrics.Timeline(jobs)
			require.ErrorIs(t, err, metrics.ErrJob)
			if name != "too much" && name != "too wide" { // it adds up neither
				_, err = metrics.CheckSaturation(jobs, m)
				require.ErrorIs(t, err, metrics.ErrJob)
			}
		})
	}
	for _, m := range []metrics.Machine{{}, {Processors: -1}, {Processors: 1, Memory: -1}} {
		_, err := metrics.Summarize([]metrics.Job{good}, m)
		require.ErrorIs(t, err, metrics.ErrMachine)
		_, err = metrics.CheckSaturation([]metrics.Job{good}, m)
		require.ErrorIs(t, err, metrics.ErrMachine)
	}
	assert.Panics(t, func() { good.BoundedSlowdown(0) })
}

func TestPercentilesAreNearestRank(t *testing.T) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(100 - i)
	}
	d, err := metrics.Describe(x)
	require.NoError(t, err)
	assert.Equal(t, []float64{50, 95, 99, 100, 50.5}, []float64{d.Median, d.P95, d.P99, d.Max, d.Mean})
	assert.Equal(t, 100., x[0], "the argument is not sorted")

	d, err = metrics.Describe([]float64{7})
	require.NoError(t, err)
	assert.Equal(t, metrics.Distribution{Count: 1, Mean: 7, Median: 7, P95: 7, P99: 7, Max: 7, Jain: 1}, d)

	d, err = metrics.Describe([]float64{0, 0, 0, 8})
	require.NoError(t, err)
	assert.InDelta(t, .25, d.Jain, 1e-12)
	assert.InDelta(t, 4, d.SD, 1e-12)

	// At every n, ⌈q·n⌉ in integers.
	for n := 1; n < 2000; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		d, err := metrics.Describe(x)
		require.NoError(t, err)
		require.Equal(t, [3]int{(n + 1) / 2, (95*n + 99) / 100, (99*n + 99) / 100},
			[3]int{int(d.Median), int(d.P95), int(d.P99)}, n)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := metrics.Describe([]float64{1, bad})
		require.ErrorIs(t, err, metrics.ErrSample)
	}
}

func TestTimelineStepsThroughTheFourJobs(t *testing.T) {
	samples, err := metrics.Timeline(fourJobs)
	require.NoError(t, err)
	assert.Equal(t, []metrics.Sample{
		{Time: 0, Running: 2, Processors: 3},
		{Time: 10 * second, Queued: 1, Running: 2, Processors: 3},
		{Time: 20 * second, Queued: 2, Running: 2, Processors: 3},
		{Time: 50 * second, Queued: 1, Running: 2, Processors: 4},
		{Time: 80 * second, Queued: 1, Running: 1, Processors: 2},
		{Time: 100 * second, Running: 1, Processors: 4},
		{Time: 105 * second},
	}, samples)
}

func TestBatchMeansUseStudentsT(t *testing.T) {
	for k, want := range map[int]float64{10: 2.262, 20: 2.093, 30: 2.045} {
		x := make([]float64, k)
		for i := range x {
			x[i] = float64(i % 2)
		}
		got, err := metrics.BatchMeans(x, k)
		require.NoError(t, err)
		sd := math.Sqrt(.25 * float64(k) / float64(k-1))
		assert.InDelta(t, want, got.HalfWidth/sd*math.Sqrt(float64(k)), 5e-4)
		assert.InDelta(t, .5, got.Mean, 1e-12)
		assert.InDelta(t, -float64(k-1)/float64(k), got.Lag1, 1e-12)
	}
	got, err := metrics.BatchMeans([]float64{3, 3, 3, 3, 3}, 2)
	require.NoError(t, err)
	assert.Equal(t, metrics.Interval{Mean: 3, Batches: 2}, got)
	for _, k := range []int{-1, 0, 1, 4} {
		_, err := metrics.BatchMeans([]float64{1, 2, 3}, k)
		require.ErrorIs(t, err, metrics.ErrSample)
	}
	_, err = metrics.BatchMeans([]float64{1, math.NaN()}, 2)
	require.ErrorIs(t, err, metrics.ErrSample)
}

// Of 400 samples with mean 0, about 380 must have it in their interval.
func TestBatchMeansCoverTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	covered := 0
	x := make([]float64, 500)
	for range 400 {
		for i := range x {
			x[i] = r.NormFloat64()
		}
		got, err := metrics.BatchMeans(x, 10)
		require.NoError(t, err)
		if math.Abs(got.Mean) <= got.HalfWidth {
			covered++
		}
	}
	assert.InDelta(t, 380, covered, 18)
}

func TestComparePairsJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	a := firstFit(r, 300, 8)
	b := slices.Clone(a)
	for i := range b {
		by := time.Duration(i%2) * second // half of the jobs, one second later
		b[i].Start += by
		b[i].End += by
	}
	wait := func(j metrics.Job) (float64, bool) { return j.Wait().Seconds(), true }
	d, err := metrics.Compare(a, b, wait, 10)
	require.NoError(t, err)
	assert.InDelta(t, -.5, d.Mean, 1e-9)
	assert.InDelta(t, 0, d.HalfWidth, 1e-9)
	alone, err := metrics.BatchMeans(metrics.Values(a, wait), 10)
	require.NoError(t, err)
	assert.Greater(t, alone.HalfWidth, 1., "unpaired, the difference would drown")

	_, err = metrics.Compare(a, b, metrics.Job.Slowdown, 10)
	require.NoError(t, err, "undefined slowdowns are left out")
	_, err = metrics.Compare(a, b[1:], wait, 10)
	require.ErrorIs(t, err, metrics.ErrSample)
	b[7].Processors++
	_, err = metrics.Compare(a, b, wait, 10)
	require.ErrorIs(t, err, metrics.ErrSample)
	assert.ErrorContains(t, err, "job 7")
}

func TestValuesAreInOrderOfSubmission(t *testing.T) {
	jobs := []metrics.Job{
		{Submit: 5, Start: 5, End: 9, Run: 2}, {Submit: 1, End: 1}, {Submit: 1, Start: 1, End: 2, Run: 1}, {Submit: 0, End: 3, Run: 1},
	}
	assert.Equal(t, []float64{3, 1, 2}, metrics.Values(jobs, metrics.Job.Slowdown))
}

// queue is one server in order of arrival, at the given load.
func queue(seed uint64, n int, load float64) []metrics.Job {
	r := rand.New(rand.NewPCG(seed, 5))
	jobs := make([]metrics.Job, n)
	var at, free time.Duration
	for i := range jobs {
		at += time.Duration(r.ExpFloat64() * float64(time.Minute))
		run := time.Duration(r.ExpFloat64() * load * float64(time.Minute))
		free = max(free, at) + run
		jobs[i] = metrics.Job{Submit: at, Start: free - run, End: free, Run: run, Processors: 1}
	}
	return jobs
}

func TestSaturation(t *testing.T) {
	m := metrics.Machine{Processors: 1}
	for seed := range uint64(50) {
		s, err := metrics.CheckSaturation(queue(seed, 5000, .7), m)
		require.NoError(t, err)
		assert.False(t, s.Saturated, "%d: %+v", seed, s)
		s, err = metrics.CheckSaturation(queue(seed, 5000, 1.3), m)
		require.NoError(t, err)
		assert.True(t, s.Saturated, "%d: %+v", seed, s)
		assert.Greater(t, s.Growth, s.Mean)
		assert.InDelta(t, 1, s.Utilisation, .02)
	}
	s, err := metrics.CheckSaturation([]metrics.Job{{End: second, Run: second, Processors: 1}}, m)
	require.NoError(t, err)
	assert.Equal(t, metrics.Saturation{Mean: 1}, s)
}
