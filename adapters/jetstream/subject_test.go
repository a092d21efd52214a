package jetstream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdsAreTokensOfSubjects(t *testing.T) {
	for id, want := range map[string]string{
		"": "=", "ann-1_B": "ann-1_B", "a.b": "a=2eb", "*": "=2a", ">": "=3e", "a b": "a=20b", "=": "=3d", "é": "=c3=a9", "\x00": "=00", "/": "=2f",
	} {
		assert.Equal(t, want, Token(id))
		got, err := ThreadID(want)
		require.NoError(t, err)
		assert.Equal(t, id, got)
	}
	for _, token := range []string{"", "a.b", "=2", "=zz", "=2E", "=61", "a b", "==", "=3d="} {
		_, err := ThreadID(token)
		assert.Error(t, err, token)
	}
}

func FuzzToken(f *testing.F) {
	for _, id := range []string{"", "a", "a.b", "*", "> x", "=2e", "é\x00\xff", strings.Repeat(".", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		token := Token(id)
		require.NotEmpty(t, token)
		require.NotContains(t, token, ".")
		require.False(t, strings.ContainsAny(token, "*> \t\r\n"), token)
		back, err := ThreadID(token)
		require.NoError(t, err)
		require.Equal(t, id, back)
		if other, err := ThreadID(id); err == nil { // read as a token, it is one of one id only
			require.Equal(t, id, Token(other))
		}
	})
}
