package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func parse(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestAppendValue(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"what fits stays on one line", `{"a":[1,2.50,true,null],"b":{}}`, `{"a": [1, 2.50, true, null], "b": {}}`},
		{"members are spread", `{"first":"a longer text here","second":"and one more of them"}`,
			"{\n  \"first\": \"a longer text here\",\n  \"second\": \"and one more of them\"\n}"},
		{"only what is too wide is spread", `{"list":["a longer text here","and one more of them"],"n":1}`,
			"{\n  \"list\": [\n    \"a longer text here\",\n    \"and one more of them\"\n  ],\n  \"n\": 1\n}"},
		{"numbers keep their digits", `9007199254740993.10`, `9007199254740993.10`},
		{"control characters that JSON allows are escaped", "\"\x7f\u009b\"", `"\u007f\u009b"`},
		{"empty ones are never spread", `[` + strings.Repeat(`{},[],`, 9) + `""]`,
			"[" + strings.Repeat("\n  {},\n  [],", 9) + "\n  \"\"\n]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, string(AppendValue(nil, parse(t, row.in), 40)))
		})
	}
	assert.Empty(t, AppendValue(nil, state.Value{}, 40), "what is absent is nothing")
}

func TestStateIsShortenedUnlessFull(t *testing.T) {
	long := parse(t, `["`+strings.Repeat("word ", 1000)+`"`+strings.Repeat(`,12345`, 100)+`]`)
	short := Style{Width: 60}.State(long)
	assert.Equal(t, maxStateLines+1, strings.Count(short, "\n"))
	assert.Contains(t, short, "… 558 bytes left out\n")
	for line := range strings.SplitSeq(short, "\n") {
		assert.LessOrEqual(t, columns(line), 120)
	}
	full := parse(t, Style{Width: 60, Full: true}.State(long))
	assert.True(t, state.Equal(long, full))
}

func FuzzAppendValue(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\u009b\ud800"}],"c":null}`, 30)
	f.Fuzz(func(t *testing.T, text string, width int) {
		v, err := state.Parse([]byte(text))
		if err != nil {
			return
		}
		got := AppendValue(nil, v, width&127)
		back, err := state.Parse(got)
		require.NoError(t, err, "%s", got)
		require.Equal(t, v.String(), back.String())
		for line := range strings.SplitSeq(string(got), "\n") {
			require.Equal(t, Clean(line), line)
		}
	})
}
