package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// marking is a middleware that appends a mark to the run id and to the events.
func marking(mark string) Middleware {
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			in.RunID += mark
			return mapped(next.Run(ctx, in), func() func(event.Event) event.Event {
				return func(ev event.Event) event.Event {
					f := event.FrameOfEvent(ev)
					return f.With("name", state.String(text(f.Value(), "name")+mark))
				}
			})
		})
	}
}

func TestChain(t *testing.T) {
	t.Run("P-PIPE-1 the first middleware is outermost", func(t *testing.T) {
		agent := Chain(Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			return emit(&event.Custom{Name: in.RunID + ">", Value: state.Null()})
		}), marking("a"), marking("b"))
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{`{"type":"CUSTOM","name":"rab>ba","value":null}`}, got)
		assert.Equal(t, "r", input.RunID)
	})
	t.Run("P-CMP-1 retired shapes are converted before middleware sees them", func(t *testing.T) {
		var seen []string
		agent := Chain(answering(started, `{"type":"THINKING_START"}`), mapEvents(func() func(event.Event) event.Event {
			return func(ev event.Event) event.Event {
				seen = append(seen, event.FrameOfEvent(ev).TypeName())
				return ev
			}
		}))
		_, warnings, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{"RUN_STARTED", "REASONING_START"}, seen)
		assert.NotEmpty(t, warnings)
	})
	t.Run("P-PIPE-3 middleware sees what enforcement would strip", func(t *testing.T) {
		const strange = `{"type":"SOMETHING_NEW","x":1}`
		got, warnings, err := read(t, Chain(answering(strange)).Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{strange}, got)
		assert.Empty(t, warnings)
	})
	t.Run("errors and breaks pass through", func(t *testing.T) {
		boom := errors.New("boom")
		for _, agent := range both(2, func() error { return boom }) {
			chained := Chain(agent, marking("a"), FilterToolCalls(func(string) bool { return true }), Log(slog.New(slog.DiscardHandler)))
			got, _, err := read(t, chained.Run(t.Context(), input))
			assert.Len(t, got, 2)
			assert.Equal(t, boom, err)
			for range chained.Run(t.Context(), input) {
				break
			}
		}
	})
	t.Run("a nil event of an agent is an error", func(t *testing.T) {
		agent := runFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) { yield(nil, nil) }
		})
		_, _, err := read(t, Chain(agent, marking("a")).Run(t.Context(), input))
		require.ErrorIs(t, err, errNilEvent)
	})
}

// shown runs events through a middleware and returns each that comes out: a name of it, or "-" for a notice.
func shown(t *testing.T, m Middleware, events ...string) []string {
	t.Helper()
	var got []string
	for ev, err := range Chain(answering(events...), m).Run(t.Context(), input) {
		require.NoError(t, err)
		f := event.FrameOfEvent(ev)
		if f.IsNotice() {
			got = append(got, "-")
			continue
		}
		got = append(got, string(f.Data()))
	}
	return got
}

