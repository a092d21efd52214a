package messages

import (
	"encoding/json"
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessageJSON(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{"developer", `{"id":"1","role":"developer","subagentRunId":"s","content":"c","name":"n","encryptedValue":"e","metadata":{"k":null}}`},
		{"system, no more than it must hold", `{"id":"","role":"system","content":""}`},
		{"assistant without anything", `{"id":"1","role":"assistant"}`},
		{"assistant with empty content", `{"id":"1","role":"assistant","subagentRunId":"","content":""}`},
		{"assistant", `{"id":"1","role":"assistant","content":"c","name":"n","toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"},"encryptedValue":"e","metadata":{}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}],"encryptedValue":"e","metadata":{}}`},
		{"user with text", `{"id":"1","role":"user","content":"c","name":"n","encryptedValue":"e"}`},
		{"user with parts", `{"id":"1","role":"user","content":[{"type":"text","id":"p","text":"t","metadata":{}},{"type":"image","source":{"type":"data","value":"v","mimeType":"m"}},{"type":"audio","id":"","source":{"type":"url","value":"v","mimeType":"m"}},{"type":"video","source":{"type":"url","value":"v"}},{"type":"document","source":{"type":"file","value":"v","mimeType":"m","provider":"p"},"metadata":{"k":1}}]}`},
		{"tool", `{"id":"1","role":"tool","content":[],"toolCallId":"c","error":"","encryptedValue":"e","metadata":{}}`},
		{"activity", `{"id":"1","role":"activity","subagentRunId":"s","activityType":"a","content":{"x":[1.0]},"metadata":{}}`},
		{"reasoning", `{"id":"1","role":"reasoning","content":"c","encryptedValue":"e","metadata":{}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var m Message
			require.NoError(t, json.Unmarshal([]byte(tc.text), &m))
			assert.Equal(t, tc.text, string(m.AppendJSON(nil)))
			marshaled, err := json.Marshal(&m)
			require.NoError(t, err)
			assert.Equal(t, tc.text, string(marshaled))
		})
	}
}

func TestMessageEncodesTheShapeOfItsRole(t *testing.T) {
	m := Message{
		ID: "1", Name: Some("n"), Content: Text("c"), ToolCalls: NewList(&ToolCall{ID: "t", Status: ToolCallStreaming}),
		ToolCallID: "x", Error: Some("e"), ActivityType: "a", Activity: state.Object(), EncryptedValue: Some("v"),
	}
	for role, want := range map[Role]string{
		RoleUser:      `{"id":"1","role":"user","content":"c","name":"n","encryptedValue":"v"}`,
		RoleAssistant: `{"id":"1","role":"assistant","content":"c","name":"n","toolCalls":[{"id":"t","type":"function","function":{"name":"","arguments":""}}],"encryptedValue":"v"}`,
		RoleTool:      `{"id":"1","role":"tool","content":"c","toolCallId":"x","error":"e","encryptedValue":"v"}`,
		RoleActivity:  `{"id":"1","role":"activity","activityType":"a","content":{}}`,
		RoleReasoning: `{"id":"1","role":"reasoning","content":"c","encryptedValue":"v"}`,
	} {
		m.Role = role
		assert.Equal(t, want, string(m.AppendJSON(nil)))
	}
	m.Role, m.ToolCalls = RoleAssistant, List[*ToolCall]{}
	assert.NotContains(t, string(m.AppendJSON(nil)), "toolCalls", "no calls, no member")
	assert.Equal(t, "null", string((*Message)(nil).AppendJSON(nil)))
	text, err := json.Marshal([]any{(*Message)(nil), (*ToolCall)(nil)})
	require.NoError(t, err)
	assert.Equal(t, "[null,null]", string(text))
}

func TestMessageUnmarshalRejects(t *testing.T) {
	for _, tc := range []struct{ name, in, path, want, found string }{
		{"no object", `[]`, "", "an object", "array"},
		{"no role", `{"id":"1"}`, "/role", "a string", "nothing"},
		{"an unknown role", `{"id":"1","role":"narrator"}`, "/role", "one of the seven roles", `"narrator"`},
		{"no content", `{"id":"1","role":"user"}`, "/content", "a string or an array of content parts", "nothing"},
		{"null metadata", `{"id":"1","role":"system","content":"","metadata":null}`, "/metadata", "an object or no such member", "null"},
		{"an activity whose content is not an object", `{"id":"1","role":"activity","activityType":"a","content":"x"}`, "/content", "an object", "string"},
		{"an invalid tool call", `{"id":"1","role":"assistant","toolCalls":[42]}`, "/toolCalls/0", "an object", "number 42"},
	} {
		t.Run("P-ENF-4 "+tc.name, func(t *testing.T) {
			m := Message{ID: "kept"}
			err := m.UnmarshalJSON([]byte(tc.in))
			assert.Equal(t, &MalformedError{Rule: "P-ENF-4", Type: "Message", Path: tc.path, Want: tc.want, Found: tc.found}, err)
			assert.ErrorAs(t, err, new(*MalformedError))
			assert.Equal(t, Message{ID: "kept"}, m, "on an error the message stays as it was")
		})
	}
	assert.ErrorAs(t, new(Message).UnmarshalJSON([]byte(`{`)), new(*state.SyntaxError))
}

func TestMessageUnmarshalLeavesOutTheUnrecognized(t *testing.T) {
	var m Message
	require.NoError(t, m.UnmarshalJSON([]byte(`{"id":"1","role":"user","x":1,"content":[{"type":"hologram"},{"type":"text","text":"t","y":2},{"type":"image","source":{"type":"quantum"}}]}`)))
	assert.Equal(t, `{"id":"1","role":"user","content":[{"type":"text","text":"t"}]}`, string(m.AppendJSON(nil)))
}

func TestMakingMessages(t *testing.T) {
	assert.Equal(t, `{"id":"","role":"user","content":"hi"}`, string(UserText("hi").AppendJSON(nil)))
	assert.Equal(t, `{"id":"","role":"user","content":[{"type":"text","text":"hi"}]}`, string(UserParts(TextPart("hi")).AppendJSON(nil)))
	assert.Equal(t, `{"id":"","role":"system","content":"hi"}`, string(SystemText("hi").AppendJSON(nil)))
	assert.Equal(t, `{"id":"","role":"developer","content":"hi"}`, string(DeveloperText("hi").AppendJSON(nil)))
	assert.Equal(t, `{"id":"","role":"assistant","content":"hi"}`, string(AssistantText("hi").AppendJSON(nil)))
	assert.Equal(t, `{"id":"","role":"tool","content":"42","toolCallId":"c"}`, string(ToolResult("c", "42").AppendJSON(nil)))
	assert.Equal(t, "hi", UserParts(TextPart("hi")).Text())
	assert.Equal(t, "", (&Message{Role: RoleActivity, Activity: state.Object()}).Text())
}

// FuzzMessage: nothing panics, and what decodes encodes to something that decodes to the same.
func FuzzMessage(f *testing.F) {
	for _, text := range []string{
		`{"id":"1","role":"assistant","content":"c","toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		`{"id":"1","role":"user","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"url","value":"u"},"metadata":{}}]}`,
		`{"id":"1","role":"activity","activityType":"a","content":{"x":null}}`,
		`{"id":"1","role":"tool","content":[],"toolCallId":"c","x":1}`,
		`{"id":"\ud83d","role":"reasoning","content":"c"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again Message
		if m.UnmarshalJSON(data) != nil {
			return
		}
		require.NotEqual(t, KindNone, m.Kind())
		text := m.AppendJSON(nil)
		require.NoError(t, again.UnmarshalJSON(text))
		require.Equal(t, string(text), string(again.AppendJSON(nil)))
	})
}

// jsonOf returns the JSON text of v.
func jsonOf(v json.Marshaler) []byte {
	text, err := v.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return text
}
