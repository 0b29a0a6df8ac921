package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
)

const (
	mebi  = 1 << 20
	grace = 500 * time.Millisecond
)

// site is a Slurm of its own with a back end.
type site struct {
	*slurm.Backend
	t       *testing.T
	ctx     context.Context
	cluster *cluster.Cluster

	mu    sync.Mutex
	exits map[string]backend.Exit
	more  chan struct{} // closed when exits grow
}

// long skips a test that takes seconds.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
}

func start(t *testing.T, c cluster.Config, config slurm.Config) *site {
	t.Helper()
	s := open(t, c, config)
	s.listen()
	return s
}

// open is start, and leaves the exits to others.
func open(t *testing.T, c cluster.Config, config slurm.Config) *site {
	t.Helper()
	cluster.Need(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	machines, err := cluster.Start(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, machines.Stop()) })
	config.Conf = machines.Conf()
	if config.Period == 0 {
		config.Period = 100 * time.Millisecond
	}
	b, err := slurm.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return &site{Backend: b, t: t, ctx: ctx, cluster: machines, exits: map[string]backend.Exit{}, more: make(chan struct{})}
}

// listen receives the exits.
func (s *site) listen() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for exit := range s.Exits() {
			s.mu.Lock()
			if _, twice := s.exits[exit.ID]; twice {
				s.t.Errorf("%s has ended twice", exit.ID)
			}
			s.exits[exit.ID] = exit
			close(s.more)
			s.more = make(chan struct{})
			s.mu.Unlock()
		}
	}()
	s.t.Cleanup(func() {
		assert.NoError(s.t, s.Close())
		<-ended
	})
}

// shell is a gang that runs a script, with its output in a file of the cluster.
func (s *site) shell(id, script string, arguments ...string) backend.Gang {
	return backend.Gang{
		ID: id, Name: id, User: "somebody",
		Command: append([]string{"/bin/sh", "-c", script, "sh"}, arguments...),
		Folder:  s.cluster.Folder(), Output: filepath.Join(s.cluster.Folder(), id+".out"),
	}
}

func (s *site) submit(g backend.Gang, processes int) {
	s.t.Helper()
	require.NoError(s.t, s.Submit(s.ctx, g, processes))
}

// run submits and starts a gang.
func (s *site) run(g backend.Gang, memory int64, nodes ...int) {
	s.t.Helper()
	s.submit(g, len(nodes))
	require.NoError(s.t, s.Start(s.ctx, g.ID, nodes, memory))
}

func (s *site) exit(id string) backend.Exit {
	s.t.Helper()
	for {
		s.mu.Lock()
		exit, ok := s.exits[id]
		more := s.more
		s.mu.Unlock()
		if ok {
			return exit
		}
		select {
		case <-more:
		case <-s.ctx.Done():
			s.t.Fatalf("%s does not end\n%s", id, s.slurm("scontrol", "show", "jobs"))
		}
	}
}

