package report_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
	"github.com/gangkit/gangkit/examples/kit/workload"
)

var shots = flag.String("shots", "", "save the page and what the browser shows of it into this `folder`")

// browser starts a Chromium without a window and without a word to anybody.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium: install the package chromium")
		}
		t.Skip("no Chromium to look at the page with: install the package chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx)) // starts it
	return ctx
}

// tab opens a tab that keeps the requests and complaints of its page.
func tab(t *testing.T, browser context.Context, actions ...chromedp.Action[chromedp.Void]) *tabbed {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	b := &tabbed{ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "data:," { // the icon, of no bytes
				b.requests = append(b.requests, e.Request.URL)
			}
		case *runtime.EventConsoleAPICalled:
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}))
	b.run(t, command(network.Enable, network.EnableParams{}), command(runtime.Enable, cdp.Empty{}), command(log.Enable, cdp.Empty{}))
	b.run(t, actions...)
	return b
}

// command is an action that chromedp has no word for.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, c, params)
		return err
	})
}

type tabbed struct {
	ctx                  context.Context
	mu                   sync.Mutex
	requests, complaints []string
}

func (b *tabbed) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(b.ctx, actions...))
}

// evaluate returns what an expression is in the page.
func evaluate[T any](t *testing.T, b *tabbed, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return v
}

// contrast is a script that finds the lowest contrast of any text to what is
// behind it, by the formula of WCAG 2, and the smallest text.
const contrast = `(() => {
	const rgb = c => { const [r, g, b, a = 1] = c.match(/[\d.]+/g).map(Number); return { c: [r, g, b], a } };
	const light = ({ c }) => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	let lowest = 99, where = "", smallest = 99;
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || e.closest("script, title, .hidden, .unseen") || !e.getClientRects().length) continue;
		const style = getComputedStyle(e);
		smallest = Math.min(smallest, parseFloat(style.fontSize));
		const ink = rgb(e.closest("svg") ? style.fill : style.color);
		let behind = e;
		while (behind && rgb(getComputedStyle(behind).backgroundColor).a === 0) behind = behind.parentElement;
		const paper = rgb(getComputedStyle(behind || document.documentElement).backgroundColor);
		const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
		const ratio = (a + .05) / (b + .05);
		if (ratio < lowest) { lowest = ratio; where = walker.currentNode.data.trim() + " " + style.color }
	}
	return { lowest, where, smallest };
})()`

type legibility struct {
	Lowest, Smallest float64
	Where            string
}

