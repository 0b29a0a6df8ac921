package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/jobs"
	"github.com/gangkit/gangkit/examples/gangd/scheduler"
)

// here makes a folder with an executable the folder of the test.
func here(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("sub", 0o755))
	require.NoError(t, os.WriteFile("run", []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.WriteFile("sub/run2", []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.WriteFile("text", []byte("no program"), 0o644))
}

func TestAllFields(t *testing.T) {
	here(t)
	list, err := jobs.Parse("jobs.toml", []byte(`
[[job]]
name = "a"
command = ["./run"]
processes = 1

[[job]]
name = "b"
user = "bob"
command = ["./run2", "-x"]
folder = "sub"
output = "out"
environment = ["K=v=w", "L="]
processes = 2
count = 2
memory = "1.5 MiB"
after = "2s"
limit = "1h"
exclusive = true
program = "p"
`), "ada")
	require.NoError(t, err)
	b := scheduler.Job{Name: "b.1", User: "bob", Command: []string{"./run2", "-x"}, Program: "p", Folder: "sub", Output: filepath.Join("sub", "out.1"),
		Environment: []string{"K=v=w", "L="}, Processes: 2, Memory: 3 << 19, After: 2 * time.Second, Limit: time.Hour, Exclusive: true}
	second := b
	second.Name, second.Output = "b.2", filepath.Join("sub", "out.2")
	assert.Equal(t, []scheduler.Job{{Name: "a", User: "ada", Command: []string{"./run"}, Processes: 1}, b, second}, list)
}

func TestErrorsNameThePlace(t *testing.T) {
	here(t)
	const good = "[[job]]\nname = 'a'\ncommand = ['./run']\nprocesses = 1\n"
	for text, want := range map[string]string{
		"":                                              "f:1: job: there is none",
		"# nothing\n":                                   "f:1: job: there is none",
		good + "[[":                                     "f:5:",
		good + "nodes = 3\n":                            "f:5: job.nodes: unknown field",
		"quantum = 3\n" + good:                          "f:1: quantum: unknown field",
		good + "\n" + good:                              "f:7: job.name: \"a\" is that of the job of line 1",
		good + "count = 0\n":                            "f:5: job.count: 0, want",
		good + "count = -3\n":                           "f:5: job.count: -3, want",
		good + "count = 100001\n":                       "f:5: job.count: 100001, want",
		good + "memory = '-5MB'\n":                      "f:5: job.memory: \"-5MB\": want an amount",
		good + "memory = '99999999 TB'\n":               "f:5: job.memory:",
		good + "memory = -5\n":                          "f:5:10: job.memory:",
		good + "after = 5\n":                            "f:5:9: job.after:",
		good + "after = '-1s'\n":                        "f:5: job.after: \"-1s\": want a time",
		good + "limit = 'soon'\n":                       "f:5: job.limit: \"soon\": want a time",
		good + "folder = 'none'\n":                      "f:5: job.folder: \"none\" is no folder",
		good + "folder = 'sub'\n":                       "f:3: job.command:",
		good + "environment = ['x']\n":                  "f:5: job.environment: \"x\"",
		good + "name = 'b'\n":                           "f:5:1:",
		"[[job]]\ncommand = ['./run']\nprocesses = 1\n": "f:1: job.name: missing",
		"[[job]]\nname = 'a/b'\ncommand = ['./run']\nprocesses = 1\n":              "f:2: job.name: name \"a/b\"",
		"[[job]]\nname = 'a'\nprocesses = 1\n":                                     "f:1: job.command: missing",
		"[[job]]\nname = 'a'\ncommand = []\nprocesses = 1\n":                       "f:3: job.command: missing",
		"[[job]]\nname = 'a'\ncommand = 'x'\nprocesses = 1\n":                      "f:3:11: job.command:",
		"[[job]]\nname = 'a'\ncommand = ['./text']\nprocesses = 1\n":               "f:3: job.command: exec: \"./text\": permission denied",
		"[[job]]\nname = 'a'\ncommand = ['no-such-program-x']\nprocesses = 1\n":    "f:3: job.command: exec: \"no-such-program-x\": executable file not found",
		"[[job]]\nname = 'a'\ncommand = [\"./run\", \"\\u0000\"]\nprocesses = 1\n": "f:3: job.command: \"\\x00\" contains",
		"[[job]]\nname = 'a'\ncommand = ['./run']\n":                               "f:1: job.processes: 0, want 1 or more",
		"[[job]]\nname = 'a'\ncommand = ['./run']\n\nprocesses = 0\n":              "f:5: job.processes: 0, want 1 or more",
		"[[job]]\nname = 'a'\ncommand = ['./run']\nprocesses = 1.5\n":              "f:4:13: job.processes:",
		"\n[job]\nname = 'a'\ncommand = ['./run']\nprocesses = 0\n":                "f:5: job.processes: 0, want 1 or more",
		"job = [{name = 'a'}]\n":                                                   "f:1: job.command: missing",
	} {
		list, err := jobs.Parse("f", []byte(text), "ada")
		require.ErrorIs(t, err, jobs.ErrJobs, text)
		assert.Nil(t, list)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%s\nis %q\nwant %q", text, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
	_, err := jobs.Read("none.toml", "")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"[[job]]\nname='a'\ncommand=['true']\nprocesses=1\ncount=3", "job = [{name='a', command=['true'], processes=1}]", "[[job]]\n[job.x]\n", "[[job.y]]", "[[job]]\na.b.c=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := jobs.Parse("f", []byte(text), "ada")
		if err == nil {
			require.NotEmpty(t, list)
			require.NoError(t, scheduler.Check(list))
		} else {
			require.NotContains(t, err.Error(), "\n")
		}
	})
}
