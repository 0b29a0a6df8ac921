package metrics

import "slices"

// overtakes counts the pairs of jobs of which the later submission started
// first. Of each pair the later job's area adds to area; worst is the largest
// number of jobs that overtook one.
//
// Both jobs of such a pair were in the queue together: the earlier one was
// submitted, and started only after the later one had. submit must be the
// jobs in order of submission, start in order of start. O(n log n).
func overtakes(jobs []Job, submit, start []event) (pairs int64, area float64, worst int) {
	// Equal starts get equal ranks, so that they are no overtaking.
	rank := make([]int, len(jobs))
	for k, e := range start {
		rank[e.job] = k
		if k > 0 && start[k-1].time == e.time {
			rank[e.job] = rank[start[k-1].job]
		}
	}
	// Whom did each job overtake? The earlier ones that rank higher.
	tree := newFenwick(len(jobs))
	passed := make([]int, len(jobs))
	for k, e := range submit {
		passed[e.job] = k - tree.sum(rank[e.job]+1)
		tree.add(rank[e.job], 1)
	}
	for i, n := range passed { // by index: a fixed order of additions
		pairs += int64(n)
		area += float64(float64(n) * jobs[i].Area())
	}
	// Who overtook each job? The later ones that rank lower.
	clear(tree.tree)
	for _, e := range slices.Backward(submit) {
		worst = max(worst, tree.sum(rank[e.job]))
		tree.add(rank[e.job], 1)
	}
	return pairs, area, worst
}
