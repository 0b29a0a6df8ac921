package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func write(t testing.TB, p *report.Page) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteHTML(&out))
	return out.String()
}

// tableOf is a table of policies with one column.
func tableOf(c report.Column, values ...any) *report.Table {
	t := &report.Table{Columns: []report.Column{{Title: "policy"}, c}}
	for i, v := range values {
		t.Add(string(rune('a'+i)), v)
	}
	return t
}

func ExamplePage_WriteHTML() {
	table := &report.Table{Columns: []report.Column{
		{Title: "policy"},
		{Title: "wait", Unit: "mean, s", Format: "%.0f", Better: report.Lower, About: "From submission to start."},
		{Title: "utilisation", Unit: "%", Format: "%.1f", Better: report.Higher},
	}}
	table.Add("FCFS", 1536403.2, 75.96)
	table.Add("EASY", 20576.4, 82.45)
	page := report.Page{Title: "Two policies", Tables: []*report.Table{table}}
	var out strings.Builder
	if err := page.WriteHTML(&out); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "answer") && strings.HasPrefix(line, "<p") {
			fmt.Print(line)
		}
	}
	// Output: <p class="answer">Best of 2 policies: EASY in wait (mean, s) and utilisation (%).</p>
}

// full is a page with one of everything.
func full(t testing.TB, name string) *report.Page {
	queue := &report.Timeline{Title: name, Unit: name, About: name}
	require.NoError(t, queue.Add(name, plotter.XYs{{X: 0, Y: 1}, {X: 100, Y: 3}, {X: 200, Y: 0}}))
	wait := &report.Cumulative{Title: name, Unit: name, About: name, Floor: 1}
	require.NoError(t, wait.Add(name, []float64{1, 2, 30}))
	gantt, err := report.GanttPicture(name, []report.Bar{{Job: 7, Start: 0, End: time.Hour, Processors: 2}}, 4, 0, time.Hour)
	require.NoError(t, err)
	gantt.About = name
	matrix, err := report.MatrixPicture(name, [][]int{{1, 1, -1, 2}, {3}})
	require.NoError(t, err)
	table := &report.Table{Title: name, Columns: []report.Column{
		{Title: name, Unit: name, About: name}, {Title: "wait", Better: report.Lower, About: "a", Synthetic: true}, {Title: "text"}}}
	table.Add(name, 12345.5, name)
	table.Add("other", 2., "x")
	return &report.Page{
		Title: name, Subtitle: name, Answer: name, Synthetic: []string{name}, Notes: []string{name}, Command: name,
		Tables: []*report.Table{table}, Timelines: []*report.Timeline{queue}, Cumulative: []*report.Cumulative{wait}, Pictures: []*report.Picture{gantt, matrix},
		Decisions: &report.Decisions{Title: name, Submit: 10 * time.Second, Courses: []report.Course{
			{Name: name, Start: time.Minute, End: time.Hour, Events: []report.Event{{Time: 20 * time.Second, What: name, Why: name}}},
		}},
	}
}

// wellFormed reads the body as XML, for which only a tag of HTML's is in the
// way, and returns its text.
func wellFormed(t *testing.T, page string) string {
	t.Helper()
	body := page[strings.Index(page, "<body>"):strings.Index(page, "<script>")] + "</body>"
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(body, "<wbr>", "")))
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
}

func TestPageShowsAllTexts(t *testing.T) {
	for _, name := range []string{
		"plain", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</style></title>{{.}}", "' onload='x", "&amp; <b>", "a+b+c", "日本", "]]>-->", "javascript:alert(1)", "",
	} {
		page := write(t, full(t, name))
		text := wellFormed(t, page)
		if name != "" {
			assert.GreaterOrEqual(t, strings.Count(text, name), 25, name)
		}
		assert.Equal(t, 1, strings.Count(page, "<script>"), name)
		assert.Equal(t, 1, strings.Count(page, "</style>"), name)
		assert.NotContains(t, page, "<img", name)
		assert.NotContains(t, page, "ZgotmplZ", name) // the template package's word for what it refused
	}
}

func TestPageIsTheSameEachTime(t *testing.T) {
	first := write(t, full(t, "name"))
	for range 20 {
		require.Equal(t, first, write(t, full(t, "name")))
	}
}

