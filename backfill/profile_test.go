package backfill

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/google/btree"
	"github.com/stretchr/testify/require"
)

// shelf is what the profile is compared with, for one resource: take subtracts
// need during [from, to), earliest is the first start at which need is free for
// so long.
type shelf interface {
	take(from, to time.Duration, need int64)
	earliest(need int64, length time.Duration) time.Duration
}

// ours is the profile as a shelf.
type ours struct {
	p    *profile
	need []int64 // scratch
}

func (o *ours) take(from, to time.Duration, need int64) {
	o.need[0] = need
	o.p.take(from, to, o.need, 1, false, false)
}

func (o *ours) earliest(need int64, length time.Duration) time.Duration {
	o.need[0] = need
	return o.p.earliest(o.need, length, false, Forever, Forever)
}

// point is an instant and the amount that is free from then on (flat), or by
// which it changes then (tree).
type point struct {
	at     time.Duration
	amount int64
}

// flat is the profile as a sorted slice of instants and free amounts: a search
// reads amounts as they are, taking something changes all of the interval.
type flat struct{ points []point }

func (f *flat) split(t time.Duration) int {
	n := sort.Search(len(f.points), func(i int) bool { return f.points[i].at >= t })
	if n == len(f.points) || f.points[n].at != t {
		f.points = slices.Insert(f.points, n, point{t, f.points[n-1].amount})
	}
	return n
}

func (f *flat) take(from, to time.Duration, need int64) {
	i := f.split(from)
	j := f.split(to)
	for k := i; k < j; k++ {
		f.points[k].amount -= need
	}
	f.join(j)
	f.join(i)
}

// join removes a point at which nothing changes.
func (f *flat) join(i int) {
	if i > 0 && f.points[i].amount == f.points[i-1].amount {
		f.points = slices.Delete(f.points, i, i+1)
	}
}

func (f *flat) earliest(need int64, length time.Duration) time.Duration {
	start := Forever
	for _, s := range f.points {
		if start < Forever && s.at >= later(start, length) {
			return start
		}
		if s.amount < need {
			start = Forever
		} else if start == Forever {
			start = s.at
		}
	}
	return start
}

// tree is the profile as a B-tree of changes.
type tree struct {
	now    time.Duration
	free   int64
	points *btree.BTreeG[point]
}

func (x *tree) change(t time.Duration, by int64) {
	if t <= x.now {
		x.free += by
		return
	}
	p, _ := x.points.Get(point{at: t})
	if p.at, p.amount = t, p.amount+by; p.amount == 0 {
		x.points.Delete(p)
	} else {
		x.points.ReplaceOrInsert(p)
	}
}

func (x *tree) take(from, to time.Duration, need int64) {
	x.change(from, -need)
	x.change(to, need)
}

func (x *tree) earliest(need int64, length time.Duration) time.Duration {
	free, start := x.free, Forever
	if free >= need {
		start = x.now
	}
	x.points.Ascend(func(p point) bool {
		if start < Forever && p.at >= later(start, length) {
			return false
		}
		if free += p.amount; free < need {
			start = Forever
		} else if start == Forever {
			start = p.at
		}
		return true
	})
	return start
}

// shelves returns the same plan of about so many rows in all three forms: two
// thirds of the rows are ends of running jobs, the rest starts and ends of
// reservations. Instants are 0 to span. It also returns what is free now and in
// the end.
func shelves(rows int) (all []shelf, span time.Duration, low, high int64) {
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	span = time.Duration(rows) * 64
	type taking struct {
		from, to time.Duration
		need     int64
	}
	var takings []taking
	for range rows * 2 / 3 {
		takings = append(takings, taking{0, 1 + time.Duration(r.Int64N(int64(span))), 1 + r.Int64N(4)})
	}
	for range rows / 6 {
		from := 1 + time.Duration(r.Int64N(int64(span)))
		takings = append(takings, taking{from, from + 1 + time.Duration(r.Int64N(int64(span)/20+1)), 1 + r.Int64N(4)})
	}
	changes := map[time.Duration]int64{}
	for _, k := range takings {
		changes[k.from] -= k.need
		changes[k.to] += k.need
	}
	var points []point
	for at, by := range changes {
		if by != 0 {
			points = append(points, point{at, by})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return int(a.at - b.at) })
	var sum, least int64
	for _, p := range points {
		sum += p.amount
		least = min(least, sum)
	}
	high = 8 - least // all that there is
	low = high
	o := &ours{new(profile), make([]int64, 1)}
	*o.p = newProfile(Machine{Capacity: []int64{high}})
	for _, k := range takings {
		o.take(k.from, k.to, k.need)
	}
	low = o.p.free[0]
	f := &flat{points: []point{{0, high}}}
	x := &tree{free: high, points: btree.NewG(32, func(a, b point) bool { return a.at < b.at })}
	for _, p := range points {
		x.change(p.at, p.amount)
		if p.at == 0 {
			f.points[0].amount += p.amount
		} else {
			f.points = append(f.points, point{p.at, f.points[len(f.points)-1].amount + p.amount})
		}
	}
	return []shelf{o, f, x}, span, low, high
}

