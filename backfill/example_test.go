package backfill_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/gangkit/gangkit/backfill"
)

const minute = time.Minute

// Eight processors, six of them busy for ten more minutes. The head of the queue
// waits for them, and under EASY two of the others may overtake it: one because
// it ends by then, the other because the head will leave it a processor.
func ExamplePlan() {
	state := backfill.State{
		Machine: backfill.Machine{Capacity: []int64{8}, Depth: backfill.EASY},
		Running: []backfill.Running{{Need: []int64{6}, End: 10 * minute}},
		Queue: []backfill.Job{
			{Need: []int64{7}, Estimate: 30 * minute}, // the head
			{Need: []int64{2}, Estimate: 15 * minute}, // too long, and too wide
			{Need: []int64{1}, Estimate: 10 * minute}, // short
			{Need: []int64{1}, Estimate: 60 * minute}, // narrow
		},
	}
	decisions, err := backfill.Plan(state)
	if err != nil {
		panic(err)
	}
	for i, d := range decisions {
		switch {
		case d.Cause == backfill.Starts:
			fmt.Printf("job %d starts\n", i)
		case d.Reserved:
			fmt.Printf("job %d waits, for %v at most\n", i, d.Start-state.Now)
		default:
			fmt.Printf("job %d waits\n", i)
		}
	}
	// Output:
	// job 0 waits, for 10m0s at most
	// job 1 waits
	// job 2 starts
	// job 3 starts
}

// What a user asks who waits: why, and until when? Resources are processors and
// gigabytes of memory.
func ExampleExplain() {
	resources := []string{"processors", "memory"}
	decisions, err := backfill.Explain(backfill.State{
		Machine: backfill.Machine{Capacity: []int64{8, 64}, Depth: backfill.EASY},
		Running: []backfill.Running{{Need: []int64{4, 40}, End: 10 * minute}},
		Queue: []backfill.Job{
			{Need: []int64{2, 50}, Estimate: 30 * minute},
			{Need: []int64{6, 10}, Estimate: 20 * minute},
			{Need: []int64{1, 8}, Estimate: 60 * minute},
			{Need: []int64{1, 16}, Estimate: 60 * minute},
		},
	})
	if err != nil {
		panic(err)
	}
	for i, d := range decisions {
		switch d.Cause {
		case backfill.Starts:
			fmt.Printf("%d: starts now\n", i)
		case backfill.Resource:
			fmt.Printf("%d: expected in %v, lacks %s\n", i, d.Start, resources[d.Which])
		case backfill.Reservation:
			fmt.Printf("%d: expected in %v, would delay %d\n", i, d.Start, d.Which)
		}
	}
	// Output:
	// 0: expected in 10m0s, lacks memory
	// 1: expected in 40m0s, lacks processors
	// 2: starts now
	// 3: expected in 40m0s, would delay 0
}

// A planner lives as long as the machine. It is told what happens, and asked
// after each event, or once for several of one instant, who starts.
func ExampleNewPlanner() {
	p, err := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{8}, Depth: backfill.EASY})
	if err != nil {
		panic(err)
	}
	pass := func(now time.Duration) {
		started, err := p.AppendStarts(nil, now)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%3.0f min: %v start\n", now.Minutes(), started)
	}

	p.Submit("ocean", backfill.Job{Need: []int64{6}, Estimate: 60 * minute})
	p.Submit("wing", backfill.Job{Need: []int64{8}, Estimate: 30 * minute})
	p.Submit("plot", backfill.Job{Need: []int64{1}, Estimate: 5 * minute})
	pass(0)
	p.Finish(4*minute, "plot")
	p.Submit("mail", backfill.Job{Need: []int64{2}, Estimate: 30 * minute})
	pass(4 * minute)
	p.Finish(20*minute, "ocean") // well before its estimate
	pass(20 * minute)
	p.Finish(34*minute, "mail")
	pass(34 * minute)

	_, err = p.AppendStarts(nil, 20*minute)
	fmt.Println(err)
	// Output:
	//   0 min: [ocean plot] start
	//   4 min: [mail] start
	//  20 min: [] start
	//  34 min: [wing] start
	// pass at 20m0s after one at 34m0s: backfill: bad instant
}