func TestPageAllowsItsOwnStyleAndScriptOnly(t *testing.T) {
	page := write(t, full(t, "name"))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	assert.Contains(t, policy, "default-src 'none'")
	for directive, element := range map[string]string{"style-src": "style", "script-src": "script"} {
		_, content, _ := strings.Cut(page, "<"+element+">")
		content, _, _ = strings.Cut(content, "</"+element+">")
		sum := sha256.Sum256([]byte(content))
		assert.Contains(t, policy, directive+" 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		assert.NotContains(t, content, "url(")
		assert.NotContains(t, content, "@import")
	}
	assert.NotRegexp(t, `\b(src|href)="[^d"]|https?://|\sstyle="|\son[a-z]+="`, page, "nothing from elsewhere, nothing the policy forbids")
}

func TestPageOfNothing(t *testing.T) {
	text := wellFormed(t, write(t, &report.Page{Title: "Nothing"}))
	assert.Equal(t, "Nothing", strings.TrimSpace(text))

	empty := &report.Page{
		Title: "Empty", Tables: []*report.Table{{}, {Columns: []report.Column{{Title: "policy"}, {Title: "wait", Better: report.Lower}}}},
		Timelines: []*report.Timeline{{Title: "Queue"}}, Cumulative: []*report.Cumulative{{Title: "Wait", Unit: "s", Floor: 1}}, Decisions: &report.Decisions{},
	}
	require.NoError(t, empty.Timelines[0].Add("none", nil))
	require.NoError(t, empty.Cumulative[0].Add("none", nil))
	for _, slots := range [][][]int{nil, {{}}, {{-1, -1}}} {
		picture, err := report.MatrixPicture("m", slots)
		require.NoError(t, err)
		empty.Pictures = append(empty.Pictures, picture)
	}
	page := write(t, empty)
	assert.Equal(t, 2+1+3, strings.Count(wellFormed(t, page), "no data"))
	assert.NotRegexp(t, "NaN|Inf", page[strings.Index(page, "<body>"):strings.Index(page, "<script>")])
}

func TestPageOfOnePolicyHasNoBest(t *testing.T) {
	page := write(t, &report.Page{Title: "One", Tables: []*report.Table{tableOf(report.Column{Title: "wait", Better: report.Lower}, 3.)}})
	assert.NotContains(t, page, "(best)")
	assert.NotContains(t, page, `class="answer"`)
	assert.NotContains(t, page, `class="facts"`)
}

// cells returns the text of the second column.
func cells(page string) (text []string) {
	for _, row := range regexp.MustCompile(`(?s)<td class="number[^>]*>(.*?)(?:<svg.*?)?</td>`).FindAllStringSubmatch(page, -1) {
		text = append(text, html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(row[1], "")))
	}
	return text
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		value  any
		format string
		want   string
		sort   string
	}{
		{math.NaN(), "", "–", ""},
		{math.Inf(1), "%.2f", "–", ""},
		{math.Inf(-1), "", "–", ""},
		{float32(math.Inf(1)), "", "–", ""},
		{nil, "", "–", ""},
		{0., "", "0", "0"},
		{1234, "", "1234", "1234"},
		{12345, "", "12\u202f345", "12345"},
		{-1234567.25, "%.2f", "-1\u202f234\u202f567.25", "-1.23456725e+06"},
		{int64(math.MaxInt64), "", "9.223e+18", "9.223372036854776e+18"},
		{1e300, "%.0f", "1e+300", "1e+300"},
		{-1e300, "%.0f", "-1e+300", "-1e+300"},
		{999_999_999_999_999., "%.0f", "999\u202f999\u202f999\u202f999\u202f999", "9.99999999999999e+14"},
		{90 * time.Second, "", "90", "90"},
		{uint8(7), "%03d", "007", "7"},
		{float32(.5), "", "0.5", "0.5"},
	} {
		page := write(t, &report.Page{Title: "t", Tables: []*report.Table{tableOf(report.Column{Title: "v", Format: c.format}, c.value)}})
		assert.Equal(t, []string{c.want}, cells(page), "%v", c.value)
		if c.sort == "" {
			assert.NotContains(t, page, " data-value=")
		} else {
			assert.Contains(t, strings.ReplaceAll(page, "&#43;", "+"), ` data-value="`+c.sort+`"`)
		}
	}
}

