package estimate

import "fmt"

// Job identifies a job to be run, or one that ran.
type Job struct {
	Path  string // of the executable; required, at most MaxPath bytes
	Nodes int    // that the job runs on, from 1 to MaxNodes
	User  string // at most MaxUser bytes
}

// Level says what an estimate rests on.
type Level int

// The levels from the finest on. The first three are those of a [History].
const (
	None            Level = iota // there is no estimate
	ByPathNodesUser              // runs of the same executable on as many nodes for the same user
	ByPathNodes                  // runs of the same executable on as many nodes
	ByPath                       // runs of the same executable
	ByExecutable                 // the static size of the executable
	ByConstant                   // a constant
)

// String returns the level in words.
func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case ByPathNodesUser:
		return "path, nodes, user"
	case ByPathNodes:
		return "path, nodes"
	case ByPath:
		return "path"
	case ByExecutable:
		return "executable"
	case ByConstant:
		return "constant"
	}
	return fmt.Sprintf("Level(%d)", int(l))
}

// Estimate is how much memory a job will need, and why that is thought.
type Estimate struct {
	Memory  int64 // of one process, which is per node, in bytes; ≥ 0
	Level   Level
	Samples int // past runs that it rests on, 0 from ByExecutable on
}

// Estimator estimates the memory that a job will need. It answers false if it
// does not know, with an Estimate of zero.
type Estimator interface {
	Estimate(Job) (Estimate, bool)
}

// FirstOf returns an Estimator that answers with the first of the estimators
// that knows. It keeps the slice, and may be used as concurrently as they may.
//
//	FirstOf(history, Executable(size), Constant(256<<20))
func FirstOf(estimators ...Estimator) Estimator { return firstOf(estimators) }

type firstOf []Estimator

func (f firstOf) Estimate(j Job) (Estimate, bool) {
	for _, e := range f {
		if answer, ok := e.Estimate(j); ok {
			return answer, true
		}
	}
	return Estimate{}, false
}

// Constant estimates the same number of bytes for every job. A negative one
// answers nothing.
type Constant int64

// Estimate returns c.
func (c Constant) Estimate(Job) (Estimate, bool) {
	if c < 0 {
		return Estimate{}, false
	}
	return Estimate{Memory: int64(c), Level: ByConstant}, true
}

// Executable estimates the static size of a job's executable (§2.2). The
// function is given the path and returns the size in bytes, or false; it opens
// the file where the executables are, and calls [StaticSize]. It is called at
// every estimate that gets as far, and may remember sizes.
type Executable func(path string) (bytes int64, ok bool)

// Estimate returns the size of the executable of j; a negative size is no answer.
func (size Executable) Estimate(j Job) (Estimate, bool) {
	bytes, ok := size(j.Path)
	if !ok || bytes < 0 {
		return Estimate{}, false
	}
	return Estimate{Memory: bytes, Level: ByExecutable}, true
}
