package spans_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/spans"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenSpansOfRecordings(t *testing.T) {
	files, err := filepath.Glob("../testdata/*")
	require.NoError(t, err)
	own, err := filepath.Glob("testdata/*.ndjson")
	require.NoError(t, err)
	n := 0
	for _, file := range append(files, own...) {
		if strings.Contains(file, ".golden.") {
			continue
		}
		n++
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			c, times, err := convert(t, string(text), nil)
			if _, cut := errors.AsType[*recording.CutError](err); !cut {
				require.NoError(t, err)
			}
			got := fmt.Sprintf("times: %s\n%s", times, c.tree(true))
			name := filepath.Base(file)
			golden := filepath.Join("testdata", strings.TrimSuffix(name, filepath.Ext(name))+".golden.txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
	assert.GreaterOrEqual(t, n, 12)
}

func TestSpansOfARun(t *testing.T) {
	for _, row := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"P-RUN-1 it begins with the request and ends as it says", []string{at(10, started), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n"},
		{"P-RUN-1 cut off", []string{at(10, started), at(20, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`)},
			"turn 0s-20ms failed (truncated: the stream ended before the run did)\n  invoke_agent 0s-20ms truncated (truncated: the stream ended before the run did)\n" +
				"    message assistant 20ms-20ms cut\n"},
		{"P-RUN-1 the transport broke", []string{at(10, started), `{"at":30,"error":"connection reset","truncated":true}`},
			"turn 0s-30ms failed (truncated: connection reset)\n  invoke_agent 0s-30ms truncated (truncated: connection reset)\n"},
		{"P-RUN-1 there was no stream", []string{`{"at":30,"error":"status 401"}`},
			"turn 0s-30ms failed (_OTHER: status 401)\n  invoke_agent 0s-30ms unstarted (_OTHER: status 401)\n"},
		{"P-VER-2 rejected", []string{at(10, started), at(20, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`)},
			"turn 0s-20ms failed (P-VER-2: P-VER-2 event 2 TEXT_MESSAGE_END: the text message \"m\" is not open)\n" +
				"  invoke_agent 0s-20ms rejected (P-VER-2: P-VER-2 event 2 TEXT_MESSAGE_END: the text message \"m\" is not open)\n"},
		{"RUN_ERROR, with a code", []string{at(10, started), at(20, `{"type":"RUN_ERROR","message":"out of tokens","code":"limit"}`)},
			"turn 0s-20ms failed (limit: agent failed: out of tokens (limit))\n  invoke_agent 0s-20ms failed (limit: out of tokens)\n"},
		{"a RUN_ERROR after RUN_FINISHED is a span of its own", []string{at(10, started), at(20, finished), at(30, `{"type":"RUN_ERROR","message":"late"}`)},
			"turn 0s-30ms failed (agent_error: agent failed: late)\n  invoke_agent 0s-20ms succeeded\n  invoke_agent 30ms-30ms failed (agent_error: late)\n"},
		{"P-RUN-3 several runs on one stream", []string{at(10, started), at(20, finished), at(30, started), at(50, finished)},
			"turn 0s-50ms ended\n  invoke_agent 0s-20ms succeeded\n  invoke_agent 30ms-50ms succeeded\n"},
		{"P-INT-1 interrupts are events", []string{at(10, started), at(20, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"approval","message":"May I?","toolCallId":"c"}]}}`)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms interrupted\n    * 20ms agfold.interrupt agfold.interrupt.id=i1 agfold.interrupt.reason=approval gen_ai.tool.call.id=c\n"},
		{"P-ENF-1 warnings are events, without their texts", []string{at(10, started), at(15, `{"type":"FROM_THE_FUTURE"}`), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n    * 15ms agfold.warning agfold.warning.rule=P-ENF-1 agfold.event.ordinal=2 agfold.event.type=FROM_THE_FUTURE\n"},
		{"P-VER-4 what happens in a step is in it, and steps nest as they are open", []string{at(10, started), at(11, `{"type":"STEP_STARTED","stepName":"plan"}`),
			at(12, `{"type":"STEP_STARTED","stepName":"draft"}`), at(13, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`), at(14, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
			at(15, `{"type":"STEP_FINISHED","stepName":"draft"}`), at(16, `{"type":"STEP_FINISHED","stepName":"plan"}`), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n    step plan 11ms-16ms finished\n      step draft 12ms-15ms finished\n        message assistant 13ms-14ms complete\n"},
		{"P-SUB-1 a subagent is under the call that it was made by, and under its parent otherwise", []string{at(10, started),
			at(11, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"delegate"}`), at(12, `{"type":"TOOL_CALL_END","toolCallId":"c"}`),
			at(15, `{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"finder","parentToolCallId":"c"}`),
			at(16, `{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"reader","parentSubagentRunId":"s1"}`),
			at(17, `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s2"}`), at(18, `{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s2"}`),
			at(19, `{"type":"SUBAGENT_ERROR","subagentRunId":"s2","message":"no such page"}`), at(20, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`),
			at(25, `{"type":"TOOL_CALL_RESULT","messageId":"a","toolCallId":"c","content":"found"}`), at(30, finished)},
			"turn 0s-30ms ended\n  invoke_agent 0s-30ms succeeded\n    tool_call delegate 11ms-12ms complete\n    execute_tool delegate 12ms-25ms answered\n" +
				"      invoke_agent finder 15ms-20ms succeeded\n        invoke_agent reader 16ms-19ms failed (agent_error: no such page)\n          message assistant 17ms-18ms complete\n"},
		{"P-SUB-1 a subagent that nobody announced", []string{at(10, started), at(11, `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`),
			at(12, `{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s"}`), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n    invoke_agent 11ms-20ms succeeded\n      message assistant 11ms-12ms complete\n"},
		{"P-SUB-1 RUN_ERROR abandons subagents", []string{at(10, started), at(11, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"finder"}`),
			at(12, `{"type":"STEP_STARTED","stepName":"look","subagentRunId":"s"}`), at(20, `{"type":"RUN_ERROR","message":"oh"}`)},
			"turn 0s-20ms failed (agent_error: agent failed: oh)\n  invoke_agent 0s-20ms failed (agent_error: oh)\n    invoke_agent finder 11ms-20ms abandoned\n      step look 12ms-20ms unfinished\n"},
		{"P-TOL-3 a result of a call that is not in the run", []string{at(10, started), at(15, `{"type":"TOOL_CALL_RESULT","messageId":"a","toolCallId":"old","content":"x"}`), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n    * 15ms agfold.warning agfold.warning.rule=P-TOL-3 agfold.event.ordinal=2 agfold.event.type=TOOL_CALL_RESULT agfold.event.path=a\n" +
				"    * 15ms agfold.tool_result gen_ai.tool.call.id=old\n"},
		{"chunks are expanded", []string{at(10, started), at(12, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}`), at(14, `{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}`), at(20, finished)},
			"turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n    message assistant 12ms-20ms complete\n"},
		{"times do not go back", []string{at(10, started), at(5, `{"type":"STEP_STARTED","stepName":"plan"}`), at(5, `{"type":"STEP_FINISHED","stepName":"plan"}`), at(4, finished)},
			"turn 0s-10ms ended\n  invoke_agent 0s-10ms succeeded\n    step plan 10ms-10ms finished\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, times, err := convert(t, recorded(row.lines...), nil)
			require.NoError(t, err)
			assert.Equal(t, row.want, c.tree(false))
			assert.Equal(t, spans.TimesRecorded, times)
		})
	}
}

