package gangkit_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/gangkit/gangkit"

// Policies and their tests import no other policy and nothing of the examples.
func TestPackagesAreIndependent(t *testing.T) {
	for file, imports := range sources(t) {
		folder := filepath.Dir(file)
		if folder == "." { // the example that composes them
			continue
		}
		for _, path := range imports {
			if rest, ok := strings.CutPrefix(path, module+"/"); ok {
				assert.Equal(t, folder, rest, "%s imports %s", file, path)
			}
		}
	}
}

// Policies own no clock, no files, no network, no log, and draw no random
// numbers that the caller did not seed; beside the standard library they need
// btree and gonum only.
func TestPoliciesKeepToThemselves(t *testing.T) {
	forbidden := []string{"os", "net", "log", "log/slog", "math/rand", "syscall", "unsafe", "C"}
	for file, imports := range sources(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, path := range imports {
			assert.False(t, slices.Contains(forbidden, path) || strings.HasPrefix(path, "net/"), "%s imports %s", file, path)
			if host, _, _ := strings.Cut(path, "/"); strings.Contains(host, ".") {
				known := path == "github.com/google/btree" || strings.HasPrefix(path, "gonum.org/v1/gonum/")
				assert.True(t, known, "%s imports %s", file, path)
			}
		}
	}
}

// The library's module requires three others, and what they require.
func TestModuleRequiresLittle(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") || strings.HasSuffix(line, "// indirect\n") {
			continue
		}
		assert.Contains(t, []string{"github.com/google/btree", "gonum.org/v1/gonum", "github.com/stretchr/testify"}, fields[0])
	}
}

// sources returns what each Go file of the library imports.
func sources(t *testing.T) map[string][]string {
	imports := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name() == "examples" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports[path] = nil
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports[path] = append(imports[path], name)
		}
		return nil
	}))
	require.NotEmpty(t, imports)
	return imports
}
