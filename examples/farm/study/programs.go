package study

import (
	"math"
	"time"

	"github.com/gangkit/gangkit/examples/kit/farm"
)

// Program is one of the seven programs of the paper's Table 1, alone on a machine of
// 233 MHz and 128 MB.
type Program struct {
	Name        string
	Least, Most float64       // working set, MB
	IO          int64         // reads and writes
	CPU         time.Duration // k-time and u-time
}

// Programs are those of Table 1.
var Programs = []Program{
	{"bit-r", 64.22, 64.22, 9, seconds(.57 + 191.85)},
	{"m-sort", 64.27, 64.27, 18, seconds(1.70 + 80.84)},
	{"m-m", 66.37, 66.37, 4, seconds(1.12 + 4901.12)},
	{"t-sim", 4.64, 4.64, 225, seconds(.14 + 38.79)},
	{"metis", 1.37, 4.30, 292, seconds(8.06 + 112.85)},
	{"r-sphere", 36.84, 39.66, 1624, seconds(.97 + 298.18)},
	{"r-wing", 19.53, 23.39, 3541, seconds(1.31 + 28.98)},
}

const megabyte = 1 << 20

// seconds rounds to milliseconds: the table has hundredths.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(s*1000)) * time.Millisecond
}

func megabytes(x float64) int64 { return int64(math.Round(x * megabyte)) }

// steps is in how many steps memory grows.
const steps = 16

// Phases returns the phases of the program: its working set grows evenly from the
// least to the most over its CPU time, and its reads and writes are spread evenly. If
// ramp > 0, it first grows from nothing to the least during so much CPU time, or half
// of the program's if that is less.
func (p Program) Phases(ramp time.Duration) []farm.Phase {
	var phases []farm.Phase
	grow := func(from, to float64, cpu time.Duration) {
		n := steps
		if from == to {
			n = 1
		}
		for i := range n {
			begin, end := cpu*time.Duration(i)/time.Duration(n), cpu*time.Duration(i+1)/time.Duration(n)
			// from at first, to at last
			size := to
			if n > 1 {
				size = from + (to-from)*float64(i)/float64(n-1)
			}
			phases = append(phases, farm.Phase{CPU: end - begin, WorkingSet: megabytes(size)})
		}
	}
	ramp = min(ramp, p.CPU/2)
	if ramp > 0 {
		grow(0, p.Least, ramp)
	}
	grow(p.Least, p.Most, p.CPU-ramp)

	var cpu time.Duration
	var done int64
	for i := range phases {
		cpu += phases[i].CPU
		due := int64(float64(p.IO) * float64(cpu) / float64(p.CPU))
		if i == len(phases)-1 {
			due = p.IO
		}
		phases[i].IO = due - done
		done = due
	}
	return phases
}
