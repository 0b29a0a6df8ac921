package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// Backend runs gangs on this machine.
type Backend struct {
	config     Config
	nodes      []backend.Node
	cores      []int
	fs         procfs.FS
	supervisor *supervisor
	exits      chan backend.Exit
	closed     chan struct{}
	closing    func() error
	sampler    sync.WaitGroup
	senders    sync.WaitGroup

	looking sync.Mutex // held while the machine's processes are looked through
	looked  time.Time  // when that began last

	mu    sync.Mutex
	gangs map[string]*gang
	port  int
}

type state int

const (
	waiting state = iota
	running
	stopping // or stopped
	dying
)

// A gang is guarded by the lock of the back end.
type gang struct {
	backend.Gang
	size   int
	state  state
	ranks  []*rank
	port   int
	killed bool
	err    error         // of the first process that failed
	gone   chan struct{} // closed when nothing of it is left
}

type rank struct {
	tree
	cpu            time.Duration
	resident, peak int64
	ended          bool
	told           map[identity]bool // sessions that the supervisor knows, beside the leader's
}

// sampling is the time between two readings of the memory of gangs that run.
const sampling = 100 * time.Millisecond

// New returns a back end, whose supervisor runs. Close is to be called.
func New(c Config) (*Backend, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.OnDeath == "" {
		c.OnDeath = Continue
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	b := &Backend{config: c, exits: make(chan backend.Exit), closed: make(chan struct{}), gangs: map[string]*gang{}}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("local: cores: %w", err)
	}
	for core := range 1024 {
		if set.IsSet(core) {
			b.cores = append(b.cores, core)
		}
	}
	if c.Nodes == 0 {
		c.Nodes = len(b.cores)
	}
	var err error
	if b.fs, err = procfs.NewDefaultFS(); err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	if c.Memory == 0 {
		info, err := b.fs.Meminfo()
		if err != nil || info.MemAvailableBytes == nil {
			return nil, fmt.Errorf("local: memory available: %w", errors.Join(err, ErrConfig))
		}
		c.Memory = int64(*info.MemAvailableBytes) / int64(c.Nodes)
	}
	for i := range c.Nodes {
		b.nodes = append(b.nodes, backend.Node{Name: fmt.Sprintf("node%d", i), Memory: c.Memory})
	}
	b.port = firstPort + os.Getpid()*64%ports
	if b.supervisor, err = newSupervisor(c.OnDeath, c.Grace); err != nil {
		return nil, err
	}
	b.sampler.Go(b.sample)
	b.closing = sync.OnceValue(b.close)
	return b, nil
}

// Nodes implements [backend.Backend].
func (b *Backend) Nodes() []backend.Node { return slices.Clone(b.nodes) }

// Supervisor is the process number of the supervisor.
func (b *Backend) Supervisor() int { return b.supervisor.pid() }

// Submit implements [backend.Backend].
func (b *Backend) Submit(_ context.Context, g backend.Gang, processes int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gangs[g.ID] != nil {
		return fmt.Errorf("local: gang %q is known", g.ID)
	}
	if processes < 1 || len(g.Command) == 0 {
		return fmt.Errorf("local: gang %q: %d processes of %q", g.ID, processes, g.Command)
	}
	b.gangs[g.ID] = &gang{Gang: g, size: processes, gone: make(chan struct{})}
	return nil
}

// find returns a gang in one of some states. The lock is held.
func (b *Backend) find(id string, states ...state) (*gang, error) {
	g := b.gangs[id]
	if g == nil || !slices.Contains(states, g.state) {
		return nil, fmt.Errorf("local: %q: %w", id, backend.ErrUnknown)
	}
	return g, nil
}

