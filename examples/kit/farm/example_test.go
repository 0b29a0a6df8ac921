package farm_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gangkit/gangkit/examples/kit/farm"
	"github.com/gangkit/gangkit/loadshare"
)

// Two jobs of 76 MB page in 122 MB. With load sharing one of them takes a minute to
// get to an idle machine, and both are done sooner.
func ExampleRun() {
	policy, err := loadshare.NewPolicy(loadshare.Config{Select: loadshare.Oldest, Grace: time.Second, Fit: true})
	if err != nil {
		panic(err)
	}
	job := farm.Job{Phases: []farm.Phase{{CPU: 2 * time.Minute, WorkingSet: 76 << 20, IO: 500}}}
	config := farm.Config{
		Machines: 2, Memory: 122 << 20, Swap: 128 << 20,
		Slice: 10 * time.Millisecond, Switch: 100 * time.Microsecond, IOTime: 12 * time.Millisecond,
		Rate:      func(oversize, io float64) float64 { return 150 * max(0, oversize) },
		FaultTime: 10 * time.Millisecond,
		Policy:    policy,
		Network:   loadshare.Network{Latency: 100 * time.Millisecond, BitsPerSecond: 10e6},
		Period:    time.Second, Horizon: time.Hour,
	}
	for _, config.Sharing = range []farm.Sharing{farm.Off, farm.On} {
		outcomes, err := farm.Run(context.Background(), []farm.Job{job, job}, config)
		if err != nil {
			panic(err)
		}
		for i, o := range outcomes {
			fmt.Printf("job %d: %5.1f s: %.0f computing, %.0f I/O, %.1f paging, %.1f ready, %.1f moving\n",
				i, o.Ended.Seconds(), o.CPU.Seconds(), o.IO.Seconds(), o.Paging.Seconds(), o.Ready.Seconds(), o.Moving.Seconds())
		}
	}

	// Output:
	// job 0: 242.4 s: 120 computing, 6 I/O, 44.7 paging, 71.7 ready, 0.0 moving
	// job 1: 242.4 s: 120 computing, 6 I/O, 44.7 paging, 71.7 ready, 0.0 moving
	// job 0: 190.3 s: 120 computing, 6 I/O, 0.2 paging, 0.3 ready, 63.9 moving
	// job 1: 126.5 s: 120 computing, 6 I/O, 0.2 paging, 0.3 ready, 0.0 moving
}
