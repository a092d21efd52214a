package state_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// TestRFC6901Section5 has the examples of that section, in their order.
func TestRFC6901Section5(t *testing.T) {
	doc := parse(`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`)
	tests := []struct{ pointer, want string }{
		{"", doc.String()}, {"/foo", `["bar","baz"]`}, {"/foo/0", `"bar"`}, {"/", `0`}, {"/a~1b", `1`}, {"/c%d", `2`},
		{"/e^f", `3`}, {"/g|h", `4`}, {`/i\j`, `5`}, {`/k"l`, `6`}, {"/ ", `7`}, {"/m~0n", `8`},
	}
	for _, tt := range tests {
		t.Run(tt.pointer, func(t *testing.T) {
			v, err := doc.Lookup(tt.pointer)
			require.NoError(t, err)
			assert.Equal(t, tt.want, v.String())
		})
	}
}

func TestLookupOfNothing(t *testing.T) {
	doc := parse(`{"a":[1,2],"s":"x"}`)
	for _, pointer := range []string{"a", "/b", "/a/2", "/a/-", "/a/01", "/a/-1", "/a/", "/a/1e0", "/a/x", "/s/0", "/~", "/~2", "/a/4294967296", "/a/99999999999999999999"} {
		t.Run(pointer, func(t *testing.T) {
			v, err := doc.Lookup(pointer)
			require.ErrorIs(t, err, state.ErrPath)
			var detail *state.PointerError
			require.ErrorAs(t, err, &detail)
			assert.Equal(t, pointer, detail.Pointer)
			assert.NotEmpty(t, detail.Reason)
			assert.False(t, v.Exists())
		})
	}
	_, err := state.Value{}.Lookup("")
	assert.ErrorIs(t, err, state.ErrPath, "an absent document has no root")
}

func TestPointerEscapesItsTokens(t *testing.T) {
	for want, tokens := range map[string][]string{
		"": nil, "/": {""}, "//": {"", ""}, "/a/b": {"a", "b"}, "/~01/~10/~0~1": {"~1", "/0", "~/"},
	} {
		assert.Equal(t, want, state.Pointer(tokens...))
	}
}

var grammar = regexp.MustCompile(`^(?s)(/([^/~]|~[01])*)*$`)

func FuzzPointer(f *testing.F) {
	for _, seed := range []string{"", "/", "/a/~0~1", "a", "/~", "/~2", "/a~", "//", "/~1~01/é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.Equal(t, grammar.MatchString(s), jsontext.ValidPointer(s))
		found, err := state.Object(state.Member{Key: s, Value: state.Null()}).Lookup(state.Pointer(s))
		require.NoError(t, err)
		require.Equal(t, state.KindNull, found.Kind())
		_, _ = parse(`{"":{"a":[0]},"a":[{}]}`).Lookup(s)
	})
}
