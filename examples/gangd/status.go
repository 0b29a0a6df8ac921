package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/gangkit/gangkit/examples/gangd/scheduler"
	"github.com/gangkit/gangkit/examples/kit/command"
	"github.com/gangkit/gangkit/examples/kit/report"
)

const statusIntro = `gangd status shows what a gangd that runs is doing: the matrix of slots and nodes, the
slots that run in this quantum, who is whose partner, the jobs and what they are
predicted to compute, the memory of each node, and the queue. On a terminal it shows
that live until gangd ends, or Ctrl-C.

Flags:
`

func defaultSocket() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("gangd-%d.socket", os.Getuid()))
}

// serve answers every connection with the state, until it is closed.
func serve(path string, state func() *scheduler.Status) (io.Closer, error) {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%s: another gangd answers there", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil { // of a gangd that was killed
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				time.Sleep(100 * time.Millisecond) // out of descriptors
				continue
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				_ = json.NewEncoder(c).Encode(state()) // who asked may have gone
			}()
		}
	}()
	return l, nil
}

// ask returns the state of the gangd at a socket, or nil if it has only just begun.
func ask(ctx context.Context, path string) (*scheduler.Status, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("no gangd runs: %w", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return nil, err
	}
	var s *scheduler.Status
	if err := json.NewDecoder(c).Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: what answers is no gangd: %w", path, err)
	}
	return s, nil
}

func status(ctx context.Context, args []string, stdout io.Writer) error {
	f := newFlags("gangd status")
	socket := f.String("socket", defaultSocket(), "of the gangd that is asked, a Unix `socket`")
	once := f.Bool("once", false, "show it once")
	every := f.Duration("every", 500*time.Millisecond, "`time` between two looks")
	asJSON := f.Bool("json", false, "print one JSON object, once")
	if err := command.Parse(f, statusIntro, args); err != nil {
		return err
	}
	if *every < 10*time.Millisecond {
		return command.Input(fmt.Errorf("-every %v: want 10ms or more", *every))
	}
	terminal, ok := stdout.(*os.File)
	live := ok && term.IsTerminal(int(terminal.Fd())) && !*once && !*asJSON
	for looks := 0; ; looks++ {
		s, err := ask(ctx, *socket)
		switch {
		case err != nil && looks > 0:
			return nil // it has ended
		case err != nil:
			return err
		case *asJSON:
			return report.WriteJSON(stdout, s)
		}
		text := draw(s)
		if live {
			width, height, err := term.GetSize(int(terminal.Fd()))
			if err == nil {
				text = clip(text, width, height-1)
			}
			text = "\x1b[H\x1b[2J" + text
		}
		if _, err := io.WriteString(stdout, text); err != nil || !live {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*every):
		}
	}
}

// clip cuts a text to the size of a terminal.
func clip(text string, width, height int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > height && height > 0 {
		lines = lines[:height]
	}
	for i, line := range lines {
		if r := []rune(line); len(r) > width && width > 0 {
			lines[i] = string(r[:width-1]) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// draw is the state as text.
func draw(s *scheduler.Status) string {
	if s == nil {
		return "gangd begins\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "gangd: %s, quantum %v, number %d; %d ended (%d without success), %d wait, %d to come; %.1f s\n\n",
		s.Policy, s.Quantum, s.Quanta, s.Ended, s.Failed, len(s.Queue), s.ToCome, s.Elapsed.Seconds())
	matrix := &report.Table{Columns: []report.Column{{Title: "slot"}, {Title: "now"}, {Title: "partner"}}}
	for _, n := range s.Nodes {
		matrix.Columns = append(matrix.Columns, report.Column{Title: n.Name})
	}
	for slot, row := range s.Slots {
		now, partner := "", any(nil)
		switch slot {
		case s.Slot:
			now = "runs"
		case s.Partner:
			now = "beside"
		}
		if slot < len(s.Partners) && s.Partners[slot] >= 0 {
			partner = s.Partners[slot]
		}
		cells := []any{slot, now, partner}
		for _, name := range row {
			cells = append(cells, name)
		}
		matrix.Add(cells...)
	}
	memory := []any{nil, "memory", nil}
	for _, n := range s.Nodes {
		limit := "no limit"
		if n.Limit < 1<<62 {
			limit = humanize.IBytes(uint64(max(n.Limit, 0)))
		}
		memory = append(memory, humanize.IBytes(uint64(n.Used))+" of "+limit)
	}
	matrix.Add(memory...)
	_ = matrix.WriteText(&b) // into memory
	if len(s.Gangs) > 0 {
		gangs := &report.Table{Columns: []report.Column{
			{Title: "job"}, {Title: "slot"}, {Title: "state"}, {Title: "CPU", Unit: "predicted", Format: "%.2f"}, {Title: "memory"}, {Title: "peak"},
		}}
		for _, g := range s.Gangs {
			var share any
			if g.Measured {
				share = g.Share
			}
			gangs.Add(g.Name, g.Slot, g.State, share, humanize.IBytes(uint64(g.Memory)), humanize.IBytes(uint64(g.Peak)))
		}
		b.WriteString("\n")
		_ = gangs.WriteText(&b)
	}
	if len(s.Queue) > 0 {
		queue := &report.Table{Columns: []report.Column{
			{Title: "waits"}, {Title: "nodes"}, {Title: "memory"}, {Title: "skipped"}, {Title: "for", Unit: "s", Format: "%.1f"},
		}}
		for _, q := range s.Queue {
			queue.Add(q.Name, q.Processes, humanize.IBytes(uint64(q.Memory)), q.Skips, q.Waited.Seconds())
		}
		b.WriteString("\n")
		_ = queue.WriteText(&b)
	}
	return b.String()
}
