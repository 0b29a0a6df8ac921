package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// Errors of this package, wrapped with the offending value.
var (
	ErrConfig  = errors.New("gangd: invalid configuration")
	ErrJob     = errors.New("gangd: invalid job")
	ErrRefused = errors.New("gangd: job refused")
)

// A Job is what a user wants to be run: a gang of processes, one on each of its nodes.
type Job struct {
	Name        string // unique; letters, digits, '-', '_' and '.' only
	User        string
	Command     []string // executable and arguments
	Program     string   // as the history knows it; empty means the path of the executable
	Folder      string
	Output      string
	Environment []string
	Processes   int           // > 0
	Memory      int64         // of a process, bytes, as the user sees it; 0: not said
	After       time.Duration // it is submitted so long after the run began
	Limit       time.Duration // it is ended after having run so long; 0: never
	Exclusive   bool          // it runs beside nobody
}

func (j Job) check() error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	switch {
	case j.Name == "" || strings.Trim(j.Name, letters) != "":
		return fmt.Errorf("name %q, want letters, digits, '-', '_' and '.': %w", j.Name, ErrJob)
	case len(j.Command) == 0 || j.Command[0] == "":
		return fmt.Errorf("%s: no command: %w", j.Name, ErrJob)
	case j.Processes <= 0:
		return fmt.Errorf("%s: %d processes: %w", j.Name, j.Processes, ErrJob)
	case j.Memory < 0 || j.After < 0 || j.Limit < 0:
		return fmt.Errorf("%s: memory %d, after %v, limit %v: %w", j.Name, j.Memory, j.After, j.Limit, ErrJob)
	}
	return nil
}

// Check says what is wrong with jobs, or nil.
func Check(jobs []Job) error {
	seen := map[string]bool{}
	for _, j := range jobs {
		if err := j.check(); err != nil {
			return err
		}
		if seen[j.Name] {
			return fmt.Errorf("%s: there are two of that name: %w", j.Name, ErrJob)
		}
		seen[j.Name] = true
	}
	return nil
}

// A Policy is a way to share the machine.
type Policy string

// The policies.
const (
	FCFS   Policy = "fcfs"   // one slot, jobs run to their ends in order of arrival
	Strict Policy = "strict" // gang scheduling: one slot a quantum
	Paired Policy = "paired" // paired gang scheduling: two slots a quantum if they fit
)

// Config describes a run. Backend is required.
type Config struct {
	Backend  backend.Backend
	Policy   Policy        // empty means Paired
	Quantum  time.Duration // 0 means 500 ms
	Factor   float64       // C of eq. (1), see package admission; 0 means 1, +Inf no limit
	Skips    int           // how often a waiting job may be skipped; 0 means the paper's 15
	MaxSlots int           // bound of the multiprogramming level; 0 means none
	Grace    time.Duration // for jobs that are told to end; 0 means five seconds

	// History estimates memory, and learns; nil means an empty one.
	History *estimate.History
	// Memory of a process of which nothing is known, bytes; 0 means 64 MiB.
	Memory int64

	Log    *slog.Logger   // gets every decision; nil means none
	Watch  func(*Status)  // is told the state after changes, if not nil
	Exited func(*Outcome) // is told of every job that ended, if not nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Policy == "" {
		c.Policy = Paired
	}
	switch {
	case c.Backend == nil:
		return c, fmt.Errorf("no back end: %w", ErrConfig)
	case c.Policy != FCFS && c.Policy != Strict && c.Policy != Paired:
		return c, fmt.Errorf("policy %q, want %s, %s or %s: %w", c.Policy, FCFS, Strict, Paired, ErrConfig)
	case c.Quantum < 0 || c.Quantum > 0 && c.Quantum < time.Millisecond:
		return c, fmt.Errorf("quantum %v, want a millisecond or more: %w", c.Quantum, ErrConfig)
	case c.Grace < 0 || c.Memory < 0 || c.MaxSlots < 0:
		return c, fmt.Errorf("grace %v, memory %d, %d slots: %w", c.Grace, c.Memory, c.MaxSlots, ErrConfig)
	case math.IsNaN(c.Factor) || c.Factor < 0:
		return c, fmt.Errorf("factor C of %v: %w", c.Factor, ErrConfig)
	}
	if c.Quantum == 0 {
		c.Quantum = 500 * time.Millisecond
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	if c.Memory == 0 {
		c.Memory = 64 << 20
	}
	if c.History == nil {
		c.History = &estimate.History{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// An Outcome is what became of a job. Instants are since the beginning of the run, and
// 0 if it did not come to that.
type Outcome struct {
	Job       Job
	Estimate  int64  // of the memory of a process, bytes
	Level     string // on which the estimate was made
	Submitted time.Duration
	Started   time.Duration
	Ended     time.Duration
	Queued    bool // it was not placed when it arrived
	Skips     int  // how often it was skipped while it waited
	Nodes     []int
	Quanta    int // in which it ran
	Beside    int // of these, in which it shared a node
	Guest     int // of these, in which its slot was the partner of another
	Peak      int64
	CPU       time.Duration
	Killed    bool
	Err       error // of a process, or why it did not start
}

// A Result is what a run did.
type Result struct {
	Jobs   []*Outcome // in the order of the jobs
	Quanta int
	Pairs  int           // quanta in which two slots ran
	Time   time.Duration // from the beginning to the last end
}

// Status is the state of a run.
type Status struct {
	Time     time.Time     `json:"time"`
	Elapsed  time.Duration `json:"elapsed"`
	Policy   Policy        `json:"policy"`
	Quantum  time.Duration `json:"quantum"`
	Quanta   int           `json:"quanta"`
	Slot     int           `json:"slot"`    // that has its quantum, -1: none
	Partner  int           `json:"partner"` // that runs beside it, -1: none
	Partners []int         `json:"partners"`
	Slots    [][]string    `json:"slots"` // the job on each node, by slot; "" for none
	Nodes    []NodeStatus  `json:"nodes"`
	Gangs    []GangStatus  `json:"gangs"` // in the matrix
	Queue    []QueueStatus `json:"queue"`
	ToCome   int           `json:"to_come"` // jobs that have not arrived
	Ended    int           `json:"ended"`
	Failed   int           `json:"failed"` // of those, without success
}

// NodeStatus is a node and its memory by eq. (1), bytes.
type NodeStatus struct {
	Name  string `json:"name"`
	Limit int64  `json:"limit"`
	Used  int64  `json:"used"`
}

// GangStatus is a job in the matrix.
type GangStatus struct {
	Name     string  `json:"name"`
	Slot     int     `json:"slot"`
	Nodes    []int   `json:"nodes"`
	State    string  `json:"state"`
	Share    float64 `json:"share"` // of a processor, as predicted
	Measured bool    `json:"measured"`
	Memory   int64   `json:"memory"` // that a process is counted with
	Peak     int64   `json:"peak"`   // that was measured
}

// QueueStatus is a job that waits for memory or a slot.
type QueueStatus struct {
	Name      string        `json:"name"`
	Processes int           `json:"processes"`
	Memory    int64         `json:"memory"`
	Skips     int           `json:"skips"`
	Waited    time.Duration `json:"waited"`
}
