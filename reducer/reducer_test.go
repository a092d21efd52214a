package reducer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorsAreFinal(t *testing.T) {
	for name, script := range map[string]string{
		"a violation":                   "run | text m1 | say m2 x",
		"a malformed event":             `run | text m1 | {"type":"CUSTOM","name":7,"value":1}`,
		"a chunk that cannot be placed": `run | text m1 | {"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, script, nil)
			require.Error(t, p.err)
			assert.Equal(t, p.err, p.r.Err())
			assert.Equal(t, p.err, p.th.Err())
			assert.Equal(t, `assistant m1 ""`, show(p.th), "what was delivered before stays")
			for _, ev := range parse(t, "text m3 | run b | fail x | unknown") {
				delivered, err := deliver(p.r, ev)
				assert.Empty(t, delivered)
				require.ErrorIs(t, err, reducer.ErrFinal)
				assert.Equal(t, rule(p.err), rule(err), "the first error is matched too")
				assert.Contains(t, err.Error(), p.err.Error())
			}
			assert.Same(t, p.th, p.r.Thread())
			assert.Same(t, p.th, p.r.End(nil))
			assert.Equal(t, p.err, p.r.Err())
		})
	}
}

func TestDeliveriesBeforeAnError(t *testing.T) {
	t.Run("what a chunk delivered before it failed comes with the error", func(t *testing.T) {
		r := reducer.New(nil)
		for _, ev := range parse(t, "run | text @s1 m2 | chunk m1 a") {
			err := r.Apply(ev)
			require.NoError(t, err)
		}
		delivered, err := deliver(r, parse(t, "chunk m2 b")[0])
		require.Equal(t, "P-VER-2", rule(err))
		require.Len(t, delivered, 1)
		assert.Equal(t, event.TypeTextMessageEnd, delivered[0].Event.Type())
		assert.Equal(t, 4, delivered[0].Ordinal)
		var v *reducer.Violation
		require.ErrorAs(t, err, &v)
		assert.Equal(t, 4, v.Ordinal)
		assert.Equal(t, event.TypeTextMessageStart, v.Type, "the type after expansion")
		assert.Equal(t, "m2", v.ID)
	})
	t.Run("what was removed from an event is reported though the event fails", func(t *testing.T) {
		p := play(t, `run | say m1 x + {"color":1}`, nil)
		require.Equal(t, "P-VER-2", rule(p.err))
		last := p.deliveries[len(p.deliveries)-1]
		assert.Nil(t, last.Event)
		assert.Equal(t, "P-ENF-2 /color", showWarnings(last.Warnings))
	})
	t.Run("an error of expansion is a violation under the rule of chunks", func(t *testing.T) {
		p := play(t, `run | unknown | {"type":"TOOL_CALL_CHUNK","toolCallId":"c1","delta":"x"}`, nil)
		var v *reducer.Violation
		require.ErrorAs(t, p.err, &v)
		assert.Equal(t, reducer.Violation{Rule: "P-CHK-2", Ordinal: 3, Type: event.TypeToolCallChunk, ID: "c1", Reason: v.Reason}, withoutCause(v))
		assert.ErrorAs(t, p.err, new(*chunks.Error))
		var ce *chunks.Error
		require.ErrorAs(t, p.err, &ce)
		assert.Equal(t, 3, ce.Ordinal)
	})
}

// withoutCause returns the exported part of a violation.
func withoutCause(v *reducer.Violation) reducer.Violation {
	return reducer.Violation{Rule: v.Rule, Ordinal: v.Ordinal, Type: v.Type, ID: v.ID, Reason: v.Reason}
}

func TestOrdinals(t *testing.T) {
	note := event.Warning{Rule: "X-1", Text: "a middleware dropped it"}
	events := parse(t, "run | chunk m1 a | unknown")
	events = append(events, event.Notice(note))
	events = append(events, parse(t, "chunk m2 b | chunk m2 c | done | say m9 x")...)
	p := playEvents(events, nil)
	var got []string
	for _, s := range p.deliveries {
		name := "-"
		if s.Event != nil {
			name = s.Event.Type().String()
		}
		for _, w := range s.Warnings {
			assert.Equal(t, s.Ordinal, w.Ordinal)
			name += " " + w.Rule
		}
		got = append(got, fmt.Sprint(s.Ordinal, " ", name))
	}
	assert.Equal(t, []string{
		"1 RUN_STARTED", "2 TEXT_MESSAGE_START", "2 TEXT_MESSAGE_CONTENT", "3 - P-ENF-1", "4 - X-1",
		"5 TEXT_MESSAGE_END", "5 TEXT_MESSAGE_START", "5 TEXT_MESSAGE_CONTENT", "6 TEXT_MESSAGE_CONTENT",
		"7 TEXT_MESSAGE_END", "7 RUN_FINISHED",
	}, got)
	var v *reducer.Violation
	require.ErrorAs(t, p.err, &v)
	assert.Equal(t, 8, v.Ordinal)
}

func TestDeliveriesWithoutEvent(t *testing.T) {
	p := play(t, "run | text m1 | unknown", nil)
	last := p.deliveries[len(p.deliveries)-1]
	assert.Nil(t, last.Event)
	assert.Equal(t, reducer.Change{Index: -1}, last.Change, "nothing changed, whatever the event before did")
}

func TestWarningsComeOnce(t *testing.T) {
	t.Run("those that traveled with a frame", func(t *testing.T) {
		p := play(t, `run | {"type":"THINKING_START","title":"x"}`, nil)
		assert.Equal(t, "P-CMP-1, P-CMP-1 /title", showWarnings(p.warnings))
		assert.Equal(t, p.warnings, p.deliveries[1].Warnings)
		assert.Equal(t, 2, p.warnings[0].Ordinal)
	})
	t.Run("those of decoding and of the fold, in the step they belong to", func(t *testing.T) {
		p := play(t, `run | patch [{"op":"remove","path":"/x"}] + {"color":1}`, nil)
		require.Len(t, p.deliveries, 2)
		assert.Equal(t, "P-ENF-2 /color, P-STA-1 /delta/0", showWarnings(p.deliveries[1].Warnings))
		assert.Equal(t, p.deliveries[1].Warnings, p.warnings)
	})
	t.Run("none about what the reducer was made with", func(t *testing.T) {
		var warnings []event.Warning
		r := reducer.New(&reducer.Options{
			OnWarning: func(w event.Warning) { warnings = append(warnings, w) },
			Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{
				{ID: "x", Role: messages.RoleUser, Content: messages.Text("")}, {ID: "x", Role: messages.RoleReasoning, Content: messages.Text("")},
			}},
		})
		delivered, err := deliver(r, &event.RunStarted{ThreadID: "t", RunID: "r"})
		require.NoError(t, err)
		assert.Empty(t, delivered[0].Warnings)
		assert.Empty(t, warnings)
		assert.Equal(t, 2, r.Thread().Messages.Len())
	})
}

func TestEventsThatAreNone(t *testing.T) {
	for name, ev := range map[string]event.Event{
		"nil": nil, "a nil pointer": (*event.TextMessageStart)(nil), "a nil pointer to a chunk": (*event.TextMessageChunk)(nil),
		"a nil RUN_STARTED": (*event.RunStarted)(nil), "the zero frame": event.Frame{},
		"a nil message":          &event.MessagesSnapshot{Messages: []*messages.Message{nil}},
		"a message of no role":   &event.MessagesSnapshot{Messages: []*messages.Message{{ID: "m1"}}},
		"a nil message in input": &event.RunStarted{ThreadID: "t", RunID: "r", Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{nil}}},
		"no state":               &event.StateSnapshot{},
		"an activity of no kind": &event.ActivitySnapshot{MessageID: "a1", Content: state.Int(1)},
		"an unknown role":        &event.TextMessageStart{MessageID: "m1", Role: "tool"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reducer.New(nil)
			apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
			delivered, err := deliver(r, ev)
			require.ErrorAs(t, err, new(*messages.MalformedError))
			assert.Empty(t, delivered)
			var m *messages.MalformedError
			require.ErrorAs(t, err, &m)
			assert.Equal(t, 2, m.Ordinal)
			assert.Equal(t, reducer.Rejected, r.Thread().Status())
		})
	}
}

func TestChanges(t *testing.T) {
	for _, r := range []struct{ name, script, want string }{
		{"RUN_STARTED", "run", `{"kind":"runBegan","runId":"r"}`},
		{"RUN_FINISHED", "run | done", `{"kind":"runEnded","runId":"r"}`},
		{"RUN_ERROR", "run | fail x", `{"kind":"runEnded","runId":"r"}`},
		{"STEP_STARTED", "run | step a", `{"kind":"stepBegan","stepName":"a"}`},
		{"STEP_FINISHED", "run | step a | endstep a", `{"kind":"stepEnded","stepName":"a"}`},
		{"TEXT_MESSAGE_START", "run | text m1 | text m2", `{"kind":"messageAdded","messageId":"m2","index":1}`},
		{"TEXT_MESSAGE_START of a held one", "run | text m1 | endtext m1 | text m1", `{"kind":"messageReopened","messageId":"m1","index":0}`},
		{"TEXT_MESSAGE_CONTENT", "run | text m1 | say m1 x", `{"kind":"textAppended","messageId":"m1","index":0,"delta":"x"}`},
		{"TEXT_MESSAGE_END", "run | text m1 | endtext m1", `{"kind":"messageClosed","messageId":"m1","index":0}`},
		{"TEXT_MESSAGE_CONTENT of one that is gone", "run | text m1 | messages [] | say m1 x", `{"kind":"unchanged"}`},
		{"REASONING_MESSAGE_CONTENT", "run | think r1 | thought r1 x", `{"kind":"textAppended","messageId":"r1","index":0,"delta":"x"}`},
		{"REASONING_START", "run | span r1", `{"kind":"unchanged"}`},
		{"TOOL_CALL_START", "run | call c1 f m1", `{"kind":"toolCallAdded","messageId":"m1","index":0,"toolCallId":"c1"}`},
		{"TOOL_CALL_START of a held one", "run | call c1 f m1 | endcall c1 | call c1 f", `{"kind":"toolCallReopened","messageId":"m1","index":0,"toolCallId":"c1"}`},
		{"TOOL_CALL_ARGS", "run | call c1 f m1 | args c1 x", `{"kind":"argumentsAppended","messageId":"m1","index":0,"toolCallId":"c1","delta":"x"}`},
		{"TOOL_CALL_END", "run | call c1 f m1 | endcall c1", `{"kind":"toolCallClosed","messageId":"m1","index":0,"toolCallId":"c1"}`},
		{"TOOL_CALL_RESULT", "run | call c1 f m1 | text m2 | result t1 c1 x", `{"kind":"messageAdded","messageId":"t1","index":1,"toolCallId":"c1"}`},
		{"TOOL_CALL_RESULT again", "run | call c1 f m1 | text m2 | result t1 c1 x | result t1 c1 y", `{"kind":"messageReplaced","messageId":"t1","index":1,"toolCallId":"c1"}`},
		{"REASONING_ENCRYPTED_VALUE", "run | text m1 | secret message m1 v", `{"kind":"encryptedValueSet","messageId":"m1","index":0}`},
		{"REASONING_ENCRYPTED_VALUE of a call", "run | call c1 f m1 | secret tool-call c1 v", `{"kind":"encryptedValueSet","messageId":"m1","index":0,"toolCallId":"c1"}`},
		{"ACTIVITY_SNAPSHOT", "run | activity a1 x {}", `{"kind":"messageAdded","messageId":"a1","index":0}`},
		{"ACTIVITY_SNAPSHOT again", "run | activity a1 x {} | activity a1 x {}", `{"kind":"messageReplaced","messageId":"a1","index":0}`},
		{"ACTIVITY_SNAPSHOT that does not replace", `run | activity a1 x {} | activity a1 x {} + {"replace":false}`, `{"kind":"unchanged"}`},
		{"ACTIVITY_SNAPSHOT that does not replace but has metadata", `run | activity a1 x {} | activity a1 x {} + {"replace":false,"metadata":{"a":1}}`, `{"kind":"metadataMerged","messageId":"a1","index":0}`},
		{"ACTIVITY_DELTA", "run | activity a1 x {} | apatch a1 x []", `{"kind":"activityPatched","messageId":"a1","index":0}`},
		{"ACTIVITY_DELTA that fails", `run | activity a1 x {} | apatch a1 x [{"op":"remove","path":"/q"}]`, `{"kind":"unchanged"}`},
		{"ACTIVITY_DELTA that fails but has metadata", `run | activity a1 x {} | apatch a1 x [{"op":"remove","path":"/q"}] + {"metadata":{"a":1}}`, `{"kind":"metadataMerged","messageId":"a1","index":0}`},
		{"STATE_SNAPSHOT", "run | state 1", `{"kind":"stateReplaced"}`},
		{"STATE_DELTA", "run | patch []", `{"kind":"statePatched"}`},
		{"STATE_DELTA that fails", `run | patch [{"op":"remove","path":"/q"}]`, `{"kind":"unchanged"}`},
		{"MESSAGES_SNAPSHOT", "run | messages []", `{"kind":"conversationRestated"}`},
		{"SUBAGENT_STARTED", "run | sub s1 n", `{"kind":"subagentBegan","subagentRunId":"s1"}`},
		{"SUBAGENT_FINISHED", "run | sub s1 n | endsub s1", `{"kind":"subagentEnded","subagentRunId":"s1"}`},
		{"SUBAGENT_ERROR", "run | sub s1 n | failsub s1 x", `{"kind":"subagentEnded","subagentRunId":"s1"}`},
		{"CUSTOM", "run | custom n", `{"kind":"unchanged"}`},
		{"RAW", "run | raw 1", `{"kind":"unchanged"}`},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, nil)
			require.NoError(t, p.err)
			c := p.deliveries[len(p.deliveries)-1].Change
			got, err := c.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, r.want, string(got))
			assert.Equal(t, c.MessageKind == messages.KindNone, c.Index == -1, "-1 for a change that is about no message")
		})
	}
	assert.Equal(t, "unknown", reducer.ChangeKind(200).String())
}

func TestRevisions(t *testing.T) {
	r := reducer.New(nil)
	assert.Zero(t, r.Revision())
	empty := r.Thread()
	assert.Equal(t, reducer.Empty, empty.Status())
	assert.Equal(t, `{"threadId":"","revision":0,"status":"empty","messages":[],"state":{},"runs":[],"subagents":[],"interrupts":[],"pendingToolCallIds":[]}`, string(empty.AppendJSON(nil)))
	for i, ev := range parse(t, "run | text m1 | unknown | chunk m2 a") {
		before := r.Thread()
		delivered, err := deliver(r, ev)
		require.NoError(t, err)
		th := r.Thread()
		if i == 2 {
			assert.Same(t, before, th, "a dropped event changes nothing")
			continue
		}
		assert.Equal(t, before.Revision+uint64(len(delivered)), th.Revision, "each delivered event counts")
		assert.Same(t, th, r.Thread(), "nothing changed since")
		assert.Equal(t, th.Revision, r.Revision())
	}
	err := r.Apply(nil)
	require.Error(t, err)
	assert.Equal(t, uint64(5), r.Revision(), "so does the end of the stream")
}

func TestErrorJSON(t *testing.T) {
	for _, r := range []struct{ name, script, want string }{
		{"a run that failed", "run | fail no + {\"code\":\"E\"}", `{"kind":"run","message":"no","code":"E"}`},
		{"a run that failed without code", "run | fail no", `{"kind":"run","message":"no"}`},
		{"a violation", "run | say m1 x", `{"kind":"protocol","message":"the text message \"m1\" is not open","rule":"P-VER-2","ordinal":2,"type":"TEXT_MESSAGE_CONTENT","id":"m1"}`},
		{"a malformed event", `run | {"type":"TEXT_MESSAGE_END","messageId":7}`, `{"kind":"malformed","message":"P-ENF-4 event 2 TEXT_MESSAGE_END /messageId: want a string, found number 7","rule":"P-ENF-4","ordinal":2,"type":"TEXT_MESSAGE_END","path":"/messageId"}`},
		{"a stream that was cut", "run", `{"kind":"truncated","message":"the stream ended before the run did"}`},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, nil)
			v, err := state.Parse(p.r.End(nil).AppendJSON(nil))
			require.NoError(t, err)
			assert.Equal(t, r.want, v.Get("error").String())
			assert.Equal(t, r.want, v.Get("runs").Index(0).Get("error").String())
		})
	}
}

func TestThreadJSON(t *testing.T) {
	p := play(t, `run r1 + {"protocolVersion":"1.0","parentRunId":"r0","metadata":{"a":1}} | step a | endstep a | step @s1 b | endstep @s1 b | sub s1 n + {"description":"d","parentToolCallId":"c1","parentMessageId":"m1"} | failsub s1 no + {"code":"E"} | text m1 | call c1 f m1 | endcall c1 | endtext m1 | done r1 + {"result":[1],"usage":[{"model":"m","inputTokens":1}],"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]}}`, nil)
	require.NoError(t, p.err)
	want := `{"threadId":"t","revision":12,"status":"interrupted",` +
		`"messages":[{"id":"m1","role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}],"state":{},` +
		`"runs":[{"runId":"r1","parentRunId":"r0","protocolVersion":"1.0","status":"interrupted","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]},"result":[1],"usage":[{"model":"m","inputTokens":1}],` +
		`"steps":[{"stepName":"a","finished":true},{"stepName":"b","subagentRunId":"s1","finished":true}],"pendingToolCallIds":["c1"],"metadata":{"a":1}}],` +
		`"subagents":[{"subagentRunId":"s1","depth":0,"announced":true,"name":"n","description":"d","parentToolCallId":"c1","parentMessageId":"m1","status":"failed","error":{"message":"no","code":"E"},"runId":"r1"}],` +
		`"interrupts":[{"id":"i1","reason":"ask"}],"pendingToolCallIds":["c1"]}`
	assert.Equal(t, want, string(p.th.AppendJSON(nil)))
	text, err := p.th.MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, want, string(text))
	step, err := play(t, `run | text m1 + {"color":1}`, nil).deliveries[1].MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, `{"ordinal":2,"event":{"type":"TEXT_MESSAGE_START","messageId":"m1"},"change":{"kind":"messageAdded","messageId":"m1","index":0},"warnings":[{"rule":"P-ENF-2","ordinal":2,"type":"TEXT_MESSAGE_START","path":"/color","text":`, string(step[:strings.Index(string(step), `"text":`)+7]))
	dropped, err := play(t, `unknown`, nil).deliveries[0].MarshalJSON()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(dropped), `{"ordinal":1,"event":null,"change":{"kind":"unchanged"},"warnings":[`))
	assert.Equal(t, `{"threadId":"","revision":0,"status":"empty","messages":[],"state":{},"runs":[],"subagents":[],"interrupts":[],"pendingToolCallIds":[]}`, string(new(reducer.Thread).AppendJSON(nil)), "the zero thread")
}

