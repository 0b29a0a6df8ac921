package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page's template, style and script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Page is a comparison of policies for a reader: an answer, a table, and the
// curves, pictures and decisions behind it. WriteHTML makes it one file.
//
//	p := report.Page{Title: "Replay of SDSC-SP2", Tables: []*report.Table{table}}
//	queue := &report.Timeline{Title: "Queue", Unit: "jobs"}
//	err := queue.Add("easy", steps) // once a policy; steps may be reused after that
//	p.Timelines = append(p.Timelines, queue)
//	err = report.WriteFile("report.html", p.WriteHTML)
//
// Only Title is needed; what is empty does not show. Texts are plain text. What
// bears the same name in a table's first column, a curve and a Course gets the
// same colour and dashes, and is shown and hidden together.
type Page struct {
	Title    string
	Subtitle string // what was run: the log, its jobs, the machine

	// Answer is the paragraph on top: which policy is best at what. If empty, the
	// page writes it from the first table.
	Answer string

	Synthetic []string // what of the data is generated or modelled, not logged; a sentence each
	Notes     []string // what else a reader has to know; a sentence each

	// Tables: the first compares the policies, a row each, with their names in the
	// first column; the others go into detail, such as classes of jobs. About,
	// Better and Synthetic of a column are made for the page.
	Tables []*Table

	Timelines  []*Timeline
	Cumulative []*Cumulative
	Pictures   []*Picture
	Decisions  *Decisions

	Command string // the command line that makes this page again
}

// Decisions follow one job through every policy.
type Decisions struct {
	Title   string // which job: "Job 4711: 64 processors, 2 GiB, estimate 1 h"
	Submit  time.Duration
	Courses []Course
}

// A Course is what became of the job under one policy.
type Course struct {
	Name       string // of the policy
	Start, End time.Duration
	Events     []Event // in order of time
}

// An Event is a decision on the job.
type Event struct {
	Time      time.Duration
	What, Why string
}

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// WriteHTML writes the page as one HTML file that loads nothing from anywhere,
// and forbids it. It can be read without JavaScript, which adds sorting, hiding
// of policies and a read-out of the curves. Equal pages give equal bytes.
func (p *Page) WriteHTML(w io.Writer) error {
	names := &styles{of: map[string]int{}}
	v := view{
		Page: p, Answer: p.Answer, CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Security: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
			digest(pageCSS), digest(pageJS)),
	}
	for i, t := range p.Tables {
		v.Tables = append(v.Tables, viewTable(t, i, names))
	}
	if len(v.Tables) > 0 {
		v.Facts = v.Tables[0].facts()
		if v.Answer == "" {
			v.Answer = v.Tables[0].answer(v.Facts)
		}
	}
	for _, t := range p.Timelines {
		v.Timelines = append(v.Timelines, t.view(names))
	}
	for _, c := range p.Cumulative {
		v.Cumulative = append(v.Cumulative, c.view(names))
	}
	for _, picture := range p.Pictures {
		v.Pictures = append(v.Pictures, picture.view())
	}
	if d := p.Decisions; d != nil && len(d.Courses) > 0 {
		v.Decisions = d.view(names)
	}
	v.Key = names.key()
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, v); err != nil {
		return err
	}
	return out.Flush()
}

// digest is a content security policy's name for the content.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the template sees: text, and numbers already written.
type view struct {
	*Page
	Answer     string
	CSS        template.CSS
	JS         template.JS
	Security   string
	Facts      []fact
	Key        []style
	Tables     []tableView
	Timelines  []timelineView
	Cumulative []cumulativeView
	Pictures   []pictureView
	Decisions  *decisionsView
}

// styles gives names their looks, in order of appearance.
type styles struct {
	names []string
	of    map[string]int
}

// A style is how a name looks: a colour and dashes, so that neither is needed
// to tell few names apart.
type style struct {
	Name  string
	Parts []string // of the name, between which a line may break
	Index int
	Class string
}

func (s *styles) get(name string) style {
	i, ok := s.of[name]
	if !ok {
		i = len(s.names)
		s.of[name] = i
		s.names = append(s.names, name)
	}
	return style{name, strings.SplitAfter(name, "+"), i, fmt.Sprintf("c%d d%d", i%len(colours), i%dashes)}
}

func (s *styles) key() []style {
	var key []style
	for _, name := range s.names {
		key = append(key, s.get(name))
	}
	return key
}

// dashes is the number of dash patterns; it and the number of colours have no
// common divisor, so that all combinations come.
const dashes = 4

// tableView is a table as shown.
type tableView struct {
	ID      string
	Title   string
	Columns []columnView
	Rows    [][]cellView
	Named   bool // the first column holds names
}

type columnView struct {
	Column
	Number bool
	Words  string // lower is better, ...
}

type cellView struct {
	Text    string
	Sort    string // the number in full precision; empty for none
	Head    bool
	Style   *style // of a policy
	Best    bool
	Bar     string // width in percent; empty for none
	value   float64
	missing bool
}

