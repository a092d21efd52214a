package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No import runs upwards: a package imports only packages on lower lines of the table in CONTRIBUTING.md. External
// tests, examples and nested modules may import what they like.
func TestImportsRunDownwards(t *testing.T) {
	floor := floors(t)
	met := map[string]bool{}
	for file, imports := range importsOfModule(t) {
		pkg := filepath.Dir(file)
		own, ok := floor[pkg]
		if !assert.True(t, ok, "%s: %s has no floor in CONTRIBUTING.md", file, pkg) {
			continue
		}
		met[pkg] = true
		for _, imported := range imports {
			assert.Less(t, floor[imported], own, "%s imports %s, which is not below it", file, imported)
		}
	}
	for pkg := range floor {
		assert.True(t, met[pkg], "CONTRIBUTING.md names %s, which does not exist", pkg)
	}
}

// floors reads the table: each line is a floor above the line under it.
func floors(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "a test reads this table")
	require.True(t, ok)
	parts := strings.SplitN(rest, "```", 3)
	require.Len(t, parts, 3)
	lines := strings.Split(strings.TrimSpace(parts[1]), "\n")
	floor := map[string]int{}
	for i, line := range lines {
		for _, word := range strings.Fields(line) {
			if _, err := strconv.Atoi(word); err != nil {
				floor[word] = len(lines) - i
			}
		}
	}
	return floor
}

// importsOfModule returns, for each file that counts, what it imports of this module.
func importsOfModule(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if name != "." && (nested == nil || name == "examples" || name == "internal/house" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil || strings.HasSuffix(file.Name.Name, "_test") {
			return err
		}
		name = filepath.ToSlash(name)
		imports[name] = nil
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				imports[name] = append(imports[name], own)
			}
		}
		return nil
	})
	require.NoError(t, err)
	return imports
}
