// Package study is what the program memestimate computes: how good the estimates
// of a job's memory are that an [estimate.History] makes of a log, as in Figure 2
// of A. Batat & D. G. Feitelson, "Gang scheduling with memory considerations",
// IPDPS 2000, §2.
//
// Part of the examples: it carries no compatibility promise.
package study

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gangkit/gangkit/estimate"
)

// A Bound turns what is known of earlier runs into an estimate.
type Bound struct {
	Name string
	Of   estimate.Bound
}

// A State is what logs have taught.
type State struct {
	History *estimate.History
	month   int // of the current period: 12·year + month; 0 if nothing was observed yet
}

// NewState returns a State of an empty history, which keeps all that a log holds.
func NewState() (*State, error) {
	h, err := estimate.NewHistory(estimate.Config{Paths: estimate.MaxRecords, Records: estimate.MaxRecords})
	return &State{History: h}, err
}

// advance rotates the history if months have ended.
func (s *State) advance(now time.Time) {
	month := 12*now.Year() + int(now.Month())
	for range min(month-s.month, 2) { // two forget everything
		s.History.Rotate()
	}
	s.month = max(s.month, month)
}

// Save writes the state, for [State.Load]. Errors are those of w.
func (s *State) Save(w io.Writer) error {
	if _, err := fmt.Fprintf(w, stateFormat, s.month); err != nil {
		return err
	}
	return s.History.Snapshot(w)
}

// Load replaces the state by one that Save wrote. Otherwise the state stays, and
// the error is [ErrState], one of [estimate.History.Restore], or of r.
func (s *State) Load(r io.Reader) error {
	in := bufio.NewReader(r)
	line, err := in.ReadSlice('\n')
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	var month int
	if n, err := fmt.Sscanf(string(line), stateFormat, &month); n != 1 || err != nil || month < 0 || month > 12*10_000 {
		return ErrState
	}
	if err := s.History.Restore(in); err != nil {
		return err
	}
	s.month = month
	return nil
}

const stateFormat = "memestimate, month %d\n"

// Always returns a time that holds every job of the log.
func Always(l *Log) (from, to time.Time) {
	return l.Start.Add(l.Jobs[0].Submit), l.Start.Add(l.Jobs[len(l.Jobs)-1].Submit + 1)
}

// Judge runs through the log: a job is estimated when it is submitted, and its
// memory observed when it ends. At one instant the ends of earlier jobs come
// first; equal events are in the order of the log. The history rotates as calendar
// months end. Judged are the jobs submitted from one instant up to, and without,
// another. done, if not nil, is called after each job.
//
// Errors: ctx's, those of the history, and [ErrEmpty] if there is no job to judge.
func Judge(ctx context.Context, l *Log, s *State, bounds []Bound, from, to time.Time, done func()) ([]Quality, error) {
	list := make([]Quality, len(bounds))
	for i, b := range bounds {
		list[i].Bound = b.Name
	}
	ends := make([]int, len(l.Jobs))
	for i := range ends {
		ends[i] = i
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(l.Jobs[a].End, l.Jobs[b].End) })
	observe := func() error {
		j := &l.Jobs[ends[0]]
		ends = ends[1:]
		s.advance(l.Start.Add(j.End))
		return s.History.Observe(j.Job, j.Memory)
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		for l.Jobs[ends[0]].End < j.Submit || l.Jobs[ends[0]].End == j.Submit && ends[0] < i {
			if err := observe(); err != nil {
				return nil, err
			}
		}
		now := l.Start.Add(j.Submit)
		s.advance(now)
		if !now.Before(from) && now.Before(to) {
			past, level := s.History.Past(j.Job)
			for k := range list {
				list[k].Jobs++
				if level != estimate.None {
					list[k].add(max(bounds[k].Of(past), 0), j.Memory)
				}
			}
		}
		if done != nil {
			done()
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for len(ends) > 0 {
		if err := observe(); err != nil {
			return nil, err
		}
	}
	if len(list) > 0 && list[0].Jobs == 0 {
		return nil, fmt.Errorf("%s from %s to %s: %w", l.Name, from.Format(time.DateTime), to.Format(time.DateTime), ErrEmpty)
	}
	return list, nil
}
