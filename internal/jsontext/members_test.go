package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMembers(t *testing.T) {
	m := Members{Data: []byte(" { \"a\" : 1 , \"\\u0062\":\"x\",\"\":\"\xc3\xa9\" } rest"), Depth: 1}
	require.True(t, m.Next())
	assert.Equal(t, "a", string(m.Name()))
	assert.Equal(t, "1", string(m.Value()))
	assert.True(t, m.PlainName)
	assert.False(t, m.Plain)
	require.True(t, m.Next())
	assert.True(t, m.Named("b"))
	assert.False(t, m.Named("a"))
	assert.False(t, m.PlainName)
	assert.True(t, m.Plain)
	require.True(t, m.Next())
	assert.True(t, m.Named(""))
	assert.False(t, m.Plain, "not ASCII")
	for range 2 {
		require.False(t, m.Next())
		assert.NoError(t, m.Err)
		assert.Equal(t, " rest", string(m.Data[m.End:]))
	}
}

func TestMembersBeforeAFault(t *testing.T) {
	for _, tc := range []struct {
		in     string
		whole  int // members
		broken string
		offset int
	}{
		{``, 0, "", 0},
		{`[]`, 0, "", 0},
		{`{`, 0, "", 1},
		{`{"a":1 "b":2}`, 1, "", 7},
		{`{"a":1,}`, 1, "", 7},
		{`{"a":1,"b`, 1, "", 9},
		{`{"a":1,"b"}`, 1, "", 10},
		{`{"a":1,"b":[1,`, 1, `[1,`, 14},
		{`{"a":[[]]}`, 0, `[[]]}`, 6},
	} {
		m := Members{Data: []byte(tc.in), Depth: 1}
		whole := 0
		for m.Next() {
			whole++
		}
		assert.Equal(t, tc.whole, whole, tc.in)
		require.Equal(t, tc.broken != "", m.Broken, tc.in)
		if m.Broken {
			assert.Equal(t, tc.broken, tc.in[m.Start:])
		}
		fault := new(SyntaxError)
		require.ErrorAs(t, m.Err, &fault)
		assert.Equal(t, tc.offset, fault.Offset, tc.in)
	}
}

// FuzzMembers holds the cursor equal to Skip, and its members to what encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"a":1,"a":"x\n" , "\u0062" : [{}] }x`, `{"a":1,}`, `{"a":[[1]]}`, `{"a" 1}`, `{"a":tru}`, `[]`, "{\"\xff\":\"\xff\",\"12345678\":\"12345678é\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const depth = 5
		m, found := Members{Data: data, Depth: depth - 1}, map[string]string{}
		for m.Next() {
			require.Equal(t, m.PlainName, isPlain(m.Name()))
			require.Equal(t, m.Plain, data[m.Start] == '"' && isPlain(data[m.Start+1:m.End-1]))
			name := Text(m.Name())
			require.True(t, m.Named(name) || !isPlain([]byte(name)))
			found[name] = string(m.Value())
		}
		end, err := Skip(data, 0, depth)
		if i := Space(data, 0); i == len(data) || data[i] != '{' {
			require.Error(t, m.Err)
			return
		}
		require.Equal(t, err, m.Err)
		if err != nil {
			return
		}
		require.Equal(t, end, m.End)
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(data[:end], &want))
		for name, value := range found {
			if !strings.ContainsRune(name, utf8.RuneError) { // which lone surrogates become in encoding/json
				require.Equal(t, string(want[name]), value)
			}
		}
	})
}

func isPlain(inside []byte) bool {
	for _, c := range inside {
		if c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}
