package state_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestParseThenEncode(t *testing.T) {
	same := []string{
		`null`, `true`, `false`, `0`, `-0`, `1.0`, `1E+2`, `9007199254740993`, `1e1000000000`, `""`, `[]`, `{}`,
		`[1,[2,[3]],{}]`, `{"b":1,"a":{"":[]}}`, `"<script>&"`, `"\u0000\u001f\b\f\n\r\t\"\\"`, "\"\u2028\u2029\u007f\"",
		`"\ud83d"`, `"a\ude00b"`, `"\ude00\ud83d"`, `{"\ud83d":1,"\ud83e":2}`, "\"\U0001F600\"",
	}
	for _, text := range same {
		t.Run("kept as it is: "+text, func(t *testing.T) { assert.Equal(t, text, parse(text).String()) })
	}
	tests := []struct{ name, text, want string }{
		{"white space goes", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", `{"a":[1,2]}`},
		{"escapes that need not be go", `"\/\u0041\u00e9\u2028\u003c"`, "\"/Aé\u2028<\""},
		{"a surrogate pair is one character", `"\ud83d\ude00\uD83D\uDE00"`, "\"\U0001F600\U0001F600\""},
		{"a lone surrogate before a pair", `"\ud83d\ud83d\ude00"`, "\"\\ud83d\U0001F600\""},
		{"upper case in a lone surrogate", `"\uD83D"`, `"\ud83d"`},
		{"bytes that are not UTF-8", "\"a\xffb\xc3\"", "\"a\uFFFDb\uFFFD\""},
		{"a surrogate written in bytes is not UTF-8", "\"\xed\xa0\xbd\"", "\"\uFFFD\uFFFD\uFFFD\""},
		{"of duplicate members the last value, the first place", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{"escaped and plain names are the same", `{"a":1,"\u0061":2}`, `{"a":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := parse(tt.text)
			assert.Equal(t, tt.want, v.String())
			assert.Equal(t, tt.want, parse(tt.want).String())
		})
	}
}

func TestDuplicateMembersOfALargeObject(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"first":0`)
	for i := range 100 {
		fmt.Fprintf(&b, `,"k%d":%d`, i%50, i)
	}
	b.WriteString(`,"first":1}`)
	v := parse(b.String())
	assert.Equal(t, 51, v.Len())
	assert.True(t, strings.HasPrefix(v.String(), `{"first":1,"k0":50,"k1":51,`))
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		text   string
		offset int
	}{
		{``, 0}, {` `, 1}, {`nul`, 3}, {`nulL`, 3}, {`tRue`, 1}, {`1 2`, 2}, {`01`, 1}, {`-`, 1}, {`1.`, 2}, {`1.e5`, 2}, {`1e`, 2}, {`1e+`, 3}, {`+1`, 0},
		{`"`, 1}, {`"a`, 2}, {`"\x"`, 1}, {`"\u12g4"`, 1}, {`"\u12`, 1}, {"\"a\nb\"", 2}, {"\"\x00\"", 1}, {`'a'`, 0},
		{`[`, 1}, {`[1`, 2}, {`[1,`, 3}, {`[1,]`, 3}, {`[,1]`, 1}, {`[1 2]`, 3}, {`]`, 0}, {`[}`, 1},
		{`{`, 1}, {`{"a"`, 4}, {`{"a":`, 5}, {`{"a":1`, 6}, {`{"a":1,`, 7}, {`{"a":1,}`, 7}, {`{a:1}`, 1}, {`{"a" 1}`, 5}, {`{1:1}`, 1}, {`{"a":1]`, 6},
		{"\ufeff1", 0}, {`1,`, 1}, {`{}}`, 2}, {`NaN`, 0}, {`Infinity`, 0}, {"\f1", 0}, {`[1]x`, 3},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			v, err := state.Parse([]byte(tt.text))
			require.ErrorAs(t, err, new(*state.SyntaxError))
			var detail *state.SyntaxError
			require.ErrorAs(t, err, &detail)
			assert.Equal(t, tt.offset, detail.Offset, detail.Reason)
			assert.NotEmpty(t, detail.Reason)
			assert.False(t, v.Exists())
			assert.False(t, json.Valid([]byte(tt.text)), "encoding/json agrees")
		})
	}
}

func TestDepthLimit(t *testing.T) {
	deep := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":[`, n/2) + "1" + strings.Repeat(`]}`, n/2))
	}
	_, err := state.Parse(deep(state.DefaultMaxDepth))
	require.NoError(t, err)
	_, err = state.Parse(deep(state.DefaultMaxDepth + 2))
	require.ErrorAs(t, err, new(*state.SyntaxError))
	assert.ErrorContains(t, err, "too deep")
	_, err = state.ParseDepth(deep(2000), 2000)
	require.NoError(t, err)
	_, err = state.ParseDepth([]byte(`[]`), 0)
	require.ErrorAs(t, err, new(*state.SyntaxError))
	_, err = state.Parse(bytes.Repeat([]byte("["), 1<<20))
	require.ErrorAs(t, err, new(*state.SyntaxError))
}

func TestParseKeepsNothingOfItsInput(t *testing.T) {
	data := []byte(`{"key":["text",123456,"esc\naped"]}`)
	v := must(state.Parse(data))
	for i := range data {
		data[i] = 'x'
	}
	assert.Equal(t, `{"key":["text",123456,"esc\naped"]}`, v.String())
}

func TestStringsMadeInGo(t *testing.T) {
	assert.Equal(t, `"a\ufffdb"`, state.String("a\xffb").String())
	assert.Equal(t, `"\ud83d\ufffd"`, state.String("\xed\xa0\xbd\xed").String())
	assert.Equal(t, `{"\ufffd":1}`, state.Object().With("\x80", state.Int(1)).String())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e-3,true,null,"x\ud83d\ude00"],"a":{}}`, `"\ud83d"`, `[[[[]]]]`, ` 1e99 `, "\"\xff\"", `{"":0,"":1}`, `[1,]`, `"\u00e9\/"`, `-0`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		v, err := state.Parse(data)
		require.Equal(t, before, data, "the input is only read")
		var syntax *state.SyntaxError
		if err != nil {
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(data))
			if !strings.Contains(syntax.Reason, "too deep") {
				require.False(t, json.Valid(data), "refused: %v", err)
			}
			return
		}
		require.True(t, json.Valid(data), "taken")
		text := v.AppendJSON(nil)
		again, err := state.Parse(text)
		require.NoError(t, err)
		require.Equal(t, string(text), again.String(), "encoding is stable")
		require.True(t, v.Equal(again))
		require.True(t, utf8.Valid(text), "what is written is UTF-8")
		if bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) {
			return // encoding/json makes U+FFFD of lone surrogates, we keep them
		}
		var ours, theirs any
		require.NoError(t, unmarshalNumbers(text, &ours))
		require.NoError(t, unmarshalNumbers(data, &theirs))
		require.Equal(t, theirs, ours)
	})
}

func unmarshalNumbers(text []byte, dst any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(dst)
}
