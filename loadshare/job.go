package loadshare

import (
	"math"
	"time"
)

// Job is what a machine has observed of a job that runs on it.
type Job struct {
	Faults     float64       // R: page faults from memory shortage, per second
	WorkingSet int64         // WS: memory that it has allocated, in bytes
	IO         int64         // N_io: reads and writes since it started
	Age        time.Duration // time it has executed
}

// Selector identifies the job that is to leave a machine, by its index; false if
// there is none. It must be a pure function.
type Selector func(jobs []Job) (int, bool)

// MostFaults selects the job with the highest rate of page faults: it has the most
// to gain. It may be small, so that its departure does not help the others, or
// about to end. Ties go to the lowest index. Cost O(n).
func MostFaults(jobs []Job) (int, bool) { return highest(jobs, faults) }

// LargestWorkingSet selects the job that frees the most memory, and costs the most
// to migrate. Ties go to the lowest index. Cost O(n).
func LargestWorkingSet(jobs []Job) (int, bool) { return highest(jobs, workingSet) }

// MostIO selects the job with the most reads and writes. Ties go to the lowest
// index. Cost O(n).
func MostIO(jobs []Job) (int, bool) { return highest(jobs, io) }

// Oldest selects the job that has executed for longest, and so is likely to go on
// for longest. [Config].Cost completes it to the paper's age-based policy. Ties go
// to the lowest index. Cost O(n).
func Oldest(jobs []Job) (int, bool) { return highest(jobs, age) }

// Youngest selects the job that has executed for the shortest time. Ties go to the
// lowest index. Cost O(n).
func Youngest(jobs []Job) (int, bool) {
	return highest(jobs, func(j Job) float64 { return -age(j) })
}

// HighestWeight selects the job that is most active in CPU, memory and I/O together,
// Eq. (5). Ties go to the lowest index. Cost O(n).
func HighestWeight(jobs []Job) (int, bool) {
	m := maximaOf(jobs)
	return highest(jobs, m.weight)
}

// LowestWeight selects the job that is least active by Eq. (5). Ties go to the
// lowest index. Cost O(n).
func LowestWeight(jobs []Job) (int, bool) {
	m := maximaOf(jobs)
	return highest(jobs, func(j Job) float64 { return -m.weight(j) })
}

// AppendWeights appends to dst the weights of the jobs by Eq. (5), from 0 to 1: the
// mean of age, fault rate, working set and I/O, each as a share of the largest. Cost
// O(n).
func AppendWeights(dst []float64, jobs []Job) []float64 {
	m := maximaOf(jobs)
	for _, j := range jobs {
		dst = append(dst, m.weight(j))
	}
	return dst
}

func highest(jobs []Job, value func(Job) float64) (int, bool) {
	best, most := -1, math.Inf(-1)
	for i, j := range jobs {
		if v := value(j); v > most {
			best, most = i, v
		}
	}
	return max(0, best), best >= 0
}

func age(j Job) float64        { return float64(max(0, j.Age)) }
func workingSet(j Job) float64 { return float64(max(0, j.WorkingSet)) }
func io(j Job) float64         { return float64(max(0, j.IO)) }

// faults is finite, for shares of the largest.
func faults(j Job) float64 {
	if !(j.Faults > 0) {
		return 0
	}
	return min(j.Faults, math.MaxFloat64)
}

// maxima are the denominators of Eq. (5).
type maxima struct{ age, faults, workingSet, io float64 }

func maximaOf(jobs []Job) maxima {
	var m maxima
	for _, j := range jobs {
		m.age = max(m.age, age(j))
		m.faults = max(m.faults, faults(j))
		m.workingSet = max(m.workingSet, workingSet(j))
		m.io = max(m.io, io(j))
	}
	return m
}

func (m maxima) weight(j Job) float64 {
	return (share(age(j), m.age) + share(faults(j), m.faults) + share(workingSet(j), m.workingSet) + share(io(j), m.io)) / 4
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
