package main

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// printing returns how many bytes are allocated in printing a stream of n times some events.
func printing(t *testing.T, n int, events func(i int) []string) uint64 {
	t.Helper()
	p := newPrinter(io.Discard, transcript.Style{})
	r := reducer.New(nil)
	apply := func(line string) {
		f, err := event.NewFrame([]byte(line))
		require.NoError(t, err)
		for step, err := range r.Deliver(f) {
			require.NoError(t, err)
			p.step(step, r.Thread)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	apply(began)
	for i := range n {
		for _, line := range events(i) {
			apply(line)
		}
	}
	require.NoError(t, p.flush())
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestPrintingCostsWhatComesNotWhatThereIs(t *testing.T) {
	called := func(i int) string { // so that a pass over the thread has something to note
		return fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"f"}`, i)
	}
	for _, row := range []struct {
		name   string
		events func(i int) []string
	}{
		{"calls with results", func(i int) []string {
			return []string{fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"f"}`, i),
				fmt.Sprintf(`{"type":"TOOL_CALL_ARGS","toolCallId":"c%d","delta":"{}"}`, i),
				fmt.Sprintf(`{"type":"TOOL_CALL_END","toolCallId":"c%d"}`, i),
				fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%d","toolCallId":"c%d","content":"x"}`, i, i)}
		}},
		{"results of one call", func(i int) []string {
			events := []string{fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%d","toolCallId":"c","content":"x"}`, i)}
			if i == 0 {
				events = append([]string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`}, events...)
			}
			return events
		}},
		{"results of what nobody called", func(i int) []string {
			return []string{fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%d","toolCallId":"c%d","content":"x"}`, i, i)}
		}},
		{"texts", func(i int) []string {
			return []string{called(i), fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"m%d"}`, i),
				fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%d","delta":"x"}`, i),
				fmt.Sprintf(`{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`, i)}
		}},
		{"activities", func(i int) []string {
			return []string{called(i), fmt.Sprintf(`{"type":"ACTIVITY_SNAPSHOT","messageId":"m%d","activityType":"a","content":{}}`, i),
				fmt.Sprintf(`{"type":"ACTIVITY_DELTA","messageId":"m%d","activityType":"a","patch":[]}`, i)}
		}},
		{"runs", func(i int) []string {
			return []string{called(i), fmt.Sprintf(`{"type":"TOOL_CALL_END","toolCallId":"c%d"}`, i), finished, fmt.Sprintf(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[{"id":"u%d","role":"user","content":"x"}]}}`, i)}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			const n = 250
			printing(t, n, row.events)
			small, large := printing(t, n, row.events), printing(t, 8*n, row.events)
			assert.Less(t, large, 16*small, "8 times the events")
		})
	}
	t.Run("a subagent does not look at the thread", func(t *testing.T) {
		p := newPrinter(io.Discard, transcript.Style{})
		for _, line := range []string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`} {
			f, err := event.NewFrame([]byte(line))
			require.NoError(t, err)
			ev, _, err := event.NewDecoder(nil).Decode(f)
			require.NoError(t, err)
			kind := map[event.Type]reducer.ChangeKind{
				event.TypeSubagentStarted: reducer.SubagentBegan, event.TypeSubagentFinished: reducer.SubagentEnded,
			}[ev.Type()]
			p.step(reducer.Delivery{Event: ev, Change: reducer.Change{Kind: kind, Index: -1}}, func() *reducer.Thread {
				t.Fatal("it did")
				return nil
			})
		}
	})
}

func TestPrinterFindsCalls(t *testing.T) {
	start := func(id, parent string) string {
		return `{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"f` + id + `","parentMessageId":"` + parent + `"}`
	}
	args := func(id string) string {
		return `{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"{\"of\":\"` + id + `\"}"}`
	}
	end := func(id string) string { return `{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}` }
	result := func(message, id, text string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"` + message + `","toolCallId":"` + id + `","content":"` + text + `"}`
	}
	for _, row := range []struct {
		name   string
		events []string
		want   string
	}{
		{"of two messages, answered crosswise",
			[]string{start("1", "a"), args("1"), end("1"), start("2", "a"), args("2"), end("2"), start("3", "b"), args("3"), end("3"),
				result("r3", "3", "C"), result("r2", "2", "B"), result("r1", "1", "A")},
			"\nassistant · b\n  ▸ f3 {\"of\": \"3\"}\n    ↳ C\n\nassistant · a\n  ▸ f2 {\"of\": \"2\"}\n    ↳ B\n\nassistant · a\n  ▸ f1 {\"of\": \"1\"}\n    ↳ A\n"},
		{"one that is answered while its arguments arrive has those that came",
			[]string{start("1", "a"), args("1"), result("r1", "1", "A"), end("1")},
			"\nassistant · a\n  ▸ f1 {\"of\": \"1\"}\n    ↳ A\n"},
		{"a second result comes alone, under the call's name",
			[]string{start("1", "a"), args("1"), end("1"), result("r1", "1", "A"), result("r2", "1", "B")},
			"\nassistant · a\n  ▸ f1 {\"of\": \"1\"}\n    ↳ A\n\nassistant · a\n  ▸ f1 · 1\n    ↳ B\n"},
		{"one that a snapshot brought",
			[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"1","type":"function","function":{"name":"f1","arguments":"{}"}}]}]}`,
				result("r1", "1", "A")},
			"\nassistant · a\n  ▸ f1 {}\n    ↳ A\n"},
		{"one that a snapshot dropped: the result stands alone",
			[]string{start("1", "a"), end("1"), `{"type":"MESSAGES_SNAPSHOT","messages":[]}`, result("r1", "1", "A")},
			"\ntool result for 1 · r1\n  A\n"},
		{"what the input of a run in the stream answers",
			[]string{start("1", "a"), args("1"), end("1"), finished,
				`{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{"threadId":"t","runId":"r2","messages":[{"id":"r1","role":"tool","toolCallId":"1","content":"A"},{"id":"u","role":"user","content":"Go on"}]}}`},
			"\nassistant · a\n  ▸ f1 {\"of\": \"1\"}\n    ↳ A\n\nuser · u\n  Go on\n"},
		{"a patched activity that a snapshot restated comes as it is now",
			[]string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"work","content":{"n":1}}`,
				`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"work","patch":[{"op":"replace","path":"/n","value":2}]}`,
				`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"x","role":"activity","activityType":"work","content":{"n":3}}]}`,
				start("1", "a"), end("1"), finished},
			"\nactivity work · x\n  {\"n\": 1}\n\nactivity work · x\n  {\"n\": 3}\n\nassistant · a\n  ▸ f1 · 1\n    ↳ waiting for the client's answer\n"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, printed(t, row.events...)) })
	}
}
