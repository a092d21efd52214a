package event

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allNames are the 36 names in upstream order, as PROTOCOL.md section 1 lists them.
const allNames = `
	TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TEXT_MESSAGE_CHUNK
	TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END TOOL_CALL_CHUNK TOOL_CALL_RESULT
	THINKING_START THINKING_END THINKING_TEXT_MESSAGE_START THINKING_TEXT_MESSAGE_CONTENT THINKING_TEXT_MESSAGE_END
	STATE_SNAPSHOT STATE_DELTA MESSAGES_SNAPSHOT ACTIVITY_SNAPSHOT ACTIVITY_DELTA RAW CUSTOM
	RUN_STARTED RUN_FINISHED RUN_ERROR STEP_STARTED STEP_FINISHED
	REASONING_START REASONING_MESSAGE_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END
	REASONING_MESSAGE_CHUNK REASONING_END REASONING_ENCRYPTED_VALUE
	SUBAGENT_STARTED SUBAGENT_FINISHED SUBAGENT_ERROR`

func namesOf(types []Type) []string {
	names := []string{}
	for _, t := range types {
		names = append(names, t.String())
	}
	return names
}

func typesWith(has func(Type) bool) []string {
	var with []Type
	for _, t := range Types() {
		if has(t) {
			with = append(with, t)
		}
	}
	return namesOf(with)
}

func TestTypeNames(t *testing.T) {
	names := strings.Fields(allNames)
	require.Len(t, names, 36)
	assert.Equal(t, names, namesOf(Types()), "the 36 types in upstream order")
	for i, name := range names {
		got, ok := ParseType(name)
		assert.True(t, ok, name)
		assert.Equal(t, Types()[i], got)
		text, err := got.MarshalText()
		assert.NoError(t, err)
		assert.Equal(t, name, string(text))
	}
	for _, name := range []string{"", "UNKNOWN", "text_message_start", "FUTURE_EVENT"} {
		got, ok := ParseType(name)
		assert.False(t, ok, name)
		assert.Equal(t, TypeUnknown, got)
	}
	assert.Equal(t, "UNKNOWN", TypeUnknown.String())
	assert.Equal(t, "UNKNOWN", Type(200).String())
}

func TestTypesIsTheCallersOwn(t *testing.T) {
	Types()[0] = TypeRaw
	assert.Equal(t, TypeTextMessageStart, Types()[0])
}

func TestTypeProperties(t *testing.T) {
	retired := strings.Fields(`THINKING_START THINKING_END THINKING_TEXT_MESSAGE_START
		THINKING_TEXT_MESSAGE_CONTENT THINKING_TEXT_MESSAGE_END`)
	subagent := []string{"SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"}
	parentOnly := append([]string{"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"}, retired...)

	t.Run("P-VOC-3 24 types may be attributed", func(t *testing.T) {
		got := typesWith(Type.isAttributable)
		assert.Len(t, got, 24)
		assert.NotSubset(t, got, parentOnly)
		assert.Len(t, append(append(got, subagent...), parentOnly...), 36)
		for _, name := range append(subagent, parentOnly...) {
			assert.NotContains(t, got, name)
		}
	})
	t.Run("P-VOC-3 three types must be attributed", func(t *testing.T) {
		assert.Equal(t, subagent, typesWith(Type.requiresOwner))
	})
	t.Run("five types are retired", func(t *testing.T) {
		assert.Equal(t, retired, typesWith(Type.IsRetired))
	})
	t.Run("P-CHK-1 three types are chunks", func(t *testing.T) {
		assert.Equal(t, []string{"TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK"}, typesWith(Type.IsChunk))
	})
	t.Run("a type beyond the 36 has no properties", func(t *testing.T) {
		for _, typ := range []Type{TypeUnknown, numTypes, 255} {
			assert.False(t, typ.isAttributable() || typ.requiresOwner() || typ.IsRetired() || typ.IsChunk())
		}
	})
}