// query is a job to be placed.
type query struct {
	need   int64
	length time.Duration
}

// queries are jobs whose needs are spread evenly between what is free now and
// what is free in the end, and so are their starts, about.
func queries(span time.Duration, low, high int64) []query {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]query, 256)
	for i := range out {
		out[i] = query{low + 1 + r.Int64N(high-low), 1 + time.Duration(r.ExpFloat64()*float64(span)/100)}
	}
	return out
}

// place puts a job at its earliest start, and takes it out again.
func place(s shelf, q query) time.Duration {
	at := s.earliest(q.need, q.length)
	s.take(at, at+q.length, q.need)
	s.take(at, at+q.length, -q.need)
	return at
}

func TestProfileEqualsFlatAndTree(t *testing.T) {
	for _, rows := range []int{10, 100, 1_000, 10_000} {
		all, span, low, high := shelves(rows)
		r := rand.New(rand.NewPCG(5, uint64(rows)))
		for _, q := range queries(span, low, high) {
			// Some stay, so that the profile changes.
			at := all[0].earliest(q.need, q.length)
			for k, s := range all {
				require.Equal(t, at, place(s, q), "form %d", k)
			}
			if r.IntN(4) == 0 {
				for _, s := range all {
					s.take(at, at+q.length, q.need)
				}
			}
		}
		var points []point
		all[0].(*ours).p.all(func(at time.Duration, free []int64) bool {
			points = append(points, point{at, free[0]})
			return true
		})
		points[0].at = 0
		require.Equal(t, all[1].(*flat).points, points)
	}
}

// slots is the slowest profile: for each resource what is free in each unit of
// time, and who starts there.
type slots struct {
	over          []int64
	free          [][]int64 // by instant, then resource
	strict, loose []int     // reserved starts by instant
}

func (s *slots) take(now, from, to time.Duration, need []int64, sign int64, reserved, relaxed bool) {
	for at := max(now, from); at < min(to, time.Duration(len(s.free))); at++ {
		for i, n := range need {
			s.free[at][i] -= sign * n
		}
	}
	if start := max(from, now); reserved && start < time.Duration(len(s.free)) {
		if relaxed {
			s.loose[start] += int(sign)
		} else {
			s.strict[start] += int(sign)
		}
	}
}

func (s *slots) fits(at time.Duration, need []int64, relaxed bool) bool {
	for i, n := range need {
		room := s.free[at][i]
		if relaxed {
			room += s.over[i]
		}
		if n > room {
			return false
		}
	}
	return true
}

// earliest tries every instant at which something changes, by the two lines of
// the package comment: the job's limit where it starts, the holder's at each
// reserved start within its run. Without relaxed limits the job must simply fit
// all the time.
func (s *slots) earliest(now time.Duration, need []int64, length time.Duration, relaxed, bends bool) time.Duration {
	undisturbed := func(at time.Duration) bool {
		return s.strict[at] == 0 && s.loose[at] == 0 || s.fits(at, need, s.strict[at] == 0)
	}
	end := time.Duration(len(s.free))
starts:
	for at := now; at < end; at++ {
		if at > now && s.strict[at]+s.loose[at] == 0 && slices.Equal(s.free[at-1], s.free[at]) {
			continue
		}
		if !s.fits(at, need, relaxed) || bends && !undisturbed(at) {
			continue
		}
		for t := at + 1; t < min(at+length, end); t++ {
			if bends && !undisturbed(t) || !bends && !s.fits(t, need, false) {
				continue starts
			}
		}
		return at
	}
	return Forever
}

