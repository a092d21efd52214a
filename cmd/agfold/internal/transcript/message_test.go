package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMessages(t *testing.T) {
	for _, row := range []struct {
		name   string
		events []string
		want   string
	}{
		{"an empty message has its heading only",
			[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"eva"}`}, "user eva · m\n"},
		{"blank lines around a text go, those within stay",
			[]string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"\na\n\nb\n"}`}, "assistant · m\n  a\n\n  b\n"},
		{"a tool call without arguments",
			[]string{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"now"}`, finish},
			"assistant · c\n  ▸ now · c\n    ↳ waiting for the client's answer\n"},
		{"arguments that are still arriving",
			[]string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":"}`},
			"assistant · c\n  ▸ f · c\n      {\"a\":\n    … arguments still arriving\n"},
		{"results are nested, and an empty one is seen",
			[]string{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{\"a\":1}"}`,
				`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":""}`,
				`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":[{"type":"text","text":"two\nlines"},{"type":"document","source":{"type":"file","value":"h-1","provider":"acme","mimeType":"application/pdf"}}]}`},
			"assistant · c\n  ▸ f · c {\"a\": 1}\n    ↳ (empty)\n    ↳ two\n      lines\n      [document · application/pdf · acme file h-1]\n"},
		{"a result that does not directly follow its call is drawn in its place and names the call",
			[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"id":"r2","role":"tool","toolCallId":"2","content":"B"},{"id":"u","role":"user","content":"well?"},{"id":"r1","role":"tool","toolCallId":"1","content":"A"}]}`},
			"assistant · a\n  ▸ f · 1 {}\n    ↳ answered below\n  ▸ f · 2 {}\n    ↳ B\nuser · u\n  well?\ntool result for f (1) · r1\n  A\n"},
		{"a call that the run leaves without an answer",
			[]string{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"now"}`, `{"type":"RUN_ERROR","message":"x"}`},
			"assistant · c\n  ▸ now · c\n    ↳ never answered\n"},
		{"a call that may still be answered", []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"now"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`},
			"assistant · c\n  ▸ now · c\n"},
		{"a long name is clipped", []string{`{"type":"TEXT_MESSAGE_START","messageId":"` + strings.Repeat("m", 200) + `"}`},
			"assistant · " + strings.Repeat("m", maxName-1) + "…\n"},
		{"a result without its call is drawn on its own",
			[]string{`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"gone","content":"[1,2]"}`},
			"tool result for gone · x\n  [1, 2]\n"},
		{"an error of a tool",
			[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"tool","toolCallId":"gone","content":"","error":"no such file"}]}`},
			"tool result for gone · x\n  error no such file\n"},
		{"a URL, and bytes that are not drawn",
			[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"image","source":{"type":"url","value":"https://host/x.png"}},{"type":"audio","source":{"type":"data","value":"AAAA","mimeType":"audio/wav"}}]}]}`},
			"user · u\n  [image · https://host/x.png]\n  [audio · audio/wav · 4 bytes of base64]\n"},
		{"a subagent's message has the subagent's name and a gutter",
			[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
				`{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"helper","parentSubagentRunId":"s"}`,
				`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a\n\nb","subagentRunId":"s2"}`},
			"│ │ helper › assistant · m\n│ │   a\n│ │\n│ │   b\n"},
		{"one that was never announced, by its id",
			[]string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","subagentRunId":"s"}`}, "│ s › assistant · m\n│   a\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			th := folded(t, row.events...)
			v := Style{}.View(th)
			var got strings.Builder
			for _, m := range th.Messages.All() {
				got.WriteString(v.Message(m).String())
			}
			assert.Equal(t, row.want, got.String())
		})
	}
}

func TestMetadataIsDrawnWithFull(t *testing.T) {
	events := []string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","metadata":{"model":"x"}}`}
	assert.NotContains(t, drawn(t, Style{}, events...), "model")
	assert.Contains(t, drawn(t, Style{Full: true}, events...), "  metadata\n    {\"model\": \"x\"}\n")
}