func TestFilterToolCalls(t *testing.T) {
	start := func(id, name string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"%s","toolCallName":"%s"}`, id, name)
	}
	args := func(id string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_ARGS","toolCallId":"%s","delta":"x"}`, id)
	}
	end := func(id string) string { return fmt.Sprintf(`{"type":"TOOL_CALL_END","toolCallId":"%s"}`, id) }
	result := func(id string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_RESULT","messageId":"r%s","toolCallId":"%s","content":"x"}`, id, id)
	}
	chunk := func(members string) string { return `{"type":"TOOL_CALL_CHUNK",` + members + `}` }
	const textChunk = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`
	deny := FilterToolCalls(func(name string) bool { return name != "rm" })

	type row struct {
		event string
		hide  bool
	}
	for _, tt := range []struct {
		name string
		rows []row
	}{
		{"all events of a refused call", []row{
			{start("1", "rm"), true}, {start("2", "ls"), false}, {args("1"), true}, {args("2"), false}, {end("1"), true},
			{end("2"), false}, {result("1"), true}, {result("2"), false}, {content, false},
		}},
		{"the encrypted value of a refused call", []row{
			{start("1", "rm"), true},
			{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"1","encryptedValue":"x"}`, true},
			{`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"1","encryptedValue":"x"}`, false},
		}},
		{"a new run forgets the ids", []row{
			{start("1", "rm"), true}, {finished, false}, {started, false}, {result("1"), false},
		}},
		{"an id that begins again is judged again", []row{
			{start("1", "rm"), true}, {end("1"), true}, {start("1", "ls"), false}, {args("1"), false}, {end("1"), false}, {start("1", "rm"), true}, {args("1"), true},
		}},
		{"chunks with and without id", []row{
			{chunk(`"toolCallId":"1","toolCallName":"rm","delta":"x"`), true}, {chunk(`"delta":"x"`), true}, {chunk(`"toolCallId":"1","delta":"x"`), true},
			{chunk(`"toolCallId":"2","toolCallName":"ls","delta":"x"`), false}, {chunk(`"delta":"x"`), false}, {result("1"), true},
		}},
		{"chunks of lanes", []row{
			{chunk(`"toolCallId":"1","toolCallName":"rm","subagentRunId":"s"`), true}, {chunk(`"toolCallId":"2","toolCallName":"ls"`), false},
			{chunk(`"delta":"x"`), false}, {chunk(`"delta":"x","subagentRunId":"s"`), true},
			{chunk(`"toolCallId":"1","delta":"x"`), true}, {chunk(`"delta":"x","subagentRunId":"other"`), false},
		}},
		{"an untagged chunk belongs to the only lane", []row{
			{chunk(`"toolCallId":"1","toolCallName":"rm","subagentRunId":"s"`), true}, {chunk(`"delta":"x"`), true},
		}},
		{"a call that another event closed", []row{
			{chunk(`"toolCallId":"1","toolCallName":"rm"`), true}, {textChunk, false}, {chunk(`"delta":"x"`), false},
			{chunk(`"toolCallId":"1","toolCallName":"rm"`), true}, {`{"type":"RAW","event":1}`, false}, {chunk(`"delta":"x"`), true},
			{`{"type":"STATE_SNAPSHOT","snapshot":1}`, false}, {chunk(`"delta":"x"`), false},
		}},
		{"P-ENF-4 a call without name is for enforcement", []row{
			{`{"type":"TOOL_CALL_START","toolCallId":"1"}`, false}, {`{"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":7}`, false},
			{chunk(`"toolCallId":"1"`), false}, {chunk(`"toolCallId":7,"toolCallName":"rm"`), false}, {args("1"), false},
		}},
		{"the empty id is an id", []row{
			{chunk(`"toolCallId":"","toolCallName":"rm"`), true}, {chunk(`"toolCallId":"2","toolCallName":"ls","subagentRunId":"s"`), false},
			{chunk(`"toolCallId":"3","toolCallName":"ls","subagentRunId":"x"`), false}, {chunk(`"delta":"x"`), true}, {chunk(`"toolCallId":"","delta":"x"`), true},
		}},
		{"the refused among the pending ones", []row{
			{start("1", "rm"), true},
			{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["2"]}}`, false},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events, want []string
			for _, r := range tt.rows {
				events = append(events, r.event)
				if r.hide {
					r.event = "-"
				}
				want = append(want, r.event)
			}
			assert.Equal(t, want, shown(t, deny, events...))
		})
	}
	t.Run("an allow list lets a call without name pass to enforcement", func(t *testing.T) {
		const nameless = `{"type":"TOOL_CALL_START","toolCallId":"1"}`
		assert.Equal(t, []string{nameless, "-"}, shown(t, FilterToolCalls(func(name string) bool { return name == "ls" }), nameless, start("2", "cp")))
	})
	t.Run("P-RUN-2 a refused call is not pending", func(t *testing.T) {
		got := shown(t, deny, start("1", "rm"), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["1","2"]}}`)
		assert.Equal(t, []string{"-", `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["2"]}}`}, got)
	})
	t.Run("typed events are filtered in the same way", func(t *testing.T) {
		agent := Chain(Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
			emit(&event.ToolCallStart{ToolCallID: "1", ToolCallName: "rm"})
			emit(&event.ToolCallArgs{ToolCallID: "1", Delta: "x"})
			return emit(&event.ToolCallStart{ToolCallID: "2", ToolCallName: "ls"})
		}), deny)
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{start("2", "ls")}, got)
	})
	t.Run("runs at the same time do not know of each other", func(t *testing.T) {
		agent := Chain(answering(start("1", "rm"), args("1")), deny)
		next, stop := iter.Pull2(agent.Run(t.Context(), input))
		defer stop()
		next()
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		ev, _, _ := next()
		assert.True(t, isNotice(ev))
	})
}

