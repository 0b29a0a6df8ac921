package work

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gangkit/gangkit/paging"
)

// unit is the step of the walk, page what the system gives memory by.
const unit, page = 1 << 10, 4 << 10

// most is how much memory may be asked for, bytes.
const most = int64(min(1<<40, math.MaxInt))

// StreamConfig describes a stream of references.
type StreamConfig struct {
	Memory   int64   // bytes of the region; at least one unit of 1 KiB
	Locality float64 // θ, from 1 to 2
	Touches  int64   // after which it ends; 0: when ctx is done
	Fill     bool    // touch every page once first
	Seed     uint64
}

// Stream touches memory until ctx is done, or it has done so often enough, and prints
// how often that was.
func Stream(ctx context.Context, c StreamConfig, stdout io.Writer) error {
	if c.Touches < 0 || c.Memory < unit || c.Memory > most {
		return fmt.Errorf("%+v: %w", c, ErrConfig)
	}
	walk, err := paging.NewWalk(paging.WalkConfig{Locality: c.Locality, Range: int(c.Memory / unit)}, rand.New(rand.NewPCG(c.Seed, 0)))
	if err != nil {
		return err
	}
	memory := make([]byte, c.Memory)
	if c.Fill {
		fill(memory)
	}
	seen := make([]bool, (len(memory)+page-1)/page)
	pages, n, began := 0, int64(0), time.Now()
	for ; c.Touches == 0 || n < c.Touches; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			break
		}
		at := walk.Next() * unit
		memory[at] = byte(at % 200)
		if !seen[at/page] {
			seen[at/page] = true
			pages++
		}
	}
	seconds := time.Since(began).Seconds()
	_, err = fmt.Fprintf(stdout, "touches %d pages %d of %d seconds %.3f rate %.0f\n", n, pages, len(seen), seconds, float64(n)/seconds)
	return err
}

// fill touches every page.
func fill(memory []byte) {
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
	if len(memory) > 0 {
		memory[len(memory)-1] = 1
	}
}
