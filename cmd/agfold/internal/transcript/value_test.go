package transcript

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/state"
)

// valueIn returns what WriteValue writes, without the last line feed.
func valueIn(v state.Value, width int) string {
	var b bytes.Buffer
	out := term.NewWriter(&b)
	WriteValue(out, v, width)
	out.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

func parse(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestWriteValue(t *testing.T) {
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
			assert.Equal(t, row.want, valueIn(parse(t, row.in), 40))
		})
	}
	assert.Empty(t, valueIn(state.Value{}, 40), "what is absent is nothing")
}

func TestStateIsShortenedUnlessFull(t *testing.T) {
	long := parse(t, `["`+strings.Repeat("word ", 1000)+`"`+strings.Repeat(`,12345`, 100)+`]`)
	short := Style{Width: 60}.State(long).String()
	assert.Equal(t, maxStateLines+1, strings.Count(short, "\n"))
	assert.Contains(t, short, "… 576 bytes left out\n")
	for line := range strings.SplitSeq(short, "\n") {
		assert.LessOrEqual(t, term.Clean(line).Columns(), 60)
	}
	full := parse(t, Style{Width: 6000, Full: true}.State(long).String())
	assert.True(t, long.Equal(full))
}

// doubled returns a state of 2^n leaves that share memory, at the bottom of depth arrays.
func doubled(t testing.TB, depth, n int) state.Value {
	t.Helper()
	v := parse(t, strings.Repeat("[", depth)+`["x"]`+strings.Repeat("]", depth))
	at := strings.Repeat("/0", depth)
	for range n {
		var err error
		v, err = v.Apply(state.Patch{{Kind: state.OpCopy, From: at, Path: at + "/-"}})
		require.NoError(t, err)
	}
	return v
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAStateIsFormattedAsFarAsItIsShown(t *testing.T) {
	for _, depth := range []int{0, 60, 440} {
		small, large := doubled(t, depth, 15), doubled(t, depth, 18)
		var text string
		draw := func(v state.Value) func() { return func() { text = Style{Width: 60}.State(v).String() } }
		draw(small)()
		most := allocated(draw(small)) * 3 / 2
		assert.Less(t, allocated(draw(large)), most, "at depth %d, eight times as much costs no more", depth)
		assert.Equal(t, maxStateLines+1, strings.Count(text, "\n"))
		assert.Contains(t, text, "… more than 64.0 kB left out\n")
	}
}

func TestFullEndsAtABound(t *testing.T) {
	large := doubled(t, 440, 22)
	text := Style{Full: true}.State(large).String()
	assert.Less(t, len(text), maxFull+2000)
	assert.Greater(t, len(text), maxFull/2)
	assert.True(t, strings.HasSuffix(text, "… more than 64.0 kB left out\n"), "%s", text[len(text)-100:])
}

func TestALongTextIsFormattedAsFarAsItIsShown(t *testing.T) {
	for _, long := range []state.Value{
		state.Object(state.Member{Key: "text", Value: state.String(strings.Repeat("ö", 1<<20))}),
		state.Object(state.Member{Key: strings.Repeat("ö", 1<<20), Value: state.Int(1)}),
		parse(t, `[1`+strings.Repeat("0", 1<<20)+`]`),
		state.Array(state.String(strings.Repeat("\u0301", 1<<20)), state.String("the last of them")),
	} {
		var text string
		assert.Less(t, allocated(func() { text = Style{Width: 60}.State(long).String() }), uint64(100_000))
		assert.NotContains(t, text, "left out")
		assert.True(t, utf8.ValidString(text))
		assert.Contains(t, text, "…")
	}
	left := Style{Width: 60}.State(parse(t, `[`+strings.Repeat(`"a longer text that is here",`, maxStateLines)+`"`+strings.Repeat("x", 5000)+`"]`)).String()
	assert.Contains(t, left, "… 5.0 kB left out\n", "what was not looked at counts too")
}

func TestIndentsEndAtABound(t *testing.T) {
	v := doubled(t, 440, 6)
	text := valueIn(v, 80)
	for line := range strings.SplitSeq(text, "\n") {
		assert.LessOrEqual(t, len(line), 80)
	}
	assert.Less(t, len(text), 3*len(v.String()), "deep values flow")
}

func TestWriteValueStopsWithItsWriter(t *testing.T) {
	broken := errors.New("broken pipe")
	large := doubled(t, 60, 18) // tens of megabytes of lines
	assert.Less(t, allocated(func() { assert.ErrorIs(t, WriteValue(term.NewWriter(failing{broken}), large, 60), broken) }), uint64(2<<20))
}

func FuzzWriteValue(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\u009b\ud800"}],"c":null}`, 30)
	f.Fuzz(func(t *testing.T, text string, width int) {
		v, err := state.Parse([]byte(text))
		if err != nil {
			return
		}
		got := []byte(valueIn(v, width&127))
		back, err := state.Parse(got)
		require.NoError(t, err, "%s", got)
		require.Equal(t, v.String(), back.String())
		for line := range strings.SplitSeq(string(got), "\n") {
			require.Equal(t, term.Clean(line).String(), line)
		}
	})
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
