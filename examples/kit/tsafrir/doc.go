// Package tsafrir invents the run-time estimates that users would have given
// for jobs with known run times. Schedulers that backfill plan with estimates,
// and those of users are few round numbers, far too long: 20 values carry nine
// jobs of ten. The model is that of D. Tsafrir, Y. Etsion & D. G. Feitelson,
// "Modeling user runtime estimates", Job Scheduling Strategies for Parallel
// Processing 2005, with the parameter values of the authors' published program.
// It is part of the examples and carries no compatibility promise.
//
// # The model
//
// For n jobs and a greatest estimate E (the site's limit on run times):
//
//  1. There are K = Values(n) different estimates.
//  2. The head, 20 of them, carries 89 % of the jobs. The value of popularity
//     rank x = 2..20 has 14.0491·e^(−0.177531·x) + 0.462513 % of them; rank 1
//     has the rest, 21.733 %.
//  3. Head times are E, those of 5, 10, 15, 20, 30 min, 1, 2, 3, 4, 5, 6, 8, 10,
//     12, 18 h that are below it, and then multiples of 200, 100, 50, 10, 5, 2,
//     1 h, 20, 10 and 5 min, the greatest first, until there are 20. E is the
//     most popular.
//  4. The tail has the other T = K − 20 values, at E·(a−1)x/(a−x) for x = 1/T,
//     2/T, .. 1, where a = 1 + 12.1039·K^(−0.6026), in whole minutes, moved by
//     seconds off values in use. Rank r = 21..K has a share proportional to
//     795.6·r^(−2.267), 11 % in total, and any of the tail's times.
//  5. Shares become numbers of jobs: rounded, at least 1, n in total.
//  6. In order of run time, the longest first, each job takes one of the
//     estimates that no job has yet and that are not below its run time, each
//     with the same probability.
//
// # When the model fails
//
// Step 6 fails if more jobs run longer than some time than there are estimates
// of that length: the model knows nothing of run times until then. Estimates
// returns ErrShort and names the job. Measured on 200 workloads each of 100, 1000
// and 5000 jobs of the Lublin-Feitelson model, cut at E:
//
//	E          typeless    typed (batch and interactive)    batch alone
//	8 h .. 400 h   never   never                            never
//	4 h            never   1 % of 100 jobs, else never      nearly always
//	1 h, 2 h    mostly     3 % of 100 jobs, else never      always
//
// So give such a workload a limit of at least 8 h; the 18 h and 36 h of real
// sites are safe. Where failures are rare, call again with the same generator: it
// draws new ranks. Where more than 21.733 % of the runs are cut at E no draw can
// succeed; raise E. There is no guarantee for an arbitrary log: a program that
// must go on falls back to the f-model below, which cannot fail.
//
// Runs above E are an error, not cut: a run cut without the caller's knowledge
// would be longer than its estimate. A site with that limit would have killed
// the job, so cut the run in the workload: run = min(run, E).
//
// # Departures
//
// The authors bias the ranks of the head's times by those that four logs gave
// to each time; here every order of the 19 times below E is equally likely. The
// optional list of popular values known beforehand is left out. Choices where
// the paper is silent: K beyond 250,000 jobs; fewer than 20 values (up to 200
// jobs) are the most popular ones of the head, their shares scaled to 100 %;
// below E = 1 h 40 min, where the multiples of 5 min are fewer than 20, those of
// 1 min follow.
//
// Simpler models need no package: exact estimates are the run times, and the
// f-model multiplies each by a number uniform on [1, f].
//
//	estimate = time.Duration(float64(run) * (1 + (f-1)*r.Float64()))
package tsafrir
