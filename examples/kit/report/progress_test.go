package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func TestProgressIsSilentOffATerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer f.Close()
	p := report.NewProgress(f, "jobs", 10)
	var zero report.Progress
	var none *report.Progress
	for _, p := range []*report.Progress{p, &zero, none} {
		p.Add(5)
		p.Done()
	}
	assert.Empty(t, content(t, f.Name()))
}

func TestProgressOnATerminal(t *testing.T) {
	for _, total := range []int64{40, 0, 10} { // known, unknown, and too low a guess
		var out bytes.Buffer
		p := report.NewProgressTo(&out, "jobs", total)
		for range 40 {
			time.Sleep(6 * time.Millisecond)
			p.Add(1)
		}
		p.Done()
		p.Add(1)
		p.Done()
		s := out.String()
		assert.Contains(t, s, "jobs")
		assert.True(t, strings.HasSuffix(s, "\n"))
		assert.Equal(t, 1, strings.Count(s, "\n"))
		if total == 40 {
			assert.Contains(t, s, "100%")
			assert.Contains(t, s, "40/40")
		}
		if total == 0 {
			assert.Contains(t, s, "40/-")
		}
		assert.LessOrEqual(t, strings.Count(s, "jobs"), 12, "ten times a second")
	}
}

func TestShortWorkShowsNoProgress(t *testing.T) {
	var out bytes.Buffer
	p := report.NewProgressTo(&out, "jobs", 2)
	p.Add(2)
	p.Done()
	assert.Empty(t, out.String())
}

func BenchmarkProgress(b *testing.B) {
	var out bytes.Buffer
	p := report.NewProgressTo(&out, "events", 1<<40)
	b.ReportAllocs()
	for b.Loop() {
		p.Add(1)
	}
}
