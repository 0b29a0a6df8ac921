package report_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func BenchmarkSteps(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("points=%d", n), func(b *testing.B) {
			s := report.Series{Name: "s", Points: walk(1, n)}
			for b.Loop() {
				p, err := report.Steps("t", "y", s)
				if err == nil {
					err = report.WriteSVG(io.Discard, p)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDistribution(b *testing.B) {
	for _, n := range []int{1_000, 300_000} {
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			s := report.Sample{Name: "s"}
			for _, pt := range walk(1, n) {
				s.Values = append(s.Values, pt.X)
			}
			for b.Loop() {
				if _, err := report.Distribution("t", "y", 1, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("bars=%d", n), func(b *testing.B) {
			bars := make([]report.Bar, n)
			for i := range bars {
				start := time.Duration(i) * time.Second
				bars[i] = report.Bar{Job: i, Start: start, End: start + time.Duration(1+i*7919%500)*time.Second, Processors: 1 + i%7}
			}
			for b.Loop() {
				if _, err := report.Layout(bars, 4096); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPage(b *testing.B) {
	for _, jobs := range []int{1_000, 70_000} {
		b.Run(fmt.Sprintf("policies=10/jobs=%d", jobs), func(b *testing.B) {
			p := noise(b, 10, jobs)
			var size counter
			b.ReportAllocs()
			for b.Loop() {
				size = 0
				if err := p.WriteHTML(&size); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "B/page")
		})
	}
}

func BenchmarkTimelineAdd(b *testing.B) {
	steps := walk(1, 210_000)
	b.ReportAllocs()
	for b.Loop() {
		var t report.Timeline
		if err := t.Add("s", steps); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCumulativeAdd(b *testing.B) {
	var values []float64
	for _, pt := range walk(1, 70_000) {
		values = append(values, pt.X)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := report.Cumulative{Floor: 1}
		if err := c.Add("s", values); err != nil {
			b.Fatal(err)
		}
	}
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
