// Package lublin generates the jobs of a parallel supercomputer: when each
// arrives, how many processors it asks for, how long it runs. It follows
// U. Lublin & D. G. Feitelson, "The workload on parallel supercomputers:
// modeling the characteristics of rigid jobs", Journal of Parallel and
// Distributed Computing 63(11), 2003, with the parameter values of the
// authors' published program. It is part of the examples and carries no
// compatibility promise.
//
// # The model
//
// Size. A job is serial with probability Serial. Otherwise the logarithm (base
// 2) of its size is drawn in two stages, small sizes being the common ones:
//
//	x ~ uniform(ULow, UMed) with probability UProb, else uniform(UMed, UHi)
//	x is rounded to a whole number with probability PowerOfTwo/(1 − Serial)
//	size = ⌊2^x + ½⌋ processors
//
// Run time. The natural logarithm of the run time in seconds is drawn from one
// of two gamma distributions, one of short jobs and one of long jobs. Wide jobs
// choose the long one more often, so run time grows with size:
//
//	p = PA·size + PB, cut to [0, 1]
//	g ~ Run1 with probability p, else Run2; both draws again while g > 12
//	run = ⌊e^g⌋ seconds
//
// A gamma variable is positive, so a run is never shorter than 1 s, nor longer
// than 162,754 s = ⌊e^12⌋, which is some 45 hours.
//
// Arrivals. A day is 48 half hours; DailyCycle gives each its weight, 1 on
// average: 0.16 at 5:00, 1.83 at 13:30. The clock counts in points, and a point
// is half an hour at the mean rate:
//
//	points += e^g / 1800,  g ~ gamma(ARAR · Gap.Shape, Gap.Scale) up to 13
//	while points > weight of this half hour: points −= weight; next half hour
//	arrival = start of this half hour + 1800 s · points / weight
//
// The first gap counts from the start of the clock, so the first job does not
// come at 0. Gaps are heavy-tailed (their standard deviation is seven times
// their mean): the load of a thousand jobs varies by a quarter from seed to
// seed. Measure the load of the jobs drawn, and scale their arrivals by it.
//
// There are two modes. Typeless has one class of jobs. Typed has a batch and an
// interactive class, each with its own parameters and its own clock; the next
// job is that of the class whose next arrival is earlier.
//
// # Attributes the model lacks
//
// Memory per process is lognormal, given by its median and 99th percentile. The
// default, 3.1 and 24 MB a processor, is that of the LANL CM-5's log in the
// Parallel Workloads Archive. CPU utilisation is uniform on (0, 1] or constant,
// the heterogeneous and the homogeneous case of Y. Wiseman & D. G. Feitelson,
// "Paired gang scheduling", IEEE TPDS 14(6), 2003, §4.2. Both are independent
// of everything else. They are inventions, and results that rest on them should
// say so.
//
// # Departures
//
// The clock is exact (see Next). On a machine whose size is not a power of two
// no size exceeds the machine, where the authors' program rounds up to the next
// power of two. UMed and UHi of the classes move with the machine size as
// described at Typeless.
package lublin
