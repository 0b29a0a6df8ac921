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
// [0, 1]. With 40 and 58 % two gangs are paired, with 40 and 59 % they are not.
//
// # Predicting
//
// How much a gang will compute is told from its last quanta, newest first, eq. (1):
//
//	τ = 4/10 t₁ + 3/10 t₂ + 2/10 t₃ + 1/10 t₄     t = mean over its processes
//
// [Weighted] is this rule. A new gang is predicted to compute all the time, so that
// it runs alone once and is measured truly. [Window] and [Exponential] are the plain
// alternatives.
//
// [Cautious] puts the rule of §4.2.3 around any of them: a change of more than 20
// points makes a gang new again. Without it two gangs that both turn to computing
// get a little less than half a processor each, look as if they wanted no more, and
// stay paired for ever. That takes less than 49.5 % each: with exactly half each
// they would not fit once four quanta say so.
//
// # Matching
//
// Once a round every slot is given a partner, by [Matcher], which is Fig. 4 of the
// paper. In order of utilisation, the least goes with the greatest if they fit;
// else the greatest fits with nobody left, and is left over.
//
// Theorem: there is no larger set of disjoint pairs. Let s be the least and g the
// greatest of those left. If they do not fit, g fits with nobody. If they do, some
// largest set of pairs has (s, g): if neither were in a pair there would be one more;
// if one is, (s, g) does as well as its pair; if it has (s, x) and (g, y), then (s, g)
// and (x, y) do as well, since x ≤ g. And so on with the rest.
//
// A slot that is left over then looks back for one that has a partner already, and
// runs beside that one in its own quantum, though not the other way round. It is the
// lower half of the last pair made, the busiest of the lower halves: it fits, since
// its own partner was the greatest left then, and is as busy or busier. So nobody
// stays alone who fits with anybody: whoever is left over before there is a pair does
// not fit with the least busy slot of all.
//
// # A round
//
// A round has one quantum a slot. Each slot runs in its own quantum and in those of
// the slots that have it for a partner: in two of them if the pair is mutual, in
// more if others look back at it, in one if it looks back only.
//
//	begin     for each slot the busiest prediction: AppendPartners
//	quantum   slot s, and its partner p if Fits still says so
//	          each gang that ran: Observe, or ObserveShared
//
// Predictions change within a round. A pair of which one turned to computing in its
// first quantum is to be parted in its second, see [Cautious]. A slot that is new
// waits for the next round; if a partner has gone, s runs alone.
//
// # Slots
//
// A slot of several gangs is as busy as its busiest, [Slot]. So that this is true
// of all of them, the gangs of a slot must be within a band of 20 points: [Evict]
// says who has to leave, [FirstSlot] where to, [Joins] who may come, and
// [JoinsAsAlternate] who may fill idle PEs.
//
// # Beyond the paper
//
// Slots whose gangs differ much seldom fit, since it takes one busy gang to keep a
// slot alone. Two ways out need no band:
//
//   - Two slots whose busiest gangs do not fit may do so on every PE, since these
//     are on different PEs. Then fitting is no matter of one number a slot, and
//     [Maximum] finds the largest set of pairs for any rule; [Matcher.FitsEach] is
//     this one.
//   - Any gangs that fit beside a slot may run in its quantum, whatever slots they
//     are in, [Matcher.AppendCompanions].
//
// How many processes run on a PE in a quantum, with 16 PEs, gangs of mostly 1 to 4
// processes that take aligned blocks of the first slot with room, and utilisations
// uniform on (0, 1):
//
//	gangs  slots  strict  alternates  by busiest  by PE  companions
//	    8    2.1     .74         .91         .84    .92        1.14
//	   16    3.5     .86         .97         .98   1.05        1.49
//	   64   12.9     .96        1.00        1.15   1.30        1.80
//
// Strict is gang scheduling, alternates add to it gangs on idle PEs.
//
// [Matcher.AppendGroups] puts gangs with demands for several devices together (§5:
// N + 1 gangs for the processor and N other devices).
//
// # Departures
//
// Fig. 4 leaves open the order of sorting: it is ascending, ties by index. Its
// "match" of a slot that looks back is one-sided, or the earlier partner would
// lose its own. And it never looks at the middle slot, although the text and Fig. 7
// demand it; here that one looks back, too. [Printed] is the figure to the letter.
// A gang measured for fewer than four quanta is predicted by the weights of those
// there are. The paper says of a sharp change that it is one of more than 20 %:
// this is read as 20 points from the measurement before, in either direction. It
// gives the band as u(g) < min + M and as max − min ≤ M; the former holds here. Who
// leaves a slot when it is the least busy gang that differs is not in the paper, nor
// that assumed utilisations are left out of account.
//
// Utilisations are compared in whole billionths, so that all platforms agree.
// Everything is deterministic; separate values may be used concurrently.
package pairing
