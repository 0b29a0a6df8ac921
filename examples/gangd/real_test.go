//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gangkit/gangkit/examples/gangd/scheduler"
)

// deadline is generous: the machine may be busy.
const deadline = time.Minute

func eventually(t *testing.T, condition func() bool, message ...any) {
	t.Helper()
	require.Eventually(t, condition, deadline, 10*time.Millisecond, message...)
}

// A process is a gangd of its own.
type process struct {
	*exec.Cmd
	folder      string
	out, errors bytes.Buffer
}

// gangdProcess starts gangd in a folder with a job file.
func gangdProcess(t *testing.T, file string, args ...string) *process {
	t.Helper()
	p := &process{folder: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "jobs.toml"), []byte(file), 0o644))
	p.Cmd = exec.Command("/proc/self/exe", append([]string{"run", "jobs.toml", "-log", "log", "-socket", "socket"}, args...)...)
	p.Dir, p.Stdout, p.Stderr = p.folder, &p.out, &p.errors
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Kill()
		for pid := range p.processes() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	return p
}

// status waits for the end, and returns the exit status.
func (p *process) status(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(2*deadline, func() { _ = p.Process.Signal(unix.SIGQUIT) })
	defer late.Stop()
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

func (p *process) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.folder, name))
	return string(text)
}

type entry struct {
	Message string `json:"msg"`
	Job     string
	Level   string
	Status  string
	Why     string
	Nodes   []int
	Peak    int64
	Memory  int64
}

// log returns the lines of the log that are whole.
func (p *process) log(t *testing.T) (list []entry) {
	t.Helper()
	for line := range strings.Lines(p.read("log")) {
		if strings.HasSuffix(line, "\n") {
			var e entry
			require.NoError(t, json.Unmarshal([]byte(line), &e), line)
			list = append(list, e)
		}
	}
	return list
}

// said returns the entry of a job in the log.
func (p *process) said(t *testing.T, message, job string) *entry {
	t.Helper()
	for _, e := range p.log(t) {
		if e.Message == message && e.Job == job {
			return &e
		}
	}
	return nil
}

// processes returns the states of all processes that gangd started in the folder.
func (p *process) processes() map[int]string {
	states := map[int]string{}
	all, _ := procfs.AllProcs()
	for _, q := range all {
		environment, err := q.Environ()
		if err != nil {
			continue
		}
		ours, gang := false, false
		for _, e := range environment {
			ours = ours || e == "FOLDER="+p.folder
			gang = gang || strings.HasPrefix(e, "GANGD_ID=")
		}
		if !ours || !gang {
			continue
		}
		if s, err := q.Stat(); err == nil && s.State != "Z" && s.State != "X" {
			states[q.PID] = s.State
		}
	}
	return states
}

// job is a job of a shell script. FOLDER tells its processes from those of other tests.
func job(name string, processes int, script string, more ...string) string {
	return fmt.Sprintf("[[job]]\nname = %q\nprocesses = %d\ncommand = [\"/bin/sh\", \"-c\", '''export FOLDER=$PWD; exec /bin/sh -c \"$0\" ''', '''%s''']\n%s\n",
		name, processes, script, strings.Join(more, "\n"))
}

func TestRunJobs(t *testing.T) {
	file := job("hello", 2, "echo $GANGD_RANK of $GANGD_SIZE $1; exit 0", "output = 'hello.out'", "environment = ['X=1']") + job("fails", 1, "exit 7") +
		job("counted", 1, "echo done", "count = 3", "output = 'c'", "user = 'eve'") + job("wide", 9, "exit 0")
	p := gangdProcess(t, file, "-nodes", "3")
	assert.Equal(t, 1, p.status(t), p.errors.String())
	assert.Equal(t, "gangd: run failed: 2 of 6 jobs did not end well\n", p.errors.String())
	assert.ElementsMatch(t, []string{"0 of 2", "1 of 2"}, strings.Split(strings.TrimSpace(p.read("hello.out")), "\n"))
	for _, name := range []string{"c.1", "c.2", "c.3"} {
		assert.Equal(t, "done\n", p.read(name))
	}
	for _, want := range []string{"process 0: exit status 7", "9 processes on 3 nodes", "6 jobs, 2 of them without success"} {
		assert.Contains(t, p.out.String(), want)
	}
	for _, message := range []string{"submitted", "estimated", "admitted", "started", "exited"} {
		require.NotNil(t, p.said(t, message, "counted.2"), message)
	}
	assert.Equal(t, "ok", p.said(t, "exited", "hello").Status)
	assert.NotNil(t, p.said(t, "refused", "wide"))
	assert.NoFileExists(t, filepath.Join(p.folder, "socket"))
}

