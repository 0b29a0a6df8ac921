package admission_test

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/admission"
)

func newQueue[ID comparable](t testing.TB, maxSkips int) *admission.Queue[ID] {
	q, err := admission.NewQueue[ID](admission.QueueConfig{MaxSkips: maxSkips})
	require.NoError(t, err)
	return q
}

// mb is a need of one node.
func mb(memory int64) admission.Need { return admission.Need{Nodes: 1, Memory: memory} }

// listed is a waiting job as the queue shows it.
type listed struct {
	id    int
	need  admission.Need
	skips int
}

func list(t testing.TB, q *admission.Queue[int]) (jobs []listed) {
	for id, need := range q.All() {
		skips, ok := q.Skips(id)
		require.True(t, ok)
		jobs = append(jobs, listed{id, need, skips})
	}
	require.Len(t, jobs, q.Len())
	return jobs
}

// slowQueue is the twin of Queue: the rules of the package comment on a slice.
type slowQueue struct {
	k    int
	jobs []listed
}

func (q *slowQueue) blocked() (int, bool) {
	i := slices.IndexFunc(q.jobs, func(j listed) bool { return j.skips >= q.k })
	return i, i >= 0
}

func (q *slowQueue) next(fits func(admission.Need) bool) (started listed, ok bool) {
	limit := len(q.jobs)
	if i, ok := q.blocked(); ok {
		limit = i + 1
	}
	for i, j := range q.jobs[:limit] {
		if fits(j.need) {
			for k := range q.jobs[:i] {
				q.jobs[k].skips++
			}
			q.jobs = slices.Delete(q.jobs, i, i+1)
			return j, true
		}
	}
	return listed{}, false
}

func (q *slowQueue) arrive(j listed, fits func(admission.Need) bool) bool {
	if _, ok := q.blocked(); ok || !fits(j.need) {
		q.jobs = append(q.jobs, j)
		return false
	}
	for k := range q.jobs {
		q.jobs[k].skips++
	}
	return true
}

