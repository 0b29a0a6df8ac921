// Package local runs gangs as processes of the machine it is on: a back end whose
// nodes are the machine's cores. It needs Linux, and no privileges.
//
//   - A process of a gang is bound to the core of its node. With more nodes than
//     cores, nodes share cores, of which the scheduler knows nothing: it takes what
//     gangs leave to each other there for all that they want to compute.
//   - It begins a session of its own, so that Ctrl-C and the end of a terminal do not
//     reach it. The kernel hangs up on stopped process groups that become orphaned;
//     those of a session of their own are so from the start, and left alone.
//   - What it starts belongs to it: all of its session, and all descendants.
//   - A gang is stopped by SIGSTOP to all its process groups, and continued by SIGCONT.
//   - Processor time is read from the clocks of the processes, since the ticks of
//     /proc are as coarse as 2 % of a quantum of half a second. Resident memory is
//     from /proc, ten times a second while a gang runs; pages that processes of a gang
//     share count once for each.
//   - When a process fails, the others of its gang are ended.
//
// # Whatever happens to gangd
//
// No process may stay stopped because gangd is gone. A supervisor, a process beside
// gangd, knows all sessions of all gangs and holds the end of a pipe, of which gangd has the other.
// When gangd dies, however it does, the kernel closes the pipe, and the supervisor
// continues the gangs or ends them, see [Death]. If the supervisor dies, gangd starts
// another. Only if both are killed, gangd before it has told the new one what it
// knows, is nobody left to do so.
//
// A process of a gang begins as this program, which waits until the supervisor knows
// it, and only then becomes the job's. So programs that use this package call
// [Helper] before anything else.
//
// # Process numbers
//
// The kernel reuses numbers of processes. A process that ended is not waited for until
// nothing of its session is left and the supervisor has forgotten it: until then its
// number, and that of its group, are taken. Of other groups a member is looked up by
// number and time of start before they are signalled.
package local

import (
	"errors"
	"fmt"
	"time"
)

// ErrConfig is returned for a back end that cannot be.
var ErrConfig = errors.New("local: invalid configuration")

// Death says what becomes of the gangs when gangd dies without having ended them.
type Death string

// What the supervisor can do.
const (
	Continue Death = "continue" // they run to their ends, all at once
	Kill     Death = "kill"     // they are ended
)

// Config describes a back end. The zero value is ready.
type Config struct {
	Nodes  int   // 0: one for each core that gangd may use
	Memory int64 // of each node, bytes; 0: an equal share of what is available now

	// OnDeath is what becomes of gangs when gangd dies; empty means Continue.
	OnDeath Death

	// Grace is what processes are given to end in, when another of their gang failed
	// or gangd died; 0 means five seconds.
	Grace time.Duration
}

func (c Config) check() error {
	switch {
	case c.Nodes < 0 || c.Nodes > 1<<16:
		return fmt.Errorf("%d nodes: %w", c.Nodes, ErrConfig)
	case c.Memory < 0:
		return fmt.Errorf("memory %d: %w", c.Memory, ErrConfig)
	case c.OnDeath != "" && c.OnDeath != Continue && c.OnDeath != Kill:
		return fmt.Errorf("on death %q, want %s or %s: %w", c.OnDeath, Continue, Kill, ErrConfig)
	case c.Grace < 0:
		return fmt.Errorf("grace %v: %w", c.Grace, ErrConfig)
	}
	return nil
}
