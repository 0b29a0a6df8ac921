// Package work has the programs that gangs run in experiments, those of the papers:
//
//   - [Loop] is that of Y. Wiseman & D. G. Feitelson, "Paired gang scheduling", IEEE TPDS
//     14(6), 2003, Fig. 6: each process computes, does I/O and waits for the others at a
//     barrier, again and again.
//   - [Stream] is that of A. Batat & D. G. Feitelson, "Gang scheduling with memory
//     considerations", IPDPS 2000, §4.1, Fig. 4: it touches memory along a fractal
//     random walk.
//
// They are not simulations: the processor computes, the disk writes, the pages are there.
// The rank and the number of processes come from the environment, see package backend.
package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/paging"
)

// ErrConfig is returned for work that cannot be done.
var ErrConfig = errors.New("work: invalid configuration")

const intro = `work is what a process of a gang does in experiments.

  work loop     compute, do I/O, wait for the other processes; again and again.
                Prints barriers per second at its end.
  work stream   touch memory along a fractal random walk. Prints touches per second.

GANGD_RANK, GANGD_SIZE and GANGD_ADDRESS say which process of how many it is, and where
process 0 listens for the others; without them it is alone. Ask either for its flags
with -h.
`

const loopIntro = `work loop repeats, as Fig. 6 of Wiseman and Feitelson (2003) does:

  compute for -compute of processor time
  wait for I/O of -io, or with -files write that many files of -bytes to the disk
  wait until all other processes are here

Computing is counted in steps, whose number for the time is measured at the beginning, so
that a process that is stopped or shares its processor has as much to do as one that is
not. SIGTERM and -n end it; then process 0 prints

  barriers 250 seconds 12.345 rate 20.25

Flags:
`

const streamIntro = `work stream touches memory as Fig. 4 of Batat and Feitelson (2000) does: along a
random walk whose jumps exceed u units of 1 KiB with probability u^-θ, over a region
of -memory. θ = 2 is the most local, 1 the least. It prints at its end

  touches 1000000 pages 2560 of 2560 seconds 1.234 rate 810372

Flags:
`

// Program is the command: "work loop ..." or "work stream ...".
func Program(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	place, err := placeOf(os.Getenv)
	if err != nil {
		return command.Input(err)
	}
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("work "+name, flag.ContinueOnError)
	switch name {
	case "loop":
		c := LoopConfig{Place: place}
		f.DurationVar(&c.Compute, "compute", 20*time.Millisecond, "processor `time` between two barriers")
		f.Int64Var(&c.Steps, "steps", 0, "compute so many `steps` instead")
		f.DurationVar(&c.IO, "io", 0, "`time` to sleep between two barriers, as if for I/O")
		f.Float64Var(&c.Spread, "spread", 0, "vary both by up to this `share` up and down, at random")
		f.Uint64Var(&c.Seed, "seed", 1, "of the random variation")
		f.IntVar(&c.Files, "files", 0, "`number` of files to write between two barriers, each synced to the disk")
		f.IntVar(&c.Bytes, "bytes", 8193, "`number` of bytes of each file")
		f.StringVar(&c.Folder, "folder", "", "write the files into a new folder in `folder` (default: that of temporary files)")
		f.IntVar(&c.Barriers, "n", 0, "end after so many barriers (default: when told to)")
		bytes := f.Int64("memory", 0, "touch so many `bytes` at the beginning and keep them")
		if err := command.Parse(f, loopIntro, args); err != nil {
			return err
		}
		if *bytes < 0 || *bytes > most {
			return command.Input(fmt.Errorf("-memory %d: %w", *bytes, ErrConfig))
		}
		kept := make([]byte, *bytes)
		fill(kept)
		defer runtime.KeepAlive(kept)
		return input(Loop(ctx, c, stdout))
	case "stream":
		c := StreamConfig{Seed: uint64(place.Rank)}
		f.Int64Var(&c.Memory, "memory", 10<<20, "`bytes` of the region")
		f.Float64Var(&c.Locality, "locality", 1.5, "θ, from 1, the least local, to 2")
		f.Int64Var(&c.Touches, "n", 0, "end after so many touches (default: when told to)")
		f.BoolVar(&c.Fill, "fill", false, "touch all of it once at the beginning")
		if err := command.Parse(f, streamIntro, args); err != nil {
			return err
		}
		return input(Stream(ctx, c, stdout))
	}
	if strings.HasPrefix(name, "-") {
		if err := command.Parse(f, intro, []string{name}); err != nil {
			return err
		}
	}
	return command.Input(errors.New("work what? loop or stream; -h explains"))
}

func input(err error) error {
	if errors.Is(err, ErrConfig) || errors.Is(err, paging.ErrLocality) || errors.Is(err, paging.ErrSize) {
		return command.Input(err)
	}
	return err
}

// Place is which process of a gang this is.
type Place struct {
	Rank, Size int
	Address    string // at which rank 0 listens, if there are others
}

func placeOf(environment func(string) string) (p Place, err error) {
	if environment("GANGD_SIZE") == "" {
		return Place{0, 1, ""}, nil
	}
	p.Address = environment("GANGD_ADDRESS")
	p.Size, err = strconv.Atoi(environment("GANGD_SIZE"))
	if err == nil {
		p.Rank, err = strconv.Atoi(environment("GANGD_RANK"))
	}
	if err != nil || p.Size < 1 || p.Rank < 0 || p.Rank >= p.Size || p.Size > 1 && p.Address == "" {
		return p, fmt.Errorf("GANGD_RANK %q, GANGD_SIZE %q, GANGD_ADDRESS %q: %w",
			environment("GANGD_RANK"), environment("GANGD_SIZE"), p.Address, ErrConfig)
	}
	return p, nil
}
