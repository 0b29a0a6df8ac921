package slurm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// ErrConfig is returned for a configuration that cannot be, or does not fit the site.
var ErrConfig = errors.New("slurm: bad configuration")

// ErrGang is returned for a gang that cannot be submitted or started as asked.
var ErrGang = errors.New("slurm: bad gang")

// Config says how Slurm is used. The zero value is the default partition of the machine's
// own Slurm.
type Config struct {
	Partition string // empty means Slurm's default
	Conf      string // path of slurm.conf; empty means what Slurm's programs find by themselves
	// Margin is the part of an estimate that is requested on top of it, for sites that
	// kill what exceeds its request.
	Margin float64
	// Period is how often Slurm is asked for the state of all jobs; 0 means a second. What
	// they use is recorded every five periods.
	Period time.Duration
	// Options are further ones of sbatch, such as "--account=physics".
	Options []string
}

// A JobError says how a job of Slurm has ended other than well.
type JobError struct {
	Job          int64
	State        string // Slurm's word: FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY; or Forgotten, Restarted
	Code, Signal int    // of the batch script, if they are known
}

const (
	// Forgotten is the state of a job that Slurm does not know any more, as when slurmctld
	// was restarted without what it had saved. Whether processes are left is not known.
	Forgotten = "FORGOTTEN"
	// Restarted is the state of a job that was cancelled since Slurm had started it again, or
	// put it back into its queue, after it had run.
	Restarted = "RESTARTED"
)

func (e *JobError) Error() string {
	s := fmt.Sprintf("slurm: job %d: %s", e.Job, e.State)
	if e.Code != 0 {
		s += fmt.Sprintf(", exit status %d", e.Code)
	}
	if e.Signal != 0 {
		s += fmt.Sprintf(", signal %d", e.Signal)
	}
	return s
}

// Backend runs gangs as jobs of Slurm. It is a [backend.Backend].
type Backend struct {
	config      Config
	nodes       []node
	environment []string // of Slurm's programs
	name        string   // in the comments of its jobs
	leash       *leash
	accounting  bool // sacct knows jobs that have ended
	share       int  // how many gangs a processor may be allocated to
	exits       chan backend.Exit

	context context.Context // of all that goes on by itself; ends with Close
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	wake    chan struct{} // asks for the state of jobs at once

	mu      sync.Mutex
	closed  bool
	lost    bool             // a submission failed, and its job may be there all the same
	gangs   map[string]*gang // that are known
	jobs    map[*gang]bool   // that Slurm has: also of gangs that did not start
	hurry   int              // how many wait for a change of state
	changed chan struct{}    // closed, and made anew, when states have been seen
	told    []backend.Exit   // not yet received by anybody
}

var _ backend.Backend = (*Backend)(nil)

// A gang is one that has been submitted and has not ended. Its fields are guarded by the
// mutex of the backend.
type gang struct {
	backend.Gang
	job       int64
	processes int
	busy      chan struct{} // holds an element during Submit, Start and Kill
	launched  bool          // Start has succeeded

	state   string // the last seen
	start   string // when it first was seen running, as Slurm prints it
	reason  string
	missing int // times in a row that Slurm did not know it
	killed  bool
	refused error // why the job could not be cancelled
	again   bool  // Slurm has started it a second time
	reused  bool  // another job has its number
	usage   backend.Usage
	peak    int64 // of a process
}

const (
	patience   = 10 * time.Second      // of what goes on by itself and will be tried again
	straggling = 5 * time.Second       // from a step, or one of its processes, to the next one
	hurried    = 50 * time.Millisecond // first period when a change of state is expected
	firstPort  = 20_000                // of gangs
	ports      = 10_000
)

// New asks Slurm for its nodes. Those that are down or drained are left out.
func New(c Config) (_ *Backend, err error) {
	switch {
	case !(c.Margin >= 0 && c.Margin <= 100):
		return nil, fmt.Errorf("a margin of %v: %w", c.Margin, ErrConfig)
	case c.Period < 0:
		return nil, fmt.Errorf("a period of %v: %w", c.Period, ErrConfig)
	case c.Period == 0:
		c.Period = time.Second
	}
	b := &Backend{
		config:      c,
		environment: environment(c.Conf),
		name:        rand.Text(),
		exits:       make(chan backend.Exit),
		wake:        make(chan struct{}, 1),
		gangs:       map[string]*gang{},
		jobs:        map[*gang]bool{},
		changed:     make(chan struct{}),
	}
	b.context, b.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			b.cancel()
		}
	}()
	if err := b.discover(); err != nil {
		return nil, err
	}
	if b.leash, err = newLeash(b.name, b.config.Partition, b.environment); err != nil {
		return nil, err
	}
	for _, task := range []func(){b.watch, b.sample, b.tell} {
		b.tasks.Go(task)
	}
	return b, nil
}

