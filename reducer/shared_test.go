package reducer_test

import (
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestState(t *testing.T) {
	withState := func(json string) *reducer.Options {
		v, err := state.Parse([]byte(json))
		require.NoError(t, err)
		return &reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "r", State: v}}
	}
	input := func(st string) string {
		return `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[]` + st + `}}`
	}
	runRows(t, []row{
		{name: "P-STA-1 SNAPSHOT replaces", script: `run | state {"a":1} | state {"b":2}`, state: `{"b":2}`},
		{name: "P-STA-1 with null", script: `run | state {"a":1} | state null`, state: `null`},
		{name: "P-STA-1 with 0", script: `run | state 0`, state: `0`},
		{name: "P-STA-1 with the empty string", script: `run | state ""`, state: `""`},
		{name: "P-STA-1 with false", script: `run | state false`, state: `false`},
		{name: "P-STA-1 with an array", script: `run | state [1] | patch [{"op":"add","path":"/-","value":2}]`, state: `[1,2]`},
		{name: "P-STA-1 DELTA patches", script: `run | state {"a":1} | patch [{"op":"replace","path":"/a","value":2},{"op":"add","path":"/b","value":[]}]`, state: `{"a":2,"b":[]}`},
		{name: "P-STA-1 atomically, and the warning names the op", script: `run | state {"a":1} | patch [{"op":"add","path":"/b","value":2},{"op":"remove","path":"/x"}]`, state: `{"a":1}`, warnings: "P-STA-1 /delta/1",
			check: func(t *testing.T, p played) { assert.Contains(t, p.warnings[0].Text, `no member "x"`) }},
		{name: "P-STA-1 a failed delta is followed by others", script: `run | patch [{"op":"remove","path":"/x"}] | patch [{"op":"add","path":"/y","value":1}] | done`, state: `{"y":1}`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-1 an empty delta", script: `run | state {"a":1} | patch []`, state: `{"a":1}`},
		{name: "P-STA-1 a subagent's events change the run's state", script: `run | state @s1 {"a":1} | patch @s2 [{"op":"add","path":"/b","value":2}]`, state: `{"a":1,"b":2}`},
		{name: "P-STA-1 the state persists across runs", script: `run | state {"a":1} | done | run b | patch [{"op":"add","path":"/b","value":2}]`, state: `{"a":1,"b":2}`},
		{name: "P-STA-1 also after a failed run", script: `run | state {"a":1} | fail x | run b`, state: `{"a":1}`},
		{name: "P-STA-2 {} to start with", script: "run", state: `{}`},
		{name: "P-STA-2 the input's state", script: `run | patch [{"op":"add","path":"/b","value":2}]`, options: withState(`{"a":1}`), state: `{"a":1,"b":2}`},
		{name: "P-STA-2 the input's state is not an object", script: `run`, options: withState(`[1]`), state: `[1]`},
		{name: "P-STA-2 {} if the input's is null", script: `run`, options: withState(`null`), state: `{}`},
		{name: "D-7 RUN_STARTED.input.state is the baseline of a fold without state", script: input(`,"state":{"a":1}`) + ` | patch [{"op":"add","path":"/b","value":2}]`, state: `{"a":1,"b":2}`},
		{name: "D-7 null is none", script: input(`,"state":null`) + " | done | " + input(`,"state":{"a":1}`), state: `{"a":1}`},
		{name: "D-7 not of a fold that was given one", script: input(`,"state":{"a":1}`), options: withState(`{"z":1}`), state: `{"z":1}`},
		{name: "D-7 not of a fold that has one from a snapshot", script: "run | state {} | done | " + input(`,"state":{"a":1}`), state: `{}`},
		{name: "D-7 not of a fold that has one from a patch", script: `run | patch [{"op":"add","path":"/b","value":2}] | done | ` + input(`,"state":{"a":1}`), state: `{"b":2}`},
		{name: "D-7 not of a fold that has one from an earlier run", script: input(`,"state":{"a":1}`) + " | done | " + input(`,"state":{"a":2}`), state: `{"a":1}`},
		{name: "D-7 a patch that failed gives it none", script: `run | patch [{"op":"remove","path":"/x"}] | done | ` + input(`,"state":{"a":1}`), state: `{"a":1}`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-3 no negative index", script: `run | state [1,2] | patch [{"op":"remove","path":"/-1"}]`, state: `[1,2]`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-3 no leading zeros", script: `run | state [1,2] | patch [{"op":"remove","path":"/01"}]`, state: `[1,2]`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-3 - only to append", script: `run | state [1,2] | patch [{"op":"remove","path":"/-"}]`, state: `[1,2]`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-3 the root may be replaced", script: `run | state {"a":1} | patch [{"op":"replace","path":"","value":7}]`, state: `7`},
		{name: "P-STA-3 the root may be added", script: `run | patch [{"op":"add","path":"","value":null}]`, state: `null`},
		{name: "P-STA-3 no move into its own child", script: `run | state {"a":{"b":1}} | patch [{"op":"move","from":"/a","path":"/a/c"}]`, state: `{"a":{"b":1}}`, warnings: "P-STA-1 /delta/0"},
		{name: "P-STA-3 test compares numbers by value", script: `run | state {"a":100} | patch [{"op":"test","path":"/a","value":1e2},{"op":"add","path":"/b","value":1}]`, state: `{"a":100,"b":1}`},
		{name: "P-STA-3 test compares objects without order", script: `run | state {"a":{"x":1,"y":2}} | patch [{"op":"test","path":"/a","value":{"y":2,"x":1}},{"op":"remove","path":"/a"}]`, state: `{}`},
		{name: "P-STA-3 numbers keep their digits", script: `run | state {"n":9007199254740993} | patch [{"op":"copy","from":"/n","path":"/m"},{"op":"add","path":"/f","value":1.10}]`, state: `{"n":9007199254740993,"m":9007199254740993,"f":1.10}`},
	})
}

