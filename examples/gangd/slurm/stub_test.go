package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/backend"
)

// stub replaces the commands of Slurm by scripts that print files, for what a real one does
// rarely, or only with services that are not at hand.
type stub struct {
	t      *testing.T
	folder string
}

func newStub(t *testing.T) stub {
	folder, err := os.MkdirTemp("", "gangd-stub-")
	require.NoError(t, err)
	t.Cleanup(func() { // a leash may still write there
		require.Eventually(t, func() bool { return os.RemoveAll(folder) == nil }, 30*time.Second, time.Millisecond)
	})
	s := stub{t, folder}
	for name, script := range map[string]string{
		"scontrol": `case "$1 $2" in
"--version "*) cat version ;;
"show config") cat config ;;
"-a show") [ $3 = partition ] || cat nodes ;;
"show job") cat job ;;
"update "*)
	for word; do
		case $word in Comment=*) word=${word#*=}; printf "%s\n" "$word" >comment; [ ${#word} -le 1024 ] || exit 1 ;; esac
	done ;;
esac`,
		"sinfo": `case $* in *-a*) cat partitions ;; esac`, // that are hidden
		"squeue": `case $* in
*"-o %k") cat comment ;;
*"-o %A %T %k") [ ! -e down ] && cat leash ;;
*" -s "*) cat steps ;;
*) cat rows ;;
esac`,
		"srun":    `shift; for node in $(cat where); do SLURMD_NODENAME=$node "$@"; done`,
		"sacct":   "cat records",
		"sstat":   "cat usage",
		"scancel": "cat forbidden >&2; [ ! -s forbidden ]",
		"sbatch":  "cat >script; cat refusal >&2; [ ! -s refusal ] && cat submitted",
	} {
		s.write(name, "#!/bin/sh\ncd "+s.folder+" || exit 1\necho "+name+` "$@" >>calls`+"\n"+script+"\n")
		require.NoError(t, os.Chmod(filepath.Join(s.folder, name), 0o755))
	}
	for name, text := range map[string]string{
		"version": "slurm 23.11.1", "config": "AccountingStorageType = accounting_storage/slurmdbd\n",
		"nodes":      "NodeName=a NodeAddr=a RealMemory=100 State=IDLE Partitions=p\n",
		"partitions": "p*\n", "submitted": "7;cluster\n", "rows": "", "records": "", "usage": "", "job": "", "steps": "", "forbidden": "", "refusal": "",
	} {
		s.write(name, text)
	}
	s.write("slurm.conf", "")
	t.Setenv("SLURM_CONF", filepath.Join(s.folder, "slurm.conf")) // without it a leash does not go on
	t.Setenv("PATH", s.folder+":/usr/bin:/bin")
	return s
}

func (s stub) write(name, text string) {
	s.t.Helper()
	temporary := filepath.Join(s.folder, "."+name)
	require.NoError(s.t, os.WriteFile(temporary, []byte(text), 0o644))
	require.NoError(s.t, os.Rename(temporary, filepath.Join(s.folder, name)))
}

func (s stub) calls(prefix string) int {
	text, err := os.ReadFile(filepath.Join(s.folder, "calls"))
	require.NoError(s.t, err)
	return strings.Count("\n"+string(text), "\n"+prefix)
}

func (s stub) open() *Backend {
	s.t.Helper()
	b, err := New(Config{Period: 5 * time.Millisecond})
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		b.cancel() // what is left cannot be ended
		require.NoError(s.t, b.Close())
	})
	return b
}

// row is what squeue says of the job of a gang.
func (s stub) row(b *Backend, state, id string) {
	s.t.Helper()
	s.write("rows", "7|"+state+"|x|None|gangd "+id+" - by="+b.name+"\n")
}

func (s stub) submit(b *Backend) {
	s.t.Helper()
	require.NoError(s.t, b.Submit(s.t.Context(), backend.Gang{ID: "g", Command: []string{"x"}}, 1))
}

func (s stub) exit(b *Backend) backend.Exit {
	s.t.Helper()
	select {
	case exit := <-b.Exits():
		return exit
	case <-time.After(30 * time.Second):
		s.t.Fatal("no exit")
		panic(0)
	}
}

func TestTheAccountingKnowsMoreThanSamples(t *testing.T) {
	s := newStub(t)
	b := s.open()
	s.submit(b)
	s.write("records", "7|OUT_OF_MEMORY|0:125||00:00\n7.0|OUT_OF_MEMORY|0:125|54420K|00:01.047\n")
	s.row(b, "OUT_OF_MEMORY", "g")
	exit := s.exit(b)
	require.Equal(t, &JobError{Job: 7, State: "OUT_OF_MEMORY", Signal: 125}, exit.Err)
	require.Equal(t, 1047*time.Millisecond, exit.Usage.CPU)
	require.Equal(t, []int64{54420 << 10}, exit.Usage.Peak)
	require.Equal(t, []int64{0}, exit.Usage.Resident)
	require.False(t, exit.Usage.Measured.IsZero())
}

