package gang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Program is what every process of a job does again and again: compute, do
// I/O, and wait for the others at a barrier.
type Program struct {
	Compute  time.Duration // mean time of the computation between two barriers
	IO       time.Duration // mean time of the I/O that follows, on a server that does nothing else
	Spread   float64       // each of these times is uniform in mean · [1 − Spread, 1 + Spread]
	Barriers int           // after so many the job ends; 0: never
}

// Local is a machine on which nodes schedule their processes themselves: in a
// quantum, those of all gangs that run take turns by slices whenever more than
// one of them computes. Processes of a gang drift apart, on different nodes
// beside different rivals, and wait for each other at barriers; I/O goes to one
// server. It simulates the programs of Y. Wiseman & D. G. Feitelson, "Paired gang
// scheduling", IEEE TPDS 14(6), 2003, Fig. 6.
//
// A process that comes back from I/O or a barrier joins the end of its node's
// queue. I/O of a gang whose quantum is over goes on when it runs again.
type Local struct {
	Program func(job int) Program
	Slice   time.Duration // of a node's scheduler; 0 means 10 ms
	Streams int           // processes whose I/O the server does at full speed; 0: any number
	Rand    *rand.Rand

	gangs map[int]*localGang
	nodes []localNode
	queue []*localProcess // of I/O
}

type localGang struct {
	program   Program
	processes []*localProcess
	barriers  int
	waiting   int // processes at the barrier
	ended     bool
	after     float64
}

type localNode struct {
	ready []*localProcess // the first one computes
	slice float64         // left to it
}

type localProcess struct {
	gang  *localGang
	node  int
	io    bool
	waits bool    // at the barrier
	left  float64 // nanoseconds of computation, or of I/O
	used  float64 // computed in this quantum
}

// Barriers returns how many barriers a job has passed.
func (l *Local) Barriers(job int) int { return l.gangs[job].barriers }

// Enter implements [Machine].
func (l *Local) Enter(job int, nodes []int) error {
	p := l.Program(job)
	if p.Compute < 0 || p.IO < 0 || p.Compute+p.IO <= 0 || !(p.Spread >= 0 && p.Spread <= 1) || p.Barriers < 0 {
		return fmt.Errorf("job %d: program %+v: %w", job, p, ErrJob)
	}
	if l.Streams < 0 || l.Slice < 0 {
		return fmt.Errorf("%d streams, slices of %v: %w", l.Streams, l.Slice, ErrConfig)
	}
	g := &localGang{program: p}
	for _, n := range nodes {
		for n >= len(l.nodes) {
			l.nodes = append(l.nodes, localNode{})
		}
		g.processes = append(g.processes, &localProcess{gang: g, node: n})
	}
	if l.gangs == nil {
		l.gangs = map[int]*localGang{}
	}
	l.gangs[job] = g
	for _, x := range g.processes {
		l.begin(x)
	}
	return nil
}

// Leave implements [Machine].
func (l *Local) Leave(job int) { delete(l.gangs, job) }

// draw draws a time.
func (l *Local) draw(mean time.Duration, spread float64) float64 {
	return float64(float64(mean) * (1 + float64(spread*(2*l.Rand.Float64()-1))))
}

// begin lets a process begin what it does between two barriers.
func (l *Local) begin(p *localProcess) {
	program := &p.gang.program
	if p.io, p.left = false, l.draw(program.Compute, program.Spread); p.left <= instant && program.IO > 0 {
		p.io, p.left = true, l.draw(program.IO, program.Spread)
	}
}

// resume lets a process of a gang that runs go on.
func (l *Local) resume(p *localProcess) {
	if p.io {
		l.queue = append(l.queue, p)
		return
	}
	n := &l.nodes[p.node]
	if n.ready = append(n.ready, p); len(n.ready) == 1 {
		n.slice = l.fullSlice()
	}
}

// Run implements [Machine].
func (l *Local) Run(jobs []int, quantum time.Duration, usage []Usage) []Usage {
	l.queue = l.queue[:0]
	for n := range l.nodes {
		l.nodes[n] = localNode{ready: l.nodes[n].ready[:0]}
	}
	before := make([]int, len(jobs))
	for i, job := range jobs {
		g := l.gangs[job]
		before[i] = g.barriers
		for _, p := range g.processes {
			if p.used = 0; !p.waits {
				l.resume(p)
			}
		}
	}
	for now := 0.; now < float64(quantum); {
		step := l.step(float64(quantum) - now)
		now += step
		l.advance(step, now)
	}
	for i, job := range jobs {
		g := l.gangs[job]
		u := Usage{Ended: g.ended, After: time.Duration(min(g.after, float64(quantum)))}
		for _, p := range g.processes {
			u.CPU += p.used / float64(quantum) / float64(len(g.processes))
		}
		u.Work = time.Duration(g.barriers-before[i]) * (g.program.Compute + g.program.IO)
		usage = append(usage, u)
	}
	return usage
}

func (l *Local) fullSlice() float64 {
	if l.Slice == 0 {
		return float64(10 * time.Millisecond)
	}
	return float64(l.Slice)
}

// rate is the speed of I/O.
func (l *Local) rate() float64 {
	if l.Streams == 0 || len(l.queue) <= l.Streams {
		return 1
	}
	return float64(l.Streams) / float64(len(l.queue))
}

// step is the time until something changes, at most limit.
func (l *Local) step(limit float64) float64 {
	for i := range l.nodes {
		if n := &l.nodes[i]; len(n.ready) > 0 {
			limit = min(limit, n.ready[0].left)
			if len(n.ready) > 1 {
				limit = min(limit, n.slice)
			}
		}
	}
	rate := l.rate()
	for _, p := range l.queue {
		limit = min(limit, p.left/rate)
	}
	return limit
}

// instant is so short that what takes less is done, against rounding.
const instant = 1e-3

// advance lets time pass, and does what is due then.
func (l *Local) advance(step, now float64) {
	io := float64(l.rate() * step)
	var arrived []*localProcess // at their barriers
	for i := range l.nodes {
		n := &l.nodes[i]
		if len(n.ready) == 0 {
			continue
		}
		p := n.ready[0]
		p.left -= step
		p.used += step
		n.slice -= step
		switch {
		case p.left <= instant:
			n.ready = slices.Delete(n.ready, 0, 1)
			n.slice = l.fullSlice()
			if p.gang.program.IO == 0 {
				arrived = append(arrived, p)
				continue
			}
			p.io, p.left = true, l.draw(p.gang.program.IO, p.gang.program.Spread)
			l.queue = append(l.queue, p)
			p.left += io // its I/O begins now
		case n.slice <= instant:
			n.ready = append(n.ready[1:], p)
			n.slice = l.fullSlice()
		}
	}
	l.queue = slices.DeleteFunc(l.queue, func(p *localProcess) bool {
		if p.left -= io; p.left > instant {
			return false
		}
		arrived = append(arrived, p)
		return true
	})
	for _, p := range arrived {
		g := p.gang
		p.waits = true
		if g.waiting++; g.waiting < len(g.processes) {
			continue
		}
		g.waiting = 0
		if g.barriers++; g.barriers == g.program.Barriers {
			g.ended, g.after = true, now
			continue
		}
		for _, p := range g.processes {
			p.waits = false
			l.begin(p)
			l.resume(p)
		}
	}
}
