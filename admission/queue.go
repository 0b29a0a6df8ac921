package admission

import (
	"errors"
	"fmt"
	"iter"
	"math"
)

// Errors of [Queue], wrapped with the offending value; [ErrNeed] is another.
var (
	ErrSkips     = errors.New("admission: invalid number of skips")
	ErrDuplicate = errors.New("admission: job already waits")
	ErrUnknown   = errors.New("admission: no such job waits")
)

// Bounds of [QueueConfig] that are policies of their own.
const (
	FCFS     = -1          // K = 0: nobody is ever skipped
	FirstFit = math.MaxInt // K = ∞: the first that fits, always
)

// paperSkips is K in the paper.
const paperSkips = 15

// QueueConfig describes a queue. Its zero value is that of the paper.
type QueueConfig struct {
	// MaxSkips is K, how often a waiting job may be skipped; 0 means 15. See
	// [FCFS] and [FirstFit]. No other negative value is allowed.
	MaxSkips int
}

// Queue holds the jobs that wait for memory, and says which of them is the next
// to start: the first that fits, unless others have been skipped K times.
//
// A job is skipped when one behind it in the queue starts, or one that came
// later and did not have to wait. Once a job has been skipped K times, none
// behind it starts before it does, so that nobody is skipped more often.
//
// Jobs are known by IDs that the caller picks. A Queue takes up to 200 bytes per
// job of its greatest length, and is faster than a slice from about a thousand
// waiting jobs on. It must not be used concurrently, and the functions given to
// it must not change it.
type Queue[ID comparable] struct {
	maxSkips  int64
	tree      tree
	ids       []ID // by position
	positions map[ID]int32
	end       int // no job is at this position or beyond
}

// NewQueue returns an empty queue. An invalid MaxSkips is refused with
// [ErrSkips].
func NewQueue[ID comparable](c QueueConfig) (*Queue[ID], error) {
	q := &Queue[ID]{maxSkips: int64(c.MaxSkips), positions: make(map[ID]int32)}
	switch {
	case c.MaxSkips == 0:
		q.maxSkips = paperSkips
	case c.MaxSkips == FCFS:
		q.maxSkips = 0
	case c.MaxSkips == FirstFit:
		q.maxSkips = math.MaxInt64
	case c.MaxSkips < 0:
		return nil, fmt.Errorf("at most %d skips: %w", c.MaxSkips, ErrSkips)
	}
	q.rebuild()
	return q, nil
}

// Arrive tries to start a job that was submitted, and puts it at the end of the
// queue if it does not start. If a waiting job has been skipped K times it is
// not tried. If it starts, which fits decides, all waiting jobs are skipped.
//
// An arrival is a reason to try the arriving job alone: that no waiting job fits
// is what the last call of [Queue.Next] said.
//
// Errors are those of [Queue.Push]. O(log n) amortised over n waiting jobs, as
// are all methods that do not say otherwise.
func (q *Queue[ID]) Arrive(id ID, need Need, fits func(id ID, need Need) bool) (started bool, err error) {
	if err := q.check(id, need); err != nil {
		return false, fmt.Errorf("arrive: %w", err)
	}
	if q.tree.skipped(q.maxSkips) == none && (fits == nil || fits(id, need)) {
		q.tree.skipAll()
		return true, nil
	}
	q.append(id, need, 0)
	return false, nil
}

// Push puts a job at the end of the queue without trying whether it fits. A job
// that does not even fit into an idle system must be refused instead, or it
// stops the queue once it has been skipped K times.
//
// Errors: [ErrDuplicate]; [ErrNeed] if the nodes are not positive or the largest
// int, or the memory is negative.
func (q *Queue[ID]) Push(id ID, need Need) error {
	if err := q.check(id, need); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	q.append(id, need, 0)
	return nil
}

// PutBack puts a job that had started before all others again, with the skips
// that [Queue.Next] returned with it: a job that was taken out because it used
// more memory than estimated, with its new estimate.
//
// It keeps its skips although jobs behind it may have more. If one of these has
// been skipped K times, it and those before it are the ones that may start.
//
// With PutBack a queue can also be restored, from the last job to the first.
//
// Errors are those of Push, and [ErrSkips] if skips is negative or exceeds K.
func (q *Queue[ID]) PutBack(id ID, need Need, skips int) error {
	if err := q.check(id, need); err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	if skips < 0 || int64(skips) > q.maxSkips {
		return fmt.Errorf("put back %v with %d skips: %w", id, skips, ErrSkips)
	}
	head := q.next(0)
	if head == 0 {
		q.rebuild()
		head = q.next(0)
	}
	if head == none {
		q.append(id, need, int64(skips))
	} else {
		q.put(head-1, id, need, int64(skips))
	}
	return nil
}

