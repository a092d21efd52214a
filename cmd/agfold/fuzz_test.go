package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/live"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// evil is what no output may hold as it is.
const evil = `\u001b]52;c;x\u0007\u009b31m\rA\u202e\u2028\u0000`

// strayEvents are what streams are made of: in order or not, with few ids so that they collide. ID, ID2 stand for ids, TAG
// for an attribution or nothing, TEXT for text.
var strayEvents = strings.Split(strings.TrimSpace(`
{"type":"RUN_STARTED","threadId":"t","runId":"ID"}
{"type":"RUN_STARTED","threadId":"t","runId":"ID","input":{"threadId":"t","runId":"ID","messages":[{"id":"ID2","role":"user","content":"TEXT"},{"id":"r","role":"tool","toolCallId":"ID","content":"TEXT"}]}}
{"type":"RUN_FINISHED","threadId":"t","runId":"ID"}
{"type":"RUN_FINISHED","threadId":"t","runId":"ID","outcome":{"type":"interrupt","interrupts":[{"id":"ID","reason":"TEXT","toolCallId":"ID2","metadata":{"a":"TEXT"},"responseSchema":{"type":"boolean"}}]}}
{"type":"RUN_ERROR","message":"TEXT","code":"TEXT"}
{"type":"STEP_STARTED","stepName":"TEXT"TAG}
{"type":"STEP_FINISHED","stepName":"TEXT"TAG}
{"type":"TEXT_MESSAGE_START","messageId":"ID","role":"user","name":"TEXT"TAG}
{"type":"TEXT_MESSAGE_START","messageId":"ID"TAG}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"ID","delta":"TEXT"}
{"type":"TEXT_MESSAGE_END","messageId":"ID"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"ID","delta":"TEXT"TAG}
{"type":"TEXT_MESSAGE_CHUNK","delta":"TEXT"TAG}
{"type":"TOOL_CALL_START","toolCallId":"ID","toolCallName":"TEXT","parentMessageId":"ID2"TAG}
{"type":"TOOL_CALL_ARGS","toolCallId":"ID","delta":"TEXT"}
{"type":"TOOL_CALL_END","toolCallId":"ID"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"ID","toolCallName":"f","delta":"{\"a\":1}"TAG}
{"type":"TOOL_CALL_CHUNK","delta":"TEXT"TAG}
{"type":"TOOL_CALL_RESULT","messageId":"ID2","toolCallId":"ID","content":"TEXT"TAG}
{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"ID","content":[{"type":"text","text":"TEXT"},{"type":"image","source":{"type":"url","value":"https://u:p@TEXT"}}]}
{"type":"STATE_SNAPSHOT","snapshot":{"TEXT":"TEXT"}}
{"type":"STATE_DELTA","delta":[{"op":"add","path":"/ID","value":"TEXT"}]}
{"type":"MESSAGES_SNAPSHOT","messages":[]}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"ID","role":"assistant","content":"TEXT","toolCalls":[{"id":"ID2","type":"function","function":{"name":"TEXT","arguments":"TEXT"}}]},{"id":"r","role":"tool","toolCallId":"ID2","content":"TEXT","error":"TEXT"}]}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"ID","role":"activity","activityType":"TEXT","content":{"a":"TEXT"}},{"id":"ID2","role":"reasoning","content":"TEXT"}]}
{"type":"ACTIVITY_SNAPSHOT","messageId":"ID","activityType":"TEXT","content":{"a":"TEXT"}TAG}
{"type":"ACTIVITY_DELTA","messageId":"ID","activityType":"TEXT","patch":[{"op":"add","path":"/a","value":"TEXT"}]}
{"type":"REASONING_MESSAGE_CHUNK","messageId":"ID","delta":"TEXT"TAG}
{"type":"REASONING_MESSAGE_CHUNK","delta":"TEXT"}
{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"ID","encryptedValue":"TEXT"}
{"type":"THINKING_TEXT_MESSAGE_START"}
{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"TEXT"}
{"type":"THINKING_TEXT_MESSAGE_END"}
{"type":"SUBAGENT_STARTED","subagentRunId":"ID","name":"TEXT","parentSubagentRunId":"ID2"}
{"type":"SUBAGENT_STARTED","subagentRunId":"ID","name":"TEXT"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"ID","result":"TEXT"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"ID","outcome":{"type":"suspended","interruptIds":["ID2"]}}
{"type":"SUBAGENT_ERROR","subagentRunId":"ID","message":"TEXT"}
{"type":"RAW","event":"TEXT"}
{"type":"CUSTOM","name":"on_interruptTEXT","value":"TEXT"TAG}
{"type":"TEXT","x":1}
`), "\n")

