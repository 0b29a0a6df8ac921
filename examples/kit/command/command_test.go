package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/command"
)

func TestExitStatusAndTheOneLine(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		status int
		stderr string
	}{
		{"success", context.Background(), nil, 0, ""},
		{"success although Ctrl-C came", canceled, nil, 0, ""},
		{"bad input", context.Background(), command.Input(boom), 2, "demo: boom\n"},
		{"bad input, wrapped", context.Background(), fmt.Errorf("reading: %w", command.Input(boom)), 2, "demo: reading: boom\n"},
		{"failure", context.Background(), boom, 1, "demo: run failed: boom\n"},
		{"interrupted", canceled, context.Canceled, 1, "demo: interrupted\n"},
		{"no fault of the input", context.Background(), command.Input(nil), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			program := func(context.Context, []string, io.Writer, io.Writer) error { return c.err }
			assert.Equal(t, c.status, command.Run(c.ctx, "demo", program, nil, &stdout, &stderr))
			assert.Equal(t, c.stderr, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
	require.ErrorIs(t, command.Input(boom), boom)
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestFlags(t *testing.T) {
	program := func(_ context.Context, args []string, stdout, _ io.Writer) error {
		f := flag.NewFlagSet("demo", flag.ContinueOnError)
		jobs := f.Int("jobs", 7, "number of jobs")
		if err := command.Parse(f, "demo shows.\n", args); err != nil {
			return err
		}
		_, err := fmt.Fprintln(stdout, *jobs, command.Given(f)["jobs"])
		return err
	}
	run := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		status := command.Run(context.Background(), "demo", program, args, &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
	for _, c := range []struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		{nil, 0, "7 false\n", ""},
		{[]string{"-jobs", "9"}, 0, "9 true\n", ""},
		{[]string{"-h"}, 0, "demo shows.\n  -jobs int\n    \tnumber of jobs (default 7)\n", ""},
		{[]string{"-jobs", "many"}, 2, "", "demo: invalid value \"many\" for flag -jobs: parse error\n"},
		{[]string{"-speed"}, 2, "", "demo: flag provided but not defined: -speed\n"},
		{[]string{"log.swf"}, 2, "", "demo: unexpected argument \"log.swf\"\n"},
	} {
		status, stdout, stderr := run(c.args...)
		assert.Equal(t, c.status, status, "%v", c.args)
		assert.Equal(t, c.stdout, stdout, "%v", c.args)
		assert.Equal(t, c.stderr, stderr, "%v", c.args)
	}
	var stderr bytes.Buffer
	assert.Equal(t, 1, command.Run(context.Background(), "demo", program, []string{"-h"}, fullDisk{}, &stderr))
	assert.Equal(t, "demo: run failed: disk full\n", stderr.String())
}

// A program that reads logs says where they go.
func TestHintForALog(t *testing.T) {
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	f.String("trace", "", "log")
	assert.EqualError(t, command.Parse(f, "", []string{"log.swf"}), `unexpected argument "log.swf"; a log goes with -trace`)
}

// Without a terminal there is nothing to show.
func TestProgressIsSilentInAPipe(t *testing.T) {
	var stderr bytes.Buffer
	p := command.Progress(&stderr, "working", 10)
	p.Add(10)
	p.Done()
	assert.Empty(t, stderr.String())
}
