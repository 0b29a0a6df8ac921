package backfill

import (
	"slices"
	"time"
)

// blockRows is the greatest number of rows of a block. Searching and changing
// one costs about its length, finding it about the number of blocks.
const blockRows = 64

// profile is what running jobs and reservations leave free from now on, per
// resource, a step function of time. It keeps not the amounts but their changes,
// so that taking something over an interval changes two places, however long
// the interval. The changes are rows in order of time, cut into blocks; a block
// knows its total change and the extremes of what adds up inside it, so that a
// search passes over it without reading its rows.
//
// A row is a run of words:
//
//	time, change of each resource, reservations that start, those of them that are not relaxed
//
// Rows in which nothing changes do not exist.
type profile struct {
	now    time.Duration
	free   []int64 // at now
	starts int64   // reservations that start now or earlier, and whose holders have not started
	strict int64   // those of them that are not relaxed
	over   []int64 // what a relaxed job may use above capacity
	bends  bool    // some of over is not zero
	blocks []block // none is empty
	spare  []block
	sum    []int64 // scratch of earliest: free at the place of the search
}

type block struct {
	rows   []int64
	memory []int64 // what rows is a part of
	stale  bool    // sums are not those of rows
	sums   []int64 // per resource: total change, least and greatest sum of the first changes
	starts int64   // reservations that start here
}

func newProfile(m Machine) profile {
	over := m.slack()
	return profile{
		free:  slices.Clone(m.Capacity),
		over:  over,
		bends: slices.Max(over) > 0,
		sum:   make([]int64, len(over)),
	}
}

// width is the number of words in a row.
func (p *profile) width() int { return len(p.free) + 3 }

func (b *block) at(row int) time.Duration { return time.Duration(b.rows[row]) }

// advance makes now the present. It returns how many rows it passed, how many
// reservations started in them, and whether any of these did before now. O(rows
// passed).
func (p *profile) advance(now time.Duration) (rows, starts int, late bool) {
	w := p.width()
	for len(p.blocks) > 0 && p.blocks[0].at(0) <= now {
		b := &p.blocks[0]
		n := 0
		for ; n < len(b.rows) && b.at(n) <= now; n += w {
			for i := range p.free {
				p.free[i] += b.rows[n+1+i]
			}
			if s := b.rows[n+w-2]; s > 0 {
				b.starts -= s
				p.starts += s
				p.strict += b.rows[n+w-1]
				starts += int(s)
				late = late || b.at(n) < now
			}
			rows++
		}
		if n == len(b.rows) {
			p.drop(0)
		} else {
			b.rows, b.stale = b.rows[n:], true
		}
	}
	p.now = now
	return rows, starts, late
}

// take subtracts need during [from, to), the part of it that is not past, and
// counts a reservation that starts at from if reserved is set. Sign −1 undoes
// that.
func (p *profile) take(from, to time.Duration, need []int64, sign int64, reserved, relaxed bool) {
	var starts, strict int64
	if reserved {
		starts = sign
		if !relaxed {
			strict = sign
		}
	}
	if from > p.now {
		p.change(from, need, -sign, starts, strict)
	} else {
		p.starts, p.strict = p.starts+starts, p.strict+strict
		if to <= p.now {
			return
		}
		for i, n := range need {
			p.free[i] -= sign * n
		}
	}
	if to < Forever {
		p.change(to, need, sign, 0, 0)
	}
}

