package event

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shapes holds for each type an event with the required members only and one with every member, spelt as
// AppendJSON spells them.
var shapes = map[Type]struct{ minimal, full string }{
	TypeTextMessageStart: {
		`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n",COMMON}`},
	TypeTextMessageContent: {
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d",COMMON}`},
	TypeTextMessageEnd: {
		`{"type":"TEXT_MESSAGE_END","messageId":""}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m",COMMON}`},
	TypeTextMessageChunk: {
		`{"type":"TEXT_MESSAGE_CHUNK"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"developer","delta":"d","name":"n",COMMON}`},
	TypeToolCallStart: {
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"t","parentMessageId":"",COMMON}`},
	TypeToolCallArgs: {
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":""}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":","subagentRunId":"","timestamp":1}`},
	TypeToolCallEnd: {
		`{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"c",COMMON}`},
	TypeToolCallChunk: {
		`{"type":"TOOL_CALL_CHUNK"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"t","parentMessageId":"m","delta":"d",COMMON}`},
	TypeToolCallResult: {
		`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","id":"p","text":"x","metadata":{}},` +
			`{"type":"image","source":{"type":"file","value":"h","mimeType":"image/png","provider":"p"}}],"role":"tool",COMMON}`},
	TypeThinkingStart:              {`{"type":"THINKING_START"}`, `{"type":"THINKING_START","title":"t",PARENT}`},
	TypeThinkingEnd:                {`{"type":"THINKING_END"}`, `{"type":"THINKING_END",PARENT}`},
	TypeThinkingTextMessageStart:   {`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_START",PARENT}`},
	TypeThinkingTextMessageContent: {`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"d"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"d",PARENT}`},
	TypeThinkingTextMessageEnd:     {`{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_TEXT_MESSAGE_END",PARENT}`},
	TypeStateSnapshot: {
		`{"type":"STATE_SNAPSHOT","snapshot":null}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"a":[9007199254740993,1.0]},COMMON}`},
	TypeStateDelta: {
		`{"type":"STATE_DELTA","delta":[]}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"","value":null},{"op":"replace","path":"/a","value":1},` +
			`{"op":"test","path":"/~0~1","value":[]},{"op":"remove","path":"/","value":"ignored"},` +
			`{"op":"move","path":"/b","from":""},{"op":"copy","path":"/b","from":"/c","x-extra":{}}],COMMON}`},
	TypeMessagesSnapshot: {
		`{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[` +
			`{"id":"1","role":"developer","subagentRunId":"s","content":"c","name":"n","encryptedValue":"e","metadata":{"k":null}},` +
			`{"id":"2","role":"system","content":""},` +
			`{"id":"3","role":"assistant"},` +
			`{"id":"4","role":"assistant","content":"c","name":"n","toolCalls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{"},"encryptedValue":"","metadata":{}}],"encryptedValue":"e"},` +
			`{"id":"5","role":"user","content":[],"name":"n"},` +
			`{"id":"6","role":"user","content":[{"type":"audio","id":"","source":{"type":"url","value":"u"}},{"type":"video","source":{"type":"data","value":"v","mimeType":"m"},"metadata":{"a":1}},{"type":"document","source":{"type":"file","value":"f"}}]},` +
			`{"id":"7","role":"tool","content":"c","toolCallId":"c","error":"e","encryptedValue":"e","metadata":{}},` +
			`{"id":"8","role":"activity","activityType":"a","content":{"x":null},"metadata":{}},` +
			`{"id":"9","role":"reasoning","content":"c","encryptedValue":"e"}],PARENT}`},
	TypeActivitySnapshot: {
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"n":null},"replace":false,COMMON}`},
	TypeActivityDelta: {
		`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}`,
		`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"remove","path":"/a"}],COMMON}`},
	TypeRaw: {
		`{"type":"RAW","event":null}`,
		`{"type":"RAW","event":{"any":[]},"source":"s",COMMON}`},
	TypeCustom: {
		`{"type":"CUSTOM","name":"n","value":null}`,
		`{"type":"CUSTOM","name":"n","value":{"a":null},COMMON}`},
	TypeRunStarted: {
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","input":` + fullInput + `,PARENT}`},
	TypeRunFinished: {
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":false,"outcome":{"type":"interrupt","interrupts":[` +
			`{"id":"i","reason":"r"},{"id":"i","reason":"r","message":"m","toolCallId":"c","responseSchema":{},"expiresAt":"2030-01-01T00:00:00Z","subagentRunId":"s","metadata":{}}]},` +
			`"usage":[{},{"provider":"p","model":"m","inputTokens":0,"outputTokens":1,"totalTokens":2,"reasoningTokens":3,"cachedInputTokens":4,"cacheWriteInputTokens":5}],PARENT}`},
	TypeRunError: {
		`{"type":"RUN_ERROR","message":"m"}`,
		`{"type":"RUN_ERROR","message":"m","code":"c","usage":[],PARENT}`},
	TypeStepStarted:  {`{"type":"STEP_STARTED","stepName":"s"}`, `{"type":"STEP_STARTED","stepName":"s",COMMON}`},
	TypeStepFinished: {`{"type":"STEP_FINISHED","stepName":"s"}`, `{"type":"STEP_FINISHED","stepName":"s",COMMON}`},
	TypeReasoningStart: {
		`{"type":"REASONING_START","messageId":"m"}`,
		`{"type":"REASONING_START","messageId":"m",COMMON}`},
	TypeReasoningMessageStart: {
		`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`,
		`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning",COMMON}`},
	TypeReasoningMessageContent: {
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":""}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"d",COMMON}`},
	TypeReasoningMessageEnd: {
		`{"type":"REASONING_MESSAGE_END","messageId":"m"}`,
		`{"type":"REASONING_MESSAGE_END","messageId":"m",COMMON}`},
	TypeReasoningMessageChunk: {
		`{"type":"REASONING_MESSAGE_CHUNK"}`,
		`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"",COMMON}`},
	TypeReasoningEnd: {
		`{"type":"REASONING_END","messageId":"m"}`,
		`{"type":"REASONING_END","messageId":"m",COMMON}`},
	TypeReasoningEncryptedValue: {
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"v"}`,
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"",COMMON}`},
	TypeSubagentStarted: {
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"d","parentSubagentRunId":"","parentToolCallId":"c","parentMessageId":"m",PARENT}`},
	TypeSubagentFinished: {
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"","outcome":{"type":"success"}}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":[],"outcome":{"type":"suspended","interruptIds":["i"]},PARENT}`},
	TypeSubagentError: {
		`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m","code":"",PARENT}`},
}

