package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func walk(seed uint64, n int) plotter.XYs {
	r := rand.New(rand.NewPCG(seed, 1))
	points := make(plotter.XYs, n)
	x, y := 0., 0.
	for i := range points {
		points[i] = plotter.XY{X: x, Y: y}
		x += r.ExpFloat64() * 100
		y = max(0, y+float64(r.IntN(3)-1))
	}
	return points
}

// draw renders both ways and checks that they decode; it returns the SVG, the
// PNG and its number of colours.
func draw(t *testing.T, p *plot.Plot) (svg string, content []byte, colours int) {
	t.Helper()
	svg = drawSVG(t, p)
	var i bytes.Buffer
	require.NoError(t, report.WritePNG(&i, p))
	content = bytes.Clone(i.Bytes())
	img, err := png.Decode(&i)
	require.NoError(t, err)
	rgba, ok := img.(*image.RGBA) // the decoder's choice for opaque images
	require.True(t, ok, "no holes: %T", img)
	seen := map[[3]uint8]bool{}
	for i := 0; i < len(rgba.Pix); i += 4 * 3 { // every third pixel: it is the race detector's time
		seen[[3]uint8(rgba.Pix[i:])] = true
	}
	return svg, content, len(seen)
}

func drawSVG(t *testing.T, p *plot.Plot) string {
	t.Helper()
	var s bytes.Buffer
	require.NoError(t, report.WriteSVG(&s, p))
	svg := s.String()
	d := xml.NewDecoder(&s)
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.NotContains(t, svg, "NaN")
	require.NotContains(t, svg, "Inf")
	return svg
}

// plots is one of each kind, from nothing but its own data.
func plots() map[string]func() (*plot.Plot, error) {
	bars := []report.Bar{
		{Job: 1, Start: 0, End: 100 * time.Second, Processors: 2}, {Job: 2, Start: 0, End: 50 * time.Second, Processors: 1},
		{Job: -3, Start: 50 * time.Second, End: 80 * time.Second, Processors: 2},
	}
	return map[string]func() (*plot.Plot, error){
		"steps": func() (*plot.Plot, error) {
			return report.Steps("Queue", "jobs", report.Series{Name: "one", Points: walk(1, 300)}, report.Series{Name: "two", Points: walk(2, 300)})
		},
		"many steps": func() (*plot.Plot, error) {
			return report.Steps("Queue", "jobs", report.Series{Name: "one", Points: walk(1, 50_000)})
		},
		"distribution": func() (*plot.Plot, error) {
			return report.Distribution("Waits", "wait [s]", 1, report.Sample{Name: "one", Values: []float64{0, 3, 3, 4000, 1e5}})
		},
		"lines": func() (*plot.Plot, error) {
			return report.Lines("Response", "C", "response [s]", report.Series{Name: "one", Points: walk(1, 8)})
		},
		"gantt": func() (*plot.Plot, error) { return report.Gantt("Jobs", bars, 4, 0, 105*time.Second) },
	}
}

func TestPlotsHaveContentAndAreReproducible(t *testing.T) {
	for name, make := range plots() {
		t.Run(name, func(t *testing.T) {
			p, err := make()
			require.NoError(t, err)
			before := drawSVG(t, plot.New())
			svg, image, colours := draw(t, p)
			assert.Greater(t, len(svg), len(before)+1000)
			assert.Less(t, len(svg), 300_000)
			assert.Greater(t, colours, 30)

			q, err := make()
			require.NoError(t, err)
			again := drawSVG(t, q)
			require.Equal(t, svg, again)
			third := drawSVG(t, q)
			require.Equal(t, svg, third, "drawing does not change the plot")
			var b bytes.Buffer
			require.NoError(t, report.WritePNG(&b, q))
			require.Equal(t, image, b.Bytes())
		})
	}
}

func TestBandsLieBehindTheLines(t *testing.T) {
	points := func(y ...float64) (xys plotter.XYs) {
		for i, y := range y {
			xys = append(xys, plotter.XY{X: float64(i), Y: y})
		}
		return xys
	}
	series := []report.Series{{Name: "without", Points: points(2, 3, 4)}, {Name: "with", Points: points(10, 20, 30)}}
	p, err := report.Lines("t", "x", "y", series...)
	require.NoError(t, err)
	_, _, plain := draw(t, p)
	series[1].Low, series[1].High = points(5, 10, 20), points(20, 40, 60)
	p, err = report.Lines("t", "x", "y", series...)
	require.NoError(t, err)
	assert.Greater(t, p.Y.Max, 60.)
	report.LogY(p, 1, 100)
	svg, _, banded := draw(t, p)
	assert.Greater(t, banded, plain)
	for _, mark := range []string{">1<", ">10<", ">100<"} {
		assert.Contains(t, svg, mark)
	}
	assert.NotContains(t, svg, ">5<")
	report.LogY(p, 1.5, 12)
	svg, _, _ = draw(t, p)
	for _, mark := range []string{">5<", ">10<"} {
		assert.Contains(t, svg, mark)
	}
	series[1].High[1].Y = math.NaN()
	_, err = report.Lines("t", "x", "y", series...)
	assert.ErrorIs(t, err, report.ErrData)
	assert.Panics(t, func() { report.LogY(p, 0, 1) })
}

func TestSaveWritesBothOrSaysWhich(t *testing.T) {
	p, err := plots()["lines"]()
	require.NoError(t, err)
	require.ErrorIs(t, report.WriteSVG(broken{}, p), errBroken)
	require.ErrorIs(t, report.WritePNG(broken{}, p), errBroken)
	dir := t.TempDir()
	require.NoError(t, report.Save(filepath.Join(dir, "a"), p))
	assert.Equal(t, []string{"a.png", "a.svg"}, names(t, dir))
	bad := filepath.Join(dir, "a.svg", "b")
	err = report.Save(bad, p)
	require.ErrorContains(t, err, bad+".svg")
	require.ErrorContains(t, err, bad+".png")
}