func TestMessagesSnapshot(t *testing.T) {
	const start = `run | text m1 | say m1 old | endtext m1 | text m2 | endtext m2 | think r1 | endthink r1 | activity a1 x {} | activity a2 y {} | `
	const own = ` + {"metadata":{"@ag-ui/client":{"authoritativeActivityTypes":`
	runRows(t, []row{
		{name: "P-MSG-1 a held message is replaced in place", script: start + `messages [{"id":"m2","role":"assistant","content":"b"},{"id":"m1","role":"user","content":"a"}]`,
			messages: `user m1 "a" | assistant m2 "b" | reasoning r1 "" | activity a1 x {} | activity a2 y {}`},
		{name: "P-MSG-1 unknown ones are appended in the snapshot's order", script: start + `messages [{"id":"n2","role":"user","content":""},{"id":"m1","role":"assistant","content":""},{"id":"n1","role":"system","content":""}]`,
			messages: `assistant m1 "" | reasoning r1 "" | activity a1 x {} | activity a2 y {} | user n2 "" | system n1 ""`},
		{name: "P-MSG-1 held ones that it omits are dropped", script: start + `messages []`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {}`},
		{name: "P-MSG-1 tool results too", script: `run | call c1 f | result t1 c1 x | messages []`, messages: ""},
		{name: "P-MSG-1 activities go if it carries any", script: start + `messages [{"id":"a2","role":"activity","activityType":"y","content":{"n":1}}]`, messages: `reasoning r1 "" | activity a2 y {"n":1}`},
		{name: "P-MSG-1 reasoning goes if it carries any", script: start + `messages [{"id":"r2","role":"reasoning","content":"n"}]`, messages: `activity a1 x {} | activity a2 y {} | reasoning r2 "n"`},
		{name: "P-MSG-1 of the same kind", script: start + `messages [{"id":"r1","role":"user","content":"u"}]`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | user r1 "u"`, warnings: "P-ID-1 r1"},
		{name: "P-MSG-1 what was dropped may come back", script: start + `messages [] | messages [{"id":"m1","role":"user","content":"back"}]`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | user m1 "back"`},
		{name: "P-MSG-1 it closes chunks", script: `run | chunk m1 x | messages [{"id":"m1","role":"assistant","content":"y"}] | done`, messages: `assistant m1 "y"`},
		{name: "D-8 an id repeated inside it keeps its last copy, once", script: `run | messages [{"id":"m1","role":"user","content":"1"},{"id":"m2","role":"user","content":""},{"id":"m1","role":"user","content":"3"}]`,
			messages: `user m2 "" | user m1 "3"`, warnings: "P-MSG-1 m1"},
		{name: "D-8 in place if it is held", script: `run | text m1 | text m2 | messages [{"id":"m2","role":"user","content":""},{"id":"m1","role":"user","content":"1"},{"id":"m1","role":"user","content":"2"}]`,
			messages: `user m1 "2" | user m2 ""`, warnings: "P-MSG-1 m1"},
		{name: "D-8 a warning for each copy too many", script: `run | messages [{"id":"m1","role":"user","content":"1"},{"id":"m1","role":"user","content":"2"},{"id":"m1","role":"user","content":"3"}]`,
			messages: `user m1 "3"`, warnings: "P-MSG-1 m1, P-MSG-1 m1"},
		{name: "P-MSG-2 null owns all activity types", script: start + `messages []` + own + `null}}}`, messages: `reasoning r1 ""`},
		{name: "P-MSG-2 an array owns those", script: start + `messages []` + own + `["x",7]}}}`, messages: `reasoning r1 "" | activity a2 y {}`},
		{name: "P-MSG-2 an empty array owns none, even if it carries one", script: start + `messages [{"id":"a3","role":"activity","activityType":"x","content":{}}]` + own + `[]}}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | activity a3 x {}`},
		{name: "P-MSG-2 the activities that it carries are replaced, whatever it owns", script: start + `messages [{"id":"a2","role":"activity","activityType":"y","content":{"n":1}}]` + own + `["x"]}}}`, messages: `reasoning r1 "" | activity a2 y {"n":1}`},
		{name: "P-MSG-2 anything else owns none", script: start + `messages [{"id":"a3","role":"activity","activityType":"x","content":{}}]` + own + `"x"}}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | activity a3 x {}`},
		{name: "P-MSG-2 a client key that is not an object owns none, even if the snapshot carries one", script: start + `messages [{"id":"a3","role":"activity","activityType":"x","content":{}}] + {"metadata":{"@ag-ui/client":false}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | activity a3 x {}`},
		{name: "P-MSG-2 nor one that is null", script: start + `messages [{"id":"a3","role":"activity","activityType":"x","content":{}}] + {"metadata":{"@ag-ui/client":null}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {} | activity a3 x {}`},
		{name: "P-MSG-2 absent beside other keys", script: start + `messages [] + {"metadata":{"@ag-ui/client":{"z":1}}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {}`},
		{name: "P-MSG-2 a client key that is not an object", script: start + `messages [] + {"metadata":{"@ag-ui/client":[1]}}`, messages: `reasoning r1 "" | activity a1 x {} | activity a2 y {}`},
		{name: "P-MSG-3 the input adds the messages that the thread does not hold", script: `run a | text m1 | say m1 mine | endtext m1 | done a | run b + {"input":{"threadId":"t","runId":"b","tools":[],"context":[],"messages":[{"id":"u1","role":"user","content":"hi"},{"id":"m1","role":"assistant","content":"theirs"},{"id":"u2","role":"user","content":""}]}}`,
			messages: `assistant m1 "mine" | user u1 "hi" | user u2 ""`},
		{name: "P-MSG-3 if two share an id, the first", script: `run + {"input":{"threadId":"t","runId":"b","tools":[],"context":[],"messages":[{"id":"u1","role":"user","content":"1"},{"id":"u1","role":"user","content":"2"}]}}`, messages: `user u1 "1"`},
		{name: "P-MSG-3 their order is kept after what is there", script: `run + {"input":{"threadId":"t","runId":"b","tools":[],"context":[],"messages":[{"id":"u2","role":"user","content":""},{"id":"u1","role":"user","content":""}]}} | text u1 | say u1 x`, messages: `user u2 "" | user u1 "x"`},
	})
}

func TestActivities(t *testing.T) {
	runRows(t, []row{
		{name: "P-ACT-1 SNAPSHOT creates", script: `run | activity @s1 a1 plan {"n":1}`, messages: `activity a1 @s1 plan {"n":1}`},
		{name: "P-ACT-1 replace:false creates too", script: `run | activity a1 plan {"n":1} + {"replace":false}`, messages: `activity a1 plan {"n":1}`},
		{name: "P-ACT-1 it replaces content, type and owner, in place", script: `run | activity @s1 a1 plan {"n":1} | text m1 | activity @s2 a1 map {"k":2}`, messages: `activity a1 @s2 map {"k":2} | assistant m1 ""`},
		{name: "P-ACT-1 an absent owner too", script: `run | activity @s1 a1 plan {} | activity a1 plan {}`, messages: `activity a1 plan {}`},
		{name: "P-ACT-1 replace:true is the default", script: `run | activity a1 plan {"n":1} | activity a1 map {} + {"replace":true}`, messages: `activity a1 map {}`},
		{name: "P-ACT-1 it keeps accumulated metadata", script: `run | activity a1 plan {} + {"metadata":{"a":1}} | activity a1 plan {}`, messages: `activity a1 plan {} meta={"a":1}`},
		{name: "P-ACT-1 replace:false on a held one changes only metadata", script: `run | activity @s1 a1 plan {"n":1} | activity @s2 a1 map {} + {"replace":false,"metadata":{"a":1}}`, messages: `activity a1 @s1 plan {"n":1} meta={"a":1}`},
		{name: "P-ACT-2 DELTA patches and re-types", script: `run | activity a1 plan {"n":1} | apatch a1 map [{"op":"replace","path":"/n","value":2}]`, messages: `activity a1 map {"n":2}`},
		{name: "P-ACT-2 an empty patch re-types", script: `run | activity a1 plan {"n":1} | apatch a1 map []`, messages: `activity a1 map {"n":1}`},
		{name: "P-ACT-2 a missing one", script: `run | apatch a1 plan [] | done`, warnings: "P-ACT-2 a1"},
		{name: "P-ACT-2 one that is gone", script: `run | activity a1 plan {} | messages [{"id":"a2","role":"activity","activityType":"x","content":{}}] | apatch a1 plan []`, messages: `activity a2 x {}`, warnings: "P-ACT-2 a1"},
		{name: "P-ACT-2 a text message is not an activity", script: `run | text a1 | apatch a1 plan []`, messages: `assistant a1 ""`, warnings: "P-ACT-2 a1"},
		{name: "P-ACT-2 a patch that does not apply changes nothing", script: `run | activity a1 plan {"n":1} | apatch a1 map [{"op":"add","path":"/k","value":1},{"op":"remove","path":"/x"}]`, messages: `activity a1 plan {"n":1}`, warnings: "P-ACT-2 a1"},
		{name: "D-9 a result that is not an object is skipped", script: `run | activity a1 plan {"n":1} | apatch a1 map [{"op":"replace","path":"","value":[1]}]`, messages: `activity a1 plan {"n":1}`, warnings: "P-ACT-2 a1"},
		{name: "D-9 a root that is another object is fine", script: `run | activity a1 plan {"n":1} | apatch a1 map [{"op":"replace","path":"","value":{"k":1}}]`, messages: `activity a1 map {"k":1}`},
		{name: "P-ACT-2 an activity of an earlier run", script: `run | activity a1 plan {"n":1} | done | run b | apatch a1 plan [{"op":"remove","path":"/n"}]`, messages: `activity a1 plan {}`},
	})
}

func TestSnapshotsThatShareMessages(t *testing.T) {
	call := &messages.ToolCall{ID: "c1", Name: "f"}
	m := &messages.Message{ID: "m1", Role: messages.RoleAssistant, Owner: messages.SubagentOwner("s1"), ToolCalls: messages.NewList(call)}
	again := &event.MessagesSnapshot{Messages: []*messages.Message{m}}
	r := reducer.New(nil)
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "a"}, again, again,
		&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "f"}, &event.ToolCallArgs{ToolCallID: "c1", Delta: "x"})
	assert.Empty(t, call.Arguments, "the event's own message stays")
	apply(t, r, &event.RunError{Message: "x"}, &event.RunStarted{ThreadID: "t", RunID: "b"}, again)
	assert.Equal(t, `assistant m1 @s1 [c1 f() complete]`, show(r.Thread()))
	err := r.Apply(&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "f", Attribution: event.By(messages.SubagentOwner("s2"))})
	assert.Equal(t, "P-VER-5", rule(err), "the snapshot set the owner of a call that it did not change")
}