// The profile against slots, with several resources, relaxed limits, time that
// moves on, and enough rows for many blocks.
func FuzzProfileEqualsSlots(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint8(seed%3), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, resources uint8, relaxed bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		const horizon = 3000
		m := Machine{}
		for range 1 + resources%3 {
			m.Capacity = append(m.Capacity, 200)
		}
		if m.Relaxed = slices.Clone(m.Capacity); relaxed {
			m.Relaxed[len(m.Relaxed)-1] += 1 + r.Int64N(100)
		}
		p := newProfile(m)
		s := slots{over: m.slack(), strict: make([]int, horizon), loose: make([]int, horizon)}
		for range horizon {
			s.free = append(s.free, slices.Clone(m.Capacity))
		}
		type taking struct {
			from, to          time.Duration
			need              []int64
			reserved, relaxed bool
		}
		var held []taking
		var now time.Duration
		take := func(k taking, sign int64) {
			p.take(k.from, k.to, k.need, sign, k.reserved, k.relaxed)
			s.take(now, k.from, k.to, k.need, sign, k.reserved, k.relaxed)
		}
		for step := range 500 {
			k := taking{from: now + time.Duration(r.Int64N(horizon/2)), reserved: r.IntN(2) == 0, relaxed: relaxed && r.IntN(2) == 0}
			k.to = k.from + 1 + time.Duration(r.Int64N(60))
			for range m.Capacity {
				k.need = append(k.need, r.Int64N(30))
			}
			if step >= 100 && r.IntN(4) == 0 {
				i := r.IntN(len(held))
				if held[i].from > now { // what is past is not reserved any more
					take(held[i], -1)
				}
				held = slices.Delete(held, i, i+1)
			}
			take(k, 1)
			held = append(held, k)

			q := taking{relaxed: relaxed && r.IntN(2) == 0}
			for range m.Capacity {
				q.need = append(q.need, r.Int64N(201))
			}
			length := 1 + time.Duration(r.Int64N(100))
			at := p.earliest(q.need, length, q.relaxed, Forever, Forever)
			require.Equal(t, s.earliest(now, q.need, length, q.relaxed, relaxed), at)
			within := now + 1 + time.Duration(r.Int64N(horizon/2))
			if got := p.earliest(q.need, length, q.relaxed, Forever, within); at < within {
				require.Equal(t, at, got)
			} else {
				require.Equal(t, Forever, got, "not from %v on", within)
			}

			// With a reservation at that start, it looks for an earlier one after
			// something was given back.
			q.from, q.to, q.reserved = at, later(at, length), true
			take(q, 1)
			back := held[r.IntN(len(held))]
			if back.from <= now {
				back = k
			}
			take(back, -1)
			got := p.earliest(q.need, length, q.relaxed, at, Forever)
			take(q, -1)
			require.Equal(t, min(at, s.earliest(now, q.need, length, q.relaxed, relaxed)), got)
			take(back, 1)

			most := slices.Repeat([]int64{math.MinInt64}, len(m.Capacity))
			for t := now; t < max(within, now+1); t++ {
				for i, v := range s.free[t] {
					most[i] = max(most[i], v)
				}
			}
			require.Equal(t, most, p.most(nil, within))

			var marks []int64
			first := time.Duration(-1)
			for t := now + 1; t < horizon; t++ {
				if s.strict[t]+s.loose[t] > 0 {
					if first < 0 {
						first = t
					}
					marks = append(marks, int64(t))
					for i, v := range s.free[t] {
						if s.strict[t] == 0 {
							v += s.over[i]
						}
						marks = append(marks, v)
					}
				}
			}
			require.Equal(t, marks, p.appendMarks(nil))
			next, ok := p.nextStart()
			require.Equal(t, first >= 0, ok)
			if ok {
				require.Equal(t, first, next)
			}
			if r.IntN(8) == 0 {
				to := now + time.Duration(r.Int64N(8))
				starts := 0
				for t := now + 1; t <= to; t++ {
					starts += s.strict[t] + s.loose[t]
				}
				late := starts > 0 && starts != s.strict[to]+s.loose[to]
				if starts == s.strict[to]+s.loose[to] || to == now {
					late = false
				}
				_, due, passed := p.advance(to)
				require.Equal(t, starts, due)
				require.Equal(t, late, passed)
				for t := now; t < to; t++ { // who has not started yet may start later
					s.strict[to] += s.strict[t]
					s.loose[to] += s.loose[t]
					s.strict[t], s.loose[t] = 0, 0
				}
				now = to
			}
		}
		for _, b := range p.blocks {
			require.NotEmpty(t, b.rows, "blocks are not empty")
			require.LessOrEqual(t, len(b.rows), blockRows*p.width())
		}
	})
}

func TestLaterSaturates(t *testing.T) {
	for _, c := range []struct{ t, d, want time.Duration }{
		{1, 2, 3},
		{-5, 2, -3},
		{0, Forever, Forever},
		{1, Forever, Forever},
		{Forever, 1, Forever},
		{Forever, Forever, Forever},
		{Forever - 3, 3, Forever},
		{Forever - 3, 4, Forever},
		{Forever - 4, 3, Forever - 1},
		{-Forever, Forever, 0},
		{-1, Forever, Forever - 1},
	} {
		require.Equal(t, c.want, later(c.t, c.d), "%v + %v", c.t, c.d)
	}
}

// BenchmarkProfile places a job and takes it out again: the profile against a
// flat slice of free amounts and a B-tree of changes, for one resource. x-flat
// and x-btree say how many times as long these take. The flat slice is left out
// of none: its search is the fastest, until moving its tail and changing long
// intervals cost more than the search saves.
func BenchmarkProfile(b *testing.B) {
	for _, rows := range []int{10, 100, 1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			all, span, low, high := shelves(rows)
			jobs := queries(span, low, high)
			deep := 0
			for _, q := range jobs[:64] {
				at := place(all[0], q)
				require.Equal(b, at, place(all[1], q))
				require.Equal(b, at, place(all[2], q))
				if at > span/4 {
					deep++
				}
			}
			require.Greater(b, deep, 16, "searches must go far")
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				place(all[0], jobs[i%len(jobs)])
				i++
			}
			mine := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			for k, name := range []string{"x-flat", "x-btree"} {
				begin, n := time.Now(), 0
				for ; n < 256 || n < b.N && time.Since(begin) < time.Second/2; n++ {
					place(all[1+k], jobs[n%len(jobs)])
				}
				b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(n)/mine, name)
			}
		})
	}
}
