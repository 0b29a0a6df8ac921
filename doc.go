// Package gangkit is the root of a library of scheduling policies for parallel
// jobs, above all for jobs that compete for memory. It holds no code: the
// policies are small packages of plain values and functions that know nothing of
// each other. A scheduler or simulator of yours calls them; they own no clock,
// no goroutine and no I/O.
//
// # Packages
//
//	backfill    which queued jobs start now, and what is promised to the rest:
//	            FCFS, EASY, conservative, k reservations; any number of resources
//	estimate    how much memory a job will use, by its history: path, nodes and
//	            user; survives a restart
//	admission   does a job's memory fit: on each node, or in a pool whose limit
//	            relaxes for jobs that have waited; a queue in which nobody is
//	            overtaken too often
//	matrix      which slot and which nodes a gang gets: the Ousterhout matrix,
//	            packed by buddy controllers and their rivals
//	pairing     which gangs share a time slice: predict, match
//	paging      what over-committed memory costs: a slowdown factor and the ends
//	            of running jobs when it changes, rates of page faults, references
//	            of a given locality
//	folding     how moldable jobs start, and which running jobs are folded to
//	            make room: FJT and its rivals
//	loadshare   whether a machine accepts a job, which of its jobs leaves, and
//	            where to, when nobody knows what memory they will need
//
// # How they compose
//
// A space-shared machine with a relaxed memory limit (Wang et al. 2007):
//
//	a job arrives        admission.Threshold: when its limit is to relax
//	                     backfill.Planner.Submit
//	it has waited long   backfill.Planner.Relax
//	any of these         backfill.Planner.AppendStarts: which jobs start
//	a job starts, ends   paging.TayZou: the slowdown of all that run
//	                     paging.Progress.SetFactor, then When: the next end
//
// As all running jobs slow down alike, plans are made in work time, the time at
// full speed that paging.Progress keeps: a slowdown then moves no planned end.
// The example of this package does it in a page; examples/kit/spaceshare is the
// whole of it, and examples/replay runs it on logs.
//
// A machine whose jobs are moldable (Utrera et al. 2004):
//
//	a job arrives        folding.Policy.AppendArrival: fold whom, start how
//	a job ends           folding.Policy.AppendRelease: unfold whom, start whom
//
// examples/kit/molding does what the steps say, and examples/fold compares policies.
//
// A farm of machines that share load (Chen, Xiao & Zhang 2002):
//
//	a machine reports    loadshare.Index.Set
//	a job arrives, grows loadshare.Policy.Decide, whose candidate is
//	or ends              loadshare.Index.Candidate: accept, submit elsewhere, migrate
//	what paging costs    paging.FaultRate, paging.Lost
//
// A gang-scheduled cluster (Batat & Feitelson 2000, Wiseman & Feitelson 2003):
//
//	a job arrives        estimate.History.Estimate: what it will need
//	                     admission.Queue.Arrive, whose test is
//	                     matrix.Matrix.Place, whose test per node is
//	                     admission.Nodes.Fits
//	a round begins       matrix.Matrix.Unify
//	                     pairing.Matcher: which slots share their quanta
//	a quantum ends       pairing.Predictor.Observe: what each gang computed
//	a job ends           estimate.History.Observe: what it did need
//	                     matrix.Matrix.Remove, admission.Queue.Next until none fits
//
// The second example does it in a page; examples/kit/gang is the whole of it, and
// examples/memgang and examples/pairedgang measure what it is worth.
//
// # Common to all
//
// Memory is int64 bytes. Instants and lengths are [time.Duration], instants since
// an epoch that the caller picks. Ratios are float64. Nodes and processors are
// int. Pure functions answer with indices into the caller's slice; containers
// with state take an ID of any comparable type. A "no" is a value. Bad input gets
// an error that names the value and wraps a sentinel of the package, and the
// state stays as it was. The same input gives the same answer on every platform.
//
// # Words
//
//   - Processor: what a job needs one or more of, to itself, under space sharing.
//   - Node: has memory, and one or more processors.
//   - Rigid job: runs on as many processors as it asks for; a moldable job may be
//     given fewer at its start.
//   - Estimate: how long a job is planned to run, usually the user's; run time:
//     how long it does.
//   - Backfill: start a job before others that came earlier, in resources that
//     these cannot use yet.
//   - Reservation: a start promised to a queued job, covering all resources.
//   - Shadow time: the reserved start of the head of the queue under EASY. Extra
//     nodes (processors, memory): what stays free then, after the head starts.
//   - Compression: moving reservations to earlier starts when a job ends early.
//   - Gang: the processes of a job that run at the same time. Ousterhout matrix:
//     rows are slots of time, columns are processing elements (PEs), and a gang
//     fills cells of one slot. Multiprogramming level: slots in use. Alternate: a
//     gang that also fits into another slot's idle PEs.
//   - Working set: the memory that a process needs to run without paging.
//   - Wait: start less submission. Response: end less submission. Slowdown:
//     response / run time. Bounded slowdown: max(1, response / max(run time, τ)),
//     τ = 10 s unless stated.
package gangkit
