package reducer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMetadata(t *testing.T) {
	a, b := ` + {"metadata":{"a":1}}`, ` + {"metadata":{"b":2}}`
	runRows(t, []row{
		{name: "P-MET-1 key by key over START, CONTENT, END", script: `run | text m1 + {"metadata":{"a":1}} | say m1 x + {"metadata":{"b":2}} | endtext m1 + {"metadata":{"c":3}}`, messages: `assistant m1 "x" meta={"a":1,"b":2,"c":3}`},
		{name: "P-MET-1 the last write wins", script: `run | text m1 + {"metadata":{"a":1,"b":1}} | say m1 x + {"metadata":{"a":2}}`, messages: `assistant m1 "x" meta={"a":2,"b":1}`},
		{name: "P-MET-1 no recursion", script: `run | text m1 + {"metadata":{"a":{"x":1}}} | say m1 x + {"metadata":{"a":{"y":2}}}`, messages: `assistant m1 "x" meta={"a":{"y":2}}`},
		{name: "P-MET-1 null is a value", script: `run | text m1 + {"metadata":{"a":1}} | say m1 x + {"metadata":{"a":null}}`, messages: `assistant m1 "x" meta={"a":null}`},
		{name: "P-MET-1 an empty object is metadata", script: `run | text m1 | endtext m1 + {"metadata":{}}`, messages: `assistant m1 "" meta={}`},
		{name: "P-MET-1 absent metadata changes nothing", script: "run | text m1" + a + " | say m1 x | endtext m1", messages: `assistant m1 "x" meta={"a":1}`},
		{name: "P-MET-1 a reopening merges", script: "run | text m1" + a + " | endtext m1 | text m1" + b, messages: `assistant m1 "" meta={"a":1,"b":2}`},
		{name: "P-MET-1 reasoning: START, CONTENT, END", script: `run | think r1 + {"metadata":{"a":1}} | thought r1 x + {"metadata":{"b":2}} | endthink r1 + {"metadata":{"c":3}}`, messages: `reasoning r1 "x" meta={"a":1,"b":2,"c":3}`},
		{name: "P-MET-1 the tool call, not its message", script: `run | text m1 | call c1 f m1 + {"metadata":{"a":1}} | args c1 x + {"metadata":{"b":2}} | endcall c1 + {"metadata":{"c":3}}`, messages: `assistant m1 "" [c1 f(x) complete meta={"a":1,"b":2,"c":3}]`},
		{name: "P-MET-1 not the message made for the call", script: "run | call c1 f" + a, messages: `assistant c1 [c1 f() streaming meta={"a":1}]`},
		{name: "P-MET-1 RESULT: the tool message", script: "run | call c1 f | result t1 c1 x" + a, messages: `assistant c1 [c1 f() answered] | tool t1 ->c1 "x" meta={"a":1}`},
		{name: "P-MET-1 a second RESULT merges", warnings: "P-TOL-3 t1", script: "run | result t1 c1 x" + a + " | result t1 c1 y" + b, messages: `tool t1 ->c1 "y" meta={"a":1,"b":2}`},
		{name: "P-MET-1 an activity's SNAPSHOT and DELTA", script: "run | activity a1 x {}" + a + " | apatch a1 x []" + b, messages: `activity a1 x {} meta={"a":1,"b":2}`},
		{name: "P-MET-1 a replacing SNAPSHOT merges", script: "run | activity a1 x {}" + a + " | activity a1 x {}" + b, messages: `activity a1 x {} meta={"a":1,"b":2}`},
		{name: "P-MET-1 even if the patch fails", script: `run | activity a1 x {} + {"metadata":{"a":1}} | apatch a1 y [{"op":"remove","path":"/q"}] + {"metadata":{"b":2}}`, messages: `activity a1 x {} meta={"a":1,"b":2}`, warnings: "P-ACT-2 a1"},
		{name: "P-MET-1 a chunk's goes where its events' goes", script: `run | chunk m1 x + {"metadata":{"a":1}} | chunk m1 y + {"metadata":{"b":2}}`, messages: `assistant m1 "xy" meta={"a":1,"b":2}`},
		{name: "P-MET-1 an encrypted value's goes nowhere", script: "run | text m1 | secret message m1 v" + a, messages: `assistant m1 "" secret=v`},
		{name: "P-MET-1 a snapshot's own goes nowhere", script: `run | messages [{"id":"m1","role":"user","content":""}]` + a, messages: `user m1 ""`},
		{name: "P-MET-1 a message in a snapshot brings its own", script: `run | text m1 + {"metadata":{"a":1}} | messages [{"id":"m1","role":"assistant","content":"","metadata":{"b":2}}] | endtext m1 + {"metadata":{"c":3}}`, messages: `assistant m1 "" meta={"b":2,"c":3}`},
		{name: "P-MET-1 a message that is gone gets none", script: "run | text m1 | messages [] | endtext m1" + a + " | text m1", messages: `assistant m1 ""`, warnings: "P-TXT-2 m1"},
		{name: "P-MET-1 the run keeps that of RUN_STARTED and RUN_FINISHED", script: "run" + a + " | done" + b,
			check: func(t *testing.T, p played) {
				assert.Equal(t, `{"a":1,"b":2}`, p.th.LastRun().Metadata.Value().String())
			}},
		{name: "P-MET-1 and of RUN_ERROR", script: "run" + a + " | done | fail x" + b,
			check: func(t *testing.T, p played) {
				assert.Equal(t, `{"a":1,"b":2}`, p.th.LastRun().Metadata.Value().String())
			}},
		{name: "P-MET-1 each run its own", script: "run" + a + " | done | run b" + b,
			check: func(t *testing.T, p played) {
				assert.Equal(t, `{"b":2}`, p.th.LastRun().Metadata.Value().String())
			}},
	})
}

