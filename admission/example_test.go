package admission_test

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gangkit/gangkit/admission"
)

func ExampleNewPool() {
	for _, excess := range []float64{0, 0.1, 0.26, 0.5} {
		pool, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: excess})
		if err != nil {
			panic(err)
		}
		fmt.Printf("C = %.2f: %d bytes, relaxed %d\n", excess, pool.Limit(false), pool.Limit(true))
	}
	_, err := admission.NewPool(admission.PoolConfig{Processors: 128, Memory: 1 << 30, Excess: -0.1})
	fmt.Println(err, errors.Is(err, admission.ErrPool))
	// Output:
	// C = 0.00: 1073741824 bytes, relaxed 1073741824
	// C = 0.10: 1073741824 bytes, relaxed 1181116006
	// C = 0.26: 1073741824 bytes, relaxed 1352914698
	// C = 0.50: 1073741824 bytes, relaxed 1610612736
	// excess -0.1: admission: invalid pool true
}

// A pool of 10 processors and 1000 MB that may be exceeded by half. Jobs hold 6
// processors and 900 MB.
func ExamplePool_Fits() {
	const mb = 1_000_000
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000 * mb, Excess: 0.5})
	if err != nil {
		panic(err)
	}
	used := admission.Usage{Processors: 6, Memory: 900 * mb}
	for _, need := range []admission.Usage{
		{Processors: 4, Memory: 100 * mb},
		{Processors: 5, Memory: 100 * mb},
		{Processors: 2, Memory: 600 * mb},
		{Processors: 2, Memory: 1200 * mb},
		{Processors: 2, Memory: 1501 * mb},
	} {
		fmt.Printf("%d processors, %4d MB:", need.Processors, need.Memory/mb)
		for _, relaxed := range []bool{false, true} {
			d := pool.Fits(used, need, relaxed)
			switch {
			case d.Admit:
				fmt.Print("  start")
			case d.Never:
				fmt.Print("  never")
			default:
				fmt.Printf("  wait for %d processors, %d MB", d.Short.Processors, d.Short.Memory/mb)
			}
		}
		fmt.Println()
	}
	// Output:
	// 4 processors,  100 MB:  start  start
	// 5 processors,  100 MB:  wait for 1 processors, 0 MB  wait for 1 processors, 0 MB
	// 2 processors,  600 MB:  wait for 0 processors, 500 MB  start
	// 2 processors, 1200 MB:  wait for 0 processors, 1100 MB  wait for 0 processors, 600 MB
	// 2 processors, 1501 MB:  never  never
}

// A caller that would rather run a job too big for the memory than refuse it
// starts it alone. Too many processors cannot be helped.
func ExampleDecision() {
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000})
	if err != nil {
		panic(err)
	}
	start := func(used, need admission.Usage) bool {
		d := pool.Fits(used, need, false)
		alone := d.Never && used == admission.Usage{} && d.Short.Processors == 0
		return d.Admit || alone
	}
	nothing, something := admission.Usage{}, admission.Usage{Processors: 1, Memory: 1}
	fmt.Println(start(something, admission.Usage{Processors: 1, Memory: 1200}))
	fmt.Println(start(nothing, admission.Usage{Processors: 1, Memory: 1200}))
	fmt.Println(start(nothing, admission.Usage{Processors: 11, Memory: 1200}))
	// Output:
	// false
	// true
	// false
}

// A job of one minute, submitted at 9:00, with T = 25.
func ExampleThreshold() {
	submit := 9 * time.Hour
	threshold, err := admission.Threshold(submit, time.Minute, 25)
	if err != nil {
		panic(err)
	}
	fmt.Println("schedule a pass at", threshold)
	for _, now := range []time.Duration{submit, threshold - 1, threshold} {
		fmt.Println(now, now >= threshold)
	}
	// Output:
	// schedule a pass at 9h25m0s
	// 9h0m0s false
	// 9h24m59.999999999s false
	// 9h25m0s true
}

