package farm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/loadshare"
)

// Errors of [Run]; they come wrapped with the offending value.
var (
	// ErrJob is a job that cannot be, or that is out of order.
	ErrJob = errors.New("farm: bad job")
	// ErrConfig is a farm that cannot be.
	ErrConfig = errors.New("farm: bad farm")
	// ErrInvariant is a broken rule: the simulation is wrong, not its input.
	ErrInvariant = errors.New("farm: invariant broken")
)

// Phase is a part of a job.
type Phase struct {
	CPU        time.Duration // > 0
	WorkingSet int64         // bytes allocated during the phase, ≥ 0
	IO         int64         // reads and writes, spread over the phase, ≥ 0
}

// Job is a sequential program.
type Job struct {
	Submit time.Duration // instant of submission, ≥ 0
	Home   int           // the machine where it is submitted
	Phases []Phase       // at least one; not changed, and may be shared by jobs
}

// CPU is the time that the job computes.
func (j Job) CPU() time.Duration {
	var sum time.Duration
	for _, p := range j.Phases {
		sum += p.CPU
	}
	return sum
}

// Sharing says what becomes of submissions, and of jobs that run.
type Sharing int

const (
	// Off runs every job at once, where it was submitted.
	Off Sharing = iota
	// Blocking runs every job where it was submitted, but none starts while the
	// memory there is exceeded.
	Blocking
	// On follows [Config].Policy.
	On
)

// Failure is the time when a machine is out of order.
type Failure struct {
	Machine  int
	At       time.Duration
	Duration time.Duration // > 0
}

// Config is a farm and its policy.
type Config struct {
	Machines int   // > 0
	Memory   int64 // of each machine that jobs can use, in bytes, > 0
	Swap     int64 // of each machine, in bytes, ≥ 0

	Slice  time.Duration // of the processor, > 0
	Switch time.Duration // from one job to the next, ≥ 0
	IOTime time.Duration // of a read or write, ≥ 0

	// Rate is how many faults a machine has per second, from the share by which
	// its memory is exceeded, see [loadshare.Machine.Oversize], and the reads and
	// writes of its jobs so far. nil means none.
	Rate      func(oversize, io float64) float64
	FaultTime time.Duration // ≥ 0
	Stall     bool          // a fault stops all jobs of the machine

	Sharing Sharing
	Policy  loadshare.Policy
	// Threshold is MT, MaxJobs CT of every machine; see [loadshare.Machine].
	Threshold float64
	MaxJobs   int

	Network loadshare.Network // with a latency above 0, unless Sharing is Off or Blocking
	Bus     bool              // jobs that move at the same time share the bandwidth

	// Period is how often machines tell their load, and decide although nothing
	// happened. > 0
	Period time.Duration

	Failures []Failure // of a machine, in order and apart

	// Horizon is when the run ends at the latest. > 0: a machine that only pages
	// may not make any progress.
	Horizon time.Duration

	// Watch, if set, is called after every instant at which something happened.
	Watch func(now time.Duration, f *Farm)
}

// End says how a job ended.
type End int

const (
	Unfinished End = iota // at the horizon
	Completed
	Killed // for want of memory and swap space
)

// Outcome is what became of a job. All times add up to Ended less its submission.
type Outcome struct {
	End   End
	Ended time.Duration // instant

	CPU     time.Duration // computing; with restarts, more than the job needs
	IO      time.Duration // reading and writing
	Paging  time.Duration // waiting for pages
	Ready   time.Duration // waiting for the processor
	Blocked time.Duration // waiting to start
	Moving  time.Duration // between machines

	Faults      float64
	Migrations  int // that arrived or not
	Submissions int // to other machines
	Restarts    int
}

// Total is the sum of all times.
func (o Outcome) Total() time.Duration {
	return o.CPU + o.IO + o.Paging + o.Ready + o.Blocked + o.Moving
}

// Run runs jobs, which are in order of submission, through the farm, and returns
// what became of each. It is deterministic. It ends when all jobs have, at the
// horizon, or with the cause of ctx when that is done.
//
// Events of one instant are handled as [des.Batch] has it, and machines decide in
// the order of their numbers. Cost per event O(machines + jobs of a machine), and
// O(machines) per period.
func Run(ctx context.Context, jobs []Job, c Config) ([]Outcome, error) {
	f, err := newFarm(jobs, c)
	if err != nil {
		return nil, err
	}
	s := des.Simulation{
		Submissions: submissions{f}, Terminations: terminations{f}, Timers: timers{f},
		Pass: f.pass, Settle: f.settle,
	}
	if err := s.Run(ctx); err != nil {
		return nil, err
	}
	return f.finish()
}

