// Package spaceshare simulates a space-shared machine: it replays a workload
// under a policy of package backfill and says when each job starts and ends.
//
// Part of the examples: it carries no compatibility promise.
//
// The machine has identical processors and, if memory is considered, one pool of
// memory. A job holds what it asks for from its start to its end; it is planned
// to run for its estimate and runs for its run time. Where the memory limit may
// be relaxed (Wang et al. 2007, §3), jobs that have waited their threshold start
// beyond the memory that is there, and all running jobs slow down by the factor
// of a paging model. Plans are then made in work time, time at full speed, which
// all running jobs share: a slowdown moves no planned end there, and a change of
// the factor costs O(1).
//
// Every start and end is checked against the rules of the machine, always: see
// [Replay].
package spaceshare
