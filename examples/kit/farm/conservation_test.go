package farm_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/farm"
	"github.com/gangkit/gangkit/loadshare"
)

func is(err, target error) bool { return errors.Is(err, target) }

// scenario makes a farm and jobs for it: short of memory, with failures, and of all
// policies.
func scenario(seed uint64) ([]farm.Job, farm.Config) {
	r := rand.New(rand.NewPCG(seed, 1))
	selectors := []loadshare.Selector{nil, loadshare.MostFaults, loadshare.LargestWorkingSet, loadshare.MostIO, loadshare.Oldest, loadshare.Youngest, loadshare.HighestWeight, loadshare.LowestWeight}
	network := loadshare.Network{Latency: time.Duration(1 + r.IntN(500)*int(ms)), BitsPerSecond: 1 + r.Int64N(1000)}
	rules := loadshare.Config{
		Select: selectors[r.IntN(len(selectors))], Grace: time.Duration(r.IntN(2)) * s,
		Internal: float64(r.IntN(3)) / 20, Fit: r.IntN(2) == 0, InLoop: r.IntN(3) == 0,
	}
	if r.IntN(3) == 0 {
		rules.Cost = network.Migration
	}
	p, err := loadshare.NewPolicy(rules)
	if err != nil {
		panic(err)
	}
	c := farm.Config{
		Machines: 1 + r.IntN(7), Memory: 100, Swap: r.Int64N(120),
		Slice: 10 * ms, Switch: time.Duration(r.IntN(2)) * ms, IOTime: time.Duration(r.IntN(20)) * ms, FaultTime: time.Duration(r.IntN(20)) * ms,
		Rate:  func(q, io float64) float64 { return math.Sqrt(max(0, q))*90 + io/1e4 },
		Stall: r.IntN(4) == 0, Sharing: farm.Sharing(min(2, r.IntN(6))), Policy: p,
		Threshold: float64(r.IntN(7)-3) / 20, MaxJobs: max(0, r.IntN(9)-4), Network: network, Bus: r.IntN(2) == 0,
		Period: time.Duration(100+r.IntN(3000)) * ms, Horizon: 3000 * s,
	}
	for at := time.Duration(0); r.IntN(8) != 0; {
		at += time.Duration(r.Int64N(int64(100 * s)))
		x := farm.Failure{Machine: r.IntN(c.Machines), At: at, Duration: time.Duration(1 + r.Int64N(int64(50*s)))}
		c.Failures = append(c.Failures, x)
		at += x.Duration + 1
	}
	jobs := make([]farm.Job, 1+r.IntN(60))
	at := time.Duration(0)
	for i := range jobs {
		if r.IntN(3) > 0 {
			at += time.Duration(r.Int64N(int64(20 * s)))
		}
		jobs[i] = farm.Job{Submit: at, Home: r.IntN(c.Machines)}
		for range 1 + r.IntN(5) {
			jobs[i].Phases = append(jobs[i].Phases, farm.Phase{
				CPU: time.Duration(1 + r.Int64N(int64(15*s))), WorkingSet: r.Int64N(75), IO: r.Int64N(300),
			})
		}
	}
	return jobs, c
}

// Over a million instants at which something happens, no job is lost, duplicated or
// on two machines, and memory is accounted for to the byte. The runs together do
// everything there is to do.
func TestConservation(t *testing.T) {
	instants := 1_000_000
	if testing.Short() {
		instants = 100_000
	}
	var seen farm.Outcome
	ends := map[farm.End]int{}
	for seed := uint64(0); instants > 0; seed++ {
		jobs, c := scenario(seed)
		c.Watch = func(now time.Duration, f *farm.Farm) {
			instants--
			if err := f.Check(); err != nil {
				t.Fatalf("seed %d, at %v: %v", seed, now, err)
			}
		}
		outcomes, err := farm.Run(context.Background(), jobs, c)
		require.NoError(t, err, "seed %d", seed)
		for _, x := range outcomes {
			ends[x.End]++
			seen.CPU += x.CPU
			seen.IO += x.IO
			seen.Paging += x.Paging
			seen.Ready += x.Ready
			seen.Blocked += x.Blocked
			seen.Moving += x.Moving
			seen.Migrations += x.Migrations
			seen.Submissions += x.Submissions
			seen.Restarts += x.Restarts
		}
	}
	for _, end := range []farm.End{farm.Completed, farm.Killed, farm.Unfinished} {
		assert.Greater(t, ends[end], 10)
	}
	for _, d := range []time.Duration{seen.CPU, seen.IO, seen.Paging, seen.Ready, seen.Blocked, seen.Moving} {
		assert.Greater(t, d, 500*s)
	}
	for _, n := range []int{seen.Migrations, seen.Submissions, seen.Restarts} {
		assert.Greater(t, n, 100)
	}
}

