package event

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMalformedSaysWhatIsThere(t *testing.T) {
	for _, tc := range []struct{ name, in, path, found string }{
		{"snake case", `{"type":"TEXT_MESSAGE_END","message_id":"m"}`, "/messageId", `nothing, but there is "message_id"`},
		{"other letter case", `{"type":"TEXT_MESSAGE_END","messageID":"m"}`, "/messageId", `nothing, but there is "messageID"`},
		{"kebab case", `{"type":"TOOL_CALL_END","tool-call-id":"c"}`, "/toolCallId", `nothing, but there is "tool-call-id"`},
		{"a slip", `{"type":"STEP_STARTED","stepNmae":"s"}`, "/stepName", `nothing, but there is "stepNmae"`},
		{"a required open value", `{"type":"STATE_SNAPSHOT","snap_shot":1}`, "/snapshot", `nothing, but there is "snap_shot"`},
		{"a required list", `{"type":"MESSAGES_SNAPSHOT","Messages":[]}`, "/messages", `nothing, but there is "Messages"`},
		{"a required content", `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","Content":"x"}`, "/content", `nothing, but there is "Content"`},
		{"inside", `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"tool","content":"","tool_call_id":"c"}]}`, "/messages/0/toolCallId", `nothing, but there is "tool_call_id"`},
		{"a tag", `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"Type":"success"}}`, "/outcome/type", `nothing, but there is "Type"`},
		{"a described member is not a slip for another", `{"type":"TEXT_MESSAGE_START","name":"n"}`, "/messageId", "nothing"},
		{"nothing like it", `{"type":"TEXT_MESSAGE_END","id":"m"}`, "/messageId", "nothing"},
		{"P-NULL-1 an explicit null", `{"type":"TEXT_MESSAGE_END","messageId":null}`, "/messageId", "null"},
		{"P-NULL-1 an explicit null of an optional member", `{"type":"TEXT_MESSAGE_START","messageId":"m","name":null}`, "/name", "null"},
		{"D-15 an outcome without a tag", `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{}}`, "/outcome/type", "nothing"},
		{"D-15 a part without a tag", `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"text":"x"}]}`, "/content/0/type", "nothing"},
		{"D-15 a tag that is not a string", `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":7}]}`, "/content/0/type", "number 7"},
	} {
		t.Run("P-ENF-4 "+tc.name, func(t *testing.T) {
			_, _, err := NewDecoder(nil).Decode(mustFrame(t, tc.in))
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.Equal(t, tc.path, malformed.Path)
			assert.Equal(t, tc.found, malformed.Found)
		})
	}
	for in, found := range map[string]string{
		`{"Type":"RUN_STARTED"}`:       `no type, but there is "Type"`,
		`{"event_type":"RUN_STARTED"}`: `no type, but there is "event_type"`,
		`{"type":null}`:                "a type that is null",
	} {
		_, err := NewFrame([]byte(in))
		assert.ErrorContains(t, err, found, "P-PIPE-2")
	}
}