const (
	call   = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"now"}`
	called = `{"type":"TOOL_CALL_END","toolCallId":"c"}`
	asks   = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}`
)

// continued is the head of a further run, at a second, with messages.
func continued(second int, messages string) string {
	return fmt.Sprintf(`{"agfold":"recording/1","start":"2026-03-01T10:00:%02dZ","input":{"threadId":"t","runId":"r2","messages":[%s],"tools":[],"context":[],"state":{},"forwardedProps":{}}}`, second, messages)
}

func TestTurnsOfARecording(t *testing.T) {
	first := []string{at(10, started), at(20, call), at(30, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`), at(40, called), at(50, asks)}
	callMessage := `{"id":"c","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"now","arguments":"{}"}}]}`
	for _, row := range []struct{ name, head, want string }{
		{"a run that only brings answers belongs to the turn, and the tool is between the runs", continued(2, callMessage+`,{"id":"a","role":"tool","toolCallId":"c","content":"noon"}`),
			"turn 0s-2.1s ended\n  invoke_agent 0s-50ms succeeded\n    tool_call now 20ms-40ms complete\n  execute_tool now 50ms-2s answered\n  invoke_agent 2s-2.1s succeeded\n"},
		{"an answer that is an error", continued(2, callMessage+`,{"id":"a","role":"tool","toolCallId":"c","content":"no clock","error":"no clock"}`),
			"turn 0s-2.1s ended\n  invoke_agent 0s-50ms succeeded\n    tool_call now 20ms-40ms complete\n  execute_tool now 50ms-2s failed (_OTHER: the tool failed)\n  invoke_agent 2s-2.1s succeeded\n"},
		{"a message of the user begins another turn", continued(2, callMessage+`,{"id":"a","role":"tool","toolCallId":"c","content":"noon"},{"id":"u","role":"user","content":"And now?"}`),
			"turn 0s-50ms ended\n  invoke_agent 0s-50ms succeeded\n    tool_call now 20ms-40ms complete\nturn 2s-2.1s ended\n  invoke_agent 2s-2.1s succeeded\n"},
		{"so does a run that is tried again", continued(2, callMessage),
			"turn 0s-50ms ended\n  invoke_agent 0s-50ms succeeded\n    tool_call now 20ms-40ms complete\nturn 2s-2.1s ended\n  invoke_agent 2s-2.1s succeeded\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, _, err := convert(t, recorded(append(first, row.head, at(10, started), at(100, finished))...), nil)
			require.NoError(t, err)
			assert.Equal(t, row.want, c.tree(false))
		})
	}
	t.Run("a head without events is a run that was cut off", func(t *testing.T) {
		c, _, err := convert(t, recorded(at(10, started), at(20, finished), continued(2, ""), continued(3, "")), nil)
		require.NoError(t, err)
		assert.Equal(t, "turn 0s-20ms ended\n  invoke_agent 0s-20ms succeeded\n"+
			strings.ReplaceAll("turn Xs-Xs failed (truncated: the stream ended before the run did)\n  invoke_agent Xs-Xs truncated (truncated: the stream ended before the run did)\n", "X", "2")+
			strings.ReplaceAll("turn Xs-Xs failed (truncated: the stream ended before the run did)\n  invoke_agent Xs-Xs truncated (truncated: the stream ended before the run did)\n", "X", "3"),
			strings.ReplaceAll(c.tree(false), "2s-3s", "2s-2s"))
	})
	t.Run("a recording that is damaged or cut: what came before is there, and the error", func(t *testing.T) {
		c, _, err := convert(t, recorded(at(10, started), at(20, `{"type":"STEP_STARTED","stepName":"plan"}`))+`{"at":30,"ev`, nil)
		assert.Error(t, err)
		assert.Contains(t, c.tree(false), "step plan 20ms-20ms unfinished")
		assert.Equal(t, "truncated", c.find(spans.Run)[0].Outcome)
	})
	t.Run("the end of the context", func(t *testing.T) {
		rec, err := recording.Open(strings.NewReader(recorded(at(10, started), at(20, finished))), nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := collect(t)
		_, err = spans.Recording(ctx, rec, c, nil)
		require.ErrorIs(t, err, context.Canceled)
		c.tree(false) // all have ended
	})
}

func TestTimes(t *testing.T) {
	t.Run("without any, each event is a millisecond after that before it", func(t *testing.T) {
		c, times, err := convert(t, started+"\n"+`{"type":"STEP_STARTED","stepName":"plan"}`+"\n"+`{"type":"STEP_FINISHED","stepName":"plan"}`+"\n"+finished+"\n", nil)
		require.NoError(t, err)
		assert.Equal(t, spans.TimesInvented, times)
		assert.Equal(t, "turn 0s-3ms ended\n  invoke_agent 0s-3ms succeeded\n    step plan 1ms-2ms finished\n", c.tree(false))
		assert.Equal(t, time.UnixMilli(1).UTC(), c.began[0].Start)
	})
	t.Run("those of the events", func(t *testing.T) {
		c, times, err := convert(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":1772359200000}`+"\n"+`{"type":"RUN_FINISHED","threadId":"t","runId":"r","timestamp":1772359201500}`+"\n", nil)
		require.NoError(t, err)
		assert.Equal(t, spans.TimesOfEvents, times)
		assert.Equal(t, "turn 0s-1.5s ended\n  invoke_agent 0s-1.5s succeeded\n", c.tree(false))
		assert.Equal(t, time.UnixMilli(1772359200000).UTC(), c.began[0].Start)
	})
	t.Run("a head without a start", func(t *testing.T) {
		c, times, err := convert(t, `{"agfold":"recording/1"}`+"\n"+`{"event":{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":1772359200000}}`+"\n"+`{"event":`+finished+"}\n", nil)
		require.NoError(t, err)
		assert.Equal(t, spans.TimesOfEvents, times)
		assert.Equal(t, "turn 0s-1ms ended\n  invoke_agent 0s-1ms succeeded\n", c.tree(false))
	})
}

func TestBounds(t *testing.T) {
	t.Run("MaxSpans: the rest is counted, and nothing else changes", func(t *testing.T) {
		lines := []string{at(1, started)}
		for i := range 20 {
			lines = append(lines, at(2, fmt.Sprintf(`{"type":"SUBAGENT_STARTED","subagentRunId":"s%d","name":"x"}`, i)),
				at(2, fmt.Sprintf(`{"type":"STEP_STARTED","stepName":"plan","subagentRunId":"s%d"}`, i)),
				at(3, fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"f","subagentRunId":"s%d"}`, i, i)),
				at(3, fmt.Sprintf(`{"type":"TOOL_CALL_ARGS","toolCallId":"c%d","delta":"{}"}`, i)),
				at(3, fmt.Sprintf(`{"type":"TOOL_CALL_END","toolCallId":"c%d"}`, i)),
				at(3, fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%d","toolCallId":"c%d","content":"x"}`, i, i)),
				at(3, fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"m%d"}`, i)),
				at(3, fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%d","delta":"x"}`, i)),
				at(3, fmt.Sprintf(`{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`, i)),
				at(4, fmt.Sprintf(`{"type":"STEP_FINISHED","stepName":"plan","subagentRunId":"s%d"}`, i)),
				at(4, fmt.Sprintf(`{"type":"SUBAGENT_FINISHED","subagentRunId":"s%d"}`, i)))
		}
		c, _, err := convert(t, recorded(append(lines, at(9, finished))...), &spans.Options{MaxSpans: 7})
		require.NoError(t, err)
		assert.Len(t, c.ended, 8, "with the turn")
		run := c.find(spans.Run)[0]
		assert.Equal(t, "succeeded", run.Outcome)
		assert.Equal(t, int64(18+19+19+19), run.Attr("agfold.spans.dropped").Int64(), "subagents, steps, calls and messages; tools of calls that were dropped are no spans at all")
	})
	t.Run("MaxEvents", func(t *testing.T) {
		lines := []string{at(1, started)}
		for range 20 {
			lines = append(lines, at(2, `{"type":"FROM_THE_FUTURE"}`))
		}
		c, _, err := convert(t, recorded(append(lines, at(9, finished))...), &spans.Options{MaxEvents: 3})
		require.NoError(t, err)
		run := c.find(spans.Run)[0]
		assert.Len(t, run.Events, 3)
		assert.Equal(t, int64(17), run.Attr("agfold.events.dropped").Int64())
	})
	t.Run("what the agent says is cut, at a rune", func(t *testing.T) {
		long := strings.Repeat("é", 5000)
		c, _, err := convert(t, recorded(at(1, started), at(2, `{"type":"STEP_STARTED","stepName":"`+long+`"}`), at(3, `{"type":"STEP_FINISHED","stepName":"`+long+`"}`),
			at(4, `{"type":"TOOL_CALL_START","toolCallId":"`+long+`","toolCallName":"`+long+`"}`), at(5, `{"type":"RUN_ERROR","message":"`+long+`","code":"`+long+`"}`)), nil)
		require.NoError(t, err)
		for _, s := range c.ended {
			assert.LessOrEqual(t, len(s.Name), 128)
			assert.LessOrEqual(t, len(s.Error), 1024)
			assert.LessOrEqual(t, len(s.ErrorType), 256)
			for _, a := range s.Attrs {
				assert.LessOrEqual(t, len(a.Value.String()), 256, a.Key)
				assert.NotContains(t, a.Value.String(), "\uFFFD")
			}
		}
		assert.Equal(t, "finished", c.find(spans.Step)[0].Outcome)
	})
}

