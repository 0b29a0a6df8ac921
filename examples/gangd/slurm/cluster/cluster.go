// Package cluster runs a real Slurm on one machine, for tests and experiments: munged,
// slurmctld and one slurmd for each of any number of virtual nodes, all in a temporary
// folder, without systemd, cgroups, accounting or an entry in /etc.
//
// The daemons listen on 127.0.0.1 only, at free ports, and trust a key of their own, so
// that several clusters can run side by side and beside a site's Slurm. They run as
// whoever starts them, who is also Slurm's administrator and the only user; root is not
// needed. The virtual nodes share the processors and the memory of the machine, and
// nothing keeps a job to what it has requested.
//
// What a cluster leaves behind is nothing: a watchdog, which survives the program that
// called [Start], kills every process of the cluster and removes the folder when
// [Cluster.Stop] is called, or when that program has ended for whatever reason. Only a
// process of a job that clears its environment can escape.
//
// The package carries no promise of compatibility.
package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrNotInstalled is returned where a program of Slurm or munge is missing.
var ErrNotInstalled = errors.New("cluster: Slurm is not installed")

// ErrConfig is returned for a cluster that cannot be.
var ErrConfig = errors.New("cluster: bad configuration")

const maxNodes = 256

// Config describes a cluster of equal nodes, named n1, n2 and so on, in one partition,
// named batch.
type Config struct {
	Nodes  int   // required, 1 to 256
	CPUs   int   // of each node; 0 means 1
	Memory int64 // of each node that jobs can request, bytes; 0 means 1 GiB
	// Share is how many jobs may be allocated the same processor at a time
	// (OverSubscribe=FORCE); 0 means 4, and 1 that they are not shared.
	Share int
	// Slot is the time slice of Slurm's own gang scheduling, in whole seconds; 0 means that it
	// is off.
	Slot time.Duration
	// Settings are further lines of slurm.conf. Of a setting that is there twice, Slurm
	// takes the later one.
	Settings []string
}

// Cluster is a running Slurm. Its methods may not be called concurrently.
type Cluster struct {
	folder     string
	programs   map[string]string // paths by name
	nodes      []*daemon
	controller *daemon
	watchdog   *exec.Cmd
	leash      io.Closer // the watchdog acts when it is closed
	stop       sync.Once
}

// programs that a cluster needs.
var programs = []string{"munged", "slurmctld", "slurmd", "sinfo"}

// Installed returns nil, or an error that wraps ErrNotInstalled and names what is missing.
func Installed() error {
	_, err := findPrograms()
	return err
}

// Need skips a test where Slurm is not installed; where CI=true says that it should be, the
// test fails.
func Need(t interface {
	Helper()
	Fatal(...any)
	Skip(...any)
}) {
	t.Helper()
	if err := Installed(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func findPrograms() (map[string]string, error) {
	paths := map[string]string{}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		for _, folder := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
			if err != nil { // folders that are often not in PATH
				path, err = exec.LookPath(filepath.Join(folder, name))
			}
		}
		if err != nil {
			return nil, fmt.Errorf("no program %s: %w", name, ErrNotInstalled)
		}
		paths[name] = path
	}
	return paths, nil
}

// Start starts a cluster and returns when all nodes are idle, in about a second. It ends
// with [Cluster.Stop], or with the calling program.
func Start(ctx context.Context, c Config) (*Cluster, error) {
	if c.CPUs == 0 {
		c.CPUs = 1
	}
	if c.Memory == 0 {
		c.Memory = 1 << 30
	}
	if c.Share == 0 {
		c.Share = 4
	}
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return nil, fmt.Errorf("%d nodes, want 1 to %d: %w", c.Nodes, maxNodes, ErrConfig)
	case c.CPUs < 1 || c.CPUs > 1<<10:
		return nil, fmt.Errorf("%d processors a node: %w", c.CPUs, ErrConfig)
	case c.Memory < 1<<20:
		return nil, fmt.Errorf("%d bytes of memory a node, want a mebibyte or more: %w", c.Memory, ErrConfig)
	case c.Share < 1 || c.Share > 1<<10:
		return nil, fmt.Errorf("%d jobs to a processor: %w", c.Share, ErrConfig)
	case c.Slot != 0 && (c.Slot < 5*time.Second || c.Slot > math.MaxUint16*time.Second || c.Slot%time.Second != 0):
		return nil, fmt.Errorf("a time slice of %v, want 5 s to %d s, and whole ones: %w", c.Slot, math.MaxUint16, ErrConfig)
	}
	paths, err := findPrograms()
	if err != nil {
		return nil, err
	}
	// Ports are drawn at random, and somebody may take one before Slurm does.
	for try := 0; ; try++ {
		cluster, err := start(ctx, c, paths)
		if err == nil || try == 2 || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
			return cluster, err
		}
	}
}

