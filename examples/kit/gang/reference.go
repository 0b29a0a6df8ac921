package gang

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/paging"
)

// Reference is a machine on which processes make single references to memory:
// each node has frames that all its resident processes compete for, and the page
// referred to least recently leaves. Nothing about memory is assumed; a process
// that comes back finds what the others' quanta have left of its pages. One gang
// runs on a node at a time, and nothing else runs while it waits for a page.
type Reference struct {
	Frames int           // of a node
	Access time.Duration // a reference takes so long,
	Fault  time.Duration // and so much longer if the page has to be read again

	// Process describes the process that a job has on a node: its pages, how many
	// references it makes, and the stream of pages that they are to.
	Process func(job, node int) (pages int, references int64, next func() int)

	Faults int64 // so far

	nodes []*paging.Memory
	gangs map[int][]*process
}

type process struct {
	node int
	*paging.Process
	left int64 // references
	next func() int
	debt time.Duration // of the last quantum: a page was still being read
}

// Enter implements [Machine].
func (r *Reference) Enter(job int, nodes []int) error {
	if r.Access <= 0 || r.Fault < 0 {
		return fmt.Errorf("%v an access, %v a fault: %w", r.Access, r.Fault, ErrConfig)
	}
	var gang []*process
	for _, n := range nodes {
		for n >= len(r.nodes) {
			m, err := paging.NewMemory(r.Frames)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrConfig, err)
			}
			r.nodes = append(r.nodes, m)
		}
		pages, references, next := r.Process(job, n)
		p, err := r.nodes[n].NewProcess(pages)
		if err != nil || references <= 0 {
			return fmt.Errorf("job %d: %d pages, %d references: %w", job, pages, references, ErrJob)
		}
		gang = append(gang, &process{node: n, Process: p, left: references, next: next})
	}
	if r.gangs == nil {
		r.gangs = map[int][]*process{}
	}
	r.gangs[job] = gang
	return nil
}

// Leave implements [Machine].
func (r *Reference) Leave(job int) {
	for _, p := range r.gangs[job] {
		p.Exit()
	}
	delete(r.gangs, job)
}

// Run implements [Machine]. It panics if two gangs have a process on one node.
func (r *Reference) Run(jobs []int, quantum time.Duration, usage []Usage) []Usage {
	taken := make([]bool, len(r.nodes))
	for _, job := range jobs {
		u := Usage{Ended: true}
		for _, p := range r.gangs[job] {
			if taken[p.node] {
				panic(fmt.Sprintf("gang: two gangs on node %d", p.node))
			}
			taken[p.node] = true
			computed, after := r.run(p, quantum)
			u.CPU += float64(computed) / float64(quantum) / float64(len(r.gangs[job]))
			u.Work = max(u.Work, computed)
			u.After = max(u.After, after)
			u.Ended = u.Ended && p.left == 0 && p.debt == 0
		}
		usage = append(usage, u)
	}
	return usage
}

// run lets a process run, and returns how long it computed and when it ended.
func (r *Reference) run(p *process, quantum time.Duration) (computed, after time.Duration) {
	at := min(p.debt, quantum)
	p.debt -= at
	for ; at < quantum && p.left > 0; p.left-- {
		at += r.Access
		computed += r.Access
		if p.Touch(p.next()) == paging.Fault {
			at += r.Fault
			r.Faults++
		}
	}
	p.debt += max(0, at-quantum)
	return computed, min(at, quantum)
}