func TestContentIsRecordedOnRequest(t *testing.T) {
	const secret = "s3cret"
	text := `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"s3cret question"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}}` + "\n" +
		strings.Join([]string{at(1, started),
			at(2, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`), at(3, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"s3cret"}`), at(3, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":" answer"}`), at(4, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`),
			at(5, `{"type":"REASONING_MESSAGE_START","messageId":"m2","role":"reasoning"}`), at(5, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m2","delta":"s3cret thought"}`), at(5, `{"type":"REASONING_MESSAGE_END","messageId":"m2"}`),
			at(6, call), at(6, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"k\":\"s3cret\"}"}`), at(7, called),
			at(8, `{"type":"TOOL_CALL_RESULT","messageId":"a","toolCallId":"c","content":"s3cret result"}`),
			at(8, `{"type":"STATE_SNAPSHOT","snapshot":{"k":"s3cret"}}`), at(8, `{"type":"CUSTOM","name":"x","value":"s3cret"}`),
			at(8, `{"type":"STATE_DELTA","delta":[{"op":"test","path":"/k","value":"s3cret no"}]}`),
			at(9, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"s3cret","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"approval","message":"s3cret?"}]}}`)}, "\n") + "\n"
	c, _, err := convert(t, text, nil)
	require.NoError(t, err)
	assert.NotContains(t, c.tree(true), secret)
	c, _, err = convert(t, text, &spans.Options{ContentBytes: 10})
	require.NoError(t, err)
	assert.Equal(t, `[{"role":"user","parts":[{"type":"text","content":"s3cret que"}]}]`, c.find(spans.Run)[0].Attr("gen_ai.input.messages").String())
	assert.Equal(t, "s3cret ans", c.find(spans.Message)[0].Attr("agfold.message.content").String())
	assert.Equal(t, "s3cret tho", c.find(spans.Reasoning)[0].Attr("agfold.message.content").String())
	assert.Equal(t, `{"k":"s3cr`, c.find(spans.ToolCall)[0].Attr("gen_ai.tool.call.arguments").String())
	assert.Equal(t, "s3cret res", c.find(spans.Tool)[0].Attr("gen_ai.tool.call.result").String())
	assert.Contains(t, c.tree(true), "agfold.interrupt.message=s3cret?")
}

func TestUsage(t *testing.T) {
	c, _, err := convert(t, recorded(at(1, started), at(2, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[`+
		`{"provider":"p","model":"a","inputTokens":10,"outputTokens":5,"cachedInputTokens":2},{"provider":"p","model":"b","inputTokens":1}]}`)), nil)
	require.NoError(t, err)
	run := c.find(spans.Run)[0]
	assert.Len(t, run.Usage, 2)
	assert.Equal(t, "p", run.Attr("gen_ai.provider.name").String())
	assert.Equal(t, slog.KindAny, run.Attr("gen_ai.response.model").Kind(), "they differ")
	assert.Equal(t, int64(11), run.Attr("gen_ai.usage.input_tokens").Int64())
	assert.Equal(t, int64(5), run.Attr("gen_ai.usage.output_tokens").Int64())
	assert.Equal(t, int64(2), run.Attr("gen_ai.usage.cache_read.input_tokens").Int64())
	require.Len(t, run.Events, 2)
	assert.Contains(t, fmt.Sprint(run.Events[1].Attrs), "gen_ai.response.model=b")
}

func TestChunks(t *testing.T) {
	c, _, err := convert(t, recorded(at(10, started), at(50, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`),
		at(60, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}`), at(70, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}`),
		at(90, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b"}`), at(91, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"c"}`),
		at(95, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`), at(96, call), at(500, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{"}`),
		at(502, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"}"}`), at(503, called), at(510, finished)), nil)
	require.NoError(t, err)
	ms := time.Millisecond
	run, m, tc := c.find(spans.Run)[0], c.find(spans.Message)[0], c.find(spans.ToolCall)[0]
	assert.Equal(t, map[*spans.Span][]time.Duration{run: {70 * ms}, m: {20 * ms, ms}, tc: {2 * ms}}, c.chunks)
	assert.Equal(t, 0.07, run.Attr("gen_ai.response.time_to_first_chunk").Float64())
	assert.Equal(t, int64(3), m.Attr("agfold.chunks").Int64())
	assert.Equal(t, int64(3), m.Attr("agfold.bytes").Int64())
}