func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	chromium := browser(t)
	w, err := workload.Generate(800, 128, 1)
	require.NoError(t, err)
	require.NoError(t, w.Scale(.8))
	p := replayed(t, w)
	p.Tables[0].Add("<script>alert(1)</script>", 9., 10000., 200., math.NaN(), math.Inf(1), 1e300, nil, 2.)
	path := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, report.WriteFile(path, p.WriteHTML))
	address := "file://" + path
	save := func(t *testing.T, name string, content []byte) {
		if *shots != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*shots, name), content, 0o666))
		}
	}
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	save(t, "report.html", content)

	open := func(t *testing.T, width, height int64, before ...chromedp.Action[chromedp.Void]) *tabbed {
		b := tab(t, chromium, append(before, chromedp.EmulateViewport(width, height), chromedp.Navigate(address))...)
		t.Cleanup(func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			assert.Equal(t, []string{address}, b.requests)
			assert.Empty(t, b.complaints)
		})
		return b
	}
	shoot := func(t *testing.T, b *tabbed, name string) {
		if *shots == "" {
			return
		}
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		save(t, name+".png", picture)
	}
	media := func(p emulation.SetEmulatedMediaParams) []chromedp.Action[chromedp.Void] {
		return []chromedp.Action[chromedp.Void]{command(emulation.SetEmulatedMedia, p)}
	}
	dark := media(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})

	t.Run("a click on a head sorts by numbers, up and down", func(t *testing.T) {
		b := open(t, 1280, 900)
		column := func(k int) []string {
			return evaluate[[]string](t, b, fmt.Sprintf(`[...document.querySelectorAll("table")[0].tBodies[0].rows].map(r => r.cells[%d].dataset.value || r.cells[%d].textContent.trim())`, k, k))
		}
		order := column(0)
		click := func(k int) {
			b.run(t, chromedp.Click(fmt.Sprintf(`thead th:nth-child(%d) button`, k+1), chromedp.NodeVisible))
		}
		number := func(values []string) []float64 {
			x := make([]float64, len(values))
			for i, v := range values {
				x[i] = math.NaN()
				fmt.Sscan(v, &x[i])
			}
			return x
		}
		click(1)
		assert.IsNonDecreasing(t, number(column(1)))
		assert.Equal(t, "9", column(1)[0], "9 is less than 10000")
		assert.Equal(t, "ascending", evaluate[string](t, b, `document.querySelector("th[aria-sort]").getAttribute("aria-sort")`))
		click(1)
		assert.IsNonIncreasing(t, number(column(1)))
		assert.Equal(t, "descending", evaluate[string](t, b, `document.querySelector("th[aria-sort]").getAttribute("aria-sort")`))
		click(4)
		assert.Equal(t, 1, evaluate[int](t, b, `document.querySelectorAll("th[aria-sort]").length`))
		for range 2 { // what has no value is last both ways
			assert.Equal(t, "–", column(4)[len(order)-1])
			click(4)
		}
		click(0)
		assert.Equal(t, "<script>alert(1)</script>", column(0)[0])
		assert.ElementsMatch(t, order, column(0))
		b.run(t, chromedp.Focus(`thead th:nth-child(2) button`), chromedp.KeyEvent("\r"))
		assert.IsNonDecreasing(t, number(column(1)), "by keyboard")
	})

	t.Run("the key hides and shows a policy", func(t *testing.T) {
		b := open(t, 1280, 900)
		visible := func() int {
			return evaluate[int](t, b, `[...document.querySelectorAll("figure [data-policy='0'], .courses [data-policy='0']")].filter(e => e.getClientRects().length).length`)
		}
		all := visible()
		assert.Equal(t, 3+3+2, all, "strips, lines and the course of decisions")
		b.run(t, chromedp.Click(`.key li:first-child button`))
		assert.Zero(t, visible())
		b.run(t, chromedp.Click(`.key li:first-child button`))
		assert.Equal(t, all, visible())
	})

	t.Run("pointing at a curve reads it out", func(t *testing.T) {
		b := open(t, 1280, 900)
		text := func() string { return evaluate[string](t, b, `document.querySelector(".strip .aside").textContent`) }
		before := text()
		b.run(t, chromedp.Evaluate[chromedp.Void](`(() => {
			const plot = document.querySelector(".strip .plot"), { left, width, top } = plot.getBoundingClientRect();
			plot.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width / 2, clientY: top + 5 }));
		})()`))
		assert.Regexp(t, `^[\d.]+ at \d+ d`, text())
		b.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector(".strip .plot").dispatchEvent(new PointerEvent("pointerleave"))`))
		assert.Equal(t, before, text())
		b.run(t, chromedp.Focus(`.cumulative .plot`), chromedp.KeyEvent(kb.ArrowLeft))
		assert.Equal(t, 1+len(p.Tables[0].Columns)-1, evaluate[int](t, b, `document.querySelector(".readout").children.length`), "a line a policy below where it is")
		assert.Regexp(t, `^up to .*easy\d+\.\d %`, evaluate[string](t, b, `document.querySelector(".readout").textContent`))
		shoot(t, b, "readout")
	})

	for _, c := range []struct {
		name          string
		width, height int64
		before        []chromedp.Action[chromedp.Void]
	}{
		{"desktop", 1280, 900, nil},
		{"dark", 1280, 900, dark},
		{"phone", 360, 740, nil},
		{"phone-dark", 360, 740, dark},
		{"noscript", 1280, 900, []chromedp.Action[chromedp.Void]{command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})}},
		{"paper", 740, 1050, media(emulation.SetEmulatedMediaParams{Media: "print"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.width, c.height, c.before...)
			shoot(t, b, c.name)
			if c.name == "noscript" {
				assert.Zero(t, evaluate[int](t, b, `document.querySelectorAll("button").length`), "no dead buttons")
			}
			assert.LessOrEqual(t, evaluate[int64](t, b, `document.documentElement.scrollWidth`), c.width, "nothing sticks out")
			assert.Equal(t, "", evaluate[string](t, b, `[...document.querySelectorAll("h1, h2, h3, li, tr, .strip, .cumulative path, .box, .courses li")].filter(e => !e.getClientRects().length || getComputedStyle(e).visibility !== "visible").map(e => e.outerHTML.slice(0, 80)).join()`), "all shows")
			l := evaluate[legibility](t, b, contrast)
			assert.GreaterOrEqual(t, l.Lowest, 4.5, l.Where)
			assert.Less(t, l.Lowest, 21.)
			if c.name != "paper" { // there, other units count
				assert.GreaterOrEqual(t, l.Smallest, 12.)
			}
			if strings.HasPrefix(c.name, "phone") {
				sticky := `document.querySelector("tbody th").getBoundingClientRect().left`
				before := evaluate[float64](t, b, sticky)
				b.run(t, chromedp.Evaluate[chromedp.Void](`document.querySelector(".scroll").scrollLeft = 200`))
				assert.InDelta(t, 200, evaluate[float64](t, b, `document.querySelector(".scroll").scrollLeft`), 1, "the table scrolls in its box")
				assert.InDelta(t, before, evaluate[float64](t, b, sticky), 1, "the names stay")
				names := evaluate[float64](t, b, `document.querySelector("tbody th").getBoundingClientRect().width`)
				assert.True(t, 100 <= names && names <= 180, "names can be read and leave room: %v", names)
			}
		})
	}

	t.Run("prints", func(t *testing.T) {
		b := open(t, 1280, 900)
		pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground()))
		require.NoError(t, err)
		assert.Greater(t, len(pdf), 10_000)
		save(t, "print.pdf", pdf)
	})

	t.Run("asks a server for nothing more", func(t *testing.T) {
		var mu sync.Mutex
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, r.URL.Path)
			mu.Unlock()
			http.ServeFile(w, r, path)
		}))
		defer server.Close()
		b := tab(t, chromium, chromedp.Navigate(server.URL+"/report.html"), chromedp.Sleep(200*time.Millisecond))
		assert.Equal(t, "Eight ways to run a workload", evaluate[string](t, b, "document.title"))
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []string{"/report.html"}, asked)
	})
}