// Random calls, hostile ones among them, on the queue and its twin.
func FuzzQueueEqualsTwin(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed, []int{0, 1, 2, 15, admission.FCFS, admission.FirstFit}[seed%6], uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, maxSkips int, kind uint8) {
		q, err := admission.NewQueue[int](admission.QueueConfig{MaxSkips: maxSkips})
		if maxSkips < admission.FCFS {
			require.ErrorIs(t, err, admission.ErrSkips)
			return
		}
		require.NoError(t, err)
		twin := &slowQueue{k: maxSkips}
		switch maxSkips {
		case 0:
			twin.k = 15
		case admission.FCFS:
			twin.k = 0
		}
		r := rand.New(rand.NewPCG(seed, 12))
		nodes := 1 + int(kind%2)*9   // of one amount, or of two
		growing := int(kind / 2 % 3) // how long the queue gets
		backs := int(kind / 6 % 3)   // how often jobs are put back
		var gone []listed            // to be put back
		id := 0
		random := func() admission.Need { return admission.Need{Nodes: 1 + r.IntN(nodes), Memory: r.Int64N(1000)} }
		same := func() { require.Equal(t, twin.jobs, append([]listed{}, list(t, q)...)) }
		twin.jobs = []listed{}
		for step := range 300 {
			limit := admission.Need{Nodes: 1 + r.IntN(nodes), Memory: r.Int64N(1000) >> r.IntN(8)}
			fits := func(n admission.Need) bool { return n.Nodes <= limit.Nodes && n.Memory <= limit.Memory }
			odd := func(n admission.Need) bool { return n.Memory%3 == 0 } // not monotone
			switch {
			case r.IntN(3+growing) < 2:
				// As a finish: with may, with fits, or with a part of the test in each.
				asked := -1
				inOrder := func(test func(admission.Need) bool) func(int, admission.Need) bool {
					return func(id int, need admission.Need) bool {
						k := slices.IndexFunc(twin.jobs, func(j listed) bool { return j.id == id })
						require.Greater(t, k, asked, "one after the other")
						require.Equal(t, twin.jobs[k].need, need)
						asked = k
						return test(need)
					}
				}
				var got, want listed
				var ok, wantOK bool
				switch r.IntN(4) {
				case 0:
					got.id, got.skips, ok = q.Next(fits, nil)
					want, wantOK = twin.next(fits)
				case 1:
					got.id, got.skips, ok = q.Next(nil, inOrder(odd))
					want, wantOK = twin.next(odd)
				case 2:
					got.id, got.skips, ok = q.Next(fits, inOrder(odd))
					want, wantOK = twin.next(func(n admission.Need) bool { return fits(n) && odd(n) })
				default:
					got.id, got.skips, ok = q.Next(nil, nil)
					want, wantOK = twin.next(func(admission.Need) bool { return true })
				}
				require.Equal(t, wantOK, ok)
				require.Equal(t, want.id, got.id)
				require.Equal(t, want.skips, got.skips)
				if ok {
					gone = append(gone, want)
				}
			case len(gone) > 0 && r.IntN(6) < 2*backs:
				j := gone[len(gone)-1]
				gone = gone[:len(gone)-1]
				j.need = random()
				require.NoError(t, q.PutBack(j.id, j.need, j.skips))
				twin.jobs = slices.Insert(twin.jobs, 0, j)
			case len(twin.jobs) > 0 && r.IntN(10) == 0:
				k := r.IntN(len(twin.jobs))
				require.NoError(t, q.Remove(twin.jobs[k].id))
				require.ErrorIs(t, q.Remove(twin.jobs[k].id), admission.ErrUnknown)
				_, ok := q.Skips(twin.jobs[k].id)
				require.False(t, ok)
				twin.jobs = slices.Delete(twin.jobs, k, k+1)
			case r.IntN(3) == 0:
				j := listed{id: id, need: random()}
				id++
				started, err := q.Arrive(j.id, j.need, func(_ int, n admission.Need) bool { return fits(n) })
				require.NoError(t, err)
				require.Equal(t, twin.arrive(j, fits), started)
			case r.IntN(10) == 0:
				bad := []admission.Need{{}, {Nodes: -1}, {Nodes: math.MinInt, Memory: 1}, {Nodes: math.MaxInt}, {Nodes: 1, Memory: -1}, {Nodes: 1, Memory: math.MinInt64}}[r.IntN(6)]
				require.ErrorIs(t, q.Push(id, bad), admission.ErrNeed)
				require.ErrorIs(t, q.PutBack(id, bad, 0), admission.ErrNeed)
				_, err := q.Arrive(id, bad, nil)
				require.ErrorIs(t, err, admission.ErrNeed)
				require.ErrorIs(t, q.PutBack(id, mb(1), -1), admission.ErrSkips)
				if twin.k < math.MaxInt {
					require.ErrorIs(t, q.PutBack(id, mb(1), twin.k+1), admission.ErrSkips)
				}
				if len(twin.jobs) > 0 {
					known := twin.jobs[r.IntN(len(twin.jobs))].id
					require.ErrorIs(t, q.Push(known, mb(1)), admission.ErrDuplicate)
					require.ErrorIs(t, q.PutBack(known, mb(1), 0), admission.ErrDuplicate)
					_, err := q.Arrive(known, mb(1), nil)
					require.ErrorIs(t, err, admission.ErrDuplicate)
				}
			default:
				j := listed{id: id, need: random()}
				id++
				require.NoError(t, q.Push(j.id, j.need))
				twin.jobs = append(twin.jobs, j)
			}
			if step%16 == 0 || len(twin.jobs) < 10 {
				same()
			}
		}
		same()
	})
}

// A queue that gets long and short again, and is put back into at the front
// alone, finds its positions. Restoring it from its own list gives the same.
func TestQueueMovesItsJobs(t *testing.T) {
	q, twin := newQueue[int](t, 3), &slowQueue{k: 3}
	r := rand.New(rand.NewPCG(13, 0))
	all := func(admission.Need) bool { return true }
	id := 0
	for _, n := range []int{100, 10, 3000, 0, 1, 500, 20} {
		for len(twin.jobs) < n {
			j := listed{id: id, need: mb(r.Int64N(1000))}
			id++
			if r.IntN(2) == 0 {
				require.NoError(t, q.Push(j.id, j.need))
				twin.jobs = append(twin.jobs, j)
			} else {
				j.skips = r.IntN(3)
				require.NoError(t, q.PutBack(j.id, j.need, j.skips))
				twin.jobs = slices.Insert(twin.jobs, 0, j)
			}
			if r.IntN(4) == 0 {
				limit := r.Int64N(1000)
				small := func(n admission.Need) bool { return n.Memory <= limit }
				q.Next(small, nil)
				twin.next(small)
			}
		}
		require.Equal(t, twin.jobs, list(t, q))
		for len(twin.jobs) > n {
			got, skips, ok := q.Next(nil, nil)
			require.True(t, ok)
			want, _ := twin.next(all)
			require.Equal(t, want.id, got)
			require.Equal(t, want.skips, skips)
		}
		restored := newQueue[int](t, 3)
		for _, j := range slices.Backward(twin.jobs) {
			require.NoError(t, restored.PutBack(j.id, j.need, j.skips))
		}
		require.Equal(t, list(t, q), list(t, restored))
	}
}

