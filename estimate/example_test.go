package estimate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/gangkit/gangkit/estimate"
)

// ran tells a history of some runs of a job; memory is in MB.
func ran(h *estimate.History, path string, nodes int, user string, memory ...int64) {
	for _, m := range memory {
		if err := h.Observe(estimate.Job{Path: path, Nodes: nodes, User: user}, m<<20); err != nil {
			panic(err)
		}
	}
}

// show prints the estimate of a job, in MB.
func show(e estimate.Estimator, path string, nodes int, user string) {
	j := estimate.Job{Path: path, Nodes: nodes, User: user}
	if x, ok := e.Estimate(j); ok {
		fmt.Printf("%s on %d nodes for %s: %d MB, by %v, %d runs\n", path, nodes, user, x.Memory>>20, x.Level, x.Samples)
	} else {
		fmt.Printf("%s on %d nodes for %s: unknown\n", path, nodes, user)
	}
}

func Example() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 120, 150)
	ran(&h, "/bin/fluid", 16, "bob", 200)
	ran(&h, "/bin/fluid", 64, "ann", 60)

	show(&h, "/bin/fluid", 16, "ann")
	show(&h, "/bin/fluid", 16, "cleo")
	show(&h, "/bin/fluid", 32, "ann")
	show(&h, "/bin/solid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 150 MB, by path, nodes, user, 2 runs
	// /bin/fluid on 16 nodes for cleo: 200 MB, by path, nodes, 3 runs
	// /bin/fluid on 32 nodes for ann: 200 MB, by path, 4 runs
	// /bin/solid on 16 nodes for ann: unknown
}

// What to do about jobs that never ran: the size of the executable, and if that
// is unknown as well, a constant.
func ExampleFirstOf() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 120)

	size := estimate.Executable(func(path string) (int64, bool) {
		f, err := os.Open(path)
		if err != nil {
			return 0, false
		}
		defer f.Close()
		bytes, err := estimate.StaticSize(f)
		return bytes, err == nil
	})
	memory := estimate.FirstOf(&h, size, estimate.Constant(256<<20))
	show(memory, "/bin/fluid", 16, "ann")
	show(memory, "/nowhere/solid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 120 MB, by path, nodes, user, 1 runs
	// /nowhere/solid on 16 nodes for ann: 256 MB, by constant, 0 runs
}

func ExampleConstant() {
	show(estimate.Constant(64<<20), "/bin/fluid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 64 MB, by constant, 0 runs
}

func ExampleExecutable() {
	sizes := map[string]int64{"/bin/fluid": 90 << 20} // measured before
	memory := estimate.Executable(func(path string) (int64, bool) {
		bytes, ok := sizes[path]
		return bytes, ok
	})
	show(memory, "/bin/fluid", 16, "ann")
	show(memory, "/bin/solid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 90 MB, by executable, 0 runs
	// /bin/solid on 16 nodes for ann: unknown
}

// A site with a million records, and another bound.
func ExampleNewHistory() {
	h, err := estimate.NewHistory(estimate.Config{Bound: estimate.Adaptive, Paths: 1 << 20, Records: 1 << 20})
	if err != nil {
		panic(err)
	}
	ran(h, "/bin/fluid", 16, "ann", 500, 150, 120, 150, 130, 140)
	show(h, "/bin/fluid", 16, "ann")

	_, err = estimate.NewHistory(estimate.Config{Records: -1})
	fmt.Println(err, errors.Is(err, estimate.ErrConfig))
	// Output:
	// /bin/fluid on 16 nodes for ann: 150 MB, by path, nodes, user, 6 runs
	// 0 paths, -1 records: estimate: invalid limit true
}

func ExampleHistory_Observe() {
	var h estimate.History
	j := estimate.Job{Path: "/bin/fluid", Nodes: 4, User: "ann"}
	perProcess := []int64{101 << 20, 99 << 20, 140 << 20, 98 << 20}
	var largest int64
	for _, m := range perProcess {
		largest = max(largest, m)
	}
	fmt.Println(h.Observe(j, largest))
	fmt.Println(h.Observe(j, -1))
	fmt.Println(h.Observe(estimate.Job{Path: "/bin/fluid", User: "ann"}, largest))
	// Output:
	// <nil>
	// -1 bytes: estimate: invalid memory
	// 0 nodes: estimate: invalid job
}

func ExampleHistory_Estimate() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 8, 8, 8, 8, 40)
	e, ok := h.Estimate(estimate.Job{Path: "/bin/fluid", Nodes: 16, User: "ann"})
	fmt.Println(e.Memory>>20, e.Level, e.Samples, ok)
	// Output:
	// 40 path, nodes, user 5 true
}

