package workload_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/swf"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// whole is the twin of reading a number: what stands before the decimal point.
func whole(field string) int64 {
	before, _, _ := strings.Cut(field, ".")
	n, err := strconv.ParseInt(before, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// readTwin reads lines of plain decimal numbers, on strings and integers.
func readTwin(lines []string, processors int64) (jobs []spaceshare.Job, numbers []int64, dropped map[string]int) {
	type numbered struct {
		job    spaceshare.Job
		number int64
	}
	var all []numbered
	dropped = map[string]int{}
	positive := func(a, b int64) int64 {
		if a > 0 {
			return a
		}
		return max(b, 0)
	}
	for _, line := range lines {
		f := strings.Fields(line)
		submit, run, p := whole(f[1]), whole(f[3]), positive(whole(f[4]), whole(f[7]))
		estimate := positive(whole(f[8]), run)
		switch {
		case submit < 0:
			dropped["submit time negative"]++
		case run <= 0:
			dropped["run time not positive"]++
		case p <= 0:
			dropped["no processors"]++
		case p > processors:
			dropped["larger than the machine"]++
		default:
			all = append(all, numbered{spaceshare.Job{
				Submit: time.Duration(submit) * time.Second, Run: time.Duration(min(run, estimate)) * time.Second,
				Estimate: time.Duration(estimate) * time.Second, Processors: int(p),
				Memory: p * 1024 * positive(whole(f[6]), whole(f[9])),
			}, whole(f[0])})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].job.Submit < all[j].job.Submit })
	for _, n := range all {
		jobs, numbers = append(jobs, n.job), append(numbers, n.number)
	}
	return jobs, numbers, dropped
}

// Logs of unknown, zero and broken numbers, out of order and with many equal
// instants, against the twin.
func FuzzReadAgainstItsTwin(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, uint8(seed%40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		number := func(n int) string {
			s := strconv.Itoa(r.IntN(n+2) - 1)
			if r.IntN(3) == 0 {
				s += fmt.Sprintf(".%d", r.IntN(100))
			}
			if r.IntN(20) == 0 {
				s = "-0.5"
			}
			return s
		}
		// Whole numbers: of less than a kilobyte in use nothing is left.
		memory := func() string { return strconv.Itoa(r.IntN(52) - 1) }
		lines := make([]string, n)
		for i := range lines {
			lines[i] = line(i+1, number(5), number(9), number(12), memory(), number(12), number(9), memory())
		}
		jobs, numbers, dropped := readTwin(lines, 10)
		w, err := read(t, strings.Join(lines, ""), 10)
		if len(jobs) == 0 {
			require.ErrorIs(t, err, workload.ErrEmpty)
			return
		}
		require.NoError(t, err)
		require.Equal(t, jobs, w.Jobs)
		require.Equal(t, numbers, w.Numbers)
		require.Len(t, w.Dropped, len(dropped))
		for _, d := range w.Dropped {
			require.Equal(t, dropped[d.Reason], d.Jobs, d.Reason)
		}
	})
}

func TestTheLastSecondThatCanBeSimulated(t *testing.T) {
	for field := range 3 {
		for value, ok := range map[string]bool{"2147483648": true, "2147483648.5": false, "2147483649": false} {
			f := []string{"0", "1", "1"}
			f[field] = value
			_, err := read(t, line(1, f[0], f[1], "1", "-1", "1", f[2], "-1"), 1)
			if ok {
				assert.NoError(t, err, "%v", f)
			} else {
				assert.ErrorIs(t, err, workload.ErrRange, "%v", f)
			}
		}
	}
}

// The load that the logs' description gives is that of all recorded run times,
// over the span of the usable jobs.
func TestRecordedLoads(t *testing.T) {
	for name, want := range map[string]float64{
		"LANL-CM5-1994-4.1-cln":  .74,
		"DAS2-fs1-2003-1":        .12,
		"SDSC-SP2-1998-4.2-cln":  .83,
		"KTH-SP2-1996-2.1-cln":   .70,
		"NASA-iPSC-1993-3.1-cln": .47,
		"SDSC-BLUE-2000-4.2-cln": .77,
		"UniLu-Gaia-2014-1":      .45,
		"CEA-Curie-2011-2.1-cln": .63,
		"lublin_256":             1.06,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("../../../../shared/traces", name+".swf.gz")
			r, err := swf.Open(file)
			if err != nil && os.Getenv("CI") != "true" {
				t.Skip("no logs in ../shared/traces beside the checkout")
			}
			require.NoError(t, err)
			defer r.Close()
			w, err := workload.Read(name, r, 0)
			require.NoError(t, err)

			recorded := map[int64]float64{}
			again, err := swf.Open(file)
			require.NoError(t, err)
			defer again.Close()
			for j := (swf.Job{}); ; {
				if err := again.Read(&j); err == io.EOF {
					break
				} else {
					require.NoError(t, err)
				}
				recorded[j.Number] = j.Run
			}
			killed := 0
			var work float64
			for i, j := range w.Jobs {
				run := recorded[w.Numbers[i]]
				cut := j.Run.Seconds() < math.Trunc(run)
				if j.Run.Seconds() > run || j.Estimate < j.Run || cut && j.Estimate != j.Run {
					t.Fatalf("job %d ran %v s and became %+v", w.Numbers[i], run, j)
				}
				if cut {
					killed++
				}
				work += float64(run * float64(j.Processors))
			}
			span := w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit
			load := work / (span.Seconds() * float64(w.Processors))
			assert.InDelta(t, want, load, .005+1e-9)
			if killed == 0 {
				assert.InDelta(t, load, w.Load(), 1e-9)
			} else {
				assert.Less(t, w.Load(), load)
			}
		})
	}
}

