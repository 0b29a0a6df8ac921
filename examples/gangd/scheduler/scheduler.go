package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gangkit/gangkit/admission"
	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/matrix"
	"github.com/gangkit/gangkit/pairing"
)

type state string

const (
	waiting state = "waiting" // in the queue
	placed  state = "placed"  // in the matrix, not started
	running state = "running"
	stopped state = "stopped"
	ending  state = "ending" // it was killed
	ended   state = "ended"
)

// A gang is a job that has arrived.
type gang struct {
	*Outcome
	state     state
	identity  estimate.Job // to the history
	need      admission.Need
	guest     bool // it runs because its slot is the partner of the quantum's
	beside    bool // it shares a node in this quantum
	predictor pairing.Cautious
	since     time.Time     // when it began to run
	ran       time.Duration // before
	measured  struct{ cpu, ran time.Duration }
	shared    bool // a node, at some time since it was measured
	doubt     bool // the last Stop or Continue failed: some of its processes may be stopped
	doubted   bool // so, at some time since it was measured
}

// share notes that it shares a node.
func (g *gang) share() { g.beside, g.shared = true, true }

// count counts a quantum in which it ran.
func (g *gang) count() {
	g.Quanta++
	if g.beside {
		g.Beside++
	}
	if g.guest {
		g.Guest++
	}
}

// time it could run, so far.
func (g *gang) time(now time.Time) time.Duration {
	if g.state != running {
		return g.ran
	}
	return g.ran + now.Sub(g.since)
}

// answered takes note of what a call of Stop or Continue returned.
func (g *gang) answered(err error) {
	g.doubt = err != nil && !errors.Is(err, backend.ErrUnknown)
	g.doubted = g.doubted || g.doubt
}

type scheduler struct {
	Config
	ctx    context.Context // of calls of the back end
	began  time.Time
	to     []*Outcome // that have not arrived, in order of arrival
	gangs  map[string]*gang
	result Result

	slots   *matrix.Matrix[*gang]
	nodes   *admission.Nodes
	queue   *admission.Queue[*gang]
	matcher pairing.Matcher

	rounds        int
	partners      []int // of the slots of this round
	next          int   // slot
	slot, partner int   // of this quantum
	until         time.Time
	runs          []*gang // in this quantum
	busy          []int   // per node, how many of them
	freed         bool    // nodes or slots have become free since the queue was scanned

	ended, failed int // jobs
	watched       time.Time
}

// Run runs jobs until all have ended. If ctx is done first, all that have not ended are
// killed, and Run returns what became of them with the cause. It does not close the back
// end.
//
// The memory of jobs that end well is learnt by the history. Errors of the back end that
// concern a job are in its outcome and in the log.
func Run(ctx context.Context, jobs []Job, c Config) (*Result, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := Check(jobs); err != nil {
		return nil, err
	}
	s := &scheduler{Config: c, ctx: context.WithoutCancel(ctx), began: time.Now(), gangs: map[string]*gang{}, slot: -1, partner: -1}
	var memory []int64
	for _, n := range c.Backend.Nodes() {
		memory = append(memory, n.Memory)
	}
	s.busy = make([]int, len(memory))
	config := matrix.Config{PEs: len(memory), MaxSlots: c.MaxSlots, KeepEmpty: true}
	if c.Policy == FCFS {
		// Blocks are for alternates and for uniting slots; one slot has neither.
		config.MaxSlots, config.Packing, s.Skips = 1, matrix.FirstFit, admission.FCFS
	}
	if s.nodes, err = admission.NewNodes(admission.NodesConfig{Memory: memory, Factor: c.Factor}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if s.slots, err = matrix.New[*gang](config); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if s.queue, err = admission.NewQueue[*gang](admission.QueueConfig{MaxSkips: s.Skips}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for _, j := range jobs {
		s.result.Jobs = append(s.result.Jobs, &Outcome{Job: j})
	}
	s.to = slices.Clone(s.result.Jobs)
	slices.SortStableFunc(s.to, func(a, b *Outcome) int { return cmp.Compare(a.Job.After, b.Job.After) })
	err = s.run(ctx)
	s.result.Time = time.Since(s.began)
	return &s.result, err
}

func (s *scheduler) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for len(s.to) > 0 || len(s.gangs) > 0 {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), s.abandon())
		case e := <-s.Backend.Exits():
			// Those that come together are replaced together.
			for more := true; more; {
				if err := s.exit(e); err != nil {
					return errors.Join(err, s.abandon())
				}
				select {
				case e = <-s.Backend.Exits():
				default:
					more = false
				}
			}
		case <-timer.C:
		}
		if err := s.step(); err != nil {
			return errors.Join(err, s.abandon())
		}
		s.watch()
		timer.Reset(s.pause())
	}
	s.Log.Info("done", "jobs", len(s.result.Jobs), "quanta", s.result.Quanta, "pairs", s.result.Pairs)
	return nil
}

