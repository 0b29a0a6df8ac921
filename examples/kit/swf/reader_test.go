package swf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// good is a job line in which every field is another number.
const good = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"

var goodJob = swf.Job{Line: 1, Number: 1, Submit: 2, Wait: 3, Run: 4, Allocated: 5, CPUTime: 6,
	UsedMemory: 7, Requested: 8, RequestedTime: 9, RequestedMemory: 10, Status: 11, User: 12,
	Group: 13, Executable: 14, Queue: 15, Partition: 16, Preceding: 17, ThinkTime: 18}

// with is good with another text in one field.
func with(field int, text string) string {
	f := strings.Fields(good)
	f[field-1] = text
	return strings.Join(f, " ")
}

// readAll returns the jobs and the errors of a log.
func readAll(t testing.TB, in io.Reader) ([]swf.Job, []error) {
	t.Helper()
	r, err := swf.NewReader(in)
	if err != nil {
		return nil, []error{err}
	}
	var jobs []swf.Job
	var errs []error
	for j, err := range r.All() {
		if err != nil {
			assert.Nil(t, j)
			errs = append(errs, err)
			continue
		}
		jobs = append(jobs, *j)
	}
	return jobs, errs
}

func readString(t testing.TB, text string) ([]swf.Job, []error) {
	t.Helper()
	return readAll(t, strings.NewReader(text))
}

// readOne wants exactly one job.
func readOne(t testing.TB, text string) swf.Job {
	t.Helper()
	jobs, errs := readString(t, text)
	require.Empty(t, errs)
	require.Len(t, jobs, 1)
	return jobs[0]
}

func compress(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name = "some.swf"
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestEachFieldGoesToItsPlace(t *testing.T) {
	assert.Equal(t, goodJob, readOne(t, good))
}

func TestLayoutDoesNotMatter(t *testing.T) {
	padded := strings.ReplaceAll(good, " ", "     ")
	for _, c := range []struct{ name, text string }{
		{"a line end", good + "\n"},
		{"no line end", good},
		{"a line end of two characters", good + "\r\n"},
		{"a carriage return at the very end", good + "\r"},
		{"blanks before, between and behind the fields", "   " + padded + "   \n"},
		{"tabs before, between and behind the fields", "\t" + strings.ReplaceAll(good, " ", " \t\t") + "\t\n"},
		{"other white space", "\v" + strings.ReplaceAll(good, " ", "\f") + "\n"},
		{"a byte order mark", "\ufeff" + good},
		{"a byte order mark and blanks", "\ufeff   " + good},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, goodJob, readOne(t, c.text))
		})
	}
}

func TestLinesWithoutAJobAreSkippedAndCounted(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int64
	}{
		{"empty lines", "\n\n" + good + "\n\n", 3},
		{"lines of white space", " \n\t\r\n\r\n" + good + "\n \n", 4},
		{"comments", "; one\n;two\n;\n" + good + "\n; end", 4},
		{"comments behind blanks", "  ; one\n\t;two\n" + good, 3},
		{"a comment that would be a job without its semicolon", ";" + good + "\n" + good, 2},
		{"a byte order mark before a comment", "\ufeff; MaxProcs: 8\n" + good, 2},
		{"a byte order mark on a line of its own", "\ufeff\n" + good, 2},
		{"binary in a comment", "; \x00\xff\x1b[31m\n" + good, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := goodJob
			want.Line = c.line
			assert.Equal(t, want, readOne(t, c.text))
		})
	}
}

func TestALogWithoutJobsIsNoError(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
	}{
		{"no bytes at all", ""},
		{"one line end", "\n"},
		{"blanks", "   "},
		{"a header only", "; MaxProcs: 8\n"},
		{"a header without line end", "; MaxProcs: 8"},
		{"a byte order mark only", "\ufeff"},
		{"gzip of nothing", string(compress(t, ""))},
		{"gzip of a header", string(compress(t, "; MaxProcs: 8\n"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := swf.NewReader(strings.NewReader(c.text))
			require.NoError(t, err)
			var j swf.Job
			for range 3 {
				require.Equal(t, io.EOF, r.Read(&j))
			}
			assert.Zero(t, j)
		})
	}
}

