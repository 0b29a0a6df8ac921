// Package docs holds nothing: its tests run what the documentation shows.
package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages returns README and the pages of the documentation.
func pages(t *testing.T) []string {
	list, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.Greater(t, len(list), 8)
	return append(list, "../../README.md")
}

var program = regexp.MustCompile("(?ms)^```go\n(.*?)^```\n+(?:```text\n(.*?)^```)?")

// Every program of the documentation compiles, is formatted, and prints what stands
// below it.
func TestProgramsPrintWhatStandsBelowThem(t *testing.T) {
	count := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for i, m := range program.FindAllSubmatch(text, -1) {
			count++
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(page), i+1), func(t *testing.T) {
				t.Parallel()
				require.True(t, bytes.HasPrefix(m[1], []byte("package main\n")), "a whole program")
				file := filepath.Join(t.TempDir(), "main.go")
				require.NoError(t, os.WriteFile(file, m[1], 0o666))
				out, err := exec.Command("gofmt", "-l", file).Output()
				require.NoError(t, err)
				assert.Empty(t, string(out), "formatted")
				run := exec.Command("go", "run", file)
				run.Dir = ".." // where both modules are known
				printed, err := run.CombinedOutput()
				require.NoError(t, err, "%s", printed)
				assert.Equal(t, string(m[2]), string(printed))
			})
		}
	}
	assert.GreaterOrEqual(t, count, 10)
}

var command = regexp.MustCompile("(?m)(?:^    |`)go run (\\./examples/[a-z]+)([^`\n#]*)")

// Every command that the documentation shows knows its flags.
func TestCommandsKnowTheirFlags(t *testing.T) {
	seen := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			line := strings.Join(strings.Fields(m[2]), " ")
			if seen[m[1]+" "+line] {
				continue
			}
			seen[m[1]+" "+line] = true
			t.Run(m[1]+" "+line, func(t *testing.T) {
				t.Parallel()
				// What is wrong before -h is told instead of the help.
				args := append([]string{"run", strings.Replace(m[1], "./examples", ".", 1)}, strings.Fields(line)...)
				run := exec.Command("go", append(args, "-h")...)
				run.Dir = ".."
				printed, err := run.CombinedOutput()
				require.NoError(t, err, "%s", printed)
			})
		}
	}
	assert.Greater(t, len(seen), 8)
}

// What a page links to is there.
func TestLinksWithinTheRepositoryLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		text = program.ReplaceAll(text, nil)
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), string(m[1])))
			assert.NoError(t, err)
		}
	}
}
