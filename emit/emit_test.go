package emit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

type play = func(ctx context.Context, run *emit.Run) error

// sent returns the events of a run of f between RUN_STARTED and RUN_FINISHED, as "TYPE what".
func sent(t *testing.T, in event.RunInput, f play) []string {
	t.Helper()
	lines := all(t, in, f, quiet)
	require.GreaterOrEqual(t, len(lines), 2)
	require.Equal(t, "RUN_STARTED", lines[0])
	return lines[1 : len(lines)-1]
}

func all(t *testing.T, in event.RunInput, f play, o *emit.Options) []string {
	t.Helper()
	if in.RunID == "" {
		in.ThreadID, in.RunID = "t", "r"
	}
	fold := reducer.New(&reducer.Options{Strict: true, Input: &in, OnWarning: func(w event.Warning) { t.Errorf("%v", w) }})
	var lines []string
	for ev, err := range emit.Agent(f, o).Run(t.Context(), in) {
		require.NoError(t, err)
		require.NoError(t, fold.Apply(ev))
		lines = append(lines, line(ev))
	}
	fold.End(nil)
	require.NoError(t, fold.Err())
	return lines
}

// line is an event without what each has.
func line(ev event.Event) string {
	v, _ := state.Parse(event.Append(nil, ev))
	text := ev.Type().String()
	for key, v := range v.Members() {
		switch key {
		case "type", "threadId", "runId", "protocolVersion":
		default:
			text += " " + key + "=" + strings.Trim(v.String(), `"`)
		}
	}
	return text
}