func TestNumbersAsTheyOccur(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"an integer", "3436", 3436},
		{"two decimals, mixed with integers in field 6 of many logs", "489.00", 489},
		{"a fraction", "0.25", 0.25},
		{"a fraction of a time", "12.345678", 12.345678},
		{"a tenth, which is not exact", "0.1", 0.1},
		{"no digit before the point", ".5", 0.5},
		{"no digit behind the point", "5.", 5},
		{"unknown", "-1", -1},
		{"unknown with decimals", "-1.00", -1},
		{"another negative", "-17.5", -17.5},
		{"a plus sign", "+7", 7},
		{"leading zeros", "007", 7},
		{"more leading zeros than digits fit", strings.Repeat("0", 60) + "7.5", 7.5},
		{"zero", "0", 0},
		{"an exponent", "1e5", 1e5},
		{"a negative exponent", "25E-2", 0.25},
		{"a large exponent of a small number", "0.000001e12", 1e6},
		{"a number that rounds to zero", "1e-999", 0},
		{"the largest integer", "9007199254740991", 1<<53 - 1},
		{"the smallest integer", "-9007199254740991", -(1<<53 - 1)},
		{"16 digits with a fraction", "123456789012.3456", 123456789012.3456},
		{"18 digits", "0.123456789012345678", 0.123456789012345678},
		{"19 digits", "0.1234567890123456789", 0.1234567890123456789},
		{"40 digits", "3.141592653589793238462643383279502884197", math.Pi},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := readOne(t, with(4, c.text)+"\n")
			assert.Equal(t, c.want, j.Run, "as a time")
			j = readOne(t, with(18, c.text))
			assert.Equal(t, c.want, j.ThinkTime, "as the last field")
			j = readOne(t, with(11, c.text))
			assert.Equal(t, int64(c.want), j.Status, "as a code, truncated")
		})
	}
}

func TestFaultyFieldIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"not a number", "nan", swf.ErrNumber},
		{"not a number in capitals", "NaN", swf.ErrNumber},
		{"infinity", "Inf", swf.ErrNumber},
		{"minus infinity", "-infinity", swf.ErrNumber},
		{"hexadecimal", "0x1F", swf.ErrNumber},
		{"a hexadecimal float", "0x1p4", swf.ErrNumber},
		{"a word", "batch", swf.ErrNumber},
		{"a clock time", "12:30", swf.ErrNumber},
		{"two points", "1.2.3", swf.ErrNumber},
		{"a lone sign", "-", swf.ErrNumber},
		{"two signs", "--1", swf.ErrNumber},
		{"a lone point", ".", swf.ErrNumber},
		{"an exponent without digits", "1e", swf.ErrNumber},
		{"a decimal comma", "489,00", swf.ErrNumber},
		{"digit groups", "1_000", swf.ErrNumber},
		{"digits of another script", "١٢", swf.ErrNumber},
		{"a blank that is no white space", "1\u00a0", swf.ErrNumber},
		{"a byte order mark in the middle", "\ufeff1", swf.ErrNumber},
		{"a comment sign behind a number", "1;", swf.ErrNumber},
		{"2^53", "9007199254740992", swf.ErrRange},
		{"-2^53", "-9007199254740992", swf.ErrRange},
		{"a fraction that rounds up to 2^53", "9007199254740991.9", swf.ErrRange},
		{"2^64 and one, which is 1 in 64 bits", "18446744073709551617", swf.ErrRange},
		{"10^30 written out", "1" + strings.Repeat("0", 30), swf.ErrRange},
		{"10^30 with an exponent", "1e30", swf.ErrRange},
		{"10^999", "1e999", swf.ErrRange},
	} {
		t.Run(c.name, func(t *testing.T) {
			for field := 1; field <= 18; field++ {
				_, errs := readString(t, "; x\n"+with(field, c.text))
				require.Len(t, errs, 1)
				var e *swf.LineError
				require.ErrorAs(t, errs[0], &e)
				assert.Equal(t, swf.LineError{Line: 2, Field: field, Value: c.text, Err: c.want}, *e)
				assert.ErrorIs(t, errs[0], c.want)
			}
		})
	}
}

func TestFaultyLineIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
		message    string
	}{
		{"17 fields", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", swf.ErrFields,
			`line 1: wrong number of fields: 17, want 18: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1..."`},
		{"19 fields", good + " 19", swf.ErrFields,
			`line 1: wrong number of fields: 19, want 18: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1..."`},
		{"another format", "1,2,3", swf.ErrFields, `line 1: wrong number of fields: 1, want 18: "1,2,3"`},
		{"a page of HTML", "<!DOCTYPE html>\r\n", swf.ErrFields,
			`line 1: wrong number of fields: 2, want 18: "<!DOCTYPE html>"`},
		{"a comment behind a job", good + " ; remark", swf.ErrFields,
			`line 1: wrong number of fields: 20, want 18: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1..."`},
		{"two jobs between carriage returns", good + "\r" + good, swf.ErrFields,
			`line 1: wrong number of fields: 36, want 18: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1..."`},
		{"garbage and too few fields", "x y", swf.ErrFields, `line 1: wrong number of fields: 2, want 18: "x y"`},
		{"garbage", with(4, "0x1F"), swf.ErrNumber, `line 1: field 4 (run time): not a decimal number: "0x1F"`},
		{"garbage with a line end for terminals", with(18, "\x1b[2J\u2028"), swf.ErrNumber,
			`line 1: field 18 (think time): not a decimal number: "\x1b[2J\u2028"`},
		{"long garbage", with(1, strings.Repeat("z", 5000)), swf.ErrNumber,
			`line 1: field 1 (job number): not a decimal number: "` + strings.Repeat("z", 40) + `..."`},
		{"too large", with(2, "1e30"), swf.ErrRange,
			`line 1: field 2 (submit time): number out of range, want magnitude < 2^53: "1e30"`},
		{"a NUL byte in a field", with(3, "1\x00"), swf.ErrNUL,
			`line 1: NUL byte in line: "1 2 1\x00 4 5 6 7 8 9 10 11 12 13 14 15 16 ..."`},
		{"a hole of NUL bytes", strings.Repeat("\x00", 4096), swf.ErrNUL,
			`line 1: NUL byte in line: "` + strings.Repeat(`\x00`, 40) + `..."`},
		{"16 bits per character", "1\x00 \x002\x00", swf.ErrNUL, `line 1: NUL byte in line: "1\x00 \x002\x00"`},
		{"a long line", strings.Repeat("7", swf.MaxLine+1), swf.ErrTooLong,
			`line 1: line longer than 65536 bytes: "` + strings.Repeat("7", 40) + `..."`},
		{"a long line of blanks", strings.Repeat(" ", 1<<20), swf.ErrTooLong, ""},
		{"a long comment", "; " + strings.Repeat("-", 1<<20), swf.ErrTooLong, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, end := range []string{"", "\n"} {
				_, errs := readString(t, c.text+end)
				require.Len(t, errs, 1)
				assert.ErrorIs(t, errs[0], c.want)
				if c.message != "" {
					assert.EqualError(t, errs[0], c.message)
				}
			}
		})
	}
}

func TestReadingGoesOnBehindAFaultyLine(t *testing.T) {
	long := strings.Repeat("1 ", swf.MaxLine)
	text := "x\n" + good + "\n" + long + "\n" + with(9, "?") + "\n" + good + "\n\x00\n" + long + "\n" + good
	for name, in := range map[string]io.Reader{
		"in one piece":  strings.NewReader(text),
		"byte by byte":  iotest.OneByteReader(strings.NewReader(text)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := swf.NewReader(in)
			require.NoError(t, err)
			var log strings.Builder
			for {
				var j swf.Job
				err := r.Read(&j)
				if err == io.EOF {
					break
				}
				var e *swf.LineError
				switch {
				case errors.As(err, &e):
					fmt.Fprintf(&log, "%d bad, ", e.Line)
					assert.Zero(t, j, "a fault leaves the job as it was")
				default:
					require.NoError(t, err)
					fmt.Fprintf(&log, "%d good, ", j.Line)
				}
			}
			assert.Equal(t, "1 bad, 2 good, 3 bad, 4 bad, 5 good, 6 bad, 7 bad, 8 good, ", log.String())
		})
	}
}

func TestTheLongestLineIsStillRead(t *testing.T) {
	pad := strings.Repeat(" ", swf.MaxLine-len(good))
	for _, end := range []string{"", "\n"} {
		assert.Equal(t, goodJob, readOne(t, pad+good+end))
		_, errs := readString(t, pad+" "+good+end)
		require.Len(t, errs, 1)
		assert.ErrorIs(t, errs[0], swf.ErrTooLong)
	}
}

func TestLinesMayEndAnywhereInTheBuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var want []int64
	for n := int64(1); text.Len() < 2<<20; n++ {
		text.WriteString(strings.Repeat(" ", rng.IntN(swf.MaxLine-len(good))*rng.IntN(2)))
		text.WriteString(good + "\n")
		want = append(want, n)
	}
	for name, in := range map[string]io.Reader{
		"in one piece":  strings.NewReader(text.String()),
		"half reads":    iotest.HalfReader(strings.NewReader(text.String())),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text.String())),
	} {
		t.Run(name, func(t *testing.T) {
			jobs, errs := readAll(t, in)
			require.Empty(t, errs)
			var got []int64
			for _, j := range jobs {
				got = append(got, j.Line)
				j.Line = 1
				require.Equal(t, goodJob, j)
			}
			assert.Equal(t, want, got)
		})
	}
}

// What real logs hold is kept as it stands, in the order of the file.
func TestDirtyJobsAreKeptRaw(t *testing.T) {
	for _, c := range []struct {
		name, text string
		check      func(t *testing.T, jobs []swf.Job)
	}{
		{"numbers that start late and have gaps", with(1, "272393") + "\n" + with(1, "272399"),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, []int64{272393, 272399}, []int64{jobs[0].Number, jobs[1].Number})
			}},
		{"several lines of one job", with(11, "2") + "\n" + with(11, "3"),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, []int64{1, 1}, []int64{jobs[0].Number, jobs[1].Number})
				assert.Equal(t, []int64{2, 3}, []int64{jobs[0].Status, jobs[1].Status})
			}},
		{"a first submit time that is not 0", with(2, "31656837"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, 31656837.0, jobs[0].Submit) }},
		{"submit times out of order and equal", with(2, "9") + "\n" + with(2, "7") + "\n" + with(2, "7"),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, []float64{9, 7, 7}, []float64{jobs[0].Submit, jobs[1].Submit, jobs[2].Submit})
			}},
		{"no wait time", with(3, "-1"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, -1.0, jobs[0].Wait) }},
		{"a run time of 0", with(4, "0"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, 0.0, jobs[0].Run) }},
		{"a job that never ran", with(4, "-1"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, -1.0, jobs[0].Run) }},
		{"a run longer than the request", with(4, "10"),
			func(t *testing.T, jobs []swf.Job) { assert.Greater(t, jobs[0].Run, jobs[0].Estimate()) }},
		{"allocated and requested processors that differ", good,
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(5), jobs[0].Processors()) }},
		{"no allocated processors", with(5, "-1"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(8), jobs[0].Processors()) }},
		{"zero allocated processors", with(5, "0"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(8), jobs[0].Processors()) }},
		{"no requested processors", with(8, "-1"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(5), jobs[0].Processors()) }},
		{"neither count", strings.Replace(with(5, "-1"), " 8 ", " -1 ", 1),
			func(t *testing.T, jobs []swf.Job) { assert.Zero(t, jobs[0].Processors()) }},
		{"more processors than the machine has", "; MaxProcs: 4\n" + good,
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(5), jobs[0].Processors()) }},
		{"a fraction of a processor", with(5, "1.99"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(1), jobs[0].Allocated) }},
		{"a negative fraction of a code", with(11, "-1.99"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, int64(-1), jobs[0].Status) }},
		{"no requested time", with(9, "-1"),
			func(t *testing.T, jobs []swf.Job) { assert.Zero(t, jobs[0].Estimate()) }},
		{"a requested time of 0", with(9, "0"),
			func(t *testing.T, jobs []swf.Job) { assert.Zero(t, jobs[0].Estimate()) }},
		{"used memory", good,
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, 7.0, jobs[0].Memory()) }},
		{"used memory above the request", with(7, "11"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, 11.0, jobs[0].Memory()) }},
		{"zero used memory for unknown", with(7, "0"),
			func(t *testing.T, jobs []swf.Job) {
				assert.Zero(t, jobs[0].UsedMemory)
				assert.Equal(t, 10.0, jobs[0].Memory())
			}},
		{"no memory at all", strings.Replace(with(7, "-1"), " 10 ", " -1 ", 1),
			func(t *testing.T, jobs []swf.Job) { assert.Zero(t, jobs[0].Memory()) }},
		{"a huge memory", with(7, "38558720"),
			func(t *testing.T, jobs []swf.Job) { assert.Equal(t, 38558720.0, jobs[0].Memory()) }},
		{"statuses that are exit codes", with(11, "127") + "\n" + with(11, "265") + "\n" + with(11, "-9"),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, []int64{127, 265, -9}, []int64{jobs[0].Status, jobs[1].Status, jobs[2].Status})
			}},
		{"no user and no group", strings.Replace(with(12, "-1"), " 13 ", " -1 ", 1),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, []int64{-1, -1}, []int64{jobs[0].User, jobs[0].Group})
			}},
		{"queue 0", with(15, "0"),
			func(t *testing.T, jobs []swf.Job) { assert.Zero(t, jobs[0].Queue) }},
		{"a job that follows another", strings.Replace(with(17, "3"), " 18", " 0.5", 1),
			func(t *testing.T, jobs []swf.Job) {
				assert.Equal(t, int64(3), jobs[0].Preceding)
				assert.Equal(t, 0.5, jobs[0].ThinkTime)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs, errs := readString(t, c.text)
			require.Empty(t, errs)
			c.check(t, jobs)
		})
	}
}

