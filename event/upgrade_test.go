package event

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const started = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`

// TestUpgradeConverts has events as an old peer sends them, what becomes of each, and the warnings.
func TestUpgradeConverts(t *testing.T) {
	type step struct {
		in, out  string // out is "" where the event stays as it is
		warnings []brief
	}
	input := func(in string) string { return `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":` + in + `}` }
	message := func(content string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"reasoning","content":"x"},{"id":"2","role":"user","content":` + content + `}]}`
	}
	converted := []brief{{"P-CMP-1", ""}}
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"P-CMP-1 a thinking span becomes a reasoning span, with ids of our own", []step{
			{started, "", nil},
			{`{"type":"THINKING_START","timestamp":1}`, `{"type":"REASONING_START","timestamp":1,"messageId":"r-thinking-1"}`, converted},
			{`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"REASONING_MESSAGE_START","messageId":"r-thinking-2","role":"reasoning"}`, converted},
			{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"d","metadata":{"k":1}}`, `{"type":"REASONING_MESSAGE_CONTENT","delta":"d","metadata":{"k":1},"messageId":"r-thinking-2"}`, converted},
			{`{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"REASONING_MESSAGE_END","messageId":"r-thinking-2"}`, converted},
			{`{"type":"THINKING_END"}`, `{"type":"REASONING_END","messageId":"r-thinking-1"}`, converted},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-3"}`, converted},
		}},
		{"P-CMP-1 the title is lost, and a second warning says so", []step{
			{started, "", nil},
			{`{"type":"THINKING_START","title":"Working"}`, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, []brief{{"P-CMP-1", ""}, {"P-CMP-1", "/title"}}},
		}},
		{"P-CMP-1 a continuation without opener gets an id and a warning", []step{
			{started, "", nil},
			{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"d"}`, `{"type":"REASONING_MESSAGE_CONTENT","delta":"d","messageId":"r-thinking-1"}`, []brief{{"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
			{`{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"REASONING_MESSAGE_END","messageId":"r-thinking-2"}`, []brief{{"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
			{`{"type":"THINKING_END"}`, `{"type":"REASONING_END","messageId":"r-thinking-3"}`, []brief{{"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
		}},
		{"P-CMP-1 an end closes what it ends", []step{
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, converted},
			{`{"type":"THINKING_END"}`, `{"type":"REASONING_END","messageId":"r-thinking-1"}`, converted},
			{`{"type":"THINKING_END"}`, `{"type":"REASONING_END","messageId":"r-thinking-2"}`, []brief{{"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
		}},
		{"D-3 the counter starts anew with another run, and a run leaves nothing open", []step{
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, converted},
			{`{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, "", nil},
			{`{"type":"THINKING_END"}`, `{"type":"REASONING_END","messageId":"q-thinking-1"}`, []brief{{"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
		}},
		{"D-3 a run that is started again continues counting", []step{
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, converted},
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-2"}`, converted},
		}},
		{"D-3 a run continues counting even after another", []step{
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, converted},
			{`{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"q-thinking-1"}`, converted},
			{started, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-2"}`, converted},
		}},
		{"D-3 an id that the producer has used is not minted", []step{
			{started, "", nil},
			{`{"type":"REASONING_MESSAGE_START","messageId":"r-thinking-1","role":"reasoning"}`, "", nil},
			{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r-thinking-2","delta":"d"}`, "", nil},
			{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r-thinking-x","delta":"d"}`, "", nil},
			{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r-thinking-99999999999","delta":"d"}`, "", nil},
			{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"q-thinking-7","delta":"d"}`, "", nil},
			{`{"type":"REASONING_MESSAGE_CHUNK","delta":"-thinking-8"}`, "", nil},
			{`{"type":"THINKING_START"}`, `{"type":"REASONING_START","messageId":"r-thinking-3"}`, converted},
		}},
		{"P-CMP-1 what is malformed in a retired event is left to enforcement", []step{
			{`{"type":"THINKING_TEXT_MESSAGE_START","x":[]}`, `{"type":"REASONING_MESSAGE_START","x":[],"messageId":"-thinking-1","role":"reasoning"}`, converted},
			{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":7}`, `{"type":"REASONING_MESSAGE_CONTENT","delta":7,"messageId":"-thinking-1"}`, converted},
		}},
		{"P-CMP-2 a null rawEvent is absent, on any event", []step{
			{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","rawEvent":null}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`, []brief{{"P-CMP-2", "/rawEvent"}}},
			{`{"type":"THINKING_END","rawEvent":null}`, `{"type":"REASONING_END","messageId":"-thinking-1"}`, []brief{{"P-CMP-2", "/rawEvent"}, {"P-CMP-1", "/messageId"}, {"P-CMP-1", ""}}},
			{`{"type":"FUTURE_EVENT","r\u0061wEvent":null}`, `{"type":"FUTURE_EVENT"}`, []brief{{"P-CMP-2", "/rawEvent"}}},
		}},
		{"P-CMP-2 a null result and outcome are absent", []step{
			{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null,"outcome":null}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, []brief{{"P-CMP-2", "/result"}, {"P-CMP-2", "/outcome"}}},
			{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":null}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`, []brief{{"P-CMP-2", "/result"}}},
			{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":null}`, "", nil},
		}},
		{"P-CMP-2 a null parentMessageId is absent", []step{
			{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","parentMessageId":null}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n"}`, []brief{{"P-CMP-2", "/parentMessageId"}}},
			{`{"type":"TOOL_CALL_CHUNK","parentMessageId":null}`, `{"type":"TOOL_CALL_CHUNK"}`, []brief{{"P-CMP-2", "/parentMessageId"}}},
			{`{"type":"TOOL_CALL_CHUNK","delta":null}`, "", nil},
		}},
		{"D-4 a null role of a text message is absent", []step{
			{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":null}`, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`, []brief{{"P-CMP-2", "/role"}}},
			{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":null}`, "", nil},
		}},
		{"P-CMP-2 a null metadata of a media part is absent, of a text part it is not", []step{
			{message(`[{"type":"image","source":{},"metadata":null},{"type":"text","text":"","metadata":null}]`), message(`[{"type":"image","source":{}},{"type":"text","text":"","metadata":null}]`), []brief{{"P-CMP-2", "/messages/1/content/0/metadata"}}},
			{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"video","metadata":null}]}`, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"video"}]}`, []brief{{"P-CMP-2", "/content/0/metadata"}}},
		}},
		{"P-CMP-2 the nulls of a run input", []step{
			{input(`{"forwardedProps":null,"tools":[{"name":"a"},{"name":"b","parameters":null}],"resume":[{"payload":null}],"messages":[{"content":[{"type":"audio","metadata":null}]}]}`),
				input(`{"tools":[{"name":"a"},{"name":"b"}],"resume":[{}],"messages":[{"content":[{"type":"audio"}]}]}`),
				[]brief{{"P-CMP-2", "/input/messages/0/content/0/metadata"}, {"P-CMP-2", "/input/tools/1/parameters"}, {"P-CMP-2", "/input/forwardedProps"}, {"P-CMP-2", "/input/resume/0/payload"}}},
		}},
		{"P-CMP-2 no other null is touched", []step{
			{`{"type":"STEP_STARTED","stepName":"s","subagentRunId":null}`, "", nil},
			{`{"type":"STATE_SNAPSHOT","snapshot":null}`, "", nil},
			{`{"type":"CUSTOM","name":"n","value":null,"metadata":{"rawEvent":null}}`, "", nil},
			{input(`null`), "", nil},
			{input(`{"state":null,"tools":null,"messages":[null,{"content":null}],"resume":[{"payload":{"x":null},"metadata":null}]}`), "", nil},
			{`{"type":"MESSAGES_SNAPSHOT","messages":null}`, "", nil},
			{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"outcome":null}}`, "", nil},
		}},
		{"P-CMP-3 a binary part becomes the part that its type names", []step{
			{message(`[{"type":"binary","mimeType":"image/png","data":"aGk="},{"type":"text","text":"t"},{"type":"binary","mimeType":"audio/wav","url":"u"},` +
				`{"type":"binary","mimeType":"video/mp4","url":"u","filename":"f.mp4"},{"type":"binary","mimeType":"application/pdf","url":"u"},{"type":"binary","mimeType":"","data":"x"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"}},{"type":"text","text":"t"},{"type":"audio","source":{"type":"url","value":"u","mimeType":"audio/wav"}},` +
					`{"type":"video","source":{"type":"url","value":"u","mimeType":"video/mp4"},"metadata":{"filename":"f.mp4"}},{"type":"document","source":{"type":"url","value":"u","mimeType":"application/pdf"}},{"type":"document","source":{"type":"data","value":"x","mimeType":""}}]`),
				[]brief{{"P-CMP-3", "/messages/1/content/0"}, {"P-CMP-3", "/messages/1/content/2"}, {"P-CMP-3", "/messages/1/content/3"}, {"P-CMP-3", "/messages/1/content/4"}, {"P-CMP-3", "/messages/1/content/5"}}},
		}},
		{"P-CMP-3 the case of a type does not count", []step{
			{message(`[{"type":"binary","mimeType":"AUDIO/x","url":"u"},{"type":"binary","mimeType":"Image","url":"u"}]`),
				message(`[{"type":"audio","source":{"type":"url","value":"u","mimeType":"AUDIO/x"}},{"type":"document","source":{"type":"url","value":"u","mimeType":"Image"}}]`),
				[]brief{{"P-CMP-3", "/messages/1/content/0"}, {"P-CMP-3", "/messages/1/content/1"}}},
		}},
		{"P-CMP-3 the data counts when there is a URL too, and what a modern part may carry is kept", []step{
			{message(`[{"type":"binary","mimeType":"image/png","data":"d","url":"u","id":"i","filename":"f","metadata":{"k":1}}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d","mimeType":"image/png"},"metadata":{"k":1,"filename":"f"},"id":"i"}]`),
				[]brief{{"P-CMP-3", "/messages/1/content/0"}}},
		}},
		{"P-CMP-3 with an id alone it stays, with a warning", []step{
			{message(`[{"type":"b\u0069nary","mimeType":"image/png","id":"i"}]`), message(`[{"type":"b\u0069nary","mimeType":"image/png","id":"i"}]`), []brief{{"P-CMP-3", "/messages/1/content/0"}}},
		}},
		{"P-CMP-3 in a tool result and in a run input", []step{
			{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"binary","mimeType":"image/png","url":"u"}]}`,
				`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"url","value":"u","mimeType":"image/png"}}]}`, []brief{{"P-CMP-3", "/content/0"}}},
			{input(`{"messages":[{"content":[{"type":"binary","mimeType":"x","url":"u"}]}]}`),
				input(`{"messages":[{"content":[{"type":"document","source":{"type":"url","value":"u","mimeType":"x"}}]}]}`), []brief{{"P-CMP-3", "/input/messages/0/content/0"}}},
		}},
		{"P-CMP-3 a binary part that mirrors a modern part of its message is the same attachment, in either order", []step{
			{message(`[{"type":"image","source":{"type":"data","value":"d","mimeType":"image/png"}},{"type":"binary","mimeType":"image/png","data":"d"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d","mimeType":"image/png"}}]`), []brief{{"P-CMP-3", "/messages/1/content/1"}}},
			{message(`[{"type":"binary","mimeType":"image/png","url":"u"},{"type":"text","text":"t"},{"type":"image","source":{"type":"url","value":"u"},"metadata":null}]`),
				message(`[{"type":"text","text":"t"},{"type":"image","source":{"type":"url","value":"u"}}]`),
				[]brief{{"P-CMP-3", "/messages/1/content/0"}, {"P-CMP-2", "/messages/1/content/2/metadata"}}},
			{message(`[{"type":"binary","mimeType":"image/png","data":"d","url":"u"},{"type":"image","source":{"type":"url","value":"u"}}]`),
				message(`[{"type":"image","source":{"type":"url","value":"u"}}]`), []brief{{"P-CMP-3", "/messages/1/content/0"}}},
			{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"binary","mimeType":"image/png","url":"u"},{"type":"image","source":{"type":"url","value":"u"}}]}`,
				`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"url","value":"u"}}]}`, []brief{{"P-CMP-3", "/content/0"}}},
		}},
		{"P-CMP-3 a filename that the modern part lacks is kept, one that it has stays", []step{
			{message(`[{"type":"binary","mimeType":"image/png","data":"d","filename":"f"},{"type":"image","source":{"type":"data","value":"d"},"metadata":{"k":1}}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":{"k":1,"filename":"f"}}]`), []brief{{"P-CMP-3", "/messages/1/content/0"}}},
			{message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":{"filename":"g"}},{"type":"binary","mimeType":"image/png","data":"d","filename":"f"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":{"filename":"g"}}]`), []brief{{"P-CMP-3", "/messages/1/content/1"}}},
			{message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":"x"},{"type":"binary","mimeType":"image/png","data":"d","filename":"f"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":"x"}]`), []brief{{"P-CMP-3", "/messages/1/content/1"}}},
			{message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":null},{"type":"binary","mimeType":"image/png","data":"d","filename":"f"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d"},"metadata":{"filename":"f"}}]`),
				[]brief{{"P-CMP-2", "/messages/1/content/0/metadata"}, {"P-CMP-3", "/messages/1/content/1"}}},
		}},
		{"P-CMP-3 one modern part replaces one binary part, and other data is another attachment", []step{
			{message(`[{"type":"image","source":{"type":"data","value":"d"}},{"type":"binary","mimeType":"image/png","data":"d"},{"type":"binary","mimeType":"image/png","data":"d"},{"type":"binary","mimeType":"image/png","url":"d"}]`),
				message(`[{"type":"image","source":{"type":"data","value":"d"}},{"type":"image","source":{"type":"data","value":"d","mimeType":"image/png"}},{"type":"image","source":{"type":"url","value":"d","mimeType":"image/png"}}]`),
				[]brief{{"P-CMP-3", "/messages/1/content/1"}, {"P-CMP-3", "/messages/1/content/2"}, {"P-CMP-3", "/messages/1/content/3"}}},
		}},
		{"P-CMP-3 what only looks like a binary part stays", []step{
			{message(`[{"type":"binary","text":"hello"},{"type":"binary","mimeType":1},"binary",{"type":"text","text":"binary"}]`), "", nil},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fromText, fromValue := new(Upgrader), new(Upgrader)
			for _, s := range tc.steps {
				f := mustFrame(t, s.in)
				got := fromText.Upgrade(f).(Frame)
				v, err := FrameOf(f.Value())
				require.NoError(t, err)
				other := fromValue.Upgrade(v).(Frame)
				assert.Equal(t, string(got.Value().AppendJSON(nil)), string(other.Value().AppendJSON(nil)), "it does not matter what the frame was made from")
				assert.Equal(t, got.Warnings(), other.Warnings())
				assert.Equal(t, s.warnings, briefs(got.Warnings()))
				for _, w := range got.Warnings() {
					assert.Equal(t, f.TypeName(), w.Type)
					assert.NotEmpty(t, w.Text)
				}
				if s.out == "" {
					assert.Equal(t, f, got)
					continue
				}
				want, err := state.Parse([]byte(s.out))
				require.NoError(t, err)
				assert.Equal(t, want.String(), got.Value().String())
			}
		})
	}
}

func TestUpgradeThenEnforce(t *testing.T) {
	u, d := new(Upgrader), NewDecoder(nil)
	u.Upgrade(mustFrame(t, started))

	f := u.Upgrade(mustFrame(t, `{"type":"THINKING_START","title":"Working"}`)).(Frame)
	ev, warnings, err := d.Decode(f)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, &ReasoningStart{MessageID: "r-thinking-1"}, ev)
	require.Len(t, f.Warnings(), 2)
	assert.Equal(t, "P-CMP-1 THINKING_START: a retired type, converted to REASONING_START", f.Warnings()[0].String())
	assert.Equal(t, `P-CMP-1 THINKING_START /title: the title "Working" is lost: REASONING_START has none`, f.Warnings()[1].String())
	odd := new(Upgrader).Upgrade(mustFrame(t, `{"type":"THINKING_START","title":["x"]}`)).(Frame)
	assert.Contains(t, odd.Warnings()[1].Text, `"[\"x\"]"`)

	f = u.Upgrade(mustFrame(t, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"binary","mimeType":"m","id":"i"}]}`)).(Frame)
	ev, warnings, err = d.Decode(f)
	require.NoError(t, err)
	assert.Equal(t, []brief{{"P-CMP-3", "/content/0"}}, briefs(f.Warnings()))
	assert.Equal(t, []brief{{"P-ENF-3", "/content/0"}}, briefs(warnings), "P-CMP-3 enforcement drops what could not be converted")
	assert.Equal(t, messages.Parts([]messages.Part{}...), ev.(*ToolCallResult).Content)
}

