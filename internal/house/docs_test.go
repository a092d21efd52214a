package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents returns the paths of the pages that people read.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "PROTOCOL.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	return pages
}

// Each Go block in the docs is copied, line by line, from a file under examples or adapters, which the tests compile and run, or is a
// complete program that compiles.
func TestBlocksOfGoCompile(t *testing.T) {
	var sources []string
	for _, folder := range []string{"examples", "adapters"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			data, err := os.ReadFile(path)
			sources = append(sources, unindented(string(data)))
			return err
		})
		require.NoError(t, err)
	}
	for _, page := range documents(t) {
		for _, block := range goBlocks(t, page) {
			if strings.HasPrefix(block, "import (") {
				continue // of parts of a program: see below
			}
			if !standsInOne(sources, block) {
				assert.NoError(t, compiles(t, block), "%s: no example holds this block, and it does not compile:\n%s", page, block)
			}
		}
	}
}

// A page that shows parts of a program lists the imports that they need, and no others.
func TestImportsOfAPageAreThoseOfItsBlocks(t *testing.T) {
	for _, page := range documents(t) {
		var imports, code string
		for _, block := range goBlocks(t, page) {
			if strings.HasPrefix(block, "import (") {
				imports += block
			} else if !strings.HasPrefix(block, "package ") {
				code += block
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), page, "package p\n"+imports, parser.ImportsOnly)
		require.NoError(t, err, page)
		listed := map[string]bool{}
		for _, spec := range file.Imports {
			name := path.Base(strings.Trim(spec.Path.Value, `"`))
			if spec.Name != nil {
				name = spec.Name.Name
			}
			listed[name] = true
		}
		for name := range listed {
			assert.Regexp(t, `\b`+name+`\.[A-Z]`, code, "%s imports what it does not use", page)
		}
		for _, name := range []string{"bufio", "bytes", "context", "errors", "fmt", "http", "io", "json", "log", "os", "strings", "time",
			"client", "event", "messages", "reducer", "recording", "state", "subscribe"} {
			if regexp.MustCompile(`(^|[^.\w"/])` + name + `\.[A-Z]`).MatchString(code) {
				assert.True(t, listed[name], "%s uses %s and does not import it", page, name)
			}
		}
	}
}

// Every file that a page points to is there.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]*)\)`)
	for _, page := range documents(t) {
		for i, part := range strings.Split(readFile(t, page), "```") {
			if i%2 == 1 {
				continue // code
			}
			for _, m := range link.FindAllStringSubmatch(part, -1) {
				target, _, _ := strings.Cut(m[1], "#")
				if target != "" && !strings.Contains(target, "://") {
					_, err := os.Stat(filepath.Join(filepath.Dir(page), target))
					assert.NoError(t, err, page)
				}
			}
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

func goBlocks(t *testing.T, file string) []string {
	t.Helper()
	var blocks []string
	for _, part := range strings.Split(readFile(t, file), "```go\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		require.True(t, ok, "%s: a block has no end", file)
		blocks = append(blocks, block)
	}
	return blocks
}

func standsInOne(sources []string, block string) bool {
	for _, source := range sources {
		if strings.Contains(source, unindented(block)) {
			return true
		}
	}
	return false
}

// unindented takes the indentation off each line, so that a block may come from any depth.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// compiles checks a program as the compiler does.
func compiles(t *testing.T, program string) error {
	t.Helper()
	m, err := loadModule()
	require.NoError(t, err)
	file, err := parser.ParseFile(m.files, "block.go", program, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	_, err = (&types.Config{Importer: m.types}).Check("main", m.files, []*ast.File{file}, nil)
	return err
}