func TestGzipIsFoundByItsBytes(t *testing.T) {
	two := append(compress(t, good+"\n"+good[:9]), compress(t, good[9:]+"\n"+good)...)
	three := append(append(compress(t, good+"\n"), compress(t, "")...), compress(t, good+"\n"+good)...)
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"one member":                              {compress(t, good), 1},
		"a byte order mark inside":                {compress(t, "\ufeff"+good), 1},
		"two members that share a line":           {two, 3},
		"an empty member in the middle":           {three, 3},
		"plain text under whatever name":          {[]byte(good), 1},
		"plain text that is one byte and no more": {[]byte("\n"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			jobs, errs := readAll(t, bytes.NewReader(c.data))
			require.Empty(t, errs)
			assert.Len(t, jobs, c.want)

			path := filepath.Join(t.TempDir(), "log.txt")
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			r, err := swf.Open(path)
			require.NoError(t, err)
			n := 0
			for _, err := range r.All() {
				require.NoError(t, err)
				n++
			}
			assert.Equal(t, c.want, n)
			require.NoError(t, r.Close())
		})
	}
}

// numbered is a log of n jobs that does not compress too well.
func numbered(n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for i := range n {
		fmt.Fprintln(&text, i+1, rng.IntN(1e6), good[4:])
	}
	return text.String()
}

func TestTruncatedGzipSaysSoAtEveryLength(t *testing.T) {
	text := numbered(300)
	whole, _ := readString(t, text)
	one := compress(t, text)
	for _, c := range []struct {
		name  string
		data  []byte
		first int
	}{
		{"one member", one, 2},
		{"in the second member", append(compress(t, good+"\n"), one...), len(compress(t, good+"\n")) + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := c.first; n < len(c.data); n++ {
				jobs, errs := readAll(t, bytes.NewReader(c.data[:n]))
				require.Len(t, errs, 1, "%d bytes", n)
				require.ErrorIs(t, errs[0], swf.ErrTruncated, "%d bytes", n)
				if c.first > 2 {
					jobs = jobs[min(1, len(jobs)):]
				}
				for i := range jobs { // whole lines only: no number cut short
					require.Equal(t, whole[i].Submit, jobs[i].Submit, "%d bytes", n)
				}
				if n == len(c.data)-1 {
					require.Len(t, jobs, len(whole), "only the checksum is cut")
				}
			}
		})
	}
	_, errs := readAll(t, bytes.NewReader(one[:5]))
	assert.EqualError(t, errs[0], "line 1: truncated gzip")
}

func TestDamagedInputSticks(t *testing.T) {
	lines := strings.Repeat(good+"\n", 1000)
	flipped := compress(t, lines)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	half := compress(t, numbered(500))
	half = half[:len(half)/2]
	broken := errors.New("broken pipe")
	for _, c := range []struct {
		name    string
		in      io.Reader
		want    error
		message string
	}{
		{"a wrong checksum", bytes.NewReader(flipped), swf.ErrCorrupt,
			"line 1001: corrupt gzip: gzip: invalid checksum"},
		{"text behind gzip", bytes.NewReader(append(compress(t, lines), "some text, long enough"...)), swf.ErrCorrupt,
			"line 1001: corrupt gzip: gzip: invalid header"},
		{"gzip cut in the middle", bytes.NewReader(half), swf.ErrTruncated, ""},
		{"a plain source that fails", io.MultiReader(strings.NewReader(lines), iotest.ErrReader(broken)), broken,
			"line 1001: broken pipe"},
		{"a plain source that fails within a line",
			io.MultiReader(strings.NewReader(lines+good), iotest.ErrReader(broken)), broken, "line 1001: broken pipe"},
		{"a gzip source that fails",
			io.MultiReader(bytes.NewReader(half), iotest.ErrReader(broken)), broken, ""},
		{"a source that gives nothing", io.MultiReader(strings.NewReader(lines), empty{}), io.ErrNoProgress, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := swf.NewReader(c.in)
			require.NoError(t, err)
			var j swf.Job
			for err == nil {
				err = r.Read(&j)
			}
			assert.ErrorIs(t, err, c.want)
			if c.message != "" {
				assert.EqualError(t, err, c.message)
			}
			for range 3 {
				assert.Equal(t, err.Error(), r.Read(&j).Error())
			}
			n := 0
			for _, err := range r.All() {
				assert.ErrorIs(t, err, c.want)
				n++
			}
			assert.Equal(t, 1, n, "the error comes once, then the iteration ends")
		})
	}
}

