package gang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/matrix"
)

// A Job is what the scheduler knows of a job.
type Job struct {
	Submit time.Duration
	Nodes  int   // one process on each
	Memory int64 // estimated need of each process, bytes
}

// Usage is what a gang made of a quantum.
type Usage struct {
	CPU   float64       // share of the quantum each of its processes computed, mean over them
	Work  time.Duration // by which it came on: of what it takes when nothing disturbs
	Paged time.Duration // in which it waited for its memory, if the machine can tell
	Ended bool          // its work is done,
	After time.Duration // so long after the quantum began
}

// A Machine runs gangs. Fluid is one.
type Machine interface {
	// Enter puts a process of the job on each of the nodes; the slice is the
	// machine's to keep.
	Enter(job int, nodes []int) error

	// Run lets these gangs run at the same time for at most a quantum, and
	// appends what each made of it.
	Run(jobs []int, quantum time.Duration, usage []Usage) []Usage

	// Leave takes the job's processes away.
	Leave(job int)
}

// A Partner decides which slots run together.
type Partner interface {
	// Match is called at the beginning of a round. It may move gangs between slots
	// and drop slots, and then returns for each slot the one that runs beside it, or
	// −1.
	Match(m *matrix.Matrix[int]) []int

	// Observe tells what a job used of a quantum in which it ran.
	Observe(job int, usage Usage, alone bool)
}

// Config describes a cluster.
type Config struct {
	Nodes   int
	Quantum time.Duration
	Memory  int64   // of a node, as eq. (1) takes it, bytes
	Factor  float64 // C of eq. (1); 0: all jobs are admitted
	Skips   int     // how often a waiting job may be overtaken; 0 is the paper's 15

	Packing    matrix.Packing
	Alternates bool // gangs also run in other slots where their nodes are idle

	Machine Machine
	Partner Partner // nil: one slot a quantum

	// Until, if not 0, cuts the run at the first quantum that begins then or later,
	// and UntilSlots, if not 0, at the first that has so many slots.
	Until      time.Duration
	UntilSlots int

	// Watch, if set, is called before each quantum.
	Watch func(now time.Duration, c *Cluster)
}

// An Outcome is what became of a job.
type Outcome struct {
	Start, End time.Duration // the instant of the cut, if it had not come to that
	Cut        bool          // it had not ended when the run was cut
	Queued     bool          // it was not placed when it arrived
	Skips      int           // how often it was overtaken while it waited
	Paged      time.Duration // in which it waited for its memory, see Usage
}

// A Result is what a run did.
type Result struct {
	Jobs     []Outcome
	Cut      int     // number of jobs that had not ended when the run was cut
	Quanta   int     // in which something ran
	MaxSlots int     // highest multiprogramming level
	Busy     float64 // share of the nodes with a process to run, mean over the quanta
}

// Cluster is the state of a run, for those who watch it.
type Cluster struct {
	config  Config
	jobs    []Job
	matrix  *matrix.Matrix[int]
	nodes   *admission.Nodes // nil if all jobs are admitted
	queue   *admission.Queue[int]
	result  Result
	now     time.Duration
	arrived int
	places  [][]int // per job in the matrix, its nodes
	ended   []int   // jobs, in the last quantum

	partners []int // of the slots of this round
	next     int   // slot

	gangs []int
	usage []Usage
	busy  []int // per node, how many gangs run on it in this quantum
	cells int
}

// Now is the beginning of the quantum that comes.
func (c *Cluster) Now() time.Duration { return c.now }

// Matrix is the matrix; it is not to be changed.
func (c *Cluster) Matrix() *matrix.Matrix[int] { return c.matrix }

// Waiting is the number of jobs in the queue.
func (c *Cluster) Waiting() int { return c.queue.Len() }

// Arrived is the number of jobs that have arrived, which are the first ones.
func (c *Cluster) Arrived() int { return c.arrived }

// Ended is the number of jobs that have left.
func (c *Cluster) Ended() int { return c.arrived - c.matrix.Len() - c.queue.Len() }

// never is an instant that has not come.
const never = time.Duration(-1)

