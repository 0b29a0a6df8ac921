package slurm

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// submitted returns the gangs that Slurm has, by number of job.
func (b *Backend) submitted(which func(*gang) bool) []*gang {
	b.mu.Lock()
	defer b.mu.Unlock()
	var gangs []*gang
	for g := range b.jobs {
		if which(g) {
			gangs = append(gangs, g)
		}
	}
	slices.SortFunc(gangs, func(x, y *gang) int { return cmp.Compare(x.job, y.job) })
	return gangs
}

// atOnce is how many jobs one command may name: an argument has at most 128 KiB.
const atOnce = 5000

// watch asks for the state of all jobs, every period, and more often at first when a change
// is expected.
func (b *Backend) watch() {
	wait := hurried
	for {
		b.mu.Lock()
		period := b.config.Period
		if b.hurry > 0 {
			period, wait = min(period, wait), min(2*wait, period)
		}
		b.mu.Unlock()
		select {
		case <-b.context.Done():
			return
		case <-b.wake:
			wait = hurried
		case <-time.After(period):
		}
		for gangs := range slices.Chunk(b.submitted(func(*gang) bool { return true }), atOnce) {
			b.look(gangs)
		}
		b.mu.Lock()
		close(b.changed)
		b.changed = make(chan struct{})
		b.mu.Unlock()
	}
}

func numbers(gangs []*gang) string {
	var jobs []string
	for _, g := range gangs {
		jobs = append(jobs, strconv.FormatInt(g.job, 10))
	}
	return strings.Join(jobs, ",")
}

// look asks for the state of gangs and tells of those that have ended.
func (b *Backend) look(gangs []*gang) {
	ctx, cancel := context.WithTimeout(b.context, 3*patience)
	defer cancel()
	out, err := b.run(ctx, "squeue", "-h", "-a", "-t", "all", "-o", rowFormat, "-j", numbers(gangs))
	if err != nil && !gone(err) { // it says so of a single job
		return
	}
	rows := parseRows(out)
	var over []*gang
	b.mu.Lock()
	for _, g := range gangs {
		r, ok := rows[g.job]
		if !ok || !b.belongs(r.comment, g.ID) { // numbers can be given again
			g.reused = g.reused || ok
			if g.missing++; g.missing > 1 {
				g.state = Forgotten
				over = append(over, g)
			}
			continue
		}
		g.missing, g.state, g.reason = 0, r.state, r.reason
		switch {
		case ended(r.state):
			over = append(over, g)
		case running(r.state) && g.start == "":
			g.start = r.start
		case !g.again && (requeued(r.state) || g.start != "" && (r.state == "PENDING" || running(r.state) && r.start != g.start)):
			g.again = true
			b.tasks.Go(func() { b.force(g, true) })
		}
	}
	b.mu.Unlock()
	if len(over) > 0 {
		b.finish(ctx, over)
	}
}

// finish tells of gangs that have ended.
func (b *Backend) finish(ctx context.Context, gangs []*gang) {
	records := map[int64]record{}
	if b.accounting {
		// What has just ended may not be there yet, or as if it ran. Nobody must wait for a
		// slurmdbd that is slow.
		ask, cancel := context.WithTimeout(ctx, patience/2)
		if out, err := b.try(ask, "", "sacct", "-n", "-P", "-o", recordFormat, "-j", numbers(gangs)); err == nil {
			records = parseRecords(out)
		}
		cancel()
	}
	for _, g := range gangs {
		r := records[g.job]
		if g.reused {
			r = record{}
		}
		failure := &JobError{Job: g.job, State: g.state, Code: r.code, Signal: r.signal}
		if g.state == Forgotten && ended(r.state) {
			failure.State = r.state
		}
		if g.state == "FAILED" && !ended(r.state) {
			if out, err := b.try(ctx, "", "scontrol", "show", "job", "-o", strconv.FormatInt(g.job, 10)); err == nil {
				failure.Code, failure.Signal, _ = parseStatus(fields(out)["ExitCode"])
			}
		}
		b.mu.Lock()
		if g.again {
			failure.State = Restarted
		}
		exit := backend.Exit{ID: g.ID, Usage: g.usage, Killed: g.killed}
		if failure.State != "COMPLETED" {
			exit.Err = failure
		}
		if r.peak > 0 || r.cpu > 0 { // the accounting knows the end, and the last sample does not
			exit.Usage.CPU = max(exit.Usage.CPU, r.cpu)
			exit.Usage.Peak = repeat(max(r.peak, g.peak), g.processes)
			if exit.Usage.Resident == nil {
				exit.Usage.Resident = make([]int64, g.processes)
			}
			exit.Usage.Measured = time.Now()
		}
		delete(b.jobs, g)
		if b.gangs[g.ID] == g {
			delete(b.gangs, g.ID)
			b.told = append(b.told, exit)
		}
		b.mu.Unlock()
	}
}

// sample records what all gangs use, every five periods.
func (b *Backend) sample() {
	for pause(b.context, 5*b.config.Period) {
		ctx, cancel := context.WithTimeout(b.context, 3*patience)
		for gangs := range slices.Chunk(b.submitted(func(g *gang) bool { return g.launched }), atOnce) {
			_ = b.measure(ctx, gangs)
		}
		cancel()
	}
}

// tell hands over exits to whoever receives them.
func (b *Backend) tell() {
	for {
		b.mu.Lock()
		var next backend.Exit
		var exits chan<- backend.Exit
		if len(b.told) > 0 {
			next, exits = b.told[0], b.exits
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case exits <- next:
			b.mu.Lock()
			b.told = b.told[1:]
			b.mu.Unlock()
		case <-changed:
		case <-b.context.Done():
			return
		}
	}
}
