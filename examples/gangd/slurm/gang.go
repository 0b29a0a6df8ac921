package slurm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// Submit submits a job that is held. It is in squeue under the name of the gang, and its
// comment has the ID and the user.
func (b *Backend) Submit(ctx context.Context, submitted backend.Gang, processes int) (err error) {
	if err := check(submitted); err != nil {
		return err
	}
	if processes < 1 || processes > len(b.nodes) {
		return fmt.Errorf("slurm: gang %s: %d processes on %d nodes: %w", submitted.ID, processes, len(b.nodes), ErrGang)
	}
	for _, path := range []*string{&submitted.Folder, &submitted.Output} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return fmt.Errorf("slurm: gang %s: %w", submitted.ID, err)
			}
		}
	}
	g := &gang{Gang: submitted, processes: processes, busy: make(chan struct{}, 1)}
	g.busy <- struct{}{}
	defer func() { <-g.busy }()
	b.mu.Lock()
	switch {
	case b.closed:
		err = errors.New("slurm: closed")
	case b.gangs[g.ID] != nil:
		err = fmt.Errorf("slurm: there is a gang %s: %w", g.ID, ErrGang)
	default:
		b.gangs[g.ID] = g
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	job, err := b.submit(ctx, g)
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.job = job; err != nil {
		b.lost = b.lost || !errors.Is(err, ErrGang)
		delete(b.gangs, g.ID)
		return err
	}
	b.jobs[g] = true
	return nil
}

func (b *Backend) submit(ctx context.Context, g *gang) (int64, error) {
	name := label(g.Name)
	if name == "" {
		name = g.ID
	}
	about := comment(g.Gang, b.name, "")
	if len(about) > longest/2 {
		return 0, fmt.Errorf("slurm: gang %.80s: its name has %d bytes: %w", g.ID, len(g.ID), ErrGang)
	}
	n := strconv.Itoa(g.processes)
	arguments := append([]string(nil), b.config.Options...)
	arguments = append(arguments, "--parsable", "--hold", "--no-requeue", "--oversubscribe",
		"--partition="+b.config.Partition, "--nodes="+n, "--ntasks="+n, "--ntasks-per-node=1",
		"--job-name="+name, "--comment="+about, "--output=/dev/null", "--export=ALL")
	text := script(g.Gang, g.processes, b.nodes)
	known := map[int64]bool{}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		out, err := b.try(ctx, text, "sbatch", arguments...)
		if err == nil {
			number, _, _ := strings.Cut(strings.TrimSpace(out), ";") // the cluster's name may follow
			job, err := strconv.ParseInt(number, 10, 64)
			if err != nil || job < 1 {
				return 0, fmt.Errorf("%w number of a job %.80q", errFormat, out)
			}
			return job, nil
		}
		if !transient(err) {
			return 0, err
		}
		if !pause(ctx, wait) {
			return 0, fmt.Errorf("%w: %w", err, ctx.Err())
		}
		// It may have been submitted, and the answer lost.
		out, err = b.run(ctx, "squeue", "-h", "-a", "-p", b.config.Partition, "-t", "all", "-o", rowFormat)
		if err != nil {
			return 0, err
		}
		b.mu.Lock()
		for other := range b.jobs { // one of the same name, that did not start
			known[other.job] = true
		}
		b.mu.Unlock()
		var found int64
		for job, r := range parseRows(out) {
			if b.belongs(r.comment, g.ID) && !ended(r.state) && !known[job] {
				found = max(found, job)
			}
		}
		if found > 0 {
			return found, nil
		}
	}
}

// Start releases the job, with the nodes and the estimate in its request, and returns when
// all its processes run. If Slurm does not start it within the context's time, or refuses
// it, the job is cancelled, and the gang is no longer known.
func (b *Backend) Start(ctx context.Context, id string, nodes []int, memory int64) error {
	g, done, err := b.find(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	b.mu.Lock()
	again := g.launched
	b.mu.Unlock()
	if again {
		return fmt.Errorf("slurm: gang %s has been started: %w", id, ErrGang)
	}
	err = b.start(ctx, g, nodes, memory)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.jobs[g]:
		return nil // it has ended meanwhile, and Exits tells
	case err != nil:
		delete(b.gangs, id)
		b.tasks.Go(func() { b.force(g, true) })
		return forward(id, err)
	}
	g.launched = true
	return nil
}