func TestPlotsOfNothingSayNoData(t *testing.T) {
	steps, err := report.Steps("t", "y", report.Series{Name: "none"})
	require.NoError(t, err)
	lines, err := report.Lines("t", "x", "y")
	require.NoError(t, err)
	distribution, err := report.Distribution("t", "x", 1, report.Sample{Name: "none"})
	require.NoError(t, err)
	gantt, err := report.Gantt("t", []report.Bar{{Job: 1, End: 5, Processors: 1}}, 1, 5, 9)
	require.NoError(t, err)
	for _, p := range []*plot.Plot{steps, lines, distribution, gantt} {
		svg := drawSVG(t, p)
		assert.Contains(t, svg, "no data")
	}
}

func TestNumbersThatCannotBeDrawn(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308} {
		for _, pt := range []plotter.XY{{X: v}, {Y: v}} {
			s := report.Series{Name: "bad", Points: plotter.XYs{{}, pt}}
			_, err := report.Steps("t", "y", s)
			require.ErrorIs(t, err, report.ErrData)
			require.ErrorContains(t, err, `"bad", point 1`)
			_, err = report.Lines("t", "x", "y", s)
			require.ErrorIs(t, err, report.ErrData)
		}
		_, err := report.Distribution("t", "x", 1, report.Sample{Name: "bad", Values: []float64{1, v}})
		require.ErrorIs(t, err, report.ErrData)
		_, err = report.Distribution("t", "x", v)
		require.ErrorIs(t, err, report.ErrData)
	}
	for _, floor := range []float64{0, -1, 5e-324} {
		_, err := report.Distribution("t", "x", floor)
		require.ErrorIs(t, err, report.ErrData)
	}
	_, err := report.Distribution("t", "x", 1, report.Sample{Values: []float64{-1}})
	require.ErrorIs(t, err, report.ErrData)
	_, err = report.Steps("t", "y", report.Series{Points: plotter.XYs{{X: 2}, {X: 1}}})
	require.ErrorIs(t, err, report.ErrData)
}

// Whatever is finite is drawn, and ends.
func TestExtremePlots(t *testing.T) {
	for i, points := range []plotter.XYs{
		{{X: 0, Y: 0}},
		{{X: 5, Y: 7}, {X: 5, Y: 8}},
		{{X: -3e9, Y: -1e-12}, {X: 3e9, Y: 1e-12}},
		{{X: 1e18, Y: 1e18}, {X: 1e18 + 128, Y: 1e18 + 128}},
		{{X: 0, Y: 1e300}, {X: 1e-300, Y: -1e300}},
		{{X: 0, Y: 5e-324}, {X: 5e-324, Y: 0}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := report.Series{Name: "a name that is far too long for a legend beside a plot, and is cut", Points: points}
			p, err := report.Steps("t", "y", s)
			require.NoError(t, err)
			drawSVG(t, p)
			p, err = report.Lines("t", "x", "y", s)
			require.NoError(t, err)
			drawSVG(t, p)
		})
	}
	for _, values := range [][]float64{{0}, {1}, {0, 1e300}, {1e-300}} {
		for _, floor := range []float64{1e-300, 1, 1e6} {
			p, err := report.Distribution("t", "x", floor, report.Sample{Name: "s", Values: values})
			require.NoError(t, err)
			drawSVG(t, p)
		}
	}
}

func TestTimeAxesHaveReadableMarks(t *testing.T) {
	for _, c := range []struct {
		span float64
		unit string
	}{{.5, "[s]"}, {90, "[s]"}, {600, "[min]"}, {7200, "[min]"}, {86400, "[h]"}, {30 * 86400, "[d]"}, {900 * 86400, "[d]"}, {9e9, "[d]"}} {
		p, err := report.Steps("t", "y", report.Series{Points: plotter.XYs{{}, {X: c.span, Y: 1}}})
		require.NoError(t, err)
		assert.Equal(t, "time "+c.unit, p.X.Label.Text)
		marks := p.X.Tick.Marker.Ticks(0, c.span)
		assert.GreaterOrEqual(t, len(marks), 3, c)
		assert.LessOrEqual(t, len(marks), 9, c)
		for _, m := range marks {
			assert.LessOrEqual(t, len(m.Label), 7, m)
		}
	}
}

// The band keeps every peak, and the mean curve the area below it.
func TestThinKeepsPeaksAndArea(t *testing.T) {
	for seed := range uint64(20) {
		points := walk(seed, 5000+int(seed))
		mean, low, high := report.Thin(points)
		assert.Equal(t, []int{501, 501, 501}, []int{len(mean), len(low), len(high)})
		area := func(s plotter.XYs) (a float64) {
			for i := 1; i < len(s); i++ {
				a += s[i-1].Y * (s[i].X - s[i-1].X)
			}
			return a
		}
		assert.InEpsilon(t, area(points), area(mean), 1e-9)
		top := func(s plotter.XYs) (m float64) {
			for _, p := range s {
				m = max(m, p.Y)
			}
			return m
		}
		assert.Equal(t, top(points), top(high))
		b := 0
		for _, p := range points { // each point lies in its interval's band
			for b+1 < 500 && mean[b+1].X <= p.X {
				b++
			}
			if p.Y < low[b].Y || high[b].Y < p.Y || mean[b].Y < low[b].Y || high[b].Y < mean[b].Y {
				t.Fatalf("seed %d: %v outside of %v to %v, mean %v", seed, p, low[b], high[b], mean[b])
			}
		}
	}
}
