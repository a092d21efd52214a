package reducer_test

import (
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToolCalls(t *testing.T) {
	const called = `{"id":"m1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const twice = `messages [` + called + `,{"id":"m2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}]`
	runRows(t, []row{
		{name: "P-TOL-1 START attaches the call to its parent", script: "run | text m1 | call c1 f m1", messages: `assistant m1 "" [c1 f() streaming]`},
		{name: "P-TOL-1 several calls keep their order", script: "run | text m1 | call c1 f m1 | call c2 g m1", messages: `assistant m1 "" [c1 f() streaming] [c2 g() streaming]`},
		{name: "P-TOL-1 without parent the call's id names the message", script: "run | call c1 f", messages: `assistant c1 [c1 f() streaming]`},
		{name: "P-TOL-1 an empty parent is none", script: "run | text _ | call c1 f _", messages: `assistant  "" | assistant c1 [c1 f() streaming]`},
		{name: "P-TOL-1 a parent of another role is none", warnings: "P-TOL-1 c1", script: `run | text m1 + {"role":"user"} | call c1 f m1`, messages: `user m1 "" | assistant c1 [c1 f() streaming]`},
		{name: "P-TOL-1 an unknown parent names a new message", script: "run | call c1 f m1", messages: `assistant m1 [c1 f() streaming]`},
		{name: "P-TOL-1 a parent that is gone is made anew", script: "run | text m1 | endtext m1 | messages [] | call c1 f m1", messages: `assistant m1 [c1 f() streaming]`},
		{name: "P-TOL-1 the new message goes to the end", script: "run | text m1 | call c1 f m2", messages: `assistant m1 "" | assistant m2 [c1 f() streaming]`},
		{name: "P-TOL-1 the new message takes the event's owner", script: "run | call @s1 c1 f", messages: `assistant c1 @s1 [c1 f() streaming]`},
		{name: "P-TOL-1 a second call joins the message made for the first", script: "run | call c1 f m1 | call c2 f m1", messages: `assistant m1 [c1 f() streaming] [c2 f() streaming]`},
		{name: "P-TOL-1 an assistant message with the call's id takes it in", script: "run | text c1 | call c1 f", messages: `assistant c1 "" [c1 f() streaming]`},
		{name: "P-TOL-1 the call's id is that of a user message: ids stay unique", script: `run | text c1 + {"role":"user"} | call c1 f`, messages: `user c1 "" | assistant c1-2 [c1 f() streaming]`},
		{name: "P-TOL-1 a tool message or an activity is not a parent", script: `run | result x c9 "" | call c1 f x`, messages: `tool x ->c9 "\"\"" | assistant c1 [c1 f() streaming]`, warnings: "P-TOL-3 x, P-TOL-1 c1"},
		{name: "P-TOL-2 START of a held call continues it", warnings: "P-TOL-2 c1", script: "run | call c1 f | args c1 ab | endcall c1 | call c1 f | args c1 c", messages: `assistant c1 [c1 f(abc) streaming]`},
		{name: "P-TOL-2 another name is taken, with a warning", script: "run | call c1 f | args c1 ab | endcall c1 | call c1 g", messages: `assistant c1 [c1 g(ab) streaming]`, warnings: "P-TOL-2 c1, P-TOL-2 c1"},
		{name: "P-TOL-2 metadata merges", script: `run | call c1 f + {"metadata":{"a":1}} | endcall c1 | call c1 f + {"metadata":{"b":2}}`, messages: `assistant c1 [c1 f() streaming meta={"a":1,"b":2}]`},
		{name: "P-TOL-2 another parent adds no second call", script: "run | text m1 | text m2 | call c1 f m1 | endcall c1 | call c1 f m2", messages: `assistant m1 "" [c1 f() streaming] | assistant m2 ""`},
		{name: "P-TOL-2 a call that a snapshot brought is held", warnings: "P-TOL-2 c1", script: "run | messages [" + called + "] | call c1 f | args c1 x", messages: `assistant m1 [c1 f({}x) streaming]`},
		{name: "P-TOL-2 a call that the input brought is held", warnings: "P-TOL-2 c1", script: `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[` + called + `]}} | call c1 f | args c1 x`, messages: `assistant m1 [c1 f({}x) streaming]`},
		{name: "P-TOL-2 a call of an earlier run is held", warnings: "P-TOL-2 c1", script: "run | call c1 f | args c1 a | endcall c1 | done | run b | call c1 f | args c1 b", messages: `assistant c1 [c1 f(ab) streaming]`},
		{name: "P-TOL-2 a call that is gone is made anew", script: "run | call c1 f | args c1 a | endcall c1 | messages [] | call c1 f | args c1 b", messages: `assistant c1 [c1 f(b) streaming]`},
		{name: "P-TOL-2 if two held calls share an id, the first continues", warnings: "P-TOL-2 m2, P-TOL-2 c1", script: "run | " + twice + " | call c1 f | args c1 x", messages: `assistant m1 [c1 f({}x) streaming] | assistant m2 [c1 f(2) complete]`},
		{name: "P-TOL-2 if two calls of a message share an id, the first continues", warnings: "P-TOL-2 m1, P-TOL-2 c1", script: `run | messages [{"id":"m1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"1"}},{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}] | call c1 f | args c1 x`,
			messages: `assistant m1 [c1 f(1x) streaming] [c1 f(2) complete]`},
		{name: "P-TOL-2 the second continues once a snapshot dropped the first", warnings: "P-TOL-2 m2, P-TOL-2 c1", script: "run | " + twice + ` | messages [{"id":"m2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}] | call c1 f | args c1 x`, messages: `assistant m2 [c1 f(2x) streaming]`},
		{name: "P-TOL-2 the first continues once a snapshot dropped the second", warnings: "P-TOL-2 m2, P-TOL-2 c1", script: "run | " + twice + ` | messages [` + called + `] | done | run b | call c1 f | args c1 x | endcall c1 | messages [] | done b`, messages: ""},
		{name: "P-TOL-3 RESULT goes after the message that holds the call", script: "run | call c1 f m1 | endcall c1 | text m2 | result t1 c1 ok", messages: `assistant m1 [c1 f() answered] | tool t1 ->c1 "ok" | assistant m2 ""`},
		{name: "P-TOL-3 after results already there", script: "run | call c1 f m1 | call c2 f m1 | text m2 | result t2 c2 b | result t1 c1 a", messages: `assistant m1 [c1 f() answered] [c2 f() answered] | tool t2 ->c2 "b" | tool t1 ->c1 "a" | assistant m2 ""`},
		{name: "P-TOL-3 after results of other calls that happen to be there", warnings: "P-TOL-3 t9", script: "run | call c1 f m1 | result t9 c9 x | text m2 | result t1 c1 a", messages: `assistant m1 [c1 f() answered] | tool t9 ->c9 "x" | tool t1 ->c1 "a" | assistant m2 ""`},
		{name: "P-TOL-3 two holders keep their own", warnings: "P-TOL-3 t3", script: "run | call c1 f m1 | call c2 f m2 | text m3 | result t2 c2 b | result t1 c1 a | result t3 c2 c", messages: `assistant m1 [c1 f() answered] | tool t1 ->c1 "a" | assistant m2 [c2 f() answered] | tool t2 ->c2 "b" | tool t3 ->c2 "c" | assistant m3 ""`},
		{name: "P-TOL-3 without owner, at the end", warnings: "P-TOL-3 t1", script: "run | result t1 c1 ok | text m1", messages: `tool t1 ->c1 "ok" | assistant m1 ""`},
		{name: "P-TOL-3 a call that is gone has no owner", warnings: "P-TOL-3 t1", script: `run | call c1 f | endcall c1 | messages [{"id":"m1","role":"user","content":""}] | result t1 c1 ok`, messages: `user m1 "" | tool t1 ->c1 "ok"`},
		{name: "P-TOL-3 a call of an earlier run", script: "run | call c1 f m1 | endcall c1 | done | run b | text m2 | result t1 c1 ok", messages: `assistant m1 [c1 f() answered] | tool t1 ->c1 "ok" | assistant m2 ""`},
		{name: "P-TOL-3 a call that a snapshot brought", script: `run | messages [` + called + `,{"id":"m2","role":"user","content":""}] | result t1 c1 ok`, messages: `assistant m1 [c1 f({}) answered] | tool t1 ->c1 "ok" | user m2 ""`},
		{name: "P-TOL-3 if two held calls share an id, the first is answered", warnings: "P-TOL-2 m2", script: "run | " + twice + " | result t1 c1 ok", messages: `assistant m1 [c1 f({}) answered] | tool t1 ->c1 "ok" | assistant m2 [c1 f(2) complete]`},
		{name: "P-TOL-3 parts", warnings: "P-TOL-3 t1", script: `run | result t1 c1 + {"content":[{"type":"text","text":"x"}]}`, messages: `tool t1 ->c1 [{"type":"text","text":"x"}]`},
		{name: "P-TOL-3 the event's owner", script: "run | call c1 f | result @s1 t1 c1 ok", messages: `assistant c1 [c1 f() answered] | tool t1 @s1 ->c1 "ok"`},
		{name: "D-6 a result with an id already there replaces in place", script: "run | call c1 f m1 | text m2 | result t1 c1 a | result @s1 t1 c1 b", messages: `assistant m1 [c1 f() answered] | tool t1 @s1 ->c1 "b" | assistant m2 ""`},
		{name: "P-TOL-3 a result of another call under the same id is its own", warnings: "P-ID-1 t1", script: "run | call c1 f m1 | call c2 f m2 | result t1 c1 a | result t1 c2 b", messages: `assistant m1 [c1 f() answered] | tool t1 ->c1 "a" | assistant m2 [c2 f() answered] | tool t1 ->c2 "b"`},
		{name: "D-6 a text message of that id is another's", script: "run | text t1 | result t1 c1 a", messages: `assistant t1 "" | tool t1 ->c1 "a"`, warnings: "P-TOL-3 t1, P-ID-1 t1"},
		{name: "P-TOL-4 arguments are text", script: "run | call c1 f | args c1 {not | args c1 json | endcall c1 | done", messages: `assistant c1 [c1 f({notjson) complete]`},
		{name: "P-TOL-4 until END a call is streaming", script: "run | call c1 f | args c1 {}", messages: `assistant c1 [c1 f({}) streaming]`},
		{name: "P-TOL-5 a later run starts a broken call again", script: "run | call c1 f | args c1 {} | fail x | run b | call c1 f", warnings: "P-TOL-2 c1", messages: `assistant c1 [c1 f({}) streaming]`},
		{name: "P-TOL-5 and completes it", script: "run | call c1 f | fail x | run b | call c1 f | args c1 {} | endcall c1", messages: `assistant c1 [c1 f({}) complete]`},
		{name: "P-TOL-5 a broken call has an answer", script: "run | call c1 f | fail x | run b | result t c1 ok", messages: `assistant c1 [c1 f() answered] | tool t ->c1 "ok"`},
		{name: "P-TOL-5 a snapshot has a broken call whole", script: "run | call c1 f m1 | fail x | run b | messages [" + called + "]", messages: `assistant m1 [c1 f({}) complete]`},
		{name: "P-TOL-5 a run that fails completes no call", script: "run | call c1 f | args c1 {} | fail x", messages: `assistant c1 [c1 f({}) broken]`},
		{name: "P-TOL-4 no CONTENT for the message that holds only a call", script: "run | call c1 f | say c1 x", messages: `assistant c1 [c1 f() broken]`, rule: "P-VER-2"},
		{name: "a call is answered once a tool message answers it: before its end", script: "run | call c1 f | result t1 c1 ok | endcall c1", messages: `assistant c1 [c1 f() answered] | tool t1 ->c1 "ok"`},
		{name: "a call is answered once a tool message answers it: before its start", warnings: "P-TOL-3 t1", script: "run | result t1 c1 ok | call c1 f | endcall c1", messages: `tool t1 ->c1 "ok" | assistant c1 [c1 f() answered]`},
		{name: "a call is answered once a tool message answers it: in the input", script: `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[{"id":"t1","role":"tool","toolCallId":"c1","content":""},` + called + `]}}`, messages: `tool t1 ->c1 "" | assistant m1 [c1 f({}) answered]`},
		{name: "a call is answered once a tool message answers it: in a snapshot", script: `run | messages [` + called + `,{"id":"t1","role":"tool","toolCallId":"c1","content":""}]`, messages: `assistant m1 [c1 f({}) answered] | tool t1 ->c1 ""`},
		{name: "a call is open again once a snapshot drops the answer", script: `run | messages [` + called + `,{"id":"t1","role":"tool","toolCallId":"c1","content":""}] | messages [` + called + `]`, messages: `assistant m1 [c1 f({}) complete]`},
		{name: "a call that a snapshot restates while it streams is streaming", script: `run | call c1 f m1 | messages [` + called + `]`, messages: `assistant m1 [c1 f({}) streaming]`},
		{name: "a call that a snapshot restates while it streams keeps streaming", script: `run | call c1 f m1 | messages [` + called + `] | args c1 x | endcall c1`, messages: `assistant m1 [c1 f({}x) complete]`},
	})
}

func TestCallsAndResultsThatShareIDs(t *testing.T) {
	const called = `{"id":"a1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const called2 = `{"id":"a2","role":"assistant","toolCalls":[{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const result1, result2 = `{"id":"t","role":"tool","toolCallId":"c1","content":"A"}`, `{"id":"t","role":"tool","toolCallId":"c2","content":"B"}`
	const both = `assistant a1 [c1 f({}) answered] | tool t ->c1 "A" | assistant a2 [c2 f({}) answered] | tool t ->c2 "B"`
	const snapshot = "messages [" + called + "," + result1 + "," + called2 + "," + result2 + "]"
	input := func(run, msgs string) string {
		return "run " + run + ` + {"input":{"threadId":"t","runId":"` + run + `","tools":[],"context":[],"messages":[` + msgs + `]}}`
	}
	runRows(t, []row{
		{name: "P-TOL-3 across runs", script: "run | call c1 f a1 | endcall c1 | result t c1 A | done | run b | call c2 f a2 | endcall c2 | result t c2 B | done b",
			messages: strings.ReplaceAll(both, "{}", ""), warnings: "P-ID-1 t"},
		{name: "P-TOL-3 in a snapshot", script: "run | " + snapshot, messages: both, warnings: "P-ID-1 t, P-ID-1 t"},
		{name: "P-TOL-3 in a snapshot that restates them", script: "run | " + snapshot + " | " + snapshot, messages: both, warnings: "P-ID-1 t, P-ID-1 t"},
		{name: "P-TOL-3 in the input", script: input("r", called+","+result1+","+called2+","+result2), messages: both, warnings: "P-ID-1 t"},
		{name: "P-TOL-3 in the input of a later run", script: input("r", called+","+result1) + " | done | " + input("b", called+","+result1+","+called2+","+result2), messages: both, warnings: "P-ID-1 t"},
		{name: "P-TOL-3 a snapshot that drops the first", script: "run | " + snapshot + " | messages [" + called + "," + called2 + "," + result2 + "]",
			messages: `assistant a1 [c1 f({}) complete] | assistant a2 [c2 f({}) answered] | tool t ->c2 "B"`, warnings: "P-ID-1 t, P-ID-1 t"},
		{name: "P-TOL-3 a snapshot that drops the second", script: "run | " + snapshot + " | messages [" + called + "," + result1 + "," + called2 + "]",
			messages: `assistant a1 [c1 f({}) answered] | tool t ->c1 "A" | assistant a2 [c2 f({}) complete]`, warnings: "P-ID-1 t, P-ID-1 t"},
		{name: "P-TOL-3 a snapshot that drops both", script: "run | " + snapshot + " | messages [] | result t c1 A", messages: `tool t ->c1 "A"`, warnings: "P-ID-1 t, P-ID-1 t, P-TOL-3 t"},
		{name: "P-TOL-3 each is replaced by a result of its own call", script: "run | " + snapshot + " | result t c2 B2 | result t c1 A2",
			messages: strings.NewReplacer(`"A"`, `"A2"`, `"B"`, `"B2"`).Replace(both), warnings: "P-ID-1 t, P-ID-1 t"},
		{name: "P-REA-2 an encrypted value of results that share an id", script: "run | call c1 f a1 | endcall c1 | call c2 f a2 | endcall c2 | result t c2 B | result t c1 A | secret message t v",
			messages: `assistant a1 [c1 f() answered] | tool t ->c1 "A" secret=v | assistant a2 [c2 f() answered] | tool t ->c2 "B"`, warnings: "P-ID-1 t"},
		{name: "D-8 one result twice in a snapshot", script: "run | messages [" + called + "," + result1 + `,{"id":"t","role":"tool","toolCallId":"c1","content":"A2"}]`,
			messages: `assistant a1 [c1 f({}) answered] | tool t ->c1 "A2"`, warnings: "P-MSG-1 t"},
		{name: "P-TOL-3 two results of one call", script: "run | call c1 f a1 | endcall c1 | result t1 c1 A | result t2 c1 B",
			messages: `assistant a1 [c1 f() answered] | tool t1 ->c1 "A" | tool t2 ->c1 "B"`, warnings: "P-TOL-3 t2"},
		{name: "P-TOL-3 two results of one call in a snapshot", script: "run | messages [" + called + "," + result1 + `,{"id":"t2","role":"tool","toolCallId":"c1","content":"B"}]`,
			messages: `assistant a1 [c1 f({}) answered] | tool t ->c1 "A" | tool t2 ->c1 "B"`, warnings: "P-TOL-3 t2"},
		{name: "P-TOL-3 a result without a call in a snapshot", script: "run | messages [" + result1 + "] | messages [" + result1 + "]", messages: `tool t ->c1 "A"`, warnings: "P-TOL-3 t"},
		{name: "P-TOL-3 a result without a call in the input", script: input("r", result1), messages: `tool t ->c1 "A"`, warnings: "P-TOL-3 t"},
		{name: "P-TOL-3 a result before its call in a snapshot", script: "run | messages [" + result1 + "," + called + "]", messages: `tool t ->c1 "A" | assistant a1 [c1 f({}) answered]`},

		{name: "P-TOL-1 the parent is a tool result of the thread", script: "run | " + snapshot + " | call c3 f t", messages: both + ` | assistant c3 [c3 f() streaming]`, warnings: "P-ID-1 t, P-ID-1 t, P-TOL-1 c3"},
		{name: "P-TOL-1 the parent's and the call's own id are taken", script: `run | text u + {"role":"user"} | text c1 + {"role":"user"} | call c1 f u`, messages: `user u "" | user c1 "" | assistant c1-2 [c1 f() streaming]`, warnings: "P-TOL-1 c1"},
		{name: "P-TOL-1 the parent is a reasoning message", script: "run | think x | call c1 f x", messages: `reasoning x "" | assistant x [c1 f() streaming]`, warnings: "P-ID-1 x"},
		{name: "P-TOL-1 the parent is an activity", script: "run | activity x p {} | call c1 f x", messages: `activity x p {} | assistant x [c1 f() streaming]`, warnings: "P-ID-1 x"},
		{name: "P-TOL-1 a minted id meets a message of another owner", script: "run | text @s1 c1 | endtext c1 | call @s2 c1 f", messages: `assistant c1 @s1 "" [c1 f() streaming]`, warnings: "P-TOL-1 c1"},
		{name: "P-TOL-1 a minted id meets a message of the same owner", script: "run | text c1 | endtext c1 | call c1 f", messages: `assistant c1 "" [c1 f() streaming]`},

		{name: "P-TOL-2 a call that continues within its run", script: "run | call c1 f | args c1 {} | endcall c1 | call c1 f | args c1 {} | endcall c1", messages: `assistant c1 [c1 f({}{}) complete]`, warnings: "P-TOL-2 c1"},
		{name: "P-TOL-2 a call without arguments that is opened again", script: "run | call c1 f | endcall c1 | call c1 f | args c1 {} | endcall c1", messages: `assistant c1 [c1 f({}) complete]`},
		{name: "P-TOL-2 a call that broke off and is started again", script: "run | call c1 f | args c1 { | fail x | run b | call c1 f | args c1 {} | endcall c1", messages: `assistant c1 [c1 f({{}) complete]`, warnings: "P-TOL-2 c1"},
		{name: "P-TOL-2 a call twice in a snapshot while it is open", script: "run | call c1 f a1 | messages [" + called + `,{"id":"a2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}] | args c1 x | endcall c1`,
			messages: `assistant a1 [c1 f({}x) complete] | assistant a2 [c1 f(2) complete]`, warnings: "P-TOL-2 a2"},
		{name: "P-TOL-2 a call twice in one message of a snapshot while it is open", script: `run | call c1 f a1 | messages [{"id":"a1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"1"}},{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}]`,
			messages: `assistant a1 [c1 f(1) streaming] [c1 f(2) complete]`, warnings: "P-TOL-2 a1"},
	})
}

func TestACallIDThatALaterRunUsesAgain(t *testing.T) {
	const first = "run a | call call_0 f m1 | args call_0 {} | endcall call_0 | result t1 call_0 ok | done a"
	const again = " | run b | call call_0 f m2 | args call_0 {}"
	statuses := func(t *testing.T, script, want string, pending ...string) *reducer.Thread {
		t.Helper()
		p := play(t, script, nil)
		require.NoError(t, p.err)
		assert.Equal(t, want, show(p.th))
		assert.Equal(t, pending, p.th.PendingToolCallIDs())
		var back reducer.Thread
		require.NoError(t, back.UnmarshalJSON(p.th.AppendJSON(nil)))
		if p.th.Status() != reducer.Running {
			assert.Equal(t, want, show(&back), "as it is stored")
			assert.Equal(t, want, show(reducer.New(&reducer.Options{Thread: p.th}).Thread()), "as it is resumed")
		}
		return p.th
	}
	th := statuses(t, first+again, `assistant m1 [call_0 f({}{}) streaming] | tool t1 ->call_0 "ok"`)
	assert.Equal(t, "P-TOL-2 call_0", showWarnings(play(t, first+again, nil).warnings))
	statuses(t, first+again+" | endcall call_0", `assistant m1 [call_0 f({}{}) complete] | tool t1 ->call_0 "ok"`)
	th = statuses(t, first+again+" | endcall call_0 | done b", `assistant m1 [call_0 f({}{}) complete] | tool t1 ->call_0 "ok"`, "call_0")
	t.Run("an answer takes it off", func(t *testing.T) {
		answered := th.WithMessages(&messages.Message{ID: "t2", Role: messages.RoleTool, ToolCallID: "call_0", Content: messages.Text("no JSON")})
		assert.Equal(t, `assistant m1 [call_0 f({}{}) answered] | tool t1 ->call_0 "ok" | tool t2 ->call_0 "no JSON"`, show(answered))
		assert.Empty(t, answered.PendingToolCallIDs())
		assert.Equal(t, show(answered), show(reducer.New(&reducer.Options{Thread: answered}).Thread()))
	})
	statuses(t, first+again+" | endcall call_0 | result t2 call_0 ok2 | done b", `assistant m1 [call_0 f({}{}) answered] | tool t1 ->call_0 "ok" | tool t2 ->call_0 "ok2"`)
	statuses(t, first+again+" | endcall call_0 | result t1 call_0 ok2 | done b", `assistant m1 [call_0 f({}{}) answered] | tool t1 ->call_0 "ok2"`)
	t.Run("once it no longer pends, its old answer counts", func(t *testing.T) {
		failed := play(t, "fail x", &reducer.Options{Thread: th}).th
		assert.Equal(t, `assistant m1 [call_0 f({}{}) answered] | tool t1 ->call_0 "ok"`, show(failed), "a run that fails before it begins")
		for _, end := range []string{"fail x", "done b | fail x", "done b | run c", `done b + {"outcome":{"type":"cancelled"}}`} {
			statuses(t, first+again+" | endcall call_0 | "+end, `assistant m1 [call_0 f({}{}) answered] | tool t1 ->call_0 "ok"`)
		}
	})
}

func TestPendingToolCalls(t *testing.T) {
	pending := func(ids ...string) func(*testing.T, played) {
		return func(t *testing.T, p played) { assert.Equal(t, ids, p.th.PendingToolCallIDs()) }
	}
	const c1 = "call c1 f | endcall c1 | "
	const held = `{"id":"m1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const answer = `{"id":"t1","role":"tool","toolCallId":"c1","content":""}`
	const offering = `run + {"input":{"threadId":"t","runId":"r","tools":[{"name":"f","description":""}],"context":[],"messages":[]}} | `
	const c2 = "call c2 f | endcall c2 | "
	rows := []row{
		{name: "P-RUN-2 of the list that RUN_FINISHED names, what is held and unanswered, once", script: "run | " + c2 + c1 + "call c3 f | endcall c3 | result t1 c1 x | " + `done + {"outcome":{"type":"success","pendingToolCallIds":["c3","x","c1","c3"]}}`, check: pending("c3")},
		{name: "P-RUN-2 an empty list names none", script: "run | " + c1 + `done + {"outcome":{"type":"success","pendingToolCallIds":[]}}`, check: pending("c1")},
		{name: "P-RUN-2 else every call without RESULT, in order", script: "run | " + c2 + c1 + "done", check: pending("c2", "c1")},
		{name: "P-RUN-2 a RESULT takes its call off", script: "run | " + c1 + c2 + "result t1 c1 x | done", check: pending("c2")},
		{name: "P-RUN-2 a RESULT that a snapshot drops counts too", script: "run | " + c1 + "result t1 c1 x | messages [" + held + "] | done", check: pending()},
		{name: "P-RUN-2 a RESULT before the call counts too", warnings: "P-TOL-3 t1", script: "run | result t1 c1 x | " + c1 + "done", check: pending()},
		{name: "P-RUN-2 a call that is gone cannot be answered", script: "run | " + c1 + "messages [] | done", check: pending()},
		{name: "P-RUN-2 a tool message in a snapshot answers too", script: "run | " + c1 + `messages [` + held + `,` + answer + `] | done`, check: pending()},
		{name: "P-RUN-2 an answer that a snapshot restates does not answer the call that is started again", warnings: "P-TOL-2 c1", script: `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[` + held + `,` + answer + `]}} | ` + c1 + `messages [` + held + `,` + answer + `] | done`, check: pending("c1")},
		{name: "P-RUN-2 a call of an offered tool that only a snapshot brings", script: offering + `messages [` + held + `] | done`, check: pending("c1")},
		{name: "P-RUN-2 a call that a snapshot brings, and the list that RUN_FINISHED names", script: offering + c2 + `messages [` + held + `,{"id":"c2","role":"assistant","toolCalls":[{"id":"c2","type":"function","function":{"name":"f","arguments":""}}]}] | done + {"outcome":{"type":"success","pendingToolCallIds":["c2"]}}`, check: pending("c2", "c1")},
		{name: "P-RUN-2 a call of another tool that only a snapshot brings is the agent's", script: "run | messages [" + held + "] | done", check: pending()},
		{name: "P-RUN-2 a call that a snapshot brings with its answer", script: offering + `messages [` + held + `,` + answer + `] | done`, check: pending()},
		{name: "P-RUN-2 a call that a snapshot brings before what the user said last is history", script: offering + `messages [` + held + `,{"id":"u","role":"user","content":"never mind"}] | done`, check: pending()},
		{name: "P-RUN-2 a call that the thread held before is not brought", script: `run + {"input":{"threadId":"t","runId":"r","tools":[{"name":"f","description":""}],"context":[],"messages":[` + held + `]}} | messages [` + held + `] | done`, check: pending()},
		{name: "P-RUN-2 an interrupted run leaves calls like any other", script: "run | " + c1 + `done + {"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}}`, check: pending("c1")},
		{name: "P-RUN-2 a cancelled run waits for nothing", script: "run | " + c1 + `done + {"outcome":{"type":"cancelled"}}`, check: pending()},
		{name: "P-RUN-2 a run that fails after it has finished waits for nothing", script: "run | " + c1 + "done | fail late", check: pending()},
		{name: "P-RUN-2 calls of an earlier run are not this run's", script: "run | " + c1 + "done | run b | " + c2 + "done b", check: pending("c2")},
		{name: "P-RUN-2 a call opened again in this run is this run's", script: "run | " + c1 + "result t1 c1 x | done | run b | " + c1 + "done b", check: pending("c1")},
		{name: "P-RUN-2 a RESULT of an earlier run does not answer for this one", warnings: "P-TOL-3 t1", script: "run | result t1 c1 x | done | run b | " + c1 + "done b", check: pending("c1")},
		{name: "P-RUN-2 a call opened twice is named once", script: "run | " + c1 + c1 + "done", check: pending("c1")},
		{name: "P-RUN-2 none before the run ends", script: "run | call c1 f | endcall c1", check: pending()},
		{name: "P-RUN-2 none if the run fails", script: "run | " + c1 + "fail x", check: pending()},
	}
	for i := range rows {
		rows[i].messages = "*"
	}
	runRows(t, rows)
}

func TestStatusesOfCallsThatCameWhole(t *testing.T) {
	holder := func(s messages.ToolCallStatus) *messages.Message {
		return &messages.Message{ID: "m", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "c", Name: "f", Status: s})}
	}
	for _, r := range []struct {
		given    messages.ToolCallStatus
		answered bool
		want     messages.ToolCallStatus
	}{
		{messages.ToolCallComplete, false, messages.ToolCallComplete},
		{messages.ToolCallStreaming, false, messages.ToolCallBroken}, // where it was taken from it is streaming
		{messages.ToolCallBroken, false, messages.ToolCallBroken},
		{messages.ToolCallBroken, true, messages.ToolCallAnswered},
		{messages.ToolCallAnswered, false, messages.ToolCallComplete},
		{messages.ToolCallComplete, true, messages.ToolCallAnswered},
		{messages.ToolCallStreaming, true, messages.ToolCallAnswered},
		{messages.ToolCallAnswered, true, messages.ToolCallAnswered},
	} {
		t.Run(r.given.String()+" becomes "+r.want.String(), func(t *testing.T) {
			held := []*messages.Message{holder(r.given)}
			if r.answered {
				held = append(held, &messages.Message{ID: "t", Role: messages.RoleTool, ToolCallID: "c", Content: messages.Text("")})
			}
			for _, o := range []*reducer.Options{
				{Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: held}},
				{Thread: &reducer.Thread{Messages: messages.NewList(held...)}},
			} {
				th := reducer.New(o).Thread()
				assert.Equal(t, r.want, th.Messages.At(0).ToolCalls.At(0).Status)
				assert.Equal(t, r.given, held[0].ToolCalls.At(0).Status, "what was given stays")
			}
		})
	}
}
