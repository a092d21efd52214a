package state_test

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestValueIsOneWord(t *testing.T) {
	assert.Equal(t, unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(state.Value{}))
}

func TestAbsentValueAnswersEverything(t *testing.T) {
	var v state.Value
	assert.False(t, v.Exists())
	assert.Zero(t, v.Len())
	assert.False(t, v.Get("a").Exists())
	assert.False(t, v.Index(0).Exists())
	for range v.Members() {
		t.Error("an absent value has no members")
	}
	for range v.Elements() {
		t.Error("an absent value has no elements")
	}
	assert.Equal(t, "", v.String())
	assert.Equal(t, "x", string(v.AppendJSON([]byte("x"))))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	assert.Equal(t, "null", string(text))
	assert.Error(t, v.Unmarshal(new(any)))
	assert.Equal(t, `{"a":1}`, v.With("a", state.Int(1)).String())
	assert.False(t, v.Without("a").Exists())
}

func TestAccessorsOfAnotherKindSayNo(t *testing.T) {
	for _, text := range []string{"null", "true", "1", `"s"`, "[1]", `{"a":1}`} {
		v := parse(text)
		_, b := v.AsBool()
		_, s := v.AsString()
		_, n := v.AsNumber()
		_, i := v.AsInt()
		_, f := v.AsFloat()
		assert.Equal(t, []bool{text == "true", text == `"s"`, text == "1", text == "1", text == "1"}, []bool{b, s, n, i, f}, text)
		assert.Equal(t, text == "[1]", v.Index(0).Exists(), text)
		assert.Equal(t, text == `{"a":1}`, v.Get("a").Exists(), text)
	}
}

func TestConstructors(t *testing.T) {
	v := state.Object(
		state.Member{Key: "a", Value: state.Array(state.Null(), state.Bool(true), state.Bool(false), state.Value{})},
		state.Member{Key: "gone", Value: state.Value{}},
		state.Member{Key: "b", Value: state.Int(-7)},
		state.Member{Key: "a", Value: state.String("last")},
		state.Member{Key: "c", Value: state.Array(state.Value{}, state.Object())},
	)
	assert.Equal(t, `{"a":"last","b":-7,"c":[null,{}]}`, v.String())
	items := []state.Value{state.Int(1)}
	array := state.Array(items...)
	items[0] = state.Int(2)
	assert.Equal(t, `[1]`, array.String(), "the caller's slice is copied")
}

func TestSame(t *testing.T) {
	v := parse(`{"a":[1],"b":"x"}`)
	next := v.With("b", state.String("y"))
	assert.True(t, state.Same(v.Get("a"), next.Get("a")), "what did not change is shared")
	assert.False(t, state.Same(v, next))
	assert.False(t, state.Same(parse(`[1]`), parse(`[1]`)))
	assert.True(t, state.Same(parse(`"x"`), state.String("x")))
	assert.False(t, state.Same(parse(`"1"`), parse(`1`)))
	assert.False(t, state.Same(state.Value{}, state.Null()))
}
