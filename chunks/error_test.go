package chunks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

func TestErrorText(t *testing.T) {
	for _, row := range []struct {
		name string
		err  chunks.Error
		want string
	}{
		{
			name: "it names rule, ordinal, type, id and owner in one line",
			err: chunks.Error{
				Rule: "P-CHK-5", Ordinal: 7, Type: event.TypeToolCallChunk, Lane: messages.SubagentOwner("s"), ID: "c\n",
				Reason: "because",
			},
			want: `P-CHK-5 event 7 TOOL_CALL_CHUNK "c\n" of subagent "s": because`,
		},
		{
			name: "what is not known is left out",
			err:  chunks.Error{Rule: "P-CHK-2", Type: event.TypeTextMessageChunk, Reason: "because"},
			want: `P-CHK-2 TEXT_MESSAGE_CHUNK of the parent agent: because`,
		},
		{
			name: "a subagent never reads like the parent agent",
			err:  chunks.Error{Rule: "P-CHK-2", Type: event.TypeTextMessageChunk, Lane: messages.SubagentOwner("(parent)"), Reason: "because"},
			want: `P-CHK-2 TEXT_MESSAGE_CHUNK of subagent "(parent)": because`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.EqualError(t, &row.err, row.want)
			assert.ErrorAs(t, &row.err, new(*chunks.Error))
		})
	}
}
