package slurm

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

func TestVersions(t *testing.T) {
	for s, want := range map[string][2]int{
		"slurm 20.02.7\n":       {20, 2},
		"slurm-wlm 22.05.8":     {22, 5},
		"slurm 24.11.0-0rc1":    {24, 11},
		"slurm 25.05.1 (patch)": {25, 5},
	} {
		major, minor, err := parseVersion(s)
		require.NoError(t, err)
		require.Equal(t, want, [2]int{major, minor})
	}
	for _, s := range []string{"", "slurm", "slurm x.y", "22.05", "slurm -1.5"} {
		_, _, err := parseVersion(s)
		require.ErrorIs(t, err, errFormat, "%q", s)
	}
}

func TestSettings(t *testing.T) {
	got := parseSettings("Configuration data as of 2026-11-21T04:22:19\nAccountingStorageType   = accounting_storage/none\n" +
		"AuthInfo                = socket=/run/x\nEmpty =\n\nSlurmctld(primary) at vm is UP\n")
	require.Equal(t, map[string]string{
		"AccountingStorageType": "accounting_storage/none", "AuthInfo": "socket=/run/x", "Empty": "",
	}, got)
}

func TestNodes(t *testing.T) {
	const form = "NodeName=%s Arch=x86_64 NodeAddr=10.0.0.1 OS=Linux 6.1 #1 SMP RealMemory=1000 AllocMem=0 FreeMem=7 " +
		"MemSpecLimit=24 State=%s ThreadsPerCore=1 Partitions=%s  Reason=not RealMemory=5 [root@2026]\n"
	nodes, err := parseNodes(
		fmt.Sprintf(form, "a", "IDLE", "batch")+
			fmt.Sprintf(form, "b", "MIXED+PLANNED", "other,batch")+
			fmt.Sprintf(form, "c", "IDLE", "other")+
			fmt.Sprintf(form, "d", "IDLE+DRAIN", "batch")+
			fmt.Sprintf(form, "e", "DOWN*", "batch")+
			fmt.Sprintf(form, "f", "ALLOCATED*+NOT_RESPONDING", "batch")+
			fmt.Sprintf(form, "h", "DOWN*+CLOUD", "batch")+ // before 21.08
			fmt.Sprintf(form, "i", "DRAINED~+POWER", "batch")+
			fmt.Sprintf(form, "j", "IDLE*", "batch")+
			fmt.Sprintf(form, "k", "IDLE~+CLOUD", "batch")+
			"NodeName=g RealMemory=0 State=IDLE Partitions=batch\nNo nodes in the system\n\n", "batch")
	require.NoError(t, err)
	memory := int64(976 << 20)
	require.Equal(t, []node{
		{backend.Node{Name: "a", Memory: memory}, "10.0.0.1", true},
		{backend.Node{Name: "b", Memory: memory}, "10.0.0.1", true},
		{backend.Node{Name: "d", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "e", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "f", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "h", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "i", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "j", Memory: memory}, "10.0.0.1", false},
		{backend.Node{Name: "k", Memory: memory}, "10.0.0.1", true},
		{backend.Node{Name: "g"}, "g", true},
	}, nodes)
	for _, wrong := range []string{"", "x", "-1", "8796093022208", "99999999999999999999"} {
		_, err := parseNodes("NodeName=a State=IDLE Partitions=batch RealMemory="+wrong, "batch")
		require.ErrorIs(t, err, errFormat)
	}
	_, err = parseNodes("NodeName=a State=IDLE Partitions=batch RealMemory=5 MemSpecLimit=6", "batch")
	require.ErrorIs(t, err, errFormat)
}

func TestShares(t *testing.T) {
	for s, want := range map[string]int{"FORCE:4": 4, "YES:3": 3, "NO": 1, "EXCLUSIVE": 1, "FORCE:0": 1, "FORCE:x": 1, "": 1} {
		require.Equal(t, want, parseShare("PartitionName=p QoS=N/A\tOverSubscribe="+s+" OverTimeLimit=NONE\n"))
	}
}

func TestRows(t *testing.T) {
	got := parseRows("1|PENDING|N/A|Resources|gangd a u\n" +
		"2|RUNNING|2026-11-21T04:22:18|None|of|some\n3|COMPLETED|x|None|lines|\n" +
		"1|COMPLETED|N/A|None|\n|RUNNING|x|y|z\n0|RUNNING|x|y|z\n-4|RUNNING|x|y|z\n4||x|y|z\n5|RUNNING|x|y\n\n")
	require.Equal(t, map[int64]row{
		1: {1, "PENDING", "N/A", "Resources", "gangd a u"},
		2: {2, "RUNNING", "2026-11-21T04:22:18", "None", "of|some"},
		3: {3, "COMPLETED", "x", "None", "lines|"},
	}, got)
}

