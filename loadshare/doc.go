// Package loadshare decides how the machines of a cluster share load when nobody
// knows how much memory a job will need: whether a machine accepts a submission,
// which of its jobs leaves, and where it goes. It follows S. Chen, L. Xiao and X.
// Zhang, "Dynamic load sharing with unknown memory demands in clusters" (journal
// form: Xiao, Chen, Zhang, "Dynamic cluster resource allocations for jobs with
// known and unknown memory demands", IEEE TPDS 13(3), 2002), §4.
//
// Every machine watches what its jobs have allocated, in bytes, and how far that
// exceeds the memory M that jobs can use on it:
//
//	Q = (Σ WS − M) / M      a share: 0.05 if five per cent are missing, −1 when empty
//
// and compares Q with its memory threshold MT, and its number of jobs N with its
// CPU threshold CT.
//
// # The loop
//
// The paper's loop runs for ever and waits in it. [Policy.Decide] is the body as a
// function, to be called when a job arrives, ends or changes its memory, and
// periodically. It has no memory of earlier calls: what fails is tried again at the
// next.
//
//	Q and MT          N and CT    submissions   beside that
//	Q < MT            N < CT      accepted
//	Q < MT            N = CT      blocked
//	Q < MT            N > CT      blocked       migrate a job
//	MT ≤ Q ≤ 0        N ≤ CT      blocked
//	MT ≤ Q, 0 < Q     N ≤ CT      blocked       migrate a job
//	MT ≤ Q            N > CT      blocked       migrate a job
//
// While submissions are blocked, the one that waits longest is submitted to another
// machine. There is at most one migration a call, and one under way a machine.
//
// MT makes three schemes of it, and Q > 0, when jobs page, is only the first of
// three conditions for a migration due to memory: all of Q > 0, Q ≥ MT and
// Q ≥ [Config.Internal] have to last for [Config.Grace].
//
//	MT < 0    block before anything pages, and migrate as soon as it does:
//	          the fewest faults, many migrations
//	MT = 0    the same without warning; with a short Grace the faults may end
//	          by themselves, when a job does
//	MT > 0    block when paging has reached MT, and migrate from there on, or
//	          from a higher Internal on: the fewest migrations
//
// # Which job
//
// A [Selector]: the job with [MostFaults], [LargestWorkingSet], [MostIO], the
// [Oldest], [Youngest], or the one with the [HighestWeight] or [LowestWeight]:
//
//	(5) Weight(i) = ¼ ( Age(i)/max Age + R(i)/max R + WS(i)/max WS + N_io(i)/max N_io )
//
// The oldest is the best guess at the job that will still run for long: of jobs
// older than a second, the share 1/t gets t seconds old (M. Harchol-Balter and A.
// Downey, "Exploiting process lifetime distributions for dynamic load balancing",
// ACM TOCS 15(3), 1997), so that the remaining life is about the age. A migration
// then pays if, by [Worthwhile],
//
//	Age > cost / (n − m)        n jobs here, m there with the newcomer
//
// which [Config].Cost adds to any selector. The cost of sending a working set of D
// bits over a network of B bits a second is r + D/B, [Network.Migration].
//
// # Which machine
//
// Only one is looked at, [Candidate]: the one with the most free memory of those
// with N < CT. It takes a submission if Q < MT, [Machine.Accepts]. It takes a job
// that migrates, [Policy.Takes], as printed if Q < MT or the job fits into free
// memory and buffer cache; this lets a machine a little below MT take a job of any
// size, which it then has to send on. With [Config.Fit] both must hold.
//
// An [Index] finds the candidate among any number of machines without looking at
// each; it pays from some twenty machines on.
//
// # Departures from the paper
//
// The loop has lost its indentation in print: its else is taken to belong to
// Q ≤ 0. It submits blocked arrivals elsewhere only while MT ≤ Q ≤ 0, whereas the
// text does so whenever they are blocked; [Config.InLoop] is the loop's way. Where
// the loop calls the finder for migrations to place a submission, the finder for
// submissions is meant, as no working set is known yet. Eq. (5) mixes two indices;
// a term whose maximum is 0 counts as 0.
//
// Of what was measured, negative amounts and NaN count as 0, and nothing overflows:
// memory saturates. All ties go to the lowest index. Everything but an Index is
// pure and may be called concurrently, and nothing allocates but [NewIndex] and
// errors.
package loadshare