func TestSharedIDs(t *testing.T) {
	runRows(t, []row{
		{name: "P-ID-1 each kind keeps its own message", script: "run | think x | thought x r | endthink x | text x | say x t | endtext x | activity x p {} | result x c1 ok | done",
			messages: `reasoning x "r" | assistant x "t" | activity x p {} | tool x ->c1 "ok"`, warnings: "P-ID-1 x, P-ID-1 x, P-ID-1 x, P-TOL-3 x, P-ID-1 x, P-ID-1 x, P-ID-1 x"},
		{name: "D-12 text goes to the text message", script: "run | think x | text x | say x t | thought x r", messages: `reasoning x "r" | assistant x "t"`, warnings: "P-ID-1 x"},
		{name: "D-12 a replacing activity replaces no answer", script: "run | text x | say x t | activity x p {\"a\":1} | activity x p {\"a\":2}", messages: `assistant x "t" | activity x p {"a":2}`, warnings: "P-ID-1 x"},
		{name: "P-ID-1 the roles of a text message are one kind", script: `run | text x + {"role":"user"} | endtext x | text x | say x t`, messages: `user x "t"`},
		{name: "P-ID-1 in a snapshot", script: `run | messages [{"id":"x","role":"assistant","content":"a"},{"id":"x","role":"reasoning","content":"r"}] | think x | thought x !`, messages: `assistant x "a" | reasoning x "r!"`, warnings: "P-ID-1 x, P-ID-1 x"},
		{name: "P-ID-1 a snapshot drops only the kind that it omits", script: `run | think x | endthink x | text x | endtext x | messages []`, messages: `reasoning x ""`, warnings: "P-ID-1 x"},
		{name: "P-ID-1 an id that is gone is not shared", script: "run | text x | endtext x | messages [] | think x", messages: `reasoning x ""`},
		{name: "P-ID-1 in the input", script: `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[{"id":"x","role":"user","content":""},{"id":"x","role":"reasoning","content":""}]}}`, messages: `user x "" | reasoning x ""`, warnings: "P-ID-1 x"},
	})
}
