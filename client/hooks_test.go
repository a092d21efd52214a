package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// everything is a run with each kind of change that Hooks tell of.
func everything(t *testing.T) turn {
	sub := messages.SubagentOwner("s1")
	return says(begins,
		&event.TextMessageStart{MessageID: "m"}, &event.TextMessageContent{MessageID: "m", Delta: "Hel"},
		&event.TextMessageContent{MessageID: "m", Delta: "lo"}, &event.TextMessageEnd{MessageID: "m"},
		&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f", ParentMessageID: messages.Some("m")}, &event.ToolCallArgs{ToolCallID: "c", Delta: "{}"},
		&event.ToolCallEnd{ToolCallID: "c"}, &event.ToolCallResult{MessageID: "r1", ToolCallID: "c", Content: messages.Text("done")},
		&event.StateSnapshot{Snapshot: parsed(t, `{"n":1}`)}, &event.StateDelta{Delta: state.Patch{{Kind: state.OpReplace, Path: "/n", Value: state.Int(2)}}},
		&event.ActivitySnapshot{MessageID: "a", ActivityType: "x", Content: parsed(t, `{"p":1}`)},
		&event.ActivityDelta{MessageID: "a", ActivityType: "x", Patch: state.Patch{{Kind: state.OpReplace, Path: "/p", Value: state.Int(2)}}},
		&event.SubagentStarted{Attribution: event.By(sub), Name: "helper"}, &event.SubagentFinished{Attribution: event.By(sub)},
		&event.Custom{Name: "ping", Value: state.Int(1)},
		&event.MessagesSnapshot{Messages: []*messages.Message{{ID: "m", Role: messages.RoleAssistant, Content: messages.Text("Hello!")}}},
		succeeds)
}

// noting are hooks that write down what they are called with.
func noting(got *[]string) *client.Hooks {
	note := func(format string, args ...any) { *got = append(*got, fmt.Sprintf(format, args...)) }
	return &client.Hooks{
		RunBegan:        func(r *reducer.Run) { note("run began %s", r.ID) },
		RunEnded:        func(r *reducer.Run) { note("run ended %s %v", r.ID, r.Status) },
		MessageAdded:    func(m *messages.Message) { note("added %s %s %q", m.Role, m.ID, m.Text()) },
		MessageClosed:   func(m *messages.Message) { note("closed %s %q", m.ID, m.Text()) },
		TextAppended:    func(m *messages.Message, delta string) { note("appended %s %q to %q", m.ID, delta, m.Text()) },
		ToolCallAdded:   func(c *messages.ToolCall) { note("call %s %s", c.ID, c.Name) },
		ToolCallClosed:  func(c *messages.ToolCall) { note("call complete %s %s", c.ID, c.Arguments) },
		StateChanged:    func(v state.Value) { note("state %v", v) },
		ActivityChanged: func(m *messages.Message) { note("activity %s %v", m.ID, m.Activity) },
		Restated:        func(th *reducer.Thread) { note("restated %d", th.Messages.Len()) },
		SubagentChanged: func(s *reducer.Subagent) { note("subagent %s %v", s.Name, s.Status) },
		Custom:          func(e *event.Custom) { note("custom %s", e.Name) },
		Error:           func(err *reducer.AgentError) { note("error %s", err.Message) },
	}
}

var noted = []string{
	`run began r`, `added assistant m ""`, `appended m "Hel" to "Hel"`, `appended m "lo" to "Hello"`, `closed m "Hello"`,
	`call c f`, `call complete c {}`, `added tool r1 "done"`, `state {"n":1}`, `state {"n":2}`, `added activity a ""`, `activity a {"p":1}`,
	`activity a {"p":2}`, `subagent helper running`, `subagent helper succeeded`, `custom ping`, `restated 2`, `run ended r succeeded`,
}

