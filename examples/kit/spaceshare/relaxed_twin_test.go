package spaceshare_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/paging"
)

// relaxedTwin replays jobs where the memory limit may be relaxed, slowly and
// obviously: it keeps the work that each running job has left, at full speed,
// and plans anew from it at every pass. For [backfill.FCFS], [backfill.FirstFit]
// and [backfill.EASY].
type relaxedTwin struct {
	jobs  []spaceshare.Job
	c     spaceshare.Config
	limit int64 // M(1 + C)

	now          time.Duration
	factor       time.Duration
	submitted    int
	queue        []int
	relaxed      []bool
	running      []twinRun // in order of starting
	starts, ends []time.Duration
}

type twinRun struct {
	job            int
	left, estimate time.Duration // work to do, and planned to do
}

func (w *relaxedTwin) replay() {
	w.factor, w.relaxed = 1, make([]bool, len(w.jobs))
	w.starts, w.ends = make([]time.Duration, len(w.jobs)), make([]time.Duration, len(w.jobs))
	for w.submitted < len(w.jobs) || len(w.queue) > 0 || len(w.running) > 0 {
		w.elapse()
		terminate, submit := w.each(w.terminate), w.each(w.submit)
		if w.c.Order == des.SubmitFirst {
			submit()
			terminate()
		} else {
			terminate()
			submit()
		}
		w.each(w.relax)()
		if w.c.Order == des.Batch {
			w.pass()
		}
		var memory int64
		for _, r := range w.running {
			memory += w.jobs[r.job].Memory
		}
		w.factor = time.Duration(w.c.Penalty(memory, w.c.Memory))
	}
}

// each handles events as long as there are some, with a pass after each of them
// if the order wants it.
func (w *relaxedTwin) each(event func() bool) func() {
	return func() {
		for event() {
			if w.c.Order != des.Batch {
				w.pass()
			}
		}
	}
}

// elapse lets time go on to the next event.
func (w *relaxedTwin) elapse() {
	next := backfill.Forever
	if w.submitted < len(w.jobs) {
		next = w.jobs[w.submitted].Submit
	}
	for _, r := range w.running {
		next = min(next, w.now+r.left*w.factor)
	}
	for _, i := range w.queue {
		if !w.relaxed[i] && !w.alone(i) {
			next = min(next, w.threshold(i))
		}
	}
	done := (next - w.now) / w.factor
	if done*w.factor != next-w.now {
		panic("a factor that does not divide the time")
	}
	for k := range w.running {
		w.running[k].left -= done
		w.running[k].estimate -= done
	}
	w.now = next
}

func (w *relaxedTwin) terminate() bool {
	for k, r := range w.running {
		if r.left == 0 {
			w.ends[r.job] = w.now
			w.running = slices.Delete(w.running, k, k+1)
			return true
		}
	}
	return false
}

func (w *relaxedTwin) submit() bool {
	i := w.submitted
	if i == len(w.jobs) || w.jobs[i].Submit > w.now {
		return false
	}
	w.relaxed[i] = !w.alone(i) && w.threshold(i) == w.now
	w.queue = append(w.queue, i)
	w.submitted++
	return true
}

func (w *relaxedTwin) relax() bool {
	for _, i := range w.queue {
		if !w.relaxed[i] && !w.alone(i) && w.threshold(i) == w.now {
			w.relaxed[i] = true
			return true
		}
	}
	return false
}

func (w *relaxedTwin) threshold(i int) time.Duration {
	return w.jobs[i].Submit + time.Duration(w.c.Threshold*float64(w.jobs[i].Estimate))
}

func (w *relaxedTwin) alone(i int) bool { return w.jobs[i].Memory > w.limit }

func (w *relaxedTwin) need(i int) (processors int, memory int64) {
	if w.alone(i) {
		return w.c.Processors, w.c.Memory
	}
	return w.jobs[i].Processors, w.jobs[i].Memory
}

// free is what job i sees free once the given work has been done.
func (w *relaxedTwin) free(i int, work time.Duration) (processors int, memory int64) {
	processors, memory = w.c.Processors, w.c.Memory
	if w.relaxed[i] {
		memory = w.limit
	}
	for _, r := range w.running {
		if r.estimate > work {
			p, m := w.need(r.job)
			processors, memory = processors-p, memory-m
		}
	}
	return processors, memory
}

