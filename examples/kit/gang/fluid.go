package gang

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Phase is a stretch of a job in which it behaves in one way.
type Phase struct {
	Work time.Duration // how long it takes when nothing disturbs
	CPU  float64       // share of that time which each process computes; the rest it waits
}

// Fluid is a machine on which processes progress at steady rates. Rates change
// only where a phase or a gang ends, and these instants are met exactly.
//
// The processes that run on a node at the same time share its processor. If
// together they want more than there is, each progresses at what it wants over
// what all want: with demands a and b whose sum exceeds 1, at
// 1/(a + b) of its own rate. A gang progresses as its slowest process does. This
// is how Y. Wiseman & D. G. Feitelson, "Paired gang scheduling", IEEE TPDS 14(6),
// 2003, §2.1, expect two processes to share a node; they measured it.
//
// Memory. The processes resident on a node, running or not, share its frames, by
// one of two rules. If only a share s of a process's memory is there, it
// progresses at Paging(job, s) of its rate. The rules bracket what global
// replacement by least recent use does (see [Reference]). There whoever has its
// memory runs fast and keeps it, while others fault slowly and take little away:
// the eldest keep all they need. If the others are many, though, what they take
// between two turns of a process is more than it can read again in one, and all
// of them fault: each has a fair share.
type Fluid struct {
	Phases    func(job int) []Phase // of every process of the job; not empty
	Available int64                 // memory of a node that processes can really use, bytes
	Memory    func(job int) int64   // true need of each process, bytes; nil if memory does not matter
	Paging    func(job int, share float64) float64
	Eldest    bool // who came first keeps all its memory; else shares are fair

	// Switch is by how much everything takes longer while the processes of a node
	// want more processor than there is, for switching between them.
	Switch float64

	// What waits besides computing is communication, which disturbs nobody, unless
	// Server says that it is I/O: to a server of all nodes, which serves so many
	// processes that do nothing else at full rate.
	Server float64

	gangs    map[int]*fluidGang
	resident [][]resident // per node, in order of entry
	demand   []int64      // per node, of the resident
	cpu      []float64
	running  []*fluidGang
}

type fluidGang struct {
	job    int
	nodes  []int
	phases []Phase
	phase  int
	left   float64 // work of this phase, nanoseconds
	memory int64
	shares []float64 // per node, of its memory that is there, if the eldest keep theirs
	rate   float64
	paging float64 // share of the time in which it waits for its memory
	work   float64 // of this quantum
	paged  float64
	usage  Usage
}

// resident is a gang's process on a node, the one on nodes[index].
type resident struct {
	gang  *fluidGang
	index int
}

// Enter implements [Machine].
func (f *Fluid) Enter(job int, nodes []int) error {
	phases := f.Phases(job)
	if len(phases) == 0 {
		return fmt.Errorf("job %d: no phases: %w", job, ErrJob)
	}
	for _, p := range phases {
		if p.Work <= 0 || !(p.CPU >= 0 && p.CPU <= 1) {
			return fmt.Errorf("job %d: phase of %v with CPU share %v: %w", job, p.Work, p.CPU, ErrJob)
		}
	}
	g := &fluidGang{job: job, nodes: nodes, phases: phases, left: float64(phases[0].Work)}
	if f.Memory != nil {
		g.memory = f.Memory(job)
	}
	g.shares = make([]float64, len(nodes))
	for i, n := range nodes {
		for n >= len(f.resident) {
			f.resident = append(f.resident, nil)
			f.demand = append(f.demand, 0)
			f.cpu = append(f.cpu, 0)
		}
		f.resident[n] = append(f.resident[n], resident{g, i})
		f.demand[n] += g.memory
	}
	if f.gangs == nil {
		f.gangs = map[int]*fluidGang{}
	}
	f.gangs[job] = g
	f.divide(nodes)
	return nil
}