// What one run learns the next one knows.
func TestMemoryIsLearnt(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	file := job("fat", 1, "x=$(head -c 30000000 /dev/zero | tr \\\\0 x); sleep 0.5", "program = 'fat'", "memory = '1MB'")
	for _, want := range []string{"job file", "path, nodes, user"} {
		p := gangdProcess(t, file, "-history", history, "-quantum", "100ms")
		require.Zero(t, p.status(t), p.errors.String())
		assert.Equal(t, want, p.said(t, "estimated", "fat").Level)
		assert.Greater(t, p.said(t, "exited", "fat").Peak, int64(25e6))
		if want == "job file" {
			assert.NotNil(t, p.said(t, "memory over estimate", "fat"))
		} else {
			assert.Greater(t, p.said(t, "estimated", "fat").Memory, int64(25e6))
		}
	}
}

func TestStatus(t *testing.T) {
	p := gangdProcess(t, job("one", 2, "sleep 1000")+job("two", 2, "sleep 1000", "memory = '900MB'")+job("three", 1, "sleep 1000", "memory = '900MB'"),
		"-nodes", "2", "-quantum", "50ms", "-node-memory", "1GB", "-grace", "100ms")
	socket := filepath.Join(p.folder, "socket")
	eventually(t, func() bool {
		status, out, _ := program.Call(t, "status", "-once", "-socket", socket)
		return status == 0 && strings.Contains(out, "three") && strings.Contains(out, "waits") && strings.Contains(out, "stopped")
	})
	out := program.Succeeds(t, "status", "-json", "-socket", socket)
	var s scheduler.Status
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	assert.Len(t, s.Gangs, 2)
	require.Len(t, s.Queue, 1)
	assert.Equal(t, int64(900e6), s.Queue[0].Memory)
	status, _, stderr := program.Call(t, "run", "-demo", "-socket", socket)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "another gangd")
	require.NoError(t, p.Process.Signal(unix.SIGTERM))
	assert.Equal(t, 1, p.status(t))
}

// gangd is killed in the middle of a quantum, with some jobs stopped and one that waits.
func TestGangdIsKilled(t *testing.T) {
	for _, death := range []string{"continue", "kill"} {
		p := gangdProcess(t, job("a", 2, "while [ ! -e go ]; do sleep 0.05; done; echo $GANGD_RANK >> a.out; sleep 0.1")+
			job("b", 2, "while [ ! -e go ]; do sleep 0.05; done; echo $GANGD_RANK >> b.out; sleep 0.1")+
			job("c", 2, "trap \"\" TERM; while [ ! -e go ]; do sleep 0.05; done; echo $GANGD_RANK >> c.out"),
			"-quantum", "100ms", "-policy", "strict", "-nodes", "2", "-on-death", death, "-grace", "200ms")
		eventually(t, func() bool {
			for _, name := range []string{"a", "b", "c"} {
				if p.said(t, "started", name) == nil {
					return false
				}
			}
			for _, s := range p.processes() {
				if s == "T" {
					return true
				}
			}
			return false
		}, "some are stopped")
		require.NoError(t, p.Process.Signal(unix.SIGKILL))
		p.status(t)
		if death == "continue" {
			eventually(t, func() bool {
				for _, s := range p.processes() {
					if s == "T" {
						return false
					}
				}
				return true
			}, "nobody stays stopped")
			require.GreaterOrEqual(t, len(p.processes()), 6, "nobody is lost")
			require.NoError(t, os.WriteFile(filepath.Join(p.folder, "go"), nil, 0o644))
			eventually(t, func() bool { return len(p.processes()) == 0 }, "all end by themselves")
			for _, name := range []string{"a.out", "b.out", "c.out"} {
				assert.Len(t, strings.Fields(p.read(name)), 2, name)
			}
		}
		eventually(t, func() bool { return len(p.processes()) == 0 }, "nobody is left")
	}
}

