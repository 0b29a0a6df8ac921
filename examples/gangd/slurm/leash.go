package slurm

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// A leash is a process beside the program. If the program dies, the kernel closes the pipe
// between them, and the leash sees to it that no gang stays stopped, and none stays in the
// queue that nobody would start. If the program closes, and could not end all of its gangs,
// the leash does.
type leash struct {
	process *exec.Cmd
	pipe    io.WriteCloser
}

// It goes through the jobs twice, since a last command of the program may be under way.
const leashed = `
read -r word
[ "$word" != closed ] || exit 0
for pass in 1 2; do
	until jobs=$(squeue -h -a -p "$2" -o "%A %T %k"); do
		[ -z "$SLURM_CONF" ] || [ -e "$SLURM_CONF" ] || exit
		sleep 5
	done
	printf "%s\n" "$jobs" | while read -r job state comment; do
		case " $comment " in *" by=$1 "*) ;; *) continue ;; esac
		case $word$state in
		cancel*) scancel "$job" ;;
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

// close ends the leash, or has it cancel what is left, for which it may have to wait until
// slurmctld is back.
func (l *leash) close(left bool) {
	word := "closed\n"
	if left {
		word = "cancel\n"
	}
	_, _ = io.WriteString(l.pipe, word)
	_ = l.pipe.Close()
	if left {
		_ = l.process.Process.Release()
	} else {
		_ = l.process.Wait()
	}
}