func TestHandlesSend(t *testing.T) {
	thread := event.RunInput{Messages: []*messages.Message{
		{ID: "old", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "asked", Name: "f"})},
	}}
	for _, tc := range []struct {
		name string
		in   event.RunInput
		f    func(run *emit.Run)
		want []string
	}{
		{"a text, closed with its run", event.RunInput{}, func(run *emit.Run) { fmt.Fprintf(run.Text(nil), "a%d", 1) },
			[]string{"TEXT_MESSAGE_START messageId=r-message-1 role=assistant", "TEXT_MESSAGE_CONTENT messageId=r-message-1 delta=a1", "TEXT_MESSAGE_END messageId=r-message-1"}},
		{"a text with a role and a name", event.RunInput{}, func(run *emit.Run) {
			run.Text(&emit.TextOptions{ID: "m", Role: messages.RoleSystem, Name: "n", Metadata: messages.MetadataOf(state.Member{Key: "k", Value: state.Int(1)})}).Close()
		}, []string{`TEXT_MESSAGE_START messageId=m role=system name=n metadata={"k":1}`, "TEXT_MESSAGE_END messageId=m"}},
		{"an id that the thread has is not taken", thread, func(run *emit.Run) {
			assert.Equal(t, "r-message-1", run.Text(&emit.TextOptions{ID: "old"}).ID())
		}, []string{"TEXT_MESSAGE_START messageId=r-message-1 role=assistant", "TEXT_MESSAGE_END messageId=r-message-1"}},
		{"a text in chunks", event.RunInput{}, func(run *emit.Run) {
			t := run.Text(&emit.TextOptions{ID: "m", Chunks: true, Name: "n"})
			io.WriteString(t, "a")
			io.WriteString(t, "b")
		}, []string{"TEXT_MESSAGE_CHUNK messageId=m delta=a name=n", "TEXT_MESSAGE_CHUNK messageId=m delta=b"}},
		{"a text in chunks that is empty", event.RunInput{}, func(run *emit.Run) { run.Text(&emit.TextOptions{ID: "m", Chunks: true}) },
			[]string{"TEXT_MESSAGE_CHUNK messageId=m"}},
		{"no delta is empty, and each is whole", event.RunInput{}, func(run *emit.Run) {
			text := run.Text(&emit.TextOptions{ID: "m"})
			for _, piece := range []string{"", "\xe2", "\x82", "\xacx\xff", "\xc3"} {
				n, err := text.Write([]byte(piece))
				assert.NoError(t, err)
				assert.Equal(t, len(piece), n)
			}
		}, []string{"TEXT_MESSAGE_START messageId=m role=assistant", "TEXT_MESSAGE_CONTENT messageId=m delta=€x\ufffd",
			"TEXT_MESSAGE_CONTENT messageId=m delta=\ufffd", "TEXT_MESSAGE_END messageId=m"}},
		{"reasoning", event.RunInput{}, func(run *emit.Run) {
			t := run.Reasoning(&emit.TextOptions{ID: "m"})
			t.WriteString("a")
			t.Encrypted("secret")
		}, []string{"REASONING_START messageId=m", "REASONING_MESSAGE_START messageId=m role=reasoning", "REASONING_MESSAGE_CONTENT messageId=m delta=a",
			"REASONING_ENCRYPTED_VALUE subtype=message entityId=m encryptedValue=secret", "REASONING_MESSAGE_END messageId=m", "REASONING_END messageId=m"}},
		{"reasoning in chunks that was only encrypted", event.RunInput{}, func(run *emit.Run) {
			t := run.Reasoning(&emit.TextOptions{ID: "m", Chunks: true})
			t.Close()
			t.Encrypted("secret")
		}, []string{"REASONING_START messageId=m", "REASONING_MESSAGE_CHUNK messageId=m", "REASONING_END messageId=m",
			"REASONING_ENCRYPTED_VALUE subtype=message entityId=m encryptedValue=secret"}},
		{"a call in a text", event.RunInput{}, func(run *emit.Run) {
			text := run.Text(&emit.TextOptions{ID: "m"})
			text.Close()
			c := text.Call("f", &emit.CallOptions{ID: "c"})
			c.WriteString(`{"a":`)
			c.Write([]byte(`1}`))
			c.Encrypted("e")
			c.Result(2)
		}, []string{"TEXT_MESSAGE_START messageId=m role=assistant", "TEXT_MESSAGE_END messageId=m", "TOOL_CALL_START toolCallId=c toolCallName=f parentMessageId=m",
			`TOOL_CALL_ARGS toolCallId=c delta={\"a\":`, "TOOL_CALL_ARGS toolCallId=c delta=1}", "REASONING_ENCRYPTED_VALUE subtype=tool-call entityId=c encryptedValue=e",
			"TOOL_CALL_END toolCallId=c", "TOOL_CALL_RESULT messageId=c-result toolCallId=c content=2 role=tool"}},
		{"a call in a text of the user has a message of its own", event.RunInput{}, func(run *emit.Run) {
			text := run.Text(&emit.TextOptions{ID: "m", Role: messages.RoleUser})
			text.Close()
			text.Call("f", &emit.CallOptions{ID: "c"})
		}, []string{"TEXT_MESSAGE_START messageId=m role=user", "TEXT_MESSAGE_END messageId=m", "TOOL_CALL_START toolCallId=c toolCallName=f", "TOOL_CALL_END toolCallId=c"}},
		{"a result comes once", event.RunInput{}, func(run *emit.Run) {
			c := run.Call("f", &emit.CallOptions{ID: "c"})
			assert.NoError(t, c.Result("a"))
			assert.ErrorContains(t, c.Result("b"), "has a result already")
		}, []string{"TOOL_CALL_START toolCallId=c toolCallName=f", "TOOL_CALL_END toolCallId=c", "TOOL_CALL_RESULT messageId=c-result toolCallId=c content=a role=tool"}},
		{"a result of a call of an earlier run", thread, func(run *emit.Run) {
			assert.NoError(t, run.Result("asked", "yes"))
			assert.ErrorContains(t, run.Result("asked", "again"), "no call with this id")
			assert.ErrorContains(t, run.Result("unknown", "x"), "no call with this id")
		}, []string{"TOOL_CALL_RESULT messageId=asked-result toolCallId=asked content=yes role=tool"}},
		{"a step closes what is in it, the last first", event.RunInput{}, func(run *emit.Run) {
			step := run.Step("s")
			step.Text(&emit.TextOptions{ID: "m"})
			step.Step("inner").Call("f", &emit.CallOptions{ID: "c"})
			assert.NoError(t, step.Close())
			assert.NoError(t, step.Close())
			assert.ErrorIs(t, step.Say("late"), emit.ErrClosed)
			assert.ErrorIs(t, step.Custom("late", 1), emit.ErrClosed)
			assert.ErrorIs(t, step.State().Set("/a", 1), emit.ErrClosed)
		}, []string{"STEP_STARTED stepName=s", "TEXT_MESSAGE_START messageId=m role=assistant", "STEP_STARTED stepName=inner", "TOOL_CALL_START toolCallId=c toolCallName=f",
			"TOOL_CALL_END toolCallId=c", "STEP_FINISHED stepName=inner", "TEXT_MESSAGE_END messageId=m", "STEP_FINISHED stepName=s"}},
		{"P-VER-4 steps of one name at the same time get numbers", event.RunInput{}, func(run *emit.Run) {
			a, b := run.Step("s"), run.Step("s")
			assert.Equal(t, "s", a.Name())
			assert.Equal(t, "s (2)", b.Name())
			a.Close()
			assert.Equal(t, "s", run.Step("s").Name())
		}, []string{"STEP_STARTED stepName=s", "STEP_STARTED stepName=s (2)", "STEP_FINISHED stepName=s", "STEP_STARTED stepName=s",
			"STEP_FINISHED stepName=s", "STEP_FINISHED stepName=s (2)"}},
		{"subagents", event.RunInput{}, func(run *emit.Run) {
			c := run.Call("ask", &emit.CallOptions{ID: "c"})
			c.Close()
			sub := run.Subagent("a", &emit.SubagentOptions{ID: "s", Description: "d", Call: c})
			inner := sub.Subagent("b", &emit.SubagentOptions{ID: "i"})
			inner.Say("x")
			sub.State().Set("/a", 1)
			assert.ErrorContains(t, sub.Finish(func() {}), "unsupported type")
			assert.NoError(t, sub.Finish(2))
			assert.ErrorIs(t, sub.Finish(3), emit.ErrClosed)
			assert.ErrorIs(t, inner.Fail(errors.New("x")), emit.ErrClosed)
		}, []string{"TOOL_CALL_START toolCallId=c toolCallName=ask", "TOOL_CALL_END toolCallId=c", "SUBAGENT_STARTED subagentRunId=s name=a description=d parentToolCallId=c",
			"SUBAGENT_STARTED subagentRunId=i name=b parentSubagentRunId=s", "TEXT_MESSAGE_START messageId=r-message-1 role=assistant subagentRunId=i",
			"TEXT_MESSAGE_CONTENT messageId=r-message-1 delta=x subagentRunId=i", "TEXT_MESSAGE_END messageId=r-message-1 subagentRunId=i",
			`STATE_DELTA delta=[{"op":"add","path":"/a","value":1}] subagentRunId=s`, "SUBAGENT_FINISHED subagentRunId=i", "SUBAGENT_FINISHED subagentRunId=s result=2"}},
		{"a subagent that fails is discreet", event.RunInput{}, func(run *emit.Run) {
			run.Subagent("a", &emit.SubagentOptions{ID: "s"}).Fail(errors.New("the password is x"))
			run.Subagent("b", &emit.SubagentOptions{ID: "u"}).Fail(&reducer.AgentError{Message: "too hard"})
			run.Subagent("c", &emit.SubagentOptions{ID: "v"}).Suspend("i")
		}, []string{"SUBAGENT_STARTED subagentRunId=s name=a", "SUBAGENT_ERROR subagentRunId=s message=the agent failed code=agent_failed",
			"SUBAGENT_STARTED subagentRunId=u name=b", "SUBAGENT_ERROR subagentRunId=u message=too hard", "SUBAGENT_STARTED subagentRunId=v name=c",
			`SUBAGENT_FINISHED subagentRunId=v outcome={"type":"suspended","interruptIds":["i"]}`}},
		{"the state", event.RunInput{State: state.Object(state.Member{Key: "l", Value: state.Array()})}, func(run *emit.Run) {
			st := run.State()
			assert.NoError(t, st.Set("/l/-", 1))
			assert.NoError(t, st.Set("/l/0", 2))
			assert.NoError(t, st.Set("/x/a~1b/c", true))
			assert.ErrorIs(t, st.Set("/l/7", 1), state.ErrPath)
			assert.ErrorIs(t, st.Set("/l/0/deep", 1), state.ErrPath)
			assert.ErrorContains(t, st.Set("/y", make(chan int)), "unsupported type")
			assert.NoError(t, st.Update(func(old state.Value) state.Value { return old }))
			assert.NoError(t, st.Update(func(old state.Value) state.Value { return old.With("l", state.Null()) }))
			assert.NoError(t, st.Update(func(state.Value) state.Value { return state.Int(1) }))
			assert.ErrorIs(t, st.Apply(state.Patch{{Kind: state.OpRemove, Path: "/nope"}}), state.ErrPath)
			assert.NoError(t, st.Set("", "all"))
			assert.Equal(t, `"all"`, st.Value().String())
		}, []string{`STATE_DELTA delta=[{"op":"add","path":"/l/-","value":1}]`, `STATE_DELTA delta=[{"op":"replace","path":"/l/0","value":2}]`,
			`STATE_DELTA delta=[{"op":"add","path":"/x","value":{"a/b":{"c":true}}}]`, `STATE_DELTA delta=[{"op":"replace","path":"/l","value":null}]`,
			"STATE_SNAPSHOT snapshot=1", "STATE_SNAPSHOT snapshot=all"}},
		{"an activity", event.RunInput{}, func(run *emit.Run) {
			_, err := run.Activity("plan", []int{1}, nil)
			assert.ErrorContains(t, err, "must be an object, not array")
			a, err := run.Activity("plan", map[string]any{"n": 0}, &emit.ActivityOptions{ID: "a"})
			require.NoError(t, err)
			assert.Equal(t, "a", a.ID())
			assert.NoError(t, a.Set("/n", 1))
			assert.ErrorContains(t, a.Apply(state.Patch{{Kind: state.OpReplace, Value: state.Int(1)}}), "must be an object, not number")
			assert.ErrorContains(t, a.Replace(nil), "must be an object, not null")
			assert.NoError(t, a.Replace(map[string]any{}))
		}, []string{`ACTIVITY_SNAPSHOT messageId=a activityType=plan content={"n":0}`, `ACTIVITY_DELTA messageId=a activityType=plan patch=[{"op":"replace","path":"/n","value":1}]`,
			"ACTIVITY_SNAPSHOT messageId=a activityType=plan content={}"}},
		{"what passes through", event.RunInput{}, func(run *emit.Run) {
			assert.NoError(t, run.Custom("c", nil))
			assert.NoError(t, run.Raw(1, "s"))
			assert.Error(t, run.Custom("c", state.Value{}), "a value is required")
			assert.NoError(t, run.Think("hm"))
		}, []string{"CUSTOM name=c value=null", "RAW event=1 source=s", "REASONING_START messageId=r-reasoning-1", "REASONING_MESSAGE_START messageId=r-reasoning-1 role=reasoning",
			"REASONING_MESSAGE_CONTENT messageId=r-reasoning-1 delta=hm", "REASONING_MESSAGE_END messageId=r-reasoning-1", "REASONING_END messageId=r-reasoning-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sent(t, tc.in, func(_ context.Context, run *emit.Run) error { tc.f(run); return nil })
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestRunsEnd(t *testing.T) {
	offers := event.RunInput{Tools: []event.Tool{{Name: "clock"}}}
	for _, tc := range []struct {
		name string
		in   event.RunInput
		f    func(run *emit.Run) error
		want string
	}{
		{"well", event.RunInput{}, func(*emit.Run) error { return nil }, "RUN_FINISHED"},
		{"with a result and usage", event.RunInput{}, func(run *emit.Run) error {
			assert.Error(t, run.AddUsage(event.TokenUsage{InputTokens: messages.Some(int64(-1))}))
			run.AddUsage(event.TokenUsage{InputTokens: messages.Some(int64(1))})
			return run.SetResult(map[string]int{"a": 1})
		}, `RUN_FINISHED result={"a":1} usage=[{"inputTokens":1}]`},
		{"P-RUN-2 with a call that the client answers", offers, func(run *emit.Run) error {
			run.Call("own", &emit.CallOptions{ID: "o"})
			run.Call("clock", &emit.CallOptions{ID: "c"})
			return run.Call("clock", nil).Result("12:00")
		}, `RUN_FINISHED outcome={"type":"success","pendingToolCallIds":["c"]}`},
		{"with questions", offers, func(run *emit.Run) error {
			run.Call("clock", nil)
			id, err := run.Interrupt(event.Interrupt{Reason: "a"})
			assert.NoError(t, err)
			assert.Equal(t, "r-interrupt-2", id)
			_, err = run.Interrupt(event.Interrupt{ID: id, Reason: "b"})
			assert.ErrorContains(t, err, "asked before")
			_, err = run.Interrupt(event.Interrupt{ID: "i", Reason: "b"})
			return err
		}, `RUN_FINISHED outcome={"type":"interrupt","interrupts":[{"id":"r-interrupt-2","reason":"a"},{"id":"i","reason":"b"}]}`},
		{"cancelled", event.RunInput{}, func(run *emit.Run) error { return run.Cancel() }, `RUN_FINISHED outcome={"type":"cancelled"}`},
		{"by an error that is nobody's business", event.RunInput{}, func(run *emit.Run) error {
			run.AddUsage(event.TokenUsage{InputTokens: messages.Some(int64(1))})
			return errors.New("the password is x")
		}, `RUN_ERROR message=the agent failed code=agent_failed usage=[{"inputTokens":1}]`},
		{"by an error for the client", event.RunInput{}, func(*emit.Run) error {
			return fmt.Errorf("planning: %w", &reducer.AgentError{Message: "no tokens left", Code: messages.Some("quota")})
		}, "RUN_ERROR message=no tokens left code=quota"},
		{"by a panic", event.RunInput{}, func(*emit.Run) error { panic("the password is x") }, "RUN_ERROR message=the agent failed code=agent_failed"},
		{"early", event.RunInput{}, func(run *emit.Run) error {
			assert.NoError(t, run.End(nil))
			assert.ErrorIs(t, run.End(nil), emit.ErrClosed)
			assert.ErrorIs(t, run.Say("late"), emit.ErrClosed)
			assert.ErrorIs(t, run.SetResult(1), emit.ErrClosed)
			return errors.New("too late to tell")
		}, "RUN_FINISHED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := all(t, tc.in, func(_ context.Context, run *emit.Run) error { return tc.f(run) }, quiet)
			assert.Equal(t, tc.want, lines[len(lines)-1])
		})
	}
}

func TestWhatARunThatFailsLeavesOpen(t *testing.T) {
	in := event.RunInput{ThreadID: "t", RunID: "r"}
	fold := reducer.New(&reducer.Options{Strict: true, Input: &in})
	for ev := range emit.Agent(func(_ context.Context, run *emit.Run) error {
		step := run.Step("s")
		step.Text(nil).WriteString("half a sen")
		step.Call("f", &emit.CallOptions{ID: "c"}).WriteString(`{"a"`)
		step.Subagent("a", nil).Step("inner")
		return errors.New("x")
	}, quiet).Run(t.Context(), in) {
		require.NoError(t, fold.Apply(ev))
	}
	th := fold.End(nil)
	require.NoError(t, fold.Err())
	assert.True(t, th.Messages.At(0).Cut, "P-TXT-3")
	call, _ := th.ToolCall("c")
	assert.Equal(t, messages.ToolCallBroken, call.Status, "P-TOL-5")
	for _, step := range th.LastRun().Steps.All() {
		assert.True(t, step.Finished, step.Name)
	}
	for _, sub := range th.Subagents.All() {
		assert.Equal(t, reducer.SubagentAbandoned, sub.Status)
	}
}

func TestErrorsAreReported(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name string
		f    play
		want func(error) bool // nil: not reported
		told string
	}{
		{"an error", func(context.Context, *emit.Run) error { return broken }, func(err error) bool { return err == broken }, "told broken"},
		{"a panic", func(context.Context, *emit.Run) error { panic(broken) }, func(err error) bool {
			p, ok := errors.AsType[*client.PanicError](err)
			return ok && errors.Is(err, broken) && strings.Contains(string(p.Stack), "emit_test")
		}, "told agent panicked: broken"},
		{"one for the client is not", func(context.Context, *emit.Run) error { return &reducer.AgentError{Message: "m"} }, nil, "told agent failed: m"},
		{"one after the end of the run", func(_ context.Context, run *emit.Run) error { run.End(nil); return broken }, func(err error) bool { return err == broken }, ""},
		{"an end of the goroutine", func(context.Context, *emit.Run) error { runtime.Goexit(); return nil },
			func(err error) bool { return strings.Contains(err.Error(), "without returning") }, "told the agent ended its goroutine without returning"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []error
			var told string
			for ev := range emit.Agent(tc.f, &emit.Options{
				OnError: func(_ context.Context, in event.RunInput, err error) { got = append(got, err) },
				RunError: func(_ context.Context, err error) *event.RunError {
					return &event.RunError{Message: "told " + err.Error()}
				},
			}).Run(t.Context(), event.RunInput{RunID: "r"}) {
				if e, ok := ev.(*event.RunError); ok {
					told = e.Message
				}
			}
			assert.Equal(t, tc.told, told)
			if tc.want == nil {
				assert.Empty(t, got)
			} else if assert.Len(t, got, 1) {
				assert.True(t, tc.want(got[0]), "%v", got[0])
			}
		})
	}
}