func TestTheAccountingMayBeLate(t *testing.T) {
	s := newStub(t)
	b := s.open()
	s.write("records", "7|RUNNING|0:0||00:00\n7.0|COMPLETED|0:0|0|00:01.047\n")
	s.write("job", "JobId=7 JobName=g JobState=FAILED ExitCode=3:0\n")
	s.submit(b)
	s.row(b, "FAILED", "g")
	exit := s.exit(b)
	require.Equal(t, &JobError{Job: 7, State: "FAILED", Code: 3}, exit.Err)
	require.Equal(t, 1047*time.Millisecond, exit.Usage.CPU)
}

func TestTheAccountingKnowsForgottenJobs(t *testing.T) {
	s := newStub(t)
	b := s.open()
	s.write("records", "7|COMPLETED|0:0||00:00\n7.0|COMPLETED|0:0|1K|00:01\n")
	s.submit(b)
	require.NoError(t, s.exit(b).Err)

	s.write("rows", "7|COMPLETED|x|None|a stranger's\n")
	s.submit(b)
	require.Equal(t, &JobError{Job: 7, State: Forgotten}, s.exit(b).Err)

	s.write("rows", "")
	s.write("records", "7|RUNNING|0:0||00:00\n")
	s.submit(b)
	require.Equal(t, &JobError{Job: 7, State: Forgotten}, s.exit(b).Err)
}

func TestASubmissionWhoseAnswerWasLostIsNotRepeated(t *testing.T) {
	s := newStub(t)
	b := s.open()
	s.write("refusal", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
	by := " - by=" + b.name + "\n"
	s.write("rows", "10|COMPLETED|x|None|gangd g"+by+"11|PENDING|x|None|gangd g2"+by+"9|PENDING|x|JobHeldUser|gangd g"+by+
		"12|PENDING|x|JobHeldUser|gangd g - by=ANOTHER\n")
	s.submit(b)
	require.Equal(t, 1, s.calls("sbatch"))
	require.Equal(t, int64(9), b.gangs["g"].job)

	// It was not submitted, and is once it can be.
	s.write("rows", "")
	go func() {
		time.Sleep(200 * time.Millisecond)
		s.write("refusal", "")
	}()
	require.NoError(t, b.Submit(t.Context(), backend.Gang{ID: "h", Command: []string{"x"}}, 1))

	// What is not transient is not tried again.
	s.write("refusal", "sbatch: error: Batch job submission failed: Invalid account")
	before := s.calls("sbatch")
	err := b.Submit(t.Context(), backend.Gang{ID: "i", Command: []string{"x"}}, 1)
	require.ErrorContains(t, err, "Invalid account")
	require.Equal(t, before+1, s.calls("sbatch"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	s.write("refusal", "sbatch: error: Unable to contact slurm controller")
	require.ErrorIs(t, b.Submit(ctx, backend.Gang{ID: "i", Command: []string{"x"}}, 1), context.DeadlineExceeded)
}

// A job that slurmctld has taken, while sbatch was not waited for, is cancelled in the end.
func TestNoJobIsLeftOfASubmissionThatFailed(t *testing.T) {
	s := newStub(t)
	b := s.open()
	s.write("leash", "7 PENDING gangd g - by="+b.name+"\n8 PENDING gangd g - by=ANOTHER\n")
	s.write("sbatch", "#!/bin/sh\ncut -d' ' -f5 /proc/$$/stat >"+s.folder+"/group; exec sleep 1000")
	require.NoError(t, os.Chmod(filepath.Join(s.folder, "sbatch"), 0o755))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.Submit(ctx, backend.Gang{ID: "g", Command: []string{"x"}}, 1), context.DeadlineExceeded)
	s.write("down", "") // slurmctld is, for a while
	require.NoError(t, b.Close())
	require.Eventually(t, func() bool { return s.calls("squeue -h -a -p p -o %A") > 0 }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, os.Remove(filepath.Join(s.folder, "down")))
	require.Eventually(t, func() bool { return s.calls("scancel 7\n") > 0 }, 30*time.Second, 10*time.Millisecond)
	require.Zero(t, s.calls("scancel 8\n"))

	group, err := os.ReadFile(filepath.Join(s.folder, "group"))
	require.NoError(t, err)
	require.NotEqual(t, strconv.Itoa(syscall.Getpgrp()), strings.TrimSpace(string(group)), "Ctrl-C is for gangd alone")
}

// Of two processes one has ended before the other is seen.
func TestStartDoesNotWaitForWhatHasEnded(t *testing.T) {
	s := newStub(t)
	s.write("nodes", "NodeName=a RealMemory=100 State=IDLE Partitions=p\nNodeName=b RealMemory=100 State=IDLE Partitions=p\n")
	b := s.open()
	require.NoError(t, b.Submit(t.Context(), backend.Gang{ID: "g", Command: []string{"x"}}, 2))
	s.row(b, "RUNNING", "g")
	s.write("steps", "7.batch\n7.0\n") // sstat then knows nothing of the step
	ctx, cancel := context.WithTimeout(t.Context(), 3*straggling)
	defer cancel()
	require.NoError(t, b.Start(ctx, "g", []int{0, 1}, 1))
	s.row(b, "COMPLETED", "g")
	require.NoError(t, s.exit(b).Err)
}

// A gang that Slurm does not start costs slurmctld little.
func TestWhatIsWaitedForIsAskedLessAndLessOften(t *testing.T) {
	s := newStub(t)
	b, err := New(Config{Period: time.Minute})
	require.NoError(t, err)
	s.row(b, "PENDING", "g")
	s.submit(b)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	before := s.calls("squeue")
	require.ErrorIs(t, b.Start(ctx, "g", []int{0}, 1), context.DeadlineExceeded)
	require.InDelta(t, 6, s.calls("squeue")-before, 3)
	s.row(b, "CANCELLED", "g")
	require.NoError(t, b.Close())
}

func TestCloseTellsWhatSlurmRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStub(t)
	b := s.open()
	s.row(b, "PENDING", "g")
	s.submit(b)
	s.write("forbidden", "scancel: error: Kill job error on job id 7: Access/permission denied")
	require.ErrorContains(t, b.Close(), "permission denied")
}

// slurmctld takes a comment of 1024 bytes.
func TestLargeGangsFindTheirNodes(t *testing.T) {
	s := newStub(t)
	var nodes strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&nodes, "NodeName=node%04d NodeAddr=::%d RealMemory=100 State=IDLE Partitions=p\n", i, i)
	}
	s.write("nodes", nodes.String())
	b := s.open()
	g := backend.Gang{ID: "g", User: strings.Repeat("ü", 500), Command: []string{"/bin/sh", "-c", `echo $GANGD_NODE $GANGD_RANK of $GANGD_SIZE $GANGD_ADDRESS $GANGD_PLACES`}}
	var list []int
	for i := range 1500 {
		list = append(list, (i+1000)%2000)
	}
	list[1200], list[7] = list[7], list[1200]
	require.NoError(t, b.Submit(t.Context(), g, len(list)))
	s.write("usage", strings.Repeat("7.0|node|1\n", len(list)))
	s.row(b, "RUNNING", "g")
	require.NoError(t, b.Start(t.Context(), "g", list, 1))

	s.write("where", "node1000 node1999 node0000 node0200 node1007 node0499")
	script := exec.Command("/bin/sh", filepath.Join(s.folder, "script"))
	script.Env = append(os.Environ(), "SLURM_JOB_ID=7")
	out, err := script.CombinedOutput()
	require.NoError(t, err)
	const address = " of 1500 [::1000]:20007\n"
	require.Equal(t, "1000 0"+address+"1999 999"+address+"0 1000"+address+"200 7"+address+"1007 1200"+address+"499 1499"+address, string(out))
	s.row(b, "COMPLETED", "g")
	require.NoError(t, s.exit(b).Err)

	// Where that is not enough, one is told.
	s.row(b, "PENDING", "h")
	g.ID = "h"
	list = list[:0]
	for i := range 500 {
		list = append(list, 2*i)
	}
	require.NoError(t, b.Submit(t.Context(), g, len(list)))
	err = b.Start(t.Context(), "h", list, 1)
	require.ErrorIs(t, err, ErrGang)
	require.ErrorContains(t, err, "bytes")
	s.row(b, "CANCELLED", "h")
	require.Eventually(t, func() bool { return len(b.submitted(func(*gang) bool { return true })) == 0 }, 30*time.Second, time.Millisecond)
	g.ID = strings.Repeat("x", 1000)
	require.ErrorIs(t, b.Submit(t.Context(), g, 1), ErrGang)
}

