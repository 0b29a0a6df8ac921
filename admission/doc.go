// Package admission decides whether a job fits beside the jobs that are running.
// For a pool of processors and memory it follows Y.-M. Wang, K.-T. Chien, Y.-H.
// Chang and S.-H. Tien, "Memory consideration for parallel job scheduling on SMP
// clusters", 2007 (parts at TANET 2007), §3, Eqs. (1)-(3).
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
// # A job that never fits
//
// "Not now" and "never" are different answers: a job that needs more than P, or
// more than M·(1 + C), is not admitted by an empty pool either, and
// [Decision.Never] tells so at submission. The paper is silent on such jobs.
// A caller may refuse one, or start one that is short of memory alone when
// nothing else runs.
//
// # Exactness
//
// The limit is floor(M·(1 + C)), computed once by [NewPool], and integers are
// compared from there on. Multiples are taken in decimal, as they are written:
// C = 0.29 of 100 bytes are 29 bytes, although the nearest float64 is a little
// less than 0.29. Sums saturate, so no input overflows.
//
// Departures from the paper: none in the equations. That T multiplies the run time
// rather than being a percentage, the reading of "crowded", and what happens to
// jobs that never fit, are choices where it is not explicit.
//
// All functions are pure, do not allocate unless they return an error, and may
// be called concurrently.
package admission
