//go:build linux

package local_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/local"
)

// mark tells processes from those of other tests on this machine.
const mark = "GANGKIT_TEST_MARK"

func TestMain(m *testing.M) {
	local.Helper()
	if os.Getenv(mark) == "" {
		os.Setenv(mark, strconv.Itoa(os.Getpid()))
	}
	os.Exit(m.Run())
}

// deadline is generous: the machine may be busy.
const deadline = 20 * time.Second

func eventually(t *testing.T, condition func() bool, message ...any) {
	t.Helper()
	require.Eventually(t, condition, deadline, 5*time.Millisecond, message...)
}

func start(t *testing.T, c local.Config) *local.Backend {
	t.Helper()
	if c.OnDeath == "" {
		c.OnDeath = local.Kill // a test that panics leaves nothing behind
	}
	b, err := local.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// run starts a gang of a shell script, and returns the file it prints to.
func run(t *testing.T, b *local.Backend, id, script string, nodes ...int) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), id)
	require.NoError(t, b.Submit(t.Context(), backend.Gang{ID: id, Command: []string{"/bin/sh", "-c", script}, Output: output}, len(nodes)))
	require.NoError(t, b.Start(t.Context(), id, nodes, 0))
	return output
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func exit(t *testing.T, b *local.Backend) backend.Exit {
	t.Helper()
	select {
	case e := <-b.Exits():
		return e
	case <-time.After(deadline):
		require.Fail(t, "no exit")
		return backend.Exit{}
	}
}

// marked returns the states of all processes whose environment has a gang's name.
func marked(id string) map[int]string {
	states := map[int]string{}
	all, _ := procfs.AllProcs()
	for _, p := range all {
		environment, err := p.Environ()
		if err != nil || !slices.Contains(environment, "GANGD_ID="+id) || !slices.Contains(environment, mark+"="+os.Getenv(mark)) {
			continue
		}
		if s, err := p.Stat(); err == nil && s.State != "Z" && s.State != "X" {
			states[p.PID] = s.State
		}
	}
	return states
}

// all says whether there are processes, and all in one of the states.
func all(states map[int]string, is string) bool {
	for _, s := range states {
		if !strings.Contains(is, s) {
			return false
		}
	}
	return len(states) > 0
}

