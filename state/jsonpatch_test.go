package state_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestJSONPatchExchange(t *testing.T) {
	p := patchOf(`[{"op":"add","path":"/a","value":null,"note":"kept"},{"op":"move","path":"/b","from":"/a"},{"op":"remove","path":"/b"}]`)
	theirs, err := p.JSONPatch()
	require.NoError(t, err)
	require.Len(t, theirs, 3)
	back, err := state.FromJSONPatch(theirs)
	require.NoError(t, err)
	assert.Equal(t, p.Value().String(), back.Value().String())
	out, err := theirs[:2].Apply([]byte(`{}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"b":null}`, string(out))
}
