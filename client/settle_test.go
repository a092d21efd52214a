package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// begun is a call whose arguments broke off.
func begun(id, name, args string) []event.Event { return calls(id, name, args)[:2] }

func resultOf(id, call string) event.Event {
	return &event.ToolCallResult{MessageID: id, ToolCallID: call, Content: messages.Text("ok")}
}

func TestUnansweredCalls(t *testing.T) {
	mine := client.Tool{Tool: event.Tool{Name: "mine"}}
	noon := client.Tool{Tool: event.Tool{Name: "now"}, Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil }}
	const city = `{"city":"Li`
	for _, r := range []struct {
		rule   string
		run    []any
		policy client.Unanswered
		sent   []string
		warned []string
	}{
		{"P-HIS-2 arguments that broke off", flatAny(begun("c1", "mine", city)), client.SettleUnanswered,
			[]string{"assistant  [c1 mine{}]", `tool c1 the tool was not called, because the arguments broke off: the connection to the run was lost; of the arguments came "{\"city\":\"Li" !`},
			[]string{"P-HIS-4 c1", "P-HIS-2 c1"}},
		{"P-HIS-2 before there were any", flatAny(begun("c1", "mine", "")), client.SettleUnanswered,
			[]string{"assistant  [c1 mine{}]", `tool c1 the tool was not called, because the arguments broke off: the connection to the run was lost !`}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 arguments that happen to be JSON", flatAny(begun("c1", "mine", "{}"), fails), client.SettleUnanswered,
			[]string{"assistant  [c1 mine{}]", `tool c1 the tool was not called, because the arguments broke off: the run failed; of the arguments came "{}" !`}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 a complete call of a run that died", flatAny(calls("c1", "mine", `{"a":1}`)), client.SettleUnanswered,
			[]string{`assistant  [c1 mine{"a":1}]`, "tool c1 there is no result: the connection to the run was lost !"}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 of a run that failed", flatAny(calls("c1", "now", ""), fails), client.SettleUnanswered,
			[]string{"assistant  [c1 now{}]", "tool c1 there is no result: the run failed !"}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 of a run that was rejected", flatAny(calls("c1", "now", ""), begins), client.SettleUnanswered,
			[]string{"assistant  [c1 now{}]", "tool c1 there is no result: the stream of the run was not in order !"}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 of a run that was cancelled", flatAny(calls("c1", "mine", ""), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}`), client.SettleUnanswered,
			[]string{"assistant  [c1 mine{}]", "tool c1 there is no result: the run was cancelled !"}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 of a tool that is not offered", flatAny(calls("c1", "theirs", ""), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}]", `tool c1 there is no tool "theirs" !`}, []string{"P-HIS-2 c1"}},
		{"P-HIS-2 one of two", flatAny(calls("c1", "theirs", ""), calls("c2", "theirs", ""), resultOf("t2", "c2"), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}] [c2 theirs{}]", "tool c2 ok", `tool c1 there is no tool "theirs" !`}, []string{"P-HIS-2 c1"}},
		{"P-HIS-4 arguments that nobody can read, of an answered call", flatAny(calls("c1", "theirs", "[1"), resultOf("t1", "c1"), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}]", "tool c1 ok"}, []string{"P-HIS-4 c1"}},
		{"P-HIS-5 a result that does not follow its call", flatAny(restated(callJSON("c1", "theirs"), `{"id":"x","role":"assistant","content":"so"}`, resultJSON("t1", "c1")), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}]", "tool c1 ok", "assistant so"}, []string{"P-HIS-5 t1"}},
		{"P-HIS-5 activities are not between them", flatAny(restated(callJSON("c1", "theirs"), `{"id":"x","role":"activity","activityType":"a","content":{}}`, resultJSON("t1", "c1")), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}]", "tool c1 ok"}, nil},
		{"P-HIS-5 two results", flatAny(restated(callJSON("c1", "theirs"), resultJSON("t1", "c1"), resultJSON("t2", "c1")), succeeds), client.SettleUnanswered,
			[]string{"assistant  [c1 theirs{}]", "tool c1 ok"}, []string{"P-HIS-5 t1"}},
		{"P-HIS-5 a result whose call the thread does not hold is sent as it is", flatAny(resultOf("t9", "c9"), succeeds), client.SettleUnanswered,
			[]string{"tool c9 ok"}, nil},
		{"P-HIS-5 a message that broke off before its first character", flatAny(text("m", "a"), &event.TextMessageStart{MessageID: "n"}), client.SettleUnanswered,
			[]string{"assistant a"}, []string{"P-HIS-5 n"}},
		{"a text that was cut is sent", flatAny(&event.TextMessageStart{MessageID: "n"}, &event.TextMessageContent{MessageID: "n", Delta: "hal"}), client.SettleUnanswered,
			[]string{"assistant hal"}, nil},
		{"P-HIS-3 calls that wait for the caller are declined", flatAny(calls("c1", "mine", ""), calls("c2", "mine", ""), succeeds), client.DeclineUnanswered,
			[]string{"assistant  [c1 mine{}] [c2 mine{}]", "tool c1 declined: the user continued without an answer !", "tool c2 declined: the user continued without an answer !"}, []string{"P-HIS-2 c1", "P-HIS-2 c2"}},
		{"an agent that holds the history", flatAny(begun("c1", "mine", city)), client.KeepUnanswered,
			[]string{"assistant  [c1 mine" + city + "]"}, nil},
	} {
		t.Run(r.rule, func(t *testing.T) {
			agent := script(says(append([]any{begins}, r.run...)...), says(begins, succeeds), says(begins, succeeds))
			var got []string
			s := client.NewSession(agent, quiet(client.SessionOptions{
				Tools: []client.Tool{noon, mine}, Unanswered: r.policy, OnWarning: func(w event.Warning) { got = append(got, w.Rule+" "+w.Path) },
			}))
			s.Send(t.Context())
			got = nil
			before := string(s.Thread().AppendJSON(nil))
			held := s.Thread()
			_, err := s.Send(t.Context(), messages.UserText("go on"))
			require.NoError(t, err)
			assert.Equal(t, append(r.sent, "user go on"), sentAs(agent.inputs[1]))
			assert.Equal(t, r.warned, got)
			assert.Equal(t, before, string(held.AppendJSON(nil)), "the snapshot stays")
			if r.policy != client.KeepUnanswered {
				assert.Empty(t, historyFaults(bodyOf(t, agent.inputs[1]), nil))
			}
			got = nil
			_, err = s.Send(t.Context())
			require.NoError(t, err)
			assert.Empty(t, got, "once is enough")
		})
	}
	t.Run("P-HIS-3 calls that wait for the caller are all listed", func(t *testing.T) {
		agent := script(says(begins, calls("c1", "mine", ""), calls("c2", "now", ""), calls("c3", "mine", ""), succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon, mine}}))
		s.Send(t.Context())
		before := s.Thread()
		_, err := s.Send(t.Context(), messages.UserText("never mind"))
		var waits *client.PendingCallError
		require.ErrorAs(t, err, &waits)
		assert.Equal(t, []string{"c1", "c3"}, callIDs(waits.Calls))
		assert.EqualError(t, err, `P-RUN-2: calls have no answer: "c1" of "mine", "c3" of "mine"; send each as a tool message`)
		assert.Same(t, before, s.Thread())
	})
	t.Run("P-HIS-2 the calls of a stopped run", func(t *testing.T) {
		agent := script(says(begins, begun("c1", "mine", city), text("m", "x"), succeeds), says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{mine}}))
		for d := range s.Run(t.Context(), nil) {
			if d.Change.Kind == reducer.ArgumentsAppended {
				break
			}
		}
		require.Equal(t, reducer.Stopped, s.Thread().Status())
		_, err := s.Retry(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant  [c1 mine{}]", `tool c1 the tool was not called, because the arguments broke off: the user stopped the run; of the arguments came "{\"city\":\"Li" !`}, sentAs(agent.inputs[1]))
	})
	t.Run("P-HIS-2 a function that was stopped is not called again", func(t *testing.T) {
		for _, policy := range []client.Unanswered{client.SettleUnanswered, client.KeepUnanswered} {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			slow := client.Tool{Tool: event.Tool{Name: "slow"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
				if n++; n == 1 {
					cancel()
					<-ctx.Done()
				}
				return "done", ctx.Err()
			}}
			agent := script(says(begins, calls("c1", "slow", "{}"), succeeds), says(begins, succeeds))
			s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{slow}, Unanswered: policy}))
			_, err := s.Send(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, []string{"c1"}, s.Thread().PendingToolCallIDs())
			_, err = s.Send(t.Context(), messages.UserText("and?"))
			require.NoError(t, err)
			want := "tool c1 the tool did not return before it was stopped; it may have had effects !"
			if policy == client.KeepUnanswered {
				want = "tool c1 done"
			}
			assert.Equal(t, []string{"assistant  [c1 slow{}]", want, "user and?"}, sentAs(agent.inputs[1]))
		}
	})
	t.Run("a function that was not called is called", func(t *testing.T) {
		agent := script(says(begins, calls("c1", "now", ""), succeeds), says(begins, calls("c2", "now", ""), succeeds), says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon}, MaxRounds: 1}))
		_, err := s.Send(t.Context())
		require.ErrorIs(t, err, client.ErrRounds)
		_, err = s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant  [c1 now{}] [c2 now{}]", "tool c1 noon", "tool c2 noon"}, sentAs(agent.inputs[2]))
	})
	t.Run("P-HIS-3 an interrupted agent answers its own calls", func(t *testing.T) {
		const interrupt = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask","toolCallId":"c2"}]}}`
		agent := script(says(begins, calls("c1", "theirs", ""), calls("c2", "mine", "{"), interrupt), says(begins, fails), says(begins, succeeds), says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{mine}}))
		s.Send(t.Context())
		s.Resume(t.Context(), client.Decline("i1"))
		_, err := s.Resume(t.Context(), client.Decline("i1"))
		require.NoError(t, err)
		for _, in := range agent.inputs[1:3] {
			assert.Equal(t, []string{"assistant  [c1 theirs{}] [c2 mine{}]"}, sentAs(in))
		}
		_, err = s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant  [c1 theirs{}] [c2 mine{}]", "tool c1 there is no result: none came !", "tool c2 there is no result: none came !"}, sentAs(agent.inputs[3]),
			"once the interrupt is over they have no other answer")
	})
	t.Run("P-HIS-2 a thread that was stored in the middle of a run", func(t *testing.T) {
		s := client.NewSession(script(says(begins, text("m", "hal")[:2], begun("c1", "mine", city), succeeds)), quiet(client.SessionOptions{}))
		var stored []byte
		for d := range s.Run(t.Context(), nil) {
			if d.Change.Kind == reducer.ArgumentsAppended {
				stored = s.Thread().AppendJSON(nil)
				break
			}
		}
		var th reducer.Thread
		require.NoError(t, th.UnmarshalJSON(stored))
		require.Equal(t, reducer.Running, th.Status())
		agent := script(says(begins, succeeds))
		next := client.NewSession(agent, quiet(client.SessionOptions{Thread: &th}))
		assert.Equal(t, reducer.Truncated, next.Thread().Status())
		assert.ErrorIs(t, next.Thread().Err(), client.ErrTruncated)
		_, err := next.Send(t.Context(), messages.UserText("go on"))
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant hal", "assistant  [c1 mine{}]",
			`tool c1 the tool was not called, because the arguments broke off: the connection to the run was lost; of the arguments came "{\"city\":\"Li" !`, "user go on"}, sentAs(agent.inputs[0]))
	})
	t.Run("a function of a stored thread may have been called", func(t *testing.T) {
		first := client.NewSession(script(says(begins, calls("c1", "now", ""), succeeds)), quiet(client.SessionOptions{}))
		first.Send(t.Context())
		agent := script(says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Thread: first.Thread(), Tools: []client.Tool{noon}}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant  [c1 now{}]", "tool c1 the tool did not return before it was stopped; it may have had effects !"}, sentAs(agent.inputs[0]))
	})
}

