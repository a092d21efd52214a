package rules

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

const root = "../../../.."

func TestTheCopyIsComplete(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(root, "PROTOCOL.md"))
	require.NoError(t, err)
	assert.Equal(t, string(want), protocol, "copy PROTOCOL.md to this folder")
	assert.Equal(t, strings.Count(string(want), "\n- **P-"), len(All()))
	for id, text := range All() {
		assert.Greater(t, len(text), 20, id)
		assert.NotContains(t, text, "- **", id)
	}
	assert.Equal(t, "At RUN_FINISHED nothing may be open: steps, text, reasoning messages, spans, tool calls, subagents. RUN_ERROR ends everything open.", Text("P-VER-3"))
}

// TestEveryRuleThatIsCitedHasTextAndAdvice looks through the sources for rules that errors and warnings cite.
func TestEveryRuleThatIsCitedHasTextAndAdvice(t *testing.T) {
	cited := map[string]bool{}
	literal := regexp.MustCompile(`"(P-[A-Z]+-\d+)"`)
	for _, dir := range []string{"event", "chunks", "messages", "reducer", "internal/codec", "client"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range literal.FindAllSubmatch(text, -1) {
				cited[string(m[1])] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, len(cited), 25)
	for id := range cited {
		assert.NotEmpty(t, Text(id), "the text of %s", id)
		assert.NotEmpty(t, Advice(id), "advice about %s", id)
	}
	for id := range advice {
		assert.NotEmpty(t, Text(id), "%s is a rule", id)
	}
}
