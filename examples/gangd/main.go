// Command gangd is a gang scheduler in user space. Its policies are the library's, its
// processes are real. Run it with -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gangkit/gangkit/examples/gangd/local"
	"github.com/gangkit/gangkit/examples/gangd/work"
	"github.com/gangkit/gangkit/examples/kit/command"
)

const intro = `gangd is a gang scheduler in user space: it runs jobs of several processes, one on each
of their nodes, and lets all processes of a job run at the same time. It needs no
privileges: it stops processes by SIGSTOP and continues them by SIGCONT.

  gangd run JOBS.toml    run the jobs of a file until all have ended
  gangd run -demo        run a demonstration, which needs no file
  gangd status           show what a gangd that runs is doing; on a terminal, live
  gangd experiment       repeat experiments of the papers on real processes
  gangd work             what a process does in demonstrations and experiments

Each has a -h that explains it.
`

func main() {
	local.Helper()
	command.Main("gangd", gangd)
}

func gangd(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return command.Input(errors.New("what? run, status, experiment or work; -h explains"))
	}
	rest := args[1:]
	switch args[0] {
	case "run":
		return run(ctx, rest, stdout, stderr)
	case "status":
		return status(ctx, rest, stdout)
	case "experiment":
		return experiment(ctx, rest, stdout, stderr)
	case "work":
		return work.Program(ctx, rest, stdout, stderr)
	}
	if strings.HasPrefix(args[0], "-") {
		if err := command.Parse(newFlags("gangd"), intro, args); err != nil {
			return err
		}
	}
	return command.Input(fmt.Errorf("%q: want run, status, experiment or work", args[0]))
}