// sent runs an agent behind Peer and returns the input that it got, and the warnings.
func sent(t *testing.T, version string, in event.RunInput) (event.RunInput, []event.Warning) {
	t.Helper()
	var got event.RunInput
	agent := Chain(Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		got = in
		return emit(runStarted)
	}), Peer(version))
	_, warnings, err := read(t, agent.Run(t.Context(), in))
	require.NoError(t, err)
	return got, warnings
}

func TestPeerDowngradesTheInput(t *testing.T) {
	image := messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL, Value: "u"})
	in := event.RunInput{
		ThreadID: "t", RunID: "r", ProtocolVersion: messages.Some("1.0"), ParentRunID: messages.Some("p"),
		Messages: []*messages.Message{
			{ID: "u", Role: messages.RoleUser, Content: messages.Parts(messages.TextPart("a"), image, messages.TextPart("b"))},
			{ID: "a", Role: messages.RoleAssistant, Owner: messages.SubagentOwner("s")},
			{ID: "x", Role: messages.RoleAssistant, Content: messages.Text("c")},
			nil,
		},
	}
	before := string(in.AppendJSON(nil))
	for _, tt := range []struct {
		version                       string
		declared, tags, parts, parent bool
	}{
		{"1.0", true, true, true, true},
		{"1.0.0", true, true, true, true},
		{"2", true, true, true, true},
		{"0.0.58", false, true, true, true},
		{"0.1", false, true, true, true},
		{"0.0.57", false, false, true, true},
		{"0.0.0057", false, false, true, true},
		{"0.0.40", false, false, true, true},
		{"0.0.39", false, false, false, false},
		{"0.0.9", false, false, false, false},
		{"0", false, false, false, false},
	} {
		t.Run("P-VRS-2 peer "+tt.version, func(t *testing.T) {
			got, warnings := sent(t, tt.version, in)
			assert.Equal(t, tt.declared, got.ProtocolVersion.IsSet(), "P-INP-1 protocolVersion")
			assert.Equal(t, tt.parent, got.ParentRunID.IsSet(), "parentRunId")
			assert.Equal(t, tt.tags, !got.Messages[1].Owner.IsParent(), "subagentRunId")
			assert.Equal(t, tt.parts, got.Messages[0].Content.IsParts(), "content parts")
			assert.Same(t, in.Messages[2], got.Messages[2], "what needs no change is not copied")
			assert.Nil(t, got.Messages[3])
			assert.Equal(t, before, string(in.AppendJSON(nil)), "the caller's input stays")
			if tt.parts {
				assert.Empty(t, warnings)
				return
			}
			assert.Equal(t, messages.Text("ab"), got.Messages[0].Content)
			assert.Equal(t, messages.Text(""), got.Messages[1].Content, "an assistant message without content")
			require.Len(t, warnings, 1)
			assert.Equal(t, "/messages/0/content", warnings[0].Path)
			assert.Contains(t, warnings[0].Text, "image")
		})
	}
	t.Run("an invalid version", func(t *testing.T) {
		for _, version := range []string{"", "1.", ".1", "v1", "1.x", "-1"} {
			_, _, err := read(t, Chain(answering(started), Peer(version)).Run(t.Context(), input))
			require.ErrorContains(t, err, fmt.Sprintf("%q", version))
		}
	})
}

