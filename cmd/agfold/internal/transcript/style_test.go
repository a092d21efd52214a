package transcript

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

var ansi = regexp.MustCompile("\x1b\\[[0-9]+m")

func TestColorChangesNothingElse(t *testing.T) {
	events := []string{
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
		`{"type":"REASONING_MESSAGE_CHUNK","messageId":"x","delta":"a thought\nin lines"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{}","subagentRunId":"s"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":"` + strings.Repeat(`line\n`, 40) + `"}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}`,
		`{"type":"RUN_ERROR","message":"overloaded"}`,
	}
	plain, colored := drawn(t, Style{Width: 60}, events...), drawn(t, Style{Width: 60, Color: true}, events...)
	assert.NotContains(t, plain, "\x1b")
	assert.Contains(t, colored, "\x1b[31m✗\x1b[0m")
	assert.Equal(t, plain, ansi.ReplaceAllString(colored, ""))
}

func TestNothingIsWiderThanTheWidth(t *testing.T) {
	text := strings.Repeat(`some words to wrap `, 30)
	got := drawn(t, Style{Width: 50}, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"`+text+`","subagentRunId":"s"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"`+text+`"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":"`+text+`"}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"z","activityType":"a","content":{"words":["some words","in a list","that is long"]}}`,
		`{"type":"RUN_ERROR","message":"`+text+`"}`)
	for line := range strings.SplitSeq(got, "\n") {
		assert.LessOrEqual(t, term.Clean(line).Columns(), 50, line)
	}
}
