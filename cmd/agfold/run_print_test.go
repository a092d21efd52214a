package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// printed returns what a printer makes of a stream that then ends.
func printed(t *testing.T, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	p := newPrinter(&out, transcript.Style{})
	r := reducer.New(nil)
	for _, line := range append([]string{began}, lines...) {
		f, err := event.NewFrame([]byte(line))
		require.NoError(t, err)
		for step, err := range r.Deliver(f) {
			require.NoError(t, err)
			p.step(step, r.Thread)
		}
	}
	p.settle(r.End(nil))
	require.NoError(t, p.flush())
	return out.String()
}

func TestPrinter(t *testing.T) {
	open := func(id string) string { return `{"type":"TEXT_MESSAGE_START","messageId":"` + id + `"}` }
	say := func(id, text string) string {
		return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"` + text + `"}`
	}
	shut := func(id string) string { return `{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}` }
	call := []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"find","parentMessageId":"a"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`}
	result := `{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"42"}`

	for _, row := range []struct {
		name   string
		events []string
		want   string
	}{
		{"text streams, indented", []string{open("a"), say("a", `one\ntw`), say("a", `o\n\nthree`), shut("a")},
			"\nassistant · a\n  one\n  two\n\n  three\n"},
		{"a message that is closed while another streams comes behind it, whole",
			[]string{open("a"), open("b"), say("a", "A"), say("b", "B"), shut("b"), say("a", "A"), shut("a")},
			"\nassistant · a\n  AA\n\nassistant · b\n  B\n"},
		{"one that goes on behind it begins with what it said before",
			[]string{open("a"), open("b"), say("a", "A"), say("b", "B"), shut("a"), say("b", "C"), shut("b")},
			"\nassistant · a\n  A\n\nassistant · b\n  BC\n"},
		{"a message that is opened again goes on, and says nothing twice",
			[]string{open("a"), say("a", "A"), shut("a"), open("a"), say("a", "B"), shut("a")},
			"\nassistant · a\n  A\n\nassistant · a\n  B\n"},
		{"also while another streams",
			[]string{open("a"), say("a", "A"), shut("a"), open("b"), say("b", "B"), open("a"), say("a", "C"), shut("a"), shut("b")},
			"\nassistant · a\n  A\n\nassistant · b\n  B\n\nassistant · a\n  C\n"},
		{"what was cut off is written as far as it came", []string{open("a"), open("b"), say("a", "A"), say("b", "B")},
			"\nassistant · a\n  A\n\nassistant · b\n  B\n"},
		{"a call comes with its result", append(append([]string{open("a"), say("a", "A"), shut("a")}, call...), result),
			"\nassistant · a\n  A\n\nassistant · a\n  ▸ find {}\n    ↳ 42\n"},
		{"a call without a result comes at the end", append([]string{open("a"), say("a", "A")}, append(call, shut("a"))...),
			"\nassistant · a\n  A\n\nassistant · a\n  ▸ find {}\n"},
		{"an activity comes when it is new, and at the end of the run as it has become",
			[]string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"x","activityType":"work","content":{"n":1}}`,
				`{"type":"ACTIVITY_DELTA","messageId":"x","activityType":"work","patch":[{"op":"replace","path":"/n","value":2}]}`, finished},
			"\nactivity work · x\n  {\"n\": 1}\n\nactivity work · x\n  {\"n\": 2}\n"},
		{"subagents come and go", []string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"scout"}`,
			`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"lost"}`},
			"\nsubagent scout started\n\nsubagent scout failed: lost\n"},
		{"no control character gets through", []string{open("a"), say("a", `\u001b[2J\u0007`), shut("a")},
			"\nassistant · a\n  \\x1b[2J\\x07\n"},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, printed(t, row.events...)) })
	}
	t.Run("what was shown before is skipped", func(t *testing.T) {
		r := reducer.New(nil)
		for _, line := range append([]string{began, open("a"), say("a", "A"), shut("a")}, call...) {
			f, err := event.NewFrame([]byte(line))
			require.NoError(t, err)
			err = r.Apply(f)
			require.NoError(t, err)
		}
		var out strings.Builder
		p := newPrinter(&out, transcript.Style{})
		th := r.End(nil)
		p.skip(th)
		p.settle(th)
		require.NoError(t, p.flush())
		assert.Empty(t, out.String())
	})
}