func start(ctx context.Context, c Config, paths map[string]string) (_ *Cluster, err error) {
	folder, err := os.MkdirTemp("", "gangd-slurm-")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	cluster := &Cluster{folder: folder, programs: paths}
	if err := cluster.watch(); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: watchdog: %w", err), os.RemoveAll(folder))
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("cluster: %w", err), cluster.Stop())
		}
	}()
	if err := cluster.configure(c); err != nil {
		return nil, err
	}
	key, socket := cluster.path("munge", "key"), cluster.path("munge", "socket")
	munged, err := cluster.run("munged", "munged", "--foreground", "--force", "--num-threads=2",
		"--key-file="+key, "--socket="+socket, "--pid-file="+cluster.path("munge", "pid"),
		"--log-file="+cluster.path("munge", "log"), "--seed-file="+cluster.path("munge", "seed"))
	if err != nil {
		return nil, err
	}
	if err := until(ctx, func() bool {
		_, err := os.Stat(socket)
		return err == nil
	}, munged); err != nil {
		return nil, err
	}
	// Without -c slurmctld is slow to trust nodes that it has never seen.
	if cluster.controller, err = cluster.run("slurmctld", "slurmctld", "-D", "-i", "-c", "-f", cluster.Conf()); err != nil {
		return nil, err
	}
	for i := range c.Nodes {
		node, err := cluster.runNode(i)
		if err != nil {
			return nil, err
		}
		cluster.nodes = append(cluster.nodes, node)
	}
	return cluster, cluster.ready(ctx)
}

