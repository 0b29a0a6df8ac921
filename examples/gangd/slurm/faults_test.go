package slurm_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/slurm"
	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
)

// forever says that it has started, so that a second start shows.
const forever = `echo started; while :; do sleep .05; done # loop`

func (s *site) saved() {
	s.t.Helper()
	now := time.Now()
	s.eventually("slurmctld saves its state", func() bool { return s.cluster.Saved().After(now) })
}

func (s *site) failure(id string) slurm.JobError {
	s.t.Helper()
	var failure *slurm.JobError
	require.ErrorAs(s.t, s.exit(id).Err, &failure)
	return *failure
}

func TestANodeThatDiesEndsItsGangs(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 4}, slurm.Config{})
	s.run(s.shell("on-it", forever), mebi, 0, 1)
	s.run(s.shell("stopped", forever), mebi, 1, 2)
	s.run(s.shell("elsewhere", forever), mebi, 2, 3)
	require.NoError(t, s.Stop(s.ctx, "stopped"))
	s.eventually("all run", func() bool { return strings.Count(s.output("on-it")+s.output("elsewhere"), "started") == 4 })
	require.NoError(t, s.cluster.KillNode(1))
	// slurmctld finds out by itself, but takes half a minute.
	s.slurm("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=no power")
	for _, id := range []string{"on-it", "stopped"} {
		assert.Equal(t, "NODE_FAIL", s.failure(id).State)
		assert.False(t, s.exit(id).Killed)
	}
	// It comes back, and nothing is started a second time.
	require.NoError(t, s.cluster.StartNode(s.ctx, 1))
	s.run(s.shell("again", `exit 0`), mebi, 0, 1)
	require.NoError(t, s.exit("again").Err)
	require.Equal(t, 2, strings.Count(s.output("on-it"), "started"))
	_, err := s.Usage(s.ctx, "elsewhere")
	require.NoError(t, err)
	require.NoError(t, s.Stop(s.ctx, "elsewhere"))
}

// Slurm takes a while to find out that a node is down.
func TestADeadNodeDoesNotHoldUpTheOthers(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2, Settings: []string{"SlurmdTimeout=300"}}, slurm.Config{})
	s.run(s.shell("on-it", forever), mebi, 0, 1)
	s.eventually("both have started", func() bool { return strings.Count(s.output("on-it"), "started") == 2 })
	require.NoError(t, s.cluster.KillNode(1))
	begin := time.Now()
	err := s.Stop(s.ctx, "on-it")
	require.Error(t, err)
	require.NotErrorIs(t, err, backend.ErrUnknown, "some of it may run on")
	require.Less(t, time.Since(begin), 30*time.Second)
	s.eventually("what there is has stopped", s.all("loop", "T", 1))
	s.slurm("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=no power")
	require.Equal(t, "NODE_FAIL", s.failure("on-it").State)
}

func TestADaemonThatDiesAndComesBackHarmsNoGang(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.run(s.shell("works", `echo started; until [ -e stop ]; do sleep .05; done # loop`), mebi, 0, 1)
	s.eventually("both have started", func() bool { return strings.Count(s.output("works"), "started") == 2 })
	require.NoError(t, s.cluster.KillDaemon(1))
	require.NoError(t, s.cluster.StartNode(s.ctx, 1))
	require.NoError(t, s.Stop(s.ctx, "works"))
	s.eventually("stopped", s.all("loop", "T", 2))
	require.NoError(t, s.Continue(s.ctx, "works"))
	s.slurm("touch", s.cluster.Folder()+"/stop")
	require.NoError(t, s.exit("works").Err)
	require.Equal(t, 2, strings.Count(s.output("works"), "started"))
}

func TestWithoutControllerCommandsWaitForIt(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.run(s.shell("stopped", `echo started; until [ -e stop ]; do sleep .05; done # loop`), mebi, 0, 1)
	s.eventually("both have started", func() bool { return strings.Count(s.output("stopped"), "started") == 2 })
	require.NoError(t, s.Stop(s.ctx, "stopped"))
	s.eventually("stopped", s.all("loop", "T", 2))
	s.saved()
	require.NoError(t, s.cluster.KillController())

	short, cancel := context.WithTimeout(s.ctx, 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	require.ErrorIs(t, s.Continue(short, "stopped"), context.DeadlineExceeded)
	require.ErrorIs(t, s.Submit(short, s.shell("given-up", `exit 0`), 1), context.DeadlineExceeded)
	require.Less(t, time.Since(begin), 10*time.Second)

	submitted, killed := make(chan error), make(chan error)
	go func() { submitted <- s.Submit(s.ctx, s.shell("meanwhile", `exit 0`), 2) }()
	go func() { killed <- s.Kill(s.ctx, "stopped", time.Hour) }()
	time.Sleep(200 * time.Millisecond)
	require.NoError(t, s.cluster.StartController(s.ctx, false))
	require.NoError(t, <-submitted)
	require.NoError(t, <-killed)
	require.True(t, s.exit("stopped").Killed)
	require.Equal(t, "meanwhile", s.slurm("squeue", "-h", "-o", "%j"), "once")
	require.NoError(t, s.Start(s.ctx, "meanwhile", []int{0, 1}, mebi))
	require.NoError(t, s.exit("meanwhile").Err)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.exits, 2)
}

