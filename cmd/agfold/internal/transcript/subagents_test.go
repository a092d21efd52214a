package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/reducer"
)

func TestSubagentTree(t *testing.T) {
	started := func(id, parent string) string {
		if parent != "" {
			parent = `,"parentSubagentRunId":"` + parent + `"`
		}
		return `{"type":"SUBAGENT_STARTED","subagentRunId":"` + id + `","name":"agent ` + id + `"` + parent + `}`
	}
	th := folded(t, started("a", ""), started("b", ""), started("a1", "a"), started("a2", "a"), started("a11", "a1"), started("b1", "b"),
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"a11","result":{"n":1}}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"a1","outcome":{"type":"suspended","interruptIds":["i"]}}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"a2","message":"no luck","code":"E1"}`,
		`{"type":"CUSTOM","name":"x","value":1,"subagentRunId":"ghost"}`)
	assert.Equal(t, strings.Join([]string{
		"… agent a · a · running",
		"├─ ‖ agent a1 · a1 · suspended",
		"│  │  waits for i",
		"│  └─ ✓ agent a11 · a11 · succeeded",
		`│        {"n": 1}`,
		"└─ ✗ agent a2 · a2 · failed",
		"      no luck (E1)",
		"… agent b · b · running",
		"└─ … agent b1 · b1 · running",
		"… ghost · never announced · running",
		"",
	}, "\n"), Style{}.Subagents(th.Subagents).String())
	assert.Empty(t, Style{}.Subagents(reducer.Subagents{}))
}

func TestADeepTreeStaysReadable(t *testing.T) {
	events := []string{`{"type":"SUBAGENT_STARTED","subagentRunId":"0","name":"n"}`}
	for i := range 200 {
		events = append(events, `{"type":"SUBAGENT_STARTED","subagentRunId":"`+strings.Repeat("x", i+1)+`","name":"n","parentSubagentRunId":"`+max("0", strings.Repeat("x", i))+`"}`)
	}
	for line := range strings.SplitSeq(Style{}.Subagents(folded(t, events...).Subagents).String(), "\n") {
		assert.Less(t, strings.Index(line, "…"), 3*(2*maxTreeDepth+2))
	}
}