func check(jobs []Job, c *Config) error {
	switch {
	case c.Machines <= 0:
		return fmt.Errorf("%d machines: %w", c.Machines, ErrConfig)
	case c.Memory <= 0 || c.Memory > mostMemory || c.Swap < 0 || c.Swap > mostMemory:
		return fmt.Errorf("%d bytes of memory, %d of swap space: %w", c.Memory, c.Swap, ErrConfig)
	case c.Slice <= 0 || c.Switch < 0 || c.IOTime < 0 || c.FaultTime < 0:
		return fmt.Errorf("slice %v, switch %v, I/O %v, fault %v: %w", c.Slice, c.Switch, c.IOTime, c.FaultTime, ErrConfig)
	case c.Sharing < Off || c.Sharing > On:
		return fmt.Errorf("sharing %d: %w", c.Sharing, ErrConfig)
	case math.IsNaN(c.Threshold) || c.MaxJobs < 0:
		return fmt.Errorf("thresholds %v and %d: %w", c.Threshold, c.MaxJobs, ErrConfig)
	case c.Sharing == On && (c.Network.Latency <= 0 || c.Network.BitsPerSecond <= 0):
		return fmt.Errorf("network with latency %v, %d bit/s: %w", c.Network.Latency, c.Network.BitsPerSecond, ErrConfig)
	case c.Period <= 0 || c.Horizon <= 0 || c.Horizon > latest:
		return fmt.Errorf("period %v, horizon %v: %w", c.Period, c.Horizon, ErrConfig)
	}
	up := make([]time.Duration, c.Machines)
	for i, x := range c.Failures {
		if x.Machine < 0 || x.Machine >= c.Machines || x.Duration <= 0 || x.At < up[x.Machine] || x.At > latest-x.Duration {
			return fmt.Errorf("failure %d of machine %d, at %v for %v: %w", i, x.Machine, x.At, x.Duration, ErrConfig)
		}
		up[x.Machine] = x.At + x.Duration + 1
	}
	last := time.Duration(0)
	for i, j := range jobs {
		if j.Submit < last || j.Home < 0 || j.Home >= c.Machines || len(j.Phases) == 0 {
			return fmt.Errorf("job %d, submitted at %v after %v, machine %d, %d phases: %w", i, j.Submit, last, j.Home, len(j.Phases), ErrJob)
		}
		last = j.Submit
		total := time.Duration(0)
		for k, p := range j.Phases {
			if p.CPU <= 0 || p.CPU > latest-total || p.WorkingSet < 0 || p.WorkingSet > mostMemory || p.IO < 0 || p.IO > mostIO {
				return fmt.Errorf("job %d, phase %d: CPU %v, %d bytes, %d reads and writes: %w", i, k, p.CPU, p.WorkingSet, p.IO, ErrJob)
			}
			total += p.CPU
		}
	}
	return nil
}

// Bounds, so that sums do not overflow.
const (
	never      = time.Duration(math.MaxInt64)
	latest     = never / 4 // instant or length
	mostMemory = 1 << 44   // bytes: 16 TB
	mostIO     = 1 << 32   // reads and writes of a phase
)

// place says where a job is.
type place uint8

const (
	outside    place = iota // not submitted yet, or ended
	waiting                 // in the queue of its machine
	running                 // on its machine
	submitting              // from source to machine, before it starts
	migrating               // from source to machine
)

// task is a job under way.
type task struct {
	*Outcome
	phases  []Phase
	place   place
	machine int32
	source  int32
	trip    int32 // trips begun: arrivals of earlier ones are void
	phase   int32
	since   time.Duration // when it came to its place, unless running

	left     time.Duration // CPU time of the phase to go
	age      time.Duration // CPU time since it started
	io       int64         // reads and writes of the phases done
	set      int64         // memory now allocated
	noted    int64         // at the last period
	before   int64         // at the period before that
	faults   float64       // per second
	cpu, ios float64       // shares of time now
	paging   float64
	most     float64 // the share of time that it could compute
}

func (t *task) current() *Phase { return &t.phases[t.phase] }

// done is the number of reads and writes so far.
func (t *task) done() int64 {
	p := t.current()
	if p.IO == 0 {
		return t.io
	}
	return t.io + int64(float64(float64(p.IO)*float64(p.CPU-t.left))/float64(p.CPU))
}