func (s *site) slurm(name string, arguments ...string) string {
	s.t.Helper()
	out, err := s.cluster.Command(s.ctx, name, arguments...).CombinedOutput()
	require.NoError(s.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func (s *site) output(id string) string {
	text, err := os.ReadFile(filepath.Join(s.cluster.Folder(), id+".out"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		require.NoError(s.t, err)
	}
	// slurmstepd may complain there of a task that ends before it has been counted.
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(line string) bool {
		return strings.HasPrefix(line, "slurmstepd-")
	})
	return strings.Join(lines, "")
}

func (s *site) eventually(what string, f func() bool) {
	s.t.Helper()
	for !f() {
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("never: %s\n%s", what, s.slurm("squeue", "-a", "-t", "all"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// processes returns the states, such as S or T, of the processes of the cluster's jobs
// that have the word in their command line.
func (s *site) processes(word string) map[int]string {
	s.t.Helper()
	found := map[int]string{}
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(s.t, err)
	for _, path := range paths {
		folder := filepath.Dir(path)
		environment, err1 := os.ReadFile(path)
		command, err2 := os.ReadFile(filepath.Join(folder, "cmdline"))
		stat, err3 := os.ReadFile(filepath.Join(folder, "stat"))
		if errors.Join(err1, err2, err3) != nil ||
			!strings.Contains(string(environment), s.cluster.Conf()+"\x00") ||
			!strings.Contains(string(environment), "GANGD_RANK=") ||
			!strings.Contains(string(command), word) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		require.NoError(s.t, err)
		_, rest, _ := strings.Cut(string(stat), ") ")
		found[pid] = rest[:1]
	}
	return found
}

// all tells whether that many processes have the word, and all of them the state.
func (s *site) all(word, state string, n int) func() bool {
	return func() bool {
		found := s.processes(word)
		for _, is := range found {
			// A shell whose child is stopped before it has become another program
			// waits for that, in state D.
			if is != state && !(state == "T" && is == "D") {
				return false
			}
		}
		return len(found) >= n // the shell's children look like it until they become sleep
	}
}

func TestNodesAreThoseOfThePartition(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 3, Memory: 700 * mebi,
		Settings: []string{"PartitionName=other Nodes=n2"}}, slurm.Config{})
	require.Equal(t, []backend.Node{{Name: "n1", Memory: 700 * mebi}, {Name: "n2", Memory: 700 * mebi}, {Name: "n3", Memory: 700 * mebi}}, s.Nodes())

	require.Equal(t, 4, s.Share())

	s.slurm("scontrol", "update", "NodeName=n3", "State=drain", "Reason=NodeName=n9 Partitions=other")
	for partition, want := range map[string][]string{"": {"n1", "n2"}, "batch": {"n1", "n2"}, "other": {"n2"}} {
		b, err := slurm.New(slurm.Config{Conf: s.cluster.Conf(), Partition: partition})
		require.NoError(t, err)
		var names []string
		for _, n := range b.Nodes() {
			names = append(names, n.Name)
		}
		require.Equal(t, want, names)
		require.Equal(t, partition == "other", b.Share() == 1)
		require.NoError(t, b.Close())
		require.NoError(t, b.Close(), "again")
	}
	_, err := slurm.New(slurm.Config{Conf: s.cluster.Conf(), Partition: "none"})
	require.ErrorIs(t, err, slurm.ErrConfig)
	s.slurm("scontrol", "update", "NodeName=n2", "State=drain", "Reason=test")
	_, err = slurm.New(slurm.Config{Conf: s.cluster.Conf(), Partition: "other"})
	require.ErrorIs(t, err, slurm.ErrConfig)
}

func TestAGangRunsOnItsNodes(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 4}, slurm.Config{})
	g := s.shell("mix", `echo $GANGD_RANK $SLURMD_NODENAME $GANGD_NODE $GANGD_SIZE $GANGD_ID $GANGD_ADDRESS $GANGD_PLACES $MINE $place; pwd`)
	g.Name = "a name\nof two lines"
	g.Environment = []string{"MINE=a=b", "GANGD_SIZE=77", "SBATCH_PARTITION=none", "place=here"}
	s.submit(g, 3)
	require.Regexp(t, `^a name\?of two lines\|PENDING\|JobHeldUser\|gangd mix somebody by=[A-Z2-7]+$`, s.slurm("squeue", "-h", "-o", "%j|%T|%r|%k"))

	require.NoError(t, s.Start(s.ctx, "mix", []int{2, 0, 3}, 10*mebi))
	require.NoError(t, s.exit("mix").Err)
	require.False(t, s.exit("mix").Killed)
	folder := s.cluster.Folder()
	require.ElementsMatch(t, []string{
		"0 n3 2 3 mix 127.0.0.1:20001 a=b here", folder,
		"1 n1 0 3 mix 127.0.0.1:20001 a=b here", folder,
		"2 n4 3 3 mix 127.0.0.1:20001 a=b here", folder,
	}, strings.Split(strings.TrimSpace(s.output("mix")), "\n"))
}

func TestWordsArriveAsTheyAre(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 1}, slurm.Config{})
	words := []string{
		"a b", " ", "", "it's", `"`, `\`, `\n`, "$HOME", "`id`", "$(id)", "*", "--", "-n", "a=b", "~", "!!", "%j",
		"two\nlines", "\n#SBATCH --job-name=evil\n", "dos\r\nline", "\r", "ends\n\n", "\t", "ü", "\xff\xfe", "'", "''", ";|&<>(){}[]?#",
	}
	g := s.shell("words", `printf '<%s>' "$@"; printf '[%s]' "$ODD"`, words...)
	g.Environment = []string{"ODD=it's \r\n $(odd)"}
	g.Name = "--name='x' $(id)"
	g.Folder = filepath.Join(s.cluster.Folder(), "a folder's %j\\name\n")
	g.Output = filepath.Join(g.Folder, "an output's %j \\name\r\n")
	require.NoError(t, os.Mkdir(g.Folder, 0o755))
	s.run(g, mebi, 0)
	require.NoError(t, s.exit("words").Err)
	out, err := os.ReadFile(g.Output)
	require.NoError(t, err)
	printed, _, _ := strings.Cut(string(out), "slurmstepd-") // see output
	require.Equal(t, "<"+strings.Join(words, "><")+">[it's \r\n $(odd)]", printed)
	require.Equal(t, "--name='x' $(id)", s.slurm("squeue", "-h", "-t", "all", "-o", "%j"))

	// The first word is the program, even if it looks like an assignment or an option.
	program := filepath.Join(s.cluster.Folder(), "--a=b")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho it runs"), 0o755))
	g = s.shell("program", "")
	g.Command = []string{"./--a=b"}
	s.run(g, mebi, 0)
	require.NoError(t, s.exit("program").Err)
	require.Equal(t, "it runs\n", s.output("program"))
}

func TestStopAndContinue(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 3}, slurm.Config{})
	// A child in a session of its own is part of the gang.
	s.run(s.shell("counter", `trap "exit 3" TERM; setsid sh -c "while :; do sleep .05; done # loop" & while :; do sleep .05; done # loop`), mebi, 0, 1, 2)
	require.Eventually(t, func() bool { return len(s.processes("loop")) == 6 }, time.Minute, 20*time.Millisecond)
	for range 5 {
		require.NoError(t, s.Stop(s.ctx, "counter"))
		// Slurm signals the processes of a step one by one: one that is born
		// meanwhile runs on until it has become another program, or ends.
		s.eventually("stopped", s.all("loop", "T", 6))
		time.Sleep(100 * time.Millisecond)
		require.True(t, s.all("loop", "T", 6)(), "%v", s.processes("loop"))
		require.NoError(t, s.Continue(s.ctx, "counter"))
		s.eventually("continued", func() bool { return !s.all("loop", "T", 6)() })
	}
	// Asked to end while it is stopped, it still can end by itself.
	require.NoError(t, s.Stop(s.ctx, "counter"))
	require.NoError(t, s.Kill(s.ctx, "counter", time.Minute))
	exit := s.exit("counter")
	require.True(t, exit.Killed)
	var failure *slurm.JobError
	require.ErrorAs(t, exit.Err, &failure)
	require.Equal(t, slurm.JobError{Job: 1, State: "FAILED", Code: 3}, *failure)
	s.eventually("nothing is left", func() bool { return len(s.processes("loop")) == 0 })
	require.ErrorIs(t, s.Stop(s.ctx, "counter"), backend.ErrUnknown)
}

// A gang has started, and is stopped and asked to end, also if a process has ended.
func TestAProcessMayEndBeforeTheOthers(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.submit(s.shell("one-left", `[ $GANGD_RANK = 0 ] || exit 0; trap "echo saved; exit 3" TERM; echo started; while :; do sleep .05; done # loop`), 2)
	begin := time.Now()
	require.NoError(t, s.Start(s.ctx, "one-left", []int{0, 1}, mebi))
	require.Less(t, time.Since(begin), 30*time.Second)
	s.eventually("it has started", func() bool { return s.output("one-left") == "started\n" })
	if err := s.Stop(s.ctx, "one-left"); !errors.Is(err, backend.ErrUnknown) {
		require.NoError(t, err)
	}
	s.eventually("stopped", s.all("loop", "T", 1))
	require.NoError(t, s.Kill(s.ctx, "one-left", time.Minute))
	var failure *slurm.JobError
	require.ErrorAs(t, s.exit("one-left").Err, &failure)
	require.Equal(t, 3, failure.Code, "its own")
	require.Contains(t, s.output("one-left"), "saved\n")
}

func TestKillEndsAnything(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 2, Settings: []string{"KillWait=100"}}, slurm.Config{})
	stubborn := `trap "" TERM INT HUP; while :; do sleep .05; done # loop`
	s.submit(s.shell("waits", stubborn), 2)
	s.run(s.shell("runs", stubborn), mebi, 0, 1)
	s.run(s.shell("stopped", stubborn), mebi, 0, 1)
	s.run(s.shell("at-once", stubborn), mebi, 1, 0)
	require.NoError(t, s.Stop(s.ctx, "stopped"))
	s.eventually("all run", func() bool { return len(s.processes("loop")) == 6 })
	begin := time.Now()
	require.NoError(t, s.Kill(s.ctx, "waits", time.Hour))
	require.NoError(t, s.Kill(s.ctx, "runs", grace))
	require.NoError(t, s.Kill(s.ctx, "stopped", grace))
	require.NoError(t, s.Kill(s.ctx, "at-once", 0))
	for _, id := range []string{"waits", "runs", "stopped", "at-once"} {
		exit := s.exit(id)
		assert.True(t, exit.Killed, id)
		assert.Error(t, exit.Err, id)
		assert.ErrorIs(t, s.Kill(s.ctx, id, 0), backend.ErrUnknown)
	}
	require.Less(t, time.Since(begin), 50*time.Second, "before the site's time of grace")
	require.Empty(t, s.processes("loop"))
}