func (b *Backend) start(ctx context.Context, g *gang, nodes []int, memory int64) error {
	if len(nodes) != g.processes {
		return fmt.Errorf("slurm: gang %s of %d processes on %d nodes: %w", g.ID, g.processes, len(nodes), ErrGang)
	}
	seen := map[int]bool{}
	var names []string
	for _, i := range nodes {
		if i < 0 || i >= len(b.nodes) || seen[i] {
			return fmt.Errorf("slurm: gang %s on nodes %v of %d: %w", g.ID, nodes, len(b.nodes), ErrGang)
		}
		seen[i] = true
		names = append(names, b.nodes[i].Name)
	}
	job := strconv.FormatInt(g.job, 10)
	address := net.JoinHostPort(b.nodes[nodes[0]].address, strconv.FormatInt(firstPort+g.job%ports, 10))
	about := comment(g.Gang, b.name, "address="+address+" nodes="+ranges(nodes))
	if len(about) > longest {
		return fmt.Errorf("slurm: gang %s: its nodes take %d bytes of a comment, Slurm has %d: %w", g.ID, len(about), longest, ErrGang)
	}
	update := []string{"update", "JobId=" + job, "ReqNodeList=" + strings.Join(names, ","), "Comment=" + about}
	if memory > 0 {
		update = append(update, fmt.Sprintf("MinMemoryNode=%d", b.request(memory)))
	}
	if _, err := b.run(ctx, "scontrol", update...); err != nil {
		return err
	}
	if _, err := b.run(ctx, "scontrol", "release", job); err != nil {
		return err
	}
	return b.launched(ctx, g, job)
}

// launched waits until the processes of a job run. A signal before would be lost. If one has
// ended already, sstat says nothing of the others, so that it also returns a while after the
// step has been created and no more have been seen.
func (b *Backend) launched(ctx context.Context, g *gang, job string) error {
	b.expect(1)
	defer b.expect(-1)
	for {
		state, reason, over, changed := b.see(g)
		if over || ended(state) {
			return nil // Exits will tell
		}
		if running(state) {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("slurm: gang %s, job %s is %s, %s: %w", g.ID, job, state, reason, ctx.Err())
		case <-changed:
		}
	}
	most, since := -1, time.Now() // how many were seen, -1 without a step, and when that began
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		out, _ := b.try(ctx, "", "sstat", "-n", "-P", "-i", "-j", job+".0")
		n := parseProcesses(out)
		if n == 0 && most < 0 {
			steps, _ := b.try(ctx, "", "squeue", "-h", "-s", "-o", "%i", "-j", job)
			if !slices.Contains(strings.Fields(steps), job+".0") {
				n = -1
			}
		}
		if n > most {
			most, since = n, time.Now()
		}
		if most >= g.processes || most >= 0 && time.Since(since) > straggling {
			return nil
		}
		if state, _, over, _ := b.see(g); over || !running(state) {
			return nil
		}
		if !pause(ctx, wait) {
			return fmt.Errorf("slurm: gang %s, job %s runs, but not its processes: %w", g.ID, job, ctx.Err())
		}
	}
}

