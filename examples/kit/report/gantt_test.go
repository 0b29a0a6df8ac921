package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

// Job 3 finds processors 0 and 3 free, and is drawn as two rectangles.
func ExampleLayout() {
	bars := []report.Bar{
		{Job: 1, Start: 0, End: 10, Processors: 1},
		{Job: 2, Start: 0, End: 30, Processors: 2},
		{Job: 3, Start: 10, End: 20, Processors: 2},
	}
	rows, err := report.Layout(bars, 4)
	fmt.Println(rows, err)
	// Output: [[{0 1}] [{1 2}] [{0 1} {3 1}]] <nil>
}

// slowLayout keeps one owner a processor.
func slowLayout(bars []report.Bar, processors int) [][]int {
	owner := make([]int, processors)
	for i := range owner {
		owner[i] = -1
	}
	got := make([][]int, len(bars))
	for t := time.Duration(0); t < 200; t++ {
		for k, o := range owner {
			if o >= 0 && bars[o].End <= t {
				owner[k] = -1
			}
		}
		for i, b := range bars {
			for k := 0; k < processors && b.Start == t && b.End > t && len(got[i]) < b.Processors; k++ {
				if owner[k] < 0 {
					owner[k] = i
					got[i] = append(got[i], k)
				}
			}
		}
	}
	return got
}

func TestLayoutTakesTheLowestFree(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := 1 + r.IntN(20)
		var bars []report.Bar
		for range 40 {
			start := time.Duration(r.IntN(100))
			b := report.Bar{Start: start, End: start + time.Duration(r.IntN(40)), Processors: 1 + r.IntN(p)}
			if _, err := report.Layout(append(bars, b), p); err == nil {
				bars = append(bars, b)
			} else {
				require.ErrorIs(t, err, report.ErrRows)
				full := false // then it must be too many at some instant
				for at := range time.Duration(200) {
					used := 0
					for _, o := range append(bars, b) {
						if o.Start <= at && at < o.End {
							used += o.Processors
						}
					}
					full = full || used > p
				}
				require.True(t, full)
			}
		}
		rows, err := report.Layout(bars, p)
		require.NoError(t, err)
		want := slowLayout(bars, p)
		for i := range bars {
			var got []int
			for _, r := range rows[i] {
				for k := range r.Count {
					got = append(got, r.First+k)
				}
			}
			require.Equal(t, want[i], got)
			for k := 1; k < len(rows[i]); k++ {
				require.Greater(t, rows[i][k].First, rows[i][k-1].First+rows[i][k-1].Count, "joined where they touch")
			}
		}
	}
}

func TestGanttRefuses(t *testing.T) {
	bar := report.Bar{Job: 7, Start: 0, End: time.Second, Processors: 3}
	_, err := report.Gantt("t", []report.Bar{bar}, 2, 0, time.Second)
	require.ErrorIs(t, err, report.ErrRows)
	assert.ErrorContains(t, err, "job 7")
	_, err = report.Gantt("t", []report.Bar{bar}, 4, time.Second, time.Second)
	require.ErrorIs(t, err, report.ErrData)
	_, err = report.Gantt("t", []report.Bar{bar}, 0, 0, time.Second)
	require.ErrorIs(t, err, report.ErrData)
	bar.Processors = 0
	_, err = report.Gantt("t", []report.Bar{bar}, 4, 0, time.Second)
	require.ErrorIs(t, err, report.ErrData)
	bars := make([]report.Bar, 20_001)
	for i := range bars {
		bars[i] = report.Bar{Job: i, Start: time.Duration(i), End: time.Duration(i + 1), Processors: 1}
	}
	_, err = report.Gantt("t", bars, 1, 0, time.Second)
	require.ErrorIs(t, err, report.ErrData)
}
