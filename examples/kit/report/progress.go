package report

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	redraw    = 100 * time.Millisecond
	maxStride = 4096
)

// A Progress shows on a terminal how much of some long work is done. Into a
// file or a pipe it writes nothing, and so do the zero and the nil Progress.
// It must not be used concurrently.
type Progress struct {
	bar           *progressbar.ProgressBar // nil: silent
	w             io.Writer
	done, total   int64 // total ≤ 0: not known
	skip, stride  int   // calls of Add left until the clock is read
	checked, last time.Time
	shown         bool
}

// NewProgress returns the progress of total steps of work; total ≤ 0 says that
// their number is not known. w is os.Stderr as a rule.
func NewProgress(w *os.File, title string, total int64) *Progress {
	if !term.IsTerminal(int(w.Fd())) {
		return &Progress{}
	}
	return newProgress(w, title, total)
}

func newProgress(w io.Writer, title string, total int64) *Progress {
	steps := total
	if total <= 0 {
		steps = -1 // the bar's word for it
	}
	now := time.Now()
	return &Progress{
		bar: progressbar.NewOptions64(steps,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(title),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine
			progressbar.OptionSetTheme(progressbar.ThemeASCII),
		),
		w: w, total: total, stride: 1, skip: 1, checked: now, last: now,
	}
}

// Add says that n more steps are done. It may be called for every event of a
// simulation: nearly all calls only count. The clock is read every few
// thousand calls, more often if they are slow, and the bar drawn at most ten
// times a second.
func (p *Progress) Add(n int64) {
	if p == nil || p.bar == nil {
		return
	}
	p.done += n
	if p.skip--; p.skip > 0 {
		return
	}
	now := time.Now()
	switch since := now.Sub(p.checked); {
	case since < redraw/100:
		p.stride = min(2*p.stride, maxStride)
	case since > redraw:
		p.stride = max(p.stride/2, 1)
	}
	p.skip, p.checked = p.stride, now
	if now.Sub(p.last) >= redraw {
		p.last = now
		p.draw()
	}
}

// Done ends the line: the bar stays on the screen at what was reached, and
// what follows starts below it. Work too short for a bar to have been drawn
// leaves the screen as it was. Further calls do nothing.
func (p *Progress) Done() {
	if p == nil || p.bar == nil {
		return
	}
	if p.shown {
		p.draw()
		fmt.Fprintln(p.w)
	}
	p.bar = nil
}

func (p *Progress) draw() {
	if p.total > 0 {
		p.done = min(p.done, p.total) // the bar refuses more
	}
	p.bar.Set64(p.done) // it fails as the terminal does: nothing to be done
	p.shown = true
}
