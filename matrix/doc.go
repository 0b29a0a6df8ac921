// Package matrix keeps the Ousterhout matrix of gang scheduling: which gang runs
// on which processing elements in which slot of time. It gives an arriving gang
// its place, by default with the buddy controllers of distributed hierarchical
// control (DHC), and answers what runs in a slot.
//
// # The matrix
//
//	slot 0 | A A A A B B B .
//	slot 1 | C C C C C C C C
//	slot 2 | E . . . G G D D
//	slot 3 | F F F F F . . .
//
// Rows are slots, which take turns, one quantum each; columns are processing
// elements (PEs). A gang is the processes of a job, which run at the same time: it
// has one home slot and in it a PE for each process. A round is one turn of each
// slot. The number of slots is the multiprogramming level, and a gang has the
// machine's attention for one quantum in so many: few slots, well filled, are
// what packing is for.
//
// [Matrix.Place] finds a place and takes it, [Matrix.Remove] gives it back.
// [Matrix.Row] and [Matrix.Gangs] say what runs in a slot. Slots are opened when
// no other has room, up to a bound, and dropped when they fall empty, at which
// those after them move up. Slots are numbered from 0, in the order of their
// turns.
//
// # Buddy controllers
//
// The controller (i, c), of level i, presides over the 2^i PEs from c·2^i on, its
// block; it is the parent of the controllers (i−1, 2c) and (i−1, 2c+1). A gang of
// n processes belongs to a controller of level ⌈log2 n⌉, the smallest ones with
// enough PEs, and takes the first n PEs of the block. Its load is the number of
// processes on its PEs, over all slots. A gang goes to
//
//  1. the least loaded controller, of equals the first, such that a slot exists
//     in which its whole block is free: there, in the first such slot;
//  2. if there is none, the least loaded controller, in a new slot;
//  3. if no more slots may be opened, nowhere.
//
// So slots that exist come before a new one, even if the new one would allow a
// less loaded controller: a new slot lowers everybody's share. Gangs of
// different slots come to lie on the same blocks, or on nested ones, which is
// what makes alternates and unification work.
//
// What a gang leaves over of its block is free for smaller gangs whose own block
// lies within it, unless [Config.ReserveBlock] is set. On a machine whose size is
// no power of two, blocks that reach beyond it do not exist, and a gang that is
// larger than the largest block is packed first fit.
//
// The other packings are there to compare with; see [Packing].
//
// # A condition on nodes
//
// Place takes a function that says which PEs the gang may use. A controller is
// ruled out by any of the n PEs, and the next one is tried. Batat and Feitelson
// use it to keep memory from being overcommitted (Eq. 1): on each node,
//
//	process memory ≤ (memory of the node)·C − memory used
//
// where C is near 1. With one PE per node, and the memory used kept by the caller,
// who knows when processes come and go, that is
//
//	fits := func(pe int) bool { return need <= limit-used[pe] }
//
// The example of [Matrix.Place] has it all. The function sees one PE at a time: if
// a node has k of them, it must allow for the up to k processes of the gang that
// the node would get.
//
// # Alternates
//
// A gang may run in other slots than its home slot when all its PEs are idle
// there. It keeps its PEs, and gets more than one quantum a round. For each turn of
// a slot [Matrix.AppendAlternates] picks gangs, greedily, from the slots that
// follow. In slot 3 of the picture that is D, and in slot 0 nobody. Alternates
// have no claim: a gang that arrives may take the cells.
//
// # When gangs leave
//
// Holes remain in their slots. There are three remedies, of growing effect and
// cost:
//
//   - unification: two slots that use disjoint PEs become one, [Matrix.Unify];
//   - job re-packing: a gang moves to another slot in which its PEs are free,
//     [Matrix.Repack] and [Matrix.Move];
//   - migration: all gangs are mapped anew, largest first, [Matrix.Migrate].
//
// Under the first two all processes stay where they are. Fewer slots are a larger
// share for everybody.
//
// Where something is tied to the numbers of slots for a round, as are the pairs of
// paired gang scheduling, [Config.KeepEmpty] lets them stand until the caller
// drops the empty ones.
//
// # Sources
//
// J. Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982 (the
// matrix). D. Feitelson, L. Rudolph, "Distributed hierarchical control for parallel
// processing", Computer 23(5), 1990, and "Evaluation of design choices for gang
// scheduling using distributed hierarchical control", JPDC 35(1), 1996
// (controllers). D. Feitelson, "Packing schemes for gang scheduling", JSSPP 1996
// (the families of packings, alternates). B. Zhou, R. Brent, C. Johnson, D. Walsh,
// "Job re-packing for enhancing the performance of gang scheduling", JSSPP 1999. A.
// Batat, D. Feitelson, "Gang scheduling with memory considerations", IPDPS 2000,
// §3.2 (the choice of a controller, Eq. 1). Y. Wiseman, D. Feitelson, "Paired gang
// scheduling", IEEE TPDS 14(6), 2003, §2.5 and §2.6 (moving a gang out of a slot,
// alternates under a condition).
//
// The papers leave open, and decided here are: that the load of a controller is a
// sum over its PEs; that existing slots come first, of them the lowest; ties; which
// PEs of its block a gang takes; the order in which alternates are tried and slots
// unified; machines whose size is no power of two. In full DHC every controller
// schedules a list of its own, and quanta differ by level; a central matrix is the
// simple form that ParPar has.
//
// Only integers decide, so outcomes are the same on every platform.
package matrix