func TestExitsTellHowAGangHasEnded(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{Options: []string{"--time=1"}})
	s.run(s.shell("good", `exit 0`), mebi, 0, 1)
	s.run(s.shell("bad", `[ $GANGD_RANK = 0 ] && sleep 1000; exit 200`), mebi, 0, 1)
	s.run(s.shell("signal", `kill -SEGV $$`), mebi, 1)
	g := s.shell("missing", "")
	g.Command = []string{"/no/such/program"}
	s.run(g, mebi, 1)
	g = s.shell("nowhere", "exit 0")
	g.Folder = "/no/such/folder"
	s.run(g, mebi, 1)
	s.run(s.shell("cancelled", `sleep 1000`), mebi, 1)
	s.slurm("scancel", "--name=cancelled")

	require.NoError(t, s.exit("good").Err)
	for id, want := range map[string]slurm.JobError{
		"bad":       {State: "FAILED", Code: 128 + 15}, // of the other, that had to end
		"signal":    {State: "FAILED", Code: 128 + 11},
		"missing":   {State: "FAILED", Code: 127},
		"nowhere":   {State: "FAILED", Code: 1},
		"cancelled": {State: "CANCELLED"},
	} {
		exit := s.exit(id)
		assert.False(t, exit.Killed)
		var got *slurm.JobError
		require.ErrorAs(t, exit.Err, &got, id)
		assert.NotZero(t, got.Job)
		want.Job = got.Job
		if id == "bad" && got.Code == 200 { // its own
			continue
		}
		assert.Equal(t, want, *got, id)
	}
}

