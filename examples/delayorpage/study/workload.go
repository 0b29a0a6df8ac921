package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gangkit/gangkit/examples/kit/lublin"
	"github.com/gangkit/gangkit/examples/kit/metrics"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// memory is M, in bytes. Only proportions to it matter.
const memory = 1 << 40

// largest is the greatest share of M that a job may need, so that every job fits
// within every limit.
const largest = .5

// A Sample is a workload and the machine for it, one of those over which points are
// averaged.
type Sample struct {
	Jobs       []spaceshare.Job
	Uses       []int64 // memory that each job really uses, if that is not what it asks for
	Processors int
	Dropped    int // jobs of a log that need more than half of the memory
}

// held returns Σ run·memory and Σ run·processors, in seconds times M and times
// processors.
func held(jobs []spaceshare.Job) (memories, processors float64) {
	for _, j := range jobs {
		memories += float64(j.Run.Seconds()*float64(j.Memory)) / memory
		processors += float64(j.Run.Seconds() * float64(j.Processors))
	}
	return memories, processors
}

// generate draws a sample: run times and sizes of the Lublin-Feitelson model, memory
// that is lognormal and independent of them, and arrivals at random or, if they are
// to be bursty, of the model too.
func generate(c Config, seed uint64) (*Sample, error) {
	model, err := lublin.New(lublin.Config{}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 2))
	s := &Sample{Jobs: make([]spaceshare.Job, c.Jobs)}
	jobs := s.Jobs
	clock := 0.
	for i := range jobs {
		j := model.Next()
		if clock += 3600 * r.ExpFloat64(); !c.Bursty {
			j.Submit = time.Duration(clock) * time.Second
		}
		share := c.Size * math.Exp(float64(c.Spread*r.NormFloat64())-float64(c.Spread*c.Spread)/2)
		jobs[i] = spaceshare.Job{
			Submit: j.Submit, Run: j.Run, Estimate: j.Run, Processors: j.Processors,
			Memory: max(1, int64(min(share, largest)*memory)),
		}
	}
	if c.Error > 0 {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, j := range jobs {
			uses := float64(j.Memory) * math.Exp(float64(c.Error*r.NormFloat64())-float64(c.Error*c.Error)/2)
			s.Uses = append(s.Uses, int64(min(uses, memory)))
		}
	}
	// On this machine the jobs that fill its memory keep one in Headroom of its
	// processors busy, on the average.
	memories, processors := held(jobs)
	s.Processors = int(math.Ceil(c.Headroom * processors / memories))
	for _, j := range jobs {
		s.Processors = max(s.Processors, j.Processors)
	}
	return s, nil
}

// cut takes samples from a log, at equal distances. M is the memory that is full when
// one in Headroom of the log's processors is busy, on the average.
func cut(l *workload.Workload, c Config) ([]*Sample, error) {
	memories, processors := held(l.Jobs)
	if memories == 0 {
		return nil, fmt.Errorf("%s: does not tell the jobs' memory: %w", l.Name, ErrConfig)
	}
	scale := processors / memories / float64(l.Processors) * c.Headroom
	samples := make([]*Sample, c.Seeds)
	for k := range samples {
		from, to := k*len(l.Jobs)/c.Seeds, (k+1)*len(l.Jobs)/c.Seeds
		s := &Sample{Processors: l.Processors}
		for _, j := range l.Jobs[from:min(to, from+c.Jobs)] {
			share := float64(j.Memory) * scale
			if share > largest*memory {
				s.Dropped++
				continue
			}
			j.Memory, j.Estimate = int64(share), j.Run
			s.Jobs = append(s.Jobs, j)
		}
		if memories, _ := held(s.Jobs); memories == 0 {
			return nil, fmt.Errorf("%s: no jobs with memory in part %d of %d: %w", l.Name, k+1, c.Seeds, ErrConfig)
		}
		samples[k] = s
	}
	return samples, nil
}

// at returns the jobs as they come at a load of memory: the time between arrivals is
// stretched.
func (s *Sample) at(load float64) ([]spaceshare.Job, error) {
	jobs := slices.Clone(s.Jobs)
	first := jobs[0].Submit
	stretch := 0.
	if load != Backlog {
		memories, _ := held(jobs)
		stretch = memories / load / (jobs[len(jobs)-1].Submit - first).Seconds()
	}
	if !(stretch <= 1e6) {
		return nil, fmt.Errorf("load %v: all jobs arrive at once: %w", load, ErrConfig)
	}
	for i := range jobs {
		jobs[i].Submit = time.Duration((jobs[i].Submit-first).Seconds()*stretch) * time.Second
	}
	return jobs, nil
}

// shape is what the theory has to know of the samples, averaged over them.
type shape struct {
	size        float64 // of a job: Σ run·memory / Σ run, as a share of M
	variability float64 // squared coefficient of variation of the run times
	short       float64 // mean of the mean run time over the run time, run times of 10 s at least
	mean        float64 // run time, s
	deviation   float64 // of the memory that jobs use which ask for all of it, as a share of it
}

func shapeOf(samples []*Sample) (sh shape) {
	n := float64(len(samples))
	for _, s := range samples {
		runs := make([]float64, len(s.Jobs))
		inverse, squares := 0., 0.
		for i, j := range s.Jobs {
			runs[i] = j.Run.Seconds()
			inverse += 1 / max(runs[i], metrics.Tau.Seconds())
			if s.Uses != nil {
				error := float64(s.Uses[i]-j.Memory) / memory
				squares += float64(runs[i] * error * error)
			}
		}
		mean, variance := stat.PopMeanVariance(runs, nil)
		memories, _ := held(s.Jobs)
		sh.size += memories / mean / float64(len(runs)) / n
		sh.variability += variance / (mean * mean) / n
		sh.short += mean * inverse / float64(len(runs)) / n
		sh.mean += mean / n
		sh.deviation += math.Sqrt(squares/memories) / n
	}
	return sh
}