// Start implements [backend.Backend]. The estimate is not enforced.
func (b *Backend) Start(_ context.Context, id string, nodes []int, _ int64) error {
	b.mu.Lock()
	g, err := b.find(id, waiting)
	if err == nil {
		g.state = running
		g.port = b.nextPort()
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	list, err := b.bear(g, nodes)
	b.mu.Lock()
	if err == nil && g.killed {
		err = fmt.Errorf("killed: %w", backend.ErrUnknown)
	}
	if err != nil {
		delete(b.gangs, id)
		close(g.gone)
		b.mu.Unlock()
		for _, n := range list {
			b.supervisor.forget(n.id)
			n.abandon()
		}
		return fmt.Errorf("local: start %s: %w", id, err)
	}
	for _, n := range list {
		g.ranks = append(g.ranks, &rank{tree: tree{leader: n.id}})
	}
	b.mu.Unlock()
	_ = b.look(time.Now()) // so that most short processes have a measurement, too
	var ranks sync.WaitGroup
	for i, n := range list {
		ranks.Go(func() { b.await(g, g.ranks[i], n.cmd) })
	}
	b.senders.Go(func() {
		ranks.Wait()
		b.end(g)
	})
	return nil
}

// bear makes the processes of a gang. After an error those returned are to be
// abandoned.
func (b *Backend) bear(g *gang, nodes []int) (list []*nascent, err error) {
	if len(nodes) != g.size {
		return nil, fmt.Errorf("%d nodes for %d processes", len(nodes), g.size)
	}
	path, err := executable(g.Command[0], g.Folder)
	if err != nil {
		return nil, err
	}
	var output *os.File
	if g.Output != "" {
		if info, err := os.Stat(g.Output); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			return nil, fmt.Errorf("%s is a named pipe, which would be waited for", g.Output)
		}
		if output, err = os.OpenFile(g.Output, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
			return nil, err
		}
		defer output.Close()
	}
	for i, node := range nodes {
		if node < 0 || node >= len(b.nodes) {
			return list, fmt.Errorf("no node %d", node)
		}
		environment := slices.Concat(os.Environ(), g.Environment, []string{
			"GANGD_ID=" + g.ID, "GANGD_RANK=" + strconv.Itoa(i), "GANGD_SIZE=" + strconv.Itoa(g.size),
			"GANGD_NODE=" + strconv.Itoa(node), fmt.Sprintf("GANGD_ADDRESS=127.0.0.1:%d", g.port),
		})
		n, err := conceive(b.fs, b.cores[node%len(b.cores)], path, g.Folder, g.Command, environment, output)
		if err != nil {
			return list, err
		}
		list = append(list, n)
		b.supervisor.add(n.id)
	}
	for _, n := range list {
		err = errors.Join(err, n.proceed())
	}
	for _, n := range list {
		if e := n.became(); err == nil {
			err = e
		}
	}
	return list, err
}

// Ports for gangs are below those that the kernel gives to others.
const firstPort, ports = 20000, 12000

// nextPort returns a port that nobody listens at. The lock is held.
func (b *Backend) nextPort() int {
	taken := map[int]bool{}
	for g := range maps.Values(b.gangs) {
		taken[g.port] = true
	}
	for range ports {
		b.port = firstPort + (b.port-firstPort+1)%ports
		if taken[b.port] {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.port)); err == nil {
			l.Close()
			break
		}
	}
	return b.port
}

// await waits until nothing of a rank is left.
func (b *Backend) await(g *gang, r *rank, cmd *exec.Cmd) {
	// Until cmd.Wait the number of the process stays taken.
	for unix.Waitid(unix.P_PID, r.leader.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	if status := exitStatus(r.leader.pid); status != "" {
		b.fail(g, r, status)
	}
	since := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		err := b.look(since)
		since = time.Now() // a look that somebody else takes meanwhile will do
		b.mu.Lock()
		left := len(r.members)
		b.mu.Unlock()
		if err == nil && left == 0 {
			break
		}
		time.Sleep(pause)
	}
	b.supervisor.forget(r.leader)
	b.mu.Lock()
	r.ended = true // nobody signals it from here on
	b.mu.Unlock()
	err := cmd.Wait()
	b.mu.Lock()
	if p := cmd.ProcessState; p != nil {
		r.cpu = max(r.cpu, p.UserTime()+p.SystemTime())
	}
	r.resident = 0
	b.mu.Unlock()
	if err != nil {
		b.fail(g, r, err.Error())
	}
}

