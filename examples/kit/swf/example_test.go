package swf_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

const small = `; Computer: IBM SP2
; MaxProcs: 128
; Note: the lines are
;       not in order
3 60 -1    -1   -1     -1  -1  8  3600   -1 5 2 1 -1 1 -1 -1 -1
1  0 13 50866   64 489.00 900 64 64800 1024 1 1 1 -1 1 -1 -1 -1
4 70 10   nan   16      5   0 16    -1   -1 1 2 1 -1 1 -1 -1 -1
2 30  0    12 4096      9  -1 -1    -1   -1 1 2 1 -1 1 -1 -1 -1
5 30  0   100   -1     90   0 32   600 2048 0 2 1 -1 1 -1 -1 -1
`

// A program counts what it leaves out, and why.
func Example() {
	r, err := swf.NewReader(strings.NewReader(small))
	if err != nil {
		fmt.Println(err)
		return
	}
	size, _ := r.Header().Processors()
	fmt.Println(r.Header().Get("Computer"), "with", size, "processors")

	var jobs []swf.Job
	var faulty, never, unknown, large int
	for j, err := range r.All() {
		var fault *swf.LineError
		switch {
		case errors.As(err, &fault):
			fmt.Println(err)
			faulty++
		case err != nil:
			fmt.Println(err) // the log ends too early
		case j.Run <= 0:
			never++
		case j.Processors() <= 0:
			unknown++
		case j.Processors() > size:
			large++
		default:
			jobs = append(jobs, *j)
		}
	}
	fmt.Printf("left out: %d faulty, %d never ran, %d without a size, %d too large\n", faulty, never, unknown, large)

	// Stable: jobs of the same second stay in the order of the file.
	slices.SortStableFunc(jobs, func(a, b swf.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for _, j := range jobs {
		fmt.Printf("job %d at %v s: %v s on %d processors, %v KB each\n",
			j.Number, j.Submit, j.Run, j.Processors(), j.Memory())
	}
	// Output:
	// IBM SP2 with 128 processors
	// line 7: field 4 (run time): not a decimal number: "nan"
	// left out: 1 faulty, 1 never ran, 0 without a size, 1 too large
	// job 1 at 0 s: 50866 s on 64 processors, 900 KB each
	// job 5 at 30 s: 100 s on 32 processors, 2048 KB each
}

func ExampleReader_Read() {
	r, err := swf.NewReader(strings.NewReader("1 0 13 50866 64 489.00 -1 64 64800 -1 1 95 -1 -1 4 -1 -1 -1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var j swf.Job
	for r.Read(&j) == nil {
		fmt.Println("line", j.Line, "job", j.Number, "CPU time", j.CPUTime)
	}
	fmt.Println(r.Read(&j))
	// Output:
	// line 1 job 1 CPU time 489
	// EOF
}

func ExampleOpen() {
	_, err := swf.Open("missing.swf.gz")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// true
}

func ExampleHeader() {
	r, err := swf.NewReader(strings.NewReader(`;  MaxNodes: 32 (dual CPU)
; MaxMemory: N/A
;     Queue: 0 interactive
;     Queue: 1 batch,
;            the default
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	h := r.Header()
	fmt.Println(h.Processors())
	fmt.Println(h.Int("MaxMemory"))
	fmt.Printf("%q\n", h.All("Queue"))
	// Output:
	// 32 true
	// 0 false
	// ["0 interactive" "1 batch,\nthe default"]
}

// A copy keeps the header: some logs require that their notice stays with them.
func ExampleWriter() {
	r, err := swf.NewReader(strings.NewReader(small))
	if err != nil {
		fmt.Println(err)
		return
	}
	w := swf.NewWriter(os.Stdout)
	for keyword, value := range r.Header().Entries() {
		if err := w.Header(keyword, value); err != nil {
			fmt.Println(err)
		}
	}
	w.Header("Note", "jobs with a status of 1 only")
	for j, err := range r.All() {
		if err == nil && j.Status == 1 {
			w.Write(j)
		}
	}
	if err := w.Flush(); err != nil { // the errors of all writes
		fmt.Println(err)
	}
	// Output:
	// ; Computer: IBM SP2
	// ; MaxProcs: 128
	// ; Note: the lines are
	// ;   not in order
	// ; Note: jobs with a status of 1 only
	// 1 0 13 50866 64 489 900 64 64800 1024 1 1 1 -1 1 -1 -1 -1
	// 2 30 0 12 4096 9 -1 -1 -1 -1 1 2 1 -1 1 -1 -1 -1
}