// strayStream makes a stream of a fuzzer's bytes, each of which chooses an event and fills it in.
func strayStream(data []byte) []string {
	lines := []string{strayEvents[0]}
	for i, b := range data {
		ids := []string{"a", "b", "c", evil}
		texts := []string{"x", "", `line\n\tline\r`, evil, "漢✅👨‍👩‍👧", "\u200d\u0301", strings.Repeat(".", 78) + `\u00a0`, `{\"a\":`, strings.Repeat("long ", 300)}
		at := func(n, below int) int { return int(b>>n^byte(i)) % below }
		tag := ""
		if at(3, 5) == 0 {
			tag = `,"subagentRunId":"` + ids[at(1, len(ids))] + `"`
		}
		lines = append(lines, strings.NewReplacer("ID2", ids[at(4, len(ids))], "ID", ids[at(2, len(ids))], "TAG", tag,
			"TEXT", texts[at(5, len(texts))]).Replace(strayEvents[int(b)%len(strayEvents)]))
	}
	return lines
}

// FuzzOutputs drives streams through everything that the command prints: nothing panics, no control character gets
// through, and what is printed stays within a multiple of what came.
func FuzzOutputs(f *testing.F) {
	f.Add([]byte{11, 22})
	f.Add([]byte{16, 22, 22})
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 8))
		data := make([]byte, 20+r.IntN(60))
		for i := range data {
			data[i] = byte(r.UintN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := legal(strayStream(data[:min(len(data), 200)]))
		text := strings.Join(lines, "\n") + "\n"
		check := func(name, got string) {
			for _, r := range strings.ReplaceAll(ansi.Replace(got), "\n", "") {
				require.False(t, r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028, "%s: %q in\n%s", name, r, got)
			}
			require.NotContains(t, got, "%!", name)
			if !strings.Contains(name, "json") {
				require.NotContains(t, got, "u:p@", name)
			}
			require.Less(t, len(got), 20*len(text)+2000*len(lines), "%s", name)
		}
		for _, args := range [][]string{{}, {"--full"}, {"--events"}, {"--events", "--json"}, {"--json"}, {"--state"}, {"--strict"}, {"--at", "7"}} {
			got := agfold(t, text, append([]string{"replay", "-"}, args...)...)
			check(fmt.Sprint("replay ", args), got.stdout)
			check(fmt.Sprint("warnings of ", args), got.stderr)
		}
		for _, style := range []transcript.Style{{}, {Width: 80, Color: true}, {Width: 40, Full: true}} {
			var out bytes.Buffer
			to := term.NewWriter(&out)
			w := transcript.NewWriter(to, style, true)
			r := reducer.New(nil)
			for _, line := range lines {
				frame, err := event.NewFrame([]byte(line))
				require.NoError(t, err)
				for d, err := range r.Deliver(frame) {
					if err != nil {
						break
					}
					w.Deliver(d, r.Thread)
				}
				for _, line := range live.Lines(r.Thread(), live.Look{Width: 60, Height: 20, Color: style.Color}) {
					check("live", line.String())
					require.LessOrEqual(t, line.Columns(), 60)
				}
			}
			th := r.End(nil)
			w.Settle(th)
			w.Close(th)
			to.Print(style.View(th).Title())
			require.NoError(t, to.Flush())
			check("run", out.String())
			if style.Width > 0 {
				for line := range strings.SplitSeq(ansi.Replace(out.String()), "\n") {
					require.LessOrEqual(t, term.Line(line).Columns(), style.Width, "%q", line)
				}
			}
		}
	})
}

// ansi removes the colors that the command paints with.
var ansi = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[3m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[34m", "", "\x1b[36m", "")

// legal leaves out most of the events that would reject the stream, so that streams get long: one in eight stays.
func legal(lines []string) []string {
	var kept []string
	r := reducer.New(nil)
	for i, line := range lines {
		frame, err := event.NewFrame([]byte(line))
		if err != nil {
			continue
		}
		if r.Apply(frame) == nil {
			kept = append(kept, line)
			continue
		}
		if i%8 == 7 && len(kept) > 20 {
			kept = append(kept, line)
			break
		}
		r = reducer.New(nil)
		for _, line := range kept {
			frame, _ := event.NewFrame([]byte(line))
			r.Apply(frame)
		}
	}
	return kept
}