// Run runs jobs, in order of submission, until all have ended, or ctx is done.
// Jobs are known by their index.
func Run(ctx context.Context, jobs []Job, config Config) (Result, error) {
	c, err := newCluster(jobs, config)
	if err != nil {
		return Result{}, err
	}
	for c.arrived < len(jobs) || c.matrix.Len() > 0 {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		if c.matrix.Len() == 0 {
			c.now = max(c.now, jobs[c.arrived].Submit)
		}
		if config.Until > 0 && c.now >= config.Until || config.UntilSlots > 0 && c.matrix.Slots() >= config.UntilSlots {
			c.cut()
			break
		}
		if err := c.quantum(); err != nil {
			return Result{}, err
		}
	}
	if c.result.Quanta > 0 {
		c.result.Busy = float64(c.cells) / float64(c.result.Quanta) / float64(config.Nodes)
	}
	return c.result, nil
}

func newCluster(jobs []Job, config Config) (*Cluster, error) {
	switch {
	case config.Nodes <= 0 || config.Quantum <= 0:
		return nil, fmt.Errorf("%d nodes, quantum %v: %w", config.Nodes, config.Quantum, ErrConfig)
	case config.Machine == nil:
		return nil, fmt.Errorf("no machine: %w", ErrConfig)
	}
	for i, j := range jobs {
		switch {
		case j.Submit < 0 || i > 0 && j.Submit < jobs[i-1].Submit:
			return nil, fmt.Errorf("job %d: submitted at %v, before 0 or the job before it: %w", i, j.Submit, ErrJob)
		case j.Nodes <= 0 || j.Nodes > config.Nodes:
			return nil, fmt.Errorf("job %d: %d nodes of %d: %w", i, j.Nodes, config.Nodes, ErrJob)
		case j.Memory < 0:
			return nil, fmt.Errorf("job %d: memory %d: %w", i, j.Memory, ErrJob)
		}
	}
	c := &Cluster{config: config, jobs: jobs, busy: make([]int, config.Nodes), places: make([][]int, len(jobs))}
	var err error
	if c.matrix, err = matrix.New[int](matrix.Config{PEs: config.Nodes, Packing: config.Packing, KeepEmpty: true}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if config.Factor != 0 {
		memory := slices.Repeat([]int64{config.Memory}, config.Nodes)
		if c.nodes, err = admission.NewNodes(admission.NodesConfig{Memory: memory, Factor: config.Factor}); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	if c.queue, err = admission.NewQueue[int](admission.QueueConfig{MaxSkips: config.Skips}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.result.Jobs = make([]Outcome, len(jobs))
	for i := range c.result.Jobs {
		c.result.Jobs[i] = Outcome{Start: never, End: never}
	}
	return c, nil
}

// cut ends the run here.
func (c *Cluster) cut() {
	for i := range c.result.Jobs {
		o := &c.result.Jobs[i]
		if o.End != never {
			continue
		}
		if o.Start == never {
			o.Start = max(c.now, c.jobs[i].Submit)
		}
		o.End, o.Cut = max(c.now, o.Start), true
		c.result.Cut++
	}
}

// quantum does what happens at the beginning of a quantum, and runs it.
func (c *Cluster) quantum() error {
	for _, job := range c.ended {
		if err := c.leave(job); err != nil {
			return err
		}
	}
	if len(c.ended) > 0 {
		c.ended = c.ended[:0]
		if err := c.scan(); err != nil {
			return err
		}
	}
	for ; c.arrived < len(c.jobs) && c.jobs[c.arrived].Submit <= c.now; c.arrived++ {
		if err := c.arrive(c.arrived); err != nil {
			return err
		}
	}
	if c.config.Watch != nil {
		c.config.Watch(c.now, c)
	}
	if c.matrix.Len() > 0 {
		if err := c.execute(c.turn()); err != nil {
			return err
		}
		c.now += c.config.Quantum
	}
	return nil
}

// place puts a job into the matrix if its memory fits. On an idle cluster it
// always does.
func (c *Cluster) place(job int) (bool, error) {
	need := c.jobs[job].Memory
	var fits func(node int) bool
	if c.nodes != nil && c.matrix.Len() > 0 {
		fits = func(node int) bool { return c.nodes.Fits(need, node).Admit }
	}
	if _, ok, err := c.matrix.Place(job, c.jobs[job].Nodes, fits); !ok || err != nil {
		return false, err
	}
	nodes := slices.Collect(c.matrix.PEs(job))
	c.places[job] = nodes
	if c.nodes != nil {
		if err := c.nodes.Occupy(need, nodes...); err != nil {
			return false, err
		}
	}
	c.result.MaxSlots = max(c.result.MaxSlots, c.matrix.Slots())
	return true, c.config.Machine.Enter(job, nodes)
}

func (c *Cluster) leave(job int) error {
	c.config.Machine.Leave(job)
	if c.nodes != nil {
		if err := c.nodes.Release(c.jobs[job].Memory, c.places[job]...); err != nil {
			return err
		}
	}
	c.places[job] = nil
	return c.matrix.Remove(job)
}

// turn returns the slot whose quantum it is, and the one that runs beside it,
// or −1. There is a gang in the matrix.
func (c *Cluster) turn() (slot, partner int) {
	for {
		if c.next == len(c.partners) {
			c.begin()
		}
		slot = c.next
		c.next++
		if c.matrix.Free(slot) < c.config.Nodes {
			return slot, c.partners[slot]
		}
	}
}

// begin begins a round. Slots keep their numbers until the next.
func (c *Cluster) begin() {
	c.next, c.partners = 0, c.partners[:0]
	if c.config.Partner != nil {
		c.partners = append(c.partners, c.config.Partner.Match(c.matrix)...)
	} else {
		c.matrix.Unify()
	}
	for len(c.partners) < c.matrix.Slots() {
		c.partners = append(c.partners, -1)
	}
}

// execute runs a slot and its partner for a quantum.
func (c *Cluster) execute(slot, partner int) error {
	clear(c.busy)
	c.gangs = slices.AppendSeq(c.gangs[:0], c.matrix.Gangs(slot))
	if partner >= 0 {
		c.gangs = slices.AppendSeq(c.gangs, c.matrix.Gangs(partner))
	}
	c.take(c.gangs)
	if c.config.Alternates {
		home := len(c.gangs)
		c.gangs = c.matrix.AppendAlternates(c.gangs, slot, 0, func(job int) bool { return partner < 0 || c.idle(job) })
		c.take(c.gangs[home:])
	}
	for n, gangs := range c.busy {
		if gangs > 2 || gangs > 1 && partner < 0 {
			return fmt.Errorf("%d gangs on node %d at %v: %w", gangs, n, c.now, ErrInvariant)
		}
		if gangs > 0 {
			c.cells++
		}
	}
	c.result.Quanta++
	c.usage = c.config.Machine.Run(c.gangs, c.config.Quantum, c.usage[:0])
	for i, job := range c.gangs {
		o, u := &c.result.Jobs[job], c.usage[i]
		if o.Start == never {
			o.Start = c.now
		}
		o.Paged += u.Paged
		if u.Ended {
			o.End = c.now + u.After
			c.ended = append(c.ended, job)
		}
		if c.config.Partner != nil {
			c.config.Partner.Observe(job, u, c.isAlone(job))
		}
	}
	return nil
}

// take lets gangs have their nodes for this quantum.
func (c *Cluster) take(jobs []int) {
	for _, job := range jobs {
		for _, n := range c.places[job] {
			c.busy[n]++
		}
	}
}

// idle says whether nothing runs on any node of a job in this quantum.
func (c *Cluster) idle(job int) bool {
	return !slices.ContainsFunc(c.places[job], func(n int) bool { return c.busy[n] > 0 })
}

// isAlone says whether a job that runs in this quantum shares no node.
func (c *Cluster) isAlone(job int) bool {
	return !slices.ContainsFunc(c.places[job], func(n int) bool { return c.busy[n] > 1 })
}

// need is what the scheduler believes a job to need.
func (c *Cluster) need(job int) admission.Need {
	return admission.Need{Nodes: c.jobs[job].Nodes, Memory: c.jobs[job].Memory}
}

// arrive places a job or puts it into the queue.
func (c *Cluster) arrive(job int) error {
	var fault error
	started, err := c.queue.Arrive(job, c.need(job), func(job int, _ admission.Need) (ok bool) {
		ok, fault = c.place(job)
		return ok
	})
	c.result.Jobs[job].Queued = !started
	return errors.Join(err, fault)
}

// scan starts waiting jobs until none can.
func (c *Cluster) scan() error {
	for {
		var fault error
		job, skips, ok := c.queue.Next(c.may, func(job int, _ admission.Need) (ok bool) {
			ok, fault = c.place(job)
			return ok || fault != nil
		})
		if !ok || fault != nil {
			return fault
		}
		c.result.Jobs[job].Skips = skips
	}
}

// may says whether there are nodes for a need at all, be they a gang's place in
// the matrix or not.
func (c *Cluster) may(need admission.Need) bool { return c.nodes == nil || c.nodes.Enough(need) }