var operations = flag.Int("operations", 1_000_000, "random operations of TestNobodyIsSkippedMoreThan15Times")

// A machine of some nodes runs jobs out of a queue. Nobody is ever skipped more
// than 15 times, by a count of the test's own; after each scan, nobody waits who
// could have started; and nobody waits if nothing runs.
func TestNobodyIsSkippedMoreThan15Times(t *testing.T) {
	t.Parallel()
	const k = 15
	n := *operations
	if testing.Short() {
		n /= 10
	}
	nodes, err := admission.NewNodes(admission.NodesConfig{Memory: []int64{1000, 1000, 800, 500}})
	require.NoError(t, err)
	q := newQueue[int](t, 0)
	r := rand.New(rand.NewPCG(15, 0))
	type job struct {
		id    int
		need  admission.Need
		on    []int
		skips int
		back  bool // was put back
	}
	var waiting, running, spare []*job // waiting in order
	known := map[int]*job{}
	most, starts, exceptions, blocked := 0, 0, 0, 0
	start := func(id int, need admission.Need) bool {
		j := known[id]
		idle := nodes.Idle()
		var ok bool
		j.on, ok = nodes.AppendNodes(j.on[:0], need)
		if !ok {
			return false
		}
		if idle && !nodes.Fits(need.Memory, j.on...).Admit {
			exceptions++
		}
		if nodes.Occupy(need.Memory, j.on...) != nil {
			return false
		}
		running = append(running, j)
		starts++
		return true
	}
	enough := nodes.Enough
	scan := func() {
		for {
			id, skips, ok := q.Next(enough, start)
			if !ok {
				break
			}
			i := 0
			for ; waiting[i].id != id; i++ {
				waiting[i].skips++
				most = max(most, waiting[i].skips)
			}
			if waiting[i].skips != skips {
				require.Equal(t, waiting[i].skips, skips)
			}
			waiting = slices.Delete(waiting, i, i+1)
		}
		previous := math.MaxInt // of those never put back
		for i, j := range waiting {
			if nodes.Enough(j.need) {
				require.Fail(t, "somebody waits who could have started", "%d of %d", i, len(waiting))
			}
			if !j.back && j.skips > previous {
				require.Fail(t, "skips increase towards the tail", "%d of %d", i, len(waiting))
			}
			if !j.back {
				previous = j.skips
			}
			if j.skips == k {
				blocked++
				break
			}
		}
		if nodes.Idle() && len(waiting) > 0 {
			require.Fail(t, "jobs wait in an idle system")
		}
	}
	random := func() admission.Need {
		need := admission.Need{Nodes: 1 + r.IntN(4), Memory: r.Int64N(1001) >> r.IntN(5)}
		if r.IntN(50) == 0 {
			need.Memory = 1001 + r.Int64N(1000) // more than any node has
		}
		return need
	}
	// Twice as much arrives as can run while the queue is short, half as much
	// while it is long.
	busy := false
	for operation := range n {
		if len(waiting) > 30 {
			busy = true
		} else if len(waiting) < 5 {
			busy = false
		}
		switch choice := r.IntN(40); {
		case len(running) > 0 && (choice < 15 || busy && choice < 36): // one ends
			i := r.IntN(len(running))
			j := running[i]
			running[i] = running[len(running)-1]
			running = running[:len(running)-1]
			if err := nodes.Release(j.need.Memory, j.on...); err != nil {
				require.NoError(t, err)
			}
			delete(known, j.id)
			spare = append(spare, j)
			scan()
		case choice == 36 && len(running) > 0: // one was underestimated
			i := r.IntN(len(running))
			j := running[i]
			measured := min(j.need.Memory+r.Int64N(300), 2000)
			require.NoError(t, nodes.Reestimate(j.need.Memory, measured, j.on...))
			j.need.Memory = measured
			over := slices.ContainsFunc(j.on, func(i int) bool { return nodes.Used(i) > nodes.Limit(i) })
			if over && len(running) > 1 {
				require.NoError(t, nodes.Release(measured, j.on...))
				running = slices.Delete(running, i, i+1)
				require.NoError(t, q.PutBack(j.id, j.need, j.skips))
				waiting = slices.Insert(waiting, 0, j)
				j.back = true
				scan()
			}
		case choice == 37 && len(waiting) > 0: // one is cancelled
			i := r.IntN(len(waiting))
			require.NoError(t, q.Remove(waiting[i].id))
			delete(known, waiting[i].id)
			spare = append(spare, waiting[i])
			waiting = slices.Delete(waiting, i, i+1)
			scan() // those behind may have been held up
		default: // one arrives
			j := &job{}
			if len(spare) > 0 {
				j, spare = spare[len(spare)-1], spare[:len(spare)-1]
			}
			*j = job{id: operation, need: random(), on: j.on}
			known[j.id] = j
			held := slices.ContainsFunc(waiting, func(j *job) bool { return j.skips == k })
			fit := nodes.Enough(j.need)
			started, err := q.Arrive(j.id, j.need, start)
			if err != nil || started != (fit && !held) {
				require.NoError(t, err)
				require.Equal(t, fit && !held, started)
			}
			if started {
				for _, w := range waiting {
					w.skips++
					most = max(most, w.skips)
				}
			} else {
				waiting = append(waiting, j)
			}
		}
		if operation%1024 == 0 {
			for i, j := range list(t, q) {
				require.Equal(t, listed{waiting[i].id, waiting[i].need, waiting[i].skips}, j)
			}
		}
	}
	require.Equal(t, k, most, "nobody was skipped more often, and somebody was that often")
	require.Greater(t, starts, n/4)
	require.Greater(t, exceptions, n/10_000)
	require.Greater(t, blocked, n/100)
	t.Logf("%d operations, %d starts, %d by the exception, %d scans that ended at a job with 15 skips", n, starts, exceptions, blocked)
}

