//go:build linux

package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/gangd/backend"
	"github.com/gangkit/gangkit/examples/gangd/local"
)

// What a change of quanta takes: one gang of two processes is measured and stopped,
// another is continued.
func BenchmarkSwitch(b *testing.B) {
	machine, err := local.New(local.Config{Nodes: 2, OnDeath: local.Kill})
	require.NoError(b, err)
	defer machine.Close()
	ids := []string{"even", "odd"}
	for _, id := range ids {
		require.NoError(b, machine.Submit(b.Context(), backend.Gang{ID: id, Command: []string{"/bin/sh", "-c", "while :; do :; done"}}, 2))
		require.NoError(b, machine.Start(b.Context(), id, []int{0, 1}, 0))
		require.NoError(b, machine.Stop(b.Context(), id))
	}
	require.NoError(b, machine.Continue(b.Context(), ids[1]))
	n := 0
	for b.Loop() {
		_, err := machine.Usage(b.Context(), ids[(n+1)%2])
		require.NoError(b, err)
		require.NoError(b, machine.Stop(b.Context(), ids[(n+1)%2]))
		require.NoError(b, machine.Continue(b.Context(), ids[n%2]))
		n++
	}
}
