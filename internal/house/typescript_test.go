package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each export of the official client has a row in docs/from-typescript.md, by its declarations in the folder of
// AGFOLD_ORACLE.
func TestOracleExportsHaveARow(t *testing.T) {
	oracle := os.Getenv("AGFOLD_ORACLE")
	if oracle == "" {
		t.Skip("AGFOLD_ORACLE is not set")
	}
	page := readFile(t, filepath.Join(root, "docs", "from-typescript.md"))
	found := 0
	for _, name := range []string{"client", "core"} {
		text := readFile(t, filepath.Join(oracle, "node_modules", "@ag-ui", name, "dist", "index.d.ts"))
		for _, list := range regexp.MustCompile(`(?m)^export \{([^}]*)\};`).FindAllStringSubmatch(text, -1) {
			for item := range strings.SplitSeq(list[1], ",") {
				item = strings.TrimPrefix(strings.TrimSpace(item), "type ")
				if _, as, ok := strings.Cut(item, " as "); ok {
					item = as
				}
				found++
				assert.Contains(t, page, "`"+item+"`", "the export %s of @ag-ui/%s has no row", item, name)
			}
		}
		for _, member := range members(text, "declare abstract class AbstractAgent") {
			assert.Contains(t, page, "`"+member+"`", "AbstractAgent.%s has no row", member)
		}
	}
	require.Greater(t, found, 150)
}

// members returns the members of a class that are not private.
func members(text, class string) []string {
	_, body, ok := strings.Cut(text, class)
	if !ok {
		return nil
	}
	body, _, _ = strings.Cut(body, "\n}\n")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  (?:protected |abstract |get |set )*(\w+)\??[:(]`).FindAllStringSubmatch(body, -1) {
		if m[1] != "constructor" {
			names = append(names, m[1])
		}
	}
	return names
}
