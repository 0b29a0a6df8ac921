package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/lublin"
	"github.com/gangkit/gangkit/examples/kit/spaceshare"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

// bin is a class of a histogram: values above low, up to high, and how many jobs
// have them.
type bin struct {
	low, high float64
	jobs      int
}

// The log of the paper, DAS2-fs2 with its memory multiplied by five, by
// processors and by memory in MB (Wang et al. 2007, Table 2) and by run time in
// hours (Table 3; the last class is open, and taken to end at 72 hours).
var (
	paperProcessors = []bin{
		{0, 5, 32622}, {5, 11, 10487}, {11, 17, 7559}, {17, 23, 873}, {23, 29, 4503},
		{29, 34, 1402}, {34, 40, 1798}, {40, 46, 726}, {46, 52, 1058}, {52, 58, 12},
	}
	paperMemory = []bin{
		{0, 100, 40921}, {100, 200, 6399}, {200, 300, 4266}, {300, 400, 6312}, {400, 500, 2896},
		{500, 600, 223}, {600, 700, 20}, {900, 1000, 2},
	}
	paperRun = []bin{
		{0, 5, 60903}, {5, 10, 24}, {10, 15, 17}, {15, 20, 10}, {20, 25, 16},
		{25, 30, 9}, {30, 35, 3}, {35, 40, 14}, {40, 45, 5}, {45, 72, 39},
	}
)

// Processors is the machine of the paper: two nodes of 64.
const Processors = 128

// paperMeanMemory is the mean of Table 3, weighted by its jobs, in MB.
const paperMeanMemory = 107.25

// What the tables leave open. Two thirds of the jobs share the lowest class of
// memory; within it the share u of jobs has at most 100·u^memorySkew MB, which
// makes the mean of all classes that of Table 3. All but 137 jobs share the
// lowest class of run time, within which it is lognormal.
const (
	memorySkew  = 3.7
	medianRun   = 60.0 // seconds
	runSigma    = 2.0
	mega        = 1 << 20
	megabyteBin = 100.0
)

// draw picks a class, and returns its number and how far into it.
func draw(bins []bin, r *rand.Rand) (class int, value float64) {
	total := 0
	for _, b := range bins {
		total += b.jobs
	}
	n := r.IntN(total)
	for class = range bins {
		if n -= bins[class].jobs; n < 0 {
			break
		}
	}
	b := bins[class]
	return class, b.low + float64((b.high-b.low)*(1-r.Float64()))
}

// Generate makes a workload like the paper's: processors, memory and run times
// as its tables have them, independent of each other, and the arrivals of the
// Lublin-Feitelson model with their daily cycle, stretched to the given load.
func Generate(jobs, processors int, load float64, seed uint64) (*workload.Workload, error) {
	arrivals, err := lublin.New(lublin.Config{Processors: processors}, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 2))
	w := &workload.Workload{Name: "workload like DAS2-fs2", Processors: processors}
	for i := range jobs {
		_, size := draw(paperProcessors, r)
		class, memory := draw(paperMemory, r)
		if class == 0 {
			memory = megabyteBin * math.Pow(memory/megabyteBin, memorySkew)
		}
		class, run := draw(paperRun, r)
		run *= 3600
		if class == 0 {
			for run = math.Inf(1); run > 5*3600; {
				run = medianRun * math.Exp(float64(runSigma*r.NormFloat64()))
			}
		}
		length := time.Duration(math.Ceil(run)) * time.Second
		w.Jobs = append(w.Jobs, spaceshare.Job{
			Submit: arrivals.Next().Submit, Run: length, Estimate: length,
			Processors: min(int(math.Ceil(size)), processors), Memory: int64(memory * mega),
		})
		w.Numbers, w.CPU = append(w.Numbers, int64(i+1)), append(w.CPU, 0)
	}
	return w, w.Scale(load)
}

// Prepare makes a log what the paper's simulator sees: its memory multiplied,
// and run times known exactly.
func Prepare(w *workload.Workload, memory float64) {
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Estimate = j.Run
		j.Memory = int64(math.Round(float64(j.Memory) * memory))
	}
}