func TestARunErrorThatCannotBeToldIsReplaced(t *testing.T) {
	for name, f := range map[string]func(context.Context, error) *event.RunError{
		"nil": func(context.Context, error) *event.RunError { return nil },
		"malformed": func(context.Context, error) *event.RunError {
			return &event.RunError{Base: event.Base{Timestamp: messages.Some(int64(1) << 60)}}
		},
		"a panic": func(context.Context, error) *event.RunError { panic("x") },
	} {
		lines := all(t, event.RunInput{}, func(context.Context, *emit.Run) error { return errors.New("x") }, &emit.Options{RunError: f, OnError: quiet.OnError})
		assert.Equal(t, "RUN_ERROR message=the agent failed code=agent_failed", lines[len(lines)-1], name)
	}
}

func TestALongTextIsSeveralDeltas(t *testing.T) {
	text := strings.Repeat("é", 1<<20) + "x"
	var got string
	deltas := 0
	for ev, err := range emit.Agent(func(_ context.Context, run *emit.Run) error { return run.Say(text) }, nil).Run(t.Context(), event.RunInput{}) {
		require.NoError(t, err)
		if c, ok := ev.(*event.TextMessageContent); ok {
			deltas++
			assert.LessOrEqual(t, len(c.Delta), 1<<20)
			got += c.Delta
		}
	}
	assert.Equal(t, 3, deltas)
	assert.True(t, got == text)
}

