// Package metrics turns the finished jobs of a simulated or logged run into
// the figures by which papers on parallel job scheduling compare policies.
// It is part of the examples and carries no compatibility promise.
//
// A job is submitted at s, starts at b, ends at e, would run r at full speed
// and holds p processors from b to e (the instant e is free again). From D.
// Feitelson, L. Rudolph, U. Schwiegelshohn, K. Sevcik and P. Wong, "Theory and
// Practice in Parallel Job Scheduling", JSSPP 1997:
//
//	wait      b − s
//	response  e − s               = wait + r, unless the job was preempted or slowed
//	slowdown  (e − s) / r         undefined for r = 0
//	area      r·p                 processor-seconds
//
// A slowdown makes every job equal whatever its length, and so a job of one
// second that waits a minute counts sixty times one of an hour that waits an
// hour. D. Feitelson, "Metrics for Parallel Job Scheduling and Their
// Convergence", JSSPP 2001, therefore bounds the run time from below by
// τ = 10 s; Wang et al., eq. (7), put the bound at another place:
//
//	bounded slowdown            max(1, (e − s) / max(r, τ))
//	Wang's                      (b − s + max(r, τ)) / max(r, τ)
//	per-processor               max(1, (e − s) / (p·max(r, τ)))
//
// The first two agree for a job that ran undisturbed for τ or longer.
//
// # The system
//
// A run is observed from T0, the first submission, to T1, the last end. With
// P processors, n(t) = max(0, P − busy(t)) of them idle, and a queue of the
// jobs submitted and not started:
//
//	utilisation     Σ r·p / (P·(T1 − T0))
//	occupied share  Σ (e − b)·p / (P·(T1 − T0))
//	loss            ∫ n(t)·δ(t) dt / (P·(T1 − T0))
//	idle, no demand ∫ n(t)·(1 − δ(t)) dt / (P·(T1 − T0))
//
// δ = 1 while some job waits: Y. Zhang, H. Franke, J. Moreira and A.
// Sivasubramaniam, IEEE TPDS 14(3), 2003. Two narrower losses are given beside
// it: the avoidable one, where δ = 1 only while some waiting job needs no more
// than the n(t) idle processors (memory is not looked at), and the
// demand-limited one of E. Krevat, J. Castaños and J. Moreira, JSSPP 2002,
// which counts min(n(t), processors that the queue asks for).
//
// As long as no job is stretched (e − b = r) and the machine is never shared
// (busy ≤ P), utilisation, loss and idle without demand add up to one.
//
// # Numbers and order
//
// Integrals over the processors and over memory are sums of integers 128 bits
// wide and hence exact; means are of float64 seconds. Means, percentiles and
// dispersion are taken over sorted values, so that they do not depend on the
// order of the jobs. Percentiles are nearest rank: of n sorted values the
// ⌈q·n⌉-th. Jobs submitted at the same instant count as submitted in the order
// of their indices.
//
// Functions never write to their arguments and may be called concurrently.
package metrics