func (t *task) grown() int64 { return max(0, t.set-t.before) }

// start begins it from the first phase.
func (t *task) start() {
	t.phase, t.age, t.io, t.before, t.noted = 0, 0, 0, 0, 0
	t.left, t.set = t.phases[0].CPU, t.phases[0].WorkingSet
}

// machine is the state of one.
type machine struct {
	running  []int32 // in order of arrival
	waiting  []int32 // in order of arrival
	incoming int     // jobs on their way here
	outgoing int     // migrations under way from here
	demand   int64   // memory of the running and migrating here
	held     int64   // memory of the migrating from here, in case they come back
	down     bool

	updated time.Duration // the jobs have proceeded up to here
	next    time.Duration // when the first of them ends its phase
	short   time.Duration // since when memory is short, never if it is not
	touched bool
	decides bool // in this pass
}

// Farm is a run under way, as [Config].Watch sees it.
type Farm struct {
	config   Config
	jobs     []Job
	outcomes []Outcome
	tasks    []task
	machines []machine
	index    *loadshare.Index // as of the last period

	submitted int // jobs, in order
	ended     int
	next      time.Duration // least of the machines'
	tick      time.Duration // the next period
	news      time.Duration // the last
	arrivals  des.Agenda[arrival]
	breaks    des.Agenda[failure]
	bus       bus

	touched []int32 // machines of this instant
	queue   []int32 // machines that are to decide
	sharers []loadshare.Job
	order   []int32
}

type arrival struct{ task, trip int32 }

type failure struct {
	machine int
	up      bool
}

func newFarm(jobs []Job, c Config) (*Farm, error) {
	if err := check(jobs, &c); err != nil {
		return nil, err
	}
	f := &Farm{
		config: c, jobs: jobs, outcomes: make([]Outcome, len(jobs)), tasks: make([]task, len(jobs)),
		machines: make([]machine, c.Machines), next: never,
	}
	loads := make([]loadshare.Machine, c.Machines)
	for k := range f.machines {
		f.machines[k].next, f.machines[k].short = never, never
		loads[k] = f.load(k)
	}
	for i, j := range jobs {
		f.tasks[i] = task{Outcome: &f.outcomes[i], phases: j.Phases}
	}
	for _, x := range c.Failures {
		f.breaks.Add(x.At, failure{x.Machine, false})
		f.breaks.Add(x.At+x.Duration, failure{x.Machine, true})
	}
	var err error
	f.index, err = loadshare.NewIndex(loads)
	return f, err
}

// load is what machine k would tell now. One that is down has no place for a job.
func (f *Farm) load(k int) loadshare.Machine {
	m := &f.machines[k]
	l := loadshare.Machine{
		Jobs: len(m.running) + m.incoming, Demand: m.demand, Memory: f.config.Memory,
		Free:    max(0, f.config.Memory-m.demand),
		MaxJobs: f.config.MaxJobs, Threshold: f.config.Threshold,
	}
	if m.down {
		l.Jobs, l.MaxJobs = 1, 1
	}
	return l
}

// The streams of events.
type (
	submissions  struct{ *Farm }
	terminations struct{ *Farm }
	timers       struct{ *Farm }
)

func (f *Farm) within(at time.Duration) (time.Duration, bool) { return at, at <= f.config.Horizon }

func (f submissions) Next() (time.Duration, bool) {
	if f.submitted == len(f.jobs) {
		return 0, false
	}
	return f.within(f.jobs[f.submitted].Submit)
}

func (f submissions) Handle(now time.Duration) error {
	i := f.submitted
	f.submitted++
	f.wait(i, f.jobs[i].Home, now)
	return nil
}

func (f terminations) Next() (time.Duration, bool) {
	return f.within(f.Farm.next)
}

// Handle ends phases on the first machine where one ends now.
func (f terminations) Handle(now time.Duration) error {
	k := 0
	for f.machines[k].next != now {
		k++
	}
	m := f.touch(k, now)
	m.next = never
	for i := 0; i < len(m.running); i++ {
		t := &f.tasks[m.running[i]]
		if t.left > 0 {
			continue
		}
		p := t.current()
		if int(t.phase)+1 == len(t.phases) {
			m.demand -= t.set
			f.end(int(m.running[i]), Completed, now)
			m.running = slices.Delete(m.running, i, i+1)
			i--
			continue
		}
		t.io += p.IO
		t.phase++
		p = t.current()
		t.left = p.CPU
		m.demand += p.WorkingSet - t.set
		t.set = p.WorkingSet
	}
	f.rescan()
	return nil
}

