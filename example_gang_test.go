package gangkit_test

import (
	"fmt"
	"slices"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/matrix"
	"github.com/gangkit/gangkit/pairing"
)

// A gang-scheduled cluster of four nodes with 64 MB each: memory is estimated from
// earlier runs, a gang gets a slot and nodes whose memory takes it, or waits, and
// slots whose gangs complement each other share a quantum.
func Example_gangScheduling() {
	const mb = 1 << 20
	var history estimate.History
	for _, run := range []struct {
		path   string
		memory int64
	}{{"cfd", 35 * mb}, {"render", 28 * mb}, {"render", 30 * mb}, {"sort", 24 * mb}, {"sort", 22 * mb}} {
		if err := history.Observe(estimate.Job{Path: run.path, Nodes: 2, User: "ada"}, run.memory); err != nil {
			panic(err)
		}
	}
	memory := estimate.FirstOf(&history, estimate.Constant(4*mb))

	nodes, err := admission.NewNodes(admission.NodesConfig{Memory: slices.Repeat([]int64{64 * mb}, 4)})
	if err != nil {
		panic(err)
	}
	queue, err := admission.NewQueue[string](admission.QueueConfig{})
	if err != nil {
		panic(err)
	}
	slots, err := matrix.New[string](matrix.Config{PEs: 4})
	if err != nil {
		panic(err)
	}
	place := func(id string, need admission.Need) bool {
		_, ok, err := slots.Place(id, need.Nodes, func(node int) bool { return nodes.Fits(need.Memory, node).Admit })
		if err != nil || !ok {
			return false
		}
		return nodes.Occupy(need.Memory, slices.Collect(slots.PEs(id))...) == nil
	}

	needs := map[string]admission.Need{}
	for _, job := range []struct {
		id, path string
		nodes    int
	}{{"A", "cfd", 2}, {"B", "render", 2}, {"C", "render", 2}, {"D", "sort", 4}, {"E", "new", 1}} {
		e, _ := memory.Estimate(estimate.Job{Path: job.path, Nodes: job.nodes, User: "ada"})
		need := admission.Need{Nodes: job.nodes, Memory: e.Memory}
		needs[job.id] = need
		started, err := queue.Arrive(job.id, need, place)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %d nodes, %d MB each (%v): started %v\n", job.id, job.nodes, e.Memory/mb, e.Level, started)
	}
	fmt.Println(slots)

	// B ends. Its memory is what D needs.
	b := slices.Collect(slots.PEs("B"))
	if err := slots.Remove("B"); err != nil {
		panic(err)
	}
	if err := nodes.Release(needs["B"].Memory, b...); err != nil {
		panic(err)
	}
	for {
		id, skips, ok := queue.Next(nodes.Enough, place)
		if !ok {
			break
		}
		fmt.Printf("%s starts, skipped %d times\n", id, skips)
	}
	slots.Unify()
	fmt.Println(slots)

	// What the gangs computed in their last quanta says who goes together.
	var match pairing.Matcher
	partners, err := match.AppendPartners(nil, []float64{.20, .75, .90}, nil)
	fmt.Println("partners of the slots:", partners, err)
	// Output:
	// A: 2 nodes, 35 MB each (path, nodes, user): started true
	// B: 2 nodes, 30 MB each (path, nodes, user): started true
	// C: 2 nodes, 30 MB each (path, nodes, user): started true
	// D: 4 nodes, 24 MB each (path): started false
	// E: 1 nodes, 4 MB each (constant): started true
	// slot 0 | A A B B
	// slot 1 | E . C C
	// D starts, skipped 1 times
	// slot 0 | A A . .
	// slot 1 | E . C C
	// slot 2 | D D D D
	// partners of the slots: [1 0 -1] <nil>
}