func TestProcessesKnowTheirPlace(t *testing.T) {
	b := start(t, local.Config{Nodes: 5})
	require.Len(t, b.Nodes(), 5)
	require.Positive(t, b.Nodes()[0].Memory)
	output := run(t, b, "place", `echo $GANGD_ID $GANGD_RANK $GANGD_SIZE $GANGD_NODE ${GANGD_ADDRESS%:*} $(grep Cpus_allowed_list /proc/self/status | cut -f2)`, 4, 1)
	e := exit(t, b)
	require.NoError(t, e.Err)
	assert.False(t, e.Killed)
	var cores []int
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	for core := range 1024 {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	assert.ElementsMatch(t, []string{
		fmt.Sprint("place 0 2 4 127.0.0.1 ", cores[4%len(cores)]),
		fmt.Sprint("place 1 2 1 127.0.0.1 ", cores[1%len(cores)]),
	}, strings.Split(strings.TrimSpace(read(t, output)), "\n"))
}

// A gang is all that came of its processes: children, process groups of their own,
// and sessions of their own.
func TestAllOfAGangStopsAndContinues(t *testing.T) {
	b := start(t, local.Config{Nodes: 2})
	const loop = `while :; do echo x; done >/dev/null`
	run(t, b, "all", `(`+loop+`) & setsid sh -c '`+loop+`' & exec bash -mc '(`+loop+`) & wait'`, 0, 1)
	eventually(t, func() bool { return len(marked("all")) >= 8 && all(marked("all"), "RSD") }, "everybody runs")
	require.NoError(t, b.Stop(t.Context(), "all"))
	_, err := b.Usage(t.Context(), "all") // sees process groups that are new, and stops them
	require.NoError(t, err)
	eventually(t, func() bool { return all(marked("all"), "T") })
	require.NoError(t, b.Continue(t.Context(), "all"))
	eventually(t, func() bool { return all(marked("all"), "RSD") })
	for range 3 {
		require.NoError(t, b.Stop(t.Context(), "all"))
		assert.True(t, all(marked("all"), "T"), "%v", marked("all"))
		before, err := b.Usage(t.Context(), "all")
		require.NoError(t, err)
		time.Sleep(20 * time.Millisecond)
		after, err := b.Usage(t.Context(), "all")
		require.NoError(t, err)
		assert.Equal(t, before.CPU, after.CPU, "who is stopped computes nothing")
		require.NoError(t, b.Continue(t.Context(), "all"))
		eventually(t, func() bool { return all(marked("all"), "RSD") })
		eventually(t, func() bool {
			u, err := b.Usage(t.Context(), "all")
			return err == nil && u.CPU > after.CPU
		}, "who runs computes")
	}
	require.NoError(t, b.Stop(t.Context(), "all"))
	require.NoError(t, b.Kill(t.Context(), "all", deadline))
	e := exit(t, b)
	assert.True(t, e.Killed)
	assert.Positive(t, e.Usage.CPU)
	assert.Empty(t, marked("all"), "nothing is left")
}

// A process that leaves its process group between two looks is stopped all the same.
func TestWhoBeginsASessionIsStopped(t *testing.T) {
	b := start(t, local.Config{Nodes: 1})
	folder := t.TempDir()
	const loop = `while :; do :; done`
	require.NoError(t, b.Submit(t.Context(), backend.Gang{ID: "leaves", Folder: folder, Command: []string{"/bin/sh", "-c",
		`(while [ ! -e go ]; do sleep 0.01; done; exec setsid sh -c 'touch gone; ` + loop + `') & ` + loop}}, 1))
	require.NoError(t, b.Start(t.Context(), "leaves", []int{0}, 0))
	eventually(t, func() bool { return len(marked("leaves")) >= 2 })
	time.Sleep(10 * time.Millisecond)
	_, err := b.Usage(t.Context(), "leaves")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), nil, 0o644))
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(folder, "gone")); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	require.NoError(t, b.Stop(ctx, "leaves"))
	assert.True(t, all(marked("leaves"), "T"), "%v", marked("leaves"))
}