// pause is the time until something is to be done.
func (s *scheduler) pause() time.Duration {
	pause := time.Duration(math.MaxInt64)
	if len(s.runs) > 0 {
		pause = time.Until(s.until)
	}
	if len(s.to) > 0 {
		pause = min(pause, s.to[0].Job.After-time.Since(s.began))
	}
	return max(pause, 0)
}

// step does what is due.
func (s *scheduler) step() error {
	if err := s.scan(); err != nil {
		return err
	}
	for len(s.to) > 0 && s.to[0].Job.After <= time.Since(s.began) {
		o := s.to[0]
		s.to = s.to[1:]
		if err := s.arrive(o); err != nil {
			return err
		}
	}
	for {
		var err error
		if len(s.runs) == 0 || !time.Now().Before(s.until) {
			err = s.quantum()
		} else {
			err = s.fill()
		}
		if err != nil || !s.freed {
			return err
		}
		if err := s.scan(); err != nil { // some could not be started
			return err
		}
	}
}

// arrive places a job or puts it into the queue.
func (s *scheduler) arrive(o *Outcome) error {
	o.Submitted = time.Since(s.began)
	g := &gang{Outcome: o, state: waiting}
	s.Log.Info("submitted", "job", o.Job.Name, "user", o.Job.User, "processes", o.Job.Processes, "command", o.Job.Command)
	if n := s.nodes.Len(); o.Job.Processes > n {
		s.refuse(g, fmt.Errorf("%d processes on %d nodes: %w", o.Job.Processes, n, ErrRefused))
		return nil
	}
	s.estimate(g)
	ctx, cancel := s.call()
	defer cancel()
	if err := s.Backend.Submit(ctx, backend.Gang{
		ID: o.Job.Name, Name: o.Job.Name, User: o.Job.User, Command: o.Job.Command,
		Folder: o.Job.Folder, Output: o.Job.Output, Environment: o.Job.Environment,
	}, o.Job.Processes); err != nil {
		s.refuse(g, err)
		return nil
	}
	s.gangs[o.Job.Name] = g
	var fault error
	started, err := s.queue.Arrive(g, g.need, func(g *gang, _ admission.Need) (ok bool) {
		ok, fault = s.place(g, 0)
		return ok
	})
	if err := errors.Join(err, fault); err != nil {
		return err
	}
	if o.Queued = !started; o.Queued {
		why := "slots"
		if !s.nodes.Enough(g.need) {
			why = "memory"
		} else if s.queue.Len() > 1 {
			why = "slots, or its turn"
		}
		s.Log.Info("queued", "job", o.Job.Name, "short_of", why, "waiting", s.queue.Len())
	}
	return nil
}

// refuse ends a job that is not run.
func (s *scheduler) refuse(g *gang, err error) {
	g.state, g.Err, g.Ended = ended, err, time.Since(s.began)
	s.Log.Error("refused", "job", g.Job.Name, "error", err.Error())
	s.over(g)
}

// over takes note that a job has ended.
func (s *scheduler) over(g *gang) {
	s.ended++
	if g.Err != nil || g.Killed {
		s.failed++
	}
	if s.Exited != nil {
		s.Exited(g.Outcome)
	}
}