func TestHooks(t *testing.T) {
	t.Run("each is called with what changed, in a session", func(t *testing.T) {
		var got []string
		hooks := noting(&got)
		deliveries := 0
		hooks.Delivery = func(d reducer.Delivery) { deliveries++ }
		s := client.NewSession(script(everything(t)), quiet(client.SessionOptions{Hooks: hooks}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, noted, got)
		assert.Equal(t, 18, deliveries)
	})
	t.Run("and in a loop over the deliveries of a session", func(t *testing.T) {
		var got []string
		hooks := noting(&got)
		s := client.NewSession(script(everything(t)), quiet(client.SessionOptions{}))
		for d, err := range s.Run(t.Context(), nil) {
			require.NoError(t, err)
			hooks.Deliver(s.Thread, d)
		}
		assert.Equal(t, noted, got)
	})
	t.Run("an error that the agent reported", func(t *testing.T) {
		var got []string
		s := client.NewSession(script(says(begins, fails)), quiet(client.SessionOptions{Hooks: noting(&got)}))
		_, err := s.Send(t.Context())
		require.Error(t, err)
		assert.Equal(t, []string{"run began r", "error out of tokens", "run ended r failed"}, got)
	})
	t.Run("none of them costs no snapshot", func(t *testing.T) {
		(&client.Hooks{}).Deliver(func() *reducer.Thread { t.Error("asked for the thread"); return &reducer.Thread{} },
			reducer.Delivery{Event: &event.StateSnapshot{}, Change: reducer.Change{Kind: reducer.StateReplaced, Index: -1}})
	})
	t.Run("a hook may use the session", func(t *testing.T) {
		var s *client.Session
		busy := errors.New("not called")
		s = client.NewSession(script(says(begins, text("m", "x"), succeeds)), quiet(client.SessionOptions{Hooks: &client.Hooks{
			MessageClosed: func(*messages.Message) {
				assert.True(t, s.Snapshot().Phase.Busy())
				busy = s.SetState(state.Object())
			},
		}}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.ErrorIs(t, busy, client.ErrBusy)
	})
}

func TestHooksOfALingeringStream(t *testing.T) {
	// The agent begins another run on the stream after the turn has ended. A hook of it edits the thread, which ends the
	// lingering.
	synctest.Test(t, func(t *testing.T) {
		var got []string
		hooks := noting(&got)
		var s *client.Session
		closed := hooks.MessageClosed
		hooks.MessageClosed = func(m *messages.Message) {
			closed(m)
			if err := s.SetState(parsed(t, `{"edited":true}`)); err != nil {
				got = append(got, err.Error())
			}
		}
		s = client.NewSession(script(then(says(begins, succeeds), sleeps(time.Second),
			says(&event.RunStarted{ThreadID: "t", RunID: "r2"}, text("m", "late"), &event.RunFinished{ThreadID: "t", RunID: "r2"}))),
			quiet(client.SessionOptions{Hooks: hooks}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"run began r", "run ended r succeeded", "run began r2", `added assistant m ""`, `appended m "late" to "late"`, `closed m "late"`}, got)
		assert.Equal(t, `{"edited":true}`, s.Thread().State.String())
		s.Close()
	})
}

// sleeps is a turn that waits.
func sleeps(d time.Duration) turn {
	return func(ctx context.Context, _ event.RunInput, _ func(...event.Event) error) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil
	}
}

func TestOnInput(t *testing.T) {
	t.Run("what it changes is sent, and the thread is as it was", func(t *testing.T) {
		agent := script(says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{State: parsed(t, `{"secret":1,"n":2}`), Middleware: []client.Middleware{
			client.OnInput(func(ctx context.Context, in *event.RunInput) error {
				in.State = in.State.Without("secret")
				in.Messages = append([]*messages.Message{{ID: "sys", Role: messages.RoleSystem, Content: messages.Text("be short")}}, in.Messages...)
				return nil
			}),
		}}))
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Equal(t, `{"n":2}`, agent.inputs[0].State.String())
		assert.Len(t, agent.inputs[0].Messages, 2)
		assert.Equal(t, 1, s.Thread().Messages.Len())
		assert.Equal(t, `{"secret":1,"n":2}`, s.Thread().State.String())
	})
	t.Run("its error is typed, and nothing is sent", func(t *testing.T) {
		no := errors.New("over budget")
		agent := script(says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Middleware: []client.Middleware{
			client.OnInput(func(context.Context, *event.RunInput) error { return no })}}))
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.ErrorIs(t, err, no)
		require.ErrorAs(t, err, new(*client.PrepareError))
		assert.Empty(t, agent.inputs)
	})
	t.Run("no function is the error of every run", func(t *testing.T) {
		for _, m := range []client.Middleware{client.OnInput(nil), client.OnEvent(nil)} {
			for _, err := range client.Chain(script(says(begins)), m).Run(t.Context(), event.RunInput{}) {
				assert.ErrorContains(t, err, "it is nil")
			}
		}
	})
}

