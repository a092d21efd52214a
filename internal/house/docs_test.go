// Package readme holds the test that keeps the README's code true.
package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every block of Go in the README stands, line by line, in a file under examples, which the tests compile and
// run.
func TestBlocksStandInExamples(t *testing.T) {
	var sources []string
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		sources = append(sources, unindented(string(data)))
		return err
	})
	require.NoError(t, err)
	blocks := goBlocks(t, filepath.Join(root, "README.md"))
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		found := false
		for _, source := range sources {
			found = found || strings.Contains(source, unindented(block))
		}
		assert.True(t, found, "no example holds this block:\n%s", block)
	}
}

// Every file that the README points to is there.
func TestLinksLeadSomewhere(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	var prose strings.Builder
	for i, part := range strings.Split(string(data), "```") {
		if i%2 == 0 {
			prose.WriteString(part)
		}
	}
	links := 0
	for _, part := range strings.Split(prose.String(), "](")[1:] {
		target, _, ok := strings.Cut(part, ")")
		require.True(t, ok)
		if !strings.Contains(target, "://") {
			assert.FileExists(t, filepath.Join(root, target))
			links++
		}
	}
	require.NotZero(t, links)
}

func goBlocks(t *testing.T, file string) []string {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var blocks []string
	for _, part := range strings.Split(string(data), "```go\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		require.True(t, ok, "a block has no end")
		blocks = append(blocks, block)
	}
	return blocks
}

// unindented takes the indentation off each line, so that a block may come from any depth.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
