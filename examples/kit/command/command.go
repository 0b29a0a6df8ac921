// Package command is the frame of the example programs: exit statuses, one line
// for every failure, help, and Ctrl-C.
//
// A program is a function. [Main] gives it the command line and a context that
// Ctrl-C ends. What it returns decides the exit status:
//
//	nil                       0
//	help, from [Parse]        0, the help on standard output
//	an [Input] error          2, what the user gave cannot be used
//	any error after Ctrl-C    1, interrupted
//	any other error           1, the run failed
//
// The package carries no promise of compatibility.
package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gangkit/gangkit/examples/kit/report"
)

// A Program is what a command does.
type Program func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// Main runs p as the whole process, and does not return.
func Main(name string, p Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := Run(ctx, name, p, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Run runs p and returns the exit status. A failure is one line on stderr.
func Run(ctx context.Context, name string, p Program, args []string, stdout, stderr io.Writer) int {
	err := p(ctx, args, stdout, stderr)
	var asked help
	var input inputError
	switch {
	case errors.As(err, &asked):
		if _, err = io.WriteString(stdout, string(asked)); err == nil {
			return 0
		}
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s: interrupted\n", name)
		return 1
	case errors.As(err, &input):
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 2
	}
	fmt.Fprintf(stderr, "%s: run failed: %v\n", name, err)
	return 1
}

type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// Input marks err as a fault of what the user gave: a flag, or a file to read.
// Input(nil) is nil.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

type help string

func (help) Error() string { return "help was asked for" }

// Parse reads the flags. They must be declared in a set that continues on
// errors; what remains after them is an error. If -h asks for help, the returned
// error carries it, intro before the list of flags, and [Run] prints it. All
// other errors are those of [Input].
func Parse(f *flag.FlagSet, intro string, args []string) error {
	var text bytes.Buffer
	f.SetOutput(&text)
	f.Usage = func() {}
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		text.Reset()
		f.PrintDefaults()
		return help(intro + text.String())
	} else if err != nil {
		return Input(err)
	}
	if f.NArg() > 0 {
		hint := ""
		if f.Lookup("trace") != nil {
			hint = "; a log goes with -trace"
		}
		return Input(fmt.Errorf("unexpected argument %q%s", f.Arg(0), hint))
	}
	return nil
}

// Given tells which flags the command line has set.
func Given(f *flag.FlagSet) map[string]bool {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
}

// Progress shows on stderr how far long work is, if that is a terminal; else it
// shows nothing.
func Progress(stderr io.Writer, title string, total int64) *report.Progress {
	if f, ok := stderr.(*os.File); ok {
		return report.NewProgress(f, title, total)
	}
	return &report.Progress{}
}