func TestBest(t *testing.T) {
	for _, c := range []struct {
		name   string
		better report.Better
		values []any
		best   []string
		answer string
	}{
		{"lower", report.Lower, []any{3., 1., 2.}, []string{"1"}, "Best of 3 policies: b in v."},
		{"higher", report.Higher, []any{3., 1., 2.}, []string{"3"}, "Best of 3 policies: a in v."},
		{"neither", 0, []any{3., 1., 2.}, nil, ""},
		{"missing ones are not best", report.Lower, []any{nil, math.Inf(-1), math.NaN(), 5., 6.}, []string{"5"}, "Best of 5 policies: d in v."},
		{"equal as shown", report.Lower, []any{2.00001, 2.00002, 3.}, []string{"2", "2"}, "Best of 3 policies: a and b in v."},
		{"all equal", report.Lower, []any{2., 2.}, nil, ""},
		{"all missing", report.Higher, []any{nil, nil}, nil, ""},
		{"negative", report.Lower, []any{-2., 1.}, []string{"-2"}, "Best of 2 policies: a in v."},
		{"many", report.Lower, []any{1., 1., 1., 1., 2.}, []string{"1", "1", "1", "1"}, "Best of 5 policies: 4 policies in v."},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := write(t, &report.Page{Title: "t", Tables: []*report.Table{tableOf(report.Column{Title: "v", Better: c.better}, c.values...)}})
			var best []string
			for _, cell := range cells(page) {
				if text, ok := strings.CutSuffix(cell, " (best)"); ok {
					best = append(best, text)
				}
			}
			assert.Equal(t, c.best, best)
			if c.answer == "" {
				assert.NotContains(t, page, `class="answer"`)
			} else {
				assert.Contains(t, page, `<p class="answer">`+c.answer+`</p>`)
			}
		})
	}
}

func TestOneLookForOneName(t *testing.T) {
	p := full(t, "easy")
	seen := map[string]bool{}
	for i := range 28 {
		require.NoError(t, p.Timelines[0].Add(fmt.Sprint("p", i), plotter.XYs{{X: 0, Y: 1}}))
	}
	page := write(t, p)
	for _, m := range regexp.MustCompile(`class="swatch (c\d d\d)"[^>]*><line[^>]*></line></svg> <span>([^<]*)|class="swatch (c\d d\d)"[^>]*><line[^>]*/></svg> <span>([^<]*)`).FindAllStringSubmatch(page, -1) {
		seen[m[1]+m[3]+" "+m[2]+m[4]] = true
	}
	assert.Len(t, seen, 2+28, "a look each")
	looks := map[string]bool{}
	for s := range seen {
		looks[s[:5]] = true
	}
	assert.Len(t, looks, 28, "as many as there are")
}

func TestTimelineRefusesWhatCannotBeDrawn(t *testing.T) {
	var c report.Timeline
	for _, bad := range []plotter.XYs{
		{{X: math.NaN(), Y: 1}}, {{X: 1, Y: math.NaN()}}, {{X: 1, Y: math.Inf(1)}}, {{X: math.Inf(-1), Y: 1}}, {{X: 1, Y: -1}}, {{X: 2, Y: 1}, {X: 1, Y: 1}},
	} {
		require.ErrorIs(t, c.Add("bad", bad), report.ErrData)
	}
	assert.NotContains(t, write(t, &report.Page{Timelines: []*report.Timeline{&c}}), "bad")
}

func TestCumulativeRefusesWhatCannotBeDrawn(t *testing.T) {
	for _, floor := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		require.ErrorIs(t, (&report.Cumulative{Floor: floor}).Add("a", []float64{1}), report.ErrData)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorIs(t, (&report.Cumulative{Floor: 1}).Add("a", []float64{1, v}), report.ErrData)
	}
}

