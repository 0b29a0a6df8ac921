package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/examples/kit/gang"
	"github.com/gangkit/gangkit/paging"
)

// The machine and the program of Batat & Feitelson (2000), §4.1-4.2.
const (
	mega           = 1 << 20
	pageSize       = 4096
	unitSize       = 1024      // "K", by which the program's jumps count
	processMemory  = 10 * mega // "every instance of the job used 10MB"
	processPages   = processMemory / pageSize
	processUnits   = processMemory / unitSize
	unitsPerPage   = pageSize / unitSize
	nodeMemory     = 55 * mega // "about 55MB of it is the non-kernel memory",
	availableBytes = 45 * mega // "and about 45MB of those 55MB are actually free"
	staticNodes    = 2
	dynamicNodes   = 16
)

// Costs are what the paper does not tell of its machine.
type Costs struct {
	Access time.Duration // of one reference of the program of Fig. 4
	Fault  time.Duration // of a page that has to be read from disk
}

// Free is the factor C at which the limit is the memory that is really free, as
// near as the paper's steps come: "80% is roughly the actual free memory".
const Free = .8

// Unlimited is the factor C of a cluster that admits every job.
const Unlimited = 0

// Static is a point of Figs. 5 and 6: equal jobs that are submitted together.
type Static struct {
	Jobs     int     `json:"jobs"`
	Locality float64 `json:"locality"`
	Factor   float64 `json:"factor"` // C; 0: not limited
	Printed  bool    `json:"printed_program"`

	Time     time.Duration `json:"time"`
	Faults   int64         `json:"faults"`
	MaxSlots int           `json:"max_slots"`
	MaxSkips int           `json:"max_skips"`
}

// runStatic fills in what came of a point. References are single, and page
// frames are given away by least recent use.
func (s *Study) runStatic(ctx context.Context, p *Static) error {
	jobs := make([]gang.Job, p.Jobs)
	for i := range jobs {
		jobs[i] = gang.Job{Nodes: staticNodes, Memory: processMemory}
	}
	var fault error
	machine := &gang.Reference{
		Frames: availableBytes / pageSize,
		Access: s.config.Costs.Access,
		Fault:  s.config.Costs.Fault,
		Process: func(job, node int) (int, int64, func() int) {
			// The same walks whatever the limit, so that points differ by it alone.
			r := rand.New(rand.NewPCG(s.config.Seed, uint64(job)<<8|uint64(node)))
			w, err := paging.NewWalk(paging.WalkConfig{Locality: p.Locality, Range: processUnits, Printed: p.Printed}, r)
			if err != nil {
				fault = err
			}
			return processPages, s.config.References, func() int { return w.Next() / unitsPerPage }
		},
	}
	result, err := gang.Run(ctx, jobs, gang.Config{
		Nodes: staticNodes, Quantum: s.config.Turn, Memory: nodeMemory, Factor: p.Factor, Machine: machine,
	})
	if err != nil || fault != nil {
		return fmt.Errorf("%d jobs, locality %v, C = %v: %w", p.Jobs, p.Locality, p.Factor, err)
	}
	p.Faults, p.MaxSlots = machine.Faults, result.MaxSlots
	for _, j := range result.Jobs {
		p.Time = max(p.Time, j.End)
		p.MaxSkips = max(p.MaxSkips, j.Skips)
	}
	return nil
}
