package transcript

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// TestAnExcerptDrawsWhatAViewDraws tells an excerpt of subagents as they come.
func TestAnExcerptDrawsWhatAViewDraws(t *testing.T) {
	first := []string{
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"scout"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"below","parentSubagentRunId":"s1"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s2","outcome":{"type":"suspended"}}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"find","subagentRunId":"s1"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s1"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"42","subagentRunId":"s1"}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"a","content":{"n":1},"subagentRunId":"untold"}`,
	}
	later := []string{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1","outcome":{"type":"suspended"}}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"back"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s2"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"here","subagentRunId":"s2"}`}
	all := append(first, later...)
	th := folded(t, all...)
	told, restated := Style{}.Excerpt(), Style{}.Excerpt()
	for _, line := range all {
		switch e := decode(t, line).(type) {
		case *event.SubagentStarted:
			told.Began(e)
		case *event.SubagentFinished:
			if e.Outcome.Type == event.SubagentSuspended {
				told.Suspended(e.SubagentRunID)
			}
		}
	}
	restated.Restate(th)
	view := Style{}.View(th)
	result, _ := th.Message("r")
	seen := 0
	for _, m := range th.Messages.All() {
		for _, x := range []*Excerpt{told, restated} {
			switch {
			case m.Role == messages.RoleTool:
				assert.Equal(t, "│ scout › tool result for c · r\n│   42\n", x.Message(m), "an excerpt does not know the call")
			case m.ToolCalls.Len() > 0:
				assert.Equal(t, view.Message(m), x.Call(m, m.ToolCalls.At(0), result))
				seen++
			default:
				assert.Equal(t, view.Message(m), x.Message(m))
				seen++
			}
		}
	}
	assert.Equal(t, 6, seen)
	m, _ := th.Message("m")
	assert.Equal(t, "│ │ back › assistant · m\n│ │   here\n", told.Message(m))
}
