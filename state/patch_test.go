package state_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestPatchErrorSaysWhichOperationAndWhy(t *testing.T) {
	_, err := parse(`{"a":1}`).Apply(patchOf(`[{"op":"test","path":"/a","value":1},{"op":"test","path":"/a","value":"x"}]`))
	var got *state.PatchError
	require.ErrorAs(t, err, &got)
	assert.Equal(t, &state.PatchError{Index: 1, Op: state.OpTest, Path: "/a", Reason: `the value there is 1, not "x"`, Err: state.ErrTest}, got)
	assert.EqualError(t, err, `patch operation 1 (test "/a"): the value there is 1, not "x"`)
}

func TestPatchKeepsItsForm(t *testing.T) {
	for _, text := range []string{
		`[]`,
		`[{"op":"add","path":"/a","value":null,"note":{"by":"x"},"n":1.0}]`,
		`[{"op":"remove","path":"/a","value":7}]`,
		`[{"op":"copy","path":"/a","from":""}]`,
		`[{"op":"add","path":"/a","from":"x","value":1}]`,
		`[{"op":"add","path":"/a","value":1,"from":3}]`,
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, text, patchOf(text).Value().String())
			var p state.Patch
			require.NoError(t, json.Unmarshal([]byte(text), &p))
			encoded, err := json.Marshal(p)
			require.NoError(t, err)
			assert.Equal(t, text, string(encoded))
		})
	}
	assert.Equal(t, `[]`, state.Patch(nil).Value().String())
	assert.Error(t, json.Unmarshal([]byte(`[{"op":"x"}]`), new(state.Patch)))
}

func TestExtraNeverReplacesAnOperationsOwnMembers(t *testing.T) {
	p := state.Patch{{Kind: state.OpCopy, Path: "/a", From: "/b", Extra: parse(`{"op":"test","path":"","from":"/c","value":1,"x":2}`)}}
	assert.Equal(t, `[{"op":"copy","path":"/a","from":"/b","x":2}]`, p.Value().String())
}
