package gang

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/examples/kit/lublin"
)

// A Workload is what arrives at a cluster.
type Workload struct {
	Jobs        []Job           // in order of submission; memory is 0
	Runs        []time.Duration // how long each takes when nothing disturbs
	Utilisation []float64       // of each, uniform on (0, 1]

	// Offered is the load that Jobs offer, Σ run·nodes over the span of the
	// submissions and all nodes.
	Offered float64
}

// Lublin draws the jobs of the dynamic experiments of Batat & Feitelson (2000),
// §4.3, and Wiseman & Feitelson (2003), §4.2: of the Lublin-Feitelson model (see
// package lublin), with run times and arrivals divided by 40, and then arrivals
// stretched so that the load is as asked for. Load is theirs,
//
//	load = mean run time × mean nodes / (mean interarrival time × total nodes)
//
// which differs from the load that is offered as far as long jobs are wide.
func Lublin(jobs, nodes int, load float64, seed uint64) (*Workload, error) {
	const divisor = 40
	if jobs < 2 || nodes < 1 || !(load > 0 && load <= 100) {
		return nil, fmt.Errorf("%d jobs of load %v on %d nodes: %w", jobs, load, nodes, ErrConfig)
	}
	m, err := lublin.New(lublin.Config{Processors: nodes}, rand.New(rand.NewPCG(seed, 7)))
	if err != nil {
		return nil, err
	}
	w := &Workload{Jobs: make([]Job, jobs), Runs: make([]time.Duration, jobs), Utilisation: make([]float64, jobs)}
	var run, width, work float64
	for i := range w.Jobs {
		j := m.Next()
		w.Jobs[i] = Job{Submit: j.Submit, Nodes: j.Processors}
		w.Runs[i], w.Utilisation[i] = j.Run/divisor, j.Utilisation
		run += w.Runs[i].Seconds()
		width += float64(j.Processors)
		work += float64(w.Runs[i].Seconds() * float64(j.Processors))
	}
	first, last := w.Jobs[0].Submit, w.Jobs[jobs-1].Submit
	if first == last {
		return nil, fmt.Errorf("all %d jobs arrive at once: %w", jobs, ErrConfig)
	}
	span := run / float64(jobs) * width / (load * float64(nodes))
	stretch := span / (last - first).Seconds()
	for i := range w.Jobs {
		w.Jobs[i].Submit = time.Duration(float64(w.Jobs[i].Submit-first) * stretch)
	}
	w.Offered = work / (span * float64(nodes))
	return w, nil
}
