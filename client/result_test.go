package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

func usage(model string, n int64) []event.TokenUsage {
	return []event.TokenUsage{{Model: messages.Some(model), InputTokens: messages.Some(n)}}
}

func TestResult(t *testing.T) {
	noon := does("now", func(context.Context) (any, error) { return "noon", nil })
	agent := script(
		says(begins, text("m0", "before"), &event.RunFinished{ThreadID: "t", RunID: "r", Result: state.String("first"), Usage: usage("a", 100)}),
		says(begins, text("m1", "let me see"), calls("c1", "now", ""), &event.RunFinished{ThreadID: "t", RunID: "r", Result: state.String("second"), Usage: usage("a", 1)}),
		says(begins, text("m2", "noon"), &event.RunFinished{ThreadID: "t", RunID: "r", Usage: append(usage("a", 2), usage("b", 4)...)}),
	)
	s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon}}))
	assert.Nil(t, s.Snapshot().Result, "none before the first call")
	first, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, `"first"`, first.Result.String())
	assert.Same(t, first, s.Snapshot().Result)

	res, err := s.Send(t.Context(), messages.UserText("what time is it?"))
	require.NoError(t, err)
	assert.Same(t, res, s.Snapshot().Result)
	for _, row := range []struct {
		rule      string
		want, got any
	}{
		{"Status is the last run's", reducer.Succeeded, res.Status},
		{"Runs counts the runs of this call", 2, res.Runs},
		{"Result is the last run's, absent if it had none", false, res.Result.Exists()},
		{"Usage is summed over the runs of this call", append(usage("a", 3), usage("b", 4)...), res.Usage},
		{"NewMessages are without the caller's and older ones", []string{"assistant m1: let me see", "assistant a: ", "tool id-5: noon", "assistant m2: noon"},
			shown(&reducer.Thread{Messages: messages.NewList(res.NewMessages...)})},
		{"nothing pends", 0, len(res.PendingToolCalls)},
		{"Thread is the last snapshot", s.Thread(), res.Thread},
		{"an older result stays as it was", `"first"`, first.Result.String()},
	} {
		t.Run(row.rule, func(t *testing.T) { assert.Equal(t, row.want, row.got) })
	}
	t.Run("a call that was refused leaves the result alone", func(t *testing.T) {
		_, err := s.Send(t.Context(), nil)
		require.Error(t, err)
		assert.Same(t, res, s.Snapshot().Result)
	})
}

func TestResultNewMessages(t *testing.T) {
	user := withID("u", messages.UserText("hi"))
	for _, row := range []struct {
		rule   string
		events []any
		want   []string
	}{
		{"nothing new", []any{}, nil},
		{"reasoning and activities count", []any{`{"type":"ACTIVITY_SNAPSHOT","messageId":"w","activityType":"plan","content":{}}`,
			`{"type":"REASONING_MESSAGE_START","messageId":"w","role":"reasoning"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"w","delta":"hm"}`, `{"type":"REASONING_MESSAGE_END","messageId":"w"}`},
			[]string{"activity w: ", "reasoning w: hm"}},
		{"a message that continues is not new", []any{text("old", " and more")}, nil},
		{"P-MSG-1 what a snapshot restates is not new, what it adds is", []any{text("m", "x"),
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"n","role":"assistant","content":"new"},{"id":"u","role":"user","content":"hi!"},{"id":"old","role":"assistant","content":"changed"}]}`},
			[]string{"assistant n: new"}},
		{"P-MSG-1 what a snapshot dropped is not there", []any{text("m", "x"), `{"type":"MESSAGES_SNAPSHOT","messages":[]}`}, nil},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := client.NewSession(script(says(append(append([]any{begins}, row.events...), succeeds)...)), quiet(client.SessionOptions{
				Messages: []*messages.Message{withID("old", messages.AssistantText("old"))},
			}))
			res, err := s.Send(t.Context(), user)
			require.NoError(t, err)
			assert.Equal(t, row.want, shown(&reducer.Thread{Messages: messages.NewList(res.NewMessages...)}))
		})
	}
}