// executable is the path of a job's program.
func (j Job) executable() string {
	path := j.Command[0]
	if found, err := exec.LookPath(path); err == nil && !strings.ContainsRune(path, '/') {
		path = found
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(j.Folder, path)
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}

// estimate says how much memory a gang is to be counted with.
func (s *scheduler) estimate(g *gang) {
	path := g.Job.executable()
	size := estimate.Executable(func(string) (int64, bool) {
		f, err := os.Open(path)
		if err != nil {
			return 0, false
		}
		defer f.Close()
		n, err := estimate.StaticSize(f)
		return n, err == nil
	})
	g.identity = estimate.Job{Path: cmp.Or(g.Job.Program, path), Nodes: g.Job.Processes, User: g.Job.User}
	e, known := s.History.Estimate(g.identity)
	g.Level = e.Level.String()
	if !known && g.Job.Memory > 0 {
		e, g.Level = estimate.Estimate{Memory: g.Job.Memory}, "job file"
	} else if !known {
		e, _ = estimate.FirstOf(size, estimate.Constant(s.Memory)).Estimate(g.identity)
		g.Level = e.Level.String()
	}
	g.Estimate = e.Memory
	g.need = admission.Need{Nodes: g.Job.Processes, Memory: e.Memory}
	s.Log.Info("estimated", "job", g.Job.Name, "memory", e.Memory, "level", g.Level, "samples", e.Samples)
}

// place puts a gang into the matrix if its memory fits, or if there is no load.
func (s *scheduler) place(g *gang, skips int) (bool, error) {
	p, ok, err := s.slots.Place(g, g.need.Nodes, func(node int) bool { return s.nodes.Fits(g.need.Memory, node).Admit })
	if !ok && err == nil && s.nodes.Idle() { // so that all slots are empty
		if nodes, enough := s.nodes.AppendNodes(nil, g.need); enough {
			ok, err = s.slots.Put(g, p.Slot, nodes)
		}
	}
	if !ok || err != nil {
		return false, err
	}
	g.Nodes = slices.Collect(s.slots.PEs(g))
	if err := s.nodes.Occupy(g.need.Memory, g.Nodes...); err != nil {
		return false, err
	}
	g.state, g.Skips = placed, skips
	s.Log.Info("admitted", "job", g.Job.Name, "slot", p.Slot, "nodes", g.Nodes, "memory", g.need.Memory, "skips", skips)
	return true, nil
}

// scan places waiting jobs until none can be, if something has become free.
func (s *scheduler) scan() error {
	for s.freed {
		var fault error
		_, _, ok := s.queue.Next(s.nodes.Enough, func(g *gang, _ admission.Need) (ok bool) {
			skips, _ := s.queue.Skips(g)
			ok, fault = s.place(g, skips)
			return ok || fault != nil
		})
		if fault != nil {
			return fault
		}
		s.freed = ok
	}
	return nil
}

// leave gives back what a gang in the matrix holds.
func (s *scheduler) leave(g *gang) error {
	s.freed = true
	if i := slices.Index(s.runs, g); i >= 0 {
		s.runs = slices.Delete(s.runs, i, i+1)
		for _, n := range g.Nodes {
			s.busy[n]--
		}
	}
	return errors.Join(s.nodes.Release(g.need.Memory, g.Nodes...), s.slots.Remove(g))
}

// exit takes note of the end of a gang.
func (s *scheduler) exit(e backend.Exit) error {
	g := s.gangs[e.ID]
	if g == nil {
		s.Log.Warn("fault", "job", e.ID, "error", "exit of a job that is not known")
		return nil
	}
	delete(s.gangs, e.ID)
	if slices.Contains(s.runs, g) {
		g.count()
	}
	var err error
	if _, in := s.slots.Slot(g); in {
		err = s.leave(g)
	} else if _, waits := s.queue.Skips(g); waits {
		s.freed = true
		err = s.queue.Remove(g)
	}
	for _, p := range e.Usage.Peak {
		g.Peak = max(g.Peak, p)
	}
	g.state, g.CPU, g.Err, g.Killed = ended, e.Usage.CPU, e.Err, e.Killed
	g.Ended = time.Since(s.began)
	status := "ok"
	if e.Killed {
		status = "killed"
	} else if e.Err != nil {
		status = e.Err.Error()
	}
	s.Log.Info("exited", "job", g.Job.Name, "status", status, "response", (g.Ended - g.Submitted).Seconds(),
		"cpu", g.CPU.Seconds(), "estimate", g.Estimate, "peak", g.Peak)
	// A peak of zero says that it ended before it could be measured.
	if e.Err == nil && !e.Killed && g.Peak > 0 {
		if err := s.History.Observe(g.identity, g.Peak); err != nil {
			s.Log.Warn("fault", "job", g.Job.Name, "error", err.Error())
		}
	}
	s.over(g)
	return err
}

// quantum ends a quantum and begins the next.
func (s *scheduler) quantum() error {
	for _, g := range s.runs {
		g.count()
		if err := s.measure(g); err != nil {
			return err
		}
		if g.Job.Limit > 0 && g.time(time.Now()) >= g.Job.Limit {
			s.kill("time limit", g)
		}
	}
	s.runs = s.runs[:0]
	clear(s.busy)
	s.slot, s.partner = -1, -1
	for _, g := range s.gangs {
		g.guest, g.beside = false, false
	}
	if s.turn() {
		s.take(slices.Collect(s.slots.Gangs(s.slot)))
		if s.partner >= 0 {
			for _, g := range slices.Collect(s.slots.Gangs(s.partner)) {
				if s.take([]*gang{g}); g.state != ending {
					g.guest = true
				}
			}
		}
		s.take(s.slots.AppendAlternates(nil, s.slot, s.rounds, s.idle))
	}
	var others []*gang
	for slot := range s.slots.Slots() {
		for g := range s.slots.Gangs(slot) {
			if g.state == running && !slices.Contains(s.runs, g) {
				others = append(others, g)
			}
		}
	}
	s.stop(others)
	if s.slot < 0 {
		return nil
	}
	s.result.Quanta++
	if s.partner >= 0 {
		s.result.Pairs++
	}
	s.disturb()
	s.logQuantum()
	err := s.start(slices.Clone(s.runs))
	s.until = time.Now().Add(s.Quantum) // what it takes to start them is not theirs
	return err
}

// turn finds the slot that is next, and who is its partner now.
func (s *scheduler) turn() bool {
	alive := func(slot int) bool {
		for g := range s.slots.Gangs(slot) {
			if g.state != ending {
				return true
			}
		}
		return false
	}
	for range s.slots.Slots() + len(s.partners) + 1 {
		if s.next >= len(s.partners) {
			s.round()
		}
		if s.next >= len(s.partners) {
			return false
		}
		slot := s.next
		s.next++
		if slot >= s.slots.Slots() || !alive(slot) {
			continue
		}
		s.slot, s.partner = slot, s.partners[slot]
		if s.partner >= 0 {
			x, alone := s.share(slot)
			y, exclusive := s.share(s.partner)
			if !alive(s.partner) || alone || exclusive || !s.matcher.Fits(x, y) {
				s.partner = -1
			}
		}
		return true
	}
	return false
}

// round begins a round. Slots keep their numbers until the next.
func (s *scheduler) round() {
	if s.slots.Unify() > 0 {
		s.freed = true
	}
	s.rounds++ // so that all slots have their turn at being asked first for alternates
	s.next, s.partners = 0, s.partners[:0]
	if s.Policy != Paired {
		s.partners = append(s.partners, slices.Repeat([]int{-1}, s.slots.Slots())...)
		return
	}
	shares, exclusive := make([]float64, s.slots.Slots()), make([]bool, s.slots.Slots())
	for slot := range shares {
		shares[slot], exclusive[slot] = s.share(slot)
	}
	var err error
	if s.partners, err = s.matcher.AppendPartners(s.partners, shares, func(slot int) bool { return exclusive[slot] }); err != nil {
		panic(fmt.Sprintf("gangd: %v", err)) // predictions are shares
	}
}

// share is what the busiest gang of a slot is predicted to compute.
func (s *scheduler) share(slot int) (share float64, exclusive bool) {
	for g := range s.slots.Gangs(slot) {
		share = max(share, g.predictor.Predict())
		exclusive = exclusive || g.Job.Exclusive
	}
	return share, exclusive
}

// take lets gangs run in this quantum.
func (s *scheduler) take(gangs []*gang) {
	for _, g := range gangs {
		if g.state == ending {
			continue
		}
		s.runs = append(s.runs, g)
		for _, n := range g.Nodes {
			s.busy[n]++
		}
	}
	for _, g := range s.runs {
		if slices.ContainsFunc(g.Nodes, func(n int) bool { return s.busy[n] > 1 }) {
			g.share()
		}
	}
}

// disturb notes who shares a node with a gang that runs although it is not its quantum:
// one that was killed but has not ended, or one that could not be stopped.
func (s *scheduler) disturb() {
	for _, other := range s.gangs {
		if other.state != ending && other.state != running || slices.Contains(s.runs, other) {
			continue
		}
		for _, g := range s.runs {
			if slices.ContainsFunc(g.Nodes, func(n int) bool { return slices.Contains(other.Nodes, n) }) {
				g.share()
				other.share()
			}
		}
	}
}

// idle says whether nothing runs on any node of a gang, and it may.
func (s *scheduler) idle(g *gang) bool {
	return g.state != ending && !slices.ContainsFunc(g.Nodes, func(n int) bool { return s.busy[n] > 0 })
}

// fill starts gangs on nodes that have become idle within a quantum.
func (s *scheduler) fill() error {
	var more []*gang
	consider := func(gangs []*gang) {
		for _, g := range gangs {
			if s.idle(g) {
				s.take([]*gang{g})
				more = append(more, g)
			}
		}
	}
	if s.slot < s.slots.Slots() {
		consider(slices.Collect(s.slots.Gangs(s.slot)))
		consider(s.slots.AppendAlternates(nil, s.slot, s.rounds, s.idle))
	}
	if len(more) == 0 {
		return nil
	}
	s.disturb()
	s.logQuantum()
	return s.start(more)
}

// call is the context of a call of the back end.
func (s *scheduler) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, time.Minute)
}

