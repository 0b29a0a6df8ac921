package folding_test

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/folding"
)

// A long job has the machine when a short one arrives. Then another long job comes,
// and waits as long as the short one runs.
func ExampleFJT() {
	var p folding.FJT
	s := folding.State{Processors: 64, Running: []folding.Running{{Class: folding.Long, Processors: 64, Processes: 64}}}
	s.Queued = []folding.Queued{{Class: folding.Short, Request: 16}}
	steps, err := p.AppendArrival(nil, s)
	if err != nil {
		panic(err)
	}
	for _, step := range steps {
		fmt.Printf("short arrives: %v %d, %d processes on %d processors\n", step.Kind, step.Job, step.Processes, step.Processors)
	}

	s.Running = []folding.Running{{Class: folding.Long, Processors: 32, Processes: 64}, {Class: folding.Short, Processors: 16, Processes: 16}}
	s.Queued = []folding.Queued{{Class: folding.Long, Request: 64}}
	steps, _ = p.AppendArrival(nil, s)
	fmt.Println("long arrives:", len(steps), "steps")

	s.Running = s.Running[:1] // the short one has ended
	steps, _ = p.AppendRelease(nil, s)
	for _, step := range steps {
		fmt.Printf("short ends: %v %d, %d processes on %d processors\n", step.Kind, step.Job, step.Processes, step.Processors)
	}
	// Output:
	// short arrives: fold 0, 64 processes on 32 processors
	// short arrives: start 0, 16 processes on 16 processors
	// long arrives: 0 steps
	// short ends: start 0, 64 processes on 32 processors
}

func ExampleRunning_Folds() {
	for _, processors := range []int{64, 32, 20, 16} {
		fmt.Print(folding.Running{Processors: processors, Processes: 64}.Folds(), " ")
	}
	// Output: 1 2 4 4
}

// What each policy does with three jobs that come at once.
func ExampleParsePolicy() {
	s := folding.State{Processors: 64, Queued: []folding.Queued{
		{Class: folding.Long, Request: 64}, {Class: folding.Short, Request: 64}, {Class: folding.Short, Request: 64},
	}}
	for _, name := range []string{"fjt", "folding", "psa", "asp60", "equipartition", "fcfs"} {
		p, err := folding.ParsePolicy(name)
		if err != nil {
			panic(err)
		}
		steps, err := p.AppendRelease(nil, s)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-13s", name)
		for _, step := range steps {
			fmt.Printf("  %d on %d", step.Job, step.Processors)
		}
		fmt.Println()
	}
	// Output:
	// fjt            1 on 64
	// folding        0 on 64
	// psa            0 on 21  1 on 21  2 on 21
	// asp60          0 on 60  1 on 4
	// equipartition  0 on 22  1 on 21  2 on 21
	// fcfs           0 on 64
}

func ExampleClasses() {
	c := folding.Classes[string]{Threshold: 10 * time.Minute}
	for _, ran := range []time.Duration{time.Minute, 40 * time.Minute} {
		if err := c.Observe("cfd", ran); err != nil {
			panic(err)
		}
		fmt.Println(c.Class("cfd"))
	}
	// Output:
	// short
	// long
}