func TestDeterministic(t *testing.T) {
	for seed := range uint64(20) {
		jobs, c := scenario(seed)
		first, err := farm.Run(context.Background(), jobs, c)
		require.NoError(t, err)
		second, err := farm.Run(context.Background(), jobs, c)
		require.NoError(t, err)
		require.Equal(t, first, second)
	}
}

// Rates are an approximation to taking turns. One machine, slice by slice: whoever
// can compute does so for a slice, in turn; a job reads or writes for its time after
// every so much computing. Ends differ by a few per cent.
func TestAgainstTimeSlices(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := machines(1)
		c.Switch = ms
		jobs := make([]farm.Job, 1+r.IntN(5))
		for i := range jobs {
			cpu := time.Duration(1+r.IntN(20)) * s
			jobs[i] = farm.Job{Submit: time.Duration(i) * s, Phases: []farm.Phase{{CPU: cpu, IO: int64(cpu/(10*ms)) * r.Int64N(2) / (1 + r.Int64N(4))}}}
		}
		ends := slices(jobs, c)
		for i, o := range run(t, c, jobs...) {
			took, want := o.Ended-jobs[i].Submit, ends[i]-jobs[i].Submit
			assert.InEpsilon(t, want.Seconds(), took.Seconds(), .12, "seed %d, job %d of %d", seed, i, len(jobs))
		}
	}
}

// slices simulates one machine in steps of a millisecond.
func slices(jobs []farm.Job, c farm.Config) []time.Duration {
	type state struct {
		left, sinceIO, io time.Duration // io: of the operation under way
	}
	states := make([]state, len(jobs))
	for i, j := range jobs {
		states[i].left = j.Phases[0].CPU
	}
	ends := make([]time.Duration, len(jobs))
	const step = ms
	turn, used, switching := 0, time.Duration(0), time.Duration(0)
	for now, ended := time.Duration(0), 0; ended < len(jobs); now += step {
		able := func(i int) bool { return jobs[i].Submit <= now && states[i].left > 0 && states[i].io == 0 }
		for i := range states {
			if states[i].io > 0 {
				states[i].io -= step
				if states[i].io == 0 && states[i].left == 0 {
					ends[i] = now + step
					ended++
				}
			}
		}
		if switching > 0 {
			switching -= step
			continue
		}
		if !able(turn) || used >= c.Slice {
			used = 0
			for n := 1; n <= len(jobs); n++ {
				if next := (turn + n) % len(jobs); able(next) {
					if next != turn {
						switching = c.Switch
					}
					turn = next
					break
				}
			}
			if switching > 0 {
				switching -= step
				continue
			}
		}
		if !able(turn) {
			continue
		}
		x := &states[turn]
		x.left -= step
		x.sinceIO += step
		used += step
		if n := jobs[turn].Phases[0].IO; n > 0 && x.sinceIO >= jobs[turn].Phases[0].CPU/time.Duration(n) {
			x.sinceIO -= jobs[turn].Phases[0].CPU / time.Duration(n)
			x.io = c.IOTime
		}
		if x.left == 0 && x.io == 0 {
			ends[turn] = now + step
			ended++
		}
	}
	return ends
}

func BenchmarkRun(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	p, err := loadshare.NewPolicy(loadshare.Config{Select: loadshare.HighestWeight, Grace: s, Fit: true})
	require.NoError(b, err)
	c := farm.Config{
		Machines: 32, Memory: 122, Swap: 128, Slice: 10 * ms, Switch: ms / 10, IOTime: 12 * ms, FaultTime: 10 * ms,
		Rate: func(q, io float64) float64 { return 150 * q }, Sharing: farm.On, Policy: p,
		Network: loadshare.Network{Latency: 100 * ms, BitsPerSecond: 80}, Period: s, Horizon: 1e6 * s,
	}
	jobs := make([]farm.Job, 500)
	for i := range jobs {
		jobs[i] = farm.Job{Submit: time.Duration(i) * 3 * s, Home: r.IntN(32), Phases: []farm.Phase{{CPU: time.Duration(r.Int64N(int64(1000 * s))), WorkingSet: r.Int64N(66), IO: 100}}}
	}
	instants := 0
	c.Watch = func(time.Duration, *farm.Farm) { instants++ }
	_, err = farm.Run(context.Background(), jobs, c)
	require.NoError(b, err)
	c.Watch = nil
	b.ReportAllocs()
	for b.Loop() {
		_, _ = farm.Run(context.Background(), jobs, c)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(instants), "ns/instant")
}