// The nodes of the paper's experiments: 55 MB count as free, of which system
// processes use 10. C decides how many jobs of 10 MB run at a time.
func ExampleNewNodes() {
	const mb = 1 << 20
	for _, c := range []float64{0.8, 1, 1.5, 2, math.Inf(1)} {
		nodes, err := admission.NewNodes(admission.NodesConfig{Memory: []int64{55 * mb}, Factor: c})
		if err != nil {
			panic(err)
		}
		jobs := 0
		for jobs < 50 && nodes.Fits(10*mb, 0).Admit {
			if err := nodes.Occupy(10*mb, 0); err != nil {
				panic(err)
			}
			jobs++
		}
		fmt.Printf("C = %.1f: %2d jobs, %3d MB over the 45 really free\n", c, jobs, max(0, nodes.Used(0)/mb-45))
	}
	_, err := admission.NewNodes(admission.NodesConfig{Memory: []int64{55 * mb}, Factor: -1})
	fmt.Println(err)
	// Output:
	// C = 0.8:  4 jobs,   0 MB over the 45 really free
	// C = 1.0:  5 jobs,   5 MB over the 45 really free
	// C = 1.5:  8 jobs,  35 MB over the 45 really free
	// C = 2.0: 11 jobs,  65 MB over the 45 really free
	// C = +Inf: 50 jobs, 455 MB over the 45 really free
	// factor -1: admission: invalid nodes
}

func newExampleNodes(c admission.NodesConfig) *admission.Nodes {
	nodes, err := admission.NewNodes(c)
	if err != nil {
		panic(err)
	}
	return nodes
}

// What a node says to a process, and two nodes to a gang of two: a placement is
// as good as its worst node.
func ExampleNodes_Fits() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 32}})
	if err := nodes.Occupy(40, 0); err != nil {
		panic(err)
	}
	for _, need := range []int64{24, 32, 64, 65} {
		fmt.Printf("%d: %+v %+v\n", need, nodes.Fits(need, 0), nodes.Fits(need, 0, 1))
	}
	// Output:
	// 24: {Admit:true Never:false Node:-1 Short:0} {Admit:true Never:false Node:-1 Short:0}
	// 32: {Admit:false Never:false Node:0 Short:8} {Admit:false Never:false Node:0 Short:8}
	// 64: {Admit:false Never:false Node:0 Short:40} {Admit:false Never:true Node:0 Short:40}
	// 65: {Admit:false Never:true Node:0 Short:41} {Admit:false Never:true Node:0 Short:41}
}

// Four nodes of 64, and jobs that come one after the other. Best fit fills nodes
// up, and keeps others free for a large job.
func ExampleNodes_AppendNodes() {
	for _, bestFit := range []bool{false, true} {
		nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64, 64, 64}, BestFit: bestFit})
		fmt.Print("best fit ", bestFit)
		for _, need := range []admission.Need{
			{Nodes: 1, Memory: 20},
			{Nodes: 1, Memory: 50},
			{Nodes: 1, Memory: 14},
			{Nodes: 1, Memory: 44},
			{Nodes: 2, Memory: 64},
		} {
			on, ok := nodes.AppendNodes(nil, need)
			if !ok {
				fmt.Printf("; %d waits", need.Memory)
				continue
			}
			if err := nodes.Occupy(need.Memory, on...); err != nil {
				panic(err)
			}
			fmt.Printf("; %d on %v", need.Memory, on)
		}
		fmt.Println()
	}
	// Output:
	// best fit false; 20 on [0]; 50 on [1]; 14 on [0]; 44 on [2]; 64 waits
	// best fit true; 20 on [0]; 50 on [1]; 14 on [1]; 44 on [0]; 64 on [2 3]
}

// A gang is placed by a test of the caller, here on two neighbours as a matrix
// would do. If there is no place and nothing runs, memory is waived.
func ExampleNodes_Idle() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 0, 64, 64}})
	var need int64
	fits := func(node int) bool { return nodes.Fits(need, node).Admit }
	up := func(node int) bool { return nodes.Limit(node) >= 0 }

	place := func(test func(node int) bool) bool {
		for i := range nodes.Len() - 1 {
			if test(i) && test(i+1) {
				fmt.Printf("%d on %d and %d\n", need, i, i+1)
				return nodes.Occupy(need, i, i+1) == nil
			}
		}
		return false
	}
	for _, need = range []int64{100, 1} {
		if placed := place(fits) || nodes.Idle() && place(up); !placed {
			fmt.Println(need, "waits")
		}
	}
	// Output:
	// 100 on 2 and 3
	// 1 waits
}

// A job larger than the memory has room when nothing runs.
func ExampleNodes_Enough() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64}})
	small, large := admission.Need{Nodes: 2, Memory: 64}, admission.Need{Nodes: 2, Memory: 65}
	fmt.Println(nodes.Enough(small), nodes.Enough(large))
	if err := nodes.Occupy(0, 1); err != nil {
		panic(err)
	}
	fmt.Println(nodes.Enough(small), nodes.Enough(large))
	fmt.Println(nodes.Enough(admission.Need{Nodes: 3}))
	// Output:
	// true true
	// true false
	// false
}

