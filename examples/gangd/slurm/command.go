package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A commandError is what a program of Slurm said when it failed.
type commandError struct {
	command string
	said    string
}

func (e *commandError) Error() string { return fmt.Sprintf("slurm: %s: %s", e.command, e.said) }

// says tells whether err is of a program that said one of the phrases.
func says(err error, phrases ...string) bool {
	var e *commandError
	return errors.As(err, &e) && slices.ContainsFunc(phrases, func(phrase string) bool {
		return strings.Contains(strings.ToLower(e.said), phrase)
	})
}

// transient tells whether the same command may succeed later: slurmctld or munged is down,
// starts, is busy, or hands over to another one. What they say has changed little over the
// versions.
func transient(err error) bool {
	return says(err,
		"unable to contact slurm controller",
		"unexpected message received", // scontrol's word for the same
		"connect failure",
		"connection refused",
		"communication",
		"timed out",
		"zero bytes were transmitted",
		"missing socket error",
		"standby mode",
		"temporarily",
		"try again later",
		"munge",
		"transport endpoint",
	)
}

// gone tells whether a command failed because the job has ended, or was never there.
func gone(err error) bool {
	return says(err, "invalid job id", "already finished", "already completing", "job/step already")
}

// environment is that of the program without what changes the meaning of Slurm's commands,
// or belongs to a job that the program itself may run in.
func environment(conf string) []string {
	var kept []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		prefix, _, _ := strings.Cut(name, "_")
		switch prefix {
		case "SLURM", "SLURMD", "SBATCH", "SRUN", "SQUEUE", "SCANCEL", "SINFO", "SACCT", "SSTAT", "SCONTROL":
			if name != "SLURM_CONF" || conf != "" {
				continue
			}
		}
		kept = append(kept, entry)
	}
	if conf != "" {
		kept = append(kept, "SLURM_CONF="+conf)
	}
	return kept
}

// try runs a program of Slurm once.
func (b *Backend) try(ctx context.Context, stdin, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = b.environment
	command.WaitDelay = time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is not for it
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := command.Run(); err != nil {
		said := strings.TrimSpace(stderr.String())
		if ctx.Err() != nil {
			return stdout.String(), fmt.Errorf("slurm: %s: %w %s", name, ctx.Err(), said)
		}
		var status *exec.ExitError
		if !errors.As(err, &status) {
			return "", fmt.Errorf("slurm: %w", err)
		}
		if said == "" {
			said = status.String()
		}
		return stdout.String(), &commandError{name, said}
	}
	return stdout.String(), nil
}

// run runs a program of Slurm, again and again while slurmctld cannot be reached.
func (b *Backend) run(ctx context.Context, name string, arguments ...string) (string, error) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		out, err := b.try(ctx, "", name, arguments...)
		if !transient(err) {
			return out, err
		}
		if !pause(ctx, wait) {
			return "", fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

// pause waits, and tells whether the context's time was enough.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