// withoutKill runs a test once more in a process that may not signal those of other users.
// It is true there.
func withoutKill(t *testing.T) bool {
	const inner = "GANGKIT_TEST_WITHOUT_KILL"
	if os.Getenv(inner) != "" {
		return true
	}
	if _, err := exec.LookPath("setpriv"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and setpriv")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("setpriv", "--bounding-set=-kill", self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inner+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return false
}

// Of a gang with a process of another user nothing stays stopped, and nobody waits.
func TestWhoMayNotBeStoppedRunsOn(t *testing.T) {
	if !withoutKill(t) {
		return
	}
	b := start(t, local.Config{Nodes: 1})
	run(t, b, "other", `setpriv --reuid=65534 sleep 2 & other=$!; sleep 1000 & wait $other; kill $!`, 0)
	eventually(t, func() bool { return len(marked("other")) == 3 })
	time.Sleep(100 * time.Millisecond) // until setpriv is somebody else
	_, err := b.Usage(t.Context(), "other")
	require.NoError(t, err)
	began := time.Now()
	require.ErrorIs(t, b.Stop(t.Context(), "other"), unix.EPERM)
	assert.Less(t, time.Since(began), time.Second)
	eventually(t, func() bool { return all(marked("other"), "RSD") }, "everybody runs")
	require.NoError(t, exit(t, b).Err)
}

// What cannot be killed does not keep gangd from its end.
func TestCloseGivesUp(t *testing.T) {
	defer func() {
		for pid := range marked("immortal") {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}()
	if !withoutKill(t) {
		return
	}
	b, err := local.New(local.Config{Nodes: 1, Grace: 100 * time.Millisecond})
	require.NoError(t, err)
	run(t, b, "immortal", `exec setpriv --reuid=65534 sleep 1000`, 0)
	time.Sleep(100 * time.Millisecond) // until it is somebody else's
	require.ErrorContains(t, b.Close(), "[immortal] do not end")
	require.Error(t, b.Close(), "again")
}

func TestWhoIgnoresTheRequestIsEndedByForce(t *testing.T) {
	b := start(t, local.Config{Nodes: 1})
	output := run(t, b, "deaf", `trap "" TERM; echo ready; while :; do sleep 1; done`, 0)
	eventually(t, func() bool { return read(t, output) == "ready\n" })
	require.NoError(t, b.Stop(t.Context(), "deaf"))
	began := time.Now()
	require.NoError(t, b.Kill(t.Context(), "deaf", 300*time.Millisecond))
	require.ErrorIs(t, b.Stop(t.Context(), "deaf"), backend.ErrUnknown, "a gang that is to end runs")
	e := exit(t, b)
	assert.True(t, e.Killed)
	assert.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
	assert.Empty(t, marked("deaf"))
}

func TestAFailureEndsTheOthers(t *testing.T) {
	b := start(t, local.Config{Nodes: 2, Grace: deadline})
	run(t, b, "half", `if [ $GANGD_RANK = 1 ]; then exit 3; fi; exec sleep 1000`, 0, 1)
	e := exit(t, b)
	require.ErrorContains(t, e.Err, "process 1: exit status 3")
	assert.False(t, e.Killed)
	output := run(t, b, "orphans", `echo $$; sleep 1000; exit 0`, 0)
	pid := 0
	eventually(t, func() bool { n, _ := fmt.Sscan(read(t, output), &pid); return n == 1 })
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	require.ErrorContains(t, exit(t, b).Err, "process 0: signal: killed", "though its child ran on")
	assert.Empty(t, marked("orphans"))
}

func TestAGangEndsWithTheLastOfItsProcesses(t *testing.T) {
	b := start(t, local.Config{Nodes: 1})
	output := run(t, b, "late", `(sleep 0.3; echo late) &`, 0)
	e := exit(t, b)
	require.NoError(t, e.Err)
	assert.Equal(t, "late\n", read(t, output))
}

func TestMemoryIsMeasured(t *testing.T) {
	b := start(t, local.Config{Nodes: 2})
	run(t, b, "fat", `if [ $GANGD_RANK = 1 ]; then x=$(head -c 30000000 /dev/zero | tr '\0' x); fi; sleep 1000`, 0, 1)
	eventually(t, func() bool {
		u, err := b.Usage(t.Context(), "fat")
		return err == nil && u.Peak[1] > 25e6
	})
	u, err := b.Usage(t.Context(), "fat")
	require.NoError(t, err)
	assert.Less(t, u.Peak[0], int64(20e6))
	require.NoError(t, b.Kill(t.Context(), "fat", deadline))
	assert.Greater(t, exit(t, b).Usage.Peak[1], int64(25e6))
}

func TestWhatCannotStartLeavesNothing(t *testing.T) {
	b := start(t, local.Config{Nodes: 2})
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("\x7fELF nothing"), 0o755))
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o644))
	for name, g := range map[string]backend.Gang{
		"no program":     {Command: []string{"/no/such/program"}},
		"not executable": {Command: []string{file}},
		"no folder":      {Command: []string{"/bin/true"}, Folder: "/no/such/folder"},
		"no output":      {Command: []string{"/bin/true"}, Output: "/no/such/folder/file"},
		"a pipe":         {Command: []string{"/bin/true"}, Output: pipe},
	} {
		g.ID = strings.ReplaceAll(name, " ", "-")
		require.NoError(t, b.Submit(t.Context(), g, 2))
		require.Error(t, b.Start(t.Context(), g.ID, []int{0, 1}, 0), name)
		assert.Empty(t, marked(g.ID), name)
		assert.ErrorIs(t, b.Continue(t.Context(), g.ID), backend.ErrUnknown, name)
	}
	require.NoError(t, b.Submit(t.Context(), backend.Gang{ID: "a", Command: []string{"/bin/true"}}, 2))
	require.Error(t, b.Submit(t.Context(), backend.Gang{ID: "a", Command: []string{"/bin/true"}}, 2), "known")
	require.Error(t, b.Submit(t.Context(), backend.Gang{ID: "b"}, 2), "no command")
	require.ErrorIs(t, b.Stop(t.Context(), "a"), backend.ErrUnknown, "waits")
	require.NoError(t, b.Kill(t.Context(), "a", 0), "a gang that waits")
	assert.Equal(t, backend.Exit{ID: "a", Killed: true}, exit(t, b))
	for _, c := range []local.Config{{Nodes: -1}, {Memory: -1}, {Grace: -1}, {OnDeath: "pray"}} {
		_, err := local.New(c)
		require.ErrorIs(t, err, local.ErrConfig, "%v", c)
	}
}

