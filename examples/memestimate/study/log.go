package study

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // months begin when they did, on every platform

	"github.com/gangkit/gangkit/estimate"
	"github.com/gangkit/gangkit/examples/kit/swf"
)

// Errors of this package; they come wrapped with the offending value.
var (
	// ErrEmpty is a log, or a time of it, without a job whose memory is known.
	ErrEmpty = errors.New("no job whose memory is known")
	// ErrRange is a value beyond what can be studied.
	ErrRange = errors.New("value out of range")
	// ErrState is a file that is not what [State.Save] writes.
	ErrState = errors.New("not a history of this program")
)

// A Job is one that ran.
type Job struct {
	estimate.Job
	Submit, End time.Duration // since Log.Start
	Memory      int64         // of a process, bytes; > 0
}

// A Log is what there is to learn from.
type Log struct {
	Name    string
	Machine string    // what the log says
	Cleaned bool      // flurries and the like were removed, it says
	Start   time.Time // of the log's clock, in the time zone of the machine
	Jobs    []Job     // in order of submission

	// Jobs that were left out: they tell no memory or no executable, or they did
	// not run.
	Dropped int
}

// maxSeconds bounds the times of a log, 68 years: the sum of three is a
// time.Duration.
const maxSeconds = 1 << 31

// Read reads a log. A job's memory is what it used, in the mean over its
// processors, since that is all that the format tells; a processor is a node. Its
// end is submit + wait + run, where an unknown wait is 0. Jobs that tell no
// memory (or 0), no executable, no processors or no run time are dropped. Jobs of
// the same second keep the log's order.
//
// Errors: those of the reader, [ErrRange], [ErrEmpty].
func Read(name string, r *swf.Reader) (*Log, error) {
	l := &Log{Name: name}
	var line swf.Job
	for {
		if err := r.Read(&line); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		for _, f := range [...]struct {
			name       string
			value, max float64
		}{
			{"submit time", math.Abs(line.Submit), maxSeconds}, {"wait time", line.Wait, maxSeconds}, {"run time", line.Run, maxSeconds},
			{"used memory", line.UsedMemory, estimate.MaxMemory / 1024}, {"processors", float64(line.Processors()), estimate.MaxNodes},
		} {
			if f.value > f.max {
				return nil, fmt.Errorf("%s: line %d: %s %.0f: %w", name, line.Line, f.name, f.value, ErrRange)
			}
		}
		memory := int64(line.UsedMemory * 1024)
		if memory <= 0 || line.Executable < 0 || line.Processors() <= 0 || line.Run < 0 {
			l.Dropped++
			continue
		}
		l.Jobs = append(l.Jobs, Job{
			Job:    identity(line.Executable, int(line.Processors()), line.User),
			Submit: seconds(line.Submit), End: seconds(line.Submit) + seconds(max(line.Wait, 0)) + seconds(line.Run),
			Memory: memory,
		})
	}
	if len(l.Jobs) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	l.Machine = r.Header().Get("Computer")
	for _, note := range r.Header().All("Note") {
		l.Cleaned = l.Cleaned || strings.Contains(note, "CLEANED")
	}
	l.Start = start(r.Header())
	slices.SortStableFunc(l.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return l, nil
}

// identity names executables and users by their numbers.
func identity(path int64, nodes int, user int64) estimate.Job {
	return estimate.Job{Path: strconv.FormatInt(path, 10), Nodes: nodes, User: strconv.FormatInt(user, 10)}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// start returns when the log's clock was 0. A log that does not tell began in
// 1970, one without a known time zone ran at UTC.
func start(h *swf.Header) time.Time {
	unix, _ := h.Int("UnixStartTime")
	if unix < 0 || unix > maxSeconds {
		unix = 0
	}
	zone := time.UTC
	if words := strings.Fields(h.Get("TimeZoneString")); len(words) > 0 && words[0] != "Local" {
		if z, err := time.LoadLocation(words[0]); err == nil {
			zone = z
		}
	}
	return time.Unix(unix, 0).In(zone)
}
