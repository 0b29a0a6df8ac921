package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// A supervisor is gangd's side of the process that outlives it.
type supervisor struct {
	death Death
	grace time.Duration

	mu     sync.Mutex
	known  map[identity]bool
	now    *exec.Cmd
	orders io.WriteCloser
	done   *bufio.Reader // a line for each order
	closed bool
}

func newSupervisor(death Death, grace time.Duration) (*supervisor, error) {
	s := &supervisor{death: death, grace: grace, known: map[identity]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.begin()
}

// begin starts the process, and tells it what there is.
func (s *supervisor) begin() error {
	cmd := helper("gangd-supervise", string(s.death), s.grace.String())
	orders, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	done, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("local: supervisor: %w", err)
	}
	s.now, s.orders, s.done = cmd, orders, bufio.NewReader(done)
	began := time.Now()
	go func() {
		// Wait closes the pipes as well, so that an order in progress fails.
		_ = cmd.Wait()
		time.Sleep(100*time.Millisecond - time.Since(began)) // if it cannot live there is no hurry
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.now == cmd {
			s.restart()
		}
	}()
	for id := range s.known {
		if err := s.order('+', id); err != nil {
			return err
		}
	}
	return nil
}

// restart begins a new process where one died.
func (s *supervisor) restart() {
	for !s.closed {
		s.orders.Close()
		if s.begin() == nil {
			return
		}
		time.Sleep(100 * time.Millisecond) // out of processes or of memory
	}
}

func (s *supervisor) order(what byte, id identity) error {
	if _, err := fmt.Fprintf(s.orders, "%c %d %d\n", what, id.pid, id.start); err != nil {
		return err
	}
	_, err := s.done.ReadString('\n')
	return err
}

// add returns when the supervisor knows a process that begins a session.
func (s *supervisor) add(id identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[id] = true
	if s.order('+', id) != nil {
		s.restart()
	}
}

// forget returns when the supervisor will not touch that session any more.
func (s *supervisor) forget(id identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
	if s.order('-', id) != nil {
		s.restart()
	}
}

func (s *supervisor) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Process.Pid
}

// close ends the process, which knows of nobody any more.
func (s *supervisor) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.orders.Close()
}

// supervise is the process: it reads orders until gangd is gone.
func supervise(death Death, grace time.Duration) error {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	trees := map[identity]*tree{}
	in := bufio.NewReader(os.Stdin)
	for {
		var what byte
		var id identity
		if _, err := fmt.Fscanf(in, "%c %d %d\n", &what, &id.pid, &id.start); err != nil {
			break
		}
		if what == '+' {
			trees[id] = &tree{leader: id}
		} else {
			delete(trees, id)
		}
		fmt.Println()
	}
	if len(trees) == 0 {
		return nil
	}
	if death == Continue {
		signalAll(fs, trees, unix.SIGCONT)
		return nil
	}
	left := signalAll(fs, trees, unix.SIGTERM, unix.SIGCONT)
	for deadline := time.Now().Add(grace); left; {
		time.Sleep(20 * time.Millisecond)
		if time.Now().Before(deadline) {
			left = signalAll(fs, trees)
		} else {
			left = signalAll(fs, trees, unix.SIGKILL)
		}
	}
	return nil
}

// signalAll signals what there is of the trees, and says whether there is anything.
// Nobody holds the numbers of their leaders any more.
func signalAll(fs procfs.FS, trees map[identity]*tree, signals ...unix.Signal) (left bool) {
	all, err := snapshot(fs)
	for err != nil { // out of files or of memory
		time.Sleep(20 * time.Millisecond)
		all, err = snapshot(fs)
	}
	starts := map[int]uint64{}
	for _, s := range all {
		starts[s.PID] = s.Starttime
	}
	var list []*tree
	for id, t := range trees {
		if start, ok := starts[id.pid]; ok && start != id.start {
			delete(trees, id) // reused, so that nothing of its session is left
			continue
		}
		list = append(list, t)
	}
	grow(list, all)
	for _, t := range list {
		left = left || len(t.members) > 0
		t.signal(fs, false, signals...)
	}
	return left
}

// helper is this program in another role.
func helper(role string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{role}, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// Helper is to be called first by every program that uses this package. In a process
// that a back end started from the same program to help it, it does not return.
func Helper() {
	var err error
	switch os.Args[0] {
	default:
		return
	case "gangd-supervise":
		var grace time.Duration
		if len(os.Args) != 3 {
			err = errors.New("bad arguments")
		} else if grace, err = time.ParseDuration(os.Args[2]); err == nil {
			err = supervise(Death(os.Args[1]), grace)
		}
	case "gangd-start":
		err = become(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
	os.Exit(0)
}