// 16 small jobs arrive behind a big one: 15 start, the 16th waits.
func TestArrivalsAreSkips(t *testing.T) {
	for _, k := range []int{admission.FCFS, 1, 0, 15, 40} {
		q := newQueue[int](t, k)
		bound := map[int]int{admission.FCFS: 0, 0: 15}
		want, ok := bound[k]
		if !ok {
			want = k
		}
		fits := func(_ int, need admission.Need) bool { return need.Memory <= 10 }
		require.NoError(t, q.Push(0, mb(100)))
		for i := 1; i <= want+1; i++ {
			started, err := q.Arrive(i, mb(10), fits)
			require.NoError(t, err)
			require.Equal(t, i <= want, started)
		}
		skips, _ := q.Skips(0)
		assert.Equal(t, want, skips)
		assert.Equal(t, 2, q.Len())
		_, _, ok = q.Next(nil, fits)
		assert.False(t, ok, "the small job waits for the big one")
		id, skips, ok := q.Next(nil, nil)
		assert.True(t, ok)
		assert.Equal(t, 0, id)
		assert.Equal(t, want, skips)
		id, skips, ok = q.Next(nil, fits)
		assert.True(t, ok)
		assert.Equal(t, want+1, id)
		assert.Zero(t, skips)
	}
}

func TestFirstFitHasNoBound(t *testing.T) {
	q := newQueue[int](t, admission.FirstFit)
	require.NoError(t, q.Push(-1, mb(100)))
	for i := range 1000 {
		require.NoError(t, q.Push(i, mb(10)))
		id, _, ok := q.Next(func(n admission.Need) bool { return n.Memory <= 10 }, nil)
		require.True(t, ok)
		require.Equal(t, i, id)
	}
	skips, _ := q.Skips(-1)
	assert.Equal(t, 1000, skips)
}

// A job put back keeps its skips, and whoever has been skipped K times behind it
// may still start, but nobody behind that one.
func TestPutBackBeforeABlockedJob(t *testing.T) {
	q := newQueue[string](t, 2)
	small := func(n admission.Need) bool { return n.Memory <= 10 }
	for _, id := range []string{"A", "B", "C", "D", "E"} {
		need := mb(10)
		if id == "B" {
			need = mb(50)
		}
		require.NoError(t, q.Push(id, need))
	}
	var skips int
	for _, want := range []string{"A", "C", "D"} {
		var id string
		id, skips, _ = q.Next(small, nil)
		require.Equal(t, want, id)
	}
	require.Zero(t, skips)
	require.NoError(t, q.PutBack("A", mb(70), 0))
	_, _, ok := q.Next(small, nil)
	assert.False(t, ok, "E is behind B, which was skipped twice")
	id, skips, ok := q.Next(func(n admission.Need) bool { return n.Memory <= 60 }, nil)
	assert.True(t, ok)
	assert.Equal(t, "B", id)
	assert.Equal(t, 2, skips)
	skips, _ = q.Skips("A")
	assert.Equal(t, 1, skips)
	id, skips, _ = q.Next(small, nil)
	assert.Equal(t, "E", id)
	assert.Zero(t, skips)
	_, _, ok = q.Next(small, nil)
	assert.False(t, ok)
	skips, _ = q.Skips("A")
	assert.Equal(t, 2, skips)
}

