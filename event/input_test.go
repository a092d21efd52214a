package event

import (
	"encoding/json"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestRunInputJSON(t *testing.T) {
	const minimal = `{"threadId":"t","runId":"r","messages":[]}`
	for _, text := range []string{minimal, fullInput} {
		in, warnings, err := DecodeRunInput(parse(t, text), &DecodeOptions{Strict: true})
		require.NoError(t, err)
		assert.Empty(t, warnings)
		assert.Equal(t, text, string(in.AppendJSON(nil)))
		marshaled, err := json.Marshal(in)
		require.NoError(t, err)
		var again RunInput
		require.NoError(t, json.Unmarshal(marshaled, &again))
		assert.Equal(t, in, &again)
	}
	in, _, err := DecodeRunInput(parse(t, minimal), nil)
	require.NoError(t, err)
	assert.Equal(t, &RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{}}, in, "what is absent is nil")
	in, _, err = DecodeRunInput(parse(t, `{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"resume":[]}`), nil)
	require.NoError(t, err)
	assert.NotNil(t, in.Tools)
	assert.Equal(t, `{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"resume":[]}`, string(in.AppendJSON(nil)), "empty is not absent")

	assert.Equal(t, `{"threadId":"","runId":"","messages":[]}`, string((&RunInput{}).AppendJSON(nil)))
	assert.Equal(t, "null", string((*RunInput)(nil).AppendJSON(nil)))
}

func TestDecodeRunInputJudges(t *testing.T) {
	const unknown = `{"threadId":"t","runId":"r","x":1,"messages":[{"role":"narrator"}],"tools":[{"name":"n","description":"d","strict":true}],"resume":[{"interruptId":"i","status":"expired"}]}`
	in, warnings, err := DecodeRunInput(parse(t, unknown), nil)
	require.NoError(t, err)
	assert.Equal(t, []brief{{"P-ENF-3", "/messages/0"}, {"P-ENF-2", "/tools/0/strict"}, {"P-ENF-5", "/resume/0"}, {"P-ENF-2", "/x"}}, briefs(warnings))
	assert.Equal(t, "RunAgentInput", warnings[0].Type)
	assert.Equal(t, `{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"n","description":"d"}],"resume":[]}`, string(in.AppendJSON(nil)))

	_, _, err = DecodeRunInput(parse(t, unknown), &DecodeOptions{Strict: true})
	assert.EqualError(t, err, `P-ENF-7 RunAgentInput /messages/0: want only what AG-UI 1.0 describes, found unrecognized material: /role is "narrator", which is not recognized`)

	for _, bad := range []string{`42`, `{}`, `{"threadId":"t","runId":"r"}`, `{"threadId":"t","runId":"r","messages":[],"protocolVersion":null}`} {
		in, _, err := DecodeRunInput(parse(t, bad), nil)
		assert.ErrorAs(t, err, new(*messages.MalformedError), bad)
		assert.Nil(t, in)
		var kept RunInput
		kept.RunID = "kept"
		assert.ErrorAs(t, kept.UnmarshalJSON([]byte(bad)), new(*messages.MalformedError))
		assert.Equal(t, RunInput{RunID: "kept"}, kept)
	}
	_, _, err = DecodeRunInput(state.Value{}, nil)
	assert.EqualError(t, err, "P-ENF-4 RunAgentInput: want an object, found nothing")
}