// live tells whether periods matter: some job is, or will be, on the farm.
func (f *Farm) live() bool { return f.ended < len(f.jobs) }

func (f timers) Next() (time.Duration, bool) {
	if !f.live() {
		return 0, false
	}
	at := min(f.tick, f.bus.next())
	if t, _, ok := f.arrivals.First(); ok {
		at = min(at, t)
	}
	if t, _, ok := f.breaks.First(); ok {
		at = min(at, t)
	}
	return f.within(at)
}

func (f timers) Handle(now time.Duration) error {
	if at, x, ok := f.breaks.First(); ok && at == now {
		f.breaks.Remove()
		if x.up {
			f.touch(x.machine, now).down = false
		} else {
			f.fail(x.machine, now)
		}
		return nil
	}
	if at, a, ok := f.arrivals.First(); ok && at == now {
		f.arrivals.Remove()
		if t := &f.tasks[a.task]; t.trip != a.trip {
			return nil // it was called back
		} else if f.config.Bus && t.place == migrating {
			f.bus.add(a.task, f.config.Network.Migration(t.set)-f.config.Network.Latency, now)
			return nil
		}
		f.arrive(int(a.task), now)
		return nil
	}
	if f.bus.next() == now {
		f.arrive(int(f.bus.remove(now)), now)
		return nil
	}
	f.news, f.tick = now, now+f.config.Period
	for k := range f.machines {
		m := &f.machines[k]
		for _, i := range m.running {
			t := &f.tasks[i]
			t.before, t.noted = t.noted, t.set
		}
		if len(m.waiting) > 0 || m.demand > f.config.Memory || f.config.MaxJobs > 0 && len(m.running)+m.incoming > f.config.MaxJobs {
			f.touch(k, now)
		}
		if err := f.index.Set(k, f.load(k)); err != nil {
			return err
		}
	}
	return nil
}

// touch lets the jobs of a machine proceed to now, before anything changes there. It
// decides in the next pass.
func (f *Farm) touch(k int, now time.Duration) *machine {
	m := &f.machines[k]
	f.proceed(m, now)
	if !m.touched {
		m.touched = true
		f.touched = append(f.touched, int32(k))
	}
	if !m.decides {
		m.decides = true
		f.queue = append(f.queue, int32(k))
	}
	return m
}

// wait puts a job into the queue of a machine.
func (f *Farm) wait(i, k int, now time.Duration) {
	m := f.touch(k, now)
	m.waiting = append(m.waiting, int32(i))
	f.tasks[i].place, f.tasks[i].machine, f.tasks[i].since = waiting, int32(k), now
}

// run puts a job onto a machine.
func (f *Farm) run(i int, m *machine) {
	m.running = append(m.running, int32(i))
	f.tasks[i].place = running
}

func (f *Farm) end(i int, how End, now time.Duration) {
	t := &f.tasks[i]
	t.End, t.Ended, t.place = how, now, outside
	f.ended++
}

// send begins a trip from machine t.machine to machine k.
func (f *Farm) send(i, k int, how place, cost, now time.Duration) {
	t := &f.tasks[i]
	t.place, t.source, t.machine, t.since = how, t.machine, int32(k), now
	t.trip++
	m := f.touch(k, now)
	m.incoming++
	if how == migrating {
		m.demand += t.set
		s := &f.machines[t.source]
		s.demand -= t.set
		s.held += t.set
		s.outgoing++
		t.Migrations++
		if f.config.Bus {
			cost = f.config.Network.Latency
		}
	} else {
		t.Submissions++
	}
	if cost <= f.config.Horizon-now { // else it is on its way for ever
		f.arrivals.Add(now+cost, arrival{int32(i), t.trip})
	}
}

// leave takes a job off the way to its machine.
func (f *Farm) leave(t *task, now time.Duration) {
	m := f.touch(int(t.machine), now)
	m.incoming--
	t.Moving += now - t.since
	if t.place == migrating {
		m.demand -= t.set
		s := f.touch(int(t.source), now)
		s.held -= t.set
		s.outgoing--
	}
}

func (f *Farm) arrive(i int, now time.Duration) {
	t := &f.tasks[i]
	f.leave(t, now)
	if t.place == submitting {
		f.wait(i, int(t.machine), now)
		return
	}
	m := &f.machines[t.machine]
	m.demand += t.set
	t.before, t.noted = t.set, t.set
	f.run(i, m)
}

