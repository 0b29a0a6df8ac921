package swf

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Writer writes a log. It buffers: call Flush at the end. For gzip, give it a
// gzip.Writer.
//
// A Writer must not be used concurrently; separate Writers may.
type Writer struct {
	out  *bufio.Writer
	line int64 // lines written
	row  []byte
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(out, 64<<10)}
}

// Header writes "; keyword: value". Further lines of the value, after "\n", are
// written as continuations. With the keyword "" the value is free text. [Header]
// says what reads back as a keyword, a value or neither; where the outcome would
// differ from what was given, nothing is written and the error is [ErrHeader].
func (w *Writer) Header(keyword, value string) error {
	lines := strings.Split(value, "\n")
	var s strings.Builder
	for i, text := range lines {
		text = trim(text)
		if i == 0 && keyword != "" {
			text = trim(keyword + ": " + text)
			if k, _, ok := splitKeyword(text); !ok || k != keyword {
				return fmt.Errorf("swf: keyword %q: %w", keyword, ErrHeader)
			}
		} else if _, _, ok := splitKeyword(text); ok || text == "" || isTitle(text) {
			return fmt.Errorf("swf: line %q of %q: %w", cut([]byte(text)), keyword, ErrHeader)
		}
		switch {
		case i > 0:
			s.WriteString(";   ")
		case keyword == "" && w.line > 0:
			s.WriteString(";\n; ") // ends the value above
		default:
			s.WriteString("; ")
		}
		s.WriteString(text)
		s.WriteByte('\n')
		if len(text)+len(";   ") > MaxLine {
			return fmt.Errorf("swf: line %q of %q: %w", cut([]byte(text)), keyword, ErrTooLong)
		}
	}
	w.line += int64(strings.Count(s.String(), "\n"))
	_, err := w.out.WriteString(s.String())
	return err
}

// Write writes one job line. Numbers are written in as many digits as it takes to
// read the same ones back, without an exponent. A job with a number that a
// [Reader] would refuse gives a [LineError], whose Line is the one in the output,
// and is not written. Write does not allocate otherwise. An error of the output
// is final.
func (w *Writer) Write(j *Job) error {
	row := w.row[:0]
	for i, x := range j.values() {
		if i > 0 {
			row = append(row, ' ')
		}
		begin := len(row)
		if x == math.Trunc(x) && math.Abs(x) < limit && (x != 0 || !math.Signbit(x)) {
			row = strconv.AppendInt(row, int64(x), 10)
			continue
		}
		row = strconv.AppendFloat(row, x, 'f', -1, 64)
		if !(math.Abs(x) < limit) {
			err := ErrRange
			if math.IsNaN(x) || math.IsInf(x, 0) {
				err = ErrNumber
			}
			return &LineError{Line: w.line + 1, Field: i + 1, Value: cut(row[begin:]), Err: err}
		}
	}
	row = append(row, '\n')
	w.row = row
	w.line++
	_, err := w.out.Write(row)
	return err
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error { return w.out.Flush() }
