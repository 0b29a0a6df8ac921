package paging_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/paging"
)

func BenchmarkTayZou(b *testing.B) {
	for _, demand := range []int64{900, 1500} {
		b.Run(fmt.Sprintf("demand=%d", demand), func(b *testing.B) {
			b.ReportAllocs()
			sum := 0.0
			for b.Loop() {
				sum += paging.TayZou(demand, 1000)
			}
			require.NotZero(b, sum)
		})
	}
}

// One change of the factor, and the new end of the job that ends next. With
// form=shared it costs the same for any number of running jobs; with
// form=rescale it grows with them.
func BenchmarkChange(b *testing.B) {
	factors := []float64{1, paging.TayZou(1200, 1000), paging.TayZou(1500, 1000)}
	for _, n := range []int{1, 10, 100, 1_000, 10_000, 100_000} {
		r := rand.New(rand.NewPCG(1, 2))
		run := make([]time.Duration, n)
		for i := range run {
			run[i] = time.Duration(1e17 + r.Int64N(1e17))
		}
		b.Run(fmt.Sprintf("form=shared/jobs=%d", n), func(b *testing.B) {
			var p paging.Progress
			next := forever
			for i := range run {
				next = min(next, p.Target(run[i]))
			}
			b.ReportAllocs()
			now, i, end := time.Duration(0), 0, time.Duration(0)
			for b.Loop() {
				now += 1000
				i = (i + 1) % len(factors)
				if p.SetFactor(now, factors[i]) != nil {
					b.Fatal(now)
				}
				end = p.When(next)
			}
			require.Greater(b, end, now, "the job must still run")
		})
		b.Run(fmt.Sprintf("form=rescale/jobs=%d", n), func(b *testing.B) {
			left := append([]time.Duration(nil), run...)
			b.ReportAllocs()
			i, end := 0, time.Duration(0)
			for b.Loop() {
				next := (i + 1) % len(factors)
				end = forever
				for j := range left {
					left[j], _ = paging.Rescale(left[j]-1000, factors[i], factors[next])
					end = min(end, left[j])
				}
				i = next
			}
			require.Positive(b, end, "the job must still run")
		})
	}
}

// One reference of a process. x-twin says how many times as long it takes with
// math.Pow, as the definition reads.
func BenchmarkWalk(b *testing.B) {
	for _, theta := range []float64{1, 1.25, 2} {
		b.Run(fmt.Sprintf("theta=%v", theta), func(b *testing.B) {
			c := paging.WalkConfig{Locality: theta, Range: 10240}
			const steps = 100_000
			twin := position{config: c, random: rand.New(rand.NewPCG(1, 30))}
			sum, start := 0.0, time.Now()
			for range steps {
				sum += twin.next()
			}
			slow := float64(time.Since(start).Nanoseconds()) / steps
			require.Positive(b, sum)
			w := newWalk(b, c, 1)
			b.ReportAllocs()
			units := 0
			for b.Loop() {
				units += w.Next()
			}
			require.Positive(b, units)
			b.ReportMetric(slow/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
		})
	}
}

// pageStream is a stream of references of low locality.
func pageStream(tb testing.TB, pages int) []int {
	w := newWalk(tb, paging.WalkConfig{Locality: 1, Range: 4 * pages}, 1)
	stream := make([]int, 1<<20)
	for i := range stream {
		stream[i] = w.Next() / 4
	}
	return stream
}

// One reference in the LRU stack, faults of all memories counted. x-twin says how
// many times as long it takes in a list.
func BenchmarkStack(b *testing.B) {
	for _, pages := range []int{256, 2_560, 25_600, 256_000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			stream := pageStream(b, pages)
			s, twin := newStack(b, pages), make(list, pages)
			for i := range pages {
				s.Touch(i)
				twin[pages-1-i] = i
			}
			const steps = 2000
			start := time.Now()
			for _, page := range stream[:steps] {
				twin.touch(page)
			}
			slow := float64(time.Since(start).Nanoseconds()) / steps
			b.ReportAllocs()
			i, sum := 0, 0
			for b.Loop() {
				sum += s.Touch(stream[i])
				i = (i + 1) % len(stream)
			}
			require.Positive(b, sum)
			b.ReportMetric(slow/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
		})
	}
}

// One reference in a memory half the size of what two processes use in turn.
// x-twin says how many times as long it takes with a list of pages.
func BenchmarkMemory(b *testing.B) {
	const quantum = 10_000
	for _, frames := range []int{256, 2_560, 25_600, 256_000} {
		b.Run(fmt.Sprintf("frames=%d", frames), func(b *testing.B) {
			stream := pageStream(b, frames)
			m, twin := newMemory(b, frames), &pool{frames: frames, seen: map[reference]bool{}}
			p := [2]*paging.Process{newProcess(b, m, frames), newProcess(b, m, frames)}
			for i := range p {
				for page := range frames {
					p[i].Touch(page)
					if i == 1 {
						twin.list = append(twin.list, reference{i, frames - 1 - page})
					}
				}
			}
			const steps = 2000
			start := time.Now()
			for i, page := range stream[:steps] {
				twin.touch(reference{i / (steps / 2), page})
			}
			slow := float64(time.Since(start).Nanoseconds()) / steps
			b.ReportAllocs()
			i, turn, faults := 0, 0, 0
			for b.Loop() {
				if p[turn].Touch(stream[i]) == paging.Fault {
					faults++
				}
				if i = (i + 1) % len(stream); i%quantum == 0 {
					turn = 1 - turn
				}
			}
			if b.N > 1000 {
				require.Positive(b, faults, "they must take frames from each other")
			}
			b.ReportMetric(slow/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "x-twin")
		})
	}
}

func BenchmarkFitMemory(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("points=%d", n), func(b *testing.B) {
			q, rate := measure(paging.ChenXiaoZhang().Memory.Rate, 0.02, 1, n, 1, rand.New(rand.NewPCG(1, 2)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := paging.FitMemory(q, rate, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFaultRate(b *testing.B) {
	f := paging.ChenXiaoZhang()
	b.ReportAllocs()
	sum, q := 0.0, -0.5
	for b.Loop() {
		sum += f.Rate(q, 3000)
		if q += 0.01; q > 1 {
			q = -0.5
		}
	}
	require.Positive(b, sum)
}