// fail takes note that a process failed, and ends the others.
func (b *Backend) fail(g *gang, r *rank, status string) {
	b.mu.Lock()
	first := g.err == nil
	if first {
		g.err = fmt.Errorf("process %d: %s", slices.Index(g.ranks, r), status)
	}
	first = first && g.state != dying
	b.mu.Unlock()
	if first {
		b.finish(g, b.config.Grace)
	}
}

// end tells that nothing of a gang is left.
func (b *Backend) end(g *gang) {
	b.mu.Lock()
	delete(b.gangs, g.ID)
	e := backend.Exit{ID: g.ID, Err: g.err, Usage: g.usage(), Killed: g.killed}
	close(g.gone)
	b.mu.Unlock()
	select {
	case b.exits <- e:
	case <-b.closed:
	}
}

// look finds out what belongs to the gangs, and what they use. It does nothing if
// that began after an instant already.
func (b *Backend) look(since time.Time) error {
	b.looking.Lock()
	defer b.looking.Unlock()
	if b.looked.After(since) {
		return nil
	}
	now := time.Now()
	all, err := snapshot(b.fs)
	if err != nil {
		return err
	}
	b.looked = now
	b.mu.Lock()
	defer b.mu.Unlock()
	var trees []*tree
	for _, g := range b.gangs {
		for _, r := range g.ranks {
			if !r.ended {
				trees = append(trees, &r.tree)
			}
		}
	}
	grow(trees, all)
	for _, g := range b.gangs {
		for _, r := range g.ranks {
			b.tell(r, all) // before anybody there is stopped
			r.measure(b.fs)
			if g.state == stopping && !r.ended && r.runs(b.fs) != 0 {
				r.signal(b.fs, true, unix.SIGSTOP) // a process group that is new
			}
		}
	}
	return nil
}

// tell lets the supervisor know the sessions of a rank, and forget those that are over.
func (b *Backend) tell(r *rank, all []procfs.ProcStat) {
	now := r.sessions(all)
	for id := range now {
		if !r.told[id] {
			b.supervisor.add(id)
		}
	}
	for id := range r.told {
		if !now[id] {
			b.supervisor.forget(id)
		}
	}
	r.told = now
}

// measure reads what the members use.
func (r *rank) measure(fs procfs.FS) {
	if r.ended {
		return
	}
	resident, peak := r.memory(fs)
	r.resident, r.peak = resident, max(r.peak, peak)
	r.cpu = max(r.cpu, r.tree.cpu())
}

func (g *gang) usage() backend.Usage {
	var u backend.Usage
	for _, r := range g.ranks {
		u.CPU += r.cpu
		u.Resident = append(u.Resident, r.resident)
		u.Peak = append(u.Peak, r.peak)
	}
	return u
}

// sample reads now and then how much memory is used, between the readings of the
// scheduler.
func (b *Backend) sample() {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-b.closed:
			return
		}
		b.mu.Lock()
		for _, g := range b.gangs {
			if g.state == running {
				for _, r := range g.ranks {
					r.measure(b.fs)
				}
			}
		}
		b.mu.Unlock()
	}
}

// force is how long Close waits for what was killed.
const force = 5 * time.Second

// fresh is how old what is known of processes may be when the scheduler asks for it.
const fresh = 5 * time.Millisecond

