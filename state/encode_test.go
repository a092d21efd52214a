package state_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestOf(t *testing.T) {
	type inner struct {
		HTML  string          `json:"html"`
		V     state.Value     `json:"v"`
		None  state.Value     `json:"none,omitzero"`
		Raw   json.RawMessage `json:"raw"`
		Exact json.Number     `json:"exact"`
	}
	v := parse(`[1.0]`)
	for want, x := range map[string]any{
		`null`: nil, `true`: true, `7`: 7, `8`: uint8(8), `"<s>"`: "<s>", `1.50`: json.Number("1.50"), `{"a":1.0}`: json.RawMessage(` {"a": 1.0}`),
		`{"html":"<&>","v":[1.0],"raw":[2.0],"exact":9007199254740993}`: inner{"<&>", v, state.Value{}, json.RawMessage(`[2.0]`), "9007199254740993"},
		`{"a":[1],"b":{}}`: map[string]any{"a": []int{1}, "b": struct{}{}},
	} {
		got, err := state.Of(x)
		require.NoError(t, err)
		assert.Equal(t, want, got.String())
	}
	assert.True(t, state.Same(v, must(state.Of(v))))
	assert.Equal(t, `null`, must(state.Of(json.RawMessage(nil))).String())
	_, err := state.Of(json.RawMessage(`{`))
	assert.ErrorAs(t, err, new(*state.SyntaxError))
	_, err = state.Of(make(chan int))
	assert.Error(t, err)
}

func TestUnmarshal(t *testing.T) {
	var dst struct {
		A []int
		B string
		V state.Value
	}
	require.NoError(t, parse(`{"A":[1,2],"B":"é","V":{"x":1.0}}`).Unmarshal(&dst))
	assert.Equal(t, []int{1, 2}, dst.A)
	assert.Equal(t, "é", dst.B)
	assert.Equal(t, `{"x":1.0}`, dst.V.String())
	assert.Error(t, parse(`{"A":"no"}`).Unmarshal(&dst))
}
