package spaceshare_test

import (
	"fmt"
	"slices"
)

// oracleJob is a job in whole seconds.
type oracleJob struct {
	submit, run, estimate int64
	procs, memory         int64
}

// oracle is a second scheduler, slow and obvious, that shares no code with the
// one under test. It returns every job's start. jobs are in order of submission;
// memory below zero means that memory is ignored. A job of more memory than
// there is runs alone.
func oracle(jobs []oracleJob, procs, memory int64, policy, order string) []int64 {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if memory < 0 {
			jobs[i].memory = 0
		} else if jobs[i].memory > memory {
			jobs[i].procs, jobs[i].memory = procs, memory
		}
	}
	o := &oracleMachine{jobs: jobs, free: amounts{procs, max(memory, 0)}, policy: policy, order: order}
	o.starts = make([]int64, len(jobs))
	for i := range o.starts {
		o.starts[i] = -1
	}
	o.profile = []oracleStep{{-1, o.free}}
	o.replay()
	return o.starts
}

// amounts are processors and memory.
type amounts struct{ procs, memory int64 }

func (a amounts) holds(j oracleJob) bool { return j.procs <= a.procs && j.memory <= a.memory }

func (a amounts) plus(j oracleJob, n int64) amounts {
	return amounts{a.procs + n*j.procs, a.memory + n*j.memory}
}

type oracleStep struct {
	at   int64
	free amounts
}

type oracleMachine struct {
	jobs          []oracleJob
	policy, order string
	now           int64
	submitted     int
	queue         []int // in order of submission
	running       []int // in order of starting
	starts        []int64
	free          amounts // the empty machine

	profile  []oracleStep // conservative: what running jobs and reservations leave
	reserved map[int]int64
}

func (o *oracleMachine) replay() {
	o.reserved = map[int]int64{}
	for o.submitted < len(o.jobs) || len(o.running) > 0 || len(o.queue) > 0 {
		o.now = o.next()
		switch o.order {
		case "batch":
			ended, arrived := 0, 0
			for o.terminate() {
				ended++
			}
			for o.submit() {
				arrived++
			}
			o.pass(ended, arrived)
		case "submit-first":
			for o.submit() {
				o.pass(0, 1)
			}
			for o.terminate() {
				o.pass(1, 0)
			}
		case "terminate-first":
			for o.terminate() {
				o.pass(1, 0)
			}
			for o.submit() {
				o.pass(0, 1)
			}
		default:
			panic(o.order)
		}
		if o.policy == "conservative" {
			o.startDue()
		}
		used := amounts{}
		for _, i := range o.running {
			used = used.plus(o.jobs[i], 1)
		}
		if used.procs > o.free.procs || used.memory > o.free.memory {
			panic(fmt.Sprintf("%v used of %v at %d", used, o.free, o.now))
		}
	}
}

// next is the instant of the next event.
func (o *oracleMachine) next() int64 {
	var at []int64
	if o.submitted < len(o.jobs) {
		at = append(at, o.jobs[o.submitted].submit)
	}
	for _, i := range o.running {
		at = append(at, o.starts[i]+o.jobs[i].run)
	}
	for _, i := range o.queue {
		if o.policy == "conservative" {
			at = append(at, o.reserved[i])
		}
	}
	return slices.Min(at)
}

// submit takes the next job that arrives now, if there is one.
func (o *oracleMachine) submit() bool {
	if o.submitted == len(o.jobs) || o.jobs[o.submitted].submit > o.now {
		return false
	}
	o.queue = append(o.queue, o.submitted)
	o.submitted++
	return true
}

// terminate ends the first job, in the order in which they started, that ends
// now, if there is one.
func (o *oracleMachine) terminate() bool {
	for k, i := range o.running {
		if o.starts[i]+o.jobs[i].run > o.now {
			continue
		}
		o.running = slices.Delete(o.running, k, k+1)
		if o.policy == "conservative" {
			o.take(o.now, o.starts[i]+o.jobs[i].estimate, o.jobs[i], 1)
		}
		return true
	}
	return false
}

func (o *oracleMachine) start(i int) {
	o.starts[i] = o.now
	o.running = append(o.running, i)
	k := slices.Index(o.queue, i)
	o.queue = slices.Delete(o.queue, k, k+1)
}