// divide divides memory anew after the processes on some nodes have changed.
func (f *Fluid) divide(nodes []int) {
	if f.Paging == nil || !f.Eldest {
		return
	}
	for _, n := range nodes {
		elder := int64(0)
		for _, r := range f.resident[n] {
			share, memory := 1., r.gang.memory
			if memory > 0 {
				share = float64(min(max(0, f.Available-elder), memory)) / float64(memory)
			}
			elder += memory
			r.gang.shares[r.index] = share
		}
	}
}

// share returns the least share of its memory that a process of a gang has.
func (f *Fluid) share(g *fluidGang) float64 {
	switch {
	case f.Paging == nil || g.memory == 0:
		return 1
	case f.Eldest:
		return slices.Min(g.shares)
	}
	share := 1.
	for _, n := range g.nodes {
		if all := f.demand[n]; all > f.Available {
			share = min(share, float64(f.Available)/float64(all))
		}
	}
	return share
}

// Leave implements [Machine].
func (f *Fluid) Leave(job int) {
	g := f.gangs[job]
	for _, n := range g.nodes {
		f.resident[n] = slices.DeleteFunc(f.resident[n], func(r resident) bool { return r.gang == g })
		f.demand[n] -= g.memory
	}
	delete(f.gangs, job)
	f.divide(g.nodes)
}

// Run implements [Machine].
func (f *Fluid) Run(jobs []int, quantum time.Duration, usage []Usage) []Usage {
	f.running = f.running[:0]
	for _, job := range jobs {
		g := f.gangs[job]
		g.usage, g.work, g.paged = Usage{}, 0, 0
		f.running = append(f.running, g)
	}
	for passed, left := 0., float64(quantum); left > 0; {
		step := left
		f.setRates()
		for _, g := range f.running {
			if g.usage.Ended {
				continue
			}
			step = min(step, g.left/g.rate)
		}
		passed += step
		left -= step
		active := false
		for _, g := range f.running {
			if g.usage.Ended {
				continue
			}
			done := float64(step * g.rate)
			g.usage.CPU += float64(done * g.phases[g.phase].CPU)
			g.work += done
			g.paged += float64(step * g.paging)
			g.left -= done
			// What remains below a nanosecond is rounding.
			if g.left >= 1 {
				active = true
				continue
			}
			if g.phase++; g.phase < len(g.phases) {
				g.left += float64(g.phases[g.phase].Work)
				active = true
				continue
			}
			g.phase--
			g.usage.Ended, g.usage.After = true, time.Duration(min(math.Ceil(passed), float64(quantum)))
		}
		if !active {
			break
		}
	}
	for _, g := range f.running {
		g.usage.CPU /= float64(quantum)
		g.usage.Work, g.usage.Paged = time.Duration(g.work), time.Duration(g.paged)
		usage = append(usage, g.usage)
	}
	return usage
}

// setRates sets the rate of every gang that runs.
func (f *Fluid) setRates() {
	io := 0.
	for _, g := range f.running {
		if g.usage.Ended {
			continue
		}
		cpu := g.phases[g.phase].CPU
		for _, n := range g.nodes {
			f.cpu[n] += cpu
		}
		io += float64((1 - cpu) * float64(len(g.nodes)))
	}
	for _, g := range f.running {
		if g.usage.Ended {
			continue
		}
		contention := 1.
		for _, n := range g.nodes {
			contention = max(contention, f.cpu[n])
		}
		if f.Server > 0 && g.phases[g.phase].CPU < 1 {
			contention = max(contention, io/f.Server)
		}
		if contention > 1 {
			contention *= 1 + f.Switch
		}
		g.rate, g.paging = 1/contention, 0
		if share := f.share(g); share < 1 {
			speed := f.Paging(g.job, share)
			g.rate *= speed
			g.paging = 1 - speed
		}
	}
	for _, g := range f.running {
		for _, n := range g.nodes {
			f.cpu[n] = 0
		}
	}
}
