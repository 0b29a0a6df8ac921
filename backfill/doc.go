// Package backfill decides which queued jobs of a space-shared machine start
// now, and what is promised to the rest.
//
// Jobs wait in a queue, in the order in which they are to be served. A job asks
// for an amount of every resource (processors, memory, any number of others)
// and for a length of time, its estimate; both are set before it starts. A job
// that starts holds what it asked for until it ends, and is planned to end at
// its start plus its estimate.
//
// # Policies
//
// The policies differ in one number, how many of the first queued jobs hold a
// reservation, the [Depth]:
//
//   - [FCFS] (first come, first served): the head of the queue starts as soon as
//     it fits. Nobody overtakes.
//   - depth 0, [FirstFit]: nobody holds a reservation. Every job that fits
//     starts, in queue order. A wide job can starve.
//   - depth 1, [EASY] (aggressive backfilling): the head holds a reservation at
//     its shadow time, the earliest instant from which all that it needs is free
//     for its whole estimate. A job behind it starts now if it fits now and
//     either ends by the shadow time or needs no more than the extra resources,
//     those that stay free beside the head from the shadow time on.
//   - depth k: the first k queued jobs hold reservations; the others start if
//     they disturb none of them.
//   - [Conservative]: every queued job holds a reservation, the earliest one
//     that disturbs no earlier one, so that it may fall into a hole.
//
// A reservation covers all resources. It is held until the job starts. When a
// job ends before its planned end, or leaves the queue, the schedule is
// compressed: each holder, in queue order, gives up its reservation and takes
// the earliest start that the others allow, which is never a later one. With
// depth 1 that is the same as to compute the shadow time anew at every pass.
//
// Sources: D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, and J.
// Skovira, W. Chan, H. Zhou, D. Lifka, "The EASY-LoadLeveler API project", JSSPP
// 1996 (EASY); A. Mu'alem, D. Feitelson, "Utilisation, predictability,
// workloads, and user runtime estimates in scheduling the IBM SP2 with
// backfilling", IEEE TPDS 12(6), 2001 (conservative backfilling, compression);
// Y.-M. Wang et al., "Memory consideration for parallel job scheduling on SMP
// clusters", 2007, §2 and §3 (memory as a second resource, the relaxed limit).
//
// # A limit that may be relaxed
//
// Wang et al. (§3, Eq. 2) let a job that has waited long enough take memory up
// to M·(1+C) instead of M. Here a machine has a capacity and a relaxed capacity
// per resource, and each job is bound by the one or the other. A limit is
// tested when a job starts, so a plan tests it at planned starts:
//
//	used(t) + need ≤ limit of the starting job            at its start t
//	used(s) + need ≤ limit of the reservation's holder    at every reserved start s within its run
//
// used counts running jobs and reservations. If no job is relaxed, the second
// line says that nobody disturbs a reservation. Otherwise use above capacity is
// the caller's to pay for: jobs slow each other down, ends move, and the shadow
// time is no promise any more. A caller whose jobs all slow down by the same
// factor keeps the promise meaningful by planning in work time (seconds at full
// speed) instead of wall-clock time; package paging has the clock for that.
//
// # Two forms
//
// [Plan] is a pure function of slices. It builds its profile anew, so a pass
// costs O(r log r) for r running jobs, and per reservation or job tested a scan
// of the steps of the profile. [Explain] is the same and says of every queued
// job when it is expected to start and what it waits for. [Planner] keeps the
// profile, the reservations and an index of the queue between passes; a pass
// costs about what changed. It gives the same answers, and overtakes Plan from a
// handful of jobs on; Plan is for a single decision, and to see what a plan is.
//
// # Time
//
// Instants and lengths are [time.Duration]; instants count from an epoch that
// the caller picks. Sums saturate at [Forever], which also is the estimate of a
// job that gave none, and the start of a job that cannot be foreseen to start.
// The package has no clock.
package backfill
