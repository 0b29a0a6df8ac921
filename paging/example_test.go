package paging_test

import (
	"fmt"
	"math/rand/v2"
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

// How much of 10 MB does a process refer to? A unit of the walk is 1 KB.
func ExampleWalk() {
	const units = 10 * 1024
	for _, theta := range []float64{1, 1.5, 2} {
		w, err := paging.NewWalk(paging.WalkConfig{Locality: theta, Range: units}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			panic(err)
		}
		seen, covered := [units]bool{}, 0
		fmt.Printf("θ = %-3v", theta)
		for n := 1; n <= 300_000; n++ {
			if unit := w.Next(); !seen[unit] {
				seen[unit] = true
				covered++
			}
			if n == 10_000 || n == 100_000 || n == 300_000 {
				fmt.Printf("  %6d references: %3d %%", n, covered*100/units)
			}
		}
		fmt.Println()
	}
	// Output:
	// θ = 1     10000 references:  37 %  100000 references:  99 %  300000 references: 100 %
	// θ = 1.5   10000 references:   6 %  100000 references:  46 %  300000 references:  68 %
	// θ = 2     10000 references:   3 %  100000 references:  18 %  300000 references:  35 %
}

// What a process faults in each size of memory, from one pass over half a million
// of its references. It uses 2560 pages of 4 KB.
func ExampleStack() {
	const pages = 2560
	fmt.Println("memory   θ = 1   θ = 1.5 θ = 2")
	var curves []paging.Curve
	for _, theta := range []float64{1, 1.5, 2} {
		w, err := paging.NewWalk(paging.WalkConfig{Locality: theta, Range: 4 * pages}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			panic(err)
		}
		s, err := paging.NewStack(pages)
		if err != nil {
			panic(err)
		}
		for i := range 500_000 {
			if i == 100_000 { // the memory is warm
				s.Discard()
			}
			s.Touch(w.Next() / 4)
		}
		curves = append(curves, s.Curve())
	}
	for percent := 10; percent <= 100; percent += 30 {
		fmt.Printf("%4d %% ", percent)
		for _, c := range curves {
			fmt.Printf("  %.4f", c.Rate(float64(percent)/100*pages))
		}
		fmt.Println()
	}
	// Output:
	// memory   θ = 1   θ = 1.5 θ = 2
	//   10 %   0.1423  0.0200  0.0017
	//   40 %   0.0952  0.0083  0.0000
	//   70 %   0.0509  0.0016  0.0000
	//  100 %   0.0000  0.0000  0.0000
}

// Three processes of 1000 pages each take turns on a node with 2000 frames. When
// one comes back, the others have taken a part of its memory.
func ExampleMemory() {
	m, err := paging.NewMemory(2000)
	if err != nil {
		panic(err)
	}
	type process struct {
		*paging.Process
		walk *paging.Walk
	}
	var processes []process
	for i := range 3 {
		w, err := paging.NewWalk(paging.WalkConfig{Locality: 1, Range: 4000}, rand.New(rand.NewPCG(uint64(i), 0)))
		if err != nil {
			panic(err)
		}
		p, err := m.NewProcess(1000)
		if err != nil {
			panic(err)
		}
		processes = append(processes, process{p, w})
	}
	for quantum := range 9 {
		p := processes[quantum%3]
		resident := p.Resident()
		var found [3]int
		for range 5000 {
			found[p.Touch(p.walk.Next()/4)]++
		}
		fmt.Printf("%c comes with %4d pages, first touches %3d, faults %3d, leaves with %4d\n",
			'A'+quantum%3, resident, found[paging.First], found[paging.Fault], p.Resident())
	}
	processes[0].Exit()
	fmt.Println("A ends:", m.Used(), "frames in use")
	// Output:
	// A comes with    0 pages, first touches 553, faults   0, leaves with  553
	// B comes with    0 pages, first touches 602, faults   0, leaves with  602
	// C comes with    0 pages, first touches 473, faults   0, leaves with  473
	// A comes with  553 pages, first touches 222, faults   0, leaves with  775
	// B comes with  602 pages, first touches 194, faults   0, leaves with  796
	// C comes with  473 pages, first touches 315, faults   0, leaves with  788
	// A comes with  534 pages, first touches 141, faults  90, leaves with  765
	// B comes with  531 pages, first touches 110, faults 155, leaves with  790
	// C comes with  563 pages, first touches 139, faults  79, leaves with  751
	// A ends: 1353 frames in use
}

// Faults of a machine of Chen et al., and what they leave of its time.
func ExampleFaultRate() {
	f := paging.ChenXiaoZhang()
	fmt.Println("memory exceeded by   faults/s   time lost   with 3541 reads and writes")
	for _, demand := range []int64{100, 128, 132, 141, 160, 192, 256} {
		q := paging.Oversize(demand, 128)
		rate, more := f.Rate(q, 0), f.Rate(q, 3541)
		fmt.Printf("%18.1f %% %10.1f %9.0f %% %12.1f %9.0f %%\n", 100*q,
			rate, 100*paging.Lost(rate, paging.FaultTime), more, 100*paging.Lost(more, paging.FaultTime))
	}
	// Output:
	// memory exceeded by   faults/s   time lost   with 3541 reads and writes
	//              -21.9 %        0.0         0 %         41.0        41 %
	//                0.0 %        0.0         0 %         41.0        41 %
	//                3.1 %       20.6        21 %         61.6        62 %
	//               10.2 %       49.2        49 %         90.2        90 %
	//               25.0 %       80.3        80 %        121.4       100 %
	//               50.0 %      100.6       100 %        141.7       100 %
	//              100.0 %      112.5       100 %        153.5       100 %
}

// A fault rate as a model of the slowdown: what pages does not compute.
func ExampleLost() {
	rate := paging.ChenXiaoZhang().Memory
	model := func(demand, capacity int64) float64 {
		lost := paging.Lost(rate.Rate(paging.Oversize(demand, capacity)), paging.FaultTime)
		return 1 / (1 - min(lost, 0.95)) // jobs must end some day
	}
	for _, demand := range []int64{1000, 1010, 1050, 1100, 1200, 1500} {
		fmt.Printf("%d MB: × %5.2f  Tay-Zou × %.2f\n", demand, model(demand, 1000), paging.TayZou(demand, 1000))
	}
	// Output:
	// 1000 MB: ×  1.00  Tay-Zou × 1.00
	// 1010 MB: ×  1.09  Tay-Zou × 1.11
	// 1050 MB: ×  1.42  Tay-Zou × 1.25
	// 1100 MB: ×  1.95  Tay-Zou × 1.37
	// 1200 MB: ×  3.65  Tay-Zou × 1.56
	// 1500 MB: × 20.00  Tay-Zou × 2.00
}

// Fault rates as they may be measured on a machine, and the model that they give.
func ExampleFitMemory() {
	q := []float64{0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	rate := []float64{15.9, 29.4, 43.6, 48, 62.1, 72.3, 80.9, 86.5, 94.4, 100.7, 105.2, 107, 109.8, 111.7, 112}
	fit, err := paging.FitMemory(q, rate, 0)
	if err != nil {
		panic(err)
	}
	m, e := fit.Model, fit.StandardErrors
	fmt.Printf("R_max %.1f ± %.1f, α 4, β %.2f ± %.2f, γ %.3f ± %.3f, δ %.4f ± %.4f\n",
		m.Max, e.Max, m.Beta, e.Beta, m.Gamma, e.Gamma, m.Delta, e.Delta)
	fmt.Printf("R² %.4f, residual error %.2f faults/s\n", fit.R2, fit.ResidualError)

	_, err = paging.FitMemory(q[:3], rate[:3], 0)
	fmt.Println(err)
	// Output:
	// R_max 119.6 ± 1.1, α 4, β 0.34 ± 0.06, γ 0.183 ± 0.007, δ 0.0347 ± 0.0006
	// R² 0.9996, residual error 0.71 faults/s
	// points at 3 different x, 4 parameters: paging: points do not determine the model
}

// The three groups of programs in Table 2 of Chen et al.: the model that their
// authors give misses them, a straight line does not.
func ExampleFitLine() {
	q, rate := []float64{0.0534, 0.2475, 0.6495}, []float64{12.52, 44.12, 102.03}
	line, err := paging.FitLine(q, rate)
	if err != nil {
		panic(err)
	}
	printed := paging.ChenXiaoZhang().Memory
	for i := range q {
		fmt.Printf("Q = %.4f: measured %6.2f, Eq. (1) %6.2f, line %6.2f\n", q[i], rate[i], printed.Rate(q[i]), line.Model.Rate(q[i]))
	}
	fmt.Printf("Eq. (1): R² %.3f\n", paging.Assess(printed.Rate, 0, q, rate).R2)
	fmt.Printf("%.2f + %.1f Q: R² %.3f\n", line.Model.Intercept, line.Model.Slope, line.R2)
	// Output:
	// Q = 0.0534: measured  12.52, Eq. (1)  31.17, line  13.58
	// Q = 0.2475: measured  44.12, Eq. (1)  80.01, line  42.55
	// Q = 0.6495: measured 102.03, Eq. (1) 106.12, line 102.54
	// Eq. (1): R² 0.599
	// 5.61 + 149.2 Q: R² 0.999
}

// One pool's progress: a second job makes both page from 10 s on.
func ExampleProgress_Advance() {
	var p paging.Progress
	if err := p.SetFactor(10*time.Second, paging.TayZou(15, 10)); err != nil {
		panic(err)
	}
	if err := p.Advance(30 * time.Second); err != nil {
		panic(err)
	}
	fmt.Println("at", p.Now(), "work", p.Work(), "has been done")
	fmt.Println("a job that needs 20 s more ends at", p.When(p.Target(20*time.Second)))
	// Output:
	// at 30s work 20s has been done
	// a job that needs 20 s more ends at 1m10s
}

// Eq. (4) as printed is negative where few reads and writes are made; the sum of its
// parts is not.
func ExampleFaultRate_Printed() {
	m := paging.ChenXiaoZhang()
	for _, n := range []float64{0, 2000, 3500} {
		fmt.Printf("%4.0f reads and writes: %6.1f as printed, %5.1f faults a second\n", n, m.Printed(.25, n), m.Rate(.25, n))
	}
	// Output:
	// 0 reads and writes:    0.0 as printed,  80.3 faults a second
	// 2000 reads and writes:   27.4 as printed,  80.3 faults a second
	// 3500 reads and writes:  118.9 as printed, 118.9 faults a second
}
