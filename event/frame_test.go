package event

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewFrame(t *testing.T) {
	nested := func(depth int) string {
		return `{"type":"RAW","event":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
	}
	for _, tc := range []struct{ name, in, found string }{
		{"nothing", "", "nothing"},
		{"white space", " \n", "nothing"},
		{"no JSON", "<html>", `<html> (invalid JSON at byte 0: unexpected '<', a value expected)`},
		{"a scalar", "42", "42"},
		{"null", "null", "null"},
		{"an array", `[{"type":"RAW"}]`, `[{"type":"RAW"}]`},
		{"a cut object", `{"type":"RAW"`, `{"type":"RAW" (invalid JSON at byte 13: unexpected end, a comma or } expected)`},
		{"a cut string", `{"type":"RAW`, `{"type":"RAW (invalid JSON at byte 12: unexpected end in string)`},
		{"no colon", `{"type"}`, "{\"type\"} (invalid JSON at byte 7: unexpected '}', a colon expected)"},
		{"a key that is not a string", `{type:"RAW"}`, "{type:\"RAW\"} (invalid JSON at byte 1: unexpected 't', a member name expected)"},
		{"a comma too many", `{"type":"RAW",}`, "{\"type\":\"RAW\",} (invalid JSON at byte 14: unexpected '}', a member name expected)"},
		{"trailing garbage", `{"type":"RAW"} x`, `{"type":"RAW"} x (more after it, at byte 15)`},
		{"two objects", `{"type":"RAW"}{"type":"RAW"}`, `{"type":"RAW"}{"type":"RAW"} (more after it, at byte 14)`},
		{"an empty object", `{}`, "{} (no type)"},
		{"no type", `{"Type":"RAW","x":{"type":"RAW"}}`, `{"Type":"RAW","x":{"type":"RAW"}} (no type, but there is "Type")`},
		{"a type that is not a string", `{"type":1}`, `{"type":1} (a type that is not a string)`},
		{"a null type", `{"type":null}`, `{"type":null} (a type that is null)`},
		{"an empty type", `{"type":""}`, `{"type":""} (an empty type)`},
		{"a last type that is not a string", `{"type":"RAW","type":[]}`, `{"type":"RAW","type":[]} (a type that is not a string)`},
		{"containers beyond the depth limit", nested(state.DefaultMaxDepth), nested(state.DefaultMaxDepth)[:80] + "… (invalid JSON at byte 533: nested too deeply)"},
	} {
		t.Run("P-PIPE-2 "+tc.name, func(t *testing.T) {
			f, err := NewFrame([]byte(tc.in))
			assert.Equal(t, Frame{}, f)
			require.Equal(t, err, new(Framer).Frame([]byte(tc.in)).Err())
			assert.ErrorAs(t, err, new(*messages.MalformedError))
			assert.Equal(t, &messages.MalformedError{Rule: "P-PIPE-2", Want: "one JSON object with a non-empty string type", Found: tc.found}, err)
		})
	}
	for _, tc := range []struct {
		name, in, typeName string
		typ                Type
	}{
		{"any non-empty string is a type", `{"type":"FUTURE_EVENT"}`, "FUTURE_EVENT", TypeUnknown},
		{"white space around the object", "\t{ \"type\" :\r\n \"RAW\" } \n", "RAW", TypeRaw},
		{"if there are two types, the last counts", `{"type":1,"type":"RAW"}`, "RAW", TypeRaw},
		{"an escaped type is the type", `{"\u0074\u0079\u0070\u0065":"\u0052A\u0057"}`, "RAW", TypeRaw},
		{"nothing else is judged", `{"type":"RUN_STARTED","threadId":{}}`, "RUN_STARTED", TypeRunStarted},
		{"bytes that are not UTF-8 pass", "{\"type\":\"X\xff\"}", "X\uFFFD", TypeUnknown},
		{"containers up to the depth limit", nested(state.DefaultMaxDepth - 1), "RAW", TypeRaw},
	} {
		t.Run("P-PIPE-2 "+tc.name, func(t *testing.T) {
			f, err := NewFrame([]byte(tc.in))
			require.NoError(t, err)
			assert.Equal(t, tc.typeName, f.TypeName())
			assert.Equal(t, tc.typ, f.Type())
			assert.Equal(t, tc.in, string(f.Data()))
			assert.Equal(t, tc.in, string(jsonOf(f)))
			name, _ := f.Value().Get("type").AsString()
			assert.Equal(t, tc.typeName, name)
		})
	}
}

func TestMalformedFrames(t *testing.T) {
	for _, text := range []string{"[DONE]", "null", `{"a":1}`, "a\xff", strings.Repeat("x", maxBlockText+1)} {
		f := new(Framer).Frame([]byte(text))
		_, want := NewFrame([]byte(text))
		require.Error(t, want)
		assert.Equal(t, want, f.Err())
		ev, warnings, err := NewDecoder(nil).Decode(f)
		assert.Nil(t, ev)
		assert.Empty(t, warnings)
		assert.Equal(t, want, err, "P-PIPE-2 enforcement rejects it")
		assert.Equal(t, text, string(f.Data()))
		assert.Equal(t, TypeUnknown, f.Type())
		assert.Empty(t, f.TypeName())
		assert.False(t, f.IsNotice())
		assert.False(t, f.Value().Exists())
		assert.Equal(t, f, f.With("type", state.String("RAW")), "it does not become an event")
		assert.Equal(t, f, f.With("a", state.Value{}))
		assert.Equal(t, f, new(Upgrader).Upgrade(f))
		assert.Equal(t, messages.Owner{}, f.Owner())
		quoted, err := json.Marshal(f)
		require.NoError(t, err)
		assert.Equal(t, byte('"'), quoted[0])
		noted := f.WithWarnings(Warning{Rule: "P-ENF-1"})
		assert.Equal(t, want, noted.Err())
		assert.Len(t, noted.Warnings(), 1)
	}
	assert.NoError(t, Notice().Err())
	assert.Error(t, Frame{}.Err())
}

func TestNewFrameKeepsItsText(t *testing.T) {
	data := []byte(`{"type":"RAW","event":1}`)
	f, err := NewFrame(data)
	require.NoError(t, err)
	assert.Same(t, &data[0], &f.Data()[0])
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = NewFrame(data) }), 1.0)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		f, _ := NewFrame(data)
		var ev Event = f
		_ = ev.Type()
	}), 1.0, "a Frame fits into an Event")
}

func TestFrameOf(t *testing.T) {
	v := state.Object(state.Member{Key: "type", Value: state.String("X")}, state.Member{Key: "a", Value: state.Int(1)})
	f, err := FrameOf(v)
	require.NoError(t, err)
	assert.Equal(t, "X", f.TypeName())
	assert.True(t, state.Same(v, f.Value()))
	assert.Equal(t, `{"type":"X","a":1}`, string(f.Data()))
	marshaled, err := json.Marshal(f)
	require.NoError(t, err)
	assert.Equal(t, `{"type":"X","a":1}`, string(marshaled))
	for _, bad := range []state.Value{{}, state.Null(), state.Object(), v.With("type", state.Int(1)), v.With("type", state.String(""))} {
		_, err := FrameOf(bad)
		assert.ErrorAs(t, err, new(*messages.MalformedError), bad)
	}
}

func TestFrameEdits(t *testing.T) {
	f := mustFrame(t, `{"type":"RAW","event":1,"source":"s"}`).WithWarnings(Warning{Rule: "P-1"})
	assert.Equal(t, `{"type":"RAW","event":2,"source":"s"}`, string(f.With("event", state.Int(2)).Data()))
	assert.Equal(t, `{"type":"RAW","event":1,"source":"s","x":null}`, string(f.With("x", state.Null()).Data()))
	assert.Equal(t, `{"type":"RAW","event":1}`, string(f.With("source", state.Value{}).Data()))
	assert.Equal(t, TypeCustom, f.With("type", state.String("CUSTOM")).Type())
	assert.Equal(t, `{"type":"RAW","event":1,"source":"s"}`, string(f.Data()), "the old frame stays as it is")
	assert.Equal(t, f.Warnings(), f.With("source", state.Value{}).Warnings(), "notes travel on")

	assert.Equal(t, f, f.With("type", state.Value{}), "a frame always has a type")
	assert.Equal(t, f, f.With("type", state.Null()))
	assert.Equal(t, Frame{}, Frame{}.With("a", state.Null()))
	assert.Equal(t, Notice(), Notice().With("a", state.Value{}))
}

func TestFrameOwner(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want messages.Owner
	}{
		{`{"type":"RAW","subagentRunId":"s"}`, messages.SubagentOwner("s")},
		{`{"type":"RAW","subagentRunId":""}`, messages.SubagentOwner("")},
		{`{"subagentRunId":"a\n","x":{"subagentRunId":"no"},"type":"RAW"}`, messages.SubagentOwner("a\n")},
		{`{"type":"RAW","subagentRunId":"first","subagentRunId":"last"}`, messages.SubagentOwner("last")},
		{`{"type":"RAW"}`, messages.Owner{}},
		{`{"type":"RAW","subagentRunId":null}`, messages.Owner{}},
		{`{"type":"RAW","subagentRunId":{}}`, messages.Owner{}},
		{`{"type":"RUN_STARTED","subagentRunId":"s"}`, messages.Owner{}},
		{`{"type":"FUTURE","subagentRunId":"s"}`, messages.Owner{}},
	} {
		assert.Equal(t, tc.want, mustFrame(t, tc.in).Owner(), tc.in)
	}
}

func TestNotesTravel(t *testing.T) {
	one, two := Warning{Rule: "P-1", Text: "one"}, Warning{Rule: "P-2", Text: "two"}
	f := mustFrame(t, `{"type":"RAW","event":1,"x":1}`)
	noted := f.WithWarnings(one).WithWarnings(two).WithWarnings()
	assert.Empty(t, f.Warnings())
	assert.Equal(t, []Warning{one, two}, noted.Warnings())
	_, warnings, err := NewDecoder(nil).Decode(noted)
	require.NoError(t, err)
	assert.Equal(t, []brief{{"P-ENF-2", "/x"}}, briefs(warnings), "decoding warns about what it finds, and of that only")

	hot := mustFrame(t, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`).WithWarnings(one)
	ev, warnings, err := NewDecoder(&DecodeOptions{Strict: true}).Decode(hot)
	assert.NoError(t, err, "P-ENF-7 is about what enforcement finds, not about notes")
	assert.NotNil(t, ev)
	assert.Empty(t, warnings)
}

func TestNotice(t *testing.T) {
	ws := []Warning{{Rule: "P-1"}}
	n := Notice(ws...)
	ws[0].Rule = "changed"
	ev, warnings, err := NewDecoder(nil).Decode(n)
	assert.NoError(t, err)
	assert.Nil(t, ev)
	assert.Empty(t, warnings)
	assert.Equal(t, []Warning{{Rule: "P-1"}}, n.Warnings())
	assert.True(t, n.IsNotice())
	assert.Empty(t, n.TypeName())
	assert.Nil(t, n.Data())
	assert.False(t, n.Value().Exists())
	assert.Equal(t, "null", string(jsonOf(n)))
	assert.Equal(t, n, new(Upgrader).Upgrade(n))
}

func TestZeroFrame(t *testing.T) {
	var f Frame
	assert.Equal(t, TypeUnknown, f.Type())
	assert.Empty(t, f.TypeName())
	assert.Nil(t, f.Data())
	assert.False(t, f.Value().Exists())
	assert.False(t, f.IsNotice())
	assert.True(t, f.Owner().IsParent())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, f, f.WithWarnings(Warning{}))
	assert.Equal(t, "null", string(jsonOf(f)))
	_, _, err := NewDecoder(nil).Decode(f)
	assert.ErrorAs(t, err, new(*messages.MalformedError))
}

func TestFrameOfEvent(t *testing.T) {
	f := mustFrame(t, `{"type":"RAW","event":1}`)
	assert.Equal(t, f, FrameOfEvent(f), "a frame comes back as it is")
	assert.Equal(t, Frame{}, FrameOfEvent(nil))
	assert.Equal(t, Frame{}, FrameOfEvent((*StepStarted)(nil)))
	g := FrameOfEvent(&StepStarted{Attribution: By(messages.SubagentOwner("s")), StepName: "n"})
	assert.Equal(t, `{"type":"STEP_STARTED","stepName":"n","subagentRunId":"s"}`, string(g.Data()))
	assert.Equal(t, messages.SubagentOwner("s"), g.Owner())
}