func TestUpgradeTypedEvents(t *testing.T) {
	u := new(Upgrader)
	start := &RunStarted{ThreadID: "t", RunID: "r"}
	assert.Same(t, start, u.Upgrade(start))
	for _, tc := range []struct {
		in   Event
		want string
	}{
		{&retired{typ: TypeThinkingStart, title: messages.Some("x")}, `{"type":"REASONING_START","messageId":"r-thinking-1"}`},
		{&retired{typ: TypeThinkingEnd}, `{"type":"REASONING_END","messageId":"r-thinking-1"}`},
		{&TextMessageEnd{Base: Base{RawEvent: state.Null()}, MessageID: "m"}, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`},
		{&RunFinished{Result: state.Null()}, `{"type":"RUN_FINISHED","threadId":"","runId":""}`},
		{&SubagentFinished{Attribution: By(messages.SubagentOwner("s")), Result: state.Null()}, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`},
		{&RunStarted{RunID: "q", Input: &RunInput{ForwardedProps: state.Null()}}, `{"type":"RUN_STARTED","threadId":"","runId":"q","input":{"threadId":"","runId":"","messages":[]}}`},
	} {
		f, ok := u.Upgrade(tc.in).(Frame)
		require.True(t, ok, tc.want)
		assert.Equal(t, tc.want, string(f.Data()))
		assert.NotEmpty(t, f.Warnings())
	}
	same := &RunStarted{RunID: "q", Input: &RunInput{}}
	assert.Same(t, same, u.Upgrade(same))
}