func TestPeerTakesSubagentsOut(t *testing.T) {
	const tagged = `{"type":"CUSTOM","name":"n","value":{"subagentRunId":"data"},"subagentRunId":"s"}`
	events := []string{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"1","subagentRunId":"s"},{"id":"2"}]}}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`,
		tagged,
		content,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","subagentRunId":"s"},7]}`,
		`{"type":"CUSTOM","name":"n","value":"subagentRunId"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","subagentRunId":"s"}]}}`,
	}
	t.Run("P-VRS-2 up to 0.0.57", func(t *testing.T) {
		assert.Equal(t, []string{
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"1"},{"id":"2"}]}}`,
			"-",
			`{"type":"CUSTOM","name":"n","value":{"subagentRunId":"data"}}`,
			content,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1"},7]}`,
			`{"type":"CUSTOM","name":"n","value":"subagentRunId"}`,
			"-", "-",
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}`,
		}, shown(t, Peer("0.0.57"), events...))
		_, warnings, err := read(t, Chain(answering(events...), Peer("0.0.57")).Run(t.Context(), input))
		require.NoError(t, err)
		var texts []string
		for _, w := range warnings {
			assert.Equal(t, "P-VRS-2", w.Rule)
			texts = append(texts, w.Type+": "+w.Text)
		}
		require.Len(t, texts, 4, "one for each event dropped, and one for all tags")
		assert.Contains(t, texts[1], "dropping SUBAGENT_STARTED")
	})
	t.Run("P-VRS-2 nothing for a newer peer", func(t *testing.T) {
		assert.Equal(t, events, shown(t, Peer("0.0.58"), events...))
	})
	t.Run("typed events are treated in the same way", func(t *testing.T) {
		agent := Chain(Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
			emit(&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("s")), Name: "n"})
			return emit(&event.StepStarted{Attribution: event.By(messages.SubagentOwner("s")), StepName: "x"})
		}), Peer("0.0.57"))
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{`{"type":"STEP_STARTED","stepName":"x"}`}, got)
	})
}

func TestLog(t *testing.T) {
	run := func(level slog.Level, agent Agent, take int) string {
		var buf bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if slices.Contains([]string{"time", "duration"}, a.Key) {
				return slog.Attr{}
			}
			return a
		}}))
		for range Chain(agent, Log(logger)).Run(t.Context(), input) {
			if take--; take == 0 {
				break
			}
		}
		return buf.String()
	}
	begins := "level=INFO msg=\"run begins\" threadId=t runId=r messages=0\n"
	assert.Equal(t, begins+
		"level=DEBUG msg=event threadId=t runId=r type=RUN_STARTED ordinal=1 bytes=49\n"+
		"level=DEBUG msg=event threadId=t runId=r type=X ordinal=2 bytes=12\n"+
		"level=INFO msg=\"run ends\" threadId=t runId=r events=2\n", run(slog.LevelDebug, answering(started, `{"type":"X"}`), 0))
	assert.Equal(t, begins+"level=INFO msg=\"run is broken off\" threadId=t runId=r events=1\n", run(slog.LevelInfo, answering(started, content), 1))
	assert.Equal(t, begins+"level=ERROR msg=\"run ends\" threadId=t runId=r events=1 error=\"recording cut off in line 2\"\n",
		run(slog.LevelInfo, answering(started, `{"type`), 0))
	assert.NotContains(t, run(slog.LevelDebug, answering(content), 0), strings.Trim("Grüße", "e"), "what events say is not logged")
}
