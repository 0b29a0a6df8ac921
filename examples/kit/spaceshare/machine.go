package spaceshare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/backfill"
	"github.com/gangkit/gangkit/examples/kit/des"
	"github.com/gangkit/gangkit/paging"
)

// Errors of [Replay]; they come wrapped with the offending value.
var (
	// ErrJob is a job that the machine cannot run, or that is out of order.
	ErrJob = errors.New("spaceshare: bad job")
	// ErrConfig is a machine that cannot be.
	ErrConfig = errors.New("spaceshare: bad machine")
	// ErrInvariant is a broken rule: the simulation is wrong, not its input.
	ErrInvariant = errors.New("spaceshare: invariant broken")
)

// Job is a rigid job.
type Job struct {
	// Submit is the instant of submission, ≥ 0.
	Submit time.Duration
	// Run is the time it runs at full speed, > 0.
	Run time.Duration
	// Estimate is the time it is planned to run, ≥ Run.
	Estimate time.Duration
	// Processors is how many it needs, > 0.
	Processors int
	// Memory is what it needs in total, in bytes, ≥ 0; unknown counts as 0.
	Memory int64
}

// Config is a machine and its policy.
type Config struct {
	// Processors of the machine, > 0.
	Processors int
	// Memory is the size of the pool in bytes. Zero means that memory is not
	// considered.
	//
	// A job with more memory than its limit can ever be runs alone on an empty
	// machine.
	Memory int64
	// Depth is the number of reservations: the policy.
	Depth backfill.Depth
	// Order of events of one instant.
	Order des.Order
	// Excess is C: the limit of a relaxed job is Memory·(1+C). Zero: strict.
	Excess float64
	// Threshold is T: a job is relaxed once it has waited T times its estimate.
	Threshold float64
	// Penalty is what over-committed memory costs; nil means nothing.
	Penalty paging.Model
	// Demand is the memory that a job really uses, in bytes, ≥ 0: the Penalty is of
	// that. nil means the Memory that it asks for, by which it is admitted.
	Demand func(job int) int64
	// Watch, if set, is called after every instant at which something happened.
	Watch func(now time.Duration, m *Machine)
}

// Result is when jobs started and ended, by index of the workload.
type Result struct {
	Starts, Ends []time.Duration
	// Alone counts the jobs that ran alone because of their memory.
	Alone int
}

// Machine is a replay under way, as [Config].Watch sees it.
type Machine struct {
	config  Config
	jobs    []Job
	pool    admission.Pool
	planner *backfill.Planner[int32]
	clock   paging.Progress // instants to work time
	result  Result

	now     time.Duration
	arrived int32             // jobs submitted
	ended   int               // jobs done
	running des.Agenda[int32] // by work time of the end
	relax   des.Agenda[int32] // jobs that become relaxed
	starts  []int32           // scratch

	// What the checks know.
	used    admission.Usage
	demand  int64           // what the running jobs really use
	alone   int             // running jobs that must be alone
	last    int32           // the last job that started
	head    int32           // all jobs before have started
	noted   int32           // all jobs before have been asked for their first reservation
	promise []time.Duration // first reservation of each job in work time, never if none
}

const never = time.Duration(-1)

// Planner returns the planner, whose IDs are indices of the workload and whose
// time is work time. It is to be read only.
func (m *Machine) Planner() *backfill.Planner[int32] { return m.planner }

// When returns the instant at which the planner's time is work, if the machine
// goes on as fast as now.
func (m *Machine) When(work time.Duration) time.Duration {
	if m.config.Penalty == nil {
		return work
	}
	return m.clock.When(work)
}

// Ended returns how many jobs have ended.
func (m *Machine) Ended() int { return m.ended }

// Used returns what the running jobs hold.
func (m *Machine) Used() admission.Usage { return m.used }

// Waiting says whether a job has been submitted and has not started.
func (m *Machine) Waiting(job int) bool {
	return int32(job) < m.arrived && m.result.Starts[job] == never
}