// The supervisor is killed, and replaced by one that knows the gangs.
func TestANewSupervisor(t *testing.T) {
	b := start(t, local.Config{Nodes: 1})
	run(t, b, "watched", `exec sleep 1000`, 0)
	for range 3 {
		old := b.Supervisor()
		require.NoError(t, unix.Kill(old, unix.SIGKILL))
		eventually(t, func() bool { return b.Supervisor() != old })
	}
	run(t, b, "next", `exec sleep 1000`, 0)
	require.NoError(t, b.Stop(t.Context(), "next"))
}

// deadGangd is the part of a test in another process, which is killed.
const deadGangd = "GANGKIT_TEST_DEAD_GANGD"

func TestNobodyStaysStopped(t *testing.T) {
	if death := os.Getenv(deadGangd); death != "" {
		b, err := local.New(local.Config{Nodes: 2, OnDeath: local.Death(death), Grace: 200 * time.Millisecond})
		require.NoError(t, err)
		id := os.Getenv("GANGKIT_TEST_GANG")
		// Two sessions outlive who began them, one its own first process as well.
		const loop = `while :; do sleep 0.01; done`
		run(t, b, id, `trap "" TERM; sh -c 'setsid sh -c "`+loop+`" & setsid sh -c "(`+loop+`) & exec sleep 0.2" & sleep 0.5' & `+loop, 0, 1)
		for range 40 {
			_, err := b.Usage(context.Background(), id)
			require.NoError(t, err)
			time.Sleep(20 * time.Millisecond)
		}
		run(t, b, id+"-quick", `exit 0`, 0)
		exit(t, b)
		old := b.Supervisor()
		require.NoError(t, unix.Kill(old, unix.SIGKILL))
		eventually(t, func() bool { return b.Supervisor() != old }) // its successor does its work
		require.NoError(t, b.Stop(context.Background(), id))
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	}
	for _, death := range []local.Death{local.Continue, local.Kill} {
		id := fmt.Sprint("orphan-", death, "-", os.Getpid())
		end := func() {
			for pid := range marked(id) {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		defer end()
		p, err := os.StartProcess("/proc/self/exe", []string{"local.test", "-test.run=^TestNobodyStaysStopped$"}, &os.ProcAttr{
			Env: append(os.Environ(), deadGangd+"="+string(death), "GANGKIT_TEST_GANG="+id)})
		require.NoError(t, err)
		state, err := p.Wait()
		require.NoError(t, err)
		require.Equal(t, "signal: killed", state.String())
		if death == local.Continue {
			eventually(t, func() bool { return all(marked(id), "RSD") }, "everybody runs: %v", marked(id))
			require.GreaterOrEqual(t, len(marked(id)), 6)
			end()
		}
		eventually(t, func() bool { return len(marked(id)) == 0 }, "nobody is left: %v", marked(id))
	}
}

func TestMany(t *testing.T) {
	b := start(t, local.Config{Nodes: 4})
	const n = 100
	go func() {
		for i := range n {
			id := strconv.Itoa(i)
			_ = b.Submit(context.Background(), backend.Gang{ID: id, Command: []string{"/bin/true"}}, 2)
			_ = b.Start(context.Background(), id, []int{i % 4, (i + 1) % 4}, 0)
		}
	}()
	seen := map[string]bool{}
	for range n {
		e := exit(t, b)
		require.NoError(t, e.Err)
		require.False(t, seen[e.ID])
		seen[e.ID] = true
	}
}
