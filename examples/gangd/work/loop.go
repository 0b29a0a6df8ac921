package work

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"
)

// LoopConfig describes the loop. Place is required.
type LoopConfig struct {
	Place
	Compute  time.Duration // processor time between two barriers, of a processor that does nothing else
	Steps    int64         // instead of Compute, as Steps makes them of a time
	IO       time.Duration // to sleep between two barriers
	Spread   float64       // both are uniform in mean · [1 − Spread, 1 + Spread]
	Files    int           // to be written between two barriers
	Bytes    int           // of each file
	Folder   string        // for them; "" is the system's for temporary files
	Seed     uint64        // of that, with the rank
	Barriers int           // after which it ends; 0: when ctx is done
}

// Loop computes, does I/O and waits for the other processes of its gang until ctx is
// done, or it has done so often enough. Then rank 0 prints how often that was. If
// another process is gone, so is Loop, without an error if ctx was done.
func Loop(ctx context.Context, c LoopConfig, stdout io.Writer) error {
	if c.Compute < 0 || c.Steps < 0 || c.IO < 0 || c.Files < 0 || c.Bytes < 0 || c.Barriers < 0 || !(c.Spread >= 0 && c.Spread <= 1) {
		return fmt.Errorf("%+v: %w", c, ErrConfig)
	}
	folder := ""
	if c.Files > 0 {
		var err error
		if folder, err = os.MkdirTemp(c.Folder, "work-"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	if c.Steps == 0 {
		c.Steps = Steps(c.Compute)
	}
	b, err := meet(ctx, c.Place)
	if err != nil && ctx.Err() == nil {
		return err
	}
	defer b.close()
	stop := context.AfterFunc(ctx, b.close)
	defer stop()
	random := rand.New(rand.NewPCG(c.Seed, uint64(c.Rank)))
	vary := func(mean float64) float64 { return mean * (1 + c.Spread*(2*random.Float64()-1)) }
	n, began := 0, time.Now()
	for ; ctx.Err() == nil && (c.Barriers == 0 || n < c.Barriers); n++ {
		compute(int64(vary(float64(c.Steps))))
		if c.IO > 0 {
			time.Sleep(time.Duration(vary(float64(c.IO))))
		}
		if err = write(folder, c.Files, c.Bytes); err != nil {
			return err
		}
		if err = b.wait(); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	if c.Rank == 0 {
		seconds := time.Since(began).Seconds()
		_, e := fmt.Fprintf(stdout, "barriers %d seconds %.3f rate %.3f\n", n, seconds, float64(n)/seconds)
		err = errors.Join(err, e)
	}
	return err
}

// write writes files as the paper's program does, and makes sure that they reach the
// disk: it opens each, writes and closes.
func write(folder string, files, bytes int) error {
	for i := range files {
		f, err := os.Create(filepath.Join(folder, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, bytes))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// A barrier is where the processes of a gang wait for each other: all send a message to
// process 0, which answers when it has one of every other.
type barrier struct {
	rank  int
	peers []net.Conn // of process 0: all others; else process 0
	read  []*bufio.Reader
}

// meet connects the processes.
func meet(ctx context.Context, p Place) (*barrier, error) {
	b := &barrier{rank: p.Rank}
	if p.Size == 1 {
		return b, nil
	}
	if p.Rank == 0 {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", p.Address)
		if err != nil {
			return b, err
		}
		stop := context.AfterFunc(ctx, func() { l.Close() })
		defer stop()
		defer l.Close()
		for len(b.peers) < p.Size-1 {
			c, err := l.Accept()
			if err != nil {
				return b, err
			}
			b.add(c)
		}
		return b, nil
	}
	for {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", p.Address)
		if err == nil {
			b.add(c)
			return b, nil
		}
		select {
		case <-ctx.Done():
			return b, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond): // process 0 does not listen yet
		}
	}
}

func (b *barrier) add(c net.Conn) {
	b.peers = append(b.peers, c)
	b.read = append(b.read, bufio.NewReader(c))
}

func (b *barrier) wait() error {
	if b.rank > 0 {
		if _, err := b.peers[0].Write([]byte{1}); err != nil {
			return err
		}
	}
	for _, r := range b.read {
		if _, err := r.ReadByte(); err != nil {
			return err
		}
	}
	if b.rank == 0 {
		for _, c := range b.peers {
			if _, err := c.Write([]byte{1}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *barrier) close() {
	for _, c := range b.peers {
		c.Close()
	}
}
