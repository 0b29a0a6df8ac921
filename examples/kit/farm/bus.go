package farm

import (
	"math"
	"slices"
	"time"
)

// bus is a medium that transfers share: with n of them each proceeds at 1/n of the
// speed. The zero bus is idle.
type bus struct {
	transfers []transfer // in order of their beginning
	updated   time.Duration
}

type transfer struct {
	task int32
	left float64 // ns to go if it were alone
}

// next returns when the next transfer is done, never if there is none.
func (b *bus) next() time.Duration {
	if len(b.transfers) == 0 {
		return never
	}
	least := b.transfers[b.first()].left
	if d := math.Ceil(float64(max(0, least) * float64(len(b.transfers)))); d < float64(latest) {
		return b.updated + time.Duration(d)
	}
	return never
}

// first returns the place of the transfer that is done first, at ties the first.
func (b *bus) first() int {
	best := 0
	for i := range b.transfers {
		if b.transfers[i].left < b.transfers[best].left {
			best = i
		}
	}
	return best
}

func (b *bus) proceed(now time.Duration) {
	each := float64(now-b.updated) / float64(max(1, len(b.transfers)))
	for i := range b.transfers {
		b.transfers[i].left -= each
	}
	b.updated = now
}

func (b *bus) add(task int32, alone, now time.Duration) {
	b.proceed(now)
	b.transfers = append(b.transfers, transfer{task, float64(alone)})
}

// remove takes the transfer off that is done now, and returns its task.
func (b *bus) remove(now time.Duration) int32 {
	b.proceed(now)
	i := b.first()
	task := b.transfers[i].task
	b.transfers = slices.Delete(b.transfers, i, i+1)
	return task
}

// cancel takes a task's transfer off, if there is one.
func (b *bus) cancel(task int32, now time.Duration) {
	b.proceed(now)
	b.transfers = slices.DeleteFunc(b.transfers, func(t transfer) bool { return t.task == task })
}