func TestARestartedControllerFindsStoppedGangs(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.run(s.shell("stopped", `echo started; until [ -e stop ]; do sleep .05; done # loop`), mebi, 0, 1)
	s.eventually("both have started", func() bool { return strings.Count(s.output("stopped"), "started") == 2 })
	require.NoError(t, s.Stop(s.ctx, "stopped"))
	s.saved()
	require.NoError(t, s.cluster.KillController())
	require.NoError(t, s.cluster.StartController(s.ctx, false))
	s.eventually("still stopped", s.all("loop", "T", 2))
	s.slurm("touch", s.cluster.Folder()+"/stop")
	require.NoError(t, s.Continue(s.ctx, "stopped"))
	require.NoError(t, s.exit("stopped").Err)
}

func TestCloseDoesNotWaitForTheController(t *testing.T) {
	long(t)
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.submit(s.shell("waits", forever), 1)
	s.run(s.shell("runs", forever), mebi, 0, 1)
	s.eventually("both run", func() bool { return len(s.processes("loop")) == 2 })
	s.saved()
	require.NoError(t, s.cluster.KillController())
	begin := time.Now()
	require.ErrorContains(t, s.Close(), "have not ended")
	require.Less(t, time.Since(begin), 30*time.Second)
	require.Len(t, s.processes("loop"), 2)
	require.NoError(t, s.cluster.StartController(s.ctx, false))
	s.eventually("they are ended all the same", func() bool { return s.slurm("squeue", "-h") == "" && len(s.processes("loop")) == 0 })
}

func TestAForgottenGangIsNotLost(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.submit(s.shell("waits", forever), 1)
	s.run(s.shell("runs", forever), mebi, 0, 1)
	require.NoError(t, s.cluster.KillController())
	require.NoError(t, s.cluster.StartController(s.ctx, true))
	// A stranger's job may get the number of one that was forgotten.
	s.slurm("sbatch", "--hold", "-o", "/dev/null", "--wrap", "exit")
	for _, id := range []string{"waits", "runs"} {
		require.Equal(t, slurm.Forgotten, s.failure(id).State)
		require.False(t, s.exit(id).Killed)
		require.ErrorIs(t, s.Kill(s.ctx, id, 0), backend.ErrUnknown)
	}
	require.Equal(t, "PENDING", s.slurm("squeue", "-h", "-o", "%T"), "the stranger's")
}

func TestAGangThatSlurmRequeuesIsEnded(t *testing.T) {
	for name, command := range map[string][]string{
		"started again": {"requeue", "1"},
		"held":          {"requeuehold", "1"},
		"special":       {"requeuehold", "State=SpecialExit", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			long(t)
			s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
			s.run(s.shell("runs", forever), mebi, 0, 1)
			s.eventually("both have started", func() bool { return strings.Count(s.output("runs"), "started") == 2 })
			s.eventually("it was seen to run", func() bool { _, err := s.Usage(s.ctx, "runs"); return err == nil })
			s.slurm("scontrol", "update", "JobId=1", "Requeue=1")
			s.slurm("scontrol", command...)
			require.Equal(t, slurm.JobError{Job: 1, State: slurm.Restarted}, s.failure("runs"))
			require.False(t, s.exit("runs").Killed)
			require.Empty(t, s.processes("loop"))
			require.Equal(t, 2, strings.Count(s.output("runs"), "started"))
		})
	}
}

// This binary, called again by a test, stops a gang and is killed.
const child = "GANGD_SLURM_TEST_CHILD"

func TestMain(m *testing.M) {
	if conf := os.Getenv(child); conf != "" {
		b, err := slurm.New(slurm.Config{Conf: conf})
		for _, id := range []string{"stopped", "waits"} {
			if err == nil {
				err = b.Submit(context.Background(), backend.Gang{ID: id, Command: []string{"/bin/sh", "-c", forever}}, 2)
			}
		}
		if err == nil {
			err = b.Start(context.Background(), "stopped", []int{0, 1}, mebi)
		}
		if err == nil {
			err = b.Stop(context.Background(), "stopped")
		}
		fmt.Println("ready", err)
		select {}
	}
	os.Exit(m.Run())
}

func TestNoGangStaysStoppedWhenGangdDies(t *testing.T) {
	s := start(t, cluster.Config{Nodes: 2}, slurm.Config{})
	s.submit(s.shell("another", `exit 0`), 2)
	self, err := os.Executable()
	require.NoError(t, err)
	program := exec.CommandContext(s.ctx, self)
	program.Env = append(os.Environ(), child+"="+s.cluster.Conf())
	stdout, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	said, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready <nil>\n", said)
	require.True(t, s.all("loop", "T", 2)(), "%v", s.processes("loop"))
	require.NoError(t, program.Process.Kill())
	_ = program.Wait()
	s.eventually("it goes on", func() bool { return !s.all("loop", "T", 1)() })
	s.eventually("what waited is gone", func() bool {
		jobs := strings.Fields(s.slurm("squeue", "-h", "-o", "%j"))
		return len(jobs) == 2 && slices.Contains(jobs, "stopped") && slices.Contains(jobs, "another")
	})
	require.Len(t, s.processes("loop"), 2)
}