func TestUpdatesOfSeveralGoroutinesAddUp(t *testing.T) {
	sent(t, event.RunInput{}, func(_ context.Context, run *emit.Run) error {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					assert.NoError(t, run.State().Update(func(old state.Value) state.Value {
						n, _ := old.Get("n").AsInt()
						return old.With("n", state.Int(n+1))
					}))
				}
			})
		}
		wg.Wait()
		assert.Equal(t, `{"n":200}`, run.State().Value().String())
		return nil
	})
}

func TestPatchesAreBounded(t *testing.T) {
	sent(t, event.RunInput{}, func(_ context.Context, run *emit.Run) error {
		st := run.State()
		require.NoError(t, st.Set("/a", strings.Repeat("x", 1<<20)))
		var err error
		for i := range 10 {
			if err = st.Apply(state.Patch{{Kind: state.OpCopy, From: "", Path: fmt.Sprint("/", i)}}); err != nil {
				break
			}
		}
		assert.ErrorIs(t, err, state.ErrLimit)
		a, err := run.Activity("k", map[string]any{}, nil)
		require.NoError(t, err)
		assert.ErrorIs(t, a.Set("/b", st.Value()), state.ErrLimit, "both count together (P-STA-1)")
		return nil
	})
}

func TestTheContextEndsARun(t *testing.T) {
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	var last error
	var lines []string
	for ev, err := range emit.Agent(func(ctx context.Context, run *emit.Run) error {
		text := run.Text(nil)
		cancel(cause)
		<-ctx.Done()
		_, last = text.WriteString("x")
		assert.ErrorIs(t, text.Close(), context.Canceled)
		assert.ErrorIs(t, run.Say("x"), context.Canceled)
		return nil
	}, quiet).Run(ctx, event.RunInput{}) {
		if err != nil {
			assert.ErrorIs(t, err, cause)
			assert.ErrorIs(t, err, context.Canceled)
			continue
		}
		lines = append(lines, ev.Type().String())
	}
	assert.Equal(t, []string{"RUN_STARTED", "TEXT_MESSAGE_START"}, lines)
	assert.ErrorIs(t, last, cause)
}