func ExampleNodes_Occupy() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64}})
	fmt.Println(nodes.Occupy(40, 0, 1), nodes.Used(0), nodes.Used(1))
	fmt.Println(nodes.Occupy(10, 0, 2))
	fmt.Println(nodes.Used(0), nodes.Used(1))
	// Output:
	// <nil> 40 40
	// occupy: node 2 of 2: admission: bad node
	// 40 40
}

func ExampleNodes_Release() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64}})
	if err := nodes.Occupy(40, 0, 1); err != nil {
		panic(err)
	}
	fmt.Println(nodes.Release(30, 0))
	fmt.Println(nodes.Release(40, 0, 1), nodes.Idle())
	// Output:
	// release: 30 bytes of 40 that 1 processes use on node 0: admission: releasing what is not held
	// <nil> true
}

// Two jobs were admitted, and one uses more than was estimated on one of its
// nodes.
func ExampleNodes_Reestimate() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64}})
	for range 2 {
		if err := nodes.Occupy(30, 0, 1); err != nil {
			panic(err)
		}
	}
	const estimate, measured = 30, 50
	if err := nodes.Reestimate(estimate, max(estimate, measured), 1); err != nil {
		panic(err)
	}
	for i := range nodes.Len() {
		fmt.Printf("node %d: %d of %d\n", i, nodes.Used(i), nodes.Limit(i))
	}
	// Output:
	// node 0: 60 of 64
	// node 1: 80 of 64
}

// A node fails under a job, comes back with half of its memory, and a third one
// is added.
func ExampleNodes_SetMemory() {
	nodes := newExampleNodes(admission.NodesConfig{Memory: []int64{64, 64}})
	err := errors.Join(
		nodes.Occupy(40, 0, 1),
		nodes.SetMemory(1, 0),
		nodes.Release(40, 0, 1))
	fmt.Println(err, nodes.Limit(1), nodes.Fits(0, 1).Admit)
	err = errors.Join(
		nodes.SetMemory(1, 32),
		nodes.SetMemory(2, 128))
	on, ok := nodes.AppendNodes(nil, admission.Need{Nodes: 2, Memory: 40})
	fmt.Println(err, on, ok)
	// Output:
	// <nil> -1 false
	// <nil> [0 2] true
}

func newExampleQueue(maxSkips int) *admission.Queue[string] {
	queue, err := admission.NewQueue[string](admission.QueueConfig{MaxSkips: maxSkips})
	if err != nil {
		panic(err)
	}
	return queue
}

// One node of 100, and nobody is skipped more than twice. R runs and holds 60;
// A needs 80, B and C 30, D 20 and E 10.
func ExampleQueue_Next() {
	nodes, queue := newExampleNodes(admission.NodesConfig{Memory: []int64{100}}), newExampleQueue(2)
	if err := nodes.Occupy(60, 0); err != nil {
		panic(err)
	}
	for i, memory := range []int64{80, 30, 30, 20, 10} {
		if err := queue.Push(string(rune('A'+i)), admission.Need{Nodes: 1, Memory: memory}); err != nil {
			panic(err)
		}
	}
	on := map[string][]int{}
	enough := nodes.Enough
	start := func(id string, need admission.Need) bool {
		chosen, ok := nodes.AppendNodes(nil, need)
		on[id] = chosen
		return ok && nodes.Occupy(need.Memory, chosen...) == nil
	}
	scan := func(event string) {
		fmt.Printf("%s (%d free):", event, nodes.Limit(0)-nodes.Used(0))
		for {
			id, _, ok := queue.Next(enough, start)
			if !ok {
				break
			}
			fmt.Printf(" start %s on %v,", id, on[id])
		}
		fmt.Print(" skips")
		for id := range queue.All() {
			skips, _ := queue.Skips(id)
			fmt.Printf(" %s %d", id, skips)
		}
		fmt.Println("; used", nodes.Used(0))
	}
	end := func(id string, memory int64) {
		if err := nodes.Release(memory, 0); err != nil {
			panic(err)
		}
		scan(id + " ends")
	}
	scan("first scan")
	end("R", 60)
	end("B", 30)
	// Output:
	// first scan (40 free): start B on [0], start E on [0], skips A 2 C 1 D 1; used 100
	// R ends (60 free): skips A 2 C 1 D 1; used 40
	// B ends (90 free): start A on [0], skips C 1 D 1; used 90
}

