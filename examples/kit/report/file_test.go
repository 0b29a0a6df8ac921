package report_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gangkit/gangkit/examples/kit/report"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestWriteFileWritesAndReplaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(dir, "a.csv")
	require.NoError(t, report.WriteFile(path, text("one")))
	assert.Equal(t, "one", content(t, path))
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, report.WriteFile(path, text("two")))
	assert.Equal(t, "two", content(t, path))
	assert.Equal(t, []string{"a.csv"}, names(t, dir))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), "as it was")
	}
}

func TestFailingWriteLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fail := range map[string]func(io.Writer) error{
		"error":     func(w io.Writer) error { io.WriteString(w, "half"); return errBroken },
		"cancelled": func(w io.Writer) error { io.WriteString(w, "half"); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "sub", "a.csv")
			err := report.WriteFile(path, fail)
			require.ErrorContains(t, err, path)
			assert.Empty(t, names(t, dir))

			path = filepath.Join(dir, "b.csv")
			require.NoError(t, report.WriteFile(path, text("old")))
			require.ErrorIs(t, report.WriteFile(path, fail), fail(io.Discard))
			assert.Equal(t, "old", content(t, path))
			assert.Equal(t, []string{"b.csv"}, names(t, dir))
		})
	}
}

// A program killed while it computes leaves nothing: nothing is on disk yet.
func TestNothingIsOnDiskWhileWriteRuns(t *testing.T) {
	dir := t.TempDir()
	assert.Panics(t, func() {
		report.WriteFile(filepath.Join(dir, "a.csv"), func(w io.Writer) error {
			io.WriteString(w, "half")
			assert.Empty(t, names(t, dir))
			panic("stop")
		})
	})
	assert.Empty(t, names(t, dir))
}

func TestWriteFileNamesThePathItCannotWrite(t *testing.T) {
	dir := t.TempDir()
	err := report.WriteFile(dir, text("x"))
	require.ErrorContains(t, err, dir)
	assert.Empty(t, names(t, dir))

	file := filepath.Join(dir, "file")
	require.NoError(t, report.WriteFile(file, text("x")))
	under := filepath.Join(file, "a.csv")
	require.ErrorContains(t, report.WriteFile(under, text("x")), under)
	assert.Equal(t, []string{"file"}, names(t, dir))
}

func TestWriteFileFollowsLinksAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need privileges")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, report.WriteFile(target, text("old")))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, report.WriteFile(link, text("new")))
	assert.Equal(t, "new", content(t, target))
	assert.Equal(t, []string{"link", "target"}, names(t, dir))

	require.NoError(t, report.WriteFile(os.DevNull, text("x")))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeDevice, "still a device")
}
