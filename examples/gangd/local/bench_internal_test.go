//go:build linux

package local

import (
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

func BenchmarkSnapshot(b *testing.B) {
	fs, err := procfs.NewDefaultFS()
	require.NoError(b, err)
	n := 0
	for b.Loop() {
		all, err := snapshot(fs)
		require.NoError(b, err)
		n += len(all)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/process")
}
