package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/lublin"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/tsafrir"
)

// longest is the greatest estimate of a generated workload, and so the time
// after which its jobs are killed.
const longest = 36 * time.Hour

// attempts bounds how often estimates are drawn until they cover the run times.
const attempts = 20

// Generate returns n jobs of the Lublin-Feitelson model for a machine of so many
// processors, with run-time estimates of the model of Tsafrir, Etsion and
// Feitelson (at most 36 hours, where longer runs are cut), and memory as package
// lublin draws it. The same seed gives the same jobs.
func Generate(n, processors int, seed uint64) (*Workload, error) {
	if n <= 0 {
		return nil, fmt.Errorf("%d jobs: %w", n, ErrEmpty)
	}
	model, err := lublin.New(lublin.Config{Processors: processors}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, err
	}
	w := &Workload{
		Name:       fmt.Sprintf("Lublin-Feitelson model, seed %d", seed),
		Processors: processors,
		Jobs:       make([]spaceshare.Job, n),
		Numbers:    make([]int64, n),
		CPU:        make([]float64, n),
		Synthetic:  []string{"memory", "CPU share"},
	}
	runs := make([]time.Duration, n)
	for i := range w.Jobs {
		j := model.Next()
		runs[i] = min(j.Run, longest)
		w.Jobs[i] = spaceshare.Job{Submit: j.Submit, Processors: j.Processors, Memory: j.Memory * int64(j.Processors)}
		w.Numbers[i], w.CPU[i] = int64(i+1), j.Utilisation
	}
	r := rand.New(rand.NewPCG(seed, 2))
	estimates, err := tsafrir.Estimates(runs, longest, r)
	for range attempts {
		if !errors.Is(err, tsafrir.ErrShort) {
			break
		}
		estimates, err = tsafrir.Estimates(runs, longest, r)
	}
	if err != nil {
		return nil, err
	}
	for i := range w.Jobs {
		w.Jobs[i].Run, w.Jobs[i].Estimate = runs[i], estimates[i]
	}
	return w, nil
}

// Synthesize makes up what a log does not tell, as package lublin does for jobs that
// it generates: the memory, if that of no job is known, and the share of the time that
// they compute for those jobs of which it is not. Synthetic then says so. The same
// seed makes up the same.
func (w *Workload) Synthesize(seed uint64) error {
	m, err := lublin.New(lublin.Config{}, rand.New(rand.NewPCG(seed, 3)))
	if err != nil {
		return err
	}
	memory := !slices.ContainsFunc(w.Jobs, func(j spaceshare.Job) bool { return j.Memory > 0 })
	shares := 0
	for i := range w.Jobs {
		j, like := &w.Jobs[i], m.Next()
		if memory {
			j.Memory = min(like.Memory, maxMemory/int64(j.Processors)) * int64(j.Processors)
		}
		if w.CPU[i] == 0 {
			w.CPU[i] = like.Utilisation
			shares++
		}
	}
	if memory {
		w.Synthetic = append(w.Synthetic, "memory")
	}
	switch {
	case shares == len(w.Jobs):
		w.Synthetic = append(w.Synthetic, "CPU share")
	case shares > 0:
		w.Synthetic = append(w.Synthetic, fmt.Sprintf("CPU share of %.1f %% of the jobs", 100*float64(shares)/float64(len(w.Jobs))))
	}
	return nil
}

// Cut leaves the first n jobs, if there are more.
func (w *Workload) Cut(n int) {
	n = min(n, len(w.Jobs))
	w.Jobs, w.Numbers, w.CPU = w.Jobs[:n], w.Numbers[:n], w.CPU[:n]
}

// Load returns the offered load: the processor time that the jobs need, as a
// share of what the machine has from the first submission to the last. It is
// +Inf if that is no time.
func (w *Workload) Load() float64 {
	var work float64
	for _, j := range w.Jobs {
		work += float64(j.Run.Seconds() * float64(j.Processors))
	}
	span := w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit
	return work / (span.Seconds() * float64(w.Processors))
}

// Scale brings the offered load to load by stretching the time between
// submissions, which stay at whole seconds. Run times and sizes are as before;
// the daily cycle is stretched with the rest. It replaces the jobs. A load at which
// all of them would be submitted within a second, or not within what a
// time.Duration holds, is an [ErrRange].
func (w *Workload) Scale(load float64) error {
	ratio := w.Load() / load
	first, last := w.Jobs[0].Submit, w.Jobs[len(w.Jobs)-1].Submit
	span := ratio * (last - first).Seconds()
	if !(load > 0) || math.IsInf(load, 0) || math.IsInf(ratio, 0) || !(span >= 1 && span <= maxSeconds) {
		return fmt.Errorf("load %v of a workload of load %.3g: %w", load, w.Load(), ErrRange)
	}
	jobs := make([]spaceshare.Job, len(w.Jobs))
	for i, j := range w.Jobs {
		j.Submit = first + seconds((j.Submit-first).Seconds()*ratio)
		jobs[i] = j
	}
	w.Jobs = jobs
	return nil
}

// Memory returns the size of a pool that is moderately scarce: half of it is in
// use when all processors are busy with the average mix of jobs. That is twice
// the processors times the memory per processor, averaged over the work. It is 0
// if no job's memory is known.
func (w *Workload) Memory() int64 {
	var memory, work float64
	for _, j := range w.Jobs {
		memory += float64(j.Run.Seconds() * float64(j.Memory))
		work += float64(j.Run.Seconds() * float64(j.Processors))
	}
	return int64(min(math.Ceil(2*memory/work*float64(w.Processors)), maxMemory))
}
