package messages_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
)

func TestValuesOfThisPackageMarshal(t *testing.T) {
	for want, v := range map[string]any{
		`{"Set":"x","Empty":"","Absent":null}`: struct{ Set, Empty, Absent messages.Opt[string] }{Set: messages.Some("x"), Empty: messages.Some("")},
		`{"Subagent":"s","Parent":null}`:       struct{ Subagent, Parent messages.Owner }{Subagent: messages.SubagentOwner("s")},
		`{"Some":[1,2],"None":[]}`:             struct{ Some, None messages.List[int] }{Some: messages.NewList(1, 2)},
	} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}
