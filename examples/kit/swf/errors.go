package swf

import (
	"errors"
	"fmt"
	"strings"
)

// Faults of one line. They arrive inside a [LineError]; reading may go on.
var (
	ErrFields  = errors.New("wrong number of fields")
	ErrNumber  = errors.New("not a decimal number")
	ErrRange   = errors.New("number out of range, want magnitude < 2^53")
	ErrNUL     = errors.New("NUL byte in line")
	ErrTooLong = fmt.Errorf("line longer than %d bytes", MaxLine)
)

// Faults of the input as a whole. Nothing can be read after them.
var (
	ErrTruncated = errors.New("truncated gzip")
	ErrCorrupt   = errors.New("corrupt gzip")
)

// ErrHeader is a header that [Writer.Header] cannot write such that it reads back.
var ErrHeader = errors.New("header would not read back")

// LineError is a job line that cannot be read, or a job that cannot be written.
// A [Reader] goes on with the next line; all of its other errors are final.
type LineError struct {
	Path  string // of the file, "" unless the reader is from [Open]
	Line  int64  // 1-based
	Field int    // 1..18, or 0 if the fault is in the line as a whole
	Value string // the field, or the line; cut to 40 bytes and "..."
	Err   error  // one of the sentinels, perhaps wrapped with numbers
}

// Error is one line of text, such as
//
//	log.swf: line 17: field 4 (run time): not a decimal number: "0x1F"
func (e *LineError) Error() string {
	var s strings.Builder
	if e.Path != "" {
		fmt.Fprintf(&s, "%s: ", e.Path)
	}
	fmt.Fprintf(&s, "line %d: ", e.Line)
	if e.Field > 0 {
		fmt.Fprintf(&s, "field %d (%s): ", e.Field, fieldNames[e.Field-1])
	}
	fmt.Fprintf(&s, "%v: %q", e.Err, e.Value)
	return s.String()
}

// Unwrap makes errors.Is find the sentinels.
func (e *LineError) Unwrap() error { return e.Err }

// cut is b for an error message: at most 40 bytes of it.
func cut(b []byte) string {
	const most = 40
	if len(b) > most {
		return string(b[:most]) + "..."
	}
	return string(b)
}
