// Package estimate predicts how much memory a job will use from what earlier
// runs of it used. It follows A. Batat and D. G. Feitelson, "Gang scheduling
// with memory considerations", IPDPS 2000, §2.
//
// # What is known of a job
//
// When a job has ended, [History.Observe] is told the memory of one of its
// processes, which is per node, in bytes; where they differ, that of the
// largest. A job is identified by the path of its executable, the number of its
// nodes and its user (§2.1.1); jobs that share all three share a record.
//
// [History.Estimate] looks for past runs with the same
//
//	path, nodes and user    or else
//	path and nodes          of any user, or else
//	path                    of any user, on any number of nodes
//
// and rests on the first of these levels that has some. If none has, there is no
// estimate, and a caller may go on to the static size of the executable (§2.2,
// [StaticSize]), and to a constant:
//
//	memory := estimate.FirstOf(&history, estimate.Executable(size), estimate.Constant(256<<20))
//
// An [Estimate] says at which [Level] it was made, and of how many runs.
//
// # From past values to an estimate
//
// A [Bound] makes one number of the values. The default is that of the paper
// (§2.1.3), [Paper]:
//
//	min( max(x), mean(x) + 3·sd(x) )
//
// Up to ten values this is their maximum, so that an outlier counts in full
// until there are ten others:
//
//	values in MB    mean     sd       estimate
//	8 ×4, 40        14.4     12.8     40
//	10 ×9, 50       14       12       50
//	10 ×10, 50      13.636   11.499   48.134
//	10 ×99, 50      10.4      3.980   22.340
//
// [Adaptive], the largest of the last five values and a margin, does better on
// the log that the paper uses (LANL CM-5, January to September 1996, 31,288
// predictions; tuned on the months before). On two other logs it comes closer
// as well, but is too low more often:
//
//	                  within 1 MB     within 5 MB     too low
//	                  Paper  Adaptive Paper  Adaptive Paper  Adaptive
//	LANL CM-5 1996    58.7 % 70.8 %   85.1 % 90.2 %    7.2 %  6.1 %
//	DAS2 fs1 2003     74.3 % 80.1 %   84.7 % 87.7 %    2.0 %  2.6 %
//	UniLu Gaia 2014    9.6 % 15.3 %   25.6 % 31.7 %   18.9 % 21.0 %
//
// (For its bound the paper reports 70 %, 87 % and 6 %, on the log before it was
// cleaned.) So it suits jobs whose memory repeats, or changes for good now and then. Where
// it never repeats, and too low costs more than too high, Paper or [Max] do.
// [ParseBound] knows all bounds by name.
//
// # Two periods
//
// To forget old runs, values are kept for the current period and the previous
// one, each a month in the paper, and estimates rest on both together (§2.1.2).
// [History.Rotate] ends a period; when, the caller's clock says. Then the
// current period becomes the previous one, and a record that did not run in it
// goes:
//
//	run in period    known in period    goes at the end of
//	1                1, 2               2
//	1, 2             1, 2, 3            3
//
// # Limits
//
// The tables of the paper hold 2048 paths and 4096 jobs (§2.1.1), and so does a
// History unless its [Config] says otherwise. Jobs are records here, (path,
// nodes, user), where the paper counts (path, user): it is records that take
// memory, some 100 bytes each besides their names. When an observation exceeds
// a limit, the least recently observed record is evicted, and the next one,
// until both limits hold. No two are equally old, as observations come one
// after the other.
//
// The coarser levels have statistics of their own. They keep the values of a
// record that was evicted until these are too old, or until their own last
// record goes.
//
// # Departures from the paper
//
// It leaves open which standard deviation is meant, here that of the population
// (up to ten values it makes no difference), what is done when a table is full,
// and which process counts if they differ. [Adaptive] and executables other than
// a.out are additions.
//
// # Determinism
//
// Estimates, evictions and the bytes of a [History.Snapshot] depend on the
// calls made alone. They are the same on every platform and in every process.
package estimate
