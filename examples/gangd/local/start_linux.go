package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// become is the process of a gang before it is one: it waits for leave, binds itself
// to its core and becomes the job's program. Arguments are the core, the path and the
// arguments from the name on. Descriptor 3 tells to go on, 4 takes an error.
func become(args []string) error {
	leave, failure := os.NewFile(3, "leave"), os.NewFile(4, "failure")
	if len(args) < 3 || leave == nil || failure == nil {
		return errors.New("bad arguments")
	}
	if n, _ := leave.Read(make([]byte, 1)); n == 0 {
		return errors.New("gangd is gone")
	}
	leave.Close()
	unix.CloseOnExec(4)
	runtime.LockOSThread() // the thread that calls exec is the one that stays
	core, err := strconv.Atoi(args[0])
	if err == nil {
		var cores unix.CPUSet
		cores.Set(core)
		err = unix.SchedSetaffinity(0, &cores)
	}
	if err == nil {
		err = syscall.Exec(args[1], args[2:], os.Environ())
	}
	fmt.Fprint(failure, err)
	return err
}

// A nascent process waits for leave to become the job's.
type nascent struct {
	cmd     *exec.Cmd
	id      identity
	leave   *os.File
	failure *os.File
}

// conceive starts a process that waits. What it prints goes to output, which may be nil.
func conceive(fs procfs.FS, core int, path, folder string, command, environment []string, output *os.File) (n *nascent, err error) {
	leaveRead, leave, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	failure, failureWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, leaveRead.Close(), leave.Close())
	}
	defer failureWrite.Close()
	defer leaveRead.Close()
	n = &nascent{leave: leave, failure: failure}
	n.cmd = helper("gangd-start", append([]string{strconv.Itoa(core), path}, command...)...)
	n.cmd.Dir, n.cmd.Env = folder, environment
	if output != nil {
		n.cmd.Stdout, n.cmd.Stderr = output, output
	}
	n.cmd.ExtraFiles = []*os.File{leaveRead, failureWrite}
	if err := n.cmd.Start(); err != nil {
		return nil, errors.Join(err, leave.Close(), failure.Close())
	}
	var s procfs.ProcStat
	p, err := fs.Proc(n.cmd.Process.Pid)
	if err == nil {
		s, err = p.Stat() // it is there until it is waited for
	}
	if err != nil {
		n.abandon()
		return nil, err
	}
	n.id = identity{s.PID, s.Starttime}
	return n, nil
}

// proceed lets the process become the job's.
func (n *nascent) proceed() error {
	_, err := n.leave.Write([]byte{1})
	return errors.Join(err, n.leave.Close())
}

// became waits until it has, or could not.
func (n *nascent) became() error {
	text, err := io.ReadAll(n.failure)
	n.failure.Close()
	if err == nil && len(text) > 0 {
		err = errors.New(string(text))
	}
	return err
}

// abandon ends the process, whatever it is by now.
func (n *nascent) abandon() {
	n.leave.Close()
	n.failure.Close()
	_ = unix.Kill(-n.cmd.Process.Pid, unix.SIGKILL)
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// executable returns the path of a program that is to run in a folder.
func executable(name, folder string) (string, error) {
	if !strings.ContainsRune(name, '/') || filepath.IsAbs(name) || folder == "" {
		return exec.LookPath(name)
	}
	path, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		return "", err
	}
	return exec.LookPath(path)
}