// fail takes machine k out of order.
func (f *Farm) fail(k int, now time.Duration) {
	m := f.touch(k, now)
	m.down = true
	again := m.running
	m.running = nil
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.place != submitting && t.place != migrating {
			continue
		}
		if int(t.machine) == k {
			f.leave(t, now)
			f.bus.cancel(int32(i), now)
			t.trip++
			t.machine = t.source
			s := f.touch(int(t.source), now)
			if t.place == submitting {
				f.wait(i, int(t.source), now)
			} else { // else the source would have failed with it
				s.demand += t.set
				f.run(i, s)
			}
		} else if int(t.source) == k && t.place == migrating {
			f.leave(t, now)
			f.bus.cancel(int32(i), now)
			t.trip++
			t.machine = t.source
			again = append(again, int32(i))
		}
	}
	m.demand = 0
	for n, i := range again {
		t := &f.tasks[i]
		t.Restarts++
		t.place, t.since = waiting, now
		m.waiting = slices.Insert(m.waiting, n, i)
	}
}

// pass lets the machines on which something happened decide, in order.
func (f *Farm) pass(now time.Duration) error {
	for len(f.queue) > 0 {
		slices.Sort(f.queue)
		k := int(f.queue[0])
		f.queue = slices.Delete(f.queue, 0, 1)
		f.machines[k].decides = false
		if !f.machines[k].down {
			f.decide(k, now)
		}
	}
	for _, k := range f.touched {
		m := &f.machines[k]
		m.touched = false
		f.apportion(m)
	}
	f.touched = f.touched[:0]
	f.rescan()
	return nil
}

func (f *Farm) rescan() {
	f.next = never
	for k := range f.machines {
		f.next = min(f.next, f.machines[k].next)
	}
}

// decide starts and sends what a machine is to start and send.
func (f *Farm) decide(k int, now time.Duration) {
	m := &f.machines[k]
	f.kill(m, now)
	for len(m.waiting) > 0 && f.accepts(k) {
		i := int(m.waiting[0])
		m.waiting = slices.Delete(m.waiting, 0, 1)
		t := &f.tasks[i]
		t.Blocked += now - t.since
		t.start()
		m.demand += t.set
		f.run(i, m)
		f.kill(m, now)
	}
	if f.config.Sharing != On {
		return
	}
	load := f.load(k)
	if !f.config.Policy.Short(load) {
		m.short = never
	} else if m.short == never {
		m.short = now
	}
	state := loadshare.State{Machine: load, Waiting: f.goesOn(m), Migrating: m.outgoing > 0}
	if m.short != never {
		state.Short = now - m.short
	}
	f.sharers = f.sharers[:0]
	for _, i := range m.running {
		t := &f.tasks[i]
		f.sharers = append(f.sharers, loadshare.Job{Faults: t.faults, WorkingSet: t.set, IO: t.done(), Age: t.age})
	}
	state.Running = f.sharers
	d := f.config.Policy.Decide(state, func() (int, loadshare.Machine, bool) { return f.index.Candidate(k) })
	if d.Submit && !f.machines[d.SubmitTo].down {
		i := int(m.waiting[0])
		m.waiting = slices.Delete(m.waiting, 0, 1)
		f.tasks[i].Blocked += now - f.tasks[i].since
		f.send(i, d.SubmitTo, submitting, f.config.Network.Latency, now)
	}
	if !d.Migrate {
		return
	}
	i := int(m.running[d.Job])
	set := f.tasks[i].set
	if f.config.Policy.Takes(f.load(d.To), set) && f.fits(&f.machines[d.To], set) {
		m.running = slices.Delete(m.running, d.Job, d.Job+1)
		f.send(i, d.To, migrating, f.config.Network.Migration(set), now)
	}
}

// goesOn tells whether a submission waits that may go to another machine. One that
// came from another has come on the latest news, and waits for newer.
func (f *Farm) goesOn(m *machine) bool {
	if len(m.waiting) == 0 {
		return false
	}
	i := m.waiting[0]
	t := &f.tasks[i]
	return t.since <= f.news || t.machine == int32(f.jobs[i].Home)
}

func (f *Farm) accepts(k int) bool {
	switch f.config.Sharing {
	case Off:
		return true
	case Blocking:
		return f.machines[k].demand <= f.config.Memory
	}
	return f.load(k).Accepts()
}

// Load is what machine k would tell of itself now.
func (f *Farm) Load(k int) loadshare.Machine { return f.load(k) }

