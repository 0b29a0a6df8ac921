package des

import "time"

// Agenda is a priority queue of what is to happen: the earliest first, at equal
// instants what was added first. The zero value is empty and ready. An Agenda
// must not be used concurrently.
type Agenda[T any] struct {
	heap  []entry[T]
	added uint64
}

type entry[T any] struct {
	at    time.Duration
	order uint64
	what  T
}

func (e *entry[T]) before(o *entry[T]) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

// Add puts what on the agenda. O(log n); does not allocate once the agenda was
// as long before.
func (a *Agenda[T]) Add(at time.Duration, what T) {
	e := entry[T]{at, a.added, what}
	a.added++
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&a.heap[parent]) {
			break
		}
		a.heap[i], i = a.heap[parent], parent
	}
	a.heap[i] = e
}

// Len returns how many entries there are. O(1).
func (a *Agenda[T]) Len() int { return len(a.heap) }

// First returns the earliest entry without removing it, false if there is none.
// O(1).
func (a *Agenda[T]) First() (at time.Duration, what T, ok bool) {
	if len(a.heap) == 0 {
		return 0, what, false
	}
	return a.heap[0].at, a.heap[0].what, true
}

// Remove takes the earliest entry off the agenda, which must not be empty.
// O(log n).
func (a *Agenda[T]) Remove() {
	n := len(a.heap) - 1
	e := a.heap[n]
	a.heap[n] = entry[T]{}
	a.heap = a.heap[:n]
	if n == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && a.heap[child+1].before(&a.heap[child]) {
			child++
		}
		if !a.heap[child].before(&e) {
			break
		}
		a.heap[i], i = a.heap[child], child
	}
	a.heap[i] = e
}
