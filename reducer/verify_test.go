package reducer_test

import (
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunBoundaries(t *testing.T) {
	ended := func(status reducer.Status, runs int) func(*testing.T, played) {
		return func(t *testing.T, p played) {
			assert.Equal(t, status, p.th.Status())
			assert.Equal(t, runs, p.th.Runs.Len())
		}
	}
	runRows(t, []row{
		{name: "P-VER-1 the first event may be RUN_STARTED", script: "run", check: ended(reducer.Running, 1)},
		{name: "P-VER-1 the first event may be RUN_ERROR", script: "fail no", check: ended(reducer.Failed, 1)},
		{name: "P-VER-1 no other first event is allowed", script: "custom n", rule: "P-VER-1", reason: "the first event must be"},
		{name: "P-VER-1 the first event may not be RUN_FINISHED", script: "done", rule: "P-VER-1", check: ended(reducer.Rejected, 1)},
		{name: "P-VER-1 the first event may not be RAW", script: "raw 1", rule: "P-VER-1"},
		{name: "P-VER-1 an event of unknown type is not a first event", script: "unknown | run", warnings: "P-ENF-1", check: ended(reducer.Running, 1)},
		{name: "P-VER-1 the first event of a chunk is its start", script: "chunk m1 x", rule: "P-VER-1", reason: "event 1 TEXT_MESSAGE_START"},
		{name: "P-VER-1 no RUN_STARTED while a run is active", script: "run a | run b", rule: "P-VER-1", id: "a", reason: `the run "a" is active`},
		{name: "P-VER-1 after RUN_FINISHED another run may start", script: "run | done | run r2", check: ended(reducer.Running, 2)},
		{name: "P-VER-1 after RUN_FINISHED a RUN_ERROR may come", script: "run | done | fail late", check: ended(reducer.Failed, 1)},
		{name: "P-VER-1 after RUN_FINISHED no other event is allowed", script: "run a | done a | custom n", rule: "P-VER-1", id: "a", reason: `the run "a" has finished`},
		{name: "P-VER-1 after RUN_FINISHED no second one", script: "run | done | done", rule: "P-VER-1"},
		{name: "P-VER-1 after RUN_ERROR another run may start", script: "run | fail x | run r2", check: ended(reducer.Running, 2)},
		{name: "P-VER-1 after a first RUN_ERROR a run may start", script: "fail x | run r2", check: ended(reducer.Running, 2)},
		{name: "P-VER-1 after RUN_ERROR no second one", script: "run | fail x | fail y", rule: "P-VER-1", reason: `the run "r" has failed`},
		{name: "P-VER-1 after RUN_ERROR no other event is allowed", script: "run | fail x | custom n", rule: "P-VER-1", reason: `the run "r" has failed`},
		{name: "P-VER-1 after a late RUN_ERROR only RUN_STARTED", script: "run | done | fail x | fail y", rule: "P-VER-1"},
		{name: "P-VER-1 a new run has nothing open: text", script: "run | text m1 | fail x | run b | say m1 y", messages: `assistant m1 ""`, rule: "P-VER-2"},
		{name: "P-VER-1 a new run has nothing open: a call may be started again", script: "run | call c1 f | fail x | run b | call c1 f | endcall c1 | done b", messages: `assistant c1 [c1 f() complete]`},
		{name: "P-VER-1 a new run has nothing open: steps", script: "run | step a | fail x | run b | step a | endstep a | done b"},
		{name: "P-VER-1 a new run has nothing open: spans", script: "run | span r1 | fail x | run b | endspan r1", rule: "P-VER-2"},
		{name: "P-VER-1 a new run has nothing open: subagents", script: "run | sub s1 n | fail x | run b | endsub s1", rule: "P-VER-7"},
		{name: "P-VER-1 a new run remembers no owners: text", script: "run | text @s1 m1 | endtext m1 | done | run b | text @s2 m1 | say @s2 m1 x | endtext m1", messages: `assistant m1 @s1 "x"`},
		{name: "P-VER-1 a new run remembers no owners: calls", script: "run | call @s1 c1 f | endcall c1 | done | run b | call @s2 c1 f", messages: `assistant c1 @s1 [c1 f() streaming]`},
		{name: "P-VER-1 a new run remembers no owners: activities", script: `run | activity @s1 a1 x {} | done | run b | apatch @s2 a1 x []`, messages: `activity a1 @s1 x {}`},
		{name: "P-VER-1 a new run remembers no owners: span's messages", script: "run | span @s1 r1 | endspan r1 | done | run b | think @s2 r1", messages: `reasoning r1 @s2 ""`},
		{name: "P-VER-1 a new run remembers no owners: spans", script: "run | span @s1 r1 | endspan r1 | done | run b | span @s2 r1"},
	})
}

func TestOpenAndClosed(t *testing.T) {
	runRows(t, []row{
		{name: "P-VER-2 START of an open text message", script: "run | text m1 | text m1", messages: `assistant m1 ""`, rule: "P-VER-2", id: "m1", reason: "already open"},
		{name: "P-VER-2 START of an open reasoning message", script: "run | think r1 | think r1", messages: `reasoning r1 ""`, rule: "P-VER-2", id: "r1"},
		{name: "P-VER-2 START of an open span", script: "run | span r1 | span r1", rule: "P-VER-2", id: "r1"},
		{name: "P-VER-2 START of an open call", script: "run | call c1 f | call c1 f", messages: `assistant c1 [c1 f() broken]`, rule: "P-VER-2", id: "c1"},
		{name: "P-VER-2 CONTENT of no open text message", script: "run | say m1 x", rule: "P-VER-2", id: "m1", reason: `the text message "m1" is not open`},
		{name: "P-VER-2 END of no open text message", script: "run | endtext m1", rule: "P-VER-2", id: "m1"},
		{name: "P-VER-2 CONTENT of no open reasoning message", script: "run | thought r1 x", rule: "P-VER-2", id: "r1", reason: `the reasoning message "r1" is not open`},
		{name: "P-VER-2 END of no open reasoning message", script: "run | endthink r1", rule: "P-VER-2", id: "r1"},
		{name: "P-VER-2 END of no open span", script: "run | endspan r1", rule: "P-VER-2", id: "r1", reason: `the reasoning span "r1" is not open`},
		{name: "P-VER-2 ARGS of no open call", script: "run | args c1 x", rule: "P-VER-2", id: "c1", reason: `the tool call "c1" is not open`},
		{name: "P-VER-2 END of no open call", script: "run | endcall c1", rule: "P-VER-2", id: "c1"},
		{name: "P-VER-2 CONTENT after END", script: "run | text m1 | endtext m1 | say m1 x", messages: `assistant m1 ""`, rule: "P-VER-2"},
		{name: "P-VER-2 a second END", script: "run | text m1 | endtext m1 | endtext m1", messages: `assistant m1 ""`, rule: "P-VER-2"},
		{name: "P-VER-2 ARGS after END", script: "run | call c1 f | endcall c1 | args c1 x", messages: `assistant c1 [c1 f() complete]`, rule: "P-VER-2"},
		{name: "P-VER-2 a message that a snapshot brought is not open", script: `run | messages [{"id":"m1","role":"assistant","content":"a"}] | say m1 x`, messages: `assistant m1 "a"`, rule: "P-VER-2"},
		{name: "P-VER-2 four separate namespaces", script: "run | text x | call x f | think x | span x | endtext x | endcall x | endthink x | endspan x | done",
			messages: `assistant x "" [x f() complete] | reasoning x ""`, warnings: "P-ID-1 x"},
		{name: "P-VER-2 a text message does not open a reasoning message", script: "run | text x | thought x y", messages: `assistant x ""`, rule: "P-VER-2"},
		{name: "P-VER-2 a span does not open a reasoning message", script: "run | span x | thought x y", rule: "P-VER-2"},
		{name: "P-VER-2 a reasoning message does not open a span", script: "run | think x | endspan x", messages: `reasoning x ""`, rule: "P-VER-2"},
		{name: "P-VER-2 a closed text message may be opened again and continues", script: "run | text m1 | say m1 a | endtext m1 | text m1 | say m1 b | endtext m1 | done", messages: `assistant m1 "ab"`},
		{name: "P-VER-2 a closed reasoning message may be opened again and continues", script: "run | think r1 | thought r1 a | endthink r1 | think r1 | thought r1 b", messages: `reasoning r1 "ab"`},
		{name: "P-VER-2 a closed call may be opened again and continues", warnings: "P-TOL-2 c1", script: "run | call c1 f | args c1 a | endcall c1 | call c1 f | args c1 b", messages: `assistant c1 [c1 f(ab) streaming]`},
		{name: "P-VER-2 a closed span may be opened again", script: "run | span r1 | endspan r1 | span r1 | endspan r1 | done"},
	})
}

func TestNothingOpenAtTheEnd(t *testing.T) {
	runRows(t, []row{
		{name: "P-VER-3 a step", script: "run | step a | done", rule: "P-VER-3", reason: `the step "a" of the parent agent`},
		{name: "P-VER-3 a subagent's step", script: "run | step a | endstep a | step @s1 b | done", rule: "P-VER-3", reason: `the step "b" of subagent "s1"`},
		{name: "P-VER-3 a text message, the one opened first", script: "run | text m1 | text m2 | text m3 | endtext m1 | done", messages: `assistant m1 "" | assistant m2 "" | assistant m3 ""`, rule: "P-VER-3", reason: `"m2"`},
		{name: "P-VER-3 the one opened first of many", script: "run | think a | think b | think c | think d | think e | think f | think g | endthink a | done", messages: "*", rule: "P-VER-3", reason: `"b"`},
		{name: "P-VER-3 the span opened first of many", script: "run | span a | span b | span c | span d | span e | span f | span g | endspan a | done", rule: "P-VER-3", reason: `"b"`},
		{name: "P-VER-3 the call opened first of many", script: "run | call a f | call b f | call c f | call d f | call e f | call g f | endcall a | done", messages: "*", rule: "P-VER-3", reason: `"b"`},
		{name: "P-VER-3 a reasoning message", script: "run | think r1 | done", messages: `reasoning r1 ""`, rule: "P-VER-3", reason: `the reasoning message "r1"`},
		{name: "P-VER-3 a span", script: "run | span r1 | done", rule: "P-VER-3", reason: `the reasoning span "r1"`},
		{name: "P-VER-3 a call", script: "run | call c1 f | done", messages: `assistant c1 [c1 f() broken]`, rule: "P-VER-3", reason: `the tool call "c1"`},
		{name: "P-VER-3 a subagent, the one announced first", script: "run | sub s1 n | sub s2 n | done", rule: "P-VER-3", reason: `subagent "s1" is still active`},
		{name: "P-VER-3 a message that is gone but open", script: "run | text m1 | messages [] | done", rule: "P-VER-3", reason: `"m1"`},
		{name: "P-VER-3 chunks are closed before RUN_FINISHED", script: "run | chunk m1 x | done", messages: `assistant m1 "x"`},
		{name: "P-VER-3 RUN_ERROR ends everything open", script: "run | step a | text m1 | think r1 | span r1 | call c1 f | sub s1 n | fail x | run b | done b",
			messages: `assistant m1 "" | reasoning r1 "" | assistant c1 [c1 f() broken]`},
	})
}

func TestSteps(t *testing.T) {
	runRows(t, []row{
		{name: "P-VER-4 a step may be opened once", script: "run | step a | step a", rule: "P-VER-4", id: "a", reason: "already open"},
		{name: "P-VER-4 the parent's and a subagent's step of one name are two", script: "run | step a | step @s1 a | endstep a | endstep @s1 a | done"},
		{name: "P-VER-4 the subagent with the empty id is not the parent", script: "run | step a | step @_ a | endstep @_ a | endstep a | done"},
		{name: "P-VER-4 a finished step may be started again", script: "run | step a | endstep a | step a | endstep a | done",
			check: func(t *testing.T, p played) { assert.Equal(t, 2, p.th.LastRun().Steps.Len()) }},
		{name: "P-VER-4 a step that is not open", script: "run | endstep a", rule: "P-VER-4", id: "a", reason: `the step "a" of the parent agent is not open`},
		{name: "P-VER-4 finishing another owner's step is its own error", script: "run | step a | endstep @s1 a", rule: "P-VER-4", id: "a",
			reason: `the step "a" was started by the parent agent and cannot be finished by subagent "s1"`},
		{name: "P-VER-4 the parent finishing a subagent's step", script: "run | step @s1 a | endstep a", rule: "P-VER-4", reason: `started by subagent "s1"`},
		{name: "P-VER-4 the steps are on the run's record", script: "run | step a | step @s1 b | endstep a | fail x",
			check: func(t *testing.T, p played) {
				assert.Equal(t, []reducer.Step{{Name: "a", Finished: true}, {Name: "b", Owner: messages.SubagentOwner("s1")}}, p.th.LastRun().Steps.Slice())
			}},
	})
}

func TestOwners(t *testing.T) {
	const restated = `messages [{"id":"m1","role":"assistant","content":"a","subagentRunId":"s1","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}]`
	held := `assistant m1 @s1 "a" [c1 f() complete]`
	input := `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[{"id":"m1","role":"assistant","content":"a","subagentRunId":"s1","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}]}}`
	runRows(t, []row{
		{name: "P-VER-5 a continuation under another owner", script: "run | text @s1 m1 | say @s2 m1 x", messages: `assistant m1 @s1 ""`, rule: "P-VER-5", id: "m1", reason: `the text message "m1" belongs to subagent "s1", but the event is tagged subagent "s2"`},
		{name: "P-VER-5 the parent counts as an owner", script: "run | text m1 | say @s1 m1 x", messages: `assistant m1 ""`, rule: "P-VER-5", reason: "belongs to the parent agent"},
		{name: "P-VER-5 the subagent with the empty id is not the parent", script: "run | text m1 | say @_ m1 x", messages: `assistant m1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 an untagged continuation is fine", script: "run | text @s1 m1 | say m1 x | endtext m1", messages: `assistant m1 @s1 "x"`},
		{name: "P-VER-5 the owner's own tag is fine", script: "run | text @s1 m1 | say @s1 m1 x | endtext @s1 m1", messages: `assistant m1 @s1 "x"`},
		{name: "P-VER-5 a close under another owner", script: "run | text @s1 m1 | endtext @s2 m1", messages: `assistant m1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 a reopening under another owner, after the close", script: "run | text @s1 m1 | endtext m1 | text @s2 m1", messages: `assistant m1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 an untagged reopening leaves the owner", script: "run | text @s1 m1 | endtext m1 | text m1 | say @s2 m1 x", messages: `assistant m1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 reasoning", script: "run | think @s1 r1 | thought @s2 r1 x", messages: `reasoning r1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 the close of reasoning", script: "run | think @s1 r1 | endthink @s2 r1", messages: `reasoning r1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 spans", script: "run | span @s1 r1 | endspan @s2 r1", rule: "P-VER-5", id: "r1"},
		{name: "P-VER-5 the reopening of a span", script: "run | span @s1 r1 | endspan r1 | span @s2 r1", rule: "P-VER-5"},
		{name: "P-VER-2, 5 a span and the reasoning message with its id have an owner each", script: "run | span @s1 r1 | think @s2 r1 | endthink @s2 r1 | endspan @s1 r1 | done", messages: `reasoning r1 @s2 ""`},
		{name: "P-VER-5 arguments", script: "run | call @s1 c1 f | args @s2 c1 x", messages: `assistant c1 @s1 [c1 f() broken]`, rule: "P-VER-5", id: "c1"},
		{name: "P-VER-5 the end of a call", script: "run | call @s1 c1 f | endcall @s2 c1", messages: `assistant c1 @s1 [c1 f() broken]`, rule: "P-VER-5"},
		{name: "P-VER-5 the reopening of a call", script: "run | call @s1 c1 f | endcall c1 | call @s2 c1 f", messages: `assistant c1 @s1 [c1 f() complete]`, rule: "P-VER-5"},
		{name: "P-VER-5 the patch of an activity", script: "run | activity @s1 a1 x {} | apatch @s2 a1 x []", messages: `activity a1 @s1 x {}`, rule: "P-VER-5", id: "a1"},
		{name: "P-VER-5 the encrypted value of a text message", script: "run | text @s1 m1 | endtext m1 | secret @s2 message m1 v", messages: `assistant m1 @s1 ""`, rule: "P-VER-5", id: "m1"},
		{name: "P-VER-5 the encrypted value of a reasoning message", script: "run | think @s1 r1 | secret @s2 message r1 v", messages: `reasoning r1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 the encrypted value of a call, after its end", script: "run | call @s1 c1 f | endcall c1 | secret @s2 tool-call c1 v", messages: `assistant c1 @s1 [c1 f() complete]`, rule: "P-VER-5", id: "c1"},
		{name: "P-VER-5 an untagged encrypted value is fine", script: "run | text @s1 m1 | secret message m1 v", messages: `assistant m1 @s1 "" secret=v`},
		{name: "P-VER-5 owners outlive the message: its encrypted value", script: "run | text @s1 m1 | endtext m1 | messages [] | secret @s2 message m1 v", rule: "P-VER-5"},
		{name: "P-VER-5 owners outlive the message: its call's encrypted value", script: "run | call @s1 c1 f | endcall c1 | messages [] | secret @s2 tool-call c1 v", rule: "P-VER-5"},
		{name: "P-VER-5 owners outlive the message: its reopening", script: "run | text @s1 m1 | endtext m1 | messages [] | text @s2 m1", rule: "P-VER-5"},
		{name: "P-VER-5 owners outlive the message: an activity's patch", script: "run | activity @s1 a1 x {} | messages [] + {\"metadata\":{\"@ag-ui/client\":{\"authoritativeActivityTypes\":null}}} | apatch @s2 a1 x []", rule: "P-VER-5"},
		{name: "P-VER-5 messages of a snapshot re-set owners", script: "run | text @s2 m1 | endtext m1 | " + restated + " | text @s2 m1", messages: held, rule: "P-VER-5"},
		{name: "P-VER-5 a snapshot's owner is the one that counts", script: "run | text @s2 m1 | endtext m1 | " + restated + " | text @s1 m1 | say @s1 m1 b", messages: `assistant m1 @s1 "ab" [c1 f() complete]`},
		{name: "P-VER-5 a snapshot's untagged message is the parent's", script: `run | text @s1 m1 | messages [{"id":"m1","role":"assistant","content":""}] | say @s1 m1 x`, messages: `assistant m1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 calls of a snapshot take the message's owner", script: "run | call @s2 c1 f | endcall c1 | " + restated + " | call @s2 c1 f", messages: held, rule: "P-VER-5", id: "c1"},
		{name: "P-VER-5 a snapshot sets reasoning owners", script: `run | messages [{"id":"r1","role":"reasoning","content":"","subagentRunId":"s1"}] | think @s2 r1`, messages: `reasoning r1 @s1 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 a snapshot sets activity owners", script: `run | messages [{"id":"a1","role":"activity","activityType":"x","content":{},"subagentRunId":"s1"}] | apatch @s2 a1 x []`, messages: `activity a1 @s1 x {}`, rule: "P-VER-5"},
		{name: "P-VER-5 a snapshot sets tool message owners", warnings: "P-TOL-3 t1", script: `run | messages [{"id":"t1","role":"tool","toolCallId":"c","content":"","subagentRunId":"s1"}] | secret @s2 message t1 v`, messages: `tool t1 @s1 ->c ""`, rule: "P-VER-5"},
		{name: "P-VER-5 messages of the input set unknown owners", script: input + " | text @s2 m1", messages: held, rule: "P-VER-5", id: "m1"},
		{name: "P-VER-5 calls of the input take the message's owner", script: input + " | call @s2 c1 f", messages: held, rule: "P-VER-5", id: "c1"},
		{name: "P-VER-5 the input sets the owner of a message that the thread holds already", script: "run a | text @s2 m1 | endtext m1 | done a | " + input + " | text @s2 m1", messages: `assistant m1 @s2 ""`, rule: "P-VER-5"},
		{name: "P-VER-5 TOOL_CALL_RESULT sets the owner of its message", warnings: "P-TOL-3 t1", script: "run | result @s1 t1 c1 x | secret @s2 message t1 v", messages: `tool t1 @s1 ->c1 "x"`, rule: "P-VER-5"},
		{name: "P-VER-5 a second TOOL_CALL_RESULT sets it anew", warnings: "P-TOL-3 t1", script: "run | result @s1 t1 c1 x | result @s2 t1 c1 y | secret @s2 message t1 v", messages: `tool t1 @s2 ->c1 "y" secret=v`},
		{name: "P-VER-5 a replacing ACTIVITY_SNAPSHOT sets the owner", script: "run | activity @s1 a1 x {} | activity @s2 a1 x {} | apatch @s1 a1 x []", messages: `activity a1 @s2 x {}`, rule: "P-VER-5"},
		{name: "P-VER-5 an untagged replacing ACTIVITY_SNAPSHOT makes it the parent's", script: "run | activity @s1 a1 x {} | activity a1 x {} | apatch @s1 a1 x []", messages: `activity a1 x {}`, rule: "P-VER-5"},
		{name: "P-VER-5 an ACTIVITY_SNAPSHOT that does not replace leaves the owner", script: `run | activity @s1 a1 x {} | activity @s2 a1 x {} + {"replace":false} | apatch @s2 a1 x []`, messages: `activity a1 @s1 x {}`, rule: "P-VER-5"},
		{name: "P-VER-5 an unknown entity has no owner to contradict", script: "run | secret @s1 message nope v | apatch @s1 nope x []", warnings: "P-REA-2 nope, P-ACT-2 nope"},
	})
}

func TestCallsAndTheirParents(t *testing.T) {
	runRows(t, []row{
		{name: "P-VER-6 a tag that differs from the known parent's owner", script: "run | text @s1 m1 | call @s2 c1 f m1", messages: `assistant m1 @s1 ""`, rule: "P-VER-6", id: "c1", reason: `the tool call "c1" is tagged subagent "s2", but its parent message "m1" belongs to subagent "s1"`},
		{name: "P-VER-6 a tagged call under the parent agent's message", script: "run | text m1 | call @s1 c1 f m1", messages: `assistant m1 ""`, rule: "P-VER-6"},
		{name: "P-VER-6 the same tag", script: "run | text @s1 m1 | call @s1 c1 f m1", messages: `assistant m1 @s1 "" [c1 f() streaming]`},
		{name: "P-VER-6 an untagged call inherits the parent's owner", script: "run | text @s1 m1 | call c1 f m1 | args @s1 c1 x | args @s2 c1 y", messages: `assistant m1 @s1 "" [c1 f(x) broken]`, rule: "P-VER-5"},
		{name: "P-VER-6 an unknown parent says nothing", script: "run | call @s1 c1 f m1 | args @s1 c1 x", messages: `assistant m1 @s1 [c1 f(x) streaming]`},
		{name: "P-VER-6 a parent of an earlier run says nothing", script: "run | text @s1 m1 | endtext m1 | done | run b | call @s2 c1 f m1", messages: `assistant m1 @s1 "" [c1 f() streaming]`},
		{name: "P-VER-6 an untagged reopening under a parent with another owner", script: "run | call @s1 c1 f | endcall c1 | text m2 | call c1 f m2", messages: `assistant c1 @s1 [c1 f() complete] | assistant m2 ""`, rule: "P-VER-6", id: "c1", reason: `belongs to subagent "s1" and cannot be opened again under the message "m2" of the parent agent`},
		{name: "P-VER-6 an untagged reopening without parent", script: "run | text @s1 m1 | call c1 f m1 | endcall c1 | call c1 f | args @s1 c1 x", messages: `assistant m1 @s1 "" [c1 f(x) streaming]`},
		{name: "P-VER-6 the owner of a parent that is gone is known", script: "run | text @s1 m1 | endtext m1 | messages [] | call @s2 c1 f m1", rule: "P-VER-6"},
		{name: "P-VER-6 the empty parentMessageId is none", script: "run | text @s1 _ | call @s2 c1 f _", messages: `assistant  @s1 "" | assistant c1 @s2 [c1 f() streaming]`},
		{name: "P-VER-6 a snapshot makes the parent's owner known", script: `run | messages [{"id":"m1","role":"assistant","content":"","subagentRunId":"s1"}] | call @s2 c1 f m1`, messages: `assistant m1 @s1 ""`, rule: "P-VER-6"},
	})
}

func TestSubagentLifecycle(t *testing.T) {
	runRows(t, []row{
		{name: "P-VER-7 an active subagent cannot start", script: "run | sub s1 n | sub s1 n", rule: "P-VER-7", id: "s1", reason: "already active"},
		{name: "P-VER-7 a finished one cannot start again in this run", script: "run | sub s1 n | endsub s1 | sub s1 n", rule: "P-VER-7", id: "s1", reason: "already ended in this run"},
		{name: "P-VER-7 a failed one cannot start again in this run", script: "run | sub s1 n | failsub s1 x | sub s1 n", rule: "P-VER-7"},
		{name: "P-VER-7 it may start again in another run", script: "run | sub s1 n | endsub s1 | done | run b | sub s1 n | endsub s1 | done b"},
		{name: "P-VER-7 its parent must have been started in this run", script: `run | sub s1 n + {"parentSubagentRunId":"s0"}`, rule: "P-VER-7", id: "s1", reason: `the parent "s0" of the subagent "s1" was not started`},
		{name: "P-VER-7 a parent of an earlier run does not do", script: `run | sub s0 n | endsub s0 | done | run b | sub s1 n + {"parentSubagentRunId":"s0"}`, rule: "P-VER-7"},
		{name: "P-VER-7 a parent known by a tag does not do", script: `run | custom @s0 n | sub s1 n + {"parentSubagentRunId":"s0"}`, rule: "P-VER-7"},
		{name: "P-VER-7 it cannot be its own parent", script: `run | sub s1 n + {"parentSubagentRunId":"s1"}`, rule: "P-VER-7"},
		{name: "P-VER-7 a parent that has ended does", script: `run | sub s0 n | endsub s0 | sub s1 n + {"parentSubagentRunId":"s0"} | endsub s1 | done`},
		{name: "P-VER-7 FINISHED of one that is not active", script: "run | endsub s1", rule: "P-VER-7", id: "s1", reason: `the subagent "s1" is not active`},
		{name: "P-VER-7 ERROR of one that is not active", script: "run | failsub s1 x", rule: "P-VER-7", id: "s1"},
		{name: "P-VER-7 FINISHED twice", script: "run | sub s1 n | endsub s1 | endsub s1", rule: "P-VER-7"},
		{name: "P-VER-7 FINISHED of one known by a tag", script: "run | custom @s1 n | endsub s1", rule: "P-VER-7"},
		{name: "P-VER-7 tags that were never announced are accepted", script: "run | text @s9 m1 | endtext m1 | custom @s8 n | done", messages: `assistant m1 @s9 ""`},
		{name: "P-VER-7 tags of an ended subagent are accepted", script: "run | sub s1 n | endsub s1 | custom @s1 n | done"},
		{name: "P-VER-7 the empty id is an id", script: "run | sub _ n | endsub _ | done"},
	})
}

func TestMalformedEventsRejectTheStream(t *testing.T) {
	p := play(t, `run | text m1 | say m1 hello | {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":7}`, nil)
	var m *messages.MalformedError
	require.ErrorAs(t, p.err, &m)
	assert.Equal(t, 4, m.Ordinal)
	assert.Equal(t, "/delta", m.Path)
	assert.Equal(t, reducer.Rejected, p.th.Status())
	assert.Equal(t, p.err, p.th.Err())
	assert.Equal(t, `assistant m1 "hello"`, show(p.th))
}

func TestStrictMode(t *testing.T) {
	strict := &reducer.Options{Strict: true}
	for name, script := range map[string]string{
		"P-ENF-7 an unknown type":         "run | unknown",
		"P-ENF-7 an unknown property":     `run | text m1 + {"color":"red"}`,
		"P-ENF-7 an unknown enum value":   `run | text m1 + {"role":"narrator"}`,
		"P-ENF-7 an unknown union member": `run | messages [{"id":"m1","role":"narrator"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			lenient := play(t, script, nil)
			require.NoError(t, lenient.err)
			require.Len(t, lenient.warnings, 1)
			p := play(t, script, strict)
			require.ErrorAs(t, p.err, new(*messages.MalformedError))
			assert.Equal(t, "P-ENF-7", rule(p.err))
			assert.Empty(t, p.warnings)
			assert.Equal(t, reducer.Rejected, p.th.Status())
		})
	}
	t.Run("P-ENF-7 what the fold tolerates stays a warning", func(t *testing.T) {
		p := play(t, `run | patch [{"op":"remove","path":"/x"}] | done`, strict)
		require.NoError(t, p.err)
		assert.Equal(t, "P-STA-1 /delta/0", showWarnings(p.warnings))
	})
}
