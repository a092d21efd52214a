package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

func decode(t testing.TB, text string) event.Event {
	t.Helper()
	f, err := event.NewFrame([]byte(text))
	require.NoError(t, err)
	ev, _, err := event.NewDecoder(nil).Decode(f)
	require.NoError(t, err)
	return ev
}

func TestEvent(t *testing.T) {
	for _, row := range []struct{ event, want string }{
		{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, "t r"},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, "r"},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"},"result":{"a":1}}`, `r {"type":"cancelled"} result {"a": 1}`},
		{`{"type":"RUN_ERROR","message":"no luck","code":"E"}`, "no luck E"},
		{`{"type":"STEP_STARTED","stepName":"plan"}`, "plan"},
		{`{"type":"STEP_FINISHED","stepName":"plan","subagentRunId":"s"}`, "[s] plan"},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"eva"}`, "m user eva"},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\nb\u001b"}`, `m "a\nb\u001b"`},
		{`{"type":"TEXT_MESSAGE_END","messageId":"m"}`, "m"},
		{`{"type":"REASONING_START","messageId":"m"}`, "m"},
		{`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`, "m"},
		{`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `m "x"`},
		{`{"type":"REASONING_MESSAGE_END","messageId":"m"}`, "m"},
		{`{"type":"REASONING_END","messageId":"m"}`, "m"},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"abcd"}`, "message m (4 bytes)"},
		{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, "c f in m"},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\""}`, `c "{\"a\""`},
		{`{"type":"TOOL_CALL_END","toolCallId":"c"}`, "c"},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"ok"}`, `c "ok"`},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"ok"},{"type":"image","source":{"type":"url","value":"u"}}]}`, `c "ok" [image · u]`},
		{`{"type":"STATE_SNAPSHOT","snapshot":null}`, "null"},
		{`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}`, `[{"op": "remove", "path": "/a"}]`},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[]}`, "0 messages"},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"x":1}}`, `m a {"x": 1}`},
		{`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}`, "m a []"},
		{`{"type":"RAW","event":{"x":1}}`, `{"x": 1}`},
		{`{"type":"RAW","event":1,"source":"lib"}`, "lib 1"},
		{`{"type":"CUSTOM","name":"n","value":[1]}`, "n [1]"},
		{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout","parentSubagentRunId":"p"}`, "[s] scout under p"},
		{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"success"},"result":1}`, "[s] success result 1"},
		{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`, "[s]"},
		{`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"no luck","code":"E"}`, "[s] no luck E"},
	} {
		ev := decode(t, row.event)
		name := ev.Type().String()
		want := "    12 " + name + strings.Repeat(" ", 25-len(name)) + " " + row.want + "\n"
		assert.Equal(t, want, Style{}.Event(reducer.Delivery{Ordinal: 12, Event: ev}).String())
		colored := Style{Color: true}.Event(reducer.Delivery{Ordinal: 12, Event: ev}).String()
		assert.Equal(t, want, ansi.ReplaceAllString(colored, ""))
	}
}

func TestTypesHaveTheColorOfWhatTheyAreAbout(t *testing.T) {
	for typ, want := range map[event.Type]term.Ink{
		event.TypeTextMessageContent: term.Cyan, event.TypeToolCallResult: term.Yellow, event.TypeReasoningStart: term.Dim,
		event.TypeRunError: term.Red, event.TypeSubagentError: term.Red, event.TypeRunStarted: term.Bold,
	} {
		assert.Equal(t, want, ink(typ), typ)
	}
}

func TestAnEventIsCutAtTheWidth(t *testing.T) {
	step := reducer.Delivery{Ordinal: 1, Event: decode(t, `{"type":"CUSTOM","name":"n","value":"`+strings.Repeat("x", 200)+`"}`)}
	assert.Equal(t, 80, Style{Width: 80}.Event(step).Lines()[0].Columns())
	assert.Greater(t, len(Style{Width: 80, Full: true}.Event(step).String()), 200)
	assert.Greater(t, len(Style{}.Event(step).String()), 200, "without a width nothing is cut: somebody searches it")
}

func TestAStepThatDeliveredNothingIsNoLine(t *testing.T) {
	assert.Empty(t, Style{}.Event(reducer.Delivery{Ordinal: 1, Warnings: []event.Warning{{}}}))
}
