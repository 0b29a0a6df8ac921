// Package swf reads and writes job logs in the Standard Workload Format, the
// text format of the Parallel Workloads Archive
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html). The archive and
// the logs in it are described by D. G. Feitelson, D. Tsafrir and D. Krakov,
// "Experience with using the Parallel Workloads Archive", Journal of Parallel
// and Distributed Computing 74(10), 2014; please cite that paper, and the
// people named in a log's Acknowledge lines, when you publish results.
//
// The package is part of the examples of gangkit. It carries no compatibility
// promise.
//
// # The format
//
// A line is a comment that starts with ';', or one job: 18 decimal numbers
// between white space (see [Job]). -1 means unknown. The comments at the top say
// what machine it was, one "Keyword: value" each (see [Header]).
//
//	; Computer: IBM SP2
//	; MaxProcs: 128
//	1  0 13 50866 64 489.00 -1 64 64800 -1 1 95 -1 -1 4 -1 -1 -1
//
// [Reader] takes that text plain or compressed with gzip, streams it, and names
// file, line and field of everything it cannot read. It repairs nothing, drops
// nothing and keeps the order of the file: what is faulty, unusable or out of
// order in a log is a decision of the study, to be made and reported by the
// program.
//
// # Pitfalls
//
// What the lines of real logs hold, and a program must be ready for:
//
//   - Any field may be -1, also in all lines of a log, and other negative values
//     occur. Test for < 0.
//   - Zero can mean unknown too: used memory and CPU time above all. A run time of
//     0 is real: it means less than half a second.
//   - Of the two processor counts one is often missing, so use [Job.Processors].
//     Both may be. They may differ, and either may exceed the machine.
//   - A run time of -1 belongs to a job that never ran, or had not ended yet.
//   - Jobs run longer than the time that they requested, up to a third of them.
//   - Memory is in KB per processor: neither per node nor the job's total. Used
//     memory may exceed the requested memory, and outliers are huge.
//   - Status may be an exit code instead of a status. Jobs that failed or were
//     cancelled while they ran did hold processors. With status 2, 3 or 4 a line is
//     a part of a job, and several lines share a job number.
//   - Job numbers start anywhere and have gaps. Submit times start anywhere, many
//     jobs share one, and they may go back: sort stably before simulating.
//   - Where field 3 is -1 throughout, field 2 may be the start rather than the
//     submission.
//   - Submit plus wait is not a schedule that fits the machine: jobs overlap.
//   - MaxJobs and MaxRecords may count a log as it was before it was cleaned, and
//     MaxProcs is the maximum over the log's time.
//   - Logs that were not cleaned contain flurries: one user's thousands of jobs.
//
// # Numbers
//
// A field is a decimal number such as 3436, 489.00, -1 or 1e5. It is read as the
// float64 nearest to it; fields that are counts or codes are then truncated
// toward zero. Numbers with |x| ≥ 2^53 are refused, since not every integer from
// there on is a float64. So are NaN, infinities and hexadecimal.
package swf
