package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSkip(t *testing.T) {
	tests := []struct {
		name, text string
		end        int
	}{
		{"white space before is passed over, after is not", " \t\n\r1 ", 5},
		{"a literal", "null,", 4},
		{"a number ends where it must", "-12.5e+3x", 8},
		{"zero ends at once", "0 1", 1},
		{"a string with escapes", `"a\"\\\u00e9\n"x`, 15},
		{"a string with bytes that are not UTF-8", "\"\xff\xfe\"", 4},
		{"a lone surrogate", `"\ud83d"`, 8},
		{"nested containers", ` {"a":[{},[],{"b":[1,2]}]}]`, 26},
		{"a long string", `"` + strings.Repeat("é and so on ", 50) + `"`, 2 + 50*len("é and so on ")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end, err := Skip([]byte(tt.text), 0, 10)
			require.NoError(t, err)
			assert.Equal(t, tt.end, end)
			end, err = Skip([]byte("[1,"+tt.text), 3, 10)
			require.NoError(t, err)
			assert.Equal(t, tt.end+3, end, "from the middle of a text")
		})
	}
}

func TestSkipErrors(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, "  ": 2, "x": 0, "tru": 3, "trUe": 2, "-": 1, "01": 1, "1.": 2, "1e-": 3, `"`: 1, `"\q"`: 1, `"\u00x0"`: 1, "\"\x1f\"": 1,
		"[": 1, "[1": 2, "[1,]": 3, "[1}": 2, "{": 1, `{"a"}`: 4, `{"a":}`: 5, `{"a":1]`: 6, `{"a":1,}`: 7, `{1}`: 1, "]": 0,
	} {
		t.Run(text, func(t *testing.T) {
			end, err := Skip([]byte(text), 0, 10)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, offset, syntax.Offset, syntax.Reason)
			assert.Equal(t, offset, end)
			assert.Contains(t, err.Error(), syntax.Reason)
		})
	}
}

func TestSkipDepth(t *testing.T) {
	for _, depth := range []int{0, 1, 63, 64, 65, 127, 128, 200, 1000} {
		for _, pair := range []string{"[]", "{}"} {
			open, closing := pair[:1], pair[1:]
			if open == "{" {
				open = `{"a":`
			}
			text := strings.Repeat(open, depth) + "1" + strings.Repeat(closing, depth)
			end, err := Skip([]byte(text), 0, depth)
			require.NoError(t, err, "depth %d of %s", depth, pair)
			assert.Equal(t, len(text), end)
			if depth > 0 {
				_, err = Skip([]byte(text), 0, depth-1)
				require.ErrorContains(t, err, "too deep")
				mixed := text[:len(text)-1] + map[string]string{"]": "}", "}": "]"}[closing]
				_, err = Skip([]byte(mixed), 0, depth)
				require.Error(t, err, "the outermost container is closed as what it is")
			}
		}
	}
}

func TestPlainFindsTheFirstByteThatIsNot(t *testing.T) {
	for n := range 40 {
		text := bytes.Repeat([]byte{'\xC3'}, n)
		assert.Equal(t, n, Plain(text, 0), "none")
		for c := range 256 {
			plain := c >= 0x20 && c != '"' && c != '\\'
			for at := range n {
				line := bytes.Clone(text)
				line[at] = byte(c)
				want := at
				if plain {
					want = n
				}
				if got := Plain(line, 0); got != want {
					t.Fatalf("byte %#x at %d of %d: %d", c, at, n, got)
				}
			}
		}
	}
}

func FuzzSkip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,true,false,null,"\ud83d\n"]}`, `[[[]]] `, `{"a":}`, `01`, "\"\xff\"", ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		end, err := Skip(data, 0, 500)
		if err != nil {
			if !strings.Contains(err.Error(), "too deep") {
				require.False(t, json.Valid(data), "%v", err)
			}
			return
		}
		require.True(t, json.Valid(data[:end]))
		require.Equal(t, json.Valid(data), Space(data, end) == len(data))
	})
}

func TestSkipText(t *testing.T) {
	for _, tc := range []struct {
		literal string
		plain   bool
	}{
		{`""`, true}, {`"a"`, true}, {`"01234567"`, true}, {`"0123456789abcdef-"`, true}, {`"é"`, false}, {`"0123456é"`, false},
		{`"01234567é9"`, false}, {`"a\n"`, false}, {`"0123456789\"0123456789"`, false}, {"\"a\xff\"", false},
	} {
		for _, after := range []string{"", "é more text \"", `,"x":1}`} {
			end, plain, err := SkipText([]byte(tc.literal+after), 0)
			assert.NoError(t, err)
			assert.Equal(t, len(tc.literal), end, tc.literal)
			assert.Equal(t, tc.plain, plain, tc.literal)
		}
	}
	for _, bad := range []string{`"`, `"a`, "\"a\nb\"", `"\x"`, `"0123456789\u12"`, "\"01234567\x00\""} {
		_, _, err := SkipText([]byte(bad), 0)
		_, want := SkipString([]byte(bad), 0)
		assert.Equal(t, want, err, bad)
		assert.Error(t, err)
	}
}
