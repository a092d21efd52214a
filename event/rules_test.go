package event

import (
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// brief is a warning without its sentence.
type brief struct{ rule, path string }

func briefs(ws []Warning) []brief {
	var bs []brief
	for _, w := range ws {
		bs = append(bs, brief{w.Rule, w.Path})
	}
	return bs
}

// TestEnforcementRemoves has what is tolerated: the event without it, and the warnings.
func TestEnforcementRemoves(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		out      string // "" when the event is dropped
		warnings []brief
	}{
		{"P-ENF-1 an event of unknown type is dropped",
			`{"type":"FUTURE_EVENT","x":1}`, "", []brief{{"P-ENF-1", ""}}},
		{"P-ENF-2 an unknown property is removed",
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","futureProp":1}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`,
			[]brief{{"P-ENF-2", "/futureProp"}}},
		{"P-ENF-2 the path escapes what a JSON pointer escapes",
			`{"type":"STEP_STARTED","stepName":"s","a/b~c":null}`,
			`{"type":"STEP_STARTED","stepName":"s"}`,
			[]brief{{"P-ENF-2", "/a~1b~0c"}}},
		{"P-ENF-2 every nested unknown property is named",
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","x":1,"content":[{"type":"text","text":"t","y":2},{"type":"image","source":{"type":"url","value":"u","z":3}}]}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"url","value":"u"}}]}]}`,
			[]brief{{"P-ENF-2", "/messages/0/content/0/y"}, {"P-ENF-2", "/messages/0/content/1/source/z"}, {"P-ENF-2", "/messages/0/x"}}},
		{"P-ENF-2 a member that belongs to another role is unknown",
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"activity","activityType":"a","content":{},"encryptedValue":"e"}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"activity","activityType":"a","content":{}}]}`,
			[]brief{{"P-ENF-2", "/messages/0/encryptedValue"}}},
		{"P-ENF-2 a member that belongs to another source is unknown",
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"url","value":"u","provider":"p"}}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"url","value":"u"}}]}`,
			[]brief{{"P-ENF-2", "/content/0/source/provider"}}},
		{"P-ENF-2 open objects are not looked into",
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"x":null},"rawEvent":{"y":{"type":"z"}},"metadata":{"w":null}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"x":null},"rawEvent":{"y":{"type":"z"}},"metadata":{"w":null}}`,
			nil},
		{"P-ENF-2 a patch operation is an open object",
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1,"from":3,"note":null}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1,"from":3,"note":null}]}`,
			nil},
		{"P-ENF-3 a content part of a new kind is removed from its list",
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":[{"type":"text","text":"a"},{"type":"hologram","source":7},{"type":"text","text":"b"}]}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
			[]brief{{"P-ENF-3", "/messages/0/content/1"}}},
		{"P-ENF-3 a source of a new kind takes the part that requires it along",
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","extra":1,"source":{"type":"quantum"}}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}`,
			[]brief{{"P-ENF-3", "/content/0"}}},
		{"P-ENF-3 what lies inside a removed place is not judged",
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","id":7,"metadata":null,"source":{"type":"quantum"}}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}`,
			[]brief{{"P-ENF-3", "/content/0"}}},
		{"P-ENF-3 a message of a new role is removed from its list",
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator"},{"id":"1","role":"reasoning","content":""}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"reasoning","content":""}]}`,
			[]brief{{"P-ENF-3", "/messages/0"}}},
		{"P-ENF-3 an outcome of a new kind is removed from its optional field",
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","x":1}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
			[]brief{{"P-ENF-3", "/outcome"}}},
		{"P-ENF-3 so is the outcome of a subagent",
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"paused"}}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`,
			[]brief{{"P-ENF-3", "/outcome"}}},
		{"P-ENF-3 a patch operation that the RFC does not define is removed",
			`{"type":"STATE_DELTA","delta":[{"op":"increment","path":3},{"op":"remove","path":"/a"}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}`,
			[]brief{{"P-ENF-3", "/delta/0"}}},
		{"P-ENF-3 an activity's patch too",
			`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"","path":"/a"}]}`,
			`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}`,
			[]brief{{"P-ENF-3", "/patch/0"}}},
		{"P-ENF-5 an unknown role of a text message is stripped, so it is the assistant's",
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
			[]brief{{"P-ENF-5", "/role"}}},
		{"P-ENF-5 a role that only other messages have is unknown too",
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"tool"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}`,
			[]brief{{"P-ENF-5", "/role"}}},
		{"P-ENF-5 an unknown subtype, which is required, takes the event along",
			`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"x","entityId":7,"y":1}`,
			"", []brief{{"P-ENF-5", ""}}},
		{"P-ENF-5 an unknown status takes its resume entry along",
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"expired"}]}}`,
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"resume":[]}}`,
			[]brief{{"P-ENF-5", "/input/resume/0"}}},
		{"P-STA-2 the state of an input may be null, which is absent",
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"state":null}}`,
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[]}}`,
			nil},
		{"if two members share a key, the last one counts, and only that one is judged",
			`{"type":"RAW","type":"TEXT_MESSAGE_END","messageId":7,"messageId":"m"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
			nil},
		{"an integer is one by its value",
			`{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":1.5e3}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":1500}`,
			nil},
		{"a byte that is not UTF-8 becomes U+FFFD",
			"{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"a\xffb\"}",
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a` + "\uFFFD" + `b"}`,
			nil},
		{"a lone surrogate is kept",
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"\ud83d","delta":"\ude00"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"\ud83d","delta":"\ude00"}`,
			nil},
		{"an escaped key is the key",
			`{"\u0074ype":"STEP_STARTED","stepN\u0061me":"s"}`,
			`{"type":"STEP_STARTED","stepName":"s"}`,
			nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := mustFrame(t, tc.in)
			ev, warnings, err := NewDecoder(nil).Decode(f)
			require.NoError(t, err)
			assert.Equal(t, tc.warnings, briefs(warnings))
			for _, w := range warnings {
				assert.Equal(t, f.TypeName(), w.Type)
				assert.NotEmpty(t, w.Text)
				assert.Zero(t, w.Ordinal)
			}
			if tc.out == "" {
				assert.Nil(t, ev)
			} else {
				assert.Equal(t, tc.out, string(jsonOf(ev)))
				assert.NoError(t, Check(ev), "what enforcement leaves is right")
			}

			_, _, err = NewDecoder(&DecodeOptions{Strict: true}).Decode(f)
			if len(tc.warnings) == 0 {
				assert.NoError(t, err)
				return
			}
			// P-ENF-7: strict mode makes the first warning an error that names the type and the path.
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.ErrorAs(t, err, new(*messages.MalformedError))
			assert.Equal(t, "P-ENF-7", malformed.Rule)
			assert.Equal(t, f.TypeName(), malformed.Type)
			if tc.warnings[0].rule != "P-ENF-1" {
				assert.Equal(t, tc.warnings[0].path, malformed.Path)
			}
		})
	}
}

func TestWarningsSayWhat(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"type":"FUTURE_EVENT"}`, `P-ENF-1 FUTURE_EVENT: dropped: AG-UI 1.0 knows no event of this type`},
		{`{"type":"STEP_STARTED","stepName":"s","x":1}`, `P-ENF-2 STEP_STARTED /x: removed: the property is not described`},
		{`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"quantum"}}]}`,
			`P-ENF-3 TOOL_CALL_RESULT /content/0: removed: /source/type is "quantum", which is not recognized`},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}`,
			`P-ENF-5 TEXT_MESSAGE_START /role: removed: "narrator" is not recognized`},
		{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"x"}`,
			`P-ENF-5 REASONING_ENCRYPTED_VALUE: dropped: /subtype is "x", which is not recognized`},
	} {
		_, warnings, err := NewDecoder(nil).Decode(mustFrame(t, tc.in))
		require.NoError(t, err)
		require.Len(t, warnings, 1)
		assert.Equal(t, tc.want, warnings[0].String())
	}
}

