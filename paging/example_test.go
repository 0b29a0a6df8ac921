package paging_test

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/paging"
)

// The penalty for a pool of 1000 MB, from half empty to ten times too much.
func ExampleTayZou() {
	for _, demand := range []int64{500, 1000, 1010, 1100, 1300, 1500, 2000, 3000, 10000} {
		fmt.Printf("%5d MB: × %.4f\n", demand, paging.TayZou(demand, 1000))
	}
	// Output:
	//   500 MB: × 1.0000
	//  1000 MB: × 1.0000
	//  1010 MB: × 1.1051
	//  1100 MB: × 1.3702
	//  1300 MB: × 1.7179
	//  1500 MB: × 2.0000
	//  2000 MB: × 2.6180
	//  3000 MB: × 3.7321
	// 10000 MB: × 10.9083
}

// How much memory may be promised if nobody shall run longer than so much?
func ExampleOversubscription() {
	for _, factor := range []float64{1, 1.25, 1.5, 2, 3} {
		fmt.Printf("× %.2f: %.4f of the memory\n", factor, paging.Oversubscription(factor))
	}
	// Output:
	// × 1.00: 1.0000 of the memory
	// × 1.25: 1.0500 of the memory
	// × 1.50: 1.1667 of the memory
	// × 2.00: 1.5000 of the memory
	// × 3.00: 2.3333 of the memory
}

// Callers bring their own models: here time grows as the demand does, and swap
// space of half the memory is all there is.
func ExampleModel() {
	linear := func(demand, capacity int64) float64 {
		demand = min(demand, capacity+capacity/2)
		return max(1, float64(demand)/float64(capacity))
	}
	for _, m := range []struct {
		name  string
		model paging.Model
	}{{"none", paging.None}, {"linear", linear}, {"Tay-Zou", paging.TayZou}} {
		fmt.Printf("%-7s", m.name)
		for _, demand := range []int64{900, 1000, 1100, 1500, 2000} {
			fmt.Printf(" %.3f", m.model(demand, 1000))
		}
		fmt.Println()
	}
	// Output:
	// none    1.000 1.000 1.000 1.000 1.000
	// linear  1.000 1.000 1.100 1.500 1.500
	// Tay-Zou 1.000 1.000 1.370 2.000 2.618
}

// The example of the paper, §3.2: a job of 10 s starts and exceeds the memory by
// 50 %, so it takes 20 s, and so do the 10 s that another job has left.
func ExampleRescale() {
	before, after := paging.TayZou(750, 1000), paging.TayZou(1500, 1000)
	started, err := paging.Rescale(10*time.Second, 1, after)
	if err != nil {
		panic(err)
	}
	other, err := paging.Rescale(10*time.Second, before, after)
	if err != nil {
		panic(err)
	}
	relieved, err := paging.Rescale(other-4*time.Second, after, before)
	if err != nil {
		panic(err)
	}
	fmt.Println(started, other)
	fmt.Println("relieved after 4 s:", relieved)
	// Output:
	// 20s 20s
	// relieved after 4 s: 8s
}

// Three jobs share a pool of 1000 MB that they over-commit. The event loop asks
// only for the job that ends next, and never touches the others.
func ExampleProgress() {
	type job struct {
		name          string
		submit, run   time.Duration
		memory        int64
		target        time.Duration
		running, done bool
	}
	jobs := []job{
		{name: "A", memory: 600, submit: 0 * time.Second, run: 100 * time.Second},
		{name: "B", memory: 600, submit: 20 * time.Second, run: 50 * time.Second},
		{name: "C", memory: 300, submit: 30 * time.Second, run: 40 * time.Second},
	}
	var pool paging.Progress
	used := int64(0)
	for {
		// The next event is the first start or the first end.
		next, at := -1, time.Duration(0)
		for i, j := range jobs {
			t := j.submit
			if j.running {
				t = pool.When(j.target)
			}
			if !j.done && (next < 0 || t < at) {
				next, at = i, t
			}
		}
		if next < 0 {
			break
		}
		j := &jobs[next]
		event := "starts"
		if j.running {
			event, j.running, j.done = "ends", false, true
			used -= j.memory
		} else {
			j.running = true
			used += j.memory
		}
		if err := pool.SetFactor(at, paging.TayZou(used, 1000)); err != nil {
			panic(err)
		}
		if j.running {
			j.target = pool.Target(j.run)
		}
		fmt.Printf("%7.3f %s %-6s %4d MB × %.4f", at.Seconds(), j.name, event, used, pool.Factor())
		for _, j := range jobs {
			if j.running {
				fmt.Printf("  %s %.3f", j.name, pool.Remaining(j.target).Seconds())
			}
		}
		fmt.Println()
	}
	// Output:
	//   0.000 A starts  600 MB × 1.0000  A 100.000
	//  20.000 B starts 1200 MB × 1.5583  A 124.661  B 77.913
	//  30.000 C starts 1500 MB × 2.0000  A 147.165  B 87.165  C 80.000
	// 110.000 C ends   1200 MB × 1.5583  A 52.330  B 5.583
	// 115.583 B ends    600 MB × 1.0000  A 30.000
	// 145.583 A ends      0 MB × 1.0000
}