// each calls the back end for several gangs at once, and returns the errors in order.
func (s *scheduler) each(gangs []*gang, f func(ctx context.Context, g *gang) error) []error {
	ctx, cancel := s.call()
	defer cancel()
	list := make([]error, len(gangs))
	var group sync.WaitGroup
	for i, g := range gangs {
		group.Go(func() { list[i] = f(ctx, g) })
	}
	group.Wait()
	return list
}

// fault logs an error of the back end, unless it is that a gang has ended, of which
// Exits will tell.
func (s *scheduler) fault(g *gang, what string, err error) {
	if err != nil && !errors.Is(err, backend.ErrUnknown) {
		s.Log.Error("fault", "job", g.Job.Name, "call", what, "error", err.Error())
	}
}

// stop stops gangs. One that cannot be stopped may run on, and is tried again at the next
// quantum, or continued if that is its own.
func (s *scheduler) stop(gangs []*gang) {
	for i, err := range s.each(gangs, func(ctx context.Context, g *gang) error { return s.Backend.Stop(ctx, g.Job.Name) }) {
		g := gangs[i]
		s.fault(g, "stop", err)
		if g.answered(err); !g.doubt {
			g.ran, g.state = g.time(time.Now()), stopped
		}
	}
}

// start starts or continues gangs. Those that cannot be started have ended; one that cannot
// be continued is tried again at the next quantum.
func (s *scheduler) start(gangs []*gang) error {
	gangs = slices.DeleteFunc(gangs, func(g *gang) bool { return g.state == running && !g.doubt })
	list := s.each(gangs, func(ctx context.Context, g *gang) error {
		if g.state == placed {
			return s.Backend.Start(ctx, g.Job.Name, g.Nodes, g.need.Memory)
		}
		return s.Backend.Continue(ctx, g.Job.Name)
	})
	for i, g := range gangs {
		switch err := list[i]; {
		case g.state == placed && err != nil:
			delete(s.gangs, g.Job.Name)
			s.refuse(g, err)
			if err := s.leave(g); err != nil {
				return err
			}
			continue
		case g.state == placed:
			g.Started = time.Since(s.began)
			s.Log.Info("started", "job", g.Job.Name, "nodes", g.Nodes)
		default:
			s.fault(g, "continue", err)
			g.answered(err)
		}
		now := time.Now()
		g.ran, g.state, g.since = g.time(now), running, now
	}
	return nil
}

