package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
)

func TestRunOnSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	cluster.Need(t)
	c, err := cluster.Start(t.Context(), cluster.Config{Nodes: 2, Share: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	t.Setenv("SLURM_CONF", c.Conf())
	file, log := filepath.Join(c.Folder(), "jobs.toml"), filepath.Join(c.Folder(), "decisions")
	require.NoError(t, os.WriteFile(file, []byte("[[job]]\nname = 'a'\ncount = 3\ncommand = ['/bin/sleep', '1']\nprocesses = 2\nmemory = '100 MB'\n"), 0o644))
	out := program.Succeeds(t, "run", file, "-backend", "slurm", "-quantum", "1s", "-log", log, "-sbatch", "--time=7", "-sbatch", "--nice=3",
		"-socket", filepath.Join(c.Folder(), "socket"))
	require.Contains(t, out, "3 jobs, 0 of them without success")
	jobs, err := exec.Command("squeue", "-h", "-t", "all", "-o", "%j %l %m").CombinedOutput()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a.1 7:00 96M", "a.2 7:00 96M", "a.3 7:00 96M"}, strings.Split(strings.TrimSpace(string(jobs)), "\n"))

	text, err := os.ReadFile(log)
	require.NoError(t, err)
	slots := map[int]bool{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Message string `json:"msg"`
			Slot    int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Message == "admitted" {
			slots[e.Slot] = true
		}
	}
	require.Equal(t, map[int]bool{0: true, 1: true}, slots, "as many as gangs may share a processor")
}
