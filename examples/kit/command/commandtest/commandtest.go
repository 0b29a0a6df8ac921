// Package commandtest holds what the tests of the example programs have in common.
package commandtest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/command"
)

// A Program is a program and its name.
type Program struct {
	Name string
	Run  command.Program
}

// Call runs the program.
func (p Program) Call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	status = command.Run(t.Context(), p.Name, p.Run, args, &out, &diagnostics)
	return status, out.String(), diagnostics.String()
}

// Succeeds runs the program, which is to succeed in silence, and returns what it
// prints.
func (p Program) Succeeds(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := p.Call(t, args...)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	return stdout
}

// Refuses checks that the program refuses arguments as bad input: one line, status 2,
// nothing on standard output.
func (p Program) Refuses(t *testing.T, args ...string) {
	t.Helper()
	status, stdout, stderr := p.Call(t, args...)
	assert.Equal(t, 2, status, "%v", args)
	assert.Empty(t, stdout, "%v", args)
	assert.Equal(t, 1, strings.Count(stderr, "\n"), "%v: %s", args, stderr)
	assert.True(t, strings.HasPrefix(stderr, p.Name+": "), stderr)
}

// StopsWhenInterrupted checks that the program ends with status 1 and one line if it
// is interrupted.
func (p Program) StopsWhenInterrupted(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, diagnostics bytes.Buffer
	assert.Equal(t, 1, command.Run(ctx, p.Name, p.Run, args, &out, &diagnostics))
	assert.Equal(t, p.Name+": interrupted\n", diagnostics.String())
	assert.Empty(t, out.String())
}
