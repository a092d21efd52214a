package jsontext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnquote(t *testing.T) {
	tests := []struct{ name, quoted, want string }{
		{"empty", `""`, ""},
		{"plain", `"hello, world, this is plain"`, "hello, world, this is plain"},
		{"short escapes", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{"unicode escapes", `"\u0041\u00e9\u20AC\u0000"`, "Aé€\x00"},
		{"a surrogate pair", `"\ud83d\ude00"`, "\U0001F600"},
		{"a lone high surrogate", `"\ud83d!"`, "\xed\xa0\xbd!"},
		{"a lone low surrogate", `"\ude00!"`, "\xed\xb8\x80!"},
		{"two halves in the wrong order", `"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd"},
		{"a half before another escape", `"\ud83d\n"`, "\xed\xa0\xbd\n"},
		{"bytes that are not UTF-8", "\"a\xffb\xed\xa0\xbdc\"", "a\uFFFDb\uFFFD\uFFFD\uFFFDc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := unquote([]byte("x"), []byte(tt.quoted))
			require.NoError(t, err)
			assert.Equal(t, "x"+tt.want, string(got))
			assert.Equal(t, tt.want, Text([]byte(tt.quoted[1:len(tt.quoted)-1])))
			assert.Equal(t, tt.want == tt.quoted[1:len(tt.quoted)-1], IsText([]byte(tt.quoted[1:len(tt.quoted)-1])))
		})
	}
	for _, bad := range []string{``, `a`, `"`, `"a`, `"a"b`, `"\x"`, "\"\n\"", `"\u12"`} {
		t.Run("not a literal: "+bad, func(t *testing.T) {
			got, err := unquote([]byte("x"), []byte(bad))
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, "x", string(got))
		})
	}
}

func TestAppendString(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", `""`},
		{"RFC 8259 demands these escapes", "\"\\\x00\x1f\b\f\n\r\t", `"\"\\\u0000\u001f\b\f\n\r\t"`},
		{"and no others", "<>&/\u2028\u2029\x7f\U0001F600é", "\"<>&/\u2028\u2029\x7f\U0001F600é\""},
		{"a lone surrogate", "a\xed\xa0\xbdb\xed\xbf\xbf", `"a\ud83db\udfff"`},
		{"bytes that are not UTF-8", "a\xff\xc3", `"a\ufffd\ufffd"`},
		{"a cut surrogate", "\xed\xa0", `"\ufffd\ufffd"`},
		{"U+FFFD itself", "\uFFFD", "\"\uFFFD\""},
		{"something late in a long text", "0123456789abcdefghij\n0123456789\"", `"0123456789abcdefghij\n0123456789\""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, "x"+tt.want, string(AppendString([]byte("x"), tt.text)))
		})
	}
}

func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "plain text of some length", "\"\\\n\x00", "\xed\xa0\xbd", "\xff", "é€\U0001F600", `\ud83d\ude00`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		literal := AppendString(nil, s)
		require.True(t, utf8.Valid(literal))
		end, err := SkipString(literal, 0)
		require.NoError(t, err)
		require.Equal(t, len(literal), end)
		back, err := unquote(nil, literal)
		require.NoError(t, err)
		again, err := unquote(nil, AppendString(nil, string(back)))
		require.NoError(t, err)
		require.Equal(t, back, again, "what was decoded once stays as it is")
		if utf8.ValidString(s) {
			require.Equal(t, s, string(back))
			var theirs string
			require.NoError(t, json.Unmarshal(literal, &theirs))
			require.Equal(t, s, theirs)
		}
		// The same bytes read as the inside of a literal: what encoding/json makes of it, but for
		// surrogates.
		quoted := []byte(`"` + s + `"`)
		text, err := unquote(nil, quoted)
		require.Equal(t, json.Valid(quoted), err == nil, "%v", err)
		if err == nil && json.Valid(AppendString(nil, string(text))) && utf8.Valid(text) {
			var theirs string
			require.NoError(t, json.Unmarshal(quoted, &theirs))
			require.Equal(t, theirs, string(text))
		}
	})
}

// unquote appends to dst the text of the string literal quoted, which must be one whole literal.
func unquote(dst, quoted []byte) ([]byte, error) {
	if len(quoted) == 0 || quoted[0] != '"' {
		return dst, Unexpected(quoted, 0, "a string")
	}
	end, err := SkipString(quoted, 0)
	if err != nil {
		return dst, err
	}
	if end != len(quoted) {
		return dst, Unexpected(quoted, end, "the end of the string")
	}
	return AppendUnescaped(dst, quoted[1:end-1]), nil
}
