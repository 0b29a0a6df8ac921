package gangkit_test

import (
	"fmt"
	"time"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/paging"
)

// A space-shared machine whose memory may be over-committed by half: EASY
// backfilling decides what starts, the pool's relaxed limit how far memory goes,
// and Tay and Zou's factor what that costs. Plans are made in work time, which
// all running jobs share, so a slowdown moves no planned end.
func Example() {
	type job struct {
		name          string
		submit        time.Duration
		procs, memory int64
		run           time.Duration
	}
	jobs := []job{
		{"A", 0 * time.Second, 4, 700, 100 * time.Second},
		{"B", 1 * time.Second, 2, 500, 60 * time.Second},
		{"C", 2 * time.Second, 2, 200, 80 * time.Second},
		{"D", 3 * time.Second, 1, 100, 300 * time.Second},
		{"E", 4 * time.Second, 1, 600, 20 * time.Second},
	}
	pool, err := admission.NewPool(admission.PoolConfig{Processors: 10, Memory: 1000, Excess: .5})
	if err != nil {
		fmt.Println(err)
		return
	}
	planner, err := backfill.NewPlanner[int](backfill.Machine{
		Capacity: []int64{10, pool.Limit(false)},
		Relaxed:  []int64{10, pool.Limit(true)},
		Depth:    backfill.EASY,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var (
		progress paging.Progress
		used     int64
		ends     = map[int]time.Duration{} // work time at which a running job is done
	)
	for arrived := 0; arrived < len(jobs) || len(ends) > 0; {
		// The next event: an arrival, or the end that is nearest in work time.
		ending, now := -1, time.Duration(1<<63-1)
		for i := range arrived {
			if end, ok := ends[i]; ok && (ending < 0 || end < ends[ending]) {
				ending, now = i, progress.When(end)
			}
		}
		if arrived < len(jobs) && jobs[arrived].submit < now {
			ending, now = -1, jobs[arrived].submit
		}
		err = progress.Advance(now)
		if ending >= 0 {
			fmt.Printf("%8.3f s  %s ends\n", now.Seconds(), jobs[ending].name)
			err = planner.Finish(progress.Work(), ending)
			used -= jobs[ending].memory
			delete(ends, ending)
		} else {
			j := jobs[arrived]
			err = planner.Submit(arrived, backfill.Job{Need: []int64{j.procs, j.memory}, Estimate: j.run, Relaxed: true})
			arrived++
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		starts, err := planner.AppendStarts(nil, progress.Work())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, i := range starts {
			used += jobs[i].memory
			ends[i] = progress.Target(jobs[i].run)
		}
		if err := progress.SetFactor(now, paging.TayZou(used, pool.Limit(false))); err != nil {
			fmt.Println(err)
			return
		}
		for _, i := range starts {
			fmt.Printf("%8.3f s  %s starts, %d of 1000 used, everything takes %.3f times as long\n",
				now.Seconds(), jobs[i].name, used, progress.Factor())
		}
	}
	// Output:
	//    0.000 s  A starts, 700 of 1000 used, everything takes 1.000 times as long
	//    1.000 s  B starts, 1200 of 1000 used, everything takes 1.558 times as long
	//    2.000 s  C starts, 1400 of 1000 used, everything takes 1.863 times as long
	//    3.000 s  D starts, 1500 of 1000 used, everything takes 2.000 times as long
	//  120.643 s  B ends
	//  141.285 s  C ends
	//  141.285 s  E starts, 1400 of 1000 used, everything takes 1.863 times as long
	//  175.492 s  A ends
	//  177.134 s  E ends
	//  377.671 s  D ends
}