func TestAProcessOfAJobIsKilled(t *testing.T) {
	p := gangdProcess(t, job("victim", 2, "echo $$ > pid.$GANGD_RANK; sleep 1000")+job("other", 2, "sleep 0.3; echo fine > other.out"), "-quantum", "50ms", "-nodes", "2", "-grace", "200ms")
	var pid int
	eventually(t, func() bool {
		n, _ := fmt.Sscan(p.read("pid.1"), &pid)
		return n == 1
	})
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	assert.Equal(t, 1, p.status(t))
	assert.Contains(t, p.said(t, "exited", "victim").Status, "process 1: signal: killed")
	assert.Equal(t, "fine\n", p.read("other.out"))
	assert.Empty(t, p.processes())
}

func TestAJobThatDoesNotListen(t *testing.T) {
	p := gangdProcess(t, job("deaf", 1, "trap \"\" TERM; echo ready > ready; while :; do sleep 0.1; done", "limit = '200ms'"), "-quantum", "50ms", "-grace", "200ms")
	assert.Equal(t, 1, p.status(t))
	assert.Equal(t, "time limit", p.said(t, "killed", "deaf").Why)
	assert.Equal(t, "killed", p.said(t, "exited", "deaf").Status)
	assert.Empty(t, p.processes())
}

func TestCtrlC(t *testing.T) {
	for _, signal := range []os.Signal{unix.SIGINT, unix.SIGTERM} {
		p := gangdProcess(t, job("a", 2, "sleep 1000")+job("b", 2, "trap \"\" TERM INT; sleep 1000; sleep 1000")+job("c", 1, "sleep 1000", "memory = '2GB'")+
			job("late", 1, "sleep 1000", "after = '1h'"), "-quantum", "50ms", "-nodes", "2", "-grace", "300ms", "-node-memory", "1GB")
		eventually(t, func() bool {
			return p.said(t, "started", "a") != nil && p.said(t, "started", "b") != nil && p.said(t, "queued", "c") != nil
		})
		require.NoError(t, p.Process.Signal(signal))
		assert.Equal(t, 1, p.status(t))
		assert.Equal(t, "gangd: interrupted\n", p.errors.String())
		assert.Empty(t, p.processes())
		for _, name := range []string{"a", "b", "c"} {
			assert.Equal(t, "killed", p.said(t, "exited", name).Status)
		}
		assert.NotNil(t, p.said(t, "interrupted", ""))
		assert.Contains(t, p.out.String(), "not run")
	}
}

func TestAThousandShortJobs(t *testing.T) {
	t.Parallel()
	n := 1000
	if testing.Short() {
		n = 100
	}
	p := gangdProcess(t, fmt.Sprintf("[[job]]\nname = 'short'\ncommand = ['/bin/true']\nprocesses = 1\ncount = %d\n", n), "-nodes", "4")
	began := time.Now()
	require.Zero(t, p.status(t), p.errors.String())
	t.Logf("%d jobs in %v", n, time.Since(began))
	assert.Less(t, time.Since(began), time.Minute)
	exited := map[string]int{}
	for _, e := range p.log(t) {
		if e.Message == "exited" {
			assert.Equal(t, "ok", e.Status)
			exited[e.Job]++
		}
	}
	assert.Len(t, exited, n)
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	out := program.Succeeds(t, "run", "-demo", "-quantum", "100ms", "-socket", filepath.Join(t.TempDir(), "socket"))
	assert.Contains(t, out, "6 jobs, 0 of them without success")
}

func TestExperiments(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	folder := t.TempDir()
	out := program.Succeeds(t, "experiment", "-quick", "-json", "-out", folder, "-rounds", "2", "figure7", "memory")
	var found findings
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found.Figure7, 6)
	compute, bound := 0., 0.
	for _, m := range found.Figure7 {
		compute += m.Compute.Mean
		bound += m.Bound.Mean
	}
	assert.Positive(t, compute)
	assert.Positive(t, bound)
	require.Len(t, found.Memory, 2)
	first, second := found.Memory[0], found.Memory[1]
	assert.Zero(t, first.Learnt)
	assert.Positive(t, first.TooLow)
	assert.Equal(t, 3, first.Beside)
	assert.Equal(t, 6, second.Learnt)
	assert.Equal(t, 2, second.Beside)
	for _, m := range found.Memory {
		assert.LessOrEqual(t, m.Beyond, int64(0), "beyond the limit by more than the errors of the estimates: %+v", m)
		assert.Greater(t, m.Most, int64(50<<20), "%+v", m)
	}
	for _, name := range []string{"figure7.csv", "figure7.svg", "figure7.png", "memory.csv"} {
		assert.FileExists(t, filepath.Join(folder, name))
	}
}
