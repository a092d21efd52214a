package transcript

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

const begin = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`

// streamed returns what a Writer makes of a stream that then ends.
func streamed(t testing.TB, s Style, lines ...string) string {
	t.Helper()
	var b bytes.Buffer
	stream(t, &b, s, append([]string{begin}, lines...))
	return b.String()
}

func stream(t testing.TB, to io.Writer, s Style, lines []string) {
	out := term.NewWriter(to)
	w := NewWriter(out, s, true)
	r := reducer.New(nil)
	for _, line := range lines {
		f, err := event.NewFrame([]byte(line))
		require.NoError(t, err)
		for d, err := range r.Deliver(f) {
			require.NoError(t, err)
			w.Deliver(d, r.Thread)
		}
	}
	w.Settle(r.End(nil))
	require.NoError(t, out.Flush())
}

// Events.
func open(id string) string { return `{"type":"TEXT_MESSAGE_START","messageId":"` + id + `"}` }
func say(id, text string) string {
	return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"` + text + `"}`
}
func shut(id string) string { return `{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}` }
func call(id, parent string) []string {
	return []string{`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"f` + id + `","parentMessageId":"` + parent + `"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"{\"of\":\"` + id + `\"}"}`, `{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}`}
}
func answer(message, id, text string) string {
	return `{"type":"TOOL_CALL_RESULT","messageId":"` + message + `","toolCallId":"` + id + `","content":"` + text + `"}`
}
func join(groups ...any) []string {
	var all []string
	for _, g := range groups {
		switch g := g.(type) {
		case string:
			all = append(all, g)
		case []string:
			all = append(all, g...)
		}
	}
	return all
}