func TestGeneratedJobsAreWhatTheyShouldBe(t *testing.T) {
	for _, processors := range []int{1, 2, 16, 100, 128, 1024} {
		for _, n := range []int{1, 10, 1000, 5000} {
			w, err := workload.Generate(n, processors, 77)
			require.NoError(t, err)
			require.Len(t, w.Jobs, n)
			require.Equal(t, processors, w.Processors)
			for i, j := range w.Jobs {
				require.Equal(t, int64(i+1), w.Numbers[i])
				require.Positive(t, j.Run)
				require.GreaterOrEqual(t, j.Estimate, j.Run)
				require.LessOrEqual(t, j.Estimate, 36*time.Hour)
				require.Positive(t, j.Processors)
				require.LessOrEqual(t, j.Processors, processors)
				require.GreaterOrEqual(t, j.Memory, int64(0))
				require.True(t, i == 0 || w.Jobs[i-1].Submit <= j.Submit)
			}
		}
	}
}

// A workload that is scaled twice is the one that is scaled once, but for the
// seconds that are cut off; the first submission stays.
func TestScaleIsStableAndKeepsTheRest(t *testing.T) {
	w, err := workload.Generate(5000, 128, 9)
	require.NoError(t, err)
	first, before := w.Jobs[0].Submit, slices.Clone(w.Jobs)
	original := w.Jobs
	require.NoError(t, w.Scale(.3))
	require.NoError(t, w.Scale(.8))
	assert.InEpsilon(t, .8, w.Load(), .01)
	assert.Equal(t, first, w.Jobs[0].Submit)
	assert.Equal(t, before, original, "the jobs are replaced, not written to")
	for i, j := range w.Jobs {
		j.Submit = before[i].Submit
		require.Equal(t, before[i], j)
	}
}

// A few jobs of the model, and what an average mix of them needs.
func ExampleGenerate() {
	w, err := workload.Generate(1000, 128, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Scale(.8); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d jobs, load %.2f\n", w.Name, len(w.Jobs), w.Load())
	for _, j := range w.Jobs[:3] {
		fmt.Printf("%v: %d processors, %v of %v\n", j.Submit, j.Processors, j.Run, j.Estimate)
	}
	// Output:
	// Lublin-Feitelson model, seed 1: 1000 jobs, load 0.80
	// 2m14s: 16 processors, 2h33m18s of 6h0m0s
	// 3m3s: 32 processors, 2h10m10s of 5h0m0s
	// 3m26s: 16 processors, 3h31m18s of 25h0m0s
}

// The second line was never started and the third asks for more than there is.
func ExampleRead() {
	r, err := swf.NewReader(strings.NewReader(`; MaxProcs: 4
1  0 -1 60  2 -1 100  2 90 -1 1 1 1 1 1 1 -1 -1
2  5 -1 -1  1 -1  -1  1 90 -1 5 1 1 1 1 1 -1 -1
3  7 -1 60  8 -1  -1  8 90 -1 1 1 1 1 1 1 -1 -1
4  9 -1 99 -1 -1  -1  4 30 -1 1 1 1 1 1 1 -1 -1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := workload.Read("log", r, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, j := range w.Jobs {
		fmt.Printf("job %d at %v: %d of %d processors, %d KiB, %v of %v\n",
			w.Numbers[i], j.Submit, j.Processors, w.Processors, j.Memory>>10, j.Run, j.Estimate)
	}
	for _, d := range w.Dropped {
		fmt.Printf("dropped %d: %s\n", d.Jobs, d.Reason)
	}
	// Output:
	// job 1 at 0s: 2 of 4 processors, 200 KiB, 1m0s of 1m30s
	// job 4 at 9s: 4 of 4 processors, 0 KiB, 30s of 30s
	// dropped 1: run time not positive
	// dropped 1: larger than the machine
}