// change adds to the row at t, making or removing it as needed.
func (p *profile) change(t time.Duration, need []int64, sign, starts, strict int64) {
	w := p.width()
	if len(p.blocks) == 0 {
		p.insert(0)
	}
	at, end := 0, len(p.blocks) // the last block that begins by t, or the first
	for at+1 < end {
		if mid := (at + end) / 2; p.blocks[mid].at(0) <= t {
			at = mid
		} else {
			end = mid
		}
	}
	b := &p.blocks[at]
	n, end := 0, len(b.rows)/w // the first row not before t
	for n < end {
		if mid := (n + end) / 2; b.at(mid*w) < t {
			n = mid + 1
		} else {
			end = mid
		}
	}
	n *= w
	if n == len(b.rows) || b.at(n) != t {
		if len(b.rows) == blockRows*w { // full: the upper half becomes a block of its own
			p.insert(at + 1)
			b = &p.blocks[at]
			upper := &p.blocks[at+1]
			half := blockRows / 2 * w
			upper.rows = append(upper.rows, b.rows[half:]...)
			b.rows = b.rows[:half]
			b.stale = true
			for k := w - 2; k < len(upper.rows); k += w {
				upper.starts += upper.rows[k]
			}
			b.starts -= upper.starts
			if n > half {
				at, b, n = at+1, upper, n-half
			}
		}
		if len(b.rows)+w > cap(b.rows) { // rows at the front are gone: use their place
			b.rows = append(b.memory[:0], b.rows...)
		}
		b.rows = b.rows[:len(b.rows)+w]
		copy(b.rows[n+w:], b.rows[n:])
		clear(b.rows[n : n+w])
		b.rows[n] = int64(t)
	}
	row := b.rows[n : n+w]
	row[w-2] += starts
	row[w-1] += strict
	b.starts += starts
	b.stale = true
	empty := row[w-2] == 0
	for i, v := range need {
		row[1+i] += sign * v
		empty = empty && row[1+i] == 0
	}
	if empty {
		if n == 0 {
			b.rows = b.rows[w:]
		} else {
			b.rows = append(b.rows[:n], b.rows[n+w:]...)
		}
		if len(b.rows) == 0 {
			p.drop(at)
		}
	}
}

// insert makes block i, without rows.
func (p *profile) insert(i int) {
	var b block
	if n := len(p.spare); n > 0 {
		b, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		b = block{memory: make([]int64, blockRows*p.width()), sums: make([]int64, 3*len(p.free))}
	}
	b.rows, b.stale, b.starts = b.memory[:0], true, 0
	p.blocks = slices.Insert(p.blocks, i, b)
}

// drop removes block i, which has no rows.
func (p *profile) drop(i int) {
	p.spare = append(p.spare, p.blocks[i])
	p.blocks = slices.Delete(p.blocks, i, i+1)
}

// summarize brings the sums of b up to date.
func (p *profile) summarize(b *block) {
	r, w := len(p.free), p.width()
	for i := range r {
		var sum, least, most int64
		for k := 1 + i; k < len(b.rows); k += w {
			sum += b.rows[k]
			least, most = min(least, sum), max(most, sum)
		}
		b.sums[3*i], b.sums[3*i+1], b.sums[3*i+2] = sum, least, most
	}
	b.stale = false
}

// earliest returns the first instant from now on, but before both until and
// within, at which a job can start that needs so much for so long, or until if
// there is none.
//
// until is a start at which the job is known to fit; if it holds a reservation
// there, which is part of the profile, the answer is as if it did not. O(rows)
// up to the answer, less where blocks are passed over.
func (p *profile) earliest(need []int64, length time.Duration, relaxed bool, until, within time.Duration) time.Duration {
	var (
		w     = p.width()
		start = Forever            // of the stretch in which the job fits
		idle  = min(within, until) // while there is none, the search ends here
		stop  = idle
		sum   = append(p.sum[:0], p.free...)
	)
	if p.fits(sum, need, relaxed) && (!p.bends || p.starts == 0 || p.fits(sum, need, p.strict == 0)) {
		start, stop = p.now, min(later(p.now, length), until)
	}
	for bi := range p.blocks {
		b := &p.blocks[bi]
		if b.at(0) >= stop {
			break
		}
		if bi > 0 { // the first is read anyway
			if b.stale {
				p.summarize(b)
			}
			if p.passes(b, sum, need, start < Forever, relaxed) {
				for i := range sum {
					sum[i] += b.sums[3*i]
				}
				continue
			}
		}
		if len(need) == 1 && !p.bends { // the loop below for one resource, several times as fast
			free, need := sum[0], need[0]
			for n := 0; n+3 < len(b.rows); n += 4 {
				t := time.Duration(b.rows[n])
				if t >= stop {
					return min(start, until)
				}
				if free += b.rows[n+1]; free < need {
					start, stop = Forever, idle
				} else if start == Forever {
					start, stop = t, min(later(t, length), until)
				}
			}
			sum[0] = free
			continue
		}
		for n := 0; n < len(b.rows); n += w {
			row := b.rows[n : n+w]
			t := time.Duration(row[0])
			if t >= stop {
				return min(start, until)
			}
			for i := range sum {
				sum[i] += row[1+i]
			}
			// Limits are tested where jobs start: if they differ, at reserved starts,
			// else it is the same to test them everywhere.
			tested := !p.bends || row[w-2] > 0
			if tested && !p.fits(sum, need, row[w-1] == 0 && p.bends) {
				start, stop = Forever, idle
			} else if start == Forever && p.fits(sum, need, relaxed) {
				start, stop = t, min(later(t, length), until)
			}
		}
	}
	return min(start, until)
}

