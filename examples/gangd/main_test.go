package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/local"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/kit/command/commandtest"
)

var program = commandtest.Program{Name: "gangd", Run: gangd}

// asGangd makes this test binary gangd, as jobs and tests call it.
const asGangd = "GANGKIT_TEST_GANGD"

func TestMain(m *testing.M) {
	local.Helper()
	if os.Getenv(asGangd) != "" {
		main()
	}
	os.Setenv(asGangd, "1")
	os.Exit(m.Run())
}

func TestHelpTeaches(t *testing.T) {
	for args, want := range map[string]string{
		"-h": "gangd status", "run -h": "Batat and Feitelson", "status -h": "matrix", "experiment -h": "Fig. 7", "work -h": "work loop", "work stream -h": "Fig. 4",
	} {
		assert.Contains(t, program.Succeeds(t, strings.Fields(args)...), want)
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range []string{
		"", "walk", "-x", "run", "run -demo x.toml", "run x.toml y.toml", "run -demo -policy fair", "run -demo -quantum 1us", "run -demo -quantum -1s",
		"run -demo -quantum 0", "run -demo -C 0", "run -demo -grace 0", "run -demo -default-memory 0",
		"run -demo -C -1", "run -demo -C NaN", "run -demo -slots -1", "run -demo -grace -1s", "run -demo -default-memory much", "run -demo -node-memory -5MB",
		"run -demo -nodes -1", "run -demo -backend cloud", "run -demo -on-death pray", "run -demo -log /no/such/folder/log", "run -demo -socket /no/such/folder/socket",
		"run none.toml", "run -policy strict none.toml",
		"status x", "status -every 1ns", "experiment figure9", "experiment -quantum 1ms", "experiment -rounds 0", "experiment -runs 0", "experiment -loop 0", "experiment -log /no/such/folder/log",
		"work", "work sleep",
	} {
		fields := strings.Fields(args)
		if len(fields) > 0 && fields[0] == "run" { // not at the socket of a gangd that is at work
			fields = slices.Insert(fields, 1, "-socket", filepath.Join(t.TempDir(), "socket"))
		}
		program.Refuses(t, fields...)
	}
}

func TestOtherCommandsAreTold(t *testing.T) {
	for args, want := range map[string]string{
		"walk": "gangd: \"walk\": want run, status, experiment or work\n", "work sleep": "gangd: work what? loop or stream; -h explains\n",
	} {
		_, _, stderr := program.Call(t, strings.Fields(args)...)
		assert.Equal(t, want, stderr)
	}
}

func TestBadJobFilesAreRefused(t *testing.T) {
	const good = "[[job]]\nname = 'a'\ncommand = ['/bin/sh', '-c', 'touch ran']\nprocesses = 1\n"
	for text, want := range map[string]string{
		good + "nodes = 2\n": "jobs.toml:5: job.nodes: unknown field",
		good + good:          "jobs.toml:6: job.name: \"a\" is that of the job of line 1",
		good + "[[job]]\nname = 'b'\ncommand = ['/no/such']\nprocesses = 1\n":                  "jobs.toml:7: job.command: ",
		good + "[[job]]\nname = 'b'\ncommand = ['/bin/sh']\nprocesses = 0\n":                   "jobs.toml:8: job.processes: 0",
		good + "[[job]]\nname = 'b'\ncommand = ['/bin/sh']\nprocesses = 1\nmemory = '-1 MB'\n": "jobs.toml:9: job.memory: ",
	} {
		t.Chdir(t.TempDir())
		require.NoError(t, os.WriteFile("jobs.toml", []byte(text), 0o644))
		status, stdout, stderr := program.Call(t, "run", "jobs.toml", "-socket", "socket")
		assert.Equal(t, 2, status)
		assert.Empty(t, stdout)
		assert.True(t, strings.HasPrefix(stderr, "gangd: "+want), "%q, want %q", stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"))
		assert.NoFileExists(t, "ran", "nothing is started")
	}
}

func TestADamagedHistoryIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("history", []byte("this is no history"), 0o644))
	status, stdout, stderr := program.Call(t, "run", "-demo", "-history", "history", "-socket", "socket")
	assert.Equal(t, 2, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "gangd: -history history: ")
	assert.Contains(t, stderr, "not a snapshot, or damaged\n")
	text, err := os.ReadFile("history")
	require.NoError(t, err)
	assert.Equal(t, "this is no history", string(text), "it is left as it was")
}

func TestStatusWithoutGangd(t *testing.T) {
	status, stdout, stderr := program.Call(t, "status", "-socket", filepath.Join(t.TempDir(), "none"))
	assert.Equal(t, 1, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "no gangd runs")
}

func TestTheStateAsText(t *testing.T) {
	text := draw(&scheduler.Status{
		Policy: scheduler.Paired, Slot: 1, Partner: 0, Partners: []int{1, 0}, Quanta: 7,
		Slots: [][]string{{"a", "a"}, {"b", ""}},
		Nodes: []scheduler.NodeStatus{{Name: "node0", Limit: 1 << 30, Used: 1 << 20}, {Name: "node1", Limit: 1<<63 - 1}},
		Gangs: []scheduler.GangStatus{{Name: "a", State: "running", Share: .25, Measured: true}, {Name: "b", Slot: 1, State: "running", Share: 1}},
		Queue: []scheduler.QueueStatus{{Name: "c", Processes: 2, Memory: 1 << 20, Skips: 3}},
	})
	for _, want := range []string{"number 7", "runs", "beside", "node1", "1.0 MiB of 1.0 GiB", "0 B of no limit", "0.25", "c          2  1.0 MiB        3"} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, "gangd begins\n", draw(nil))
	assert.Equal(t, "abc\nde\n", clip("abcdef\nde\nf\n", 4, 2))
}
