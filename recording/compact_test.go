package recording

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// short returns what a recording is compacted to, one entry a line.
func short(t *testing.T, text string, o *CompactOptions) []string {
	t.Helper()
	rec, err := Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	var lines []string
	for e, err := range Compact(rec, o) {
		switch {
		case err != nil:
			lines = append(lines, "error "+err.Error())
		case e.Head != nil:
			lines = append(lines, "head")
		case e.Err != nil:
			lines = append(lines, "broke "+e.Err.Error())
		default:
			lines = append(lines, string(e.Event.Data()))
		}
	}
	return lines
}

// run puts a run around events.
func run(events ...string) string {
	return started + "\n" + strings.Join(events, "\n") + "\n" + finished + "\n"
}

func TestCompact(t *testing.T) {
	for _, row := range []struct {
		name string
		in   string
		want []string
	}{
		{"deltas of one message are merged across others, and nothing is reordered", run(
			`{"type":"TEXT_MESSAGE_START","messageId":"a"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"1"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"b"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"2"}`, `{"type":"TEXT_MESSAGE_END","messageId":"a"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"b"}`), []string{
			`{"type":"TEXT_MESSAGE_START","messageId":"a"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"12"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"b"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"a"}`, `{"type":"TEXT_MESSAGE_END","messageId":"b"}`}},
		{"chunks become ordinary events", run(
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{"}`, `{"type":"TOOL_CALL_CHUNK","delta":"}"}`), []string{
			`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`}},
		{"patches are folded into one event, the shorter one", run(
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`, custom,
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/nothing"}]}`), []string{
			`{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}`}},
		{"a snapshot of the state that a later one replaces goes", run(
			`{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`, `{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}`), []string{
			`{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}`}},
		{"a state that comes back to what it was is said to be set", run(
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/n"}]}`), []string{`{"type":"STATE_DELTA","delta":[]}`}},
		{"an activity becomes what it came to", run(
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"plan","content":{"n":1}}`,
			`{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"done","patch":[{"op":"add","path":"/m","value":2}]}`), []string{
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"done","content":{"n":1,"m":2}}`}},
		{"what a snapshot restates goes", run(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"1"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"1"}]}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"2"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"1"},{"id":"b","role":"assistant","content":"2"}]}`), []string{
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"1"},{"id":"b","role":"assistant","content":"2"}]}`}},
		{"but not what determines the order", run(
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"1"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"b","role":"assistant","content":"2"},{"id":"a","role":"assistant","content":"1"}]}`), []string{
			`{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`, `{"type":"TEXT_MESSAGE_END","messageId":"a"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"b","role":"assistant","content":"2"},{"id":"a","role":"assistant","content":"1"}]}`}},
		{"a tag that makes a subagent known stays", run(
			`{"type":"CUSTOM","name":"n","value":1,"subagentRunId":"s"}`, `{"type":"CUSTOM","name":"n","value":2,"subagentRunId":"s"}`), []string{
			`{"type":"RAW","event":null,"subagentRunId":"s"}`}},
		{"reasoning spans and rawEvent have no effect", run(
			`{"type":"REASONING_START","messageId":"r"}`, `{"type":"STEP_STARTED","stepName":"s","rawEvent":{"p":1}}`,
			`{"type":"REASONING_END","messageId":"r"}`, `{"type":"STEP_FINISHED","stepName":"s"}`), []string{
			`{"type":"STEP_STARTED","stepName":"s"}`, `{"type":"STEP_FINISHED","stepName":"s"}`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := short(t, row.in, nil)
			want := append(append([]string{started}, row.want...), finished)
			assert.Equal(t, want, got)
		})
	}
}

func TestCompactPatchesALargeState(t *testing.T) {
	lines := short(t, `{"input":{"state":{"n":0,"more":"than a patch is long, so that a patch is the shorter one of the two"}},"stream":[`+started+
		`,{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":1}]},{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]},`+
		finished+`]}`, nil)
	assert.Equal(t, []string{started, `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]}`, finished}, lines)
}

func TestCompactKeepsWhatPassesThroughIfAsked(t *testing.T) {
	in := run(custom, `{"type":"STEP_STARTED","stepName":"s","rawEvent":1}`, `{"type":"STEP_FINISHED","stepName":"s"}`)
	assert.Len(t, short(t, in, &CompactOptions{PassedThrough: true}), 5)
	assert.Len(t, short(t, in, nil), 4)
}

func TestCompactKeepsTheEventThatARunWasRejectedFor(t *testing.T) {
	lines := short(t, started+"\n"+`{"type":"REASONING_START","messageId":"r"}`+"\n"+finished+"\n"+custom, nil)
	assert.Equal(t, []string{started, `{"type":"REASONING_START","messageId":"r"}`, finished}, lines)
	_, err := Fold(strings.NewReader(strings.Join(lines, "\n")), nil)
	assert.ErrorContains(t, err, "P-VER-3 event 3")
}

func TestCompactKeepsHeadsAndHowRunsBroke(t *testing.T) {
	const head = `{"agfold":"recording/1","input":{"threadId":"t","runId":"r","messages":[]}}`
	in := strings.Join([]string{head, `{"at":1,"event":` + started + `}`, `{"at":2,"error":"gone","truncated":true}`,
		head, `{"at":1,"event":` + started + `}`, `{"at":3,"event":` + custom + `}`, `{"at":4,"event":` + finished + `}`}, "\n")
	assert.Equal(t, []string{"head", started, "broke gone", "head", started, finished}, short(t, in, nil))
}

func TestCompactIsStoppedAndYieldsErrors(t *testing.T) {
	assert.Equal(t, []string{started, "error recording cut off in line 2"}, short(t, started+"\n"+`{"type":"CUSTOM","na`, nil))
	rec, err := Open(strings.NewReader(run(custom)), nil)
	require.NoError(t, err)
	n := 0
	for range Compact(rec, nil) {
		n++
		break
	}
	assert.Equal(t, 1, n)
	for _, err := range CompactEvents(func(yield func(event.Event, error) bool) { yield(nil, io.ErrUnexpectedEOF) }, nil) {
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

func TestCompactMergesManyDeltas(t *testing.T) {
	const n = 100_000
	events := func(yield func(event.Event, error) bool) {
		for _, ev := range []event.Event{&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m"}} {
			yield(ev, nil)
		}
		for range n {
			yield(&event.TextMessageContent{MessageID: "m", Delta: "x"}, nil)
		}
	}
	var out []event.Event
	for ev, err := range CompactEvents(events, nil) {
		require.NoError(t, err)
		out = append(out, ev)
	}
	require.Len(t, out, 3)
	assert.Len(t, string(out[2].(event.Frame).Data()), n+len(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}`))
}

func ExampleCompactEvents() {
	stream := reducer.Events(
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.TextMessageStart{MessageID: "m"},
		&event.TextMessageContent{MessageID: "m", Delta: "Hel"},
		&event.TextMessageContent{MessageID: "m", Delta: "lo"},
		&event.TextMessageEnd{MessageID: "m"},
		&event.RunFinished{ThreadID: "t", RunID: "r"},
	)
	for ev := range CompactEvents(stream, nil) {
		text, _ := json.Marshal(ev)
		fmt.Println(string(text))
	}
	// Output:
	// {"type":"RUN_STARTED","threadId":"t","runId":"r"}
	// {"type":"TEXT_MESSAGE_START","messageId":"m"}
	// {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hello"}
	// {"type":"TEXT_MESSAGE_END","messageId":"m"}
	// {"type":"RUN_FINISHED","threadId":"t","runId":"r"}
}
