package lint

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
)

var update = flag.Bool("update", false, "write docs/lint.md anew")

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"totalTokens":1}]}`
	started2 = `{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`
	end2     = `{"type":"RUN_FINISHED","threadId":"t","runId":"r2","usage":[]}`
	call     = `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{}"}`
	result   = `{"type":"TOOL_CALL_RESULT","messageId":"t1","toolCallId":"c","content":"1"}`
)

// text is a whole message.
func text(id, delta string) string {
	return fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":%[1]q}
{"type":"TEXT_MESSAGE_CONTENT","messageId":%[1]q,"delta":%[2]q}
{"type":"TEXT_MESSAGE_END","messageId":%[1]q}`, id, delta)
}

func run(events ...string) string {
	return started + "\n" + strings.Join(events, "\n") + "\n" + finished
}

// lint returns the findings about a recording, one a line.
func lint(t *testing.T, in string, o *Options) []Finding {
	t.Helper()
	rec, err := recording.Open(strings.NewReader(in), nil)
	require.NoError(t, err)
	found, err := Recording(rec, o)
	require.NoError(t, err)
	return found
}

var rows = []struct{ code, in, want string }{
	{"rejected", run(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`), `error rejected event 3 RUN_FINISHED: P-VER-3 event 3 RUN_FINISHED: the text message "m" is still open`},
	{"rejected", started + "\n" + `{"type":"TEXT_MESSAGE_START"}`, "error rejected event 2 TEXT_MESSAGE_START: "},
	{"truncated", started, "error truncated: the stream ended before the run did"},
	{"id-reused", run(text("m", "a"), text("m", "b")), `warning id-reused event 5 TEXT_MESSAGE_START: the message "m" was complete, and is opened again`},
	{"id-shared", run(text("m", "a"), `{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`), `warning id-shared event 5`},
	{"id-unstable", run(text("m", "hello"), `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"n","role":"assistant","content":"hello"}]}`),
		`warning id-unstable event 5 MESSAGES_SNAPSHOT: what was streamed as "m" is now "n"`},
	{"run-id-reused", run() + "\n" + run(), `warning run-id-reused event 3 RUN_STARTED: the id "r" is that of an earlier run`},
	{"call-restated", run(call, result, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`),
		`warning call-restated event 4 TOOL_CALL_START: the call "c" (f) was started before`},
	{"arguments-not-json", run(strings.Replace(call, "{}", "{", 1), result), `warning arguments-not-json event 3 TOOL_CALL_END: the arguments of "c": `},
	{"result-twice", run(call, result, result), `warning result-twice event 4 TOOL_CALL_RESULT: the result "t1" of the call "c" is sent again`},
	{"result-twice", run(call, result, strings.Replace(result, "t1", "t2", 1)), `warning result-twice event 4 TOOL_CALL_RESULT: the tool call "c" has a result already`},
	{"result-twice", run(`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"id":"t1","role":"tool","toolCallId":"c","content":"x"},{"id":"t2","role":"tool","toolCallId":"c","content":"y"}]}`), `warning result-twice event 2 MESSAGES_SNAPSHOT: the tool call "c" has a result already`},
	{"result-twice", run(result, strings.Replace(result, "t1", "t2", 1)), `warning result-twice event 3 TOOL_CALL_RESULT: the tool call "c" has a result already`},
	{"result-late", run(call) + "\n" + started2 + "\n" + result + "\n" + end2, `warning result-late event 5 TOOL_CALL_RESULT: the call "c" was made 1 runs before`},
	{"result-without-call", run(result), `warning result-without-call event 2`},
	{"call-unanswered", run(call), `note call-unanswered event 3 RUN_FINISHED: the call "c" has no result, and the outcome does not name it`},
	{"call-parent", run(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"u","role":"user","delta":"x"}`,
		strings.Replace(call, `"delta"`, `"parentMessageId":"u","delta"`, 1), result), `warning call-parent event 3`},
	{"interrupt-unanswered", started + "\n" + `{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[],"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"ask"}]}}` +
		"\n" + started2 + "\n" + end2, `warning interrupt-unanswered event 4`},
	{"step-unfinished", started + "\n" + `{"type":"STEP_STARTED","stepName":"s"}` + "\n" + `{"type":"RUN_ERROR","message":"no","usage":[]}`,
		`note step-unfinished event 3 RUN_ERROR: the step "s" was never finished`},
	{"delta-empty", run(text("m", "")), `note delta-empty event 3 TEXT_MESSAGE_CONTENT: a delta of "m" is empty`},
	{"delta-tiny", run(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`, strings.Repeat(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`+"\n", 50)+
		`{"type":"TEXT_MESSAGE_END","messageId":"m"}`), `note delta-tiny event 53 TEXT_MESSAGE_END: 50 characters of "m" came in 50 deltas`},
	{"text-gone", run(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`, `{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m"}`), `warning text-gone event 4`},
	{"snapshot-flood", run(`{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`, strings.Repeat(`{"type":"STATE_SNAPSHOT","snapshot":{"n":2}}`+"\n"+`{"type":"STATE_SNAPSHOT","snapshot":{"n":3}}`+"\n", 4)),
		`warning snapshot-flood event 11 RUN_FINISHED: 9 of the run's 11 events are snapshots`},
	{"snapshot-same", run(`{"type":"STATE_SNAPSHOT","snapshot":{}}`), `note snapshot-same event 2 STATE_SNAPSHOT: the state is the same as before`},
	{"patch-fails", run(`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/x"}]}`), `error patch-fails event 2`},
	{"patch-root", run(`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"","value":{"a":1}}]}`), `warning patch-root event 2 STATE_DELTA: the patch replaces the whole of the state`},
	{"state-grows", run(`{"type":"STATE_SNAPSHOT","snapshot":"` + strings.Repeat("x", 1<<20) + `"}`), `warning state-grows event 2 STATE_SNAPSHOT: the state has 1048578 bytes`},
	{"owner-claimed", run(text("m", "a"), `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"a","subagentRunId":"s"}]}`),
		`warning owner-claimed event 5 MESSAGES_SNAPSHOT: the message "m" was streamed without a tag and is now of the subagent "s"`},
	{"subagent-unannounced", run(`{"type":"CUSTOM","name":"n","value":1,"subagentRunId":"s"}`), `note subagent-unannounced event 2 CUSTOM: the subagent "s" was not announced in this run`},
	{"lane-ambiguous", run(`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"s","delta":"a"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`), `warning lane-ambiguous event 4 TEXT_MESSAGE_CHUNK: the chunk names nothing and continues what the subagent "s" streams`},
	{"deprecated", run(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":null}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`), `note deprecated event 2`},
	{"unknown", run(`{"type":"NEW"}`), `warning unknown event 2 NEW`},
	{"version", strings.Replace(run(), `"runId":"r"}`, `"runId":"r","protocolVersion":"9.0"}`, 1), `note version event 1`},
	{"run-ids-differ", started + "\n" + strings.Replace(finished, `"runId":"r"`, `"runId":"q"`, 1), `warning run-ids-differ event 2`},
	{"usage-missing", strings.Replace(run(), `,"usage":[{"totalTokens":1}]`, "", 1), `note usage-missing event 2 RUN_FINISHED: the run does not tell its usage`},
	{"capability-denied", run(`{"type":"REASONING_START","messageId":"m"}`, `{"type":"REASONING_END","messageId":"m"}`),
		"warning capability-denied event 2 REASONING_START: the agent declares that it does not show its reasoning, and does"},
	{"gap", `{"agfold":"recording/1"}` + "\n" + `{"at":1,"event":` + started + `}` + "\n" + `{"at":31002,"event":` + finished + `}`, `note gap event 2 RUN_FINISHED: nothing came for 31.001s before it`},
}

// silent declares that the agent does not reason.
var silent = &event.Capabilities{Reasoning: &event.ReasoningCapabilities{Supported: messages.Some(false)}}

func TestFindings(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.code] = true
		t.Run(row.code, func(t *testing.T) {
			found := lint(t, row.in, &Options{Only: []string{row.code}, Capabilities: silent})
			require.Len(t, found, 1)
			assert.Contains(t, found[0].String(), row.want)
			assert.Empty(t, lint(t, row.in, &Options{Only: []string{row.code}, Off: []string{row.code}}))
			if row.code != "rejected" && row.code != "truncated" {
				assert.Empty(t, lint(t, run(text("m", "Hello, world")), &Options{Only: []string{row.code}, Capabilities: silent}), "a clean stream")
			}
		})
	}
	for _, c := range Checks() {
		assert.True(t, seen[c.Code], "%s has no row", c.Code)
	}
}

func TestACleanStreamHasNoFindings(t *testing.T) {
	assert.Empty(t, lint(t, run(call, result, text("m", "Hello"), `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`), nil))
}

func TestFindingsAreBounded(t *testing.T) {
	in := run(strings.Repeat(`{"type":"NEW"}`+"\n", 100))
	found := lint(t, in, &Options{MaxFindings: 3})
	require.Len(t, found, 3)
	assert.Equal(t, 97, found[2].More)
	assert.Contains(t, found[2].String(), "(and 97 more)")
}

func TestThresholds(t *testing.T) {
	in := run(`{"type":"STATE_SNAPSHOT","snapshot":{"n":"0123456789"}}`)
	assert.Len(t, lint(t, in, &Options{MaxStateBytes: 5}), 1)
	gap := `{"agfold":"recording/1"}` + "\n" + `{"at":1,"event":` + started + `}` + "\n" + `{"at":1002,"event":` + finished + `}`
	assert.Empty(t, lint(t, gap, nil))
	assert.Len(t, lint(t, gap, &Options{MaxGap: time.Second}), 1)
}

// TestDocsListTheChecks compares docs/lint.md with the checks.
func TestDocsListTheChecks(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What the linter finds\n\n" +
		"`agfold lint FILE` and package `lint` find what the protocol allows and an agent's author did not mean. Thresholds are options.\n" +
		"This page is made from the checks: `go test ./lint -run Docs -update`.\n")
	for _, c := range Checks() {
		fmt.Fprintf(&b, "\n## %s\n\n*%s*: %s.\n\n- Why it hurts: %s\n- How to mend it: %s\n", c.Code, c.Level, c.Title, c.Why, c.Mend)
	}
	const page = "../docs/lint.md"
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(got))
}

// A text and a call may have one id: the deltas of each are judged by themselves (P-VER-2).
func TestDeltasOfOneIDInTwoKinds(t *testing.T) {
	args := strings.Repeat(`{"type":"TOOL_CALL_ARGS","toolCallId":"m","delta":" "}`+"\n", 30)
	words := strings.Repeat(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`+"\n", 30)
	found := lint(t, run(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`, `{"type":"TOOL_CALL_START","toolCallId":"m","toolCallName":"f"}`,
		words+args+`{"type":"TOOL_CALL_END","toolCallId":"m"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`), &Options{Only: []string{"delta-tiny"}})
	assert.Empty(t, found, "30 deltas each are not 40")
}