func TestAnswerUnknownTools(t *testing.T) {
	agent := script(says(begins, calls("c1", "theirs", "{}"), succeeds), says(begins, text("m", "sorry"), succeeds))
	approved := 0
	s := client.NewSession(agent, quiet(client.SessionOptions{AnswerUnknownTools: true, Approve: func(context.Context, *messages.ToolCall) error { approved++; return nil }}))
	res, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, res.Runs)
	assert.Equal(t, []string{"assistant  [c1 theirs{}]", `tool c1 there is no tool "theirs" !`}, sentAs(agent.inputs[1]))
	assert.Zero(t, approved, "there is nothing to approve")
}

func TestRetry(t *testing.T) {
	denied := errors.New("401")
	agent := script(func(context.Context, event.RunInput, func(...event.Event) error) error { return denied }, says(begins, text("m", "hello"), succeeds))
	s := client.NewSession(agent, quiet(client.SessionOptions{}))
	_, err := s.Send(t.Context(), messages.UserText("hi"))
	require.ErrorIs(t, err, denied)
	assert.Equal(t, reducer.Unstarted, s.Thread().Status())
	res, err := s.Retry(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"user hi"}, sentAs(agent.inputs[1]), "not doubled")
	assert.Len(t, res.NewMessages, 1)
}