// Replay runs jobs, which are in order of submission, through the machine. It
// is deterministic. It ends when all jobs have, or when ctx is done.
//
// It checks that every job starts once, not before its submission, and ends
// after exactly its run time (stretched by the penalty, if there is one); that
// the jobs never hold more processors or memory than they may; that under
// [backfill.FCFS] starts are in order of submission; and that no job starts
// after the first reservation that was seen of it: under
// [backfill.Conservative] the one that it got when it was submitted, under other
// depths the one that it had when it became head of the queue. A failed check
// is an [ErrInvariant].
//
// Cost per job as [backfill.Planner] says, and O(log n) for n running jobs.
func Replay(ctx context.Context, jobs []Job, c Config) (Result, error) {
	m, err := newMachine(jobs, c)
	if err != nil {
		return Result{}, err
	}
	s := des.Simulation{
		Order:        c.Order,
		Submissions:  (*submissions)(m),
		Terminations: (*terminations)(m),
		Timers:       (*timers)(m),
		Pass:         m.pass,
		Settle:       m.settle,
	}
	if err := s.Run(ctx); err != nil {
		return Result{}, err
	}
	if m.ended != len(jobs) {
		return Result{}, fmt.Errorf("%d of %d jobs never ended: %w", len(jobs)-m.ended, len(jobs), ErrInvariant)
	}
	return m.result, nil
}