// Leaving the loop ends the function's context, and returns when the function has.
func TestAReaderThatLeaves(t *testing.T) {
	for name, leave := range map[string]func(){"break": func() {}, "a panic": func() { panic("the reader's") }} {
		began, returned := false, false
		read := func() {
			defer func() { assert.Equal(t, name == "a panic", recover() != nil, "a reader's panic stays the reader's") }()
			for ev := range emit.Agent(func(ctx context.Context, run *emit.Run) error {
				began = true
				for run.Say("x") == nil {
				}
				<-ctx.Done()
				returned = true
				return nil
			}, quiet).Run(t.Context(), event.RunInput{}) {
				if ev.Type() == event.TypeTextMessageEnd {
					leave()
					break
				}
			}
		}
		read()
		assert.True(t, began && returned, name)
	}
}

func TestARunOfItsOwnSend(t *testing.T) {
	full := errors.New("full")
	var lines []string
	run := emit.New(t.Context(), event.RunInput{}, func(ev event.Event) error {
		if len(lines) == 3 {
			return full
		}
		lines = append(lines, ev.Type().String())
		return nil
	}, quiet)
	assert.Empty(t, lines)
	assert.NoError(t, run.Start())
	assert.NoError(t, run.Start())
	assert.ErrorIs(t, run.Say("x"), full)
	assert.ErrorIs(t, run.Say("x"), full)
	assert.ErrorIs(t, run.End(nil), full)
	assert.Equal(t, []string{"RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"}, lines)
}

