// Package estimate predicts how much memory a job will use, from what earlier
// runs of it used. It follows A. Batat and D. G. Feitelson, "Gang scheduling
// with memory considerations", IPDPS 2000, §2.
//
// # What is known of a job
//
// When a job has ended, [History.Observe] is told the memory of one of its
// processes, that is, per node, in bytes; where its processes differ, of the
// largest. A job is identified by the path of its executable, the number of its
// nodes, and its user (§2.1.1). All jobs with the same three have one record.
//
// [History.Estimate] looks for past runs with the same
//
//	path, nodes, user   or else
//	path, nodes         of all users, or else
//	path                of all users and numbers of nodes
//
// and rests on the first of these levels that has any. If none has, there is no
// estimate, and the caller may go on to the static size of the executable
// (§2.2, [StaticSize]) and to a constant:
//
//	memory := estimate.FirstOf(&history, estimate.Executable(size), estimate.Constant(256<<20))
//
// An [Estimate] says at which [Level] it was made, and of how many runs.
//
// # From values to an estimate
//
// A [Bound] makes one number of the past ones. The paper's is [Paper],
//
//	min( max(x), mean(x) + 3·sd(x) )
//
// the default. With up to ten values that is their maximum, so an outlier counts
// in full until there are ten others:
//
//	values in MB    mean     sd       estimate
//	8 ×4, 40        14.4     12.8     40
//	10 ×9, 50       14       12       50
//	10 ×10, 50      13.636   11.499   48.134
//	10 ×99, 50      10.4      3.980   22.340
//
// [Adaptive] is what was found to be better on a log. In the paper's experiment,
// the last nine months of the LANL CM-5 log, 31,288 predictions, it comes within
// 1 MB of the actual use in 70.9 % of them (Paper 58.7 %), within 5 MB in 90.3 %
// (85.1 %), and is too low in 6.1 % (7.2 %). It was tuned on the months before. On two other logs it is closer as
// well (80.1 against 74.3 % within 1 MB on DAS2 fs1, 15.3 against 9.6 % on
// UniLu Gaia) but too low more often (2.6 against 2.0 %, 21.0 against 18.9 %). So take it
// where values repeat, or change now and then for good, and Paper or [Max] where
// too low is what must not be. [ParseBound] has them all by name.
//
// # Two periods
//
// So that old runs are forgotten, values are kept for the current period and the
// previous one, by default of the paper a month each, and estimates are made of
// both together. [History.Rotate] ends a period; when, is for the caller's clock to say.
// What the previous period held is dropped then, and so are the records that
// did not run in the period that ends:
//
//	run in period     known in    gone with
//	1                 1, 2        the second rotation
//	1 and 2           1, 2, 3     the third
//
// The coarser levels have values of their own, so they are not affected by the
// order in which records go.
//
// # Limits
//
// The paper's tables hold 2048 paths and 4096 jobs, in 320 KB. These are the
// defaults of [Config]; here a job means a record, (path, nodes, user), where
// the paper counts (path, user). When an observation exceeds a limit, the record that was observed
// least recently is evicted, and the next, until the limit holds again. No two
// records are equally old, as one observation comes after the other.
//
// A path, or a path with a number of nodes, goes with its last record. Until then it keeps
// the values of the records that were evicted below it, as long as they are not
// too old: an eviction never makes a coarser level forget. To keep that true a new
// record is made before an old one is evicted.
//
// # Departures from the paper
//
// The standard deviation is that of the population; the paper does not say, and
// up to ten values it makes no difference. Evicting the least recently observed is a choice, as
// the paper does not say what happens when its tables are full. Adaptive is an
// addition, and so are executables other than a.out.
//
// # Determinism
//
// Estimates, evictions and the bytes of a [History.Snapshot] are functions of the calls made,
// the same on every platform and in every process.
package estimate
