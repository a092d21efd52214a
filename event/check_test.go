package event

import (
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckRejects(t *testing.T) {
	user := func(content messages.Content) *MessagesSnapshot {
		return &MessagesSnapshot{Messages: []*messages.Message{{ID: "1", Role: messages.RoleUser, Content: content}}}
	}
	for _, tc := range []struct {
		name       string
		ev         Event
		rule, path string
	}{
		{"a role that no text message has", &TextMessageStart{MessageID: "m", Role: messages.RoleTool}, "P-ENF-5", "/role"},
		{"an unknown role of a chunk", &TextMessageChunk{Role: "narrator"}, "P-ENF-5", "/role"},
		{"a tool result with another role", &ToolCallResult{Content: messages.Text(""), Role: messages.RoleUser}, "P-ENF-4", "/role"},
		{"a tool result without content", &ToolCallResult{}, "P-ENF-4", "/content"},
		{"a timestamp out of range", &TextMessageContent{Base: Base{Timestamp: messages.Some[int64](1 << 53)}}, "P-ENF-4", "/timestamp"},
		{"a timestamp below the range", &StepStarted{Base: Base{Timestamp: messages.Some[int64](-1 << 53)}}, "P-ENF-4", "/timestamp"},
		{"P-NULL-1 a null raw event", &ToolCallArgs{Base: Base{RawEvent: state.Null()}}, "P-ENF-4", "/rawEvent"},
		{"P-NULL-1 a null result", &RunFinished{Result: state.Null()}, "P-ENF-4", "/result"},
		{"an absent snapshot", &StateSnapshot{}, "P-ENF-4", "/snapshot"},
		{"an absent raw event of RAW", &Raw{}, "P-ENF-4", "/event"},
		{"an absent custom value", &Custom{}, "P-ENF-4", "/value"},
		{"an activity without content", &ActivitySnapshot{}, "P-ENF-4", "/content"},
		{"an activity whose content is not an object", &ActivitySnapshot{Content: state.Array()}, "P-ENF-4", "/content"},
		{"an unknown operation", &StateDelta{Delta: state.Patch{{Kind: "increment"}}}, "P-ENF-3", "/delta/0"},
		{"an operation without value", &StateDelta{Delta: state.Patch{{Kind: state.OpAdd, Path: ""}}}, "P-ENF-4", "/delta/0/value"},
		{"a path that is not a pointer", &ActivityDelta{Patch: state.Patch{{Kind: state.OpRemove, Path: "a"}}}, "P-ENF-4", "/patch/0/path"},
		{"a from that is not a pointer", &StateDelta{Delta: state.Patch{{Kind: state.OpMove, From: "~"}}}, "P-ENF-4", "/delta/0/from"},
		{"a nil message", &MessagesSnapshot{Messages: []*messages.Message{nil}}, "P-ENF-4", "/messages/0"},
		{"a nil tool call", &MessagesSnapshot{Messages: []*messages.Message{{Role: messages.RoleAssistant, ToolCalls: messages.NewList[*messages.ToolCall](nil)}}}, "P-ENF-4", "/messages/0/toolCalls/0"},
		{"a message without role", &MessagesSnapshot{Messages: []*messages.Message{{}}}, "P-ENF-3", "/messages/0"},
		{"user content that is absent", user(messages.Content{}), "P-ENF-4", "/messages/0/content"},
		{"a part of a new kind", user(messages.Parts(messages.Part{Type: "hologram"})), "P-ENF-3", "/messages/0/content/0"},
		{"a source of a new kind", user(messages.Parts(messages.MediaPart(messages.PartImage, messages.Source{}))), "P-ENF-3", "/messages/0/content/0"},
		{"data without its type", user(messages.Parts(messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceData}))), "P-ENF-4", "/messages/0/content/0/source/mimeType"},
		{"a provider of a URL", user(messages.Parts(messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL, Provider: messages.Some("p")}))), "P-ENF-2", "/messages/0/content/0/source/provider"},
		{"an outcome of a new kind", &RunFinished{Outcome: Outcome{Type: "paused"}}, "P-ENF-3", "/outcome"},
		{"an outcome without type", &RunFinished{Outcome: Outcome{Interrupts: []Interrupt{{}}}}, "P-ENF-3", "/outcome"},
		{"an interrupt outcome with none", &RunFinished{Outcome: Outcome{Type: OutcomeInterrupt}}, "P-ENF-4", "/outcome/interrupts"},
		{"a success with interrupts", &RunFinished{Outcome: Outcome{Type: OutcomeSuccess, Interrupts: []Interrupt{{}}}}, "P-ENF-2", "/outcome/interrupts"},
		{"a response schema that is not an object", &RunFinished{Outcome: Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{{ResponseSchema: state.Bool(true)}}}}, "P-ENF-4", "/outcome/interrupts/0/responseSchema"},
		{"a negative count", &RunError{Usage: []TokenUsage{{OutputTokens: messages.Some[int64](-1)}}}, "P-ENF-4", "/usage/0/outputTokens"},
		{"a subagent event of the parent agent", &SubagentStarted{Name: "n"}, "P-ENF-4", "/subagentRunId"},
		{"a subagent's outcome of a new kind", &SubagentFinished{Attribution: By(messages.SubagentOwner("")), Outcome: SubagentOutcome{InterruptIDs: []string{}}}, "P-ENF-3", "/outcome"},
		{"an unknown subtype", &ReasoningEncryptedValue{}, "P-ENF-5", ""},
		{"an input with an unknown status", &RunStarted{Input: &RunInput{Resume: []ResumeEntry{{}}}}, "P-ENF-5", "/input/resume/0"},
		{"P-NULL-1 null parameters", &RunStarted{Input: &RunInput{Tools: []Tool{{Parameters: state.Null()}}}}, "P-ENF-4", "/input/tools/0/parameters"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Check(tc.ev)
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.ErrorAs(t, err, new(*messages.MalformedError))
			assert.Equal(t, tc.rule, malformed.Rule)
			assert.Equal(t, tc.path, malformed.Path)
			assert.Equal(t, tc.ev.Type().String(), malformed.Type)

			if malformed.Rule == "P-ENF-4" { // then it has on the wire the path that it has in Go
				_, _, decoded := NewDecoder(nil).Decode(FrameOfEvent(tc.ev))
				var onWire *messages.MalformedError
				require.ErrorAs(t, decoded, &onWire)
				onWire.Hint = "" // about what producers send
				assert.Equal(t, malformed, onWire)
			}
		})
	}
}