func TestEnforceOutgoing(t *testing.T) {
	part := messages.Part{Type: "hologram"}
	out := &RunInput{
		ThreadID: "t", RunID: "r",
		Messages: []*messages.Message{
			{ID: "1", Role: "narrator"},
			{ID: "2", Role: messages.RoleUser, Content: messages.Parts(messages.TextPart("hi"), part)},
		},
		State: state.Null(),
	}
	before := string(out.AppendJSON(nil))
	t.Run("P-ENF-6 unknown material is removed with a warning", func(t *testing.T) {
		sent, warnings, err := out.Enforce()
		require.NoError(t, err)
		assert.Equal(t, []brief{{"P-ENF-3", "/messages/0"}, {"P-ENF-3", "/messages/1/content/1"}}, briefs(warnings))
		assert.Equal(t, `{"threadId":"t","runId":"r","messages":[{"id":"2","role":"user","content":[{"type":"text","text":"hi"}]}]}`, string(sent.AppendJSON(nil)))
		assert.Equal(t, before, string(out.AppendJSON(nil)), "the input stays as it is")
	})
	for _, tc := range []struct {
		name, path string
		in         *RunInput
	}{
		{"a nil input", "", nil},
		{"a nil message", "/messages/0", &RunInput{Messages: []*messages.Message{nil}}},
		{"a message without content", "/messages/0/content", &RunInput{Messages: []*messages.Message{{Role: messages.RoleTool}}}},
		{"null parameters", "/tools/0/parameters", &RunInput{Tools: []Tool{{Parameters: state.Null()}}}},
		{"null payload", "/resume/0/payload", &RunInput{Resume: []ResumeEntry{{Status: ResumeResolved, Payload: state.Null()}}}},
	} {
		t.Run("P-ENF-6 malformed material is an error: "+tc.name, func(t *testing.T) {
			sent, _, err := tc.in.Enforce()
			assert.Nil(t, sent)
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.Equal(t, "P-ENF-4", malformed.Rule)
			assert.Equal(t, tc.path, malformed.Path)
		})
	}
	t.Run("P-ENF-6 so is a value that nests too deeply", func(t *testing.T) {
		deep := state.Array()
		for range state.DefaultMaxDepth {
			deep = state.Array(deep)
		}
		_, _, err := (&RunInput{State: deep}).Enforce()
		assert.ErrorAs(t, err, new(*messages.MalformedError))
	})
}

func TestPartsOfRunsJSON(t *testing.T) {
	type document interface {
		json.Marshaler
		json.Unmarshaler
	}
	pair := func(v document, marshal func() []byte) func(string) (string, error) {
		return func(text string) (string, error) {
			err := v.UnmarshalJSON([]byte(text))
			return string(marshal()), err
		}
	}
	var (
		tool  Tool
		entry ResumeEntry
		in    Interrupt
		out   Outcome
	)
	for _, tc := range []struct {
		name      string
		roundTrip func(string) (string, error)
		good      []string
		bad       []string
	}{
		{"Tool", pair(&tool, func() []byte { return jsonOf(tool) }),
			[]string{`{"name":"n","description":"d","parameters":{"type":"object"},"metadata":{}}`, `{"name":"","description":""}`},
			[]string{`null`, `{"name":"n"}`}},
		{"ResumeEntry", pair(&entry, func() []byte { return jsonOf(entry) }),
			[]string{`{"interruptId":"i","status":"cancelled","payload":0,"metadata":{}}`},
			[]string{`{"interruptId":"i","status":"expired"}`, `{"interruptId":"i"}`}},
		{"Interrupt", pair(&in, func() []byte { return jsonOf(in) }),
			[]string{`{"id":"i","reason":"r","message":"m","toolCallId":"c","responseSchema":{},"expiresAt":"e","subagentRunId":"s","metadata":{}}`},
			[]string{`{"id":"i"}`, `[]`}},
		{"RunFinishedOutcome", pair(&out, func() []byte { return jsonOf(out) }),
			[]string{`{"type":"success"}`, `{"type":"success","pendingToolCallIds":[]}`, `{"type":"cancelled"}`, `{"type":"interrupt","interrupts":[{"id":"i","reason":"r"}]}`},
			[]string{`{"type":"paused"}`, `{"type":"interrupt"}`, `null`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			last := ""
			for _, text := range tc.good {
				got, err := tc.roundTrip(text)
				require.NoError(t, err)
				assert.Equal(t, text, got)
				last = text
			}
			for _, text := range tc.bad {
				got, err := tc.roundTrip(text)
				var malformed *messages.MalformedError
				require.ErrorAs(t, err, &malformed, text)
				assert.Equal(t, tc.name, malformed.Type)
				assert.Equal(t, last, got, "on an error the value stays as it was")
			}
			_, err := tc.roundTrip(`{`)
			assert.ErrorAs(t, err, new(*state.SyntaxError))
		})
	}
	assert.Equal(t, "null", string(jsonOf(Outcome{})))
	assert.True(t, Outcome{}.absent() && SubagentOutcome{}.absent())
}