// measure reads what a gang used of the quantum that is over.
func (s *scheduler) measure(g *gang) error {
	ctx, cancel := s.call()
	defer cancel()
	u, err := s.Backend.Usage(ctx, g.Job.Name)
	now := time.Now()
	if !u.Measured.IsZero() && u.Measured.Before(now) {
		now = u.Measured // what was used until then
	}
	if err != nil {
		s.fault(g, "usage", err)
		return nil
	}
	ran := g.time(now)
	if g.doubted { // of this time nobody knows whether it could run
		g.measured.cpu, g.measured.ran, g.doubted = u.CPU, ran, g.doubt
	}
	if over := ran - g.measured.ran; over >= s.Quantum/2 {
		share := float64(u.CPU-g.measured.cpu) / float64(over) / float64(g.Job.Processes)
		share = min(max(share, 0), 1)
		observe := g.predictor.Observe
		if g.shared {
			observe = g.predictor.ObserveShared
		}
		if err := observe(share); err != nil {
			return err
		}
		g.measured.cpu, g.measured.ran = u.CPU, ran
		g.shared = false
	}
	for _, p := range u.Peak {
		g.Peak = max(g.Peak, p)
	}
	if g.Peak > g.need.Memory {
		if err := s.nodes.Reestimate(g.need.Memory, g.Peak, g.Nodes...); err != nil {
			s.fault(g, "reestimate", err)
			return nil
		}
		exceeded := slices.ContainsFunc(g.Nodes, func(n int) bool { return s.nodes.Used(n) > s.nodes.Limit(n) })
		s.Log.Warn("memory over estimate", "job", g.Job.Name, "estimate", g.Estimate, "counted", g.need.Memory, "measured", g.Peak, "limit_exceeded", exceeded)
		g.need.Memory = g.Peak
	}
	return nil
}

