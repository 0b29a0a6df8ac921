// Package gang simulates a gang-scheduled cluster: an Ousterhout matrix of slots
// through which all nodes go round robin, one quantum each, jobs admitted by
// their memory, a queue of those that are not. It composes packages matrix and
// admission as A. Batat & D. G. Feitelson, "Gang scheduling with memory
// considerations", IPDPS 2000, §3.2, describe it, and leaves two things to the
// caller: what running costs (a [Machine]) and which slots run together (a
// [Partner], for paired gang scheduling).
//
// # A quantum
//
// Everything happens at the beginnings of quanta. There, in this order:
//
//  1. the gangs that ended during the last quantum leave the matrix and the nodes;
//  2. if any left, the queue is scanned until nothing in it can start;
//  3. jobs submitted meanwhile arrive, in order of submission: each is placed or
//     joins the queue;
//  4. the next slot of the round runs: its gangs, if asked for also alternates on
//     its idle nodes, and if there is a partner the gangs of that slot on the same
//     nodes.
//
// A round is one pass over the slots there are at its beginning, when those that do
// not overlap are unified (by the [Partner], if there is one); a new slot waits for
// the next round. If nothing is there to run the clock goes to the next submission.
// So a job starts at the first quantum of its slot after its arrival, and ends
// within a quantum, at the instant at which its work is done; the rest of that
// quantum is lost to its nodes.
//
// The simulation is deterministic, and stops with an error if a rule is broken:
// a node's estimates above its limit while others are resident, a job overtaken
// more often than allowed, a gang run twice in a quantum or on a node that is
// taken.
//
// The package carries no promise of compatibility.
package gang

import "errors"

// Sentinels of this package. They are wrapped with the numbers.
var (
	ErrConfig    = errors.New("gang: invalid configuration")
	ErrJob       = errors.New("gang: invalid job")
	ErrInvariant = errors.New("gang: invariant broken")
)
