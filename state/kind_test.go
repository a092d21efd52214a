package state_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestKinds(t *testing.T) {
	names := map[state.Kind]string{}
	for text, want := range map[string]state.Kind{
		"null": state.KindNull, "true": state.KindBool, "1": state.KindNumber,
		`""`: state.KindString, "[]": state.KindArray, "{}": state.KindObject,
	} {
		v := parse(text)
		assert.Equal(t, want, v.Kind(), text)
		assert.True(t, v.Exists())
		names[want] = want.String()
	}
	names[state.KindAbsent] = state.Value{}.Kind().String()
	assert.Equal(t, map[state.Kind]string{
		state.KindAbsent: "absent", state.KindNull: "null", state.KindBool: "boolean", state.KindNumber: "number",
		state.KindString: "string", state.KindArray: "array", state.KindObject: "object",
	}, names)
	assert.Equal(t, "kind 9", state.Kind(9).String())
	text, err := state.KindArray.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "array", string(text))
}
