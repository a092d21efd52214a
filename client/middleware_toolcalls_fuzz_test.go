package client

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// dice makes choices from the bytes of a fuzz test.
type dice []byte

func (d *dice) n(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

// member returns `,"key":"value"`, or nothing half the time.
func (d *dice) member(key, value string) string {
	if d.n(2) == 0 {
		return ""
	}
	return fmt.Sprintf(`,%q:%q`, key, value)
}

// event returns some event of an agent with two subagents that likes chunks. Calls of c2 and c3 are secret. Unless loose,
// an event that names a subagent's message or call also names the subagent.
func (d *dice) event(loose bool) string {
	owner := []string{"", "", "s1", "s2"}[d.n(4)]
	tag := ""
	if owner != "" {
		tag = fmt.Sprintf(`,"subagentRunId":%q`, owner)
	}
	n := d.n(3)
	message, call, name := fmt.Sprint("m", n, owner), fmt.Sprint("c", n+1, owner), []string{"open", "secret", "secret"}[n]
	if loose {
		message, call = fmt.Sprint("m", n), fmt.Sprint("c", n+1)
	}
	// id names the stream of a chunk, or leaves it out, perhaps with the tag.
	id := func(key, value string) string {
		m := d.member(key, value)
		if (loose || m == "") && d.n(2) == 0 {
			return m
		}
		return m + tag
	}
	delta := d.member("delta", string(rune('a'+d.n(26))))
	switch d.n(16) {
	case 0, 1, 2:
		return `{"type":"TEXT_MESSAGE_CHUNK"` + id("messageId", message) + d.member("role", "assistant") + d.member("name", "n") + delta + `}`
	case 3, 4, 5, 6, 7:
		return `{"type":"TOOL_CALL_CHUNK"` + id("toolCallId", call) + d.member("toolCallName", name) + delta + `}`
	case 8:
		return `{"type":"REASONING_MESSAGE_CHUNK"` + id("messageId", message) + delta + `}`
	case 9:
		return `{"type":"TOOL_CALL_START","toolCallId":"` + call + `","toolCallName":"` + name + `"` + tag + `}`
	case 10:
		return `{"type":"TOOL_CALL_ARGS","toolCallId":"` + call + `","delta":"x"` + tag + `}`
	case 11:
		return `{"type":"TOOL_CALL_END","toolCallId":"` + call + `"` + tag + `}`
	case 12:
		return `{"type":"TOOL_CALL_RESULT","messageId":"r` + call + `","toolCallId":"` + call + `","content":"done"` + tag + `}`
	case 13:
		return `{"type":"CUSTOM","name":"x","value":1` + tag + `}`
	case 14:
		return `{"type":"RAW","event":1` + tag + `}`
	}
	return `{"type":"SUBAGENT_` + []string{"STARTED", "FINISHED"}[d.n(2)] + `","subagentRunId":"s` + fmt.Sprint(1+d.n(2)) + `","name":"sub"}`
}

// stream returns a stream of events that folds without an error.
func (d *dice) stream(t *testing.T, loose bool) []event.Event {
	frame := func(text string) event.Event {
		f, err := event.NewFrame([]byte(text))
		require.NoError(t, err)
		return f
	}
	end := frame(`{"type":"RUN_ERROR","message":"enough"}`)
	events := []event.Event{frame(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)}
	for len(events) < 40 && len(*d) > 0 {
		longer := append(events[:len(events):len(events)], frame(d.event(loose)))
		if _, err := reducer.Fold(reducer.Events(append(longer, end)...), nil); err == nil {
			events = longer
		}
	}
	return append(events, end)
}

// filtered returns what a filter that hides the tool secret makes of the events.
func filtered(t *testing.T, secret string, events iter.Seq2[event.Event, error]) []event.Event {
	filter := (&toolCallFilter{keep: func(name string) bool { return name != secret }, decoder: event.NewDecoder(nil)}).filter
	var out []event.Event
	for ev, err := range events {
		require.NoError(t, err)
		out = append(out, filter(ev))
	}
	return out
}

// FuzzFilterToolCalls holds that filtering a tool that does not occur changes nothing, and that a stream of chunks whose
// secret calls are hidden folds like the same stream in whole events without them.
func FuzzFilterToolCalls(f *testing.F) {
	for seed := range 40 {
		var plan []byte
		for i := range 200 {
			plan = append(plan, byte((i*i*31+seed*seed*17+i*seed*7+i>>2)>>1))
		}
		f.Add(plan)
	}
	f.Fuzz(func(t *testing.T, plan []byte) {
		d := dice(plan)
		loose := d.n(4) == 0
		events := d.stream(t, loose)
		require.Equal(t, events, filtered(t, "nobody's", reducer.Events(events...)))
		if loose {
			return // a hidden event may close what for the reader stays open, in a lane that the agent does not mean
		}

		for _, ev := range events {
			t.Logf("%s", event.FrameOfEvent(ev).Data())
		}
		hidden, err := reducer.Fold(reducer.Events(filtered(t, "secret", reducer.Events(events...))...), nil)
		require.NoError(t, err)
		want, err := reducer.Fold(reducer.Events(filtered(t, "secret", chunks.Expand(reducer.Events(events...), nil))...), nil)
		require.NoError(t, err)
		assert.Equal(t, told(want), told(hidden))
	})
}

// told returns what a thread's messages say, with their order.
func told(th *reducer.Thread) []string {
	var lines []string
	for _, m := range th.Messages.All() {
		line := fmt.Sprint(m.Role, " ", m.ID, " ", m.Owner, " ", m.Text())
		for _, tc := range m.ToolCalls.All() {
			line += fmt.Sprint(" ", tc.ID, " ", tc.Name, "(", tc.Arguments, ")")
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFilteredChunksKeepTheirLanes(t *testing.T) {
	var events []event.Event
	for _, text := range []string{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"sub"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"secret","delta":"{"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","subagentRunId":"s1"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"b"}`,
		`{"type":"TOOL_CALL_CHUNK","delta":"}"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
	} {
		ev, err := event.NewFrame([]byte(text))
		require.NoError(t, err)
		events = append(events, ev)
	}
	for secret, want := range map[string][]string{
		"other":  {"assistant c (parent)  c secret({})", "assistant m s1 ab"},
		"secret": {"assistant m s1 ab"},
	} {
		th, err := reducer.Fold(reducer.Events(filtered(t, secret, reducer.Events(events...))...), nil)
		require.NoError(t, err, "P-CHK-6")
		assert.Equal(t, reducer.Succeeded, th.Status())
		assert.Equal(t, want, told(th), "hiding %s", secret)
	}
}

func TestFilteredStreamIsRejectedLikeTheWholeOne(t *testing.T) {
	const hidden = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"secret"}
{"type":"TOOL_CALL_END","toolCallId":"c"}
`
	for name, text := range map[string]string{
		"P-CHK-2: the hidden call has closed the lane": `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}
` + hidden + `{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}`,
		"P-CHK-6: a hidden call makes two": `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"secret","subagentRunId":"s1"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"open","subagentRunId":"s2"}
{"type":"TOOL_CALL_CHUNK","delta":"b"}`,
		"P-CHK-5: a continuation after a hidden call": hidden + `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","name":"other","delta":"b"}`,
		"P-CHK-5: a continuation of what was opened again": `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}
` + hidden + `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"b"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"c"}`,
	} {
		t.Run(name, func(t *testing.T) {
			fold := func(secret string) *reducer.Thread {
				filter := FilterToolCalls(func(name string) bool { return name != secret })
				th, err := reducer.Fold(Chain(answering(started+"\n"+text+"\n"+finished), filter).Run(t.Context(), input), nil)
				require.ErrorAs(t, err, new(*reducer.Violation))
				return th
			}
			whole, filtered := fold("other"), fold("secret")
			assert.Equal(t, reducer.Rejected, whole.Status())
			assert.Equal(t, reducer.Rejected, filtered.Status())
		})
	}
}