func newMachine(jobs []Job, c Config) (*Machine, error) {
	if len(jobs) > math.MaxInt32 {
		return nil, fmt.Errorf("%d jobs: %w", len(jobs), ErrJob)
	}
	if !(c.Threshold >= 0) || math.IsInf(c.Threshold, 1) {
		return nil, fmt.Errorf("threshold %v: %w", c.Threshold, ErrConfig)
	}
	if math.IsInf(c.Excess, 1) {
		return nil, fmt.Errorf("excess %v: %w", c.Excess, ErrConfig)
	}
	if _, err := des.ParseOrder(c.Order.String()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	pool, err := admission.NewPool(admission.PoolConfig{Processors: c.Processors, Memory: c.Memory, Excess: c.Excess})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	machine := backfill.Machine{Capacity: []int64{int64(c.Processors)}, Depth: c.Depth}
	if c.Memory > 0 {
		machine.Capacity = append(machine.Capacity, c.Memory)
		machine.Relaxed = []int64{int64(c.Processors), pool.Limit(true)}
	}
	planner, err := backfill.NewPlanner[int32](machine)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	m := &Machine{config: c, jobs: jobs, pool: pool, planner: planner, now: never, last: -1}
	m.result.Starts = make([]time.Duration, len(jobs))
	m.result.Ends = make([]time.Duration, len(jobs))
	m.promise = make([]time.Duration, len(jobs))
	total := int64(0)
	for i := range jobs {
		if err := m.check(i); err != nil {
			return nil, err
		}
		if c.Demand != nil {
			d := c.Demand(i)
			if d < 0 || d > math.MaxInt64-total {
				return nil, fmt.Errorf("job %d: uses %d bytes: %w", i, d, ErrJob)
			}
			total += d
		}
		m.result.Starts[i], m.promise[i] = never, never
	}
	return m, nil
}

func (m *Machine) check(i int) error {
	switch j := &m.jobs[i]; {
	case j.Submit < 0 || i > 0 && j.Submit < m.jobs[i-1].Submit:
		return fmt.Errorf("job %d: submitted at %v, before 0 or the job before it: %w", i, j.Submit, ErrJob)
	case j.Run <= 0 || j.Estimate < j.Run:
		return fmt.Errorf("job %d: run time %v, estimate %v: %w", i, j.Run, j.Estimate, ErrJob)
	case j.Processors <= 0 || j.Processors > m.config.Processors:
		return fmt.Errorf("job %d: %d processors of %d: %w", i, j.Processors, m.config.Processors, ErrJob)
	case j.Memory < 0:
		return fmt.Errorf("job %d: memory %d: %w", i, j.Memory, ErrJob)
	}
	return nil
}

// isAlone says whether a job has to run alone for its memory.
func (m *Machine) isAlone(j *Job) bool { return m.config.Memory > 0 && j.Memory > m.pool.Limit(true) }

// threshold is the instant from which on a job's limit is relaxed.
func (m *Machine) threshold(j *Job) time.Duration {
	at, _ := admission.Threshold(j.Submit, j.Estimate, m.config.Threshold) // newMachine checked both
	return at
}

func (m *Machine) isRelaxed(j *Job) bool { return m.config.Excess > 0 && m.threshold(j) <= m.now }

// usage is what a job holds, as far as it is considered.
func (m *Machine) usage(j *Job) admission.Usage {
	if m.config.Memory == 0 {
		return admission.Usage{Processors: j.Processors}
	}
	return admission.Usage{Processors: j.Processors, Memory: j.Memory}
}

// demandOf is what a job really uses.
func (m *Machine) demandOf(i int32) int64 {
	if m.config.Demand == nil {
		return m.usage(&m.jobs[i]).Memory
	}
	return m.config.Demand(int(i))
}

// work is the planner's time.
func (m *Machine) work() time.Duration {
	if m.config.Penalty == nil {
		return m.now
	}
	return m.clock.Work()
}

// advance begins an instant, or goes on with it.
func (m *Machine) advance(now time.Duration) error {
	m.now = now
	if m.config.Penalty == nil {
		return nil
	}
	return m.clock.Advance(now)
}

type submissions Machine

func (s *submissions) Next() (time.Duration, bool) {
	if int(s.arrived) == len(s.jobs) {
		return 0, false
	}
	return s.jobs[s.arrived].Submit, true
}

func (s *submissions) Handle(now time.Duration) error {
	m := (*Machine)(s)
	if err := m.advance(now); err != nil {
		return err
	}
	i := m.arrived
	m.arrived++
	j := &m.jobs[i]
	var need [2]int64
	job := backfill.Job{Estimate: j.Estimate, Need: need[:1]}
	need[0] = int64(j.Processors)
	if m.config.Memory > 0 {
		job.Need, need[1] = need[:], j.Memory
		switch {
		case m.isAlone(j):
			m.result.Alone++
			need[0], need[1] = int64(m.config.Processors), m.config.Memory
		case m.isRelaxed(j):
			job.Relaxed = true
		case m.config.Excess > 0:
			m.relax.Add(m.threshold(j), i)
		}
	}
	return m.planner.Submit(i, job)
}

type terminations Machine

func (t *terminations) Next() (time.Duration, bool) {
	at, _, ok := t.running.First()
	if !ok {
		return 0, false
	}
	return (*Machine)(t).When(at), true
}

func (t *terminations) Handle(now time.Duration) error {
	m := (*Machine)(t)
	if err := m.advance(now); err != nil {
		return err
	}
	at, i, _ := m.running.First()
	m.running.Remove()
	j := &m.jobs[i]
	m.result.Ends[i] = now
	m.ended++
	if at != m.work() || m.config.Penalty == nil && now-m.result.Starts[i] != j.Run {
		return fmt.Errorf("job %d ends at %v (work time %v, planned %v), started at %v to run %v: %w",
			i, now, m.work(), at, m.result.Starts[i], j.Run, ErrInvariant)
	}
	u := m.usage(j)
	m.used.Processors -= u.Processors
	m.used.Memory -= u.Memory
	m.demand -= m.demandOf(i)
	if m.isAlone(j) {
		m.alone--
	}
	return m.planner.Finish(m.work(), i)
}

// timers are the instants at which a job's limit is relaxed or a reservation
// comes due.
type timers Machine

func (t *timers) Next() (time.Duration, bool) {
	at, i, ok := t.relax.First()
	for ok && t.result.Starts[i] != never {
		t.relax.Remove()
		at, i, ok = t.relax.First()
	}
	if work, due := t.planner.Next(); due {
		// The pass of this instant is still to come, and sees to what is due now.
		if start := (*Machine)(t).When(work); start > t.now && (!ok || start < at) {
			return start, true
		}
	}
	return at, ok
}

func (t *timers) Handle(now time.Duration) error {
	m := (*Machine)(t)
	if err := m.advance(now); err != nil {
		return err
	}
	if at, i, ok := m.relax.First(); ok && at <= now {
		m.relax.Remove()
		return m.planner.Relax(m.work(), i)
	}
	return nil
}

// pass makes a scheduling pass. Under conservative backfilling jobs start at the
// end of an instant.
func (m *Machine) pass(time.Duration) error {
	if m.config.Depth == backfill.Conservative && m.config.Order != des.Batch {
		if err := m.planner.Reserve(m.work()); err != nil {
			return err
		}
		m.promised()
		return nil
	}
	return m.start()
}

func (m *Machine) start() error {
	var err error
	if m.starts, err = m.planner.AppendStarts(m.starts[:0], m.work()); err != nil {
		return err
	}
	for _, i := range m.starts {
		if err := m.begin(i); err != nil {
			return err
		}
	}
	m.promised()
	return nil
}

// begin starts a job.
func (m *Machine) begin(i int32) error {
	j := &m.jobs[i]
	if m.result.Starts[i] != never || j.Submit > m.now {
		return fmt.Errorf("job %d, submitted at %v, starts at %v and %v: %w", i, j.Submit, m.now, m.result.Starts[i], ErrInvariant)
	}
	if m.config.Depth == backfill.FCFS && i < m.last {
		return fmt.Errorf("job %d starts after job %d under FCFS: %w", i, m.last, ErrInvariant)
	}
	if m.promise[i] != never && m.work() > m.promise[i] {
		return fmt.Errorf("job %d starts at work time %v, after its reservation at %v: %w", i, m.work(), m.promise[i], ErrInvariant)
	}
	u := m.usage(j)
	if m.config.Order == des.Batch && m.config.Memory > 0 && !m.isAlone(j) {
		if d := m.pool.Fits(m.used, u, m.isRelaxed(j)); !d.Admit {
			return fmt.Errorf("job %d starts at %v and lacks %+v: %w", i, m.now, d.Short, ErrInvariant)
		}
	}
	if j.Run > backfill.Forever-m.now {
		return fmt.Errorf("job %d starts at %v and runs %v, beyond the clock's range: %w", i, m.now, j.Run, ErrJob)
	}
	m.last = i
	m.result.Starts[i] = m.now
	m.used.Processors += u.Processors
	m.used.Memory += u.Memory
	m.demand += m.demandOf(i)
	if m.isAlone(j) {
		m.alone++
	}
	m.running.Add(m.work()+j.Run, i)
	return nil
}

// promised notes the first reservations that are to be held to.
func (m *Machine) promised() {
	if m.config.Depth <= 0 {
		return
	}
	for ; m.head < m.arrived && m.result.Starts[m.head] != never; m.head++ {
	}
	if m.config.Depth == backfill.Conservative {
		for ; m.noted < m.arrived; m.noted++ {
			m.note(m.noted)
		}
	} else if m.head < m.arrived && m.promise[m.head] == never {
		m.note(m.head)
	}
}

func (m *Machine) note(i int32) {
	if at, ok := m.planner.Reserved(i); ok {
		m.promise[i] = at
	}
}

// settle ends an instant.
func (m *Machine) settle(now time.Duration) error {
	if m.config.Depth == backfill.Conservative && m.config.Order != des.Batch {
		if err := m.start(); err != nil {
			return err
		}
	}
	if m.used.Processors > m.config.Processors {
		return fmt.Errorf("%d of %d processors in use at %v: %w", m.used.Processors, m.config.Processors, now, ErrInvariant)
	}
	if m.config.Memory > 0 {
		if m.alone == 0 && m.used.Memory > m.pool.Limit(true) || m.alone > 0 && m.running.Len() > 1 {
			return fmt.Errorf("%d bytes of memory in use at %v by %d jobs, limit %d: %w",
				m.used.Memory, now, m.running.Len(), m.pool.Limit(true), ErrInvariant)
		}
		if m.config.Penalty != nil {
			if err := m.clock.SetFactor(now, m.config.Penalty(m.demand, m.config.Memory)); err != nil {
				return fmt.Errorf("penalty of %d bytes in %d: %w", m.demand, m.config.Memory, err)
			}
		}
	}
	if m.config.Watch != nil {
		m.config.Watch(now, m)
	}
	return nil
}