// most appends the greatest amount of each resource that is free before within.
func (p *profile) most(dst []int64, within time.Duration) []int64 {
	w := p.width()
	sum := append(p.sum[:0], p.free...)
	dst = append(dst, sum...)
	for bi := range p.blocks {
		b := &p.blocks[bi]
		if b.at(0) >= within {
			break
		}
		if bi > 0 && b.at(len(b.rows)-w) < within { // all of it
			if b.stale {
				p.summarize(b)
			}
			for i := range sum {
				dst[i] = max(dst[i], sum[i]+b.sums[3*i+2])
				sum[i] += b.sums[3*i]
			}
			continue
		}
		for n := 0; n < len(b.rows) && b.at(n) < within; n += w {
			for i := range sum {
				sum[i] += b.rows[n+1+i]
				dst[i] = max(dst[i], sum[i])
			}
		}
	}
	return dst
}

// fits says whether need fits into free, and above it if relaxed.
func (p *profile) fits(free, need []int64, relaxed bool) bool {
	for i, n := range need {
		room := free[i]
		if relaxed {
			room += p.over[i]
		}
		if n > room {
			return false
		}
	}
	return true
}

// passes says whether the rows of b change nothing for a search that comes with
// sum free: none of them stops a job that fits, or none lets one start.
func (p *profile) passes(b *block, sum, need []int64, fitting, relaxed bool) bool {
	for i, n := range need {
		if fitting {
			if n > sum[i]+b.sums[3*i+1] {
				return false
			}
			continue
		}
		room := sum[i] + b.sums[3*i+2]
		if relaxed {
			room += p.over[i]
		}
		if n > room {
			return true
		}
	}
	return fitting
}

// appendMarks appends for each instant at which reservations start a row: the
// instant, then what their holders' limits leave there, per resource.
func (p *profile) appendMarks(dst []int64) []int64 {
	w := p.width()
	sum := append(p.sum[:0], p.free...)
	for bi := range p.blocks {
		b := &p.blocks[bi]
		if b.starts == 0 {
			if b.stale {
				p.summarize(b)
			}
			for i := range sum {
				sum[i] += b.sums[3*i]
			}
			continue
		}
		for n := 0; n < len(b.rows); n += w {
			row := b.rows[n : n+w]
			for i := range sum {
				sum[i] += row[1+i]
			}
			if row[w-2] > 0 {
				dst = append(dst, row[0])
				for i, v := range sum {
					if row[w-1] == 0 {
						v += p.over[i]
					}
					dst = append(dst, v)
				}
			}
		}
	}
	return dst
}

// begin notes that the holder of a reservation that has come starts.
func (p *profile) begin(relaxed bool) {
	p.starts--
	if !relaxed {
		p.strict--
	}
}

// nextStart returns the first instant at which a reservation starts.
func (p *profile) nextStart() (time.Duration, bool) {
	w := p.width()
	for i := range p.blocks {
		if b := &p.blocks[i]; b.starts > 0 {
			for n := 0; ; n += w {
				if b.rows[n+w-2] > 0 {
					return b.at(n), true
				}
			}
		}
	}
	return 0, false
}

// all yields the steps of the profile.
func (p *profile) all(yield func(time.Duration, []int64) bool) {
	free := slices.Clone(p.free)
	if !yield(p.now, free) {
		return
	}
	w := p.width()
	for i := range p.blocks {
		b := &p.blocks[i]
		for n := 0; n < len(b.rows); n += w {
			for k := range free {
				free[k] += b.rows[n+1+k]
			}
			if !yield(b.at(n), free) {
				return
			}
		}
	}
}
