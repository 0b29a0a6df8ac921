package loadshare_test

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/loadshare"
)

// Three machines of 122 MB. The first has too little memory for its jobs: which of
// them leaves depends on the selector, and where it goes on who has the room.
func Example() {
	const mb = 1 << 20
	load := func(jobs int, demand int64) loadshare.Machine {
		return loadshare.Machine{Jobs: jobs, Demand: demand, Memory: 122 * mb, Free: max(0, 122*mb-demand)}
	}
	running := []loadshare.Job{
		{WorkingSet: 66 * mb, Age: 10 * time.Second},
		{WorkingSet: 23 * mb, Age: 8 * time.Second, Faults: 20, IO: 900},
		{WorkingSet: 64 * mb, Age: time.Minute, Faults: 70},
	}
	cluster, err := loadshare.NewIndex([]loadshare.Machine{load(3, 153*mb), load(2, 91*mb), load(1, 66*mb)})
	if err != nil {
		panic(err)
	}
	others := func() (int, loadshare.Machine, bool) { return cluster.Candidate(0) }

	for _, selector := range []struct {
		name string
		job  loadshare.Selector
	}{
		{"most faults", loadshare.MostFaults},
		{"largest working set", loadshare.LargestWorkingSet},
		{"highest weight", loadshare.HighestWeight},
		{"youngest", loadshare.Youngest},
	} {
		policy, err := loadshare.NewPolicy(loadshare.Config{Select: selector.job, Fit: true})
		if err != nil {
			panic(err)
		}
		d := policy.Decide(loadshare.State{Machine: cluster.Machine(0), Running: running}, others)
		if d.Migrate {
			fmt.Printf("%-20s job %d to machine %d\n", selector.name+":", d.Job, d.To)
		} else {
			fmt.Printf("%-20s no machine has the room\n", selector.name+":")
		}
	}

	// Output:
	// most faults:         no machine has the room
	// largest working set: no machine has the room
	// highest weight:      no machine has the room
	// youngest:            job 1 to machine 2
}

// The stages of a machine whose memory fills up: MT warns at 90 per cent.
func ExamplePolicy_Decide() {
	policy, err := loadshare.NewPolicy(loadshare.Config{Select: loadshare.LargestWorkingSet, Fit: true})
	if err != nil {
		panic(err)
	}
	idle := func() (int, loadshare.Machine, bool) { return 4, loadshare.Machine{Memory: 100, Free: 100}, true }
	for _, demand := range []int64{50, 89, 90, 100, 101} {
		d := policy.Decide(loadshare.State{
			Machine: loadshare.Machine{Jobs: 2, Demand: demand, Memory: 100, Threshold: -.1},
			Running: []loadshare.Job{{WorkingSet: 30}, {WorkingSet: demand - 30}},
			Waiting: true,
		}, idle)
		fmt.Printf("%3d of 100:", demand)
		if d.Accept {
			fmt.Print(" accept")
		}
		if d.Submit {
			fmt.Print(" submit to ", d.SubmitTo)
		}
		if d.Migrate {
			fmt.Print(", migrate job ", d.Job, " to ", d.To)
		}
		fmt.Println()
	}

	// Output:
	//  50 of 100: accept
	//  89 of 100: accept
	//  90 of 100: submit to 4
	// 100 of 100: submit to 4
	// 101 of 100: submit to 4, migrate job 1 to 4
}

// The machine with the most free memory is the candidate, the first of equals,
// unless it has as many jobs as it may have.
func ExampleIndex() {
	cluster, err := loadshare.NewIndex([]loadshare.Machine{
		{Memory: 100, Free: 20}, {Memory: 100, Free: 70}, {Memory: 100, Free: 70},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(cluster.Candidate(1))
	if err := cluster.Set(2, loadshare.Machine{Jobs: 3, MaxJobs: 3, Memory: 100, Free: 90}); err != nil {
		panic(err)
	}
	fmt.Println(cluster.Candidate(1))

	// Output:
	// 2 {0 0 100 70 0 0 0} true
	// 0 {0 0 100 20 0 0 0} true
}

func ExampleAppendWeights() {
	jobs := []loadshare.Job{
		{Age: 100 * time.Second, WorkingSet: 64 << 20, IO: 18},
		{Age: 50 * time.Second, Faults: 20, WorkingSet: 23 << 20, IO: 3541},
	}
	fmt.Printf("%.3f\n", loadshare.AppendWeights(nil, jobs))
	// Output:
	// [0.501 0.715]
}

func ExampleNetwork_Migration() {
	ethernet := loadshare.Network{Latency: 100 * time.Millisecond, BitsPerSecond: 10e6}
	cost := ethernet.Migration(64 << 20)
	fmt.Println(cost.Round(time.Millisecond))
	fmt.Println(loadshare.Worthwhile(time.Minute, cost, 3, 2), loadshare.Worthwhile(time.Minute, cost, 2, 2))
	// Output:
	// 53.787s
	// true false
}

// What a machine says of itself, and what the others make of it.
func ExampleMachine() {
	const mb = 1 << 20
	policy, err := loadshare.NewPolicy(loadshare.Config{Fit: true})
	if err != nil {
		panic(err)
	}
	for _, demand := range []int64{61, 115, 122, 150} {
		m := loadshare.Machine{Jobs: 2, Demand: demand * mb, Memory: 122 * mb, Free: max(0, 122-demand) * mb, Threshold: -.05}
		fmt.Printf("Q = %+.2f: accepts submissions %v, takes a job of 20 MB %v, a job is to leave %v\n",
			m.Oversize(), m.Accepts(), policy.Takes(m, 20*mb), policy.Short(m))
	}
	// Output:
	// Q = -0.50: accepts submissions true, takes a job of 20 MB true, a job is to leave false
	// Q = -0.06: accepts submissions true, takes a job of 20 MB false, a job is to leave false
	// Q = +0.00: accepts submissions false, takes a job of 20 MB false, a job is to leave false
	// Q = +0.23: accepts submissions false, takes a job of 20 MB false, a job is to leave true
}

// Any selector goes with any policy.
func ExampleSelector() {
	jobs := []loadshare.Job{
		{WorkingSet: 64, Age: 100 * time.Second, IO: 18},
		{WorkingSet: 23, Age: 50 * time.Second, Faults: 20, IO: 3541},
		{WorkingSet: 5, Age: 10 * time.Second, Faults: 5, IO: 225},
	}
	for _, s := range []struct {
		name string
		job  loadshare.Selector
	}{{"most I/O", loadshare.MostIO}, {"oldest", loadshare.Oldest}, {"lowest weight", loadshare.LowestWeight}} {
		job, _ := s.job(jobs)
		fmt.Println(s.name, job)
	}
	// Output:
	// most I/O 1
	// oldest 0
	// lowest weight 2
}