func TestUpgradeInput(t *testing.T) {
	old, err := state.Parse([]byte(`{"forwardedProps":null,"messages":[{"content":[{"type":"binary","mimeType":"image/png","url":"u"}]}]}`))
	require.NoError(t, err)
	got, warnings := UpgradeInput(old)
	assert.Equal(t, `{"messages":[{"content":[{"type":"image","source":{"type":"url","value":"u","mimeType":"image/png"}}]}]}`, got.String())
	assert.Equal(t, []brief{{"P-CMP-3", "/messages/0/content/0"}, {"P-CMP-2", "/forwardedProps"}}, briefs(warnings))
	assert.Equal(t, "RunAgentInput", warnings[0].Type)

	same, warnings := UpgradeInput(got)
	assert.True(t, state.Same(got, same))
	assert.Empty(t, warnings)
	same, _ = UpgradeInput(state.Null())
	assert.True(t, state.Same(state.Null(), same))
}

func TestUpgradeStream(t *testing.T) {
	boom := errors.New("boom")
	released := false
	source := func(yield func(Event, error) bool) {
		defer func() { released = true }()
		for _, text := range []string{started, `{"type":"THINKING_START"}`} {
			if !yield(mustFrame(t, text), nil) {
				return
			}
		}
		yield(nil, boom)
	}
	var names []string
	var last error
	for ev, err := range Upgrade(source) {
		if last = err; err == nil {
			names = append(names, ev.Type().String())
		}
	}
	assert.Equal(t, "RUN_STARTED REASONING_START", strings.Join(names, " "))
	assert.ErrorIs(t, last, boom)

	released = false
	for range Upgrade(source) {
		break
	}
	assert.True(t, released, "breaking off releases the source")
	next, stop := iter.Pull2(Upgrade(source))
	next()
	ev, _, _ := next()
	stop()
	assert.Equal(t, `{"type":"REASONING_START","messageId":"r-thinking-1"}`, string(jsonOf(ev)), "a second pass counts from the start")
}

