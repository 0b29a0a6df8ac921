package metrics

import (
	"math/bits"
	"time"

	"gonum.org/v1/gonum/stat"
)

// A Summary is a run in figures. Shares are of P·(T1 − T0), processors times
// makespan, and in [0, 1] as long as jobs do not share processors. A share or
// rate over an empty interval is 0, and the Summary of no jobs is the zero
// Summary: it holds no NaN.
type Summary struct {
	Jobs      int
	Undefined int // jobs of Run ≤ 0, left out of Slowdown

	Wait            Distribution // seconds
	Response        Distribution // seconds
	Slowdown        Distribution
	BoundedSlowdown Distribution // with Tau
	// WeightedResponse is Σ response·area / Σ area, in seconds. Splitting a job
	// into pieces that run side by side leaves it as it was.
	WeightedResponse float64

	Makespan    time.Duration // T1 − T0: first submission to last end
	Utilisation float64       // useful work, Σ run·processors
	Occupied    float64       // Σ running time·processors; above Utilisation when jobs are stretched
	OfferedLoad float64       // Σ run·processors / (P·(last − first submission))
	Throughput  float64       // jobs per second of makespan

	Loss          float64 // idle while some job waits (Zhang et al.)
	LossAvoidable float64 // idle while some waiting job needs no more than what is idle
	LossDemand    float64 // idle, up to what the queue asks for (Krevat et al.)
	IdleNoDemand  float64 // idle while no job waits

	MemoryHeld float64       // ∫ memory dt / (M·makespan); 0 if the machine's is unknown
	PeakMemory int64         // bytes
	MemoryOver time.Duration // time with more memory in use than the machine has

	Overtakes     int64   // pairs of which the later submission started first
	OvertakesArea float64 // processor-seconds: the later job's area, added over these pairs
	MaxOvertaken  int     // most jobs that overtook one
}

// Summarize computes the figures of the given finished jobs, in any order. All
// are counted: to leave out a warm-up, pass a part of the jobs (and take the
// figures of the system from all of them). O(n log n), with a few words of
// memory a job.
func Summarize(jobs []Job, machine Machine) (Summary, error) {
	if err := machine.check(); err != nil {
		return Summary{}, err
	}
	if err := check(jobs); err != nil {
		return Summary{}, err
	}
	if len(jobs) == 0 {
		return Summary{}, nil
	}
	s := Summary{Jobs: len(jobs)}
	s.perJob(jobs)

	w := newSweep(jobs)
	w.keepSizes()
	submit, start, end := w.submit, w.start, w.end
	s.Overtakes, s.OvertakesArea, s.MaxOvertaken = overtakes(jobs, submit, start)
	s.Makespan = end[len(end)-1].time - submit[0].time
	if err := s.system(w, machine); err != nil {
		return Summary{}, err
	}

	var useful, occupied wide
	for _, j := range jobs {
		useful.add(int64(max(0, j.Run)), int64(j.Processors))
		occupied.add(int64(j.RunningTime()), int64(j.Processors))
	}
	s.Utilisation = useful.over(machine.Processors, s.Makespan)
	s.Occupied = occupied.over(machine.Processors, s.Makespan)
	s.OfferedLoad = useful.over(machine.Processors, submit[len(submit)-1].time-submit[0].time)
	if s.Makespan > 0 {
		s.Throughput = float64(s.Jobs) / s.Makespan.Seconds()
	}
	return s, nil
}

// perJob fills in what concerns jobs one by one.
func (s *Summary) perJob(jobs []Job) {
	x := make([]float64, len(jobs))
	area := make([]float64, len(jobs))
	work := 0.
	for i, j := range jobs {
		x[i], area[i] = j.Response().Seconds(), j.Area()
		work += area[i]
	}
	if work > 0 {
		s.WeightedResponse = stat.Mean(x, area)
	}
	s.Response = describe(x)
	for i, j := range jobs {
		x[i] = j.Wait().Seconds()
	}
	s.Wait = describe(x)
	for i, j := range jobs {
		x[i] = j.BoundedSlowdown(Tau)
	}
	s.BoundedSlowdown = describe(x)
	x = x[:0]
	for _, j := range jobs {
		if v, ok := j.Slowdown(); ok {
			x = append(x, v)
		}
	}
	s.Slowdown = describe(x)
	s.Undefined = len(jobs) - len(x)
}

// system fills in the integrals over time.
func (s *Summary) system(w *sweep, m Machine) error {
	var loss, avoidable, demanded, idleNoDemand, memory wide
	w.next()
	for {
		now, demand := w.now, w.demand
		s.PeakMemory = max(s.PeakMemory, now.Memory)
		idle := max(0, m.Processors-now.Processors)
		fits := idle > 0 && now.Queued > 0 && w.fits(idle)
		if !w.next() {
			break
		}
		dt := w.now.Time - now.Time
		if now.Queued > 0 {
			loss.add(int64(idle), int64(dt))
			demanded.add(min(int64(idle), demand), int64(dt))
		} else {
			idleNoDemand.add(int64(idle), int64(dt))
		}
		if fits {
			avoidable.add(int64(idle), int64(dt))
		}
		memory.add(now.Memory, int64(dt))
		if m.Memory > 0 && now.Memory > m.Memory {
			s.MemoryOver += dt
		}
	}
	s.Loss = loss.over(m.Processors, s.Makespan)
	s.LossAvoidable = avoidable.over(m.Processors, s.Makespan)
	s.LossDemand = demanded.over(m.Processors, s.Makespan)
	s.IdleNoDemand = idleNoDemand.over(m.Processors, s.Makespan)
	if m.Memory > 0 && s.Makespan > 0 {
		s.MemoryHeld = memory.float() / float64(m.Memory) / float64(s.Makespan)
	}
	return w.err
}

// wide is a sum of products of integers ≥ 0, 128 bits wide: a million jobs of a
// thousand processors and ten days, in nanoseconds, do not fit in 64.
type wide struct{ hi, lo uint64 }

func (w *wide) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi, _ = bits.Add64(w.hi, hi, carry)
}

func (w wide) float() float64 { return float64(w.hi)*(1<<64) + float64(w.lo) }

// over returns w as a share of processors·d, 0 for an empty interval.
func (w wide) over(processors int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return w.float() / float64(processors) / float64(d)
}
