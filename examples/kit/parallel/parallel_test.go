package parallel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/parallel"
)

func TestEachCallIsMadeOnce(t *testing.T) {
	calls, done := make([]int, 1000), 0
	require.NoError(t, parallel.Each(t.Context(), len(calls), func(_ context.Context, i int) error {
		calls[i]++
		return nil
	}, func() { done++ }))
	assert.Equal(t, len(calls), done)
	for i, n := range calls {
		require.Equal(t, 1, n, "call %d", i)
	}
	require.NoError(t, parallel.Each(t.Context(), 0, nil, nil))
}

func TestFirstErrorEndsTheRest(t *testing.T) {
	boom := errors.New("boom")
	var calls atomic.Int64
	err := parallel.Each(t.Context(), 100_000, func(_ context.Context, i int) error {
		calls.Add(1)
		if i == 7 {
			return boom
		}
		return nil
	}, nil)
	require.ErrorIs(t, err, boom)
	assert.Less(t, calls.Load(), int64(100_000))
}

func TestCancelledContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := 0
	err := parallel.Each(ctx, 100_000, func(context.Context, int) error { return nil }, func() {
		if done++; done == 10 {
			cancel(why)
		}
	})
	require.Error(t, err)
	assert.Less(t, done, 100_000)
	cancel(why)
	assert.ErrorIs(t, parallel.Each(ctx, 0, nil, nil), why)
}
