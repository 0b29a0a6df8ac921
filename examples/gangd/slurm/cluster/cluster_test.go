package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
)

// This binary, called again by a test, starts a cluster and is killed.
const child = "GANGD_CLUSTER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	c, err := cluster.Start(context.Background(), cluster.Config{Nodes: 2})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.Folder())
	select {}
}

func needSlurm(t *testing.T) context.Context {
	t.Helper()
	cluster.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestImpossibleClustersAreRefused(t *testing.T) {
	for name, c := range map[string]cluster.Config{
		"no nodes":               {},
		"too many nodes":         {Nodes: 257},
		"negative processors":    {Nodes: 1, CPUs: -1},
		"no memory":              {Nodes: 1, Memory: 1<<20 - 1},
		"negative share":         {Nodes: 1, Share: -1},
		"a slot below Slurm's":   {Nodes: 1, Slot: 4 * time.Second},
		"a slot of many hours":   {Nodes: 1, Slot: 24 * time.Hour},
		"half a second":          {Nodes: 1, Slot: 5500 * time.Millisecond},
		"a negative slot":        {Nodes: 1, Slot: -time.Second},
		"more shares than it is": {Nodes: 1, Share: 1025},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cluster.Start(t.Context(), c)
			require.ErrorIs(t, err, cluster.ErrConfig)
		})
	}
}

func TestASettingThatSlurmRefusesIsTold(t *testing.T) {
	ctx := needSlurm(t)
	_, err := cluster.Start(ctx, cluster.Config{Nodes: 1, Settings: []string{"NoSuchSetting=1"}})
	require.ErrorContains(t, err, "NoSuchSetting")
}

func TestJobsRunAndStopLeavesNothing(t *testing.T) {
	ctx := needSlurm(t)
	c, err := cluster.Start(ctx, cluster.Config{Nodes: 4, Memory: 2 << 30})
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Stop()) }()

	out, err := c.Command(ctx, "srun", "-N4", "-n4", "sh", "-c", "echo $SLURMD_NODENAME").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.ElementsMatch(t, []string{"n1", "n2", "n3", "n4"}, strings.Fields(string(out)))

	// Only 127.0.0.1 answers.
	conf, err := os.ReadFile(c.Conf())
	require.NoError(t, err)
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	ports := 0
	for word := range strings.FieldsSeq(string(conf)) {
		port, ok := strings.CutPrefix(word, "Port=")
		if !ok {
			port, ok = strings.CutPrefix(word, "SlurmctldPort=")
		}
		if !ok {
			continue
		}
		ports++
		require.True(t, answers("127.0.0.1", port))
		for _, a := range addresses {
			if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
				assert.False(t, answers(ip.IP.String(), port))
			}
		}
	}
	require.Equal(t, 5, ports)

	// A job that would go on for ever, with a process that has left its session.
	submit := c.Command(ctx, "sbatch", "-N2", "-n2", "-o", "/dev/null", "--wrap", "srun sh -c 'trap \"\" TERM; setsid sleep 4000'")
	out, err = submit.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Eventually(t, func() bool { return len(of(t, c, "sleep")) == 2 }, 20*time.Second, 20*time.Millisecond)

	require.NoError(t, c.Stop())
	require.Empty(t, of(t, c, ""))
	require.NoDirExists(t, c.Folder())
	require.NoError(t, c.Stop(), "again")
}

func TestNodesAndControllerAreKilledAndStarted(t *testing.T) {
	ctx := needSlurm(t)
	c, err := cluster.Start(ctx, cluster.Config{Nodes: 2})
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Stop()) }()
	out, err := c.Command(ctx, "sbatch", "-N2", "-n2", "-o", "/dev/null", "--wrap", "srun sleep 4000").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Eventually(t, func() bool { return len(of(t, c, "sleep")) == 2 }, 20*time.Second, 20*time.Millisecond)

	require.NoError(t, c.KillDaemon(1))
	require.Len(t, of(t, c, "sleep"), 2)
	require.Len(t, of(t, c, "slurmd"), 1)
	require.NoError(t, c.StartNode(ctx, 1))
	require.Len(t, of(t, c, "slurmd"), 2)

	now := time.Now()
	require.Eventually(t, func() bool { return c.Saved().After(now) }, 30*time.Second, 100*time.Millisecond)
	require.NoError(t, c.KillController())
	require.NoError(t, c.StartController(ctx, false))
	out, err = c.Command(ctx, "squeue", "-h", "-o", "%T").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "RUNNING\n", string(out))

	require.NoError(t, c.KillNode(1))
	require.Len(t, of(t, c, "slurmd"), 1)
	require.LessOrEqual(t, len(of(t, c, "sleep")), 1)

	require.NoError(t, c.KillController())
	require.NoError(t, c.StartNode(ctx, 1), "with the controller down")
}

func TestNothingIsLeftOfAKilledProgram(t *testing.T) {
	needSlurm(t)
	self, err := os.Executable()
	require.NoError(t, err)
	program := exec.Command(self)
	program.Env = append(os.Environ(), child+"=1")
	stdout, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	folder, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	folder = strings.TrimSpace(folder)
	require.DirExists(t, folder)
	require.NoError(t, program.Process.Kill())
	_ = program.Wait()
	require.Eventually(t, func() bool {
		_, err := os.Stat(folder)
		return os.IsNotExist(err)
	}, 20*time.Second, 20*time.Millisecond)
}

func answers(host, port string) bool {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// of returns the processes of the cluster that have the name, or all.
func of(t *testing.T, c *cluster.Cluster, name string) []int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	var found []int
	for _, path := range paths {
		environment, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(environment), c.Conf()+"\x00") {
			continue
		}
		comm, err := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
		if err != nil || name != "" && strings.TrimSpace(string(comm)) != name {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		found = append(found, pid)
	}
	return found
}
