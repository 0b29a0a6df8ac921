// Package folding decides on how many processors moldable jobs start, and which
// running jobs are folded to make room for them. It follows G. Utrera, J. Corbalán
// and J. Labarta, "Implementing malleability on MPI jobs", PACT 2004, §3 and §4.3.
//
// The processes of a message-passing job cannot be made more or fewer once it runs.
// But they can be put on fewer processors: folding halves the partition of a job,
// unfolding doubles it again. A job of n processes that is folded by f runs on
//
//	⌈n/f⌉ processors     f = 1, 2, 4
//
// each of which has up to f of its processes: f is its multiprogramming level. Only
// a job with a processor of its own for at most one more process can not be folded.
//
// # Folding by job type
//
// [FJT] folds long jobs only, by 4 at most. When a short job arrives,
//
//	processors idle                      it starts on them
//	else a long job with f < 4           that one is folded, the short one starts on what it frees
//	else                                 it waits
//
// and when a long job arrives, where Q says that another long job waits, S that a
// short one runs, U that a long one runs unfolded,
//
//	Q   S   idle  U
//	no  yes               it waits: processors will be free soon
//	no  no  yes           it starts folded on the idle processors
//	no  no  no    yes     a long job is folded, it starts folded on what that frees
//	yes     yes           it starts unfolded on its share of the idle processors
//	yes     no    yes     a long job is folded, it starts unfolded on what that frees
//	otherwise             it waits
//
// The text of the paper differs from its pseudo-code in the first row:
// [FJT.Eager]. Started folded on p processors a job has min(request, P, 4p)
// processes, P being all processors; started unfolded, min(request, p). Idle
// processors are shared equally, by the long jobs that wait or else by all that do.
//
// When processors are released, short jobs that wait come first, then folded jobs are
// unfolded, the most folded first, then long jobs that wait are decided on in order
// by the table.
//
// # Rivals
//
//	[Folding]        any job, by 2 at most; the latest arrival is folded first
//	[PSA]            all processors over the number of jobs that wait, or wait
//	[ASP]            what is idle, at most so much a job
//	[Equipartition]  all processors over the number of jobs, always
//	[FCFS]           all that it asks for, in order
//
// # Answers
//
// A [Policy] looks at a [State] when a job arrived or processors were released, and
// answers with steps: fold, unfold, start. Done in their order they never use more
// processors than there are. Steps name jobs by their indices in the state.
//
// # Departures
//
// The paper does not say which long job is folded: here the one with the largest
// partition, the latest of equals. What happens at a release, beyond that folded jobs
// are unfolded, is resolved as above; a job that would be unfolded and then folded
// again in one decision stays as it is. Steps are computed for the outcome of the
// whole decision.
package folding

import (
	"errors"
	"fmt"
)

// ErrState is returned for a state that cannot be, wrapped with what is wrong.
var ErrState = errors.New("folding: invalid state")

// Class is the class of a job, known when it arrives.
type Class uint8

// The classes. A job of unknown class is taken for a short one.
const (
	Short Class = iota
	Long
)

// String returns the name of the class.
func (c Class) String() string {
	switch c {
	case Short:
		return "short"
	case Long:
		return "long"
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// Running is a job that runs.
type Running struct {
	Class      Class
	Processors int // of its partition, > 0
	Processes  int // that it was started with, ≥ Processors
}

// Folds returns by how much the job is folded: the least power of two f with
// Processes ≤ f · Processors.
func (r Running) Folds() int { return folds(r.Processes, r.Processors) }

func folds(processes, processors int) int {
	f := 1
	for processes > processors {
		processes = (processes + 1) / 2
		f *= 2
	}
	return f
}

// partition returns the processors of a job folded by f.
func partition(processes, f int) int { return (processes-1)/f + 1 }

// Queued is a job that waits.
type Queued struct {
	Class   Class
	Request int // processors that it can use, > 0
}

// State is what a policy looks at. Jobs are in order of their arrival.
type State struct {
	Processors int // of the machine, > 0
	Running    []Running
	Queued     []Queued
}

// maxProcessors keeps all sums in range, on 32 bits too.
const maxProcessors = 1 << 28

// Kind is what a step does.
type Kind uint8

// The kinds of steps.
const (
	Fold   Kind = iota // a running job gives processors away
	Unfold             // a running job gets processors
	Start              // a queued job starts
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case Fold:
		return "fold"
	case Unfold:
		return "unfold"
	case Start:
		return "start"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Step is something to be done with a job.
type Step struct {
	Kind       Kind
	Job        int // index in State.Running, or in State.Queued for Start
	Processors int // of its partition from now on
	Processes  int // for Start: to be made; otherwise those that it has
}

// A Policy decides. Both functions append the steps to dst, none if all that wait go
// on waiting. A state that cannot be is refused with [ErrState], and dst returned as
// it was. Policies keep scratch space and must not be used concurrently; they do not
// change the state, and do not allocate once dst and the scratch space are large
// enough.
type Policy interface {
	// AppendArrival is to be called when a job arrived, the last one in the queue.
	AppendArrival(dst []Step, s State) ([]Step, error)

	// AppendRelease is to be called when processors were released.
	AppendRelease(dst []Step, s State) ([]Step, error)
}
