// Package admission decides whether a job's memory fits beside the jobs that are
// running, and which of those that wait is the next to start.
//
// Where each node has its memory, it follows A. Batat and D. G. Feitelson, "Gang
// scheduling with memory considerations", IPDPS 2000, §3.2: [Nodes] is their
// test, [Queue] their queue. Where all jobs draw on one pool of processors and
// memory, it follows Y.-M. Wang, K.-T. Chien, Y.-H. Chang and S.-H. Tien, "Memory
// consideration for parallel job scheduling on SMP clusters", 2007 (parts at
// TANET 2007), §3, Eqs. (1)-(3): [Pool] and [Threshold].
//
// # Memory on each node
//
// Paging stops the processes of a gang at different times, so that all of them
// wait for each other. A gang is therefore placed only on nodes that satisfy
//
//	(1) proc mem ≤ phys mem · C − used mem     C > 0
//
// proc mem is what one process of the job needs, usually an estimate from earlier
// runs; the job has one process on each of its nodes. phys mem is the memory of
// the node that is free for processes, and used mem the sum over the processes on
// the node, in whichever slot they run. All are bytes. Equality admits. C is near
// 1; it is called Factor here, since Wang et al. use the letter for Factor − 1.
//
// used mem are the needs that the caller gave. A caller that measures gives the
// greater of estimate and measurement to [Nodes.Reestimate].
//
// A job that finds not enough nodes waits, until there are enough or the total
// load is zero: when nothing runs at all, any job starts, even one larger than
// the memory. Only memory is waived. [Nodes.AppendNodes] and [Nodes.Enough] know
// of this exception, [Nodes.Fits] is Eq. (1) and nothing else. A caller that
// places gangs by a test per node, in an Ousterhout matrix, makes it thus:
//
//	fits := func(node int) bool { return nodes.Fits(need, node).Admit }
//	up := func(node int) bool { return nodes.Limit(node) >= 0 }
//	placed := place(fits) || nodes.Idle() && place(up)
//
// # The queue
//
// When a job finishes, the waiting jobs are scanned in order for the first that
// can start, and that is repeated until none can. To avoid starvation nobody is
// skipped more than K = 15 times: then no other job starts before it does.
//
//   - A start skips, once, each job that is ahead of the started one and stays.
//     A scan that starts nobody skips nobody.
//   - A job that arrives is tried at once. If it starts, all that wait are
//     skipped; if not, or if somebody has been skipped K times, it waits at the
//     end.
//   - Behind a job that has been skipped K times nobody starts.
//
// Newcomers have no skips, and a start adds one to all that are ahead of it. So
// skips never increase towards the end, and the first to be skipped K times is
// the head. It also follows that starts are K places behind the head on average
// at most: in a long queue the bound rules, and one job of which the memory is
// hard to find holds up the others for as long as it takes.
//
// A job that uses much more than was estimated may be taken out, estimated anew
// and put back (§5): [Queue.PutBack] makes it the head, with the skips it had.
// Jobs behind it can have more, so the first to be skipped K times may stand
// behind such jobs; these may start with it. As the head is ahead of all, its
// second start skips nobody: a job that is put back again and again delays others
// without a bound, which is the caller's to prevent.
//
// A job that does not fit into an idle system, because it needs more nodes than
// there are, must be refused when it is submitted.
//
// # A pool whose memory limit is relaxed
//
// A job may start if both hold:
//
//	(1) processors needed ≤ P − processors used
//	(2) memory needed     ≤ M·(1 + C) − memory used     C ≥ 0
//
// P and M are the processors and the memory of the whole pool, and a job's needs
// are those of the whole job, not of each node or process; memory is in bytes.
// An exactly full pool is admitted. C is by how much the memory limit may be
// exceeded, as a share of M: 0 is strict, 0.1 allows ten per cent more. It is
// called Excess here, as other papers use the letter for the factor 1 + C.
//
// Above M the running jobs page and all of them slow down. So C applies only to
// a job that has waited long enough for its length,
//
//	(3) wait time threshold = run time · T
//
// and before that the limit is M. [Threshold] is the instant at which the wait
// is that long; from there on, equality included, the caller passes relaxed =
// true to [Pool.Fits]. Crossing the threshold is an event: a scheduler that does
// not run a pass at that instant starts the job late, at whatever event comes
// next. T = 0 relaxes the limit for every job from its submission on. T is a
// plain multiple of the run time: 25, for which the paper finds the best results
// where memory is not very short, lets a job of one minute wait 25 minutes. For
// a quarter of the run time pass 0.25.
//
// The paper relaxes the limit only "when the system is crowded", which is read
// here as: when the job does not fit below M. So there is nothing else to test.
//
// "Not now" and "never" are different answers: a job that needs more than P, or
// more than M·(1 + C), is not admitted by an empty pool either, and
// [Decision.Never] tells so at submission. The paper is silent on such jobs.
// A caller may refuse one, or start one that is short of memory alone when
// nothing else runs.
//
// # Exactness
//
// Limits, floor(phys mem · C) and floor(M·(1 + C)), are computed once, and
// integers are compared from there on. Multiples are taken in decimal, as they
// are written: C = 0.29 of 100 bytes are 29 bytes, although the nearest float64
// is a little less than 0.29. Sums saturate or are refused, so no input overflows.
//
// # Departures from the papers
//
// None in the equations. Where Batat and Feitelson are not explicit, these are
// choices: that arrivals count as skips, what putting back means, which nodes are
// taken where many would do, and that a job that an idle system has room for
// takes no other nodes. Where Wang et al. are not: that T multiplies the run time
// rather than being a percentage, the reading of "crowded", and what happens to
// jobs that never fit.
//
// [Pool] and [Threshold] are pure, and may be used concurrently. Nothing in this
// package allocates in a steady state.
package admission