// Usage implements [backend.Backend].
func (b *Backend) Usage(_ context.Context, id string) (backend.Usage, error) {
	if err := b.look(time.Now().Add(-fresh)); err != nil {
		return backend.Usage{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g, err := b.find(id, running, stopping, dying)
	if err != nil {
		return backend.Usage{}, err
	}
	return g.usage(), nil
}

// signal signals all processes of a gang. The lock is held.
func (b *Backend) signal(g *gang, signals ...unix.Signal) {
	for _, r := range g.ranks {
		if !r.ended {
			r.signal(b.fs, true, signals...)
		}
	}
}

// Stop implements [backend.Backend]. A gang that cannot be stopped runs on, all of it.
func (b *Backend) Stop(ctx context.Context, id string) error {
	b.mu.Lock()
	g, err := b.find(id, running, stopping)
	if err == nil {
		g.state = stopping
		b.signal(g, unix.SIGSTOP)
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		pid := b.runs(id)
		if pid == 0 {
			return nil
		}
		if pause > time.Millisecond {
			_ = b.look(time.Now().Add(-fresh)) // stops those that have left their process group since
		}
		err := unix.Kill(pid, 0)
		if err != unix.EPERM {
			select {
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-time.After(pause):
				continue
			}
		}
		_ = b.Continue(ctx, id) // it may have ended
		return fmt.Errorf("local: stop %s: process %d: %w", id, pid, err)
	}
}

// runs returns a process of a gang that is to be stopped but is not, or 0. A gang that
// has failed meanwhile is not to be stopped.
func (b *Backend) runs(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, err := b.find(id, stopping)
	if err != nil {
		return 0
	}
	for _, r := range g.ranks {
		if pid := r.runs(b.fs); pid != 0 && !r.ended {
			return pid
		}
	}
	return 0
}

// Continue implements [backend.Backend].
func (b *Backend) Continue(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, err := b.find(id, running, stopping)
	if err != nil {
		return err
	}
	g.state = running
	b.signal(g, unix.SIGCONT)
	return nil
}

// Kill implements [backend.Backend].
func (b *Backend) Kill(_ context.Context, id string, grace time.Duration) error {
	b.mu.Lock()
	g := b.gangs[id]
	if g == nil {
		b.mu.Unlock()
		return fmt.Errorf("local: %q: %w", id, backend.ErrUnknown)
	}
	wait, again := g.state == waiting, g.killed
	g.killed = true
	b.mu.Unlock()
	switch {
	case again:
	case wait:
		b.senders.Go(func() { b.end(g) })
	default:
		b.finish(g, grace)
	}
	return nil
}

// finish ends a gang, by force after the time of grace.
func (b *Backend) finish(g *gang, grace time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.state = dying
	b.signal(g, unix.SIGTERM, unix.SIGCONT)
	go func() {
		select {
		case <-g.gone:
			return
		case <-time.After(grace):
		}
		for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
			_ = b.look(time.Now())
			b.mu.Lock()
			b.signal(g, unix.SIGKILL)
			b.mu.Unlock()
			select {
			case <-g.gone:
				return
			case <-time.After(pause):
			}
		}
	}()
}

// Exits implements [backend.Backend].
func (b *Backend) Exits() <-chan backend.Exit { return b.exits }

// Close implements [backend.Backend]. Gangs that are left have the time of grace to
// end. Those that do not end even by force are left to the supervisor.
func (b *Backend) Close() error { return b.closing() }

func (b *Backend) close() error {
	close(b.closed)
	b.mu.Lock()
	ids := slices.Collect(maps.Keys(b.gangs))
	b.mu.Unlock()
	for _, id := range ids {
		_ = b.Kill(context.Background(), id, b.config.Grace) // it may have ended
	}
	b.sampler.Wait()
	defer b.supervisor.close()
	ended := make(chan struct{})
	go func() {
		b.senders.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		close(b.exits)
		return nil
	case <-time.After(b.config.Grace + force):
		b.mu.Lock()
		defer b.mu.Unlock()
		return fmt.Errorf("local: %v do not end", slices.Sorted(maps.Keys(b.gangs)))
	}
}

var _ backend.Backend = (*Backend)(nil)