// kill has gangs ended. Their nodes are their own until they have.
func (s *scheduler) kill(why string, gangs ...*gang) {
	for _, g := range gangs {
		g.ran, g.state = g.time(time.Now()), ending
		s.Log.Info("killed", "job", g.Job.Name, "why", why)
	}
	for i, err := range s.each(gangs, func(ctx context.Context, g *gang) error { return s.Backend.Kill(ctx, g.Job.Name, s.Grace) }) {
		s.fault(gangs[i], "kill", err)
	}
}

// abandon ends everything, and waits until nothing is left.
func (s *scheduler) abandon() error {
	s.Log.Warn("interrupted", "in_matrix", s.slots.Len(), "waiting", s.queue.Len(), "to_come", len(s.to))
	var left []*gang
	for _, name := range slices.Sorted(maps.Keys(s.gangs)) {
		if g := s.gangs[name]; g.state != ending {
			left = append(left, g)
		}
	}
	s.kill("gangd ends", left...)
	late := time.After(s.Grace + time.Minute)
	for len(s.gangs) > 0 {
		select {
		case e := <-s.Backend.Exits():
			if err := s.exit(e); err != nil {
				return err
			}
		case <-late:
			return fmt.Errorf("gangd: %v do not end", slices.Sorted(maps.Keys(s.gangs)))
		}
	}
	s.watch()
	return nil
}