func TestOnEvent(t *testing.T) {
	t.Run("it sees the thread as it was before each event", func(t *testing.T) {
		var seen []string
		s := client.NewSession(script(says(begins, text("m", "Hi"), &event.StateSnapshot{Snapshot: parsed(t, `{"n":1}`)}, succeeds)), quiet(client.SessionOptions{
			State: parsed(t, `{"n":0}`), Middleware: []client.Middleware{client.OnEvent(func(before *reducer.Thread, ev event.Event, pass func(...event.Event)) {
				last := "-"
				if n := before.Messages.Len(); n > 0 {
					last = before.Messages.At(n - 1).Text()
				}
				seen = append(seen, fmt.Sprintf("%v %v %s %v", ev.Type(), before.Status(), last, before.State))
				pass(ev)
			})}}))
		_, err := s.Send(t.Context(), messages.UserText("hello"))
		require.NoError(t, err)
		assert.Equal(t, []string{
			`RUN_STARTED empty hello {"n":0}`, `TEXT_MESSAGE_START running hello {"n":0}`, `TEXT_MESSAGE_CONTENT running  {"n":0}`,
			`TEXT_MESSAGE_END running Hi {"n":0}`, `STATE_SNAPSHOT running Hi {"n":0}`, `RUN_FINISHED running Hi {"n":1}`,
		}, seen)
	})
	t.Run("an event that is not passed is dropped, and later ordinals stay", func(t *testing.T) {
		var ordinals []int
		s := client.NewSession(script(says(begins, &event.Custom{Name: "x", Value: state.Int(1)}, text("m", "Hi"), succeeds)), quiet(client.SessionOptions{
			Hooks: &client.Hooks{Delivery: func(d reducer.Delivery) { ordinals = append(ordinals, d.Ordinal) }},
			Middleware: []client.Middleware{client.OnEvent(func(_ *reducer.Thread, ev event.Event, pass func(...event.Event)) {
				if ev.Type() != event.TypeCustom {
					pass(ev)
				}
			})}}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []int{1, 3, 4, 5, 6}, ordinals)
	})
	t.Run("an edit that it makes is recorded like a client's", func(t *testing.T) {
		// The agent sends progress as CUSTOM; the hook keeps it in the state.
		progress := func(n int64) event.Event { return &event.Custom{Name: "progress", Value: state.Int(n)} }
		agent := script(says(begins, progress(40), progress(80), succeeds), says(begins, succeeds))
		var file bytes.Buffer
		var seen []string
		o := quiet(client.SessionOptions{State: parsed(t, `{"keep":1}`), Middleware: []client.Middleware{
			client.OnEvent(func(before *reducer.Thread, ev event.Event, pass func(...event.Event)) {
				pass(ev)
				if c, ok := ev.(*event.Custom); ok && c.Name == "progress" {
					seen = append(seen, before.State.String())
					patch, err := client.State[int64]{Path: "/progress"}.Patch(before.State, func(n *int64) error {
						*n, _ = c.Value.AsInt()
						return nil
					})
					require.NoError(t, err)
					pass(&event.StateDelta{Delta: patch})
				}
			}), client.Record(recording.NewWriter(&file))}})
		s := client.NewSession(agent, o)
		for range 2 {
			_, err := s.Send(t.Context(), messages.UserText("go"))
			require.NoError(t, err)
		}
		assert.Equal(t, []string{`{"keep":1}`, `{"keep":1,"progress":40}`}, seen)
		assert.Equal(t, `{"keep":1,"progress":80}`, s.Thread().State.String())
		assert.Equal(t, `{"keep":1,"progress":80}`, agent.inputs[1].State.String(), "the agent gets it with the next run")
		assert.NotContains(t, file.String(), "STATE_DELTA", "what the agent sent is recorded, and no more")
		th, err := recording.Fold(strings.NewReader(file.String()), nil)
		require.NoError(t, err)
		assert.Equal(t, `{"keep":1,"progress":80}`, th.State.String())
	})
	t.Run("a reader that leaves ends the run, and a nil event is an error", func(t *testing.T) {
		ended := false
		agent := client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
			defer func() { ended = true }()
			return emit(begins, succeeds)
		})
		calls := 0
		m := client.OnEvent(func(_ *reducer.Thread, ev event.Event, pass func(...event.Event)) { calls++; pass(ev, ev) })
		for range client.Chain(agent, m).Run(t.Context(), event.RunInput{}) {
			break
		}
		assert.Equal(t, 1, calls)
		assert.True(t, ended)
		m = client.OnEvent(func(_ *reducer.Thread, ev event.Event, pass func(...event.Event)) { pass(nil) })
		n := 0
		for ev, err := range client.Chain(agent, m).Run(t.Context(), event.RunInput{}) {
			n++
			assert.Nil(t, ev)
			assert.Error(t, err)
		}
		assert.Equal(t, 1, n)
	})
}

func TestResultCountsEventsAndBytes(t *testing.T) {
	one, two := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	s := client.NewSession(script(says(one, text("m", "x"), two)), quiet(client.SessionOptions{}))
	res, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 5, res.Events)
	assert.EqualValues(t, len(one)+len(two), res.Bytes)
}
