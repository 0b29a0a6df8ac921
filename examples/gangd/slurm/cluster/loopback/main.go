// Command loopback keeps a Slurm on this machine up, until Ctrl-C, to try gangd on. Run it
// with -h.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gangkit/gangkit/examples/gangd/slurm/cluster"
	"github.com/gangkit/gangkit/examples/kit/command"
)

const intro = `loopback starts a real Slurm of virtual nodes on this machine, on 127.0.0.1 only, and keeps
it up until Ctrl-C, which leaves nothing of it behind. It prints what to set so that
programs find it:

  go run ./examples/gangd/slurm/cluster/loopback -nodes 16
  export SLURM_CONF=...    in another terminal, as printed
  sinfo
  srun -N 4 hostname

Slurm and munge must be installed; on Debian: apt-get install slurm-wlm
slurm-wlm-basic-plugins munge. It needs neither root nor a daemon of the system.

Flags:
`

func main() { command.Main("loopback", loopback) }

func loopback(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c cluster.Config
	f := flag.NewFlagSet("loopback", flag.ContinueOnError)
	f.IntVar(&c.Nodes, "nodes", 16, "`number` of virtual nodes")
	f.IntVar(&c.CPUs, "cpus", 1, "processors of each node")
	memory := f.Int64("memory", 1024, "memory of each node that jobs can request, `MiB`")
	f.IntVar(&c.Share, "share", 4, "how many jobs may share a processor; 1: none")
	f.DurationVar(&c.Slot, "slot", 0, "time slice of Slurm's own gang scheduling, 5s or more; 0: off")
	if err := command.Parse(f, intro, args); err != nil {
		return err
	}
	if *memory < 1 || *memory > math.MaxInt64>>20 {
		return command.Input(fmt.Errorf("-memory %d: no such size", *memory))
	}
	c.Memory = *memory << 20
	start, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	slurm, err := cluster.Start(start, c)
	if err != nil {
		return command.Input(err)
	}
	fmt.Fprintf(stdout, "export SLURM_CONF=%s\n", slurm.Conf())
	fmt.Fprintf(stderr, "%d nodes, n1 to n%d, are up; logs are in %s/log. Ctrl-C ends them.\n", c.Nodes, c.Nodes, slurm.Folder())
	<-ctx.Done()
	return slurm.Stop()
}