func TestThreadLookups(t *testing.T) {
	th := play(t, `run | text x | call c1 f x | endcall c1 | activity a1 p {} | result t1 c1 ok | think x | done`, nil).th
	m, i := th.Message("x")
	assert.Equal(t, messages.RoleReasoning, m.Role, "the last one with the id")
	assert.Equal(t, 3, i)
	m, i = th.Message("nope")
	assert.Nil(t, m)
	assert.Equal(t, -1, i)
	c, holder := th.ToolCall("c1")
	assert.Equal(t, "f", c.Name)
	assert.Equal(t, "x", holder.ID)
	first := &messages.ToolCall{ID: "twin", Name: "first"}
	twins := new(reducer.Thread).ReplaceMessages(
		&messages.Message{ID: "a", Role: messages.RoleAssistant, ToolCalls: messages.NewList(first, &messages.ToolCall{ID: "twin", Name: "second"})},
		&messages.Message{ID: "b", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "twin", Name: "third"})},
	)
	c, holder = twins.ToolCall("twin")
	assert.Equal(t, "first", c.Name, "the first one with the id (P-TOL-2)")
	assert.Equal(t, "a", holder.ID)
	c, holder = th.ToolCall("nope")
	assert.Nil(t, c)
	assert.Nil(t, holder)
	assert.Equal(t, "t1", th.ToolResult("c1").ID)
	assert.Nil(t, th.ToolResult("nope"))
	var zero reducer.Thread
	assert.Nil(t, zero.LastRun())
	assert.NoError(t, zero.Err())
	assert.Empty(t, zero.PendingToolCallIDs())
	assert.Empty(t, zero.Usage())
}

