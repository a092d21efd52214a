package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestParsePartial(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing yet", ``, ``},
		{"white space", "  \n", ``},
		{"an open object", `{`, `{}`},
		{"an open array", `[`, `[]`},
		{"an open string", `"Os`, `"Os"`},
		{"an open string in an object", `{"city":"Os`, `{"city":"Os"}`},
		{"a member name that is cut", `{"a":1,"b`, `{"a":1}`},
		{"a member name without a value", `{"a":1,"b"`, `{"a":1}`},
		{"a member name with its colon", `{"a":1,"b":`, `{"a":1}`},
		{"an empty string is a value", `{"a":"`, `{"a":""}`},
		{"a comma", `[1,`, `[1]`},
		{"a literal that is cut", `[1,tru`, `[1]`},
		{"a literal", `[1,true`, `[1,true]`},
		{"a number at the end", `{"a":12`, `{"a":12}`},
		{"a minus alone", `[-`, `[]`},
		{"a decimal point without digits", `[1.`, `[1]`},
		{"an exponent without digits", `[1.5e`, `[1.5]`},
		{"an exponent with a sign alone", `[-1.5E+`, `[-1.5]`},
		{"an escape that is cut", `"a\`, `"a"`},
		{"a unicode escape that is cut", `"a\u00e`, `"a"`},
		{"half of a surrogate pair", `"a\ud83d`, `"a"`},
		{"half of a pair and the start of an escape", `"a\ud83d\u`, `"a"`},
		{"a pair", `"a\ud83d\ude00`, "\"a\U0001F600\""},
		{"a low surrogate stays alone", `"a\ude00`, `"a\ude00"`},
		{"a backslash before what looks like a surrogate", `"a\\ud83d`, `"a\\ud83d"`},
		{"a UTF-8 sequence that is cut", "\"a\xf0\x9f\x98", `"a"`},
		{"a closed string keeps a lone surrogate", `["\ud83d"`, `["\ud83d"]`},
		{"nested containers", `{"a":[{"b":[1,{"c":"d`, `{"a":[{"b":[1,{"c":"d"}]}]}`},
		{"a whole text", `{"a":[1]} `, `{"a":[1]}`},
		{"what follows the value", `{"a":1}}garbage`, `{"a":1}`},
		{"a fault", `{"a":1,"b":x,"c":2}`, `{"a":1}`},
		{"a number that cannot be", `[01,2]`, `[0]`},
		{"a control character ends a string", "[\"a\nb\"]", `["a"]`},
		{"no JSON at all", `hello`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, state.ParsePartial(tt.text).String())
			assert.Equal(t, tt.want, state.ParsePartial([]byte(tt.text)).String())
		})
	}
}

func TestParsePartialOfEndlessNesting(t *testing.T) {
	v := state.ParsePartial(strings.Repeat(`[`, 1<<20))
	assert.Equal(t, strings.Repeat("[", state.DefaultMaxDepth)+strings.Repeat("]", state.DefaultMaxDepth), v.String())
}

// grows reports whether what was shown stays when more text arrives: values may change, elements and
// members may be added, nothing may go.
func grows(before, after state.Value) bool {
	if !before.Exists() {
		return true
	}
	if before.Kind() != after.Kind() || after.Len() < before.Len() {
		return false
	}
	if s, ok := before.AsString(); ok {
		t, _ := after.AsString()
		return strings.HasPrefix(t, s)
	}
	for i, v := range before.Elements() {
		if !grows(v, after.Index(i)) {
			return false
		}
	}
	return true
}

func FuzzPartial(f *testing.F) {
	for _, seed := range []string{
		`{"city":"Oslo","n":[1,-2.5e+3,true,null,{"a":"\ud83d\ude00é\\\""}]}`, `"\\\ud83d"`, "\"\xf0\x9f\x98\x80\"", `[[[`, `{"a":tru}`, `1e5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := state.Parse(data)
		var before state.Value
		for i := range min(len(data), 400) + 1 {
			v := state.ParsePartial(data[:i])
			text := v.String()
			if v.Exists() {
				require.Equal(t, text, parse(text).String(), "what is shown is JSON")
			}
			if err == nil {
				require.True(t, grows(before, v), "%q then %q", before, v)
			}
			before = v
		}
		got := state.ParsePartial(data)
		if err == nil {
			require.Equal(t, whole.String(), got.String())
		}
	})
}