// Each call appends, so that one slice serves all passes. A pass that starts
// nobody appends nothing.
func ExamplePlanner_AppendStarts() {
	p, _ := backfill.NewPlanner[int](backfill.Machine{Capacity: []int64{4}, Depth: backfill.FirstFit})
	for id, processors := range []int64{3, 2, 1} {
		p.Submit(id, backfill.Job{Need: []int64{processors}, Estimate: backfill.Forever})
	}
	var log []int
	log, _ = p.AppendStarts(log, 1*minute)
	log, _ = p.AppendStarts(log, 2*minute)
	p.Finish(3*minute, 0)
	log, _ = p.AppendStarts(log, 3*minute)
	fmt.Println(log)
	// Output: [0 2 1]
}

// With Reserve a job learns what it is promised before anything starts. Next
// says when a pass is due, if nothing happens before.
func ExamplePlanner_Reserve() {
	p, _ := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{4}, Depth: backfill.Conservative})
	for _, id := range []string{"a", "b", "c"} {
		p.Submit(id, backfill.Job{Need: []int64{2}, Estimate: 10 * minute})
		p.Reserve(0)
		at, _ := p.Reserved(id)
		fmt.Println(id, "is to start at", at)
	}
	for at, ok := p.Next(); ok; at, ok = p.Next() {
		for _, id := range []string{"a", "b"} { // both end when c is due
			if at == 10*minute {
				p.Finish(at, id)
			}
		}
		started, _ := p.AppendStarts(nil, at)
		fmt.Println("at", at, "start", started)
	}
	// Output:
	// a is to start at 0s
	// b is to start at 0s
	// c is to start at 10m0s
	// at 0s start [a b]
	// at 10m0s start [c]
}

// Next is when somebody is promised to start, and so when a pass is due though
// nothing else happens.
func ExamplePlanner_Next() {
	p, _ := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{4}, Depth: backfill.EASY})
	p.Submit("runs", backfill.Job{Need: []int64{3}, Estimate: 30 * minute})
	p.Submit("waits", backfill.Job{Need: []int64{2}, Estimate: 10 * minute})
	_, ok := p.Next()
	fmt.Println(ok) // nothing is promised before a pass
	p.AppendStarts(nil, 0)
	fmt.Println(p.Next())
	// Output:
	// false
	// 30m0s true
}

// Memory is the second resource: 100 GB, and up to 150 GB for a job that has
// waited long enough. Who that is, and when, is up to the caller.
func ExamplePlanner_Relax() {
	p, _ := backfill.NewPlanner[string](backfill.Machine{
		Capacity: []int64{16, 100},
		Relaxed:  []int64{16, 150},
		Depth:    backfill.EASY,
	})
	p.Submit("a", backfill.Job{Need: []int64{4, 80}, Estimate: 60 * minute})
	p.Submit("b", backfill.Job{Need: []int64{4, 60}, Estimate: 10 * minute})
	started, _ := p.AppendStarts(nil, 0)
	at, _ := p.Reserved("b")
	fmt.Println(started, "and b at", at)

	p.Relax(20*minute, "b") // it waited for twice its estimate
	started, _ = p.AppendStarts(nil, 20*minute)
	fmt.Println(started, "at", 20*minute)
	// Output:
	// [a] and b at 1h0m0s
	// [b] at 20m0s
}

// A job that is not done when it was planned to be must be extended before the
// pass at that instant. Who was promised its place waits longer.
func ExamplePlanner_Extend() {
	p, _ := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{4}, Depth: backfill.EASY})
	p.Submit("slow", backfill.Job{Need: []int64{4}, Estimate: 10 * minute})
	p.Submit("next", backfill.Job{Need: []int64{4}, Estimate: 10 * minute})
	p.AppendStarts(nil, 0)
	fmt.Println(p.Next())

	p.Extend(10*minute, "slow", 15*minute)
	started, _ := p.AppendStarts(nil, 10*minute)
	fmt.Println(started)
	fmt.Println(p.Next())
	// Output:
	// 10m0s true
	// []
	// 15m0s true
}

