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
