package event

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

func TestWithoutNulls(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"what a .NET server of 1.0.0 sends", `{"type":"RUN_STARTED","threadId":"t1","runId":"","parentRunId":null,"input":null,"timestamp":null,"rawEvent":null,"metadata":null}`,
			`{"type":"RUN_STARTED","threadId":"t1","runId":""}`},
		{"in messages, calls and parts", `{"type":"MESSAGES_SNAPSHOT","messages":[
			{"id":"1","role":"assistant","content":null,"name":null,"toolCalls":[{"id":"c","type":"function","encryptedValue":null,"function":{"name":"f","arguments":"{}"}}]},
			{"id":"2","role":"user","content":[{"type":"text","text":"x","id":null},{"type":"image","metadata":null,"source":{"type":"url","value":"u","mimeType":null}}]},
			{"id":"3","role":"tool","toolCallId":"c","content":"null","error":null,"metadata":{"a":null}}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[
			{"id":"1","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"id":"2","role":"user","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","value":"u"}}]},
			{"id":"3","role":"tool","toolCallId":"c","content":"null","metadata":{"a":null}}]}`},
		{"in outcomes, interrupts and usage", `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"x":null},"usage":[{"model":null,"inputTokens":null,"outputTokens":3}],
			"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","message":null,"responseSchema":null,"expiresAt":null,"metadata":null}]}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"x":null},"usage":[{"outputTokens":3}],"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r"}]}}`},
		{"in an input", `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","state":{"a":null},"messages":[{"id":"1","role":"user","content":"x","name":null}],"parentRunId":null}}`,
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","state":{"a":null},"messages":[{"id":"1","role":"user","content":"x"}]}}`},
		{"not where null is a value", `{"type":"STATE_SNAPSHOT","snapshot":null,"timestamp":null}`, `{"type":"STATE_SNAPSHOT","snapshot":null}`},
		{"not in a patch", `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}],"timestamp":null}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}`},
		{"not in the value of CUSTOM", `{"type":"CUSTOM","name":"x","value":null}`, `{"type":"CUSTOM","name":"x","value":null}`},
		{"not a required member", `{"type":"TEXT_MESSAGE_END","messageId":null,"timestamp":null}`, `{"type":"TEXT_MESSAGE_END","messageId":null}`},
		{"not in an unknown event", `{"type":"X","a":null}`, `{"type":"X","a":null}`},
	} {
		t.Run("P-NULL-1 "+tt.name, func(t *testing.T) {
			f, err := NewFrame([]byte(tt.text))
			require.NoError(t, err)
			got, paths := f.WithoutNulls()
			assert.JSONEq(t, tt.want, string(got.Data()))
			for _, path := range paths {
				v, _ := f.Value().Lookup(path)
				assert.Equal(t, state.KindNull, v.Kind(), path)
			}
			if len(paths) == 0 {
				assert.Equal(t, f, got)
			}
			again, paths := got.WithoutNulls()
			assert.Empty(t, paths)
			assert.Equal(t, got, again)
		})
	}
	t.Run("what is no event stays as it is", func(t *testing.T) {
		for _, f := range []Frame{{}, Notice(Warning{Text: "x"}), new(Framer).Frame([]byte(`null`))} {
			got, paths := f.WithoutNulls()
			assert.Equal(t, f, got)
			assert.Empty(t, paths)
		}
	})
	t.Run("notes stay", func(t *testing.T) {
		f, _ := NewFrame([]byte(`{"type":"STEP_STARTED","stepName":"s","timestamp":null}`))
		got, _ := f.WithWarnings(Warning{Text: "x"}).WithoutNulls()
		assert.Len(t, got.Warnings(), 1)
	})
}

// Each member of each valid shape of the protocol's corpus, set to null: if decoding rejects the null and the member is
// optional, it goes; nothing else changes.
func TestWithoutNullsOfEveryShape(t *testing.T) {
	dir := os.Getenv("AGFOLD_CONFORMANCE")
	if dir == "" {
		t.Skip("AGFOLD_CONFORMANCE is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "shapes", "*Event", "valid", "*.json"))
	require.NoError(t, err)
	removed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		f, err := NewFrame(text)
		require.NoError(t, err, file)
		for key := range f.Value().Members() {
			without := f.With(key, state.Value{})
			nulled := f.With(key, state.Null())
			if key == "type" {
				continue
			}
			_, _, errWithout := NewDecoder(nil).Decode(without)
			_, _, errNull := NewDecoder(nil).Decode(nulled)
			got, paths := nulled.WithoutNulls()
			optional := errWithout == nil && errNull != nil
			assert.Equal(t, optional, slices.Contains(paths, "/"+key), "%s: %s", file, key)
			if optional {
				removed++
				assert.True(t, got.Value().Equal(without.Value()), "%s: %s", file, key)
				assert.Contains(t, errNull.Error(), "lenient.Nulls")
			} else if errNull != nil {
				assert.NotContains(t, errNull.Error(), "lenient.", "%s: %s", file, key)
			}
		}
	}
	assert.Greater(t, removed, 20)
}

func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","parentRunId":null}`:                         "lenient.Nulls",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":"x","name":null}]}`: "lenient.Nulls",
		`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}`:                        "lenient.ReasoningRole",
		`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"user"}`:                             "",
		`{"type":"REASONING_MESSAGE_START","messageId":null,"role":"reasoning","timestamp":null}`:      "",
		`{"type":"TEXT_MESSAGE_END","messageId":null}`:                                                 "",
		`{"type":"TEXT_MESSAGE_START","messageId":5}`:                                                  "",
	} {
		f, err := NewFrame([]byte(text))
		require.NoError(t, err)
		_, _, err = NewDecoder(nil).Decode(f)
		e, ok := errors.AsType[*messages.MalformedError](err)
		require.True(t, ok, text)
		if want == "" {
			assert.Empty(t, e.Hint, text)
			continue
		}
		assert.True(t, strings.HasPrefix(e.Hint, want+", of package client/lenient"), e.Hint)
		assert.True(t, strings.HasSuffix(e.Error(), "; "+e.Hint), e.Error())
	}
}