// empty never has anything to read, and never says why.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

func TestDamageBeforeTheFirstJobIsFoundAtOnce(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, c := range []struct {
		name string
		in   io.Reader
		want error
	}{
		{"a source that fails at once", iotest.ErrReader(broken), broken},
		{"a source that fails only once", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(good))), iotest.ErrTimeout},
		{"a source that fails in the header",
			io.MultiReader(strings.NewReader("; MaxProcs: 8\n;"), iotest.ErrReader(broken)), broken},
		{"gzip magic and no more", strings.NewReader("\x1f\x8b"), swf.ErrTruncated},
		{"gzip with an unknown method", strings.NewReader("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00"), swf.ErrCorrupt},
		{"gzip of bad data", strings.NewReader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"), swf.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := swf.NewReader(c.in)
			assert.ErrorIs(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestErrorsOfFilesNameThePath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "some.swf")
	_, err := swf.Open(path)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, path)

	_, err = swf.Open(dir)
	assert.ErrorContains(t, err, dir+": line 1: ")
	assert.Equal(t, 1, strings.Count(err.Error(), dir))

	require.NoError(t, os.WriteFile(path, []byte(with(4, "?")+"\n"), 0o600))
	r, err := swf.Open(path)
	require.NoError(t, err)
	var j swf.Job
	assert.EqualError(t, r.Read(&j), path+`: line 1: field 4 (run time): not a decimal number: "?"`)
	assert.Equal(t, io.EOF, r.Read(&j))
	require.NoError(t, r.Close())
	require.NoError(t, r.Close(), "a second Close is harmless")
	assert.ErrorIs(t, r.Read(&j), fs.ErrClosed)

	require.NoError(t, os.WriteFile(path, compress(t, good)[:20], 0o600))
	_, err = swf.Open(path)
	assert.EqualError(t, err, path+": line 1: truncated gzip")
}

func TestRangingGoesOnWhereItStopped(t *testing.T) {
	r, err := swf.NewReader(strings.NewReader(strings.Repeat(good+"\n", 3)))
	require.NoError(t, err)
	for j, err := range r.All() {
		require.NoError(t, err)
		require.Equal(t, int64(1), j.Line)
		break
	}
	for j, err := range r.All() {
		require.NoError(t, err)
		require.Equal(t, int64(2), j.Line)
		break
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	text := strings.Repeat(with(6, "489.00")+"\n"+with(2, "1.5e3")+"\r\n\n"+with(3, "0.12345678901234567890")+"\n", 4000)
	r, err := swf.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	var j swf.Job
	require.Zero(t, testing.AllocsPerRun(10_000, func() {
		if err := r.Read(&j); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestNumbersAreThoseOfStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var want []float64
	for range 200_000 {
		digits := strconv.AppendUint(nil, rng.Uint64()>>rng.IntN(64), 10)
		if at := rng.IntN(2 * len(digits)); at <= len(digits) {
			digits = []byte(string(digits[:at]) + "." + string(digits[at:]))
		}
		number := []string{"", "-", "+", "00"}[rng.IntN(4)] + string(digits) + []string{"", "", "", "e-3"}[rng.IntN(4)]
		x, err := strconv.ParseFloat(number, 64)
		require.NoError(t, err)
		if math.Abs(x) < 1<<53 {
			want = append(want, x)
			text.WriteString(with(4, number) + "\n")
		}
	}
	require.Greater(t, len(want), 100_000)
	jobs, errs := readString(t, text.String())
	require.Empty(t, errs)
	require.Len(t, jobs, len(want))
	for i := range want {
		if math.Float64bits(want[i]) != math.Float64bits(jobs[i].Run) {
			t.Fatalf("line %d: %v, want %v", i+1, jobs[i].Run, want[i])
		}
	}
}
