package loadshare_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/loadshare"
)

func cluster(r *rand.Rand, n int) []loadshare.Machine {
	machines := make([]loadshare.Machine, n)
	for k := range machines {
		machines[k] = some(r)
	}
	return machines
}

func some(r *rand.Rand) loadshare.Machine {
	demand := r.Int64N(1 << 30)
	return loadshare.Machine{Jobs: r.IntN(5), MaxJobs: 4, Memory: 1 << 30, Demand: demand, Free: 1<<30 - demand}
}

// A machine tells its load, and then looks for another; x-twin is how much faster
// that is than with a scan.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{10, 32, 100, 1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			machines := cluster(r, n)
			x, err := loadshare.NewIndex(machines)
			require.NoError(b, err)
			const rounds = 1 << 12
			news := cluster(r, rounds)
			at := make([]int, rounds)
			for i := range at {
				at[i] = r.IntN(n)
			}

			// The scan, and that it finds the same.
			twinRounds := max(1, min(rounds, 10_000_000/n))
			start := time.Now()
			for i := range twinRounds {
				machines[at[i]] = news[i]
				loadshare.Candidate(machines, at[i])
			}
			twin := float64(time.Since(start).Nanoseconds()) / float64(twinRounds)
			for i := range twinRounds {
				require.NoError(b, x.Set(at[i], news[i]))
			}
			for i := range min(twinRounds, 20) {
				wantK, wantM, _ := loadshare.Candidate(machines, at[i])
				k, m, ok := x.Candidate(at[i])
				require.True(b, ok && k == wantK && m == wantM)
			}

			i := 0
			b.ReportAllocs()
			for b.Loop() {
				k := at[i%rounds]
				if x.Set(k, news[i%rounds]) != nil {
					b.Fatal()
				}
				x.Candidate(k)
				i++
			}
			b.ReportMetric(twin/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
		})
	}
}

// The two halves of BenchmarkIndex apart, at machines all over memory.
func BenchmarkIndexParts(b *testing.B) {
	const n = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	x, err := loadshare.NewIndex(cluster(r, n))
	require.NoError(b, err)
	const rounds = 1 << 16
	news := cluster(r, rounds)
	at := make([]int, rounds)
	for i := range at {
		at[i] = r.IntN(n)
	}
	b.Run(fmt.Sprintf("set/machines=%d", n), func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if x.Set(at[i%rounds], news[i%rounds]) != nil {
				b.Fatal()
			}
			i++
		}
	})
	b.Run(fmt.Sprintf("candidate/machines=%d", n), func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			x.Candidate(at[i%rounds])
			i++
		}
	})
}

// A decision to migrate one of n jobs, chosen by the most costly selector.
func BenchmarkDecide(b *testing.B) {
	x, err := loadshare.NewIndex(cluster(rand.New(rand.NewPCG(1, 2)), 1000))
	require.NoError(b, err)
	p := newPolicy(b, loadshare.Config{Select: loadshare.HighestWeight, Cost: loadshare.Network{BitsPerSecond: 1e8}.Migration})
	for _, n := range []int{1, 10, 100, 1_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 4))
			s := loadshare.State{Machine: loadshare.Machine{Jobs: max(n, 9), MaxJobs: n + 9, Memory: 1 << 30, Demand: 1 << 31}, Waiting: true}
			for range n {
				s.Running = append(s.Running, loadshare.Job{Faults: r.Float64(), WorkingSet: r.Int64N(1 << 28), IO: r.Int64N(1000), Age: time.Hour})
			}
			candidate := func() (int, loadshare.Machine, bool) { return x.Candidate(5) }
			d := p.Decide(s, candidate)
			require.True(b, d.Migrate && d.Submit)
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(s, candidate)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}