func TestWarningsSuggestWhatIsDescribed(t *testing.T) {
	_, warnings, err := NewDecoder(nil).Decode(mustFrame(t, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","parent_message_id":"m"}`))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Equal(t, `removed: the property is not described; "parentMessageId" is`, warnings[0].Text)
	_, warnings, err = NewDecoder(nil).Decode(mustFrame(t, `{"type":"TextMessageStart"}`))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Text, "it knows TEXT_MESSAGE_START")
}

// crowd returns an event with n members or elements of the text.
func crowd(n int, before, each, after string) []byte {
	return []byte(before + strings.Repeat(each+",", n-1) + each + after)
}

func TestWarningsAreBounded(t *testing.T) {
	var members strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&members, `,"x%d":1`, i)
	}
	event := `{"type":"TEXT_MESSAGE_END","messageId":"m"` + members.String() + `}`
	for _, tc := range []struct {
		options *DecodeOptions
		listed  int
	}{{nil, defaultMaxWarnings}, {&DecodeOptions{MaxWarnings: 3}, 3}, {&DecodeOptions{MaxWarnings: -1}, 1000}} {
		_, warnings, err := NewDecoder(tc.options).Decode(mustFrame(t, event))
		require.NoError(t, err)
		if tc.listed < 1000 {
			require.Len(t, warnings, tc.listed+1)
			assert.Equal(t, fmt.Sprintf("%d more were removed, which are not listed", 1000-tc.listed), warnings[tc.listed].Text)
		} else {
			assert.Len(t, warnings, 1000)
		}
	}
	parts := crowd(1000, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[`, `{"type":"hologram"}`, `]}`)
	f, err := NewFrame(parts)
	require.NoError(t, err)
	_, warnings, err := NewDecoder(nil).Decode(f)
	require.NoError(t, err)
	assert.Len(t, warnings, defaultMaxWarnings+1, "elements")

	nulls := crowd(1000, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[`, `{"type":"image","metadata":null}`, `]}`)
	f, err = NewFrame(nulls)
	require.NoError(t, err)
	notes := new(Upgrader).Upgrade(f).(Frame).Warnings()
	require.Len(t, notes, defaultMaxWarnings+1, "conversions")
	assert.Equal(t, "900 more were converted, which are not listed", notes[defaultMaxWarnings].Text)
}

func TestMemoryOfOneEventIsBounded(t *testing.T) {
	allocated := func(work func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, tc := range []struct {
		name                string
		n                   int
		before, each, after string
		rule                string
	}{
		{"empty messages", 1_000_000, `{"type":"MESSAGES_SNAPSHOT","messages":[`, `{}`, `]}`, "P-ENF-4"},
		{"60 MB of them, which is more than the bound", 20_000_000, `{"type":"MESSAGES_SNAPSHOT","messages":[`, `{}`, `]}`, "P-SSE-2"},
		{"more than the bound with an unknown type", maxValues, `{"type":"X","x":[`, `0`, `],"y":null}`, "P-SSE-2"},
		{"nested ones", 400_000, `{"type":"CUSTOM","name":"n","value":[`, `[[[[[[[[1]]]]]]]]`, `]}`, "P-SSE-2"},
		{"one more than the bound", maxValues/8 - 1, `{"type":"CUSTOM","name":"n","value":[null,true,0,1,2,`, `{"a":[[{"b":[{ }]}],[],0]}`, `]}`, "P-SSE-2"},
		{"just as many as the bound, empty ones among them", maxValues/8 - 1, `{"type":"CUSTOM","name":"n","value":[null,true,0,1,`, `{"a":[[{"b":[{ }]}],[],0]}`, `]}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := crowd(tc.n, tc.before, tc.each, tc.after)
			var err error
			got := allocated(func() {
				var f Frame
				if f, err = NewFrame(data); err == nil {
					_, _, err = NewDecoder(nil).Decode(new(Upgrader).Upgrade(f).(Frame))
				}
			})
			if tc.rule == "" {
				require.NoError(t, err)
			} else {
				var malformed *messages.MalformedError
				require.ErrorAs(t, err, &malformed)
				assert.Equal(t, tc.rule, malformed.Rule)
			}
			assert.Less(t, got, 12*uint64(max(len(data), DefaultMaxBytes)))
		})
	}
	commas := []byte(`{"type":"CUSTOM","name":"n","value":"` + strings.Repeat(",[", 2*maxValues) + `"}`)
	_, err := NewFrame(commas)
	assert.NoError(t, err, "a string is one value, whatever it contains")
	var in RunInput
	err = in.UnmarshalJSON(crowd(maxValues, `{"threadId":"t","runId":"r","messages":[`, `{}`, `]}`))
	assert.ErrorContains(t, err, "P-SSE-2 RunAgentInput: want at most")
}