func TestWriter(t *testing.T) {
	const snapshotDropsAll = `{"type":"MESSAGES_SNAPSHOT","messages":[]}`
	snapshotOfACall := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"1","type":"function","function":{"name":"f1","arguments":"{}"}}]}]}`
	activity := []string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"work","content":{"n":1}}`,
		`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"work","patch":[{"op":"replace","path":"/n","value":2}]}`}
	for _, row := range []struct {
		name   string
		events []string
		want   string
	}{
		{"text streams, indented", join(open("a"), say("a", `one\ntw`), say("a", `o\n\nthree`), shut("a")),
			"\nassistant · a\n  one\n  two\n\n  three\n"},
		{"a CR LF that two deltas share is one line feed", join(open("a"), say("a", `one\r`), say("a", `\ntwo\r`), shut("a")),
			"\nassistant · a\n  one\n  two\\x0d\n"},
		{"characters without a width are text, too", join(open("a"), say("a", `\u200d`), say("a", `\u0301`), shut("a"), open("b"), shut("b")),
			"\nassistant · a\n  \u200d\u0301\n\nassistant · b\n"},
		{"a message that is closed while another streams comes after it, whole",
			join(open("a"), open("b"), say("a", "A"), say("b", "B"), shut("b"), say("a", "A"), shut("a")),
			"\nassistant · a\n  AA\n\nassistant · b\n  B\n"},
		{"one that continues after it begins with what it said before",
			join(open("a"), open("b"), say("a", "A"), say("b", "B"), shut("a"), say("b", "C"), shut("b")),
			"\nassistant · a\n  A\n\nassistant · b\n  BC\n"},
		{"a message that is opened again continues, and says nothing twice",
			join(open("a"), say("a", "A"), shut("a"), open("a"), say("a", "B"), shut("a")),
			"\nassistant · a\n  A\n\nassistant · a\n  B\n"},
		{"even while another streams",
			join(open("a"), say("a", "A"), shut("a"), open("b"), say("b", "B"), open("a"), say("a", "C"), shut("a"), shut("b")),
			"\nassistant · a\n  A\n\nassistant · b\n  B\n\nassistant · a\n  C\n"},
		{"text that was cut off is written as far as it came, and marked", join(open("a"), open("b"), say("a", "A"), say("b", "B")),
			"\nassistant · a\n  A\n  … cut off here\n\nassistant · b\n  B\n  … cut off here\n"},
		{"text that RUN_ERROR cut off is marked", join(open("a"), say("a", "A"), `{"type":"RUN_ERROR","message":"x"}`),
			"\nassistant · a\n  A\n  … cut off here\n"},
		{"a chunk whose message a snapshot drops", join(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"A"}`, snapshotDropsAll, finish),
			"\nassistant · a\n  A\n"},
		{"a call chunk whose call a snapshot drops",
			join(`{"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"f1","delta":"{}"}`, snapshotDropsAll, finish),
			"\nassistant · 1\n  ▸ f1 · 1 {}\n"},
		{"a reasoning chunk that a snapshot closes", join(`{"type":"REASONING_MESSAGE_CHUNK","messageId":"a","delta":"A"}`, snapshotDropsAll, finish),
			"\nreasoning · a\n  A\n"},
		{"a call is written when its arguments are complete; a result directly after it is below",
			join(open("a"), say("a", "A"), shut("a"), call("1", "a"), answer("r", "1", "42"), finish),
			"\nassistant · a\n  A\n\nassistant · a\n  ▸ f1 · 1 {\"of\": \"1\"}\n    ↳ 42\n"},
		{"other results name their call",
			join(call("1", "a"), call("2", "a"), answer("r2", "2", "B"), answer("r1", "1", "A"), answer("r3", "1", "C"), finish),
			"\nassistant · a\n  ▸ f1 · 1 {\"of\": \"1\"}\n\nassistant · a\n  ▸ f2 · 2 {\"of\": \"2\"}\n    ↳ B\n\n" +
				"tool result for f1 (1) · r1\n  A\n\ntool result for f1 (1) · r3\n  C\n"},
		{"a result that replaces another is written again", join(call("1", "a"), answer("r", "1", "A"), answer("r", "1", "B"), finish),
			"\nassistant · a\n  ▸ f1 · 1 {\"of\": \"1\"}\n    ↳ A\n\ntool result for f1 (1) · r\n  B\n"},
		{"a call that a snapshot brought comes at the end, its result where it arrived",
			join(snapshotOfACall, answer("r1", "1", "A"), finish),
			"\ntool result for 1 · r1\n  A\n\nassistant · a\n  ▸ f1 · 1 {}\n    ↳ A\n"},
		{"the result of a call that a snapshot dropped", join(call("1", "a"), snapshotDropsAll, answer("r1", "1", "A"), finish),
			"\nassistant · a\n  ▸ f1 · 1 {\"of\": \"1\"}\n    ↳ A\n"},
		{"what the input of a run in the stream says and answers",
			join(call("1", "a"), finish,
				`{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{"threadId":"t","runId":"r2","messages":[{"id":"r1","role":"tool","toolCallId":"1","content":"A"},{"id":"u","role":"user","content":"Go on"}]}}`, finish),
			"\nassistant · a\n  ▸ f1 · 1 {\"of\": \"1\"}\n    ↳ A\n\nuser · u\n  Go on\n"},
		{"an activity comes when it is new, and at the end of the run as it has become", join(activity, finish),
			"\nactivity work · x\n  {\"n\": 1}\n\nactivity work · x\n  {\"n\": 2}\n"},
		{"subagents come and go", join(`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
			`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"lost"}`),
			"\nsubagent scout started\n\nsubagent scout failed: lost\n"},
		{"a CUSTOM event that names an interrupt", join(`{"type":"CUSTOM","name":"on_interrupt","value":{"ask":"Sure?"}}`,
			`{"type":"CUSTOM","name":"other","value":1}`),
			"\n? custom event on_interrupt {\"ask\": \"Sure?\"}\n"},
		{"no control character gets through", join(open("a"), say("a", `\u001b[2J\u0007`), shut("a")),
			"\nassistant · a\n  \\x1b[2J\\x07\n"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, streamed(t, Style{}, row.events...)) })
	}

	t.Run("on a terminal every line is wrapped by the writer", func(t *testing.T) {
		text := strings.Repeat(".", 78) + `\u00a0warning: fake` + strings.Repeat(`漢`, 50)
		for _, got := range []string{streamed(t, Style{Width: 80}, open("a"), say("a", text[:70]), say("a", text[70:]), shut("a")),
			drawn(t, Style{Width: 80}, open("a"), say("a", text), shut("a"))} {
			for line := range strings.SplitSeq(got, "\n") {
				assert.LessOrEqual(t, term.Line(line).Columns(), 80)
				assert.NotContains(t, "…."+line, "\nwarning")
			}
			assert.Contains(t, got, "\n  ", "what continues a line is indented")
		}
	})
	t.Run("what was shown before is skipped", func(t *testing.T) {
		th := folded(t, join(open("a"), say("a", "A"), shut("a"), call("1", "a"))...)
		var b bytes.Buffer
		out := term.NewWriter(&b)
		w := NewWriter(out, Style{}, true)
		w.Skip(th)
		w.Settle(th)
		require.NoError(t, out.Flush())
		assert.Empty(t, b.String())
	})
	t.Run("without streaming nothing is written before the end, and a CUSTOM interrupt is not forgotten", func(t *testing.T) {
		var b bytes.Buffer
		out := term.NewWriter(&b)
		w := NewWriter(out, Style{}, false)
		r := reducer.New(nil)
		for _, line := range join(begin, `{"type":"CUSTOM","name":"LangGraphInterrupt","value":1}`, open("a"), say("a", "A")) {
			f, err := event.NewFrame([]byte(line))
			require.NoError(t, err)
			for d, err := range r.Deliver(f) {
				require.NoError(t, err)
				w.Deliver(d, r.Thread)
			}
		}
		out.Flush()
		assert.Empty(t, b.String())
		w.Thread(r.End(nil))
		out.Flush()
		assert.Contains(t, b.String(), "\nassistant · a\n  A\n  … cut off here\n\n? custom event LangGraphInterrupt 1\n")
	})
}

// TestWhatIsPrintedIsLinear streams each shape n and 8n times: neither the output nor the memory that printing allocates
// grows faster than the input.
func TestWhatIsPrintedIsLinear(t *testing.T) {
	long := strings.Repeat("long", 5000)
	numbered := func(format string) func(int) []string {
		return func(i int) []string {
			var lines []string
			for _, line := range strings.Split(format, "\n") {
				lines = append(lines, strings.ReplaceAll(line, "%", fmt.Sprint(i)))
			}
			return lines
		}
	}
	for _, row := range []struct {
		name   string
		first  []string
		events func(i int) []string
	}{
		{"calls with results", nil, numbered(`{"type":"TOOL_CALL_START","toolCallId":"c%","toolCallName":"f"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c%","delta":"{}"}
{"type":"TOOL_CALL_END","toolCallId":"c%"}
{"type":"TOOL_CALL_RESULT","messageId":"r%","toolCallId":"c%","content":"x"}`)},
		{"calls of one message", []string{open("a")}, numbered(`{"type":"TOOL_CALL_START","toolCallId":"c%","toolCallName":"f","parentMessageId":"a"}
{"type":"TOOL_CALL_END","toolCallId":"c%"}`)},
		{"a call that is opened again", nil, numbered(`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"some text"}
{"type":"TOOL_CALL_END","toolCallId":"c"}`)},
		{"results of one call", []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`},
			numbered(`{"type":"TOOL_CALL_RESULT","messageId":"r%","toolCallId":"c","content":"x"}`)},
		{"texts", nil, numbered(`{"type":"TEXT_MESSAGE_START","messageId":"m%"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%","delta":"x"}
{"type":"TEXT_MESSAGE_END","messageId":"m%"}`)},
		{"patched activities with snapshots", nil, numbered(`{"type":"ACTIVITY_SNAPSHOT","messageId":"m%","activityType":"a","content":{}}
{"type":"ACTIVITY_DELTA","messageId":"m%","activityType":"a","patch":[]}
{"type":"MESSAGES_SNAPSHOT","messages":[]}`)},
		{"an activity patched in many runs", []string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"x":"` + long + `"}}`},
			numbered(`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)},
		{"kept reasoning with snapshots and results", nil, numbered(`{"type":"REASONING_MESSAGE_START","messageId":"m%","role":"reasoning"}
{"type":"REASONING_MESSAGE_END","messageId":"m%"}
{"type":"MESSAGES_SNAPSHOT","messages":[]}
{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"x"}`)},
		{"a long name", []string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"` + long + `"}`},
			numbered(`{"type":"TEXT_MESSAGE_START","messageId":"m%","subagentRunId":"s"}
{"type":"TEXT_MESSAGE_END","messageId":"m%"}`)},
		{"a long tool name", join(open("a"), `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"`+long+`"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`),
			numbered(`{"type":"TOOL_CALL_RESULT","messageId":"r%","toolCallId":"c","content":"x"}`)},
		{"runs with input", nil, numbered(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[{"id":"u%","role":"user","content":"x"}]}}`)},
	} {
		for _, style := range []Style{{}, {Width: 80, Full: true}} {
			t.Run(fmt.Sprint(row.name, style.Full), func(t *testing.T) {
				print := func(n int) (size int, allocated uint64) {
					lines := append([]string{begin}, row.first...)
					for i := range n {
						lines = append(lines, row.events(i)...)
					}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					var counted countingWriter
					stream(t, &counted, style, lines)
					runtime.ReadMemStats(&after)
					return int(counted), after.TotalAlloc - before.TotalAlloc
				}
				const n = 250
				print(n)
				small, smallCost := print(n)
				large, largeCost := print(8 * n)
				assert.Less(t, large, 10*small+10*len(long), "bytes written")
				assert.Less(t, largeCost, 16*smallCost, "bytes allocated")
			})
		}
	}
}

// countingWriter counts the bytes written to it.
type countingWriter int

func (w *countingWriter) Write(b []byte) (int, error) {
	*w += countingWriter(len(b))
	return len(b), nil
}