func TestStates(t *testing.T) {
	for _, state := range []string{"PENDING", "CONFIGURING", "COMPLETING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "NEW_WORD", ""} {
		require.False(t, ended(state) || running(state), state)
		require.Equal(t, state == "REQUEUE_HOLD" || state == "SPECIAL_EXIT", requeued(state), state)
	}
	for _, state := range []string{"RUNNING", "STOPPED", "SUSPENDED"} {
		require.True(t, running(state) && !ended(state), state)
	}
	for _, state := range []string{"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"} {
		require.True(t, ended(state) && !running(state), state)
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "97520298": 97520298, "3280K": 3280 << 10, "1.50G": 3 << 29, "2M": 2 << 20, "0.5K": 512, "1T": 1 << 40, "1P": 1 << 50,
	} {
		got, err := parseBytes(s)
		require.NoError(t, err)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "K", "-1K", "1X", "NaN", "Inf", "InfK", "1e300", "4611686018427387904", "99999999P"} {
		_, err := parseBytes(s)
		require.ErrorIs(t, err, errFormat, s)
	}
}

func TestTimes(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"00:00:00":     0,
		"00:01.500":    1500 * time.Millisecond,
		"59:59":        time.Hour - time.Second,
		"01:02:03":     time.Hour + 2*time.Minute + 3*time.Second,
		"1-00:00:01":   24*time.Hour + time.Second,
		"120:00:00":    120 * time.Hour,
		"00:00:00.057": 57 * time.Millisecond,
	} {
		got, err := parseDuration(s)
		require.NoError(t, err)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{"", "5", "a:b", "1:2:3:4", "-00:01", "1--00:01", "00:-1:00", "00:61", "00:NaN", "2147483647-00:00:00", "1:99999999999:00"} {
		_, err := parseDuration(s)
		require.ErrorIs(t, err, errFormat, s)
	}
}

func TestUsageOfSteps(t *testing.T) {
	got := parseUsage("1.batch|1|9076K|9076K|cpu=00:00:00,mem=9076K\n" +
		"1.0|2|3242K|3280K|cpu=00:00:06,energy=0,fs/disk=55178,mem=6484K,pages=0\n" +
		"2.0|1|97520298|136204K|fs/disk=0,cpu=1-00:00:01\n" +
		"3.0|||\n4.0|0|1K|1K|cpu=00:00:00\n5.0|1|1K|1K|mem=1K\n6.1|1|1K|1K|cpu=00:00:00\n")
	require.Equal(t, map[int64]sample{
		1: {6 * time.Second, 3242 << 10, 3280 << 10},
		2: {24*time.Hour + time.Second, 97520298, 136204 << 10},
	}, got)
	require.Equal(t, 2, parseProcesses("1.0|n3|7462,7453\n1.0|n7|7473\n1.0|n8|\n\n"))
}

func TestRecordsOfTheAccounting(t *testing.T) {
	got := parseRecords("7|COMPLETED|0:0||00:00.057\n7.batch|COMPLETED|0:0|5000K|00:00.010\n7.0|COMPLETED|0:0|54420K|00:01.047\n" +
		"8|CANCELLED by 1000|0:15||00:00:00\n9|FAILED|3:0||\n10.0|RUNNING|0:0||00:00:00\nx|y\n")
	require.Equal(t, map[int64]record{
		7:  {state: "COMPLETED", cpu: 1047 * time.Millisecond, peak: 54420 << 10},
		8:  {state: "CANCELLED", signal: 15},
		9:  {state: "FAILED", code: 3},
		10: {},
	}, got)
}

func TestRequestsCoverEstimates(t *testing.T) {
	for _, c := range []struct {
		margin float64
		memory int64
		want   int64
	}{
		{0, 1, 1}, {0, 1 << 20, 1}, {0, 1<<20 + 1, 2}, {0, 100 << 20, 100}, {.5, 100 << 20, 150}, {.1, 1 << 20, 2},
		{0, math.MaxInt64, 1 << 40}, {100, math.MaxInt64, 1 << 40}, {0, 0, 1}, {0, -5, 1},
	} {
		b := Backend{config: Config{Margin: c.margin}}
		require.Equal(t, c.want, b.request(c.memory), "%v", c)
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for _, c := range []Config{{Margin: -.1}, {Margin: math.NaN()}, {Margin: math.Inf(1)}, {Period: -1}} {
		_, err := New(c)
		require.ErrorIs(t, err, ErrConfig, "%v", c)
	}
}

func TestFailuresAreToldApart(t *testing.T) {
	said := func(s string) error { return fmt.Errorf("about a gang: %w", &commandError{"scontrol", s}) }
	for _, s := range []string{
		"slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
		"scancel: error: Kill job error on job id 3: Socket timed out on send/recv operation",
		"Unexpected message received for job 1",
		"sbatch: error: Batch job submission failed: Slurm temporarily unable to accept job, sleeping and retrying",
		"slurm_load_jobs error: Slurm backup controller in standby mode",
		"slurm_load_jobs error: Zero Bytes were transmitted or received",
		"error: If munged is up, restart with --num-threads=10",
		"Job can not be altered now, try again later",
	} {
		assert.True(t, transient(said(s)), s)
		assert.False(t, gone(said(s)), s)
	}
	for _, s := range []string{
		"scancel: error: Kill job error on job id 9: Invalid job id specified",
		"Job has already finished for job 6",
		"scancel: error: Kill job error on job id 6: Job/step already completing or completed",
	} {
		assert.True(t, gone(said(s)), s)
		assert.False(t, transient(said(s)), s)
	}
	for _, s := range []string{"Requested node configuration is not available", "Access/permission denied"} {
		assert.False(t, gone(said(s)) || transient(said(s)), s)
	}
	assert.False(t, transient(nil) || gone(nil) || transient(exec.ErrNotFound))
}

func TestTheEnvironmentOfCommandsIsClean(t *testing.T) {
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_NNODES", "SBATCH_PARTITION", "SQUEUE_FORMAT", "SCANCEL_USER", "SRUN_EXPORT_ENV"} {
		t.Setenv(name, "evil")
	}
	t.Setenv("SLURM_CONF", "/site/slurm.conf")
	t.Setenv("SLURMY", "kept")
	all := strings.Join(environment(""), "\n")
	require.NotContains(t, all, "evil")
	require.Contains(t, all, "SLURMY=kept")
	require.Contains(t, all, "SLURM_CONF=/site/slurm.conf")
	require.Contains(t, environment("/mine"), "SLURM_CONF=/mine")
	require.NotContains(t, environment("/mine"), "SLURM_CONF=/site/slurm.conf")
}

