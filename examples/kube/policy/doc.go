// Package policy decides, for a scheduler that tries one process at a time, which
// job may be tried now, and how much memory its processes will need. It knows
// nothing of Kubernetes: package plugin translates pods into its terms.
//
// # Jobs
//
// A job is a gang of processes, or a process alone. Jobs holds all of them, from
// the first process seen to the last one gone. A job is
//
//	gathering  until as many of its processes are known as belong to the gang
//	waiting    in the queue of package admission, in the order in which jobs were
//	           complete
//	aside      out of the queue, as no free memory would help it
//	started    once all of the gang have been placed
//
// # The bounded skip
//
// The queue is that of A. Batat and D. G. Feitelson, "Gang scheduling with memory
// considerations", IPDPS 2000, §3.2: jobs that fit may start before jobs that do
// not, but nobody is passed over more than K times. Then no job behind it starts
// before it does. Two things differ from a scheduler that owns its nodes:
//
//   - The scheduler asks. It takes processes in an order of its own, and each time
//     asks [Jobs.May] whether the job may be tried. When the last process of a gang
//     has been placed, in [Jobs.Place], the job has started, and each job ahead of
//     it in the queue has been skipped.
//   - Jobs have priorities. One of higher priority is ahead of all of lower; it
//     skips none of them. So K bounds what jobs of the same or of lower priority can
//     do to a job, not what higher priorities do.
//
// What a gang has more than it needs passes the others as a process alone does. When
// all that had nodes are gone, those left are another run of the gang.
//
// A job that would not start on an empty cluster must not hold the others for
// ever. The scheduler finds out when it tries, and says so by [Jobs.SetAside];
// [Jobs.Return] puts the job at the end of the queue.
//
// # Gangs that are broken
//
// If a started gang loses a placed process and has another that waits, because
// binding failed, because the scheduler died between two bindings, or because a
// process was replaced, then it is broken: its other processes hold memory and
// cannot work. A broken gang is put back before all others, as one that was skipped
// K times, so that what it needs goes to no one else.
//
// # History
//
// History estimates memory by package estimate, and is saved and loaded with the
// time up to which it has learnt, so that a run that is reported twice counts once.
//
// Jobs and History may be used concurrently.
package policy