func TestStreamTakesEventsFromAnyGoroutine(t *testing.T) {
	agent := emit.Stream(func(_ context.Context, _ event.RunInput, send func(...event.Event) error) error {
		done := make(chan error)
		go func() { done <- send(&event.Custom{Name: "a"}, &event.Custom{Name: "b"}) }()
		if err := <-done; err != nil {
			return err
		}
		panic("x")
	})
	var names []string
	var last error
	for ev, err := range agent.Run(t.Context(), event.RunInput{}) {
		if last = err; err == nil {
			names = append(names, ev.(*event.Custom).Name)
		}
	}
	assert.Equal(t, []string{"a", "b"}, names)
	assert.ErrorAs(t, last, new(*client.PanicError))
}

// The client has been told how the run ended before OnError is called, and is told even if OnError panics.
func TestOnErrorThatPanics(t *testing.T) {
	lines := all(t, event.RunInput{}, func(context.Context, *emit.Run) error { return errors.New("x") }, &emit.Options{
		OnError: func(context.Context, event.RunInput, error) { panic("in OnError") },
	})
	require.NotEmpty(t, lines)
	assert.Contains(t, lines[len(lines)-1], "RUN_ERROR")
}

// A question that cannot be asked leaves its id to the corrected one.
func TestInterruptAfterAWrongOne(t *testing.T) {
	lines := all(t, event.RunInput{}, func(_ context.Context, run *emit.Run) error {
		id, err := run.Interrupt(event.Interrupt{ID: "q", ResponseSchema: state.String("no schema")})
		assert.Error(t, err)
		assert.Empty(t, id)
		id, err = run.Interrupt(event.Interrupt{ID: "q", Reason: "confirmation"})
		assert.Equal(t, "q", id)
		return err
	}, quiet)
	assert.Contains(t, lines[len(lines)-1], "q")
}