// configure writes the munge key and slurm.conf.
func (c *Cluster) configure(config Config) error {
	for _, name := range []string{"munge", "state", "run", "log"} {
		if err := os.Mkdir(c.path(name), 0o755); err != nil {
			return err
		}
	}
	key := make([]byte, 128)
	rand.Read(key)
	if err := os.WriteFile(c.path("munge", "key"), key, 0o600); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		return err
	}
	ports, err := freePorts(config.Nodes + 1)
	if err != nil {
		return err
	}
	share, gang := fmt.Sprintf("FORCE:%d", config.Share), ""
	if config.Share == 1 {
		share = "NO"
	}
	if config.Slot > 0 {
		gang = fmt.Sprintf("PreemptMode=GANG\nSchedulerTimeSlice=%d\n", int(config.Slot.Seconds()))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=gangd
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=%[3]s
SlurmdUser=%[3]s
AuthType=auth/munge
AuthInfo=socket=%[4]s
CredType=cred/munge
StateSaveLocation=%[5]s
SlurmdSpoolDir=%[6]s/%%n/spool
SlurmctldPidFile=%[5]s/pid
SlurmdPidFile=%[6]s/%%n/pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,bf_continue
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=2
%[7]s`, host, ports[0], me.Username, c.path("munge", "socket"), c.path("state"), c.path("run"), gang)
	for i := range config.Nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=%d State=UNKNOWN\n",
			nodeName(i), host, ports[i+1], config.CPUs, config.Memory>>20)
	}
	fmt.Fprintf(&b, "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=%s DefMemPerCPU=10\n", share)
	for _, line := range config.Settings {
		b.WriteString(line + "\n")
	}
	return os.WriteFile(c.Conf(), []byte(b.String()), 0o644)
}

// freePorts finds ports of 127.0.0.1 that are free, below those that gangs get and those
// that the kernel takes for outgoing connections.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range 100 * n {
		port := 10_000 + mathrand.IntN(10_000)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer listener.Close() // after all are found, so that none is found twice
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports")
}

// Conf is the path of slurm.conf. Programs find the cluster if the environment variable
// SLURM_CONF is set to it.
func (c *Cluster) Conf() string { return c.path("slurm.conf") }

// Command is a command with SLURM_CONF set.
func (c *Cluster) Command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	return command
}

// Folder is where everything of the cluster is: logs are in log, and files that are put
// here are removed with it.
func (c *Cluster) Folder() string { return c.folder }

func (c *Cluster) path(names ...string) string {
	return filepath.Join(append([]string{c.folder}, names...)...)
}

// ready waits until slurmctld knows of all nodes that run, whether or not jobs run there.
// Without a slurmctld there is nothing to wait for.
func (c *Cluster) ready(ctx context.Context) error {
	if c.controller == nil {
		return nil
	}
	return until(ctx, func() bool {
		out, err := c.Command(ctx, c.programs["sinfo"], "-h", "-N", "-o", "%N %t").Output()
		if err != nil {
			return false
		}
		states := map[string]string{}
		for line := range strings.Lines(string(out)) {
			name, state, _ := strings.Cut(strings.TrimSpace(line), " ")
			states[name] = state
		}
		for i, node := range c.nodes {
			switch states[nodeName(i)] {
			case "idle", "mix", "alloc", "comp":
			default: // also with a mark behind it, which says that the node does not answer
				if node != nil {
					return false
				}
			}
		}
		return true
	}, append(slices.Clone(c.nodes), c.controller)...)
}

// KillNode kills the slurmd of node i, counting from 0, and all that it has started, as if
// the machine had lost power.
func (c *Cluster) KillNode(i int) error {
	if err := c.KillDaemon(i); err != nil {
		return err
	}
	out, err := exec.Command("/bin/sh", "-c", reap+`reap "$1" "$2"`, "reap", c.folder, nodeName(i)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster: processes of %s are left: %w %s", nodeName(i), err, out)
	}
	return nil
}

// KillDaemon kills the slurmd of node i, counting from 0, but not the jobs there.
func (c *Cluster) KillDaemon(i int) error { return kill(&c.nodes[i]) }

// StartNode starts the slurmd of node i again, and waits until it is there.
func (c *Cluster) StartNode(ctx context.Context, i int) (err error) {
	if c.nodes[i], err = c.runNode(i); err != nil {
		return err
	}
	return c.ready(ctx)
}

// KillController kills slurmctld. It saves its state within seconds of a change, so that it
// will not remember what came later than [Cluster.Saved].
func (c *Cluster) KillController() error { return kill(&c.controller) }

// Saved is when slurmctld last saved the state of jobs.
func (c *Cluster) Saved() time.Time {
	if info, err := os.Stat(c.path("state", "job_state")); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// StartController starts slurmctld again, from the state that it has saved, and waits
// until it knows of the nodes that run. If it is to forget, it knows none of the jobs any more.
func (c *Cluster) StartController(ctx context.Context, forget bool) (err error) {
	arguments := []string{"-D", "-i", "-f", c.Conf()}
	if forget {
		arguments = append(arguments, "-c")
	}
	if c.controller, err = c.run("slurmctld", "slurmctld", arguments...); err != nil {
		return err
	}
	return c.ready(ctx)
}

func (c *Cluster) runNode(i int) (*daemon, error) {
	return c.run(nodeName(i), "slurmd", "-D", "-N", nodeName(i), "-f", c.Conf())
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// A daemon is a child process in a session of its own, so that what is typed at a terminal
// does not reach it.
type daemon struct {
	name    string
	command *exec.Cmd
	log     string
	done    chan struct{} // closed when it has ended
}

func (c *Cluster) run(name, program string, arguments ...string) (*daemon, error) {
	d := &daemon{name: name, log: c.path("log", name), done: make(chan struct{})}
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	d.command = exec.Command(c.programs[program], arguments...)
	d.command.Stdout, d.command.Stderr = log, log
	d.command.Env = append(os.Environ(), "SLURM_CONF="+c.Conf())
	d.command.Dir = c.path("run", name)
	if err := os.MkdirAll(d.command.Dir, 0o755); err != nil {
		return nil, err
	}
	d.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := d.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = d.command.Wait()
		close(d.done)
	}()
	return d, nil
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// kill kills a daemon, if there is one, and forgets it.
func kill(d **daemon) error {
	if *d == nil {
		return nil
	}
	if err := (*d).command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster: %w", err)
	}
	<-(*d).done
	*d = nil
	return nil
}

// failure describes a daemon that has ended, with the end of its log.
func (d *daemon) failure() error {
	log, _ := os.ReadFile(d.log)
	return fmt.Errorf("%s has ended, %v: %s", d.name, d.command.ProcessState, bytes.TrimSpace(log[max(0, len(log)-500):]))
}

// until waits until f is true, and fails if one of the daemons ends before. Those that are
// nil have been killed.
func until(ctx context.Context, f func() bool, daemons ...*daemon) error {
	for {
		done := f()
		for _, d := range daemons {
			if d != nil && d.ended() {
				return d.failure()
			}
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for Slurm to be ready: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// reap kills, for ten seconds at most, until nothing is left, what runs in cluster $1, on
// node $2 if it is given. All has SLURM_CONF in its environment. Daemons, and the
// slurmstepds that they start, have a current folder of their own there; jobs have the
// name of their node. A user's shell, in which SLURM_CONF may be set too, has neither.
const reap = `
reap() {
	for _ in $(seq 200); do
		left=
		for process in $(grep -lzxsF "SLURM_CONF=$1/slurm.conf" /proc/[0-9]*/environ); do
			process=${process%/environ}
			case $(readlink "$process/cwd") in
			"$1/run/${2:-}"*) [ -z "$2" ] || [ "$(readlink "$process/cwd")" = "$1/run/$2" ] ;;
			*) grep -qzxs "SLURMD_NODENAME=${2:-.*}" "$process/environ" ;;
			esac && left="$left ${process#/proc/}"
		done
		[ -n "$left" ] || return 0
		kill -KILL $left 2>/dev/null
		sleep 0.05
	done
	return 1
}
`

func (c *Cluster) watch() error {
	c.watchdog = exec.Command("/bin/sh", "-c", reap+`read -r _; reap "$1"; status=$?; rm -rf "$1"; exit $status`,
		"watchdog", c.folder)
	c.watchdog.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	leash, err := c.watchdog.StdinPipe()
	if err != nil {
		return err
	}
	c.leash = leash
	return c.watchdog.Start()
}

// Stop ends all jobs and daemons of the cluster, by force, and removes its folder. It may
// be called more than once.
func (c *Cluster) Stop() (err error) {
	c.stop.Do(func() {
		_ = c.leash.Close()
		if err = c.watchdog.Wait(); err != nil {
			err = fmt.Errorf("cluster: processes are left: %w", err)
		}
	})
	return err
}