// What is free from now on, beside running jobs and reservations.
func ExamplePlanner_Profile() {
	p, _ := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{8}, Depth: backfill.Conservative})
	p.Submit("a", backfill.Job{Need: []int64{6}, Estimate: 3 * minute})
	p.Submit("b", backfill.Job{Need: []int64{2}, Estimate: 5 * minute})
	p.Submit("c", backfill.Job{Need: []int64{4}, Estimate: 4 * minute}) // reserved at 3
	p.Submit("d", backfill.Job{Need: []int64{8}, Estimate: 2 * minute}) // reserved at 7
	p.AppendStarts(nil, 0)
	for at, free := range p.Profile() {
		fmt.Printf("%2.0f min |%s%d free\n", at.Minutes(), strings.Repeat("#", int(8-free[0])), free[0])
	}
	// Output:
	//  0 min |########0 free
	//  3 min |######2 free
	//  5 min |####4 free
	//  7 min |########0 free
	//  9 min |8 free
}

// The difference between the policies as a picture: nine processors, a column
// per minute. D is short, E is narrow; both come last. Under first come, first
// served nobody overtakes B. EASY lets D end before B starts and E run beside B,
// where it is in the way of C. With a reservation for all, C is not late.
func Example_gantt() {
	jobs := []struct {
		name           string
		need, estimate int64 // processors, minutes
	}{
		{"A", 5, 4}, {"B", 7, 4}, {"C", 9, 3}, {"D", 2, 4}, {"E", 2, 9},
	}
	for _, policy := range []struct {
		name  string
		depth backfill.Depth
	}{{"FCFS", backfill.FCFS}, {"EASY", backfill.EASY}, {"conservative", backfill.Conservative}} {
		p, _ := backfill.NewPlanner[int](backfill.Machine{Capacity: []int64{9}, Depth: policy.depth})
		for i, j := range jobs {
			p.Submit(i, backfill.Job{Need: []int64{j.need}, Estimate: time.Duration(j.estimate) * minute})
		}
		start := make([]int64, len(jobs))
		end := map[int64][]int{}
		for now := int64(0); now < 30; now++ {
			for _, i := range end[now] {
				p.Finish(time.Duration(now)*minute, i)
			}
			started, _ := p.AppendStarts(nil, time.Duration(now)*minute)
			for _, i := range started {
				start[i] = now
				end[now+jobs[i].estimate] = append(end[now+jobs[i].estimate], i)
			}
		}
		fmt.Println(policy.name)
		for i, j := range jobs {
			fmt.Printf("%s x%d |%s%s\n", j.name, j.need,
				strings.Repeat(".", int(start[i])), strings.Repeat(j.name, int(j.estimate)))
		}
	}
	// Output:
	// FCFS
	// A x5 |AAAA
	// B x7 |....BBBB
	// C x9 |........CCC
	// D x2 |...........DDDD
	// E x2 |...........EEEEEEEEE
	// EASY
	// A x5 |AAAA
	// B x7 |....BBBB
	// C x9 |.........CCC
	// D x2 |DDDD
	// E x2 |EEEEEEEEE
	// conservative
	// A x5 |AAAA
	// B x7 |....BBBB
	// C x9 |........CCC
	// D x2 |DDDD
	// E x2 |...........EEEEEEEEE
}

// A job that is cancelled gives its reservation back.
func ExamplePlanner_Cancel() {
	p, err := backfill.NewPlanner[string](backfill.Machine{Capacity: []int64{4}, Depth: backfill.EASY})
	if err != nil {
		panic(err)
	}
	for _, j := range []struct {
		id         string
		processors int64
		hours      time.Duration
	}{{"running", 3, 2}, {"wide", 4, 1}, {"long", 1, 9}} {
		if err := p.Submit(j.id, backfill.Job{Need: []int64{j.processors}, Estimate: j.hours * time.Hour}); err != nil {
			panic(err)
		}
	}
	starts, err := p.AppendStarts(nil, 0)
	fmt.Println(starts, err) // the long one would delay the wide one
	if err := p.Cancel(time.Hour, "wide"); err != nil {
		panic(err)
	}
	starts, err = p.AppendStarts(nil, time.Hour)
	fmt.Println(starts, err)
	// Output:
	// [running] <nil>
	// [long] <nil>
}