func (o *oracleMachine) pass(ended, arrived int) {
	switch o.policy {
	case "fcfs":
		for len(o.queue) > 0 && o.freeNow().holds(o.jobs[o.queue[0]]) {
			o.start(o.queue[0])
		}
	case "easy":
		o.easy()
	case "conservative":
		if ended > 0 {
			o.compress(o.queue[:len(o.queue)-arrived])
		}
		for _, i := range o.queue[len(o.queue)-arrived:] {
			o.reserve(i)
		}
	default:
		panic(o.policy)
	}
}

// freeNow is what is free by the running jobs' estimated ends.
func (o *oracleMachine) freeNow() amounts {
	free := o.free
	for _, i := range o.running {
		if o.starts[i]+o.jobs[i].estimate > o.now {
			free = free.plus(o.jobs[i], -1)
		}
	}
	return free
}

func (o *oracleMachine) easy() {
	free := o.freeNow()
	for len(o.queue) > 0 && free.holds(o.jobs[o.queue[0]]) {
		free = free.plus(o.jobs[o.queue[0]], -1)
		o.start(o.queue[0])
	}
	if len(o.queue) == 0 {
		return
	}
	// The shadow time of the head, and what stays free beside it from then on.
	head := o.jobs[o.queue[0]]
	byEnd := slices.Clone(o.running)
	end := func(i int) int64 { return o.starts[i] + o.jobs[i].estimate }
	slices.SortFunc(byEnd, func(a, b int) int { return int(end(a) - end(b)) })
	shadow, extra := o.now, free
	for _, i := range byEnd {
		if end(i) <= o.now {
			continue
		}
		if extra.holds(head) && end(i) > shadow {
			break
		}
		shadow, extra = end(i), extra.plus(o.jobs[i], 1)
	}
	extra = extra.plus(head, -1)
	for _, i := range slices.Clone(o.queue[1:]) {
		j := o.jobs[i]
		switch {
		case !free.holds(j):
			continue
		case o.now+j.estimate <= shadow:
		case extra.holds(j):
			extra = extra.plus(j, -1)
		default:
			continue
		}
		free = free.plus(j, -1)
		o.start(i)
	}
}

// take subtracts (n = -1) or gives back (n = 1) what j holds in [from, to).
func (o *oracleMachine) take(from, to int64, j oracleJob, n int64) {
	if from >= to {
		return
	}
	for _, at := range []int64{from, to} {
		k := 0
		for k < len(o.profile) && o.profile[k].at < at {
			k++
		}
		if k == len(o.profile) || o.profile[k].at > at {
			o.profile = slices.Insert(o.profile, k, oracleStep{at, o.profile[k-1].free})
		}
	}
	for k := range o.profile {
		if s := &o.profile[k]; s.at >= from && s.at < to {
			s.free = s.free.plus(j, n)
		}
	}
	// Steps that lie in the past, or that change nothing, are of no use.
	kept := o.profile[:0]
	for k, s := range o.profile {
		past := k+1 < len(o.profile) && o.profile[k+1].at <= o.now
		if !past && (len(kept) == 0 || kept[len(kept)-1].free != s.free) {
			kept = append(kept, s)
		}
	}
	o.profile = kept
}

// reserve gives job i the earliest start from now on at which it fits for its
// whole estimate.
func (o *oracleMachine) reserve(i int) {
	j := o.jobs[i]
	start := int64(-1)
	for k, s := range o.profile {
		if k+1 < len(o.profile) && o.profile[k+1].at <= o.now {
			continue // over
		}
		if start >= 0 && s.at >= start+j.estimate {
			break
		}
		if !s.free.holds(j) {
			start = -1
		} else if start < 0 {
			start = max(s.at, o.now)
		}
	}
	o.reserved[i] = start
	o.take(start, start+j.estimate, j, -1)
}

// compress lets each waiting job give up its reservation and take the earliest.
func (o *oracleMachine) compress(waiting []int) {
	for _, i := range waiting {
		old := o.reserved[i]
		o.take(old, old+o.jobs[i].estimate, o.jobs[i], 1)
		o.reserve(i)
		if o.reserved[i] > old {
			panic(fmt.Sprintf("job %d moves from %d to %d", i, old, o.reserved[i]))
		}
	}
}

// startDue starts the jobs whose reservation has come.
func (o *oracleMachine) startDue() {
	for _, i := range slices.Clone(o.queue) {
		if o.reserved[i] == o.now {
			o.start(i)
			delete(o.reserved, i)
		}
	}
}