// Waiting is how many submissions wait on machine k.
func (f *Farm) Waiting(k int) int { return len(f.machines[k].waiting) }

// fits tells whether memory and swap space suffice for so much more.
func (f *Farm) fits(m *machine, more int64) bool {
	return more <= f.config.Memory+f.config.Swap-m.demand-m.held
}

// kill ends the jobs that came last until memory and swap space suffice.
func (f *Farm) kill(m *machine, now time.Duration) {
	for !f.fits(m, 0) && len(m.running) > 0 {
		last := len(m.running) - 1
		i := int(m.running[last])
		m.running = m.running[:last]
		m.demand -= f.tasks[i].set
		f.end(i, Killed, now)
	}
}

// settle comes after the pass of every instant.
func (f *Farm) settle(now time.Duration) error {
	if f.config.Watch != nil {
		f.config.Watch(now, f)
	}
	return nil
}

// Check looks for broken rules: that every job is in one place, that machines know
// the jobs that run on them, wait there and are on their way, and that their memory
// is what these have allocated, to the byte. Cost O(jobs + machines).
func (f *Farm) Check() error {
	type count struct {
		running, waiting, incoming, outgoing int
		demand, held                         int64
	}
	counts := make([]count, len(f.machines))
	ended := 0
	for i := range f.tasks {
		t := &f.tasks[i]
		c := &counts[t.machine]
		switch t.place {
		case outside:
			if t.End != Unfinished {
				ended++
			} else if i < f.submitted {
				return fmt.Errorf("job %d is nowhere: %w", i, ErrInvariant)
			}
		case waiting:
			c.waiting++
		case running:
			c.running++
			c.demand += t.set
		case migrating:
			c.demand += t.set
			s := &counts[t.source]
			s.outgoing++
			s.held += t.set
			fallthrough
		case submitting:
			c.incoming++
		}
		if i >= f.submitted && t.place != outside {
			return fmt.Errorf("job %d is there before its submission: %w", i, ErrInvariant)
		}
	}
	if ended != f.ended {
		return fmt.Errorf("%d of %d jobs have ended: %w", ended, f.ended, ErrInvariant)
	}
	for k := range f.machines {
		m := &f.machines[k]
		got := count{len(m.running), len(m.waiting), m.incoming, m.outgoing, m.demand, m.held}
		if got != counts[k] {
			return fmt.Errorf("machine %d has %+v, its jobs say %+v: %w", k, got, counts[k], ErrInvariant)
		}
		for _, list := range [][]int32{m.running, m.waiting} {
			for n, i := range list {
				if int(f.tasks[i].machine) != k || slices.Contains(list[:n], i) {
					return fmt.Errorf("machine %d has job %d twice, or of another: %w", k, i, ErrInvariant)
				}
			}
		}
		switch {
		case m.outgoing > 1:
			return fmt.Errorf("%d migrations from machine %d: %w", m.outgoing, k, ErrInvariant)
		case m.down && (len(m.running) > 0 || m.incoming > 0):
			return fmt.Errorf("machine %d is out of order and has %d jobs, and %d on their way: %w", k, len(m.running), m.incoming, ErrInvariant)
		case !f.fits(m, 0):
			return fmt.Errorf("machine %d has %d and %d bytes: %w", k, m.demand, m.held, ErrInvariant)
		}
	}
	return nil
}

// finish accounts for what is still there at the horizon, and checks the times.
func (f *Farm) finish() ([]Outcome, error) {
	horizon := f.config.Horizon
	if f.live() {
		for k := range f.machines {
			f.proceed(&f.machines[k], horizon)
		}
	}
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.End == Unfinished {
			t.Ended = max(horizon, f.jobs[i].Submit)
			switch t.place {
			case waiting:
				t.Blocked += t.Ended - t.since
			case submitting, migrating:
				t.Moving += t.Ended - t.since
			}
		}
		if sum := t.Total(); sum != t.Ended-f.jobs[i].Submit {
			return nil, fmt.Errorf("job %d, from %v to %v, has spent %v: %w", i, f.jobs[i].Submit, t.Ended, sum, ErrInvariant)
		}
		if need := f.jobs[i].CPU(); t.End == Completed && (t.CPU < need || t.CPU > need && t.Restarts == 0) {
			return nil, fmt.Errorf("job %d of %v has computed %v: %w", i, need, t.CPU, ErrInvariant)
		}
	}
	return f.outcomes, nil
}