func TestCheckMeasuresDepth(t *testing.T) {
	deep, err := state.Parse([]byte(strings.Repeat("[", state.DefaultMaxDepth) + strings.Repeat("]", state.DefaultMaxDepth)))
	require.NoError(t, err)
	for _, ev := range []Event{
		&StateSnapshot{Snapshot: deep},
		&TextMessageContent{Base: Base{RawEvent: deep}},
		&StepStarted{Base: Base{Metadata: messages.MetadataOf(state.Member{Key: "k", Value: deep})}},
	} {
		var malformed *messages.MalformedError
		require.ErrorAs(t, Check(ev), &malformed)
		assert.Equal(t, "P-PIPE-2", malformed.Rule)
		hasTheVerdictOfTheWire(t, ev)
	}
}

// hasTheVerdictOfTheWire requires that ev is judged in the process as it is on the wire.
func hasTheVerdictOfTheWire(t *testing.T, ev Event) {
	t.Helper()
	_, want := NewFrame(Append(nil, ev))
	require.Error(t, want)
	assert.Equal(t, want, Check(ev))
	assert.Equal(t, want, FrameOfEvent(ev).Err())
	_, _, err := NewDecoder(nil).Decode(FrameOfEvent(ev))
	assert.Equal(t, want, err)
}

func TestCheckCountsValues(t *testing.T) {
	ones := func(n int) state.Value { return state.Array(slices.Repeat([]state.Value{state.Int(1)}, n)...) }
	assert.NoError(t, Check(&Custom{Name: "n", Value: ones(maxValues - 4)}), "with the event, type, name and value")
	for name, ev := range map[string]Event{
		"a value":          &Custom{Name: "n", Value: ones(maxValues - 3)},
		"metadata":         &TextMessageEnd{Base: Base{Metadata: messages.MetadataOf(state.Member{Key: "k", Value: ones(maxValues)})}},
		"messages":         &MessagesSnapshot{Messages: slices.Repeat([]*messages.Message{{Role: messages.RoleUser, Content: messages.Text("")}}, maxValues/4)},
		"operations":       &StateDelta{Delta: slices.Repeat(state.Patch{{Kind: state.OpAdd, Value: ones(997)}}, maxValues/1000)},
		"their extensions": &StateDelta{Delta: state.Patch{{Kind: state.OpRemove, Extra: state.Object(state.Member{Key: "x", Value: ones(maxValues)})}}},
	} {
		t.Run(name, func(t *testing.T) {
			hasTheVerdictOfTheWire(t, ev)
			var malformed *messages.MalformedError
			require.ErrorAs(t, Check(ev), &malformed)
			assert.Equal(t, "P-SSE-2", malformed.Rule)
		})
	}
	f, err := FrameOf(state.Object(state.Member{Key: "type", Value: state.String("RAW")}, state.Member{Key: "event", Value: ones(maxValues)}))
	require.NoError(t, err)
	assert.ErrorContains(t, Check(f), "P-SSE-2")
	in := &RunInput{State: ones(maxValues)}
	_, _, err = in.Enforce()
	assert.ErrorContains(t, err, "P-SSE-2")
	_, _, err = DecodeRunInput(state.Object(state.Member{Key: "state", Value: in.State}), nil)
	assert.ErrorContains(t, err, "P-SSE-2")
}

