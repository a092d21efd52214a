package transcript

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for _, row := range []struct{ name, in, want, line string }{
		{"plain text stays", "blåbær ☔ 漢字", "blåbær ☔ 漢字", "blåbær ☔ 漢字"},
		{"line feed and tab stay", "a\n\tb", "a\n\tb", `a\n\tb`},
		{"CR LF becomes LF", "a\r\nb", "a\nb", `a\nb`},
		{"a bare CR, which overwrites the line, is made visible", "good\rbad", `good\x0dbad`, `good\x0dbad`},
		{"ESC", "\x1b[2J\x1b]0;title\x07", `\x1b[2J\x1b]0;title\x07`, `\x1b[2J\x1b]0;title\x07`},
		{"NUL, backspace and DEL", "\x00\b\x7f", `\x00\x08\x7f`, `\x00\x08\x7f`},
		{"C1, the one-character CSI", "\u009b31m", `\x9b31m`, `\x9b31m`},
		{"C1 as a bare byte is not UTF-8", "\x9b31m", "\uFFFD31m", "\uFFFD31m"},
		{"what turns the direction of text", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, `a\u202eb\u2066c\u200f`},
		{"line separators", "a\u2028b", `a\u2028b`, `a\u2028b`},
		{"a joiner within an emoji stays", "👩\u200d🚀", "👩\u200d🚀", "👩\u200d🚀"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, Clean(row.in))
			assert.Equal(t, row.line, CleanLine(row.in))
		})
	}
}

func TestCleanJSONMeansTheSame(t *testing.T) {
	in := "{\"a\u009b\":\"\x7f \u202e ☔ \U0001F680\"}"
	got := CleanJSON([]byte("x"), []byte(in))
	assert.Equal(t, `x{"a\u009b":"\u007f \u202e ☔ 🚀"}`, string(got))
	var before, after any
	require.NoError(t, json.Unmarshal([]byte(in), &before))
	require.NoError(t, json.Unmarshal(got[1:], &after))
	assert.Equal(t, before, after)
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J\r\n\u009b\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, clean := range []string{Clean(s), CleanLine(s)} {
			require.True(t, utf8.ValidString(clean))
			for _, r := range clean {
				require.False(t, isControl(r) && r != '\n' && r != '\t', "%q in %q", r, clean)
			}
		}
		require.Equal(t, Clean(s), Clean(Clean(s)))
		require.NotContains(t, CleanLine(s), "\n")
	})
}
