// Package scheduler is the controller of gangd: it composes packages estimate,
// admission, matrix and pairing, and tells a [backend.Backend] what to start, to stop
// and to continue. It decides nothing by itself:
//
//	arrive   estimate: how much memory?  matrix: which slot and nodes, such that
//	         admission's eq. (1) holds on each?  else admission's queue
//	quantum  the next slot of the round runs, beside it the partner that pairing found
//	         and still thinks fit, and alternates on nodes that are idle then
//	         each gang's share of the processor is measured: pairing
//	exit     estimate learns; the queue is scanned until nothing in it can start
//
// It follows A. Batat & D. G. Feitelson, "Gang scheduling with memory considerations",
// IPDPS 2000, §3, and Y. Wiseman & D. G. Feitelson, "Paired gang scheduling", IEEE TPDS
// 14(6), 2003, §2, as does the simulated cluster of examples/kit/gang, but on processes
// that run. So it differs where the world does:
//
//   - A quantum ends early when none of its gangs is left. A gang that is placed
//     within a quantum starts at once if its nodes are idle.
//   - A gang's processes start when its first quantum begins. Its memory is counted
//     from its admission on.
//   - A gang that uses more memory than was estimated is counted with what was
//     measured from then on. It stays, but nobody is admitted beside it who would not
//     fit.
//   - A share is measured over the time that a gang could run, and believed if that
//     was half a quantum at least.
//
// Everything happens in the goroutine that calls [Run], but for calls of the back end,
// of which those that stop and those that start several gangs go out together.
package scheduler
