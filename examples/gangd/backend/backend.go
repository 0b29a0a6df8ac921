// Package backend says what gangd needs of the machines that it schedules: to start a
// gang of processes, stop and continue all of it, end it, and tell what it uses. There
// are two, of packages local and slurm beside this one.
//
// A gang is one process on each of its nodes, or one process tree. It is stopped and
// continued as a whole. Its name is unique among all that a back end has seen.
//
// Methods may be called concurrently, for one gang one at a time.
package backend

import (
	"context"
	"errors"
	"time"
)

// ErrUnknown is returned for a gang that a back end does not know, or that has ended.
var ErrUnknown = errors.New("gangd: no such gang")

// Node is a place for processes.
type Node struct {
	Name   string
	Memory int64 // that gangs can use, bytes
}

// Gang is what is to be run.
type Gang struct {
	ID      string   // unique, made by gangd; letters, digits, '-', '_' and '.' only
	Name    string   // as the user calls it
	User    string   // who submitted it
	Command []string // the executable and its arguments, the same for every process
	Folder  string   // where it runs; empty for that of gangd
	Output  string   // path of a file for what it prints; empty for none
	// Environment is "KEY=value", in addition to that of gangd. Back ends add
	// GANGD_ID, GANGD_RANK (0 up), GANGD_SIZE, GANGD_NODE (the index of the node)
	// and GANGD_ADDRESS, "host:port" at which rank 0 may listen for the others.
	Environment []string
}

// Usage is what a gang has used.
type Usage struct {
	CPU      time.Duration // of all its processes, since they started
	Resident []int64       // memory now, bytes, by rank
	Peak     []int64       // most memory so far, bytes, by rank
	Measured time.Time     // when; zero if that is now, or never
}

// Exit tells that a gang has ended: none of its processes is left.
type Exit struct {
	ID     string
	Err    error // nil if all processes ended with status 0
	Usage  Usage // the last known
	Killed bool  // it was ended by Kill
}

// Backend runs gangs. All but Exits and Close return within the context's time.
type Backend interface {
	// Nodes are the nodes, in an order that does not change. Gangs name them by index.
	Nodes() []Node
	// Submit announces a gang of so many processes that is to wait, so that users of
	// the machines see it. A back end without a queue of its own does nothing.
	Submit(ctx context.Context, g Gang, processes int) error
	// Start starts a gang that was submitted, rank i on nodes[i], with an estimate of
	// the memory of each process, bytes, which the back end may enforce. It runs
	// from then on, until it is stopped. After an error nothing of the gang is left, or
	// will be soon, it is no longer known, and Exits does not tell of it.
	Start(ctx context.Context, id string, nodes []int, memory int64) error
	// Stop stops all processes of a running gang, and returns when they do not run.
	Stop(ctx context.Context, id string) error
	// Continue lets them run again. After an error of Stop or Continue some may be
	// stopped and others not, and either may be called again.
	Continue(ctx context.Context, id string) error
	// Kill asks a gang to end, whether it waits, runs or is stopped, and ends it by
	// force after the time of grace. It does not wait; Exits tells of it.
	Kill(ctx context.Context, id string, grace time.Duration) error
	// Usage is what a gang that was started uses.
	Usage(ctx context.Context, id string) (Usage, error)
	// Exits tells of each gang, once, that it has ended. It is never closed before
	// Close has been called.
	Exits() <-chan Exit
	// Close ends all gangs and gives back what the back end holds.
	Close() error
}
