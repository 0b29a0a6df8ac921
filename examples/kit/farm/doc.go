// Package farm simulates a compute farm: machines with a processor, memory and swap
// space each, which run sequential jobs in time sharing and may send them to each
// other by a policy of package loadshare. It follows the farm of S. Chen, L. Xiao
// and X. Zhang, "Dynamic load sharing with unknown memory demands in clusters",
// §5.1.
//
// Part of the examples: it carries no compatibility promise.
//
// # A job
//
// is a list of phases: so much CPU time, with so much memory allocated, and reads
// and writes spread over it. Nobody knows the phases ahead. It is submitted at one
// machine, and waits there while submissions are blocked.
//
// # A machine
//
// The jobs that run share the processor. Time slices are short against everything
// else, so they are not simulated one by one: between two events each job proceeds
// at a constant rate. Of each second of a job
//
//	c        it computes
//	c·i      it reads and writes, i = I/O time per CPU time of its phase
//	p        it waits for the pages that it misses
//	the rest it waits for the processor
//
// The machine as a whole misses pages at a rate that a function of the caller's
// gives, from the share Q by which memory is exceeded and the reads and writes of
// its jobs so far. Its disk serves one at a time, so that p sums up to the rate times
// the time a fault takes, and at most 1. The share of a job is in proportion to what
// its memory has grown in the last two periods or less, or if none has grown, to its
// memory: jobs that allocate suffer most (§3.2).
//
// The processor is shared as equally as possible. A job that reads, writes or misses
// pages cannot compute at the same time, c·(1 + i) ≤ 1 − p, and what it leaves others
// use. With two jobs or more the switches between slices take their part. With
// [Config].Stall a fault stops the whole machine, not only the job: the c then sum up
// to 1 − Σp. The measurements in the paper's Table 2 contradict that: at 102 faults
// a second of 10 ms each, nothing could compute.
//
// When the jobs of a machine need more than memory and swap space, the one that came
// last is killed.
//
// # The farm
//
// All machines know each other as they were at the last period. They decide whenever
// something changed on them, and every period while submissions wait or memory is
// short. A job that moves does not run; its memory, and its place in the number of
// jobs, counts at its target from the moment it leaves. The target looks again
// before: a machine of which the sender knows old news does not take a job that it
// does not have the place for. A submission goes without its memory being known, and
// may have to wait where it arrives, too, or go on from there at the next period.
//
// A machine may fail. Jobs on their way to it are back where they came from, with
// nothing lost; jobs that ran on it start again from their beginning, on it, once it
// has come back.
//
// Every nanosecond of a job between submission and end is in one of the times of its
// [Outcome], which a run checks, always.
package farm
