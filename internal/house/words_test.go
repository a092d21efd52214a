package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	british = regexp.MustCompile(`(?i)\b\w*(?:recogni` + `s|behavio` + `ur|colo` + `ur|neighbo` + `ur|favo` + `ur|hono` + `ur|normali` + `s|initiali` + `s|seriali` + `s|organi` + `s)(?:e|ed|es|ing|er|s|ful|able|ation)?\b`)
	// prefixed is an error text that begins with the name of a package.
	prefixed = regexp.MustCompile(`(?:errors\.New|fmt\.Errorf)\("(?:state|messages|event|chunks|reducer|recording|client|subscribe|serve|lint|agfold): `)
)

// Words are American, and the texts of errors have no package in front.
func TestWordsAreAmericanAndErrorsHaveNoPrefix(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, word := range british.FindAll(data, -1) {
			assert.Fail(t, "not American", "%s: %s", path, word)
		}
		for _, text := range prefixed.FindAll(data, -1) {
			assert.Fail(t, "an error with a prefix", "%s: %s", path, text)
		}
		return err
	})
	require.NoError(t, err)
}