func viewTable(t *Table, index int, names *styles) tableView {
	v := tableView{ID: fmt.Sprintf("table-%d", index), Title: t.Title}
	for i, c := range t.Columns {
		column := columnView{Column: c, Number: true, Words: c.Better.words()}
		for _, row := range t.rows {
			if _, ok := row[i].(string); ok {
				column.Number = false
			}
		}
		v.Columns = append(v.Columns, column)
	}
	v.Named = len(v.Columns) > 0 && !v.Columns[0].Number
	for _, row := range t.rows {
		cells := make([]cellView, len(row))
		for i, x := range row {
			cells[i] = viewCell(x, t.Columns[i].Format)
			if name, ok := x.(string); ok && i == 0 {
				cells[i].Head = true
				if _, known := names.of[name]; known || index == 0 {
					s := names.get(name)
					cells[i].Style = &s
				}
			}
		}
		v.Rows = append(v.Rows, cells)
	}
	for i, c := range v.Columns {
		v.rate(i, c.Better)
	}
	return v
}

// viewCell shows a value as the text table does, but thousands apart and what
// is no number as missing.
func viewCell(v any, format string) cellView {
	if d, ok := v.(time.Duration); ok {
		v = d.Seconds()
	}
	var x float64
	switch n := v.(type) {
	case string:
		return cellView{Text: n, missing: true}
	case float64:
		x = n
	case float32:
		x = float64(n)
	default:
		var err error
		if x, err = strconv.ParseFloat(fmt.Sprint(v), 64); err != nil {
			x = math.NaN()
		}
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return cellView{Text: "–", missing: true}
	}
	if math.Abs(x) >= 1e15 {
		v, format = x, "%.4g"
	}
	return cellView{Text: thousands(textCell(v, format)), Sort: strconv.FormatFloat(x, 'g', -1, 64), value: x}
}

// thousands parts the digits before the point with thin spaces that do not break.
func thousands(s string) string {
	digits := strings.TrimPrefix(s, "-")
	n := 0
	for n < len(digits) && '0' <= digits[n] && digits[n] <= '9' {
		n++
	}
	if n < 5 { // 1234 reads well
		return s
	}
	var b strings.Builder
	b.WriteString(s[:len(s)-len(digits)])
	for i := range n {
		if i > 0 && (n-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteByte(digits[i])
	}
	b.WriteString(digits[n:])
	return b.String()
}

// rate marks the best of a column, ties as shown included, and gives its
// numbers bars from zero to the largest.
func (t *tableView) rate(column int, better Better) {
	most, least, equal, numbers := math.Inf(-1), math.Inf(1), true, 0
	var text string
	for _, row := range t.Rows {
		if c := row[column]; !c.missing {
			if numbers > 0 && c.Text != text {
				equal = false
			}
			text = c.Text
			most, least = max(most, c.value), min(least, c.value)
			numbers++
		}
	}
	best := ""
	for _, row := range t.Rows {
		c := &row[column]
		if c.missing {
			continue
		}
		if better != 0 && least >= 0 && most > 0 {
			c.Bar = decimal(100*(c.value/most), 1)
		}
		if !equal && (better == Lower && c.value == least || better == Higher && c.value == most) {
			best = c.Text
		}
	}
	for _, row := range t.Rows {
		row[column].Best = best != "" && row[column].Text == best && !row[column].missing
	}
}

// A fact is the best value of a column.
type fact struct {
	Title, Unit, Value string
	Names              []string
	Worst, WorstName   string
	Synthetic          bool
}

// facts are the best values, one for columns of the same title.
func (t *tableView) facts() []fact {
	var facts []fact
	seen := map[string]bool{}
	for i, c := range t.Columns {
		if c.Better == 0 || seen[c.Title] || !t.Named {
			continue
		}
		f := fact{Title: c.Title, Unit: c.Unit, Synthetic: c.Synthetic}
		var worst *cellView
		for _, row := range t.Rows {
			cell := &row[i]
			if cell.Best {
				f.Value = cell.Text
				f.Names = append(f.Names, row[0].Text)
			}
			if !cell.missing && (worst == nil || (cell.value > worst.value) == (c.Better == Lower) && cell.value != worst.value) {
				worst, f.Worst, f.WorstName = cell, cell.Text, row[0].Text
			}
		}
		if n := len(f.Names); n > 3 {
			f.Names = []string{fmt.Sprintf("%d policies", n)}
		}
		if f.Value != "" {
			seen[c.Title] = true
			facts = append(facts, f)
		}
	}
	return facts
}

// answer says in a sentence who is best at what.
func (t *tableView) answer(facts []fact) string {
	if len(facts) == 0 {
		return ""
	}
	var winners []string
	wins := map[string][]string{}
	for _, f := range facts {
		who := sentence(f.Names)
		if wins[who] == nil {
			winners = append(winners, who)
		}
		what := f.Title
		if f.Unit != "" {
			what += " (" + f.Unit + ")"
		}
		wins[who] = append(wins[who], what)
	}
	parts := make([]string, len(winners))
	for i, who := range winners {
		parts[i] = who + " in " + sentence(wins[who])
	}
	return fmt.Sprintf("Best of %d policies: %s.", len(t.Rows), strings.Join(parts, "; "))
}

func sentence(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// decimal writes a number with at most so many decimals.
func decimal(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}