// outline follows a path's commands and returns its corners.
func outline(t *testing.T, path string) (points [][2]int) {
	t.Helper()
	x, y := 0, 0
	rest := path
	for _, m := range regexp.MustCompile(`M(-?\d+) (-?\d+)|h(-?\d+)|v(-?\d+)|z`).FindAllString(path, -1) {
		require.True(t, strings.HasPrefix(rest, m), "unknown command at %.20q", rest)
		rest = rest[len(m):]
		var d int
		switch m[0] {
		case 'M':
			fmt.Sscanf(m, "M%d %d", &x, &y)
		case 'h':
			fmt.Sscanf(m, "h%d", &d)
			x += d
		case 'v':
			fmt.Sscanf(m, "v%d", &d)
			y += d
		}
		require.True(t, 0 <= x && x <= 10_000 && 0 <= y && y <= 10_000, "outside: %d %d", x, y)
		points = append(points, [2]int{x, y})
	}
	require.Empty(t, rest)
	return points
}

func paths(page, class string) (d []string) {
	for _, m := range regexp.MustCompile(`<path class="`+class+`" d="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		d = append(d, m[1])
	}
	return d
}

func TestTimelineDrawsShortCurvesAsTheyAre(t *testing.T) {
	c := &report.Timeline{Title: "Queue", Unit: "jobs"}
	steps := plotter.XYs{{X: 0, Y: 1}, {X: 25, Y: 4}, {X: 25, Y: 2}, {X: 100, Y: 0}}
	require.NoError(t, c.Add("a", steps))
	clear(steps) // it is the caller's again
	page := write(t, &report.Page{Title: "t", Timelines: []*report.Timeline{c}})
	assert.Equal(t, []string{"M0 10000v-2500h2500v-7500v5000h7500v5000"}, paths(page, "line hill"))
	assert.Empty(t, paths(page, "band"))
	assert.Contains(t, page, "mean 1.75, peak 4")
}

func TestTimelineKeepsEveryExtreme(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	steps := make(plotter.XYs, 100_000)
	for i := range steps {
		steps[i] = plotter.XY{X: float64(i), Y: 50 + float64(r.IntN(3))}
	}
	steps[0].Y, steps[30_000].Y, steps[70_001].Y = 0, 0, 100
	before := slices.Clone(steps)
	c := &report.Timeline{Title: "Queue"}
	require.NoError(t, c.Add("a", steps))
	require.Equal(t, before, steps, "not written to")
	page := write(t, &report.Page{Title: "t", Timelines: []*report.Timeline{c}})
	shade := outline(t, paths(page, "band")[0])
	assert.LessOrEqual(t, len(shade), 2*1001+2)
	low, high := 10_000, 0
	for _, p := range shade {
		low, high = min(low, p[1]), max(high, p[1])
	}
	assert.Equal(t, 0, low, "the peak of 100 is the top")
	assert.Equal(t, 10_000, high, "the dip to 0 is the bottom")
	assert.LessOrEqual(t, len(outline(t, paths(page, "line hill")[0])), 1003)
	assert.Contains(t, page, "mean 51, peak 100")

	_, lows, highs := report.Thin(steps)
	for i := range len(lows) - 1 {
		middle := int((lows[i].X + lows[i+1].X) / 2 / steps[len(steps)-1].X * 10_000)
		var edges []int
		for k := range len(shade) - 1 {
			if a, b := shade[k], shade[k+1]; a[1] == b[1] && min(a[0], b[0]) < middle && middle < max(a[0], b[0]) {
				edges = append(edges, 10_000-a[1])
			}
		}
		require.Equal(t, []int{int(100 * highs[i].Y), int(100 * lows[i].Y)}, edges, "interval %d", i)
	}
}

func TestTimelineOfUnequalPeaksIsLogarithmic(t *testing.T) {
	for peak, want := range map[float64]bool{40: false, 60: true} {
		c := &report.Timeline{Title: "Queue"}
		require.NoError(t, c.Add("small", plotter.XYs{{X: 0, Y: 10}, {X: 1, Y: 0}}))
		require.NoError(t, c.Add("large", plotter.XYs{{X: 0, Y: peak}, {X: 1, Y: 0}}))
		require.NoError(t, c.Add("idle", plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 0}}))
		page := write(t, &report.Page{Title: "t", Timelines: []*report.Timeline{c}})
		assert.Equal(t, want, strings.Contains(page, "The vertical axes are logarithmic."), peak)
		height := 10_000 - outline(t, paths(page, "line hill")[0])[1][1]
		share := 10 / peak
		if want {
			share = math.Log1p(10) / math.Log1p(60)
		}
		assert.InDelta(t, 10_000*share, height, 1)
	}
}

func TestTimelineOfHugeValuesDoesNotOverflow(t *testing.T) {
	c := &report.Timeline{Title: "t"}
	require.NoError(t, c.Add("a", plotter.XYs{{X: -1e300, Y: 1e300}, {X: 0, Y: 1e300}, {X: 1e300, Y: 0}}))
	require.NoError(t, c.Add("b", plotter.XYs{{X: 0, Y: 5e-324}}))
	page := write(t, &report.Page{Title: "t", Timelines: []*report.Timeline{c}})
	assert.NotRegexp(t, "NaN|[^A-Za-z]Inf", page[strings.Index(page, "<body>"):strings.Index(page, "<script>")])
	for _, d := range paths(page, "line hill") {
		outline(t, d)
	}
	assert.Contains(t, page, "mean 1e&#43;300, peak 1e&#43;300")
}

func TestCumulativeRisesToOne(t *testing.T) {
	c := &report.Cumulative{Title: "Wait", Unit: "s", Floor: 1}
	require.NoError(t, c.Add("a", []float64{0, .5, 10, 100, 1000}))
	page := write(t, &report.Page{Title: "t", Cumulative: []*report.Cumulative{c}})
	points := outline(t, paths(page, "line")[0])
	assert.Equal(t, [2]int{0, 10_000}, points[0])
	assert.Equal(t, [2]int{0, 6000}, points[1], "two of five at the floor")
	assert.Equal(t, [2]int{10_000, 0}, points[len(points)-1])
	assert.Contains(t, page, ">≤ 1 s</text>")
	assert.Contains(t, page, ">1 min</text>")
	assert.Contains(t, page, "a median 10 s, 95th percentile 16 min 40 s")
}

func TestGanttPicture(t *testing.T) {
	bars := []report.Bar{
		{Job: 1, Start: 0, End: 10 * time.Second, Processors: 1},
		{Job: 2, Start: 0, End: 30 * time.Second, Processors: 2},
		{Job: 3, Start: 10 * time.Second, End: 20 * time.Second, Processors: 2},
		{Job: 4, Start: 50 * time.Second, End: 60 * time.Second, Processors: 4},
	}
	p, err := report.GanttPicture("g", bars, 4, 0, 40*time.Second)
	require.NoError(t, err)
	page := write(t, &report.Page{Title: "t", Pictures: []*report.Picture{p}})
	assert.Equal(t, []string{
		"M0 7500H2500V10000H0z",
		"M0 2500H7500V7500H0z",
		"M2500 7500H5000V10000H2500zM2500 0H5000V2500H2500z", // the ones of ExampleLayout
	}, paths(page, `box c\d`))
	assert.Contains(t, page, "<title>job 3: 2 processors, 10 s</title>")
	assert.NotContains(t, page, "job 4")

	for _, bad := range []struct {
		processors int
		from, to   time.Duration
		err        error
	}{{0, 0, 1, report.ErrData}, {4, 5, 5, report.ErrData}, {4, 5, 1, report.ErrData}, {2, 0, time.Minute, report.ErrRows}} {
		_, err := report.GanttPicture("g", bars, bad.processors, bad.from, bad.to)
		require.ErrorIs(t, err, bad.err)
	}
	_, err = report.GanttPicture("g", make([]report.Bar, 1), 4, 0, time.Hour)
	require.NoError(t, err, "a bar outside is not looked at")
	many := make([]report.Bar, 2001)
	for i := range many {
		many[i] = report.Bar{Job: i, Start: 0, End: time.Hour, Processors: 1}
	}
	_, err = report.GanttPicture("g", many, 4000, 0, time.Hour)
	require.ErrorIs(t, err, report.ErrData)
}

func TestMatrixPicture(t *testing.T) {
	p, err := report.MatrixPicture("m", [][]int{{1, 1, -1, 0}, {3, 3}})
	require.NoError(t, err)
	page := write(t, &report.Page{Title: "t", Pictures: []*report.Picture{p}})
	assert.Equal(t, []string{"M0 0H5000V5000H0z", "M7500 0H10000V5000H7500z", "M0 5000H5000V10000H0z"}, paths(page, `box c\d`))
	split, err := report.MatrixPicture("m", [][]int{{1, 2, 1}, {1, 1, 1}})
	require.NoError(t, err)
	page = write(t, &report.Page{Title: "t", Pictures: []*report.Picture{split}})
	assert.Equal(t, []string{"M0 0H3333V5000H0zM6667 0H10000V5000H6667zM0 5000H10000V10000H0z", "M3333 0H6667V5000H3333z"}, paths(page, `box c\d`), "a job is one shape, wherever it runs")

	wide := [][]int{make([]int, 5000)}
	for i := range wide[0] {
		wide[0][i] = i
	}
	_, err = report.MatrixPicture("m", wide)
	require.ErrorIs(t, err, report.ErrData)
}

func TestDecisionsAreInOrderOfTime(t *testing.T) {
	d := &report.Decisions{Title: "Job 1", Submit: 100 * time.Second, Courses: []report.Course{{
		Name: "easy", Start: 160 * time.Second, End: 100*time.Second + 26*time.Hour,
		Events: []report.Event{{160 * time.Second, "starts", ""}, {100 * time.Second, "queued", "waits for memory"}},
	}}}
	text := wellFormed(t, write(t, &report.Page{Title: "t", Decisions: d}))
	assert.Regexp(t, `(?s)waits 1 min, runs 1 d 1 h.*0 s\s+queued\s+waits for memory.*1 min\s+starts`, text)
	assert.Equal(t, "starts", d.Courses[0].Events[0].What, "not written to")
}

func TestPageReportsABrokenWriter(t *testing.T) {
	require.ErrorIs(t, (&report.Page{}).WriteHTML(broken{}), errBroken)
}

// noise is as bad as curves get: nothing repeats, nothing can be left out.
func noise(t testing.TB, policies, jobs int) *report.Page {
	r := rand.New(rand.NewPCG(1, 2))
	p := &report.Page{Title: "Noise"}
	steps, values := make(plotter.XYs, 3*jobs), make([]float64, jobs)
	for range 3 {
		line, share := &report.Timeline{Title: "t"}, &report.Cumulative{Title: "c", Unit: "s", Floor: 1}
		for i := range policies {
			for k := range steps {
				steps[k] = plotter.XY{X: float64(k), Y: 1e6 * r.Float64()}
			}
			for k := range values {
				values[k] = math.Exp(15 * r.Float64())
			}
			name := fmt.Sprint("policy ", i)
			require.NoError(t, line.Add(name, steps))
			require.NoError(t, share.Add(name, values))
		}
		p.Timelines, p.Cumulative = append(p.Timelines, line), append(p.Cumulative, share)
	}
	for range policies {
		bars := make([]report.Bar, 300)
		for k := range bars {
			bars[k] = report.Bar{Job: 60_000 + k, Start: time.Duration(k) * time.Second, End: time.Duration(k+1+r.IntN(60)) * time.Second, Processors: 1 + r.IntN(50)}
		}
		picture, err := report.GanttPicture("g", bars, 60*50, 0, 300*time.Second)
		require.NoError(t, err)
		p.Pictures = append(p.Pictures, picture)
	}
	return p
}

func TestPageOfManyJobsIsSmall(t *testing.T) {
	jobs := 70_000
	if testing.Short() {
		jobs = 7_000
	}
	size := len(write(t, noise(t, 10, jobs)))
	assert.Less(t, size, 2_000_000)
	assert.Greater(t, size, 500_000, "it is all there")
}

func TestPageTakesTheAnswerThatItIsGiven(t *testing.T) {
	table := &report.Table{Columns: []report.Column{{Title: "policy"}, {Title: "wait", Better: report.Lower}}}
	table.Add("easy", 3)
	table.Add("fcfs", 4)
	for given, want := range map[string]string{"": "easy", "It depends.": "It depends."} {
		var text strings.Builder
		p := report.Page{Title: "t", Answer: given, Tables: []*report.Table{table}}
		require.NoError(t, p.WriteHTML(&text))
		_, rest, found := strings.Cut(text.String(), `<p class="answer">`)
		require.True(t, found)
		answer, _, _ := strings.Cut(rest, "</p>")
		assert.Contains(t, answer, want)
	}
}