func TestLabelsAndComments(t *testing.T) {
	require.Equal(t, "a b?c?d?", label("a b\nc\x00d\xff"))
	require.Equal(t, "x"+strings.Repeat("ü", 49), label("x"+strings.Repeat("ü", 200)), "100 bytes, and whole letters")
	for want, numbers := range map[string][]int{"": nil, "7": {7}, "0-2": {0, 1, 2}, "3,0-1,5,4,7-8": {3, 0, 1, 5, 4, 7, 8}, "1,1": {1, 1}} {
		require.Equal(t, want, ranges(numbers))
	}
	g := backend.Gang{ID: "j-1", User: "A User: address=x:1"}
	c := comment(g, "me", "address=n1:20001 nodes=0")
	require.Equal(t, "gangd j-1 A_User_address_x_1 by=me address=n1:20001 nodes=0", c)
	b := Backend{name: "me"}
	require.True(t, b.belongs(c, "j-1"))
	require.True(t, b.belongs("gangd j-1 - by=me", "j-1"))
	require.False(t, b.belongs(c, "j"))
	require.False(t, b.belongs("gangd j-1 - by=mea", "j-1"))
	require.False(t, b.belongs("gangd j-1 by=me", "j-2"))
	require.Equal(t, "gangd j-1 - by=me", comment(backend.Gang{ID: "j-1"}, "me", ""))
}

func FuzzOutputIsReadWithoutHarm(f *testing.F) {
	for _, s := range []string{
		"slurm 22.05.8", "1|PENDING|N/A|Resources|gangd a u\n", "1.0|2|3242K|3280K|cpu=00:00:06,mem=6484K\n", "1.0|n3|7462,7453\n",
		"7|COMPLETED|0:0|1K|00:00.057\n7.0|COMPLETED|0:0|54420K|00:01.047", "NodeName=a RealMemory=7 State=IDLE Partitions=p", "1-2:3:4.5", "1.5G", "3:9",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _, _ = parseVersion(s)
		parseSettings(s)
		if nodes, err := parseNodes(s, "p"); err == nil {
			for _, n := range nodes {
				require.NotEmpty(t, n.Name)
				require.GreaterOrEqual(t, n.Memory, int64(0))
			}
		}
		for job, r := range parseRows(s) {
			require.Positive(t, job)
			require.Equal(t, job, r.job)
		}
		if code, signal, err := parseStatus(s); err == nil {
			require.True(t, code >= 0 && signal >= 0)
		}
		if n, err := parseBytes(s); err == nil {
			require.GreaterOrEqual(t, n, int64(0))
		}
		if d, err := parseDuration(s); err == nil {
			require.GreaterOrEqual(t, d, time.Duration(0))
		}
		for job, u := range parseUsage(s) {
			require.Positive(t, job)
			require.GreaterOrEqual(t, u.cpu, time.Duration(0))
			require.True(t, 0 <= u.resident && u.resident <= u.peak)
		}
		parseProcesses(s)
		for job, r := range parseRecords(s) {
			require.Positive(t, job)
			require.True(t, r.peak >= 0 && r.cpu >= 0)
		}
	})
}

// A word goes through the shell as it is, and no line of a script looks like one of a
// foreign system's.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "\r\n", "\n#SBATCH -n 9\n", "$x `y` \\ \"", "\xff", "'\r'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") {
			t.Skip("not a word")
		}
		quoted := quote(s)
		require.NotContains(t, quoted, "\r")
		out, err := exec.Command("/bin/sh", "-c", "GANGD_RETURN=$(printf '\\r'); printf %s "+quoted).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, s, string(out))
	})
}