// expect says that by so many more (or less) a change of state is waited for.
func (b *Backend) expect(n int) {
	b.mu.Lock()
	b.hurry += n
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Stop stops all processes that srun has started; the batch script goes on.
func (b *Backend) Stop(ctx context.Context, id string) error { return b.control(ctx, id, "STOP") }

// Continue lets them run again.
func (b *Backend) Continue(ctx context.Context, id string) error { return b.control(ctx, id, "CONT") }

func (b *Backend) control(ctx context.Context, id, signal string) error {
	b.mu.Lock()
	g := b.gangs[id]
	launched := g != nil && g.launched
	b.mu.Unlock()
	if !launched {
		return fmt.Errorf("slurm: %.80q, that runs: %w", id, backend.ErrUnknown)
	}
	return forward(id, b.signal(ctx, g, signal))
}

// signal sends a signal to the processes of a gang, and returns when all nodes have done it.
// Of a signal for the job, and not the step, Slurm does not say that. A node that is down
// must not hold up all gangs, so that it is given up soon.
func (b *Backend) signal(ctx context.Context, g *gang, signal string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := b.run(ctx, "scancel", "--signal="+signal, strconv.FormatInt(g.job, 10)+".0")
	return err
}

// Kill sends SIGTERM, and SIGKILL after the time of grace. A job that waits is cancelled at
// once.
func (b *Backend) Kill(ctx context.Context, id string, grace time.Duration) error {
	g, done, err := b.find(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	b.mu.Lock()
	g.killed = true
	launched := g.launched
	b.mu.Unlock()
	if !launched || grace <= 0 {
		b.tasks.Go(func() { b.force(g, launched) })
		return nil
	}
	err = b.signal(ctx, g, "TERM")
	if err == nil || gone(err) { // continued after the signal, it cannot go on without seeing it
		err = b.signal(ctx, g, "CONT")
	}
	b.tasks.Go(func() {
		b.expect(1)
		defer b.expect(-1)
		if !b.gone(g, grace) {
			b.force(g, true)
		}
	})
	if gone(err) {
		return nil // Exits will tell
	}
	return err
}

// force ends a job, and tries until it has ended or the back end closes. To cancel alone would
// leave processes the time that the site has set with KillWait.
func (b *Backend) force(g *gang, launched bool) {
	b.expect(1)
	defer b.expect(-1)
	job := strconv.FormatInt(g.job, 10)
	for {
		if launched {
			_ = b.signal(b.context, g, "KILL")
		}
		_, err := b.run(b.context, "scancel", job)
		b.mu.Lock()
		g.refused = err
		b.mu.Unlock()
		if b.gone(g, patience) {
			return
		}
	}
}

// gone waits for the end of a gang, or of the back end, and tells whether it has come.
func (b *Backend) gone(g *gang, wait time.Duration) bool {
	for timer := time.After(wait); ; {
		_, _, over, changed := b.see(g)
		if over {
			return true
		}
		select {
		case <-changed:
		case <-timer:
			return false
		case <-b.context.Done():
			return true
		}
	}
}

// Usage asks Slurm what a gang uses now. It knows the processor time of all, in whole
// seconds, and the average and the most memory of a process, but not that of each: the
// former stands for all of Resident, the latter for all of Peak. If it does not answer, as
// when one of the processes has ended, the usage is the last known.
func (b *Backend) Usage(ctx context.Context, id string) (backend.Usage, error) {
	b.mu.Lock()
	g := b.gangs[id]
	launched := g != nil && g.launched
	b.mu.Unlock()
	if !launched {
		return backend.Usage{}, fmt.Errorf("slurm: %.80q, that runs: %w", id, backend.ErrUnknown)
	}
	err := b.measure(ctx, []*gang{g})
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.usage.Measured.IsZero() {
		if err == nil {
			err = errors.New("nothing is known yet")
		}
		return backend.Usage{}, fmt.Errorf("slurm: usage of gang %s: %w", id, err)
	}
	return g.usage, nil
}

// measure records what gangs use.
func (b *Backend) measure(ctx context.Context, gangs []*gang) error {
	var steps []string
	for _, g := range gangs {
		steps = append(steps, fmt.Sprintf("%d.0", g.job))
	}
	now := time.Now()
	// Some steps may have ended, of which sstat complains.
	out, err := b.try(ctx, "", "sstat", "-n", "-P", "-o", usageFormat, "-j", strings.Join(steps, ","))
	usage := parseUsage(out)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range gangs {
		if u, ok := usage[g.job]; ok && now.After(g.usage.Measured) {
			// Of a gang that is about to end, nodes may be missing.
			g.peak = max(g.peak, u.peak)
			g.usage = backend.Usage{CPU: max(g.usage.CPU, u.cpu), Resident: repeat(u.resident, g.processes),
				Peak: repeat(g.peak, g.processes), Measured: now}
		}
	}
	return err
}