// Slurm does not start what does not fit by its estimate, and nothing is left of it that
// could start later.
func TestTheEstimateIsWhatSlurmGrants(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 2, Memory: 1000 * mebi}, slurm.Config{Margin: .25})
	s.run(s.shell("first", `sleep 1000`), 400*mebi-1, 0, 1)
	require.Equal(t, "500M", s.slurm("squeue", "-h", "-o", "%m"))

	// 500 MiB are left, and 500 + 1 MiB do not fit.
	s.submit(s.shell("second", `echo ran`), 1)
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second) // until Slurm has looked at it
	defer cancel()
	err := s.Start(ctx, "second", []int{1}, 400*mebi+1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "Resources")
	require.ErrorIs(t, s.Kill(s.ctx, "second", 0), backend.ErrUnknown)
	s.eventually("it is cancelled", func() bool {
		return s.slurm("squeue", "-h", "-t", "all", "-o", "%j %T %m", "-n", "second") == "second CANCELLED 501M"
	})
	s.run(s.shell("second", `echo ran`), 400*mebi, 1)
	require.NoError(t, s.exit("second").Err, "exactly what is left")
	require.Equal(t, "ran\n", s.output("second"))

	// More than a node has is refused, or never granted.
	s.submit(s.shell("third", `echo ran`), 1)
	ctx, cancel = context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	require.Error(t, s.Start(ctx, "third", []int{1}, 801*mebi))
	s.eventually("only the first is left", func() bool { return s.slurm("squeue", "-h", "-o", "%j") == "first" })
	require.Empty(t, s.output("third"))
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.exits, 1, "Start has told of the others")
}