// Next takes the next job to start out of the queue, and returns it and how
// often it was skipped; all jobs before it are skipped once by that. If no job
// may start, it returns false and changes nothing. It is to be called, until it
// returns false, whenever a job finished, memory became free in another way or a
// waiting job was removed.
//
// The next job is the first in order that passes both may and fits, of those
// not behind a job that has been skipped K times; nil lets all pass. In an idle
// system they must let the first job pass, as [Nodes.Enough] and
// [Nodes.AppendNodes] do, or nothing starts any more.
//
// fits is asked for one job after the other until it says yes. That job does
// start, so fits may place it. fits alone costs O(log n) per job asked.
//
// may is to spare most of these. It must be monotone: if it refuses a need, it
// refuses every need that is greater in nodes, memory or both. It may let pass
// what fits refuses. It is asked about needs put together from the least amounts
// of many jobs, so it must not place anything. If all jobs need the same number
// of nodes, or the same memory, a call without fits asks may O(log n) times,
// whatever the order of the jobs. Where both amounts vary, least amounts that
// belong to different jobs let the search go astray. That costs little where
// they are independent, but O(n) at worst: where wide jobs need little memory
// and narrow ones much, and none fits.
func (q *Queue[ID]) Next(may func(need Need) bool, fits func(id ID, need Need) bool) (id ID, skips int, ok bool) {
	last := q.tree.skipped(q.maxSkips)
	if last == none {
		last = q.end - 1
	}
	for p := q.tree.next(0, last, may); p != none; p = q.tree.next(p+1, last, may) {
		if fits == nil || fits(q.ids[p], q.tree.leaves()[p].need) {
			id, skips = q.ids[p], q.skips(p)
			q.take(p, 1)
			return id, skips, true
		}
	}
	return id, 0, false
}

// Remove takes a job out that is not to start. It skips nobody. Error:
// [ErrUnknown].
func (q *Queue[ID]) Remove(id ID) error {
	p, ok := q.positions[id]
	if !ok {
		return fmt.Errorf("remove %v: %w", id, ErrUnknown)
	}
	q.take(int(p), 0)
	return nil
}

// Skips returns how often a waiting job has been skipped, and whether it waits.
func (q *Queue[ID]) Skips(id ID) (int, bool) {
	p, ok := q.positions[id]
	if !ok {
		return 0, false
	}
	return q.skips(int(p)), true
}

// Len returns how many jobs wait. O(1).
func (q *Queue[ID]) Len() int { return len(q.positions) }

// All yields the waiting jobs in order, with their needs. The queue must not be
// changed meanwhile. O(log n) per job.
func (q *Queue[ID]) All() iter.Seq2[ID, Need] {
	return func(yield func(ID, Need) bool) {
		for p := q.next(0); p != none; p = q.next(p + 1) {
			if !yield(q.ids[p], q.tree.leaves()[p].need) {
				return
			}
		}
	}
}

func (q *Queue[ID]) check(id ID, need Need) error {
	if need.Nodes <= 0 || need.Nodes == math.MaxInt || need.Memory < 0 {
		return fmt.Errorf("%v, %d nodes of %d bytes: %w", id, need.Nodes, need.Memory, ErrNeed)
	}
	if _, ok := q.positions[id]; ok {
		return fmt.Errorf("%v: %w", id, ErrDuplicate)
	}
	return nil
}

// next returns the first position with a job from one on, or none.
func (q *Queue[ID]) next(from int) int { return q.tree.next(from, q.end-1, nil) }

func (q *Queue[ID]) skips(position int) int {
	return int(min(q.tree.skips(position), math.MaxInt))
}

func (q *Queue[ID]) append(id ID, need Need, skips int64) {
	if q.end == q.tree.size {
		q.rebuild()
	}
	q.put(q.end, id, need, skips)
	q.end++
}

func (q *Queue[ID]) put(position int, id ID, need Need, skips int64) {
	q.tree.put(position, need, skips)
	q.ids[position] = id
	q.positions[id] = int32(position)
}

// take makes a position vacant and skips those before it.
func (q *Queue[ID]) take(position int, skips int64) {
	delete(q.positions, q.ids[position])
	var zero ID
	q.ids[position] = zero
	q.tree.remove(position, skips)
}

// rebuild moves the jobs together, leaving room behind them, and a third as much
// before them for those that are put back. O(n), and as much room is left.
func (q *Queue[ID]) rebuild() {
	n := len(q.positions)
	size := 16
	for size < n+n/2+4 {
		size *= 2
	}
	old, ids := q.tree, q.ids
	if size > old.size {
		q.tree, q.ids = newTree(size), make([]ID, size)
	}
	old.settle()
	q.end = 0
	leaves := q.tree.leaves()
	for p, leaf := range old.leaves() {
		if leaf.need != vacant {
			leaves[q.end], q.ids[q.end] = leaf, ids[p]
			q.end++
		}
	}
	room := (q.tree.size - n) / 4
	copy(leaves[room:], leaves[:n])
	copy(q.ids[room:], q.ids[:n])
	q.end += room
	for p := range room {
		leaves[p] = branch{need: vacant, skips: never}
	}
	clear(q.ids[:room])
	clear(q.ids[q.end:])
	q.tree.fill(q.end)
	for p, id := range q.ids[room:q.end] {
		q.positions[id] = int32(room + p)
	}
}
