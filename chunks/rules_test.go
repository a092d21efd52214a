package chunks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// TestRules has a row for each sentence of P-CHK-1 to P-CHK-8.
func TestRules(t *testing.T) {
	for _, row := range []struct {
		name string
		in   string
		want string // what comes before the error, if one is wanted
		err  *chunks.Error
	}{
		{
			name: "P-CHK-1 a lane is an owner: the parent agent and two subagents assemble at once",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"b","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","delta":"c","subagentRunId":"s2"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"d"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"e","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"f","subagentRunId":"s2"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m0","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"a"}
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"b","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant","subagentRunId":"s2"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"c","subagentRunId":"s2"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"d"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"e","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"f","subagentRunId":"s2"}`,
		},
		{
			name: "P-CHK-1 the subagent with the empty id is not the parent agent",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","delta":"a"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"m0","delta":"b","subagentRunId":""}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"c"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m0","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"a"}
				{"type":"REASONING_MESSAGE_START","messageId":"m0","role":"reasoning","subagentRunId":""}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"m0","delta":"b","subagentRunId":""}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"c"}`,
		},
		{
			name: "P-CHK-1 a lane holds at most one stream: text, tool call or reasoning",
			in: `
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"hm"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"yes"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{}"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"so"}`,
			want: `
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"hm"}
				{"type":"REASONING_MESSAGE_END","messageId":"r"}
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"yes"}
				{"type":"TEXT_MESSAGE_END","messageId":"m"}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}
				{"type":"TOOL_CALL_END","toolCallId":"c"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"so"}`,
		},
		{
			name: "P-CHK-2 a first text chunk with id alone is a start, with the other members it has",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","name":"Ann","subagentRunId":"s"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"Ann","subagentRunId":"s"}`,
		},
		{
			name: "P-CHK-2 a first tool chunk with id and name alone is a start, with the other members it has",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m","subagentRunId":"s"}`,
			want: `
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m","subagentRunId":"s"}`,
		},
		{
			name: "P-CHK-2 a first reasoning chunk with id alone is a start",
			in: `
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"s"}`,
			want: `
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"s"}`,
		},
		{
			name: "P-CHK-2 a first chunk yields content too if it has a delta, even an empty one",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":""}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"","subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"","subagentRunId":"s2"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"s2"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"","subagentRunId":"s2"}`,
		},
		{
			name: "P-CHK-2 a first chunk yields content too if it has a rawEvent, which may be false",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","rawEvent":{"n":1}}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","rawEvent":2,"subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","rawEvent":false,"subagentRunId":"s2"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","rawEvent":{"n":1}}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","rawEvent":2,"subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"s2"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"","rawEvent":false,"subagentRunId":"s2"}`,
		},
		{
			name: "P-CHK-2 a first chunk with metadata alone yields no content, for its start carries them",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","metadata":{"k":1}}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"k":1}}`,
		},
		{
			name: "P-CHK-2 the empty string is an id and a name (P-VOC-4)",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"","toolCallName":"","delta":"1"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"","delta":"2"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"","delta":"a"}`,
			want: `
				{"type":"TOOL_CALL_START","toolCallId":"","toolCallName":""}
				{"type":"TOOL_CALL_ARGS","toolCallId":"","delta":"1"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"","delta":"2"}
				{"type":"TOOL_CALL_END","toolCallId":""}
				{"type":"TEXT_MESSAGE_START","messageId":"","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"","delta":"a"}`,
		},
		{
			name: "P-CHK-2 a first text chunk without messageId is fatal",
			in:   `{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}`,
			err:  &chunks.Error{Rule: "P-CHK-2", Type: event.TypeTextMessageChunk, Reason: "the first chunk of a text message needs a messageId"},
		},
		{
			name: "P-CHK-2 a first reasoning chunk without messageId is fatal",
			in:   `{"type":"REASONING_MESSAGE_CHUNK","delta":"a","subagentRunId":"s"}`,
			err: &chunks.Error{
				Rule: "P-CHK-2", Type: event.TypeReasoningMessageChunk, Lane: messages.SubagentOwner("s"),
				Reason: "the first chunk of a reasoning message needs a messageId",
			},
		},
		{
			name: "P-CHK-2 a first tool chunk without toolCallId is fatal",
			in:   `{"type":"TOOL_CALL_CHUNK","toolCallName":"f","delta":"a"}`,
			err:  &chunks.Error{Rule: "P-CHK-2", Type: event.TypeToolCallChunk, Reason: "the first chunk of a tool call needs a toolCallId"},
		},
		{
			name: "P-CHK-2 a first tool chunk without toolCallName is fatal",
			in:   `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","delta":"a"}`,
			err:  &chunks.Error{Rule: "P-CHK-2", Type: event.TypeToolCallChunk, ID: "c", Reason: "the first chunk of a tool call needs a toolCallName"},
		},
		{
			name: "P-CHK-2 what another kind holds is nothing to continue",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_CHUNK","delta":"a","subagentRunId":"s"}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"s"}`,
			err: &chunks.Error{
				Rule: "P-CHK-2", Type: event.TypeReasoningMessageChunk, Lane: messages.SubagentOwner("s"),
				Reason: "the first chunk of a reasoning message needs a messageId",
			},
		},
		{
			name: "P-CHK-3 a chunk without id, or with the lane's, continues",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"c"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"a"}
				{"type":"TOOL_CALL_CHUNK","delta":"b"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","delta":"c"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"a"}
				{"type":"REASONING_MESSAGE_CHUNK","delta":"b"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"c"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"c"}
				{"type":"TEXT_MESSAGE_END","messageId":"m"}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"a"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"b"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"c"}
				{"type":"TOOL_CALL_END","toolCallId":"c"}
				{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"a"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"b"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"c"}`,
		},
		{
			name: "P-CHK-3 a continuation with only metadata, be they empty, or only rawEvent yields an empty delta",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TEXT_MESSAGE_CHUNK","metadata":{"k":null}}
				{"type":"TEXT_MESSAGE_CHUNK","metadata":{}}
				{"type":"TEXT_MESSAGE_CHUNK","rawEvent":[]}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_CHUNK","metadata":{"k":1}}
				{"type":"TOOL_CALL_CHUNK","rawEvent":""}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"s2"}
				{"type":"REASONING_MESSAGE_CHUNK","metadata":{"k":1}}
				{"type":"REASONING_MESSAGE_CHUNK","rawEvent":0}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","metadata":{"k":null}}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","metadata":{}}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","rawEvent":[]}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","metadata":{"k":1},"subagentRunId":"s1"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","rawEvent":"","subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"s2"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"","metadata":{"k":1},"subagentRunId":"s2"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"","rawEvent":0,"subagentRunId":"s2"}`,
		},
		{
			name: "P-CHK-3 a continuation that carries nothing yields nothing",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TEXT_MESSAGE_CHUNK"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","timestamp":1}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`,
		},
		{
			name: "P-CHK-4 another id closes the stream",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","delta":"b"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c1","toolCallName":"f","subagentRunId":"s"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c2","toolCallName":"g","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r1","subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r2","subagentRunId":"z"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"a"}
				{"type":"TEXT_MESSAGE_END","messageId":"m1"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"b"}
				{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f","subagentRunId":"s"}
				{"type":"TOOL_CALL_END","toolCallId":"c1","subagentRunId":"s"}
				{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"g","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_START","messageId":"r1","role":"reasoning","subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_END","messageId":"r1","subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_START","messageId":"r2","role":"reasoning","subagentRunId":"z"}`,
		},
		{
			name: "P-CHK-4 the same id of another kind is another id",
			in: `
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"b"}`,
			want: `
				{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"a"}
				{"type":"REASONING_MESSAGE_END","messageId":"m"}
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b"}`,
		},
		{
			name: "P-CHK-4 a closed stream opens again with what its new opener says",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","role":"user","name":"Ann"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","role":"system"}
				{"type":"TEXT_MESSAGE_CHUNK","role":"system","delta":"a"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"user","name":"Ann"}
				{"type":"TEXT_MESSAGE_END","messageId":"m1"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}
				{"type":"TEXT_MESSAGE_END","messageId":"m2"}
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"system"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"a"}`,
		},
		{
			name: "P-CHK-5 a continuation may repeat all that its opener said",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"developer","name":"Ann"}
				{"type":"TEXT_MESSAGE_CHUNK","role":"developer","name":"Ann","delta":"a"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}
				{"type":"TOOL_CALL_CHUNK","toolCallName":"f","parentMessageId":"m","delta":"1"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"developer","name":"Ann"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}
				{"type":"TEXT_MESSAGE_END","messageId":"m"}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"1"}`,
		},
		{
			name: "P-CHK-5 a role that the opener omitted counts as assistant",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TEXT_MESSAGE_CHUNK","role":"assistant","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","role":"user","delta":"b"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeTextMessageChunk, ID: "m",
				Reason: `role "user" contradicts the text message, which was opened with "assistant"`,
			},
		},
		{
			name: "P-CHK-5 a continuation that omits the role repeats nothing",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}`,
		},
		{
			name: "P-CHK-5 another role is fatal, also on a chunk that would yield nothing",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user"}
				{"type":"TEXT_MESSAGE_CHUNK","role":"assistant"}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeTextMessageChunk, ID: "m",
				Reason: `role "assistant" contradicts the text message, which was opened with "user"`,
			},
		},
		{
			name: "P-CHK-5 another name is fatal",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","name":"Ann","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CHUNK","name":"Bob","delta":"a"}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"Ann","subagentRunId":"s"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeTextMessageChunk, Lane: messages.SubagentOwner("s"), ID: "m",
				Reason: `name "Bob" contradicts the text message, which was opened with "Ann"`,
			},
		},
		{
			name: "P-CHK-5 a name that the opener did not give is fatal, the empty one too",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TEXT_MESSAGE_CHUNK","name":"","delta":"a"}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeTextMessageChunk, ID: "m",
				Reason: `name "" contradicts the text message, which was opened without one`,
			},
		},
		{
			name: "P-CHK-5 another toolCallName is fatal",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"g"}`,
			want: `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeToolCallChunk, ID: "c",
				Reason: `toolCallName "g" contradicts the tool call, which was opened with "f"`,
			},
		},
		{
			name: "P-CHK-5 another parentMessageId is fatal",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}
				{"type":"TOOL_CALL_CHUNK","parentMessageId":"n"}`,
			want: `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeToolCallChunk, ID: "c",
				Reason: `parentMessageId "n" contradicts the tool call, which was opened with "m"`,
			},
		},
		{
			name: "P-CHK-5 a parentMessageId that the opener did not give is fatal",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}
				{"type":"TOOL_CALL_CHUNK","parentMessageId":"n"}`,
			want: `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
			err: &chunks.Error{
				Rule: "P-CHK-5", Type: event.TypeToolCallChunk, ID: "c",
				Reason: `parentMessageId "n" contradicts the tool call, which was opened without one`,
			},
		},
		{
			name: "P-CHK-6 a named id belongs to the lane that holds it, even if the chunk is untagged",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"b","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"c"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"d"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m0","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"a"}
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"b","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"c","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"d"}`,
		},
		{
			name: "P-CHK-6 a tag that names another owner than the lane that holds the id is fatal",
			in: `
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"s1"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"s2"}`,
			want: `{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"s1"}`,
			err: &chunks.Error{
				Rule: "P-CHK-6", Type: event.TypeReasoningMessageChunk, Lane: messages.SubagentOwner("s1"), ID: "r",
				Reason: `subagentRunId names subagent "s2", which does not hold the reasoning message`,
			},
		},
		{
			name: "P-CHK-6 a tag on what the parent agent holds is fatal",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","subagentRunId":"s"}`,
			want: `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`,
			err: &chunks.Error{
				Rule: "P-CHK-6", Type: event.TypeToolCallChunk, ID: "c",
				Reason: `subagentRunId names subagent "s", which does not hold the tool call`,
			},
		},
		{
			name: "P-CHK-6 a named id that no lane holds opens in the tag's lane, without tag in the parent's",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m3","subagentRunId":"s"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}
				{"type":"TEXT_MESSAGE_END","messageId":"m1","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_START","messageId":"m3","role":"assistant","subagentRunId":"s"}`,
		},
		{
			name: "P-CHK-6 a tag without id names its lane even if another lane holds the only stream of the kind",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"a","subagentRunId":"s"}`,
			want: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`,
			err: &chunks.Error{
				Rule: "P-CHK-2", Type: event.TypeTextMessageChunk, Lane: messages.SubagentOwner("s"),
				Reason: "the first chunk of a text message needs a messageId",
			},
		},
		{
			name: "P-CHK-6 without id and tag the parent's stream of the kind comes first",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","subagentRunId":"z"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_START","messageId":"m0","role":"assistant"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant","subagentRunId":"z"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m0","delta":"a"}`,
		},
		{
			name: "P-CHK-6 without id and tag the only open stream of the kind comes second, though the parent holds another kind",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m0"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"z"}
				{"type":"TOOL_CALL_CHUNK","delta":"1"}
				{"type":"REASONING_MESSAGE_CHUNK","delta":"2"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m0","role":"assistant"}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","subagentRunId":"z"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"1","subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"2","subagentRunId":"z"}`,
		},
		{
			name: "P-CHK-6 without id and tag it is fatal if several lanes hold a stream of the kind",
			in: `
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c1","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c2","toolCallName":"f","subagentRunId":"s2"}
				{"type":"TOOL_CALL_CHUNK","delta":"1"}`,
			want: `
				{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"f","subagentRunId":"s2"}`,
			err: &chunks.Error{
				Rule: "P-CHK-6", Type: event.TypeToolCallChunk,
				Reason: "it has neither toolCallId nor subagentRunId, and several lanes hold a tool call",
			},
		},
		{
			name: "P-CHK-6 it is not ambiguous once all but one are closed",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","subagentRunId":"s2"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m3","subagentRunId":"s3"}
				{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s3"}
				{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant","subagentRunId":"s2"}
				{"type":"TEXT_MESSAGE_START","messageId":"m3","role":"assistant","subagentRunId":"s3"}
				{"type":"TEXT_MESSAGE_END","messageId":"m3","subagentRunId":"s3"}
				{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s3"}
				{"type":"TEXT_MESSAGE_END","messageId":"m1","subagentRunId":"s1"}
				{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"a","subagentRunId":"s2"}`,
		},
		{
			name: "P-CHK-7 at the end of input nothing is synthesized",
			in:   `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}`,
		},
		{
			name: "P-CHK-8 metadata go on start and content, rawEvent on content only, the timestamp nowhere",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","metadata":{"k":1},"rawEvent":1,"timestamp":11}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"b","metadata":{"k":2},"rawEvent":2,"timestamp":12}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"a","metadata":{"k":1},"rawEvent":1,"timestamp":13,"subagentRunId":"s"}
				{"type":"TOOL_CALL_CHUNK","delta":"b","metadata":{"k":2},"rawEvent":2,"timestamp":14}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"a","metadata":{"k":1},"rawEvent":1,"timestamp":15,"subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_CHUNK","delta":"b","metadata":{"k":2},"rawEvent":2,"timestamp":16}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"k":1}}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","metadata":{"k":1},"rawEvent":1}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b","metadata":{"k":2},"rawEvent":2}
				{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","metadata":{"k":1},"subagentRunId":"s"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"a","metadata":{"k":1},"rawEvent":1,"subagentRunId":"s"}
				{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"b","metadata":{"k":2},"rawEvent":2,"subagentRunId":"s"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","metadata":{"k":1},"subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"a","metadata":{"k":1},"rawEvent":1,"subagentRunId":"z"}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"b","metadata":{"k":2},"rawEvent":2,"subagentRunId":"z"}`,
		},
		{
			name: "P-CHK-8 the end that closes the previous stream takes nothing from the chunk or event that closes it",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","metadata":{"k":1}}
				{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","metadata":{"k":2},"rawEvent":2,"timestamp":12}
				{"type":"CUSTOM","name":"n","value":0,"metadata":{"k":3},"rawEvent":3,"timestamp":13}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"k":1}}
				{"type":"TEXT_MESSAGE_END","messageId":"m"}
				{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning","metadata":{"k":2}}
				{"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"","metadata":{"k":2},"rawEvent":2}
				{"type":"REASONING_MESSAGE_END","messageId":"r"}
				{"type":"CUSTOM","name":"n","value":0,"metadata":{"k":3},"rawEvent":3,"timestamp":13}`,
		},
		{
			name: "P-CHK-8 an untagged continuation has its opener's tag, and so has the end",
			in: `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}
				{"type":"TEXT_MESSAGE_CHUNK","delta":"b","subagentRunId":"s"}
				{"type":"SUBAGENT_ERROR","message":"x","subagentRunId":"s"}`,
			want: `
				{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b","subagentRunId":"s"}
				{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s"}
				{"type":"SUBAGENT_ERROR","message":"x","subagentRunId":"s"}`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := expand(new(chunks.Expander), events(t, row.in))
			assertWire(t, row.want, got)
			if row.err == nil {
				require.NoError(t, err)
			} else {
				assert.Equal(t, row.err, err)
			}
		})
	}
}

// TestClosing walks all types through P-CHK-7 with a stream open in the parent's lane and in two others.
func TestClosing(t *testing.T) {
	const (
		none     = ""
		parent   = "parent"
		own      = "s1"
		everyone = "parent s1 s2"
	)
	covered := make(map[event.Type]bool)
	for _, row := range []struct{ event, closes string }{
		{`{"type":"TEXT_MESSAGE_START","messageId":"x"}`, parent},
		{`{"type":"TEXT_MESSAGE_START","messageId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"x","delta":"a"}`, parent},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"x","delta":"a","subagentRunId":"s1"}`, own},
		{`{"type":"TEXT_MESSAGE_END","messageId":"x"}`, parent},
		{`{"type":"TEXT_MESSAGE_END","messageId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"TOOL_CALL_START","toolCallId":"x","toolCallName":"f"}`, parent},
		{`{"type":"TOOL_CALL_START","toolCallId":"x","toolCallName":"f","subagentRunId":"s1"}`, own},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"x","delta":"a"}`, parent},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"x","delta":"a","subagentRunId":"s1"}`, own},
		{`{"type":"TOOL_CALL_END","toolCallId":"x"}`, parent},
		{`{"type":"TOOL_CALL_END","toolCallId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"x","content":""}`, parent},
		{`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"x","content":"","subagentRunId":"s1"}`, own},
		{`{"type":"STEP_STARTED","stepName":"a"}`, parent},
		{`{"type":"STEP_STARTED","stepName":"a","subagentRunId":"s1"}`, own},
		{`{"type":"STEP_FINISHED","stepName":"a"}`, parent},
		{`{"type":"STEP_FINISHED","stepName":"a","subagentRunId":"s1"}`, own},
		{`{"type":"STATE_SNAPSHOT","snapshot":null}`, parent},
		{`{"type":"STATE_SNAPSHOT","snapshot":null,"subagentRunId":"s1"}`, own},
		{`{"type":"STATE_DELTA","delta":[]}`, parent},
		{`{"type":"STATE_DELTA","delta":[],"subagentRunId":"s1"}`, own},
		{`{"type":"CUSTOM","name":"n","value":null}`, parent},
		{`{"type":"CUSTOM","name":"n","value":null,"subagentRunId":"s1"}`, own},
		{`{"type":"REASONING_START","messageId":"x"}`, parent},
		{`{"type":"REASONING_START","messageId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning"}`, parent},
		{`{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning","subagentRunId":"s1"}`, own},
		{`{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"a"}`, parent},
		{`{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"a","subagentRunId":"s1"}`, own},
		{`{"type":"REASONING_MESSAGE_END","messageId":"x"}`, parent},
		{`{"type":"REASONING_MESSAGE_END","messageId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"REASONING_END","messageId":"x"}`, parent},
		{`{"type":"REASONING_END","messageId":"x","subagentRunId":"s1"}`, own},
		{`{"type":"CUSTOM","name":"n","value":null,"subagentRunId":"s9"}`, none}, // a lane that holds nothing

		{`{"type":"RAW","event":null}`, none},
		{`{"type":"RAW","event":null,"subagentRunId":"s1"}`, none},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"a","content":{}}`, none},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"a","content":{},"subagentRunId":"s1"}`, none},
		{`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"a","patch":[]}`, none},
		{`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"a","patch":[],"subagentRunId":"s1"}`, none},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"x","encryptedValue":"e"}`, none},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"x","encryptedValue":"e","subagentRunId":"s1"}`, none},
		{`{"type":"SUBAGENT_STARTED","name":"n","subagentRunId":"s1"}`, none},
		{`{"type":"THINKING_START"}`, none},
		{`{"type":"THINKING_TEXT_MESSAGE_START"}`, none},
		{`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"a"}`, none},
		{`{"type":"THINKING_TEXT_MESSAGE_END"}`, none},
		{`{"type":"THINKING_END"}`, none},

		{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`, own},
		{`{"type":"SUBAGENT_ERROR","message":"m","subagentRunId":"s1"}`, own},

		{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, everyone},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, everyone},
		{`{"type":"RUN_ERROR","message":"m"}`, everyone},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[]}`, everyone},
	} {
		t.Run("P-CHK-7 "+row.event+" closes "+row.closes, func(t *testing.T) {
			x := new(chunks.Expander)
			_, err := expand(x, events(t, `
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}
				{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s1"}
				{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","subagentRunId":"s2"}`))
			require.NoError(t, err)
			ends := map[string]string{
				none:   "",
				parent: `{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
				own:    `{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s1"}`,
				everyone: `
					{"type":"TEXT_MESSAGE_END","messageId":"m"}
					{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s1"}
					{"type":"TEXT_MESSAGE_END","messageId":"n","subagentRunId":"s2"}`,
			}
			judged := events(t, row.event)
			covered[judged[0].Type()] = true
			got, err := expand(x, judged)
			require.NoError(t, err)
			assertWire(t, ends[row.closes]+"\n"+row.event, got)
		})
	}

	t.Run("every type has a row", func(t *testing.T) {
		for _, typ := range event.Types() {
			assert.Equal(t, !typ.IsChunk(), covered[typ], typ)
		}
	})

	t.Run("P-CHK-7 a subagent's terminal without owner is malformed and closes nothing", func(t *testing.T) {
		x := new(chunks.Expander)
		_, err := expand(x, events(t, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}`))
		require.NoError(t, err)
		got, err := expand(x, []event.Event{&event.SubagentFinished{}, &event.SubagentError{}})
		require.NoError(t, err)
		assert.Len(t, got, 2)
	})

	t.Run("P-CHK-7 opening order is that of the streams, whatever their kinds and lanes were before", func(t *testing.T) {
		got, err := expand(new(chunks.Expander), events(t, `
			{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","subagentRunId":"s1"}
			{"type":"REASONING_MESSAGE_CHUNK","messageId":"r2","subagentRunId":"s2"}
			{"type":"TEXT_MESSAGE_CHUNK","messageId":"m3","subagentRunId":"s3"}
			{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1b","subagentRunId":"s1"}
			{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`))
		require.NoError(t, err)
		require.Greater(t, len(got), 5)
		assertWire(t, `
			{"type":"REASONING_MESSAGE_END","messageId":"r2","subagentRunId":"s2"}
			{"type":"TEXT_MESSAGE_END","messageId":"m3","subagentRunId":"s3"}
			{"type":"TEXT_MESSAGE_END","messageId":"m1b","subagentRunId":"s1"}
			{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, got[5:])
	})
}