func TestAJobThatSlurmStartsAgainDoesNothing(t *testing.T) {
	s := newStub(t)
	s.write("comment", "gangd g - by=x")
	s.write("where", "")
	s.write("output", "of the first run")
	g := backend.Gang{ID: "g", Output: filepath.Join(s.folder, "output"), Command: []string{"x"}}
	again := exec.Command("/bin/sh", "-c", script(g, 1, nil))
	again.Env = append(os.Environ(), "SLURM_RESTART_COUNT=1")
	require.Error(t, again.Run())
	text, err := os.ReadFile(g.Output)
	require.NoError(t, err)
	require.Equal(t, "of the first run", string(text))
}

func TestAStrangeSlurmIsRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"old":                {"version", "slurm 19.05.2"},
		"of no version":      {"version", "hello"},
		"without partitions": {"partitions", ""},
		"with another":       {"partitions", "q*\n"},
		"without nodes":      {"nodes", ""},
		"without memory":     {"nodes", "NodeName=a State=IDLE Partitions=p"},
		"whose nodes rest":   {"nodes", "NodeName=a RealMemory=1 State=IDLE+DRAIN Partitions=p"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t)
			s.write(change[0], change[1])
			_, err := New(Config{Partition: "p"})
			require.Error(t, err)
		})
	}
	s := newStub(t)
	require.NoError(t, os.Remove(filepath.Join(s.folder, "scontrol")))
	t.Setenv("PATH", s.folder)
	_, err := New(Config{})
	require.ErrorContains(t, err, "scontrol")
}
