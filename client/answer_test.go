package client_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// callIDs returns the ids of calls.
func callIDs(calls []*messages.ToolCall) []string {
	var ids []string
	for _, tc := range calls {
		ids = append(ids, tc.ID)
	}
	return ids
}

// TestRoundsOfAnswers holds that answers are sent in rounds until a call of an offered tool waits for the caller, and that
// the result and the thread name the same pending calls (P-RUN-2).
func TestRoundsOfAnswers(t *testing.T) {
	noon := does("now", func(context.Context) (any, error) { return "noon", nil })
	mine := client.Tool{Tool: event.Tool{Name: "mine"}}
	snapshot := func(ms ...string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + strings.Join(ms, ",") + `]}`
	}
	holding := func(id, name string) string {
		return `{"id":"m` + id + `","role":"assistant","toolCalls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}]}`
	}
	answering := func(id string) string {
		return `{"id":"t` + id + `","role":"tool","toolCallId":"` + id + `","content":"done"}`
	}
	for _, row := range []struct {
		rule    string
		run     []any
		runs    int
		pending []string
		sent    []string // the messages of the second run's input
	}{
		{"an agent's own tool that is never answered does not stop the answers", flatAny(calls("c1", "now", ""), calls("c2", "theirs", "")), 2, nil,
			[]string{"assistant a: ", "tool id-3: noon", `tool id-4: there is no tool "theirs"`}},
		{"nor does one whose result came only in a snapshot", flatAny(calls("c1", "now", ""), calls("c2", "theirs", ""),
			snapshot(holding("c1", "now"), holding("c2", "theirs"), answering("c2"))), 2, nil,
			[]string{"assistant mc1: ", "tool id-3: noon", "assistant mc2: ", "tool tc2: done"}},
		{"a call for the caller stops them", flatAny(calls("c1", "now", ""), calls("c2", "mine", "")), 1, []string{"c2"}, nil},
		{"a call for the caller that a snapshot answered does not", flatAny(calls("c1", "now", ""), calls("c2", "mine", ""),
			snapshot(holding("c1", "now"), holding("c2", "mine"), answering("c2"))), 2, nil,
			[]string{"assistant mc1: ", "tool id-3: noon", "assistant mc2: ", "tool tc2: done"}},
		{"a call that only a snapshot brings is answered", flatAny(text("m", "looking"), snapshot(`{"id":"m","role":"assistant","content":"looking"}`, holding("c1", "now"))), 2, nil,
			[]string{"assistant m: looking", "assistant mc1: ", "tool id-3: noon"}},
		{"a call for the caller that only a snapshot brings is pending", flatAny(snapshot(holding("c1", "mine"))), 1, []string{"c1"}, nil},
		{"a call of no offered tool that only a snapshot brings is the agent's", flatAny(snapshot(holding("c1", "theirs"))), 1, nil, nil},
	} {
		t.Run(row.rule, func(t *testing.T) {
			agent := script(says(append(append([]any{begins}, row.run...), succeeds)...), says(begins, succeeds))
			s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon, mine}}))
			res, err := s.Send(t.Context())
			require.NoError(t, err)
			assert.Equal(t, row.runs, res.Runs)
			assert.Equal(t, row.pending, callIDs(res.PendingToolCalls))
			assert.Equal(t, row.pending, res.Thread.PendingToolCallIDs())
			if row.sent != nil {
				assert.Equal(t, row.sent, said(agent.inputs[1]))
			}
		})
	}
	t.Run("P-TOL-4 a call that a later run starts again is answered, with what is wrong with its arguments", func(t *testing.T) {
		count := client.NewTool("count", "", func(_ context.Context, args struct{ N int }) (any, error) { return args.N, nil })
		agent := script(says(begins, calls("call_0", "count", `{"N":1}`), succeeds), says(begins, calls("call_0", "count", `{"N":2}`), succeeds), says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{count}}))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3, res.Runs)
		var answers []string
		for _, m := range agent.inputs[2].Messages {
			if m.Role == messages.RoleTool {
				answers = append(answers, m.Text())
			}
		}
		require.Len(t, answers, 1, "P-HIS-5 of two results the later one stays")
		assert.Contains(t, answers[0], "invalid arguments for count: ")
	})
}

func flatAny(what ...any) []any {
	var out []any
	for _, ev := range flat(what...) {
		out = append(out, ev)
	}
	return out
}

