// Package paging answers what over-committed memory costs, by the models of three
// papers:
//
//   - Y.-M. Wang, K.-T. Chien, Y.-H. Chang and S.-H. Tien, "Memory consideration
//     for parallel job scheduling on SMP clusters", 2007 (parts at TANET 2007),
//     §3.2, Eqs. (4)-(6): by what factor all running jobs slow down, and when each
//     of them then ends.
//   - S. Chen, L. Xiao and X. Zhang, "Dynamic load sharing with unknown memory
//     demands in clusters" (journal form: Xiao, Chen, Zhang, "Dynamic cluster
//     resource allocations for jobs with known and unknown memory demands", IEEE
//     TPDS 13(3), 2002), §3.2, Eqs. (1)-(4): the page faults per second of a
//     machine.
//   - A. Batat and D. G. Feitelson, "Gang scheduling with memory considerations",
//     IPDPS 2000, §4.1: the references of a process with a given locality, and
//     with them the faults of a process in a memory of any size, and of processes
//     that take turns in one memory.
//
// Which of them depends on what is known:
//
//	a pool's memory and what its jobs demand   TayZou, Progress     a factor, no data
//	faults measured on machines like these     FitMemory, FitLine   faults per second
//	locality, and who runs when                Walk, Stack, Memory  each fault
//
// The first costs nothing, and has no parameter that could be wrong or right for a
// machine. The second is only as good as the measurements: the constants that the
// paper gives are those of one machine of its time. In both, all jobs of a machine
// page alike. The third is for the question who pages and how much locality matters;
// it simulates every reference, some twenty million a second.
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
// # Fault rates
//
// For a machine of Chen et al. memory is exceeded by the share Q, and the jobs on
// it have made N reads and writes:
//
//	(1) R(Q) = R_max − α / (βQ² + γQ + δ)     [MemoryRate]
//	(2) R(N) = η + μN                         [Line]
//	(3) R    = R(Q) + R(N)                    [FaultRate]
//
// in faults per second. [ChenXiaoZhang] has the constants of Eq. (4), R_max = 120,
// α = 4, β = 0.31, γ = 0.19, δ = 0.034, η = −174.98, μ = 0.061. A fault takes 10 ms,
// so that the share min(1, R · 10 ms) of all time is [Lost] to them.
//
//	Q     0     .01   .05   .1    .2    .4    .487   .8     1
//	R(Q)  0     8.7   29.7  48.7  72.6  94.9  100    109.6  112.5
//
// The equations need care:
//
//   - Q is a fraction, although the paper speaks of a percentage.
//   - Eq. (1) rises again for Q < −0.61, to 94 faults per second when the memory is
//     empty, and is 2.35 when it is exactly full. It is taken to be 0 for Q ≤ 0.
//   - Eq. (2) is negative below 2869 reads and writes, so that the sum would be
//     negative for most of the paper's own programs. Each part is at least 0 here;
//     [FaultRate.Printed] has the sum as it is printed. N is a count, not a rate: it
//     grows with the age of the jobs, and charges for faults where memory suffices.
//   - Eq. (1) is said to be fitted to many runs, of which three are printed. It says
//     31, 80 and 106 faults per second where 12.5, 44 and 102 were measured. The
//     straight line 5.6 + 149.2 Q is off by less than 2.
//   - Useful work is said to end at about Q = 0.65. By Eq. (1) it does at 0.487.
//
// So measure, and fit: [FitMemory] Eq. (1), [FitLine] Eq. (2) or a straight line in
// Q, each with the standard errors of its parameters. [Assess] tells how well any
// model meets the points, and with it which of two is better.
//
// # References
//
// In the fractal model (D. Thiébaut, "On the fractal dimension of computer programs
// and its application to the prediction of the cache miss ratio", IEEE Trans.
// Computers 38(7), 1989) the addresses that a process refers to are a random walk.
// Its jumps X, in units of 1 KB, follow
//
//	Pr[X > u] = u^−θ     u ≥ 1,  1 ≤ θ ≤ 2
//
// upwards or downwards alike; θ is the locality. [Walk] draws v uniform in (0, 1]
// and jumps v^(−1/θ).
//
//	θ                  1      1.25   1.5    1.75   2
//	jumps below 4      .75    .823   .875   .912   .9375
//	mean jump          ∞      5      3      2.33   2
//
// Of the jumps, 94 % are below 4 for θ = 2 and 75 % for θ = 1, as the paper says.
// Two other things in it do not follow from this law:
//
//   - The program in Fig. 4 jumps r^θ for r in [0, 1], which is one unit at
//     most whatever θ is. WalkConfig.Printed takes these jumps, to compare.
//   - About 100,000 references are said to cover 10 MB when θ = 2. By the law of
//     the text they cover 16 % of it, and 99 % when θ = 1. By the program as printed
//     it is two or three per cent for any θ.
//
// # Faults
//
// Memory is divided into page frames; when a page needs one and none is unused, the
// page that was referred to least recently (LRU) loses its frame. A [Fault] is a
// reference to a page that has lost its frame. The first reference to a page needs
// a frame too, but there is nothing to be read, and neither is it due to a shortage
// of memory.
//
// [Stack] takes one pass over the references of a process and has the faults for
// every size of memory, a [Curve]. For the walk over 10 MB, 2560 pages of 4 KB,
// faults per reference are about
//
//	frames      θ = 1    1.25    1.5     1.75    2
//	 256 10 %   .142     .056    .0205   .0075   .003
//	 640 25 %   .116     .041    .013    .004    .001
//	1280 50 %   .078     .0275   .0085   .002    .0004
//	2048 80 %   .032     .012    .004    .001    .0002
//
// At θ = 1 faults are nearly in proportion to the pages that have no frame. At
// θ = 2 a walk stays where it is for so long that half of its memory is hardly
// missed; but then such a walk has to be very long, millions of references, before
// its faults are anything like these means.
//
// [Memory] is the memory of a node that several processes share: each takes frames
// from whoever used them least recently, and finds out what is left of its own when
// it runs again. The caller lets them run, for instance gang after gang for a
// quantum each. Doing so reproduces the paper's Figs. 5 and 6: times grow faster
// than the number of jobs where memory is promised to more of them than fit, and
// only if locality is low.
//
// # Departures
//
// From Wang et al.: the reading of Eqs. (5) and (6) above, and M* < M. From Chen et
// al.: the bounds of each rate, and α kept at 4 in fits. From Batat
// and Feitelson: jumps by the law rather than the program, and positions rounded
// down rather than towards zero, so that unit 0 is as wide as all others. Their
// experiments ran on real machines; that these replaced pages by LRU is assumed
// here, and what a reference and a fault cost is up to the caller.
//
// Nothing here knows the time, and randomness is the caller's. Progress computes in
// integers, and a Walk rounds every product: the same calls give the same answers on
// every platform, but for the last digits of a fit.
package paging
