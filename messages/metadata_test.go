package messages

import (
	"encoding/json"
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func metadata(t *testing.T, text string) Metadata {
	t.Helper()
	if text == "" {
		return Metadata{}
	}
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	m, ok := NewMetadata(v)
	require.True(t, ok)
	return m
}

func TestMetadataMerge(t *testing.T) {
	for _, tc := range []struct{ name, old, newer, want string }{
		{"absent and absent is absent", ``, ``, ``},
		{"absent changes nothing", `{"a":1}`, ``, `{"a":1}`},
		{"empty makes it present", ``, `{}`, `{}`},
		{"empty changes nothing", `{"a":1}`, `{}`, `{"a":1}`},
		{"key by key, the last write wins", `{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{"no recursion", `{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`},
		{"null is a value", `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"null gives way", `{"a":null}`, `{"a":1}`, `{"a":1}`},
		{"no key is special", `{"__proto__":1}`, `{"constructor":2,"":3}`, `{"__proto__":1,"constructor":2,"":3}`},
	} {
		t.Run("P-MET-1 "+tc.name, func(t *testing.T) {
			old, newer := metadata(t, tc.old), metadata(t, tc.newer)
			assert.Equal(t, tc.want, old.Merge(newer).Value().String())
			assert.Equal(t, tc.old, old.Value().String(), "the old metadata stays as it is")
		})
	}
}

func TestMetadata(t *testing.T) {
	m := metadata(t, `{"b":1,"a":null}`)
	var keys []string
	for key := range m.Value().Members() {
		keys = append(keys, key)
	}
	assert.Equal(t, []string{"b", "a"}, keys)
	assert.Equal(t, 2, m.Len())
	assert.True(t, m.Get("a").Exists(), "P-NULL-1 a null member is present")
	assert.False(t, m.Get("c").Exists())
	assert.True(t, m.Exists())
	assert.True(t, !Metadata{}.Exists())
	assert.True(t, metadata(t, `{}`).Exists(), "empty is not absent")

	for _, v := range []state.Value{state.Null(), state.Array(), state.Int(1)} {
		_, ok := NewMetadata(v)
		assert.False(t, ok, v)
	}
	got, err := json.Marshal(struct {
		M Metadata `json:"m"`
		N Metadata `json:"n,omitzero"`
	}{})
	require.NoError(t, err)
	assert.Equal(t, `{"m":null}`, string(got))
	got, err = json.Marshal(MetadataOf(state.Member{Key: "k", Value: state.Int(1)}))
	require.NoError(t, err)
	assert.Equal(t, `{"k":1}`, string(got))
}

func TestPartMetadataMayBeAnyValue(t *testing.T) {
	for _, text := range []string{`"a"`, `[1,2]`, `0`, `false`, `{"k":null}`, `{}`} {
		message := `{"id":"1","role":"user","content":[{"type":"text","text":"t","metadata":` + text + `}]}`
		var m Message
		require.NoError(t, m.UnmarshalJSON([]byte(message)))
		got := m.Content.Parts()[0].Metadata
		assert.Equal(t, text, got.Value().String())
		assert.Equal(t, message, string(m.AppendJSON(nil)))
		if got.Value().Kind() != state.KindObject {
			assert.True(t, got.Exists())
			assert.Zero(t, got.Len())
			assert.False(t, got.Get("k").Exists())
			for key := range got.Value().Members() {
				t.Errorf("%s has a member %q", text, key)
			}
			assert.Equal(t, `{"a":1}`, got.Merge(metadata(t, `{"a":1}`)).Value().String())
		}
	}
	err := new(Message).UnmarshalJSON([]byte(`{"id":"1","role":"user","content":[{"type":"text","text":"t","metadata":null}]}`))
	assert.ErrorAs(t, err, new(*MalformedError), "P-NULL-1 null is not a value")
}