// TestCallsAreAnsweredFirst holds that a thread continues only when each call of an offered tool is answered, on a resumed
// run too (events/tool-calls, Frontend tools).
func TestCallsAreAnsweredFirst(t *testing.T) {
	noon := does("now", func(context.Context) (any, error) { return "noon", nil })
	mine := client.Tool{Tool: event.Tool{Name: "mine"}}
	session := func(o client.SessionOptions, turns ...turn) (*client.Session, *scripted) {
		agent := script(turns...)
		o.Tools = []client.Tool{noon, mine}
		return client.NewSession(agent, quiet(o)), agent
	}
	t.Run("an interrupted run's functions run, and their answers go with the entries", func(t *testing.T) {
		s, agent := session(client.SessionOptions{}, says(begins, calls("c1", "now", ""), asks(interrupt)), says(begins, succeeds))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, reducer.Interrupted, res.Status)
		assert.Equal(t, 1, res.Runs)
		assert.Empty(t, res.PendingToolCalls)
		_, err = s.Resume(t.Context(), client.Decline("i1"))
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant a: ", "tool id-3: noon"}, said(agent.inputs[1]))
		assert.Len(t, agent.inputs[1].Resume, 1)
	})
	t.Run("an interrupted run's calls for the caller are listed, and Resume without them is refused", func(t *testing.T) {
		s, agent := session(client.SessionOptions{}, says(begins, calls("c1", "mine", ""), asks(interrupt)), says(begins, succeeds))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"c1"}, callIDs(res.PendingToolCalls))
		before := s.Thread()
		res, err = s.Resume(t.Context(), client.Decline("i1"))
		var waits *client.PendingCallError
		require.ErrorAs(t, err, &waits)
		assert.Equal(t, []string{"c1"}, callIDs(waits.Calls))
		assert.ErrorContains(t, err, "P-RUN-2")
		assert.Nil(t, res)
		assert.Same(t, before, s.Thread())
		assert.Len(t, agent.inputs, 1)
		for _, err := range s.Run(t.Context(), &client.RunOptions{
			RunID: "mine", Resume: []client.Answer{client.Decline("i1")}, Messages: []*messages.Message{messages.ToolResult("c1", "yes")},
		}) {
			require.NoError(t, err)
		}
		assert.Equal(t, "mine", agent.inputs[1].RunID)
		assert.Equal(t, []string{"assistant a: ", "tool id-3: yes"}, said(agent.inputs[1]))
	})
	t.Run("Send without them is refused too", func(t *testing.T) {
		s, agent := session(client.SessionOptions{}, says(begins, calls("c1", "mine", ""), succeeds), says(begins, succeeds))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		_, err = s.Send(t.Context(), messages.UserText("never mind"))
		assert.ErrorAs(t, err, new(*client.PendingCallError))
		require.NoError(t, s.AddMessages(messages.ToolResult("c1", "no")))
		_, err = s.Send(t.Context(), messages.UserText("never mind"))
		require.NoError(t, err)
		assert.Len(t, agent.inputs[1].Messages, 3)
	})
	t.Run("what a stopped call left is answered before the next run", func(t *testing.T) {
		first, _ := session(client.SessionOptions{MaxRounds: -1}, says(begins, calls("c1", "now", ""), succeeds))
		res, err := first.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"c1"}, callIDs(res.PendingToolCalls))
		_, err = first.Send(t.Context())
		assert.ErrorAs(t, err, new(*client.PendingCallError), "with no rounds the calls are the caller's")

		s, agent := session(client.SessionOptions{Thread: res.Thread, Unanswered: client.KeepUnanswered}, says(begins, succeeds))
		_, err = s.Send(t.Context(), messages.UserText("well?"))
		require.NoError(t, err)
		assert.Len(t, agent.inputs, 1)
		assert.Equal(t, []string{"assistant a: ", "tool id-2: noon", "user id-1: well?"}, said(agent.inputs[0]))
	})
	t.Run("a cancelled run waits for nothing", func(t *testing.T) {
		s, _ := session(client.SessionOptions{}, says(begins, calls("c1", "mine", ""), cancels), says(begins, succeeds))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Empty(t, res.PendingToolCalls)
		_, err = s.Send(t.Context(), messages.UserText("again"))
		assert.NoError(t, err)
	})
}

func TestAnswersAreUTF8(t *testing.T) {
	for name, tool := range map[string]func(context.Context) (any, error){
		"a string":  func(context.Context) (any, error) { return "caf\xe9\xff", nil },
		"content":   func(context.Context) (any, error) { return messages.Text("caf\xe9\xff"), nil },
		"a part":    func(context.Context) (any, error) { return []messages.Part{messages.TextPart("caf\xe9\xff")}, nil },
		"an error":  func(context.Context) (any, error) { return nil, errors.New("caf\xe9\xff") },
		"a message": nil,
	} {
		t.Run(name, func(t *testing.T) {
			agent := script(says(begins, calls("c1", "now", ""), succeeds), says(begins, succeeds))
			s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{{Tool: event.Tool{Name: "now"}}}}))
			if tool != nil {
				require.NoError(t, s.SetTools(does("now", tool)))
			}
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			if tool == nil {
				_, err = s.Send(t.Context(), messages.ToolResult("c1", "caf\xe9\xff"))
				require.NoError(t, err)
			}
			answer := s.Thread().Messages.At(1)
			assert.Equal(t, "caf\ufffd\ufffd", answer.Text())
			assert.Equal(t, strings.ToValidUTF8(answer.Error.Or(""), ""), answer.Error.Or(""))
			assert.Equal(t, answer, agent.inputs[1].Messages[1])
		})
	}
}

func TestIDsAreUUIDs(t *testing.T) {
	agent := script(says(begins, succeeds))
	s := client.NewSession(agent, nil)
	_, err := s.Send(t.Context(), messages.UserText("hi"))
	require.NoError(t, err)
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`) // RFC 9562, version 4
	in := agent.inputs[0]
	for _, id := range []string{in.ThreadID, in.RunID, in.Messages[0].ID} {
		assert.Regexp(t, uuid, id)
	}
	assert.NotEqual(t, in.ThreadID, in.RunID)
}
