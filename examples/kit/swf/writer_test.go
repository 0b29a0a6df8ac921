package swf_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// copied reads a log, writes what was read, and returns that text.
func copied(t testing.TB, text string) string {
	t.Helper()
	r, err := swf.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	var jobs []swf.Job
	for j, err := range r.All() {
		if err == nil {
			jobs = append(jobs, *j)
		}
	}
	var b strings.Builder
	w := swf.NewWriter(&b)
	for k, v := range r.Header().Entries() {
		require.NoError(t, w.Header(k, v))
	}
	for i := range jobs {
		require.NoError(t, w.Write(&jobs[i]))
	}
	require.NoError(t, w.Flush())
	return b.String()
}

func TestWriterNormalises(t *testing.T) {
	text := ";   --- converted ---\n;  Version:2.2\n;Note: one\n;\ttwo\n;\n; free\n;\n; other\n;Queue:\n" +
		"\n  1  0\t2.50 489.00 -1 1e3 0.1 .5 +7 5.  1 1 1 1 1 -1 -1 -1\r\n"
	want := "; --- converted ---\n; Version: 2.2\n; Note: one\n;   two\n;\n; free\n;\n; other\n; Queue:\n" +
		"1 0 2.5 489 -1 1000 0.1 0 7 5 1 1 1 1 1 -1 -1 -1\n"
	assert.Equal(t, want, copied(t, text))
	assert.Equal(t, want, copied(t, want), "a copy of the copy is the copy")
}

func TestEveryNumberReadsBack(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 0.1, 1.0 / 3, -2.5, 1<<53 - 1, -(1<<53 - 1), 1 << 52, (1 << 52) - 0.5,
		math.SmallestNonzeroFloat64, 123456789.987654321} {
		var b bytes.Buffer
		w := swf.NewWriter(&b)
		j := goodJob
		j.Submit, j.ThinkTime = x, -x
		require.NoError(t, w.Write(&j))
		require.NoError(t, w.Flush())
		assert.NotContains(t, b.String(), "e")
		got := readOne(t, b.String())
		assert.Equal(t, j, got)
		assert.Equal(t, math.Float64bits(x), math.Float64bits(got.Submit))
	}
}

func TestWriterRefusesWhatAReaderWould(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*swf.Job)
		want    error
		message string
	}{
		{"not a number", func(j *swf.Job) { j.Submit = math.NaN() }, swf.ErrNumber,
			`line 2: field 2 (submit time): not a decimal number: "NaN"`},
		{"infinity", func(j *swf.Job) { j.ThinkTime = math.Inf(-1) }, swf.ErrNumber,
			`line 2: field 18 (think time): not a decimal number: "-Inf"`},
		{"a time of 2^53", func(j *swf.Job) { j.Run = 1 << 53 }, swf.ErrRange,
			`line 2: field 4 (run time): number out of range, want magnitude < 2^53: "9007199254740992"`},
		{"a time of 1e300", func(j *swf.Job) { j.Run = 1e300 }, swf.ErrRange,
			`line 2: field 4 (run time): number out of range, want magnitude < 2^53: "1` + strings.Repeat("0", 39) + `..."`},
		{"a count of 2^53", func(j *swf.Job) { j.Allocated = 1 << 53 }, swf.ErrRange, ""},
		{"a count of 2^53 + 1, which is no float64", func(j *swf.Job) { j.Number = 1<<53 + 1 }, swf.ErrRange, ""},
		{"the smallest integer", func(j *swf.Job) { j.Status = math.MinInt64 }, swf.ErrRange, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			w := swf.NewWriter(&b)
			j := goodJob
			require.NoError(t, w.Write(&j))
			c.change(&j)
			err := w.Write(&j)
			require.ErrorIs(t, err, c.want)
			if c.message != "" {
				assert.EqualError(t, err, c.message)
			}
			require.NoError(t, w.Write(&goodJob))
			require.NoError(t, w.Flush())
			assert.Equal(t, good+"\n"+good+"\n", b.String(), "nothing of the refused job is written")
		})
	}
}

func TestHeadersThatWouldNotReadBack(t *testing.T) {
	for _, c := range []struct{ name, keyword, value string }{
		{"a keyword of two words", "Max Procs", "8"},
		{"a keyword with a colon", "Max:Procs", "8"},
		{"a keyword with a line end", "Max\nProcs", "8"},
		{"an unknown keyword in small letters", "see", "there"},
		{"a keyword that starts with a digit", "2nd", "x"},
		{"a keyword beyond ASCII", "Größe", "8"},
		{"a continuation that is a keyword", "Note", "one\nMaxProcs: 8"},
		{"a continuation without text", "Note", "one\n\ntwo"},
		{"a continuation that draws columns", "Note", "one\n" + strings.Repeat("|", 17)},
		{"free text that is a keyword", "", "MaxProcs: 8"},
		{"free text that is empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			w := swf.NewWriter(&b)
			assert.ErrorIs(t, w.Header(c.keyword, c.value), swf.ErrHeader)
			require.NoError(t, w.Flush())
			assert.Empty(t, b.String())
		})
	}
	w := swf.NewWriter(io.Discard)
	assert.ErrorIs(t, w.Header("Note", strings.Repeat("x", swf.MaxLine)), swf.ErrTooLong)
}

func TestWriterReportsAFullDisk(t *testing.T) {
	full := errors.New("no space left on device")
	w := swf.NewWriter(failing{full})
	var err error
	for range 10_000 {
		if err = w.Write(&goodJob); err != nil {
			break
		}
	}
	assert.ErrorIs(t, err, full)
	assert.ErrorIs(t, w.Write(&goodJob), full)
	assert.ErrorIs(t, w.Flush(), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteDoesNotAllocate(t *testing.T) {
	w := swf.NewWriter(io.Discard)
	j := goodJob
	j.CPUTime = 0.1
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if err := w.Write(&j); err != nil {
			t.Fatal(err)
		}
	}))
}
