package reducer_test

import (
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
)

// A thread whose client changes its tool calls between runs is followed as a new reducer takes it.
func TestNextWithOtherToolCalls(t *testing.T) {
	msg := func(id string, calls ...string) *messages.Message {
		m := &messages.Message{ID: id, Role: messages.RoleAssistant}
		for _, c := range calls {
			m.ToolCalls = m.ToolCalls.Append(&messages.ToolCall{ID: c, Name: "f", Arguments: "{}"})
		}
		return m
	}
	edited := func(id string, calls ...string) *messages.Message {
		m := msg(id, calls...)
		m.Content = messages.Text("edited")
		return m
	}
	type list = []*messages.Message
	for _, c := range []struct {
		name   string
		before []list // snapshots of the first run
		after  []list // the client's edits
	}{
		{"one more call", []list{{msg("a", "x"), msg("b")}}, []list{{msg("a", "x", "y"), msg("b")}}},
		{"a renamed call", []list{{msg("a", "x"), msg("b")}}, []list{{msg("a", "y"), msg("b")}}},
		{"a removed call", []list{{msg("a", "x", "y"), msg("b")}}, []list{{msg("a", "x"), msg("b")}, {edited("a", "x"), msg("b")}}},
		{"a shared call, the first edited", []list{{msg("a", "x"), msg("b", "x")}}, []list{{edited("a", "x"), msg("b", "x")}}},
		{"a shared call, the last removed", []list{{msg("a", "x"), msg("b", "x")}}, []list{{msg("a", "x")}, {edited("a", "x")}}},
		{"a shared call, its holder removed", []list{{msg("b", "x")}, {msg("a", "x"), msg("b", "x")}}, []list{{msg("a", "x")}, {edited("a", "x")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := reducer.New(nil)
			apply(t, next, &event.RunStarted{ThreadID: "t", RunID: "r"})
			for _, l := range c.before {
				apply(t, next, &event.MessagesSnapshot{Messages: l})
			}
			apply(t, next, &event.RunFinished{ThreadID: "t", RunID: "r"})
			for _, l := range c.after {
				th := next.Thread().ReplaceMessages(l...)
				next.Next(&reducer.Options{Thread: th})
				fresh := reducer.New(&reducer.Options{Thread: th})
				assert.Equal(t, whatIs(fresh.Thread()), whatIs(next.Thread()))
				for _, ev := range []event.Event{
					&event.RunStarted{ThreadID: "t", RunID: "s"},
					&event.ToolCallResult{MessageID: "t1", ToolCallID: "x", Content: messages.Text("ok")},
					&event.ToolCallResult{MessageID: "t2", ToolCallID: "y", Content: messages.Text("ok")},
					&event.RunFinished{ThreadID: "t", RunID: "s"},
				} {
					_, errNext := deliver(next, ev)
					_, errFresh := deliver(fresh, ev)
					assert.Equal(t, errFresh, errNext)
					assert.Equal(t, whatIs(fresh.Thread()), whatIs(next.Thread()))
				}
			}
		})
	}
}
