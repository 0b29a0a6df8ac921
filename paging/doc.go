// Package paging answers what over-committed memory costs: by what factor the
// running jobs slow down, and when each of them then ends. It follows Y.-M.
// Wang, K.-T. Chien, Y.-H. Chang and S.-H. Tien, "Memory consideration for
// parallel job scheduling on SMP clusters", 2007 (parts at TANET 2007), §3.2,
// Eqs. (4)-(6).
//
// # The factor
//
// Eq. (4) gives the growth N of the execution time from the memory M* that the
// running jobs demand and the memory M of the pool they share, both in bytes
// and both in total:
//
//	N = ½ (H + √(H² − 4)) − 1     H = 1 + M*/M     M* ≥ M
//
// A [Model] answers with the factor f = 1 + N by which everything takes longer,
// and [TayZou] is this one. It extends the equation to M* < M, where nothing is
// paged and f is exactly 1; an exactly full memory also costs nothing. [None] is
// the model without a penalty, and any function of that type can be a third.
//
//	M*/M   1      1.01   1.1    1.3    1.5    2      3      10
//	f      1      1.105  1.370  1.718  2      2.618  3.732  10.908
//
// f is the larger root of f + 1/f = H, which makes the inverse simple:
// [Oversubscription] is M*/M = f + 1/f − 1. Two things are worth knowing before
// the curve is used:
//
//   - Its slope at M*/M = 1 is infinite. For M*/M = 1 + e with a small e the
//     growth N is about √e: one per cent too much already costs 10.5 per cent.
//     For a large M*/M it approaches M*/M − 1.
//   - It is Wang et al.'s simplification of an equation for page faults (Y. C.
//     Tay, M. Zou, "A page fault equation for modeling the effect of memory
//     size", Performance Evaluation 63(2), 2006). That the time of a job grows
//     as the page faults do, that all jobs suffer alike, and that M* is the
//     sum of their demands, are assumptions of Wang et al., not measurements.
//
// # The remaining time
//
// Eqs. (5) and (6) multiply the remaining execution time of every running job
// by N+1 when memory is exceeded and by 1/(N+1) when it is relieved. With
// several changes in a row that has to mean from the old factor to the new one:
//
//	remaining ← remaining · f_new / f_old     every running job, every change
//
// [Rescale] is this line. A job that starts counts itself into M* and begins
// with its run time · f_new.
//
// A [Progress] gives the same ends without touching any job. As all jobs of the
// pool slow down alike, it is enough to keep the work that each of them would
// have received had it run since the epoch, in time at full speed; work grows
// at the rate 1/f. A job that starts at work w and runs for r at full speed
// ends when work reaches w + r, whatever happens to the factor in between, so
// its remaining time is (w + r − work) · f. One change of the factor is then
// O(1) for any number of running jobs, an index of their targets never needs
// to be reordered, and nothing drifts.
//
// Departures from the paper: the reading of Eqs. (5) and (6) above, and M* < M.
//
// Nothing here is random or knows the time, and Progress computes in integers:
// the same calls give the same answers on every platform.
package paging