// TestEnforcementRejects has what is fatal: where, what belongs there and what is there (P-ENF-4).
func TestEnforcementRejects(t *testing.T) {
	input := func(member string) string {
		return `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[]` + member + `}}`
	}
	message := func(m string) string { return `{"type":"MESSAGES_SNAPSHOT","messages":[` + m + `]}` }
	const (
		end      = `{"type":"TEXT_MESSAGE_END","messageId":"m"`
		finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"`
	)
	for _, tc := range []struct{ name, in, path, want, found string }{
		{"a wrong JSON type", `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":1}`, "/delta", "a string", "number 1"},
		{"a missing required field", `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}`, "/delta", "a string", "nothing"},
		{"a missing required value", `{"type":"STATE_SNAPSHOT"}`, "/snapshot", "any JSON value", "nothing"},
		{"a missing raw event", `{"type":"RAW","source":"s"}`, "/event", "any JSON value", "nothing"},
		{"a missing custom value", `{"type":"CUSTOM","name":"n"}`, "/value", "any JSON value", "nothing"},
		{"a missing owner where one is required", `{"type":"SUBAGENT_ERROR","message":"m"}`, "/subagentRunId", "a string", "nothing"},
		{"P-NULL-1 null in an optional string", `{"type":"TOOL_CALL_CHUNK","parentMessageId":null}`, "/parentMessageId", "a string or no such member", "null"},
		{"P-NULL-1 null in an optional object", end + `,"metadata":null}`, "/metadata", "an object or no such member", "null"},
		{"P-NULL-1 null in an optional value", end + `,"rawEvent":null}`, "/rawEvent", "a value or no such member", "null"},
		{"P-NULL-1 null as result", finished + `,"result":null}`, "/result", "a value or no such member", "null"},
		{"P-NULL-1 null as outcome", finished + `,"outcome":null}`, "/outcome", "an object", "null"},
		{"P-NULL-1 null in an optional list", finished + `,"usage":null}`, "/usage", "an array", "null"},
		{"P-NULL-1 null as role", `{"type":"TEXT_MESSAGE_START","messageId":"m","role":null}`, "/role", "a string or no such member", "null"},
		{"P-NULL-1 null in an input", input(`,"forwardedProps":null`), "/input/forwardedProps", "a value or no such member", "null"},
		{"P-CMP-2 a null subagentRunId is always fatal", `{"type":"STEP_STARTED","stepName":"s","subagentRunId":null}`, "/subagentRunId", "a string or no such member", "null"},
		{"a boolean of another kind", `{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{},"replace":"no"}`, "/replace", "a boolean or no such member", "string"},
		{"a fraction as timestamp", end + `,"timestamp":1.5}`, "/timestamp", "an integer within ±(2^53-1) or no such member", "number 1.5"},
		{"a timestamp above the range", end + `,"timestamp":9007199254740992}`, "/timestamp", "an integer within ±(2^53-1) or no such member", "number 9007199254740992"},
		{"a timestamp below the range", end + `,"timestamp":-9007199254740992}`, "/timestamp", "an integer within ±(2^53-1) or no such member", "number -9007199254740992"},
		{"a huge exponent", end + `,"timestamp":1e1000000000}`, "/timestamp", "an integer within ±(2^53-1) or no such member", "number 1e1000000000"},
		{"a timestamp that is a string", end + `,"timestamp":"1"}`, "/timestamp", "an integer within ±(2^53-1) or no such member", "string"},
		{"a negative count", finished + `,"usage":[{"inputTokens":-1}]}`, "/usage/0/inputTokens", "a non-negative integer up to 2^53-1 or no such member", "number -1"},
		{"a count that is not an integer", `{"type":"RUN_ERROR","message":"m","usage":[{},{"totalTokens":0.5}]}`, "/usage/1/totalTokens", "a non-negative integer up to 2^53-1 or no such member", "number 0.5"},
		{"an array instead of an object", finished + `,"outcome":[{"type":"interrupt"}]}`, "/outcome", "an object", "array"},
		{"an object instead of an array", `{"type":"STATE_DELTA","delta":{}}`, "/delta", "an array", "object"},
		{"an activity's content that is not an object", `{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":[]}`, "/content", "an object", "array"},
		{"a fixed value that differs", `{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}`, "/role", `"reasoning"`, `"assistant"`},
		{"a fixed value that is missing", `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, "/role", `"reasoning"`, "nothing"},
		{"the fixed role of a tool result", `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"user"}`, "/role", `"tool"`, `"user"`},
		{"the fixed type of a tool call", message(`{"id":"1","role":"assistant","toolCalls":[{"id":"c","type":"f","function":{"name":"n","arguments":""}}]}`), "/messages/0/toolCalls/0/type", `"function"`, `"f"`},
		{"a tool call without function", message(`{"id":"1","role":"assistant","toolCalls":[{"id":"c","type":"function"}]}`), "/messages/0/toolCalls/0/function", "an object", "nothing"},
		{"arguments that are not text", message(`{"id":"1","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"n","arguments":{}}}]}`), "/messages/0/toolCalls/0/function/arguments", "a string", "object"},
		{"an element that is not a message", message(`42`), "/messages/0", "an object", "number 42"},
		{"a message without role", message(`{"id":"1","content":""}`), "/messages/0/role", "a string", "nothing"},
		{"a message without id", message(`{"role":"user","content":""}`), "/messages/0/id", "a string", "nothing"},
		{"parts where only text may be", message(`{"id":"1","role":"system","content":[]}`), "/messages/0/content", "a string", "array"},
		{"user content of another kind", message(`{"id":"1","role":"user","content":{}}`), "/messages/0/content", "a string or an array of content parts", "object"},
		{"user content that is missing", message(`{"id":"1","role":"user"}`), "/messages/0/content", "a string or an array of content parts", "nothing"},
		{"a tool message without its call", message(`{"id":"1","role":"tool","content":""}`), "/messages/0/toolCallId", "a string", "nothing"},
		{"a part without type", message(`{"id":"1","role":"user","content":[{"text":"t"}]}`), "/messages/0/content/0/type", "a string", "nothing"},
		{"a text part without text", message(`{"id":"1","role":"user","content":[{"type":"text"}]}`), "/messages/0/content/0/text", "a string", "nothing"},
		{"a media part without source", message(`{"id":"1","role":"user","content":[{"type":"image"}]}`), "/messages/0/content/0/source", "an object", "nothing"},
		{"data without its type", message(`{"id":"1","role":"user","content":[{"type":"image","source":{"type":"data","value":""}}]}`), "/messages/0/content/0/source/mimeType", "a string", "nothing"},
		{"an operation without op", `{"type":"STATE_DELTA","delta":[{"path":""}]}`, "/delta/0/op", "a string", "nothing"},
		{"an operation without path", `{"type":"STATE_DELTA","delta":[{"op":"remove"}]}`, "/delta/0/path", "a string", "nothing"},
		{"an operation without value", `{"type":"STATE_DELTA","delta":[{"op":"test","path":""}]}`, "/delta/0/value", "any JSON value", "nothing"},
		{"an operation without from", `{"type":"STATE_DELTA","delta":[{"op":"move","path":""}]}`, "/delta/0/from", "a string", "nothing"},
		{"a path that is not a pointer", `{"type":"STATE_DELTA","delta":[{"op":"remove","path":"a"}]}`, "/delta/0/path", "a JSON pointer", `"a"`},
		{"a from that is not a pointer", `{"type":"STATE_DELTA","delta":[{"op":"copy","path":"","from":"/~2"}]}`, "/delta/0/from", "a JSON pointer", `"/~2"`},
		{"an outcome without type", finished + `,"outcome":{}}`, "/outcome/type", "a string", "nothing"},
		{"an interrupt outcome without interrupts", finished + `,"outcome":{"type":"interrupt"}}`, "/outcome/interrupts", "an array", "nothing"},
		{"an interrupt outcome with none", finished + `,"outcome":{"type":"interrupt","interrupts":[]}}`, "/outcome/interrupts", "one or more interrupts", "none"},
		{"an interrupt without reason", finished + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}`, "/outcome/interrupts/0/reason", "a string", "nothing"},
		{"a pending id that is not a string", finished + `,"outcome":{"type":"success","pendingToolCallIds":[null]}}`, "/outcome/pendingToolCallIds/0", "a string", "null"},
		{"an interrupt id that is not a string", `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":[42]}}`, "/outcome/interruptIds/0", "a string", "number 42"},
		{"a tool without description", input(`,"tools":[{"name":"n"}]`), "/input/tools/0/description", "a string", "nothing"},
		{"a context without value", input(`,"context":[{"description":"d"}]`), "/input/context/0/value", "a string", "nothing"},
		{"a subtype that is not a string", `{"type":"REASONING_ENCRYPTED_VALUE","subtype":1,"entityId":"e","encryptedValue":"v"}`, "/subtype", "a string", "number 1"},
		{"malformed beside unrecognized", `{"type":"TEXT_MESSAGE_START","messageId":7,"role":"narrator","x":1}`, "/messageId", "a string", "number 7"},
	} {
		t.Run("P-ENF-4 "+tc.name, func(t *testing.T) {
			f := mustFrame(t, tc.in)
			for _, strict := range []bool{false, true} {
				ev, warnings, err := NewDecoder(&DecodeOptions{Strict: strict}).Decode(f)
				assert.Nil(t, ev)
				assert.Empty(t, warnings)
				var got *messages.MalformedError
				require.ErrorAs(t, err, &got)
				got.Hint = "" // see TestHints
				assert.Equal(t, &messages.MalformedError{Rule: "P-ENF-4", Type: f.TypeName(), Path: tc.path, Want: tc.want, Found: tc.found}, got)
			}
		})
	}
}

func TestMalformedErrorIsOneLine(t *testing.T) {
	err := &messages.MalformedError{Rule: "P-ENF-4", Ordinal: 3, Type: "TEXT_MESSAGE_CONTENT", Path: "/delta", Want: "a string", Found: "number 1"}
	assert.Equal(t, "P-ENF-4 event 3 TEXT_MESSAGE_CONTENT /delta: want a string, found number 1", err.Error())
	assert.Equal(t, "P-PIPE-2: want x, found y", (&messages.MalformedError{Rule: "P-PIPE-2", Want: "x", Found: "y"}).Error())

	long := strings.Repeat("x", 1000)
	_, _, got := NewDecoder(nil).Decode(mustFrame(t, `{"type":"REASONING_MESSAGE_START","messageId":"m","role":"`+long+`"}`))
	assert.Less(t, len(got.Error()), 200, "an error shows a bounded part of a value")
}

func TestEncodingKeepsOpenValues(t *testing.T) {
	const text = `{"type":"CUSTOM","name":"n","value":[9007199254740993,1.0,1e2,-0,null,{"b":1,"a":{}}],"metadata":{"__proto__":null}}`
	assert.Equal(t, text, string(jsonOf(decodeClean(t, text))))
}