// All bounds on one history.
func ExampleHistory_Past() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 50, 10, 10, 10, 10, 10, 10, 10, 10, 10, 12)
	s, level := h.Past(estimate.Job{Path: "/bin/fluid", Nodes: 16, User: "ann"})
	fmt.Printf("%v: %d runs, mean %.1f, deviation %.1f\n", level, s.Count, s.Mean/(1<<20), s.Deviation/(1<<20))
	for _, name := range []string{"paper", "max", "mean", "mean+1sd", "last", "max3", "adaptive"} {
		bound, err := estimate.ParseBound(name)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-8s %.1f\n", name, float64(bound(s))/(1<<20))
	}
	// Output:
	// path, nodes, user: 11 runs, mean 13.8, deviation 11.5
	// paper    48.2
	// max      50.0
	// mean     13.8
	// mean+1sd 25.3
	// last     12.0
	// max3     12.0
	// adaptive 12.4
}

// A job that runs in January, and then never again.
func ExampleHistory_Rotate() {
	var h estimate.History
	for _, month := range []string{"January", "February", "March"} {
		if month == "January" {
			ran(&h, "/bin/fluid", 16, "ann", 120)
		}
		fmt.Print(month, ", ")
		show(&h, "/bin/fluid", 16, "ann")
		h.Rotate()
	}
	// Output:
	// January, /bin/fluid on 16 nodes for ann: 120 MB, by path, nodes, user, 1 runs
	// February, /bin/fluid on 16 nodes for ann: 120 MB, by path, nodes, user, 1 runs
	// March, /bin/fluid on 16 nodes for ann: unknown
}

// Across a restart.
func ExampleHistory_Snapshot() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 120)
	var file bytes.Buffer
	if err := h.Snapshot(&file); err != nil {
		panic(err)
	}

	var restored estimate.History
	if err := restored.Restore(&file); err != nil {
		panic(err)
	}
	show(&restored, "/bin/fluid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 120 MB, by path, nodes, user, 1 runs
}

// A damaged snapshot changes nothing.
func ExampleHistory_Restore() {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", 120)
	var file bytes.Buffer
	if err := h.Snapshot(&file); err != nil {
		panic(err)
	}
	damaged := file.Bytes()
	damaged[len(damaged)/2] ^= 1

	err := h.Restore(bytes.NewReader(damaged))
	fmt.Println(errors.Is(err, estimate.ErrSnapshot), h.Records(), h.Paths())
	// Output:
	// true 1 1
}

// The a.out header of the paper: magic, text, data and bss.
func ExampleStaticSize() {
	file := make([]byte, 32+4000+500)
	for i, x := range []uint32{0o407, 4000, 500, 9000} {
		binary.LittleEndian.PutUint32(file[4*i:], x)
	}
	fmt.Println(estimate.StaticSize(bytes.NewReader(file)))
	fmt.Println(estimate.StaticSize(bytes.NewReader(file[:1000])))
	// Output:
	// 13500 <nil>
	// 0 static size: a header beyond the end: estimate: not an executable
}

// A bound of one's own: that of the paper with two standard deviations.
func ExampleBound() {
	two := func(s estimate.Sample) int64 { return min(s.Max, estimate.MeanPlus(2)(s)) }
	h, err := estimate.NewHistory(estimate.Config{Bound: two})
	if err != nil {
		panic(err)
	}
	ran(h, "/bin/fluid", 16, "ann", 10, 10, 10, 10, 10, 10, 10, 10, 10, 50)
	show(h, "/bin/fluid", 16, "ann")
	// Output:
	// /bin/fluid on 16 nodes for ann: 38 MB, by path, nodes, user, 10 runs
}

func ExampleParseBound() {
	for _, name := range []string{"paper", "mean+2.5sd", "max6"} {
		_, err := estimate.ParseBound(name)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// "max6": estimate: unknown bound
}

func sample(mb ...int64) estimate.Sample {
	var h estimate.History
	ran(&h, "/bin/fluid", 16, "ann", mb...)
	s, _ := h.Past(estimate.Job{Path: "/bin/fluid", Nodes: 16, User: "ann"})
	return s
}

// An outlier counts in full until there are ten other values.
func ExamplePaper() {
	values := []int64{50}
	for len(values) < 12 {
		values = append(values, 10)
		fmt.Print(estimate.Paper(sample(values...))>>20, " ")
	}
	// Output:
	// 50 50 50 50 50 50 50 50 50 48 46
}

// Five values forget an outlier.
func ExampleAdaptive() {
	values := []int64{50}
	for len(values) < 8 {
		values = append(values, 10)
		fmt.Print(estimate.Adaptive(sample(values...))>>10, " ")
	}
	// Output:
	// 51584 51584 51584 51584 10624 10624 10624
}

func ExampleMax() {
	fmt.Println(estimate.Max(sample(30, 10, 20)) >> 20)
	// Output:
	// 30
}

func ExampleLast() {
	fmt.Println(estimate.Last(sample(30, 10, 20)) >> 20)
	// Output:
	// 20
}

func ExampleMaxOfLast() {
	fmt.Println(estimate.MaxOfLast(2)(sample(30, 10, 20)) >> 20)
	// Output:
	// 20
}

func ExampleMeanPlus() {
	s := sample(30, 10, 20)
	fmt.Println(estimate.MeanPlus(0)(s)>>20, estimate.MeanPlus(1)(s)>>20)
	// Output:
	// 20 28
}