func TestUsage(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	_, err := s.Usage(s.ctx, "none")
	require.ErrorIs(t, err, backend.ErrUnknown)
	s.submit(s.shell("eater", `x=$(head -c 30000000 /dev/zero | tr "\0" x); echo grown; while :; do :; done`), 2)
	_, err = s.Usage(s.ctx, "eater")
	require.ErrorIs(t, err, backend.ErrUnknown, "it does not run")
	require.NoError(t, s.Start(s.ctx, "eater", []int{0, 1}, 100*mebi))
	var u backend.Usage
	s.eventually("two seconds of processor time and 30 MB", func() bool {
		grown := strings.Count(s.output("eater"), "grown") == 2
		begin := time.Now()
		var err error
		u, err = s.Usage(s.ctx, "eater")
		return err == nil && !u.Measured.Before(begin) && u.CPU >= 2*time.Second && grown
	})
	require.Len(t, u.Resident, 2)
	require.Len(t, u.Peak, 2)
	for i := range 2 {
		require.Greater(t, u.Peak[i], int64(30e6))
		require.Less(t, u.Peak[i], int64(400e6))
		require.Positive(t, u.Resident[i])
	}
	require.NoError(t, s.Kill(s.ctx, "eater", 0))
	exit := s.exit("eater")
	require.GreaterOrEqual(t, exit.Usage.CPU, u.CPU)
	require.Equal(t, u.Peak, exit.Usage.Peak)
	require.False(t, exit.Usage.Measured.Before(u.Measured))
}

func TestASiteThatCountsNothing(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 2, Settings: []string{"JobAcctGatherType=jobacct_gather/none"}}, slurm.Config{})
	begin := time.Now()
	s.run(s.shell("runs", `sleep 1000`), mebi, 0, 1)
	require.Less(t, time.Since(begin), 30*time.Second)
	_, err := s.Usage(s.ctx, "runs")
	require.Error(t, err)
	require.NoError(t, s.Stop(s.ctx, "runs"))
	s.eventually("stopped", s.all("sleep", "T", 2))
}

