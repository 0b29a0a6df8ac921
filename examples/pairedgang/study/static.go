package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/examples/kit/partner"
)

// Mix is a point of Figs. 7 to 9: four jobs of the whole cluster, some of them
// I/O bound, that run from the beginning to the end of the measurement.
type Mix struct {
	IO     int            `json:"io_jobs"`
	Nodes  int            `json:"nodes"`
	Loop   time.Duration  `json:"loop"` // computation of a compute-bound job between two barriers
	Policy partner.Policy `json:"policy"`

	Compute float64   `json:"compute_barriers_per_s"` // mean over the compute-bound jobs; 0 if there are none
	Bound   float64   `json:"io_barriers_per_s"`      // mean over the I/O-bound jobs; 0 if there are none
	Chosen  []float64 `json:"chosen"`                 // per slot, share of the quanta in which it was the partner
}

// The experiments of §4.1. The paper tells loop lengths by number of turns, not by
// time, and not how fast its file server was.
const (
	mixJobs     = 4
	mixNodes    = 8
	computeLoop = 50 * time.Millisecond // at 2.5 million turns
	computeIO   = time.Millisecond
	ioTime      = 49 * time.Millisecond
	ioLoop      = time.Millisecond
	mixSpread   = .2
	streams     = mixNodes // one I/O-bound job of that cluster has the server at full speed
	mixQuantum  = time.Second
)

// runMix fills in what came of a point.
func (s *Study) runMix(ctx context.Context, p *Mix) error {
	jobs := make([]gang.Job, mixJobs)
	for i := range jobs {
		jobs[i] = gang.Job{Nodes: p.Nodes}
	}
	// As in the paper, the I/O-bound jobs are in the higher slots.
	isIO := func(job int) bool { return job >= mixJobs-p.IO }
	watch := partner.New(p.Policy, mixJobs)
	machine := &gang.Local{
		Streams: streams,
		Rand:    rand.New(rand.NewPCG(s.config.Seed, 1)),
		Program: func(job int) gang.Program {
			if isIO(job) {
				return gang.Program{Compute: ioLoop, IO: ioTime, Spread: mixSpread}
			}
			return gang.Program{Compute: p.Loop, IO: computeIO, Spread: mixSpread}
		},
	}
	quanta := 0
	barriers := make([]int, mixJobs)
	warm := 5 // quanta, until all have been measured
	_, err := gang.Run(ctx, jobs, gang.Config{
		Nodes: p.Nodes, Quantum: mixQuantum, Machine: machine, Partner: watch, Until: s.config.MixTime,
		Watch: func(now time.Duration, _ *gang.Cluster) {
			if quanta++; quanta == mixJobs*warm+1 {
				for job := range barriers {
					barriers[job] = machine.Barriers(job)
				}
				clear(watch.Chosen)
				watch.Rounds = 0
			}
		},
	})
	if err != nil {
		return fmt.Errorf("%d I/O jobs on %d nodes, %v: %w", p.IO, p.Nodes, p.Policy, err)
	}
	seconds := s.config.MixTime.Seconds() - float64(mixJobs*warm)*mixQuantum.Seconds()
	for job := range barriers {
		rate := float64(machine.Barriers(job)-barriers[job]) / seconds
		if isIO(job) {
			p.Bound += rate / float64(p.IO)
		} else {
			p.Compute += rate / float64(mixJobs-p.IO)
		}
	}
	p.Chosen = make([]float64, mixJobs)
	for slot, n := range watch.Chosen {
		p.Chosen[slot] = float64(n) / float64(watch.Rounds*mixJobs)
	}
	return nil
}
