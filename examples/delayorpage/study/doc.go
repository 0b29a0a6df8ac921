// Package study asks a question that runs through the papers of this library and that
// none of them answers: a job for which memory does not suffice, should it wait, or run
// and page? If jobs are let in as long as they demand no more than C times the memory M,
// which C is best? C = 1 makes them wait, C > 1 lets them page, C < 1 keeps a reserve.
//
// # The machine
//
// is the space-shared one of package spaceshare: EASY backfilling over processors and one
// pool of memory, with run times known. Wherever the running jobs demand more than M, all
// of them take f times as long. Three papers say what f is, as a function of c, the memory
// demanded over M:
//
//	locality   f = 1 + μ(1/c)·fault/access    Batat & Feitelson 2000, §4.1: μ(s), the faults
//	                                          per reference of a walk of locality θ that has
//	                                          the share s of its frames, replaced by LRU
//	tay-zou    f + 1/f = 1 + c                Wang et al. 2007, Eq. (4)
//	chen       f = 1/(1 − R(c−1)·fault)       Chen, Xiao & Zhang, Eq. (1): R faults a second
//	chen-line  the same, R = 5.6 + 149 (c−1)  a straight line through their measurements
//
// On this machine a job that waits for memory leaves processors idle, up to the headroom,
// the number of processors over those in use when memory is just full. So it is where
// over-commitment can win: it puts idle processors to work. On a gang-scheduled one it
// cannot raise throughput, as no processor is idle there (see package memgang/study).
// That all jobs pay alike is what the three models have in common. If a newcomer alone
// had to pay, its predecessors keeping all their memory, then letting it in could never
// slow a space-shared machine down.
//
// # The rule
//
// Let jobs always wait. A limit of C lets C times as many run as just fit, and each
// proceeds at 1/f of its speed, so that throughput is, relative to that with C = 1,
//
//	g(C) = C / f(C)
//
// It pays to let one more in as long as the elasticity of f, (C/f)·df/dC, is less than 1,
// and it has paid if g > 1. This is the criterion of P. Denning, K. Kahn, J. Leroudier,
// D. Potier, R. Suri, "Optimal multiprogramming", Acta Informatica 7, 1976, for a machine
// with a processor for every job. Three things in f decide:
//
//   - its start. Tay and Zou's f rises like √(C−1), Chen's and a locality's with a finite
//     slope: the fault time has to be below 1/slope for the first step to pay.
//   - its curvature. Tay and Zou's f, R and μ are concave in c: the first pages to be missing
//     cost the most. If that is too much for g, it falls first and rises afterwards, and the
//     best limit is at one end, 1 or all that processors allow. Only the straight line has
//     a best limit in between: faults that do not level off end in a standstill.
//   - its end. Chen's R ends at 120 a second, so that f is bounded and g unbounded if 120
//     faults take less than a second. A locality's f is bounded, too. Tay and Zou's f
//     grows as C itself: with x = 1/f, g = 1 − x + x², at most 1, and 3/4 at C = 3/2.
//
// # Arrivals
//
// Where jobs arrive over time there are other things to win. [Queue] has the theory: run
// times of all jobs are stretched by paging, or newcomers wait. Waits in a queue grow with
// the variability of run times, sharing does not suffer from it, so that more is let in
// than the rule says (V. Gupta, M. Harchol-Balter, "Self-adaptive admission control
// policies for resource-sharing systems", SIGMETRICS 2009). And figures weigh the two
// differently. A mean run time of waiting adds as much to the mean response as a mean run
// time of paging, but to the mean slowdown it adds as much as the mean run time is longer
// than the harmonic mean: 128 times here.
//
// # Errors
//
// If jobs use other amounts of memory than they ask for, C = 1 pages, too. In the rule f
// is then the mean over what may be in use, see [Expected], and a reserve pays if f is
// steep.
//
// # The finding
//
// For jobs that hold an eighth of the memory each, four times the processors that are in
// use when memory is full, and limits up to 3:
//
//   - It depends on how long a fault takes, by far more than on load. By throughput a limit
//     of 3 beats 1 if a fault takes less than 39 µs (θ = 1), 3.2 ms (θ = 2), at 2 µs a
//     reference, or 5.7 ms (chen); never with tay-zou. With a disk, 10 ms a fault, all models
//     say delay. They disagree on what it costs not to: at load .7 C = 1.2 multiplies the mean
//     response by 1.4 (tay-zou), 20 (θ = 2), 24 (chen) or 2600 (θ = 1).
//   - A little is no test for a lot. With chen and 5 ms, C = 1.05 loses 5 % of the
//     throughput, 1.5 loses 24 %, and 3 gains 22 %.
//   - By response load lowers the best limit only where the cost is convex (chen-line at 5 ms:
//     1.5, 1.3, 1.2 at loads of .5, .7, .9). Elsewhere it decides how much is at stake.
//   - Mean slowdown asks for more over-commitment than mean response. With tay-zou at load
//     .5 a limit of 3 adds 4 % to the response and divides the slowdown by 11; at .9 C = 1 is
//     best by both.
//   - The rule, and the theory for arrivals, predict the best limit nearly always.
//   - With errors of 30 % and a disk, a reserve is best: C of .5 or .6 for θ = 1, .8 for
//     θ = 2. (Batat & Feitelson's .8 is for another error, of how much memory is free.)
//
// FINDING.md, in the program's folder, has the numbers.
//
// # Limits
//
// A walk has no working set smaller than all its memory: a program of which half is never
// used again has f = 1 up to C = 2. Eq. (1) is used far beyond the 65 % up to which it was
// fitted. Faults of a locality do not wait for each other's disk. Run times, memory and
// processors are independent of each other, in the generated workload.
//
// The package carries no promise of compatibility.
package study