// A pool of processors and memory is a queue's test as well.
func ExampleQueue_Next_pool() {
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000})
	if err != nil {
		panic(err)
	}
	used := admission.Usage{Processors: 4, Memory: 500}
	queue := newExampleQueue(0)
	for i, need := range []admission.Need{{Nodes: 8, Memory: 100}, {Nodes: 2, Memory: 600}, {Nodes: 3, Memory: 300}} {
		if err := queue.Push(fmt.Sprint("job ", i), need); err != nil {
			panic(err)
		}
	}
	fits := func(need admission.Need) bool {
		return pool.Fits(used, admission.Usage{Processors: need.Nodes, Memory: need.Memory}, false).Admit
	}
	fmt.Println(queue.Next(fits, nil))
	// Output:
	// job 2 0 true
}

func ExampleNewQueue() {
	for _, maxSkips := range []int{0, 3, admission.FCFS, admission.FirstFit} {
		queue, err := admission.NewQueue[int](admission.QueueConfig{MaxSkips: maxSkips})
		if err != nil {
			panic(err)
		}
		if err := queue.Push(-1, admission.Need{Nodes: 1, Memory: 100}); err != nil {
			panic(err)
		}
		small := func(_ int, need admission.Need) bool { return need.Memory <= 10 }
		started := 0
		for i := range 1000 {
			if ok, _ := queue.Arrive(i, admission.Need{Nodes: 1, Memory: 10}, small); ok {
				started++
			}
		}
		fmt.Println(started, "of 1000 small jobs start before a large one")
	}
	_, err := admission.NewQueue[int](admission.QueueConfig{MaxSkips: -2})
	fmt.Println(err)
	// Output:
	// 15 of 1000 small jobs start before a large one
	// 3 of 1000 small jobs start before a large one
	// 0 of 1000 small jobs start before a large one
	// 1000 of 1000 small jobs start before a large one
	// at most -2 skips: admission: invalid number of skips
}

func ExampleQueue_Arrive() {
	nodes, queue := newExampleNodes(admission.NodesConfig{Memory: []int64{100}}), newExampleQueue(1)
	start := func(_ string, need admission.Need) bool {
		return nodes.Fits(need.Memory, 0).Admit && nodes.Occupy(need.Memory, 0) == nil
	}
	for i, memory := range []int64{60, 50, 10, 10} {
		id := string(rune('A' + i))
		started, err := queue.Arrive(id, admission.Need{Nodes: 1, Memory: memory}, start)
		if err != nil {
			panic(err)
		}
		skips, _ := queue.Skips("B")
		fmt.Println(id, started, "skips of B:", skips)
	}
	// Output:
	// A true skips of B: 0
	// B false skips of B: 0
	// C true skips of B: 1
	// D false skips of B: 1
}

func ExampleQueue_Push() {
	queue := newExampleQueue(0)
	fmt.Println(queue.Push("A", admission.Need{Nodes: 4, Memory: 100}))
	fmt.Println(queue.Push("A", admission.Need{Nodes: 4, Memory: 100}))
	fmt.Println(queue.Push("B", admission.Need{Nodes: 4, Memory: -1}))
	fmt.Println(queue.Len())
	// Output:
	// <nil>
	// push: A: admission: job already waits
	// push: B, 4 nodes of -1 bytes: admission: invalid need
	// 1
}

// B was started, turned out to use 90 rather than 30, and goes before all others.
func ExampleQueue_PutBack() {
	queue := newExampleQueue(0)
	for _, id := range []string{"A", "B", "C"} {
		if err := queue.Push(id, admission.Need{Nodes: 1, Memory: 30}); err != nil {
			panic(err)
		}
	}
	id, skips, _ := queue.Next(nil, func(id string, _ admission.Need) bool { return id == "B" })
	if err := queue.PutBack(id, admission.Need{Nodes: 1, Memory: 90}, skips); err != nil {
		panic(err)
	}
	for id, need := range queue.All() {
		skips, _ := queue.Skips(id)
		fmt.Println(id, need.Memory, "skips", skips)
	}
	// Output:
	// B 90 skips 0
	// A 30 skips 1
	// C 30 skips 0
}

func ExampleQueue_Remove() {
	queue := newExampleQueue(0)
	if err := queue.Push("A", admission.Need{Nodes: 1, Memory: 30}); err != nil {
		panic(err)
	}
	fmt.Println(queue.Remove("A"), queue.Len())
	fmt.Println(queue.Remove("A"))
	// Output:
	// <nil> 0
	// remove A: admission: no such job waits
}