func TestCheckTakesFrames(t *testing.T) {
	assert.NoError(t, Check(mustFrame(t, `{"type":"FUTURE_EVENT"}`)), "what is dropped is not malformed")
	assert.ErrorAs(t, Check(mustFrame(t, `{"type":"RAW"}`)), new(*messages.MalformedError))
	assert.ErrorAs(t, Check(Frame{}), new(*messages.MalformedError))
	assert.NoError(t, Check(Notice()))
}

// TestCheckAgreesWithDecoding holds the check in place equal to decoding what was encoded.
func TestCheckAgreesWithDecoding(t *testing.T) {
	var events []Event
	for _, typ := range Types() {
		events = append(events, newEvent(typ))
	}
	one, deep := state.Int(1), state.Array()
	for range state.DefaultMaxDepth {
		deep = state.Array(deep)
	}
	patches := []state.Patch{nil, {}}
	for _, kind := range []state.OpKind{state.OpAdd, state.OpRemove, state.OpReplace, state.OpMove, state.OpCopy, state.OpTest, "grow", ""} {
		for _, path := range []string{"", "/a", "a", "/a~2"} {
			for _, v := range []state.Value{{}, one, state.Null(), deep} {
				patches = append(patches, state.Patch{{Kind: kind, Path: path, From: path, Value: v}},
					state.Patch{{Kind: kind, Path: "/a", From: path, Value: v, Extra: state.Object(state.Member{Key: "x", Value: one})}})
			}
		}
	}
	for _, p := range patches {
		events = append(events, &StateDelta{Delta: p}, &ActivityDelta{Patch: p})
	}
	for _, v := range []state.Value{{}, one, state.Null(), state.Object(), deep} {
		events = append(events, &StateSnapshot{Snapshot: v}, &ActivitySnapshot{Content: v}, &Raw{Event: v}, &Custom{Value: v},
			&StepStarted{Base: Base{RawEvent: v}})
	}
	for _, role := range []messages.Role{"", messages.RoleTool, messages.RoleUser, "x"} {
		for _, c := range []messages.Content{{}, messages.Text("x"), messages.Parts(messages.Part{})} {
			events = append(events, &ToolCallResult{Role: role, Content: c})
		}
	}
	for _, base := range []Base{
		{}, {Timestamp: messages.Some[int64](0)}, {Timestamp: messages.Some(codec.MaxInteger)}, {Timestamp: messages.Some(codec.MaxInteger + 1)},
		{Timestamp: messages.Some(-codec.MaxInteger - 1)}, {RawEvent: one}, {RawEvent: state.Null()}, {RawEvent: deep},
		{Metadata: messages.MetadataOf(state.Member{Key: "k", Value: one})}, {Metadata: messages.MetadataOf(state.Member{Key: "k", Value: deep})},
	} {
		for typ, hot := range hotTypes {
			if hot.allowed != 0 {
				ev := newEvent(Type(typ))
				*ev.base() = base
				events = append(events, ev)
			}
		}
		for _, role := range append([]messages.Role{"", messages.RoleTool, "x"}, textRoles...) {
			events = append(events, &TextMessageChunk{Base: base, Role: role})
		}
	}
	sound := 0
	for _, ev := range events {
		_, _, err := NewDecoder(&DecodeOptions{Strict: true}).Decode(FrameOfEvent(ev))
		checked := Check(ev)
		assert.Equal(t, err == nil, checked == nil, "%T %s: %v, %v", ev, jsonOf(ev)[:min(200, len(jsonOf(ev)))], err, checked)
		if err == nil {
			sound++
		}
	}
	assert.Greater(t, sound, 50)
	content := &TextMessageContent{MessageID: "m", Delta: "d"}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = Check(content) }), "checking a content event allocates nothing")
}