// discover learns what there is.
func (b *Backend) discover() error {
	ctx, cancel := context.WithTimeout(b.context, 3*patience)
	defer cancel()
	version, err := b.run(ctx, "scontrol", "--version")
	if err != nil {
		return err
	}
	major, minor, err := parseVersion(version)
	if err != nil {
		return err
	}
	if major < 20 {
		return fmt.Errorf("version %d.%02d of Slurm, want 20.02 or later: %w", major, minor, ErrConfig)
	}
	settings, err := b.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return err
	}
	storage := parseSettings(settings)["AccountingStorageType"]
	b.accounting = storage != "" && storage != "(null)" && !strings.HasSuffix(storage, "/none")
	partitions, err := b.run(ctx, "sinfo", "-h", "-a", "-o", "%P")
	if err != nil {
		return err
	}
	known := false
	for name := range strings.FieldsSeq(partitions) {
		if bare, isDefault := strings.CutSuffix(name, "*"); isDefault {
			if name = bare; b.config.Partition == "" {
				b.config.Partition = name
			}
		}
		known = known || name == b.config.Partition
	}
	if !known {
		return fmt.Errorf("no partition %q among %q: %w", b.config.Partition, strings.Fields(partitions), ErrConfig)
	}
	partition, err := b.run(ctx, "scontrol", "-a", "show", "partition", "-o", b.config.Partition)
	if err != nil {
		return err
	}
	b.share = parseShare(partition)
	nodes, err := b.run(ctx, "scontrol", "-a", "show", "nodes", "-o")
	if err != nil {
		return err
	}
	all, err := parseNodes(nodes, b.config.Partition)
	if err != nil {
		return err
	}
	for _, n := range all {
		if n.usable {
			b.nodes = append(b.nodes, n)
		}
	}
	if len(b.nodes) == 0 {
		return fmt.Errorf("none of the %d nodes of partition %s can be used: %w", len(all), b.config.Partition, ErrConfig)
	}
	return nil
}

// Nodes are those that could be used when New was called, in Slurm's order.
func (b *Backend) Nodes() []backend.Node {
	nodes := make([]backend.Node, len(b.nodes))
	for i, n := range b.nodes {
		nodes[i] = n.Node
	}
	return nodes
}

// Share is how many gangs may have the same processor, by OverSubscribe of the partition. A
// matrix with more slots has gangs that Slurm does not start, if its nodes have a processor
// each.
func (b *Backend) Share() int { return b.share }

// Exits tells of gangs that have ended, within a period after Slurm knows.
func (b *Backend) Exits() <-chan backend.Exit { return b.exits }

// request is an estimate of memory, bytes, as Slurm takes it: in mebibytes, and one at
// least, since 0 would mean all that a node has.
func (b *Backend) request(memory int64) int64 {
	wanted := math.Ceil(float64(memory) * (1 + b.config.Margin) / (1 << 20))
	return int64(min(max(wanted, 1), 1<<40))
}

// find returns the gang, and waits until nothing else is done with it; the caller calls
// the function when it is done.
func (b *Backend) find(ctx context.Context, id string) (*gang, func(), error) {
	b.mu.Lock()
	g := b.gangs[id]
	b.mu.Unlock()
	if g == nil {
		return nil, nil, fmt.Errorf("slurm: %.80q: %w", id, backend.ErrUnknown)
	}
	select {
	case g.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("slurm: gang %s is busy: %w", id, ctx.Err())
	}
	done := func() { <-g.busy }
	b.mu.Lock()
	known := b.gangs[id] == g
	b.mu.Unlock()
	if !known {
		done()
		return nil, nil, fmt.Errorf("slurm: %.80q: %w", id, backend.ErrUnknown)
	}
	return g, done, nil
}

// see returns a gang's state, why it waits, whether it has ended, and a channel that is
// closed when that may have changed.
func (b *Backend) see(g *gang) (state, reason string, over bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return g.state, g.reason, !b.jobs[g], b.changed
}

// forward says that a gang has ended where a program of Slurm says so. It also does if a
// process of the gang has; the others have been signalled then.
func forward(id string, err error) error {
	if gone(err) {
		return fmt.Errorf("slurm: gang %s: %w: %w", id, backend.ErrUnknown, err)
	}
	return err
}

// Close cancels all jobs, waits for up to ten seconds until Slurm says that they have ended,
// and closes Exits, whose last ones may be lost. What is left then is cancelled once that can
// be done, by a process that goes on.
func (b *Backend) Close() error {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	var ids []string
	for id := range b.gangs {
		ids = append(ids, id)
	}
	b.mu.Unlock()
	if !first {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wait sync.WaitGroup
	errs := make([]error, len(ids))
	limit := make(chan struct{}, 8)
	for i, id := range ids {
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			if err := b.Kill(ctx, id, 0); !errors.Is(err, backend.ErrUnknown) {
				errs[i] = err
			}
		})
	}
	wait.Wait()
	err := errors.Join(errs...)
	b.expect(1)
	for {
		b.mu.Lock()
		changed := b.changed
		var left []string
		for g := range b.jobs {
			about := fmt.Sprintf("%s, job %d: %s", g.ID, g.job, g.state)
			if g.refused != nil {
				about += ", " + g.refused.Error()
			}
			left = append(left, about)
		}
		b.mu.Unlock()
		if len(left) == 0 {
			break
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		}
		slices.Sort(left)
		err = errors.Join(err, fmt.Errorf("slurm: gangs have not ended: %q", left))
		break
	}
	b.cancel()
	b.tasks.Wait()
	b.mu.Lock()
	lost := b.lost
	b.mu.Unlock()
	b.leash.close(err != nil || lost)
	close(b.exits)
	return err
}