func TestUpgradeOfModernEventsAllocatesNothing(t *testing.T) {
	u := new(Upgrader)
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":"hi"}]}`,
	} {
		var ev Event = mustFrame(t, text)
		assert.Zero(t, testing.AllocsPerRun(100, func() { u.Upgrade(ev) }))
	}
	var typed Event = &TextMessageContent{MessageID: "m"}
	assert.Zero(t, testing.AllocsPerRun(100, func() { u.Upgrade(typed) }))
}

func TestUpgraderFollows(t *testing.T) {
	history := []*messages.Message{
		{ID: "r-thinking-3", Role: messages.RoleReasoning}, {ID: "r-thinking-2", Role: messages.RoleReasoning},
		{ID: "q-thinking-8", Role: messages.RoleReasoning}, {ID: "r-thinking-9", Role: messages.RoleAssistant},
	}
	ranged := 0
	u := new(Upgrader)
	u.Follow(func(yield func(int, *messages.Message) bool) {
		ranged++
		for i, m := range history {
			if !yield(i, m) {
				return
			}
		}
	})
	u.Upgrade(&RunStarted{ThreadID: "t", RunID: "r"})
	u.Upgrade(&ReasoningMessageStart{MessageID: "r-thinking-4"})
	assert.Zero(t, ranged, "nothing is looked for before it is needed")
	for _, want := range []string{"r-thinking-5", "r-thinking-6"} {
		id, _ := u.Upgrade(&retired{typ: TypeThinkingStart}).(Frame).Value().Get("messageId").AsString()
		assert.Equal(t, want, id, "D-3 no id of the thread's is minted")
	}
	assert.Equal(t, 1, ranged)
}
