package swf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/swf"
)

// corpus holds pieces of logs: what real ones contain, and what damages them.
var corpus = []string{
	"", "\n", "\r\n", ";", "; ", "\ufeff", "\x1f\x8b", "\x00", "-", ".",
	"; Version: 2.2\n; Computer: IBM SP2\n; MaxNodes: 32 (dual CPU)\n; MaxProcs: 1664 (72, 1368, 224)\n",
	";   --- SWF file converted from SACCT ---\n; Version: 2.2\n",
	";       MaxJobs: 40315\n;      TimeZone: 3600   # DEPRECATED\n;TimeZoneString: Europe/Amsterdam\n",
	"; Note: 3 types of nodes,\n;\tsee: http://example.org/\n;\n; free: text\n;\n; Free: text\n",
	"; Note: THIS IS A CLEANED VERSION OF THE LOG!\n;       The filters used to produce it were\n;         job<=14 (14 jobs removed)\n",
	";    j|       s|      w|     r| p|  c|    m| p|      u| m|s| u| g|  e|q| p| p| t\n",
	"; Queue:\n;  one\n; Queue: 0  interactive    \n; Partition: 18  z+i5U=:\n; Partition: 19  `;\n",
	"    1        0      0   3691  128   3436  6676   -1   3600  5904  1   2   2   2 -1 -1 -1 -1\n",
	"    2      465      5   3362   32 489.00   988   32    900  1024  1   3   3   3  1 -1 -1 -1\n",
	"1 0 477768 35541 160 32096 89734 160 108000 -1 1 1 1 1 1 -1 -1 -1\r\n",
	"272393 31656837  33492  86395  256     -1    -1  256  86400    -1  1  87  95  -1 -1  4 -1 -1",
	"1    5094 -1   12072  16 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n",
	"\t9 7.25 -1.00 .5 5. +7 -0 0.1 1e5 25E-2 127 -9 0 007 0 0 1 9007199254740991\t\n",
	"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
	"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n",
	"1 2 nan 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
	"1 2 3 Inf 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
	"1 2 3 0x1F 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
	"1 2 3 1e30 5 6 7 8 9 10 11 12 13 14 15 16 17 9007199254740992\n",
	"1 2 3 4 5\x00 6 7 8 9 10 11 12 13 14 15 16 17 18\n",
	"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 \x1b[2J\u2028\n",
	"<html>\n", "\xff\xfe1\x00 \x002\x00\n\x00",
}

// randomLog strings pieces of the corpus together and flips a few bytes.
func randomLog(rng *rand.Rand) []byte {
	var text []byte
	for range rng.IntN(12) {
		text = append(text, corpus[rng.IntN(len(corpus))]...)
	}
	for range rng.IntN(3) {
		if len(text) > 0 {
			text[rng.IntN(len(text))] = "\x00\n\r\t ;:.-+e0957|"[rng.IntN(16)]
		}
	}
	if rng.IntN(20) == 0 {
		text = append(text, strings.Repeat("1 ", swf.MaxLine/2-rng.IntN(9)+4)...)
		text = append(text, corpus[rng.IntN(len(corpus))]...)
	}
	return text
}

// A Reader neither panics nor hangs, every line is a job, a fault or skipped,
// errors are one line each, and what was read comes back from a Writer.
func FuzzReader(f *testing.F) {
	for _, text := range corpus {
		f.Add([]byte(text))
		f.Add(compress(f, text))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		text := randomLog(rng)
		if i%5 == 0 {
			text = compress(f, string(text))
			text = text[:len(text)-rng.IntN(2)*rng.IntN(len(text))]
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := swf.NewReader(bytes.NewReader(data))
		if err != nil {
			oneLine(t, err, 0)
			return
		}
		var jobs []swf.Job
		line := int64(0)
		for {
			j := swf.Job{Line: -1}
			err := r.Read(&j)
			if err == io.EOF {
				break
			}
			if err != nil {
				require.Equal(t, swf.Job{Line: -1}, j, "a fault leaves the job as it was")
				var e *swf.LineError
				if !errors.As(err, &e) {
					oneLine(t, err, line)
					require.Equal(t, err.Error(), r.Read(&j).Error(), "the error sticks")
					break
				}
				oneLine(t, err, line)
				require.Greater(t, e.Line, line)
				line = e.Line
				continue
			}
			require.Greater(t, j.Line, line)
			line = j.Line
			jobs = append(jobs, j)
		}

		var b bytes.Buffer
		w := swf.NewWriter(&b)
		header := ""
		if len(data) < swf.MaxLine/2 && entriesLength(r.Header()) < swf.MaxLine/2 { // longer lines need not fit
			header = entries(r.Header())
			for k, v := range r.Header().Entries() {
				require.NoError(t, w.Header(k, v))
			}
		}
		for i := range jobs {
			require.NoError(t, w.Write(&jobs[i]))
		}
		require.NoError(t, w.Flush())
		again, err := swf.NewReader(&b)
		require.NoError(t, err)
		require.Equal(t, header, entries(again.Header()))
		n := 0
		for j, err := range again.All() {
			require.NoError(t, err)
			j.Line = jobs[n].Line
			require.Equal(t, jobs[n], *j)
			n++
		}
		require.Len(t, jobs, n)
	})
}

func entriesLength(h *swf.Header) int {
	n := 0
	for k, v := range h.Entries() {
		n += len(k) + len(v)
	}
	return n
}

// oneLine wants a message that fits on a line and names a line behind the given one.
func oneLine(t *testing.T, err error, line int64) {
	message := err.Error()
	require.NotContains(t, message, "\n")
	require.NotContains(t, message, "\x1b")
	require.Less(t, len(message), 400)
	var named int64
	_, scanErr := fmt.Sscanf(message, "line %d: ", &named)
	require.NoError(t, scanErr, message)
	require.Greater(t, named, line, message)
}

// A number is read as strconv reads it, or refused.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1", "-1", "489.00", "0.1", ".5", "5.", ".", "-", "1e5", "1e-400", "1e400",
		"9007199254740991", "9007199254740992", "9007199254740991.4", "9007199254740991.5", "0.000000000000000001",
		"123456789012345678", "1234567890123456789", "18446744073709551616", "0x10", "nan", "1_0", "٣", "1\x002"} {
		f.Add(s)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		f.Add(strconv.FormatFloat(math.Ldexp(rng.Float64(), rng.IntN(70)-10), 'f', rng.IntN(12), 64))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || len(s) > 1000 || strings.ContainsAny(s, " \t\r\n\v\f") {
			return
		}
		want, err := strconv.ParseFloat(s, 64)
		ok := err == nil && math.Abs(want) < 1<<53 && !strings.ContainsAny(s, "xX_nN")
		jobs, errs := readString(t, with(4, s))
		require.Equal(t, ok, len(errs) == 0, "%q gives %v", s, errs)
		if ok {
			require.Equal(t, math.Float64bits(want), math.Float64bits(jobs[0].Run), "%q", s)
		}
	})
}