func (w *relaxedTwin) fits(i int, work time.Duration) bool {
	p, m := w.need(i)
	processors, memory := w.free(i, work)
	return p <= processors && m <= memory
}

func (w *relaxedTwin) start(i int) {
	w.starts[i] = w.now
	w.running = append(w.running, twinRun{i, w.jobs[i].Run, w.jobs[i].Estimate})
	w.queue = slices.DeleteFunc(w.queue, func(q int) bool { return q == i })
}

func (w *relaxedTwin) pass() {
	if w.c.Depth != backfill.FirstFit {
		for len(w.queue) > 0 && w.fits(w.queue[0], 0) {
			w.start(w.queue[0])
		}
		if w.c.Depth == backfill.FCFS || len(w.queue) == 0 {
			return
		}
	}
	shadow, processors, memory := backfill.Forever, 0, int64(0)
	rest := slices.Clone(w.queue)
	if w.c.Depth == backfill.EASY {
		head := w.queue[0]
		rest = rest[1:]
		for _, r := range w.running {
			if r.estimate > 0 && r.estimate < shadow && w.fits(head, r.estimate) {
				shadow = r.estimate
			}
		}
		p, m := w.need(head)
		processors, memory = w.free(head, shadow)
		processors, memory = processors-p, memory-m
	}
	for _, i := range rest {
		p, m := w.need(i)
		switch {
		case !w.fits(i, 0):
		case w.jobs[i].Estimate <= shadow:
			w.start(i)
		case p <= processors && m <= memory:
			processors, memory = processors-p, memory-m
			w.start(i)
		}
	}
}

// doubling is a penalty that keeps times exact: whole multiples of a power of
// two can be halved often.
func doubling(demand, capacity int64) float64 {
	if demand > capacity {
		return 2
	}
	return 1
}

// Relaxed limits, thresholds between events, slow running and jobs that must be
// alone, all at once.
func TestRelaxedLimitsAgainstAnObviousTwin(t *testing.T) {
	seeds := uint64(1500)
	if slow {
		seeds = 150
	}
	relaxed, slowed := 0, 0
	const unit = time.Duration(1 << 40) // can be halved forty times
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		processors, memory := 1+r.IntN(8), 4*(1+r.Int64N(8))
		jobs := make([]spaceshare.Job, 1+r.IntN(20))
		at := time.Duration(0)
		for i := range jobs {
			at += time.Duration(r.IntN(3)) * unit
			run := time.Duration(1+r.IntN(8)) * unit
			jobs[i] = spaceshare.Job{
				Submit: at, Run: run, Estimate: run + time.Duration(int64(seed%2)*r.Int64N(6))*unit,
				Processors: 1 + r.IntN(processors), Memory: r.Int64N(memory + 1),
			}
			if r.IntN(6) == 0 {
				jobs[i].Memory += r.Int64N(memory + 1)
			}
		}
		for _, depth := range []backfill.Depth{backfill.FCFS, backfill.FirstFit, backfill.EASY} {
			for order := des.Batch; order <= des.TerminateFirst; order++ {
				for _, excess := range []float64{.25, .5, 1} {
					for _, threshold := range []float64{0, .5, 2} {
						for _, penalty := range []paging.Model{paging.None, doubling} {
							c := spaceshare.Config{
								Processors: processors, Memory: memory, Depth: depth, Order: order,
								Excess: excess, Threshold: threshold, Penalty: penalty,
							}
							result, err := spaceshare.Replay(t.Context(), jobs, c)
							require.NoError(t, err, "seed %d: %+v", seed, c)
							twin := &relaxedTwin{jobs: jobs, c: c, limit: memory + int64(excess*float64(memory))}
							twin.replay()
							name := fmt.Sprintf("seed %d, depth %v, %v, C = %v, T = %v", seed, depth, order, excess, threshold)
							require.Equal(t, twin.starts, result.Starts, name)
							require.Equal(t, twin.ends, result.Ends, name)
							for i, j := range jobs {
								if twin.relaxed[i] && threshold > 0 {
									relaxed++
								}
								if result.Ends[i]-result.Starts[i] > j.Run {
									slowed++
								}
							}
						}
					}
				}
			}
		}
	}
	require.Greater(t, relaxed, 1000, "thresholds must be crossed")
	require.Greater(t, slowed, 1000, "memory must be over-committed")
}
