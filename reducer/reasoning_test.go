package reducer_test

import "testing"

func TestReasoning(t *testing.T) {
	runRows(t, []row{
		{name: "P-REA-1 reasoning folds like text", script: "run | think @s1 r1 | thought r1 a | thought r1 b | endthink r1 | done", messages: `reasoning r1 @s1 "ab"`},
		{name: "P-REA-1 spans make no message", script: "run | span r1 | endspan r1 | done"},
		{name: "P-REA-1 a span and its message may share an id", script: "run | span r1 | think r1 | thought r1 a | endthink r1 | endspan r1 | done", messages: `reasoning r1 "a"`},
		{name: "P-REA-1 reasoning of an earlier run continues", script: "run | think r1 | thought r1 a | endthink r1 | done | run b | think r1 | thought r1 b", messages: `reasoning r1 "ab"`},
		{name: "P-REA-2 on a tool call", script: "run | call c1 f | secret tool-call c1 v", messages: `assistant c1 [c1 f() streaming secret=v]`},
		{name: "P-REA-2 a tool-call value is for no message", script: "run | text c1 | secret tool-call c1 v", messages: `assistant c1 ""`, warnings: "P-REA-2 c1"},
		{name: "P-REA-2 a message value is for no tool call", script: "run | call c1 f m1 | secret message c1 v", messages: `assistant m1 [c1 f() streaming]`, warnings: "P-REA-2 c1"},
		{name: "P-REA-2 on a reasoning message first", script: "run | text x | result x c y | think x | secret message x v", messages: `assistant x "" | tool x ->c "y" | reasoning x "" secret=v`, warnings: "P-TOL-3 x, P-ID-1 x, P-ID-1 x, P-ID-1 x"},
		{name: "P-REA-2 else on a text message", script: "run | result x c y | text x | secret message x v", messages: `tool x ->c "y" | assistant x "" secret=v`, warnings: "P-TOL-3 x, P-ID-1 x"},
		{name: "P-REA-2 else on a tool result", warnings: "P-TOL-3 x", script: "run | result x c y | secret message x v", messages: `tool x ->c "y" secret=v`},
		{name: "P-REA-2 never on an activity", script: "run | activity x p {} | secret message x v", messages: `activity x p {}`, warnings: "P-REA-2 x"},
		{name: "P-REA-2 a message that is gone does not precede one that is held", script: `run | think x | endthink x | messages [{"id":"x","role":"assistant","content":""},{"id":"y","role":"reasoning","content":""}] | secret message x v`, messages: `assistant x "" secret=v | reasoning y ""`},
		{name: "P-REA-2 verbatim, and the last one counts", script: `run | text m1 | secret message m1 v | secret message m1 +/="`, messages: `assistant m1 "" secret=+/="`},
		{name: "P-REA-2 the empty value is a value", script: "run | text m1 | secret message m1 _", messages: `assistant m1 "" secret=`},
		{name: "P-REA-2 unknown message", script: "run | secret message x v | done", warnings: "P-REA-2 x"},
		{name: "P-REA-2 unknown tool call", script: "run | secret tool-call x v | done", warnings: "P-REA-2 x"},
		{name: "P-REA-2 a message that is gone", script: "run | text x | messages [] | secret message x v", warnings: "P-REA-2 x"},
		{name: "P-REA-2 a call that is gone", script: "run | call c1 f | messages [] | secret tool-call c1 v", warnings: "P-REA-2 c1"},
		{name: "P-REA-2 a reasoning message of nothing but a value", script: "run | think r1 | endthink r1 | secret message r1 v | done", messages: `reasoning r1 "" secret=v`},
		{name: "P-REA-2 text continues after the value", script: "run | think r1 | thought r1 a | secret message r1 v | thought r1 b", messages: `reasoning r1 "ab" secret=v`},
	})
}