const fullInput = `{"threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p",` +
	`"messages":[{"id":"u","role":"user","content":"hi"}],"state":{"a":null},` +
	`"tools":[{"name":"n","description":"d"},{"name":"n","description":"d","parameters":true,"metadata":{}}],` +
	`"context":[{"description":"d","value":"v"}],"forwardedProps":0,` +
	`"resume":[{"interruptId":"i","status":"resolved","payload":[],"metadata":{}},{"interruptId":"j","status":"cancelled"}]}`

// spelt fills in the common members of a shape.
func spelt(shape string) string {
	const parent = `"timestamp":-5,"rawEvent":{"provider":[null]},"metadata":{"k":null}`
	return strings.NewReplacer("COMMON", `"subagentRunId":"s",`+parent, "PARENT", parent).Replace(shape)
}

func mustFrame(t testing.TB, data string) Frame {
	t.Helper()
	f, err := NewFrame([]byte(data))
	require.NoError(t, err, data)
	return f
}

// decodeClean decodes an event about which there is nothing to say.
func decodeClean(t testing.TB, data string) Event {
	t.Helper()
	ev, warnings, err := NewDecoder(nil).Decode(mustFrame(t, data))
	require.NoError(t, err, data)
	require.Empty(t, warnings, data)
	require.NotNil(t, ev, data)
	return ev
}

// TestEveryType walks the sealed set through everything that tells the types apart.
func TestEveryType(t *testing.T) {
	require.Len(t, shapes, len(Types()))
	for _, typ := range Types() {
		t.Run(typ.String(), func(t *testing.T) {
			empty := newEvent(typ)
			require.NotNil(t, empty)
			assert.Equal(t, typ, empty.Type())
			assert.True(t, json.Valid(jsonOf(empty)), "an empty struct still encodes")
			assert.True(t, empty.Owner().IsParent())

			for name, text := range map[string]string{"minimal": shapes[typ].minimal, "full": spelt(shapes[typ].full)} {
				ev := decodeClean(t, text)
				assert.Equal(t, typ, ev.Type(), name)
				assert.Equal(t, reflect.TypeOf(empty), reflect.TypeOf(ev), name)
				assert.Equal(t, text, string(jsonOf(ev)), name)
				marshaled, err := json.Marshal(ev)
				assert.NoError(t, err)
				assert.JSONEq(t, text, string(marshaled), name)
				assert.NoError(t, Check(ev), name)

				f := mustFrame(t, text)
				assert.Equal(t, typ, f.Type(), name)
				assert.Equal(t, ev.Owner(), f.Owner(), name)
				assert.NoError(t, Check(f), name)
				for _, strict := range []bool{false, true} {
					again, warnings, err := NewDecoder(&DecodeOptions{Strict: strict}).Decode(FrameOfEvent(ev))
					assert.NoError(t, err)
					assert.Empty(t, warnings)
					assert.Equal(t, string(jsonOf(ev)), string(jsonOf(again)), name)
				}
				if !typ.IsRetired() {
					assert.Same(t, ev, new(Upgrader).Upgrade(ev), name)
					assert.Equal(t, f, new(Upgrader).Upgrade(f), name)
				}
			}
		})
	}
}

func TestAttribution(t *testing.T) {
	for _, typ := range Types() {
		text := shapes[typ].minimal
		f := mustFrame(t, text).With("subagentRunId", state.String("who"))
		ev, warnings, err := NewDecoder(nil).Decode(f)
		require.NoError(t, err)
		if typ.isAttributable() || typ.requiresOwner() {
			assert.Equal(t, messages.SubagentOwner("who"), ev.Owner(), typ)
			assert.Equal(t, messages.SubagentOwner("who"), f.Owner(), typ)
			assert.Equal(t, messages.SubagentOwner("who"), mustFrame(t, string(f.Data())).Owner(), typ)
			assert.Empty(t, warnings, typ)
			continue
		}
		// P-VOC-3: on the others it is a property like any unknown one.
		assert.True(t, ev.Owner().IsParent(), typ)
		assert.True(t, f.Owner().IsParent(), typ)
		require.Len(t, warnings, 1, typ)
		assert.Equal(t, "/subagentRunId", warnings[0].Path, typ)
	}
}

func TestNilEventsArePassedOver(t *testing.T) {
	for _, typ := range Types() {
		null := reflect.Zero(reflect.TypeOf(newEvent(typ))).Interface().(Event)
		assert.ErrorAs(t, Check(null), new(*messages.MalformedError), typ)
		assert.Equal(t, null, new(Upgrader).Upgrade(null), typ)
	}
	assert.ErrorAs(t, Check(nil), new(*messages.MalformedError))
	assert.Nil(t, new(Upgrader).Upgrade(nil))
}
