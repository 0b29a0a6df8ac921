package paging

import "fmt"

// Memory is the memory of one node: page frames that the processes on the node
// compete for. A page that needs one takes a frame that is unused or else, as
// the Unix systems of the time did when memory ran out, the one whose page was
// referred to least recently, whoever's it is. Processes are made by
// [Memory.NewProcess]; when each of them runs is the caller's business, so that
// what comes back after the others' quanta finds what these have left of it.
//
// Only the order of references counts: there is no time here, no reading ahead
// and no writing back. It takes 24 bytes a frame. A Memory and its processes must
// not be used concurrently; separate memories may.
type Memory struct {
	// A ring of frames 1, 2, … in the order of their last references, linked
	// through frame 0: next of 0 is the most recent. Unused ones are behind all
	// others.
	frames []frame
	used   int
}

type frame struct {
	previous, next int32
	page           int32
	process        *Process // nil if unused
}

// Process is a process on a node, with a page table that says where its pages
// are. It takes 4 bytes a page.
type Process struct {
	memory   *Memory
	pages    []int32 // frame of each page, or one of the two below
	resident int
}

const (
	untouched = 0
	evicted   = -1
)

// Outcome is what a reference to a page finds.
type Outcome uint8

const (
	// Hit is a page in memory.
	Hit Outcome = iota

	// First is a page that its process has never referred to before. It needs a
	// frame, but there is nothing to be read.
	First

	// Fault is a page that was in memory and has lost its frame to another, so
	// that it has to be read again: a page fault due to shortage of memory.
	Fault
)

// NewMemory returns an empty memory of that many frames. It refuses fewer than
// one and more than 2²⁹ with [ErrSize].
func NewMemory(frames int) (*Memory, error) {
	if frames < 1 || frames > maxPages {
		return nil, fmt.Errorf("memory of %d frames: %w", frames, ErrSize)
	}
	m := &Memory{frames: make([]frame, frames+1)}
	for i := range m.frames {
		m.frames[i].previous, m.frames[i].next = int32(i-1), int32(i+1)
	}
	m.frames[0].previous, m.frames[frames].next = int32(frames), 0
	return m, nil
}

// Used returns the number of frames that hold a page.
func (m *Memory) Used() int { return m.used }

// NewProcess returns a process with pages 0 to pages − 1, none of which is in
// memory. The memory keeps no process that has no frame. It refuses fewer than
// one page and more than 2²⁹ with [ErrSize].
func (m *Memory) NewProcess(pages int) (*Process, error) {
	if pages < 1 || pages > maxPages {
		return nil, fmt.Errorf("process of %d pages: %w", pages, ErrSize)
	}
	return &Process{memory: m, pages: make([]int32, pages)}, nil
}

// Touch refers to a page of p, which then is in memory, and tells what it found.
// Cost O(1); it does not allocate. A page that p does not have panics as an index
// does.
func (p *Process) Touch(page int) Outcome {
	m := p.memory
	at := p.pages[page]
	if at > 0 {
		if m.frames[0].next != at {
			m.unlink(at)
			m.link(at, 0)
		}
		return Hit
	}
	outcome := First
	if at == evicted {
		outcome = Fault
	}
	at = m.frames[0].previous
	f := &m.frames[at]
	if f.process == nil {
		m.used++
	} else {
		f.process.pages[f.page] = evicted
		f.process.resident--
	}
	f.process, f.page = p, int32(page)
	p.pages[page] = at
	p.resident++
	m.unlink(at)
	m.link(at, 0)
	return outcome
}

// Resident returns the number of pages of p in memory, its resident set.
func (p *Process) Resident() int { return p.resident }

// Exit ends p and leaves its frames unused. It is then as new, and may serve as
// another process with as many pages. Cost O(n) in pages of p.
func (p *Process) Exit() {
	m := p.memory
	for page, at := range p.pages {
		if at > 0 {
			m.frames[at].process = nil
			m.unlink(at)
			m.link(at, m.frames[0].previous)
		}
		p.pages[page] = untouched
	}
	m.used -= p.resident
	p.resident = 0
}

func (m *Memory) unlink(at int32) {
	f := &m.frames[at]
	m.frames[f.previous].next, m.frames[f.next].previous = f.next, f.previous
}

// link puts a frame behind another.
func (m *Memory) link(at, behind int32) {
	next := m.frames[behind].next
	m.frames[at].previous, m.frames[at].next = behind, next
	m.frames[behind].next, m.frames[next].previous = at, at
}
