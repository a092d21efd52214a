package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	ruleDefined = regexp.MustCompile(`(?m)^- \*\*(P-[A-Z]+-\d+)\*\*`)
	ruleCited   = regexp.MustCompile(`\bP-[A-Z]{2,4}-\d+\b`)
)

// A rule's number leads to the code that implements it, and the code cites only rules that exist.
func TestRulesAndCodeCiteEachOther(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "PROTOCOL.md"))
	require.NoError(t, err)
	defined := map[string]bool{}
	for _, m := range ruleDefined.FindAllSubmatch(text, -1) {
		defined[string(m[1])] = true
	}
	require.NotEmpty(t, defined)
	cited := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, rule := range ruleCited.FindAll(data, -1) {
			assert.True(t, defined[string(rule)], "%s cites %s, which PROTOCOL.md does not define", path, rule)
			if !strings.HasSuffix(path, "_test.go") {
				cited[string(rule)] = true
			}
		}
		return err
	})
	require.NoError(t, err)
	for rule := range defined {
		assert.True(t, cited[rule], "no code cites %s", rule)
	}
}
