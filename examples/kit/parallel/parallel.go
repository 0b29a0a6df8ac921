// Package parallel runs the points of a study on all cores. The package carries
// no promise of compatibility.
package parallel

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Each calls one(ctx, i) for every i in [0, n), as many at a time as there are
// cores, and done, if not nil, after each that succeeded, one call at a time. The first
// error, or the end of ctx, ends it: calls under way see their context end, others
// are not made. one writes its result where only call i does, so that what runs
// where does not show.
func Each(ctx context.Context, n int, one func(ctx context.Context, i int) error, done func()) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var guard sync.Mutex
	for i := range n {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := inner.Err(); err != nil {
				return err
			}
			if err := one(inner, i); err != nil || done == nil {
				return err
			}
			guard.Lock()
			defer guard.Unlock()
			done()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}
