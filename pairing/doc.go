// Package pairing decides which gangs share a time slice. It follows Y. Wiseman
// and D. G. Feitelson, "Paired gang scheduling", IEEE Trans. Parallel and
// Distributed Systems 14(6), 2003, §2.
//
// Under gang scheduling all processes of a job run at the same time, and a node
// idles while its process waits for I/O or for the others. Paired gang scheduling
// runs two gangs in a quantum and leaves it to each node to switch between its two
// processes. That disturbs neither as long as the two together do not want more
// processor time than there is:
//
//	x + y + m < 1     m = 1 %
//
// x and y are utilisations, shares of a quantum that a process computes when
// nothing disturbs it; the rest it does I/O, or waits. All utilisations are in
// [0, 1].
//
// # Predicting
//
// How much a gang will compute is told from its last quanta, newest first, eq. (1):
//
//	τ = 4/10 t₁ + 3/10 t₂ + 2/10 t₃ + 1/10 t₄     t = mean over its processes
//
// [Weighted] is this rule. A new gang is predicted to compute all the time, so that
// it runs alone once and is measured truly. [Window] and [Exponential] are the plain
// alternatives. [Cautious] puts the rule of §4.2.3 around any of them: a change of
// more than 20 points makes a gang new again. Without it two gangs that both turn
// to computing get a little less than half a processor each, look as if they wanted
// no more, and stay paired for ever.
//
// # Matching
//
// Once a round every slot is given a partner, by [Matcher], which is Fig. 4 of the
// paper. In order of utilisation, the least goes with the greatest if they fit;
// else the greatest fits with nobody left. That finds as many disjoint pairs as
// there can be: let s be the least and g the greatest of those left. If they do not
// fit, g fits with nobody. If they do, some largest set of pairs has (s, g): where
// it has (s, x) and (g, y) instead, (s, g) and (x, y) do as well, since x ≤ g; and
// so on with the rest. A slot that is left over then looks back for one that has a
// partner already, and runs beside that one in its own quantum, though not the
// other way round. Nobody stays alone who fits with anybody.
//
// A round has one quantum a slot. Each slot runs in its own quantum and in those of
// the slots that have it for a partner: in two of them, if the pair is mutual.
//
// # Slots
//
// A slot of several gangs is as busy as its busiest, [Slot]. So that this is true
// of all of them, the gangs of a slot must be within a band of 20 points: see
// [Evict] and [Joins].
//
// # Beyond the paper
//
// Two slots whose busiest gangs do not fit may do so on every node, since the
// busiest are on different nodes. Then fitting is no matter of one number a slot,
// and [Maximum] finds the largest set of pairs for any rule. [Groups] puts gangs
// with demands for several devices together (§5 of the paper: N + 1 gangs for N
// devices).
//
// # Departures
//
// Fig. 4 leaves open the order of sorting: it is ascending, ties by index. Its
// "match" of a slot that looks back is one-sided, or the earlier partner would
// lose its own. And it never looks at the middle slot, although the text and Fig. 7
// demand it; here that one looks back, too. [Printed] is the figure to the letter.
// A gang measured for fewer than four quanta is predicted by the weights of those
// there are.
//
// Utilisations are compared in whole billionths, so that all platforms agree.
// Everything is deterministic; separate values may be used concurrently.
package pairing