// What may is asked grows with the logarithm of the queue, even where the jobs
// come in falling order of their needs, so that each is smaller than all before.
func TestSearchAsksLogarithmically(t *testing.T) {
	const n = 1 << 14
	r := rand.New(rand.NewPCG(14, 0))
	for name, memory := range map[string]func(i int) int64{
		"falling": func(i int) int64 { return n - int64(i) },
		"rising":  func(i int) int64 { return 1 + int64(i) },
		"random":  func(int) int64 { return 1 + r.Int64N(n) },
		"equal":   func(int) int64 { return n / 2 },
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue[int](t, admission.FirstFit)
			for i := range n {
				require.NoError(t, q.Push(i, mb(memory(i))))
			}
			found := 0
			for i := range n {
				asked, limit := 0, r.Int64N(n)>>r.IntN(14)
				may := func(n admission.Need) bool { asked++; return n.Memory <= limit }
				id, _, ok := q.Next(may, nil)
				require.LessOrEqual(t, asked, bits.Len(4*n))
				if ok {
					found++
					require.NoError(t, q.Push(id, mb(memory(i))))
				}
			}
			require.NotZero(t, found)
			require.Equal(t, n, q.Len())
		})
	}
}

func TestNewQueueRefusesBadInput(t *testing.T) {
	for _, k := range []int{-2, -15, math.MinInt} {
		q, err := admission.NewQueue[int](admission.QueueConfig{MaxSkips: k})
		require.ErrorIs(t, err, admission.ErrSkips)
		assert.EqualError(t, err, fmt.Sprintf("at most %d skips: admission: invalid number of skips", k))
		assert.Nil(t, q)
	}
}

func TestQueueNamesWhatIsWrong(t *testing.T) {
	q := newQueue[string](t, 0)
	require.NoError(t, q.Push("A", mb(1)))
	_, arrived := q.Arrive("A", mb(1), nil)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{arrived, "arrive: A: admission: job already waits"},
		{q.Push("A", mb(1)), "push: A: admission: job already waits"},
		{q.Push("B", mb(-1)), "push: B, 1 nodes of -1 bytes: admission: invalid need"},
		{q.Push("B", admission.Need{}), "push: B, 0 nodes of 0 bytes: admission: invalid need"},
		{q.PutBack("B", mb(1), 16), "put back B with 16 skips: admission: invalid number of skips"},
		{q.Remove("B"), "remove B: admission: no such job waits"},
	} {
		assert.EqualError(t, tt.err, tt.want)
	}
	assert.Equal(t, 1, q.Len())
}

func TestAllStopsWhenAsked(t *testing.T) {
	q := newQueue[int](t, 0)
	for i := range 10 {
		require.NoError(t, q.Push(i, mb(int64(i))))
	}
	seen := 0
	for id, need := range q.All() {
		require.Equal(t, seen, id)
		require.EqualValues(t, seen, need.Memory)
		if seen++; seen == 4 {
			break
		}
	}
	assert.Equal(t, 4, seen)
}

func TestQueueDoesNotAllocate(t *testing.T) {
	q := newQueue[int](t, 0)
	r := rand.New(rand.NewPCG(16, 0))
	for i := range 1000 {
		require.NoError(t, q.Push(i, mb(r.Int64N(1000))))
	}
	limit := int64(0)
	may := func(n admission.Need) bool { return n.Memory <= limit }
	fits := func(int, admission.Need) bool { return true }
	admit := func() {
		limit = r.Int64N(1000) >> r.IntN(10)
		id, skips, ok := q.Next(may, fits)
		if !ok {
			limit = math.MaxInt64
			id, skips, ok = q.Next(may, fits)
		}
		if !ok {
			t.Fatal("nothing starts")
		}
		var err error
		switch r.IntN(3) {
		case 0:
			err = q.PutBack(id, mb(r.Int64N(1000)), skips)
		case 1:
			err = q.Push(id, mb(r.Int64N(1000)))
		default:
			if err = q.Push(id, mb(0)); err == nil {
				err = q.Remove(id)
			}
			if err == nil {
				_, err = q.Arrive(id, mb(math.MaxInt64), func(int, admission.Need) bool { return false })
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 10_000 {
		admit()
	}
	require.Zero(t, testing.AllocsPerRun(10_000, admit))
	require.Equal(t, 1000, q.Len())
}
