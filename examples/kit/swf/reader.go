package swf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/klauspost/compress/gzip"
)

// MaxLine is the longest line that is read, in bytes without its line end.
const MaxLine = 64 << 10

// Reader reads the jobs of a log one by one, in file order. Its memory does not
// grow with the log: a buffer of 256 KiB, the [Header], and gzip's window.
//
// White space is blanks, tabs and carriage returns, any number of them, also at
// the start of a line. Empty lines, a byte order mark at the start, and a
// missing line end at the end of the file are all fine.
//
// A Reader must not be used concurrently; separate Readers may.
type Reader struct {
	path   string
	closer io.Closer
	source *source
	gzip   bool
	in     io.Reader

	// buf[pos:end] is not yet read. start is where the line before pos begins.
	// There is always room for one more byte at end.
	buf             []byte
	start, pos, end int
	err             error // of in; after it, buf[pos:end] is all there is
	line            int64 // lines read

	late   error // a fault met while reading the header, for the first Read
	header Header
}

// Open opens a log, plain or compressed with gzip; its name does not matter. The
// caller calls Close. All errors name the path.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path, closer: f}
	if err := r.init(f); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// NewReader reads a log from in, plain or compressed with gzip, also as several
// gzip members one after the other. It reads on to the first job line, so that
// the header is known, and fails if in does before that. Empty input is a log
// without jobs.
func NewReader(in io.Reader) (*Reader, error) {
	r := new(Reader)
	if err := r.init(in); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Reader) init(in io.Reader) error {
	r.source = &source{in: in}
	b := bufio.NewReaderSize(r.source, 64<<10)
	r.in = b
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		r.gzip = true
		r.in = &members{in: b}
	}
	r.buf = make([]byte, 4*MaxLine)
	return r.skipComments()
}

// skipComments reads up to the first line that holds a job, or a fault.
func (r *Reader) skipComments() error {
	for {
		line, err := r.next()
		if r.line == 1 && bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
			r.start += 3
			line = line[3:]
		}
		switch {
		case err == io.EOF:
			return nil
		case isLineError(err):
			r.late = err
			return nil
		case err != nil:
			return err
		}
		if job := r.skip(line); job != nil {
			r.pos = r.start
			r.line--
			return nil
		}
	}
}

// skip returns line from its first field on, or nil if it holds no job. A
// comment goes to the header.
func (r *Reader) skip(line []byte) []byte {
	i := 0
	for line[i] != '\n' && blank[line[i]] {
		i++
	}
	switch line[i] {
	case '\n':
		return nil
	case ';':
		r.header.add(line[i+1 : len(line)-1])
		return nil
	}
	return line[i:]
}

// Header is what the comments have said so far: after [NewReader] or [Open]
// those before the first job, later also the others that were passed.
func (r *Reader) Header() *Header { return &r.header }

// Read fills in the next job. At the end it returns io.EOF.
//
// A line that is no job gives a [LineError] and leaves *j as it was; the next
// Read goes on behind that line. Any other error is final and returned again by
// every further Read: io.EOF, [ErrTruncated] or [ErrCorrupt] for damaged gzip,
// what the input itself failed with. All lines that ended before the damage have
// been read then; the unfinished one is not taken for a job.
//
// Read does not allocate, comments, faults and numbers of more than 32 bytes
// aside.
func (r *Reader) Read(j *Job) error {
	if err := r.late; err != nil {
		r.late = nil
		return err
	}
	for {
		line, err := r.next()
		if err != nil {
			return err
		}
		job := r.skip(line)
		if job == nil {
			continue
		}
		var v [fields]float64
		n, rest := scan(job, &v)
		if n < fields || len(rest) > 1 {
			return r.fault(job, n, rest)
		}
		j.set(&v)
		j.Line = r.line
		return nil
	}
}

// All iterates over the jobs, and over the faulty lines as a nil job and a
// [LineError]. Any other error but io.EOF comes last. The *Job is the same one
// in every round. To break off and range again goes on where it stopped.
func (r *Reader) All() iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		var j Job
		for {
			switch err := r.Read(&j); {
			case err == nil:
				if !yield(&j, nil) {
					return
				}
			case err == io.EOF:
				return
			default:
				if !yield(nil, err) || !isLineError(err) {
					return
				}
			}
		}
	}
}