func TestThreadsThatNoReducerMade(t *testing.T) {
	call := func(args string) messages.List[*messages.ToolCall] {
		return messages.NewList(&messages.ToolCall{ID: "c1", Name: "f", Arguments: args})
	}
	th := &reducer.Thread{ID: "mine", Messages: messages.NewList(
		&messages.Message{ID: "u", Role: messages.RoleUser, Content: messages.Text("first")},
		&messages.Message{ID: "a", Role: messages.RoleAssistant, ToolCalls: call("1")},
		&messages.Message{ID: "u", Role: messages.RoleUser, Content: messages.Text("second")},
		&messages.Message{ID: "a", Role: messages.RoleAssistant},
		&messages.Message{ID: "t", Role: messages.RoleTool, ToolCallID: "c1", Content: messages.Text("")},
		&messages.Message{ID: "z", Role: messages.RoleAssistant, Content: messages.Text("z")},
	)}
	p := play(t, "run | text u | say u ! | call c1 f | args c1 x | text z | say z !", &reducer.Options{Thread: th})
	require.NoError(t, p.err)
	assert.Equal(t, `user u "first!" | assistant a [c1 f(1x) streaming] | tool t ->c1 "" | assistant z "z!"`, show(p.th))
	assert.Equal(t, "mine", p.th.ID)
	assert.Equal(t, 6, th.Messages.Len(), "the thread itself stays")
	assert.Equal(t, "z", th.Messages.At(5).Text())
}