func TestBadGangsAreRefused(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	for name, change := range map[string]func(*backend.Gang){
		"no ID":             func(g *backend.Gang) { g.ID = "" },
		"an ID of two":      func(g *backend.Gang) { g.ID = "a b" },
		"a foreign letter":  func(g *backend.Gang) { g.ID = "é" },
		"no command":        func(g *backend.Gang) { g.Command = nil },
		"an empty program":  func(g *backend.Gang) { g.Command = []string{"", "x"} },
		"a zero byte":       func(g *backend.Gang) { g.Command = []string{"a\x00b"} },
		"no assignment":     func(g *backend.Gang) { g.Environment = []string{"A"} },
		"nothing assigned":  func(g *backend.Gang) { g.Environment = []string{"=A"} },
		"an option of env":  func(g *backend.Gang) { g.Environment = []string{"-u=A"} },
		"a zero byte there": func(g *backend.Gang) { g.Folder = "/\x00" },
	} {
		g := s.shell("good", "exit")
		change(&g)
		require.ErrorIs(t, s.Submit(s.ctx, g, 1), slurm.ErrGang, name)
	}
	good := s.shell("good", "exit")
	for _, processes := range []int{-1, 0, 3} {
		require.ErrorIs(t, s.Submit(s.ctx, good, processes), slurm.ErrGang)
	}
	for _, nodes := range [][]int{nil, {0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 1}} {
		require.NoError(t, s.Submit(s.ctx, good, 2))
		require.ErrorIs(t, s.Submit(s.ctx, good, 2), slurm.ErrGang, "twice")
		require.ErrorIs(t, s.Start(s.ctx, "good", nodes, mebi), slurm.ErrGang)
		require.ErrorIs(t, s.Start(s.ctx, "good", []int{0, 1}, mebi), backend.ErrUnknown)
	}
	require.NoError(t, s.Submit(s.ctx, good, 2))
	require.ErrorIs(t, s.Start(s.ctx, "none", []int{0}, mebi), backend.ErrUnknown)
	require.ErrorIs(t, s.Stop(s.ctx, "good"), backend.ErrUnknown)
	require.ErrorIs(t, s.Continue(s.ctx, "good"), backend.ErrUnknown)
	require.ErrorIs(t, s.Kill(s.ctx, "none", 0), backend.ErrUnknown)
	require.NoError(t, s.Start(s.ctx, "good", []int{0, 1}, 0), "without an estimate")
	require.NoError(t, s.exit("good").Err)
}

func TestAHundredShortGangs(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 16, CPUs: 4}, slurm.Config{})
	begin := time.Now()
	var wait sync.WaitGroup
	limit := make(chan struct{}, 12)
	for i := range 100 {
		limit <- struct{}{}
		wait.Go(func() {
			defer func() { <-limit }()
			id := fmt.Sprintf("short-%d", i)
			nodes := []int{i % 16, (i + 5) % 16}
			assert.NoError(t, s.Submit(s.ctx, s.shell(id, `echo $GANGD_NODE`), 2))
			assert.NoError(t, s.Start(s.ctx, id, nodes, mebi))
		})
	}
	wait.Wait()
	for i := range 100 {
		id := fmt.Sprintf("short-%d", i)
		require.NoError(t, s.exit(id).Err)
		require.ElementsMatch(t, []string{strconv.Itoa(i % 16), strconv.Itoa((i + 5) % 16)}, strings.Fields(s.output(id)))
	}
	t.Logf("%v", time.Since(begin))
}

func TestCloseEndsAllGangs(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.submit(s.shell("waits", `sleep 1000`), 2)
	s.run(s.shell("runs", `sleep 1000`), mebi, 0, 1)
	s.run(s.shell("stopped", `sleep 1000`), mebi, 0)
	require.NoError(t, s.Stop(s.ctx, "stopped"))
	require.NoError(t, s.Close())
	require.Empty(t, s.slurm("squeue", "-h"))
	require.Empty(t, s.processes("sleep"))
	require.Error(t, s.Submit(s.ctx, s.shell("late", `exit`), 1))
}