// Close closes the file of a Reader from [Open]. The input of [NewReader] is left
// open. Read fails from then on.
func (r *Reader) Close() error {
	r.pos, r.end, r.late = 0, 0, nil
	r.err = fs.ErrClosed
	if r.closer == nil {
		return nil
	}
	err := r.closer.Close()
	r.closer = nil
	return err
}

// fault says what is wrong with a job line of which scan could read n fields.
func (r *Reader) fault(job []byte, n int, rest []byte) error {
	job = job[:len(job)-1]
	e := &LineError{Path: r.path, Line: r.line, Value: cut(bytes.TrimRight(job, " \t\r\v\f"))}
	if bytes.IndexByte(job, 0) >= 0 {
		e.Err = ErrNUL
	} else if c := count(job); c != fields {
		e.Err = fmt.Errorf("%w: %d, want %d", ErrFields, c, fields)
	} else {
		bad := field(rest)
		_, e.Err = number(bad)
		e.Field = n + 1
		e.Value = cut(bad)
	}
	return e
}

// next returns the next line with a '\n' at its end, even if the file ends
// without one. The line is valid until the next call.
func (r *Reader) next() ([]byte, error) {
	from := r.pos // no '\n' before here
	long := ""    // what a line that is too long starts with
	for {
		i := bytes.IndexByte(r.buf[from:r.end], '\n')
		if i < 0 && r.err == nil {
			if r.end-r.pos > MaxLine {
				if long == "" {
					long = cut(r.buf[r.pos:r.end])
				}
				r.pos = r.end
			}
			from = r.fill()
			continue
		}
		stop := from + i
		if i < 0 {
			if r.err != io.EOF {
				return nil, r.broken()
			}
			if r.pos == r.end && long == "" {
				return nil, io.EOF
			}
			stop = r.end
			r.buf[stop] = '\n'
		}
		r.start = r.pos
		r.pos = min(stop+1, r.end)
		r.line++
		if long == "" && stop-r.start > MaxLine {
			long = cut(r.buf[r.start:stop])
		}
		if long != "" {
			return nil, &LineError{Path: r.path, Line: r.line, Value: long, Err: ErrTooLong}
		}
		return r.buf[r.start : stop+1], nil
	}
}

// fill moves the unread bytes, at most MaxLine, to the front and reads more. It
// returns where the new ones begin.
func (r *Reader) fill() int {
	kept := copy(r.buf, r.buf[r.pos:r.end])
	r.pos, r.end = 0, kept
	for range 100 {
		n, err := r.in.Read(r.buf[kept : len(r.buf)-1])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return kept
		}
	}
	r.err = io.ErrNoProgress
	return kept
}

// broken is the error for an input that failed.
func (r *Reader) broken() error {
	err := r.err
	switch {
	case err == fs.ErrClosed:
	case !r.gzip, r.source.err != nil && r.source.err != io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = ErrTruncated
	default:
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == r.path {
		err = p.Err
	}
	err = fmt.Errorf("line %d: %w", r.line+1, err)
	if r.path != "" {
		err = fmt.Errorf("%s: %w", r.path, err)
	}
	return err
}

func isLineError(err error) bool {
	var e *LineError
	return errors.As(err, &e)
}

// source makes the error of the input last, and remembers it, so that it is not
// taken for damage to what the input contains.
type source struct {
	in  io.Reader
	err error
}

func (s *source) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.in.Read(p)
	}
	return n, s.err
}

// members reads gzip members one after the other. A gzip.Reader can do so
// itself, but takes some truncated headers for the end.
type members struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.z != nil {
			if n, err := m.z.Read(p); n > 0 || err != io.EOF {
				if err == io.EOF {
					err = nil
				}
				return n, err
			}
			if _, err := m.in.Peek(1); err != nil {
				return 0, err
			}
		}
		if err := m.reset(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}

// reset starts the next member.
func (m *members) reset() (err error) {
	if m.z == nil {
		m.z, err = gzip.NewReader(m.in)
	} else {
		err = m.z.Reset(m.in)
	}
	if err == nil {
		m.z.Multistream(false)
	}
	return err
}
