package slurm

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// A leash is a process beside the program. If the program dies, however it does, the kernel
// closes the pipe between them, and the leash sees to it that no gang stays stopped, and
// none stays in the queue that nobody would start.
type leash struct {
	process *exec.Cmd
	pipe    io.WriteCloser
}

// It goes through the jobs twice, since a last command of the program may be under way.
const leashed = `
read -r word
[ "$word" != closed ] || exit 0
for pass in 1 2; do
	for try in $(seq 60); do
		jobs=$(squeue -h -a -p "$2" -o "%A %T %k") && break
		[ -z "$SLURM_CONF" ] || [ -e "$SLURM_CONF" ] || exit
		sleep 1
	done
	printf "%s\n" "$jobs" | while read -r job state comment; do
		case " $comment " in *" by=$1 "*) ;; *) continue ;; esac
		case $state in
		PENDING | REQUEUE_HOLD | SPECIAL_EXIT | RESV_DEL_HOLD) scancel "$job" ;;
		*) scancel --signal=CONT "$job.0" ;;
		esac
	done
	sleep 1
done
`

func newLeash(name, partition string, environment []string) (*leash, error) {
	l := &leash{process: exec.Command("/bin/sh", "-c", leashed, "gangd-leash", name, partition)}
	l.process.Env = environment
	l.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for it
	var err error
	if l.pipe, err = l.process.StdinPipe(); err == nil {
		err = l.process.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	return l, nil
}

// close ends the leash, or makes it act if gangs are left.
func (l *leash) close(left bool) {
	if !left {
		_, _ = io.WriteString(l.pipe, "closed\n")
	}
	_ = l.pipe.Close()
	_ = l.process.Wait()
}
