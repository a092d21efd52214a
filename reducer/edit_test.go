package reducer_test

import (
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoCalls is a thread in which the messages a and b made two calls each, all of which pend.
func twoCalls(t *testing.T) *reducer.Thread {
	th, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.ToolCallStart{ToolCallID: "a1", ToolCallName: "f", ParentMessageID: messages.Some("a")},
		&event.ToolCallEnd{ToolCallID: "a1"},
		&event.ToolCallStart{ToolCallID: "a2", ToolCallName: "f", ParentMessageID: messages.Some("a")},
		&event.ToolCallEnd{ToolCallID: "a2"},
		&event.ToolCallStart{ToolCallID: "b1", ToolCallName: "f", ParentMessageID: messages.Some("b")},
		&event.ToolCallEnd{ToolCallID: "b1"},
		&event.RunFinished{ThreadID: "t", RunID: "r"},
	), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a1", "a2", "b1"}, th.PendingToolCallIDs())
	return th
}

func answer(id, call string) *messages.Message {
	m := messages.ToolResult(call, "ok")
	m.ID = id
	return m
}

func order(th *reducer.Thread) (ids []string) {
	for _, m := range th.Messages.All() {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestWithMessagesAnswersTheFirstOfTwoCallsWithOneID(t *testing.T) {
	th := play(t, `run | messages [{"id":"m1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"1"}}]},{"id":"m2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"2"}}]}] | done`, nil).th
	answered := th.WithMessages(&messages.Message{ID: "t1", Role: messages.RoleTool, ToolCallID: "c1", Content: messages.Text("ok")})
	assert.Equal(t, `assistant m1 [c1 f(1) answered] | tool t1 ->c1 "ok" | assistant m2 [c1 f(2) complete]`, show(answered), "P-TOL-2, as RESULT does")
	assert.Equal(t, show(answered), show(reducer.New(&reducer.Options{Thread: answered}).Thread()))
}

func TestWithMessages(t *testing.T) {
	user := &messages.Message{ID: "u", Role: messages.RoleUser, Content: messages.Text("hi")}
	caller := &messages.Message{ID: "c", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "c1", Name: "f"})}
	for _, row := range []struct {
		name    string
		msgs    []*messages.Message
		order   []string
		pending []string
	}{
		{"nothing is nothing", nil, []string{"a", "b"}, []string{"a1", "a2", "b1"}},
		{"a user's message goes to the end", []*messages.Message{user}, []string{"a", "b", "u"}, []string{"a1", "a2", "b1"}},
		{"P-TOL-3 an answer goes after its call", []*messages.Message{answer("r", "a2")}, []string{"a", "r", "b"}, []string{"a1", "b1"}},
		{"P-TOL-3 answers of several calls, in their order", []*messages.Message{
			answer("r3", "b1"), answer("r2", "a2"), user, answer("r1", "a1"),
		}, []string{"a", "r2", "r1", "b", "r3", "u"}, nil},
		{"P-TOL-3 an answer without a call goes to the end", []*messages.Message{answer("r", "x"), user}, []string{"a", "b", "r", "u"}, []string{"a1", "a2", "b1"}},
		{"the call may come with its answer", []*messages.Message{answer("r", "c1"), caller}, []string{"a", "b", "c", "r"}, []string{"a1", "a2", "b1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			th := twoCalls(t)
			before := string(th.AppendJSON(nil))
			got := th.WithMessages(row.msgs...)
			assert.Equal(t, row.order, order(got))
			assert.ElementsMatch(t, row.pending, got.PendingToolCallIDs())
			assert.Equal(t, before, string(th.AppendJSON(nil)), "the old thread stays")
			if len(row.msgs) > 0 {
				assert.Equal(t, th.Revision+1, got.Revision)
			}
			for _, m := range row.msgs {
				if tc, _ := got.ToolCall(m.ToolCallID); tc != nil {
					assert.Equal(t, messages.ToolCallAnswered, tc.Status)
				}
			}
			again := got.WithMessages(answer("late", "a1"))
			at := 0
			for i, id := range order(again) {
				if id == "late" {
					at = i
				}
			}
			assert.True(t, at == again.Messages.Len()-1 || again.Messages.At(at+1).Role != messages.RoleTool, "after the answers already there")
		})
	}
}

func TestReplaceMessages(t *testing.T) {
	th := twoCalls(t)
	a := th.Messages.At(0)
	got := th.ReplaceMessages(a, answer("r", "a2"))
	assert.Equal(t, []string{"a", "r"}, order(got))
	assert.Equal(t, []string{"a1"}, got.PendingToolCallIDs(), "a2 is answered, b1 is gone")
	assert.Equal(t, messages.ToolCallComplete, got.Messages.At(0).ToolCalls.At(0).Status)
	assert.Equal(t, messages.ToolCallAnswered, got.Messages.At(0).ToolCalls.At(1).Status)
	assert.Equal(t, messages.ToolCallComplete, a.ToolCalls.At(1).Status, "the old thread stays")
}

// BenchmarkWithMessages answers many calls at once: what one answer costs does not grow with how many there are.
func BenchmarkWithMessages(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("answers=%d", n), func(b *testing.B) {
			var answers, calls []*messages.Message
			for i := range n {
				id := fmt.Sprint(i)
				calls = append(calls, &messages.Message{
					ID: id, Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: id}),
				})
				answers = append(answers, answer("r"+id, id))
			}
			th := new(reducer.Thread).WithMessages(calls...)
			for b.Loop() {
				if got := th.WithMessages(answers...).Messages.Len(); got != 2*n {
					b.Fatal(got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/answer")
		})
	}
}
