// Package jobs reads what gangd is to run from a TOML file:
//
//	[[job]]
//	name = "cfd"                      # letters, digits, '-', '_' and '.'
//	command = ["./cfd", "-n", "100"]  # of every process; found in folder, or in PATH
//	processes = 2                     # one on each node
//
//	user = "ada"                      # from here on optional; whoever runs gangd
//	count = 3                         # so many jobs: cfd.1, cfd.2, cfd.3
//	memory = "200 MB"                 # of a process, as long as there is no history
//	after = "10s"                     # submitted so long after gangd began
//	limit = "1h"                      # ended after having run so long
//	exclusive = true                  # runs beside nobody
//	program = "cfd"                   # known to the history by this, not by its path
//	folder = "/data"                  # where it runs; gangd's
//	output = "cfd.out"                # what it prints, in folder; nowhere
//	environment = ["OMP_NUM_THREADS=1"]
//
// A file that is not as it should be is refused with the line and the field.
package jobs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/gangkit/gangkit/examples/gangd/scheduler"
)

// ErrJobs is returned for a file of jobs that cannot be run.
var ErrJobs = errors.New("bad job file")

// MaxJobs is how many jobs there may be.
const MaxJobs = 100_000

// ParseBytes reads an amount of memory, written as "200 MB" or "64MiB".
func ParseBytes(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q: want an amount of memory such as \"200 MB\"", text)
	}
	return int64(n), nil
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q: want a time such as \"1m30s\"", text)
	}
	return d, nil
}

type file struct {
	Job []entry `toml:"job"`
}

type entry struct {
	Name        string   `toml:"name"`
	User        string   `toml:"user"`
	Command     []string `toml:"command"`
	Program     string   `toml:"program"`
	Folder      string   `toml:"folder"`
	Output      string   `toml:"output"`
	Environment []string `toml:"environment"`
	Processes   int      `toml:"processes"`
	Count       *int     `toml:"count"`
	Memory      string   `toml:"memory"`
	After       string   `toml:"after"`
	Limit       string   `toml:"limit"`
	Exclusive   bool     `toml:"exclusive"`
}

// Read reads the file. user is who submits jobs that name nobody.
func Read(path, user string) ([]scheduler.Job, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, user)
}

// Parse reads the text of a file; path is for errors only.
func Parse(path string, text []byte, user string) ([]scheduler.Job, error) {
	var f file
	if err := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields().Decode(&f); err != nil {
		return nil, located(path, err)
	}
	where := locate(text)
	if len(f.Job) == 0 {
		return nil, fmt.Errorf("%s:1: job: there is none, want [[job]]: %w", path, ErrJobs)
	}
	var list []scheduler.Job
	names := map[string]int{}
	for i, e := range f.Job {
		fail := func(field, format string, args ...any) error {
			return fmt.Errorf("%s:%d: job.%s: %s: %w", path, where.line(i, field), field, fmt.Sprintf(format, args...), ErrJobs)
		}
		count := 1
		if e.Count != nil {
			count = *e.Count
		}
		switch {
		case e.Name == "":
			return nil, fail("name", "missing")
		case len(e.Command) == 0 || e.Command[0] == "":
			return nil, fail("command", "missing, want a list of an executable and its arguments")
		case e.Processes <= 0:
			return nil, fail("processes", "%d, want 1 or more", e.Processes)
		case count <= 0 || count > MaxJobs-len(list):
			return nil, fail("count", "%d, want 1 or more, and %d jobs at most", count, MaxJobs)
		}
		var memory int64
		var after, limit time.Duration
		var err error
		if e.Memory != "" {
			if memory, err = ParseBytes(e.Memory); err != nil {
				return nil, fail("memory", "%v", err)
			}
		}
		if e.After != "" {
			if after, err = parseTime(e.After); err != nil {
				return nil, fail("after", "%v", err)
			}
		}
		if e.Limit != "" {
			if limit, err = parseTime(e.Limit); err != nil {
				return nil, fail("limit", "%v", err)
			}
		}
		for _, kv := range e.Environment {
			if k, _, ok := strings.Cut(kv, "="); !ok || k == "" || strings.ContainsRune(kv, 0) {
				return nil, fail("environment", "%q, want \"KEY=value\"", kv)
			}
		}
		for _, argument := range e.Command {
			if strings.ContainsRune(argument, 0) {
				return nil, fail("command", "%q contains a zero byte", argument)
			}
		}
		if e.Folder != "" {
			if info, err := os.Stat(e.Folder); err != nil || !info.IsDir() {
				return nil, fail("folder", "%q is no folder", e.Folder)
			}
		}
		if err := findable(e.Command[0], e.Folder); err != nil {
			return nil, fail("command", "%v", err)
		}
		if e.Output != "" && !filepath.IsAbs(e.Output) {
			e.Output = filepath.Join(e.Folder, e.Output)
		}
		if e.User == "" {
			e.User = user
		}
		for n := range count {
			j := scheduler.Job{
				Name: e.Name, User: e.User, Command: e.Command, Program: e.Program, Folder: e.Folder, Output: e.Output,
				Environment: e.Environment, Processes: e.Processes, Memory: memory, After: after, Limit: limit,
				Exclusive: e.Exclusive,
			}
			if count > 1 {
				j.Name = fmt.Sprintf("%s.%d", e.Name, n+1)
				if j.Output != "" {
					j.Output = fmt.Sprintf("%s.%d", e.Output, n+1)
				}
			}
			if first, ok := names[j.Name]; ok {
				return nil, fail("name", "%q is that of the job of line %d", j.Name, where.line(first, ""))
			}
			names[j.Name] = i
			if err := scheduler.Check([]scheduler.Job{j}); err != nil {
				return nil, fail("name", "%v", err)
			}
			list = append(list, j)
		}
	}
	return list, nil
}

// findable says why there is no such executable, or nil.
func findable(name, folder string) error {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
		if !strings.ContainsRune(name, '/') {
			name = "./" + name
		}
	}
	_, err := exec.LookPath(name)
	return err
}

// located names the place of an error of the decoder.
func located(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, _ := e.Position()
		return fmt.Errorf("%s:%d: %s: unknown field: %w", path, row, strings.Join(e.Key(), "."), ErrJobs)
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		key := ""
		if k := strings.Join(decode.Key(), "."); k != "" {
			key = k + ": "
		}
		return fmt.Errorf("%s:%d:%d: %s%s: %w", path, row, column, key, strings.TrimPrefix(decode.Error(), "toml: "), ErrJobs)
	}
	return fmt.Errorf("%s: %w: %w", path, err, ErrJobs)
}

// places are the lines of jobs and of their fields.
type places []map[string]int

// line returns the line of a field, or of the job if it is not there.
func (p places) line(job int, field string) int {
	if job >= len(p) {
		return 1 // in an inline table
	}
	if line, ok := p[job][field]; ok {
		return line
	}
	return p[job][""]
}

// locate finds jobs and fields in a text that has been decoded.
func locate(text []byte) (list places) {
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		line := 0
		for it := e.Key(); it.Next(); {
			if line == 0 {
				line = p.Shape(it.Node().Raw).Start.Line
			}
			keys = append(keys, string(it.Node().Data))
		}
		switch {
		case e.Kind == unstable.ArrayTable || e.Kind == unstable.Table:
			list = append(list, map[string]int{"": line})
		case e.Kind == unstable.KeyValue && len(list) > 0:
			list[len(list)-1][keys[0]] = line
		}
	}
	return list
}
