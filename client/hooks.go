package client

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Hooks are functions that are called when a run changes the thread in their way; nil ones are not called. Use them with
// [SessionOptions.Hooks], or in a loop over deliveries with [Hooks.Deliver].
//
// A session calls them from the goroutine that reads the stream, in order and without a lock: the run waits for them, so
// they should be quick. Those about a stream that lingers may come at the same time as those of the next turn. They may use the session, for instance stop it; changes between runs return [ErrBusy] meanwhile.
// What they get is immutable and may be kept.
type Hooks struct {
	// Delivery is called with every delivery, before the others.
	Delivery func(d reducer.Delivery)
	// RunBegan and RunEnded are called with the run. A run that was cut off, stopped or rejected has no end in its stream:
	// see [Result].
	RunBegan, RunEnded func(run *reducer.Run)
	// MessageAdded is called with a message that an event of the run has begun: a text or a reasoning that is still empty, a
	// tool's result, an activity. Messages that a snapshot brought are in Restated.
	MessageAdded func(m *messages.Message)
	// MessageClosed is called with a text or reasoning message that is complete.
	MessageClosed func(m *messages.Message)
	// TextAppended is called with each piece of a text or reasoning message, after it was appended.
	TextAppended func(m *messages.Message, delta string)
	// ToolCallAdded is called with a call that has begun, and ToolCallClosed with one whose arguments are complete (P-TOL-4).
	ToolCallAdded, ToolCallClosed func(call *messages.ToolCall)
	// StateChanged is called with the shared state after a snapshot or a patch of it.
	StateChanged func(v state.Value)
	// ActivityChanged is called with an activity message that is new, replaced or patched.
	ActivityChanged func(m *messages.Message)
	// Restated is called with the thread after a messages snapshot, which may have changed any message.
	Restated func(th *reducer.Thread)
	// SubagentChanged is called with a subagent's invocation that has begun or ended.
	SubagentChanged func(s *reducer.Subagent)
	// Custom is called with the events that the agent and its user have agreed on.
	Custom func(e *event.Custom)
	// Error is called with what the agent said of its own failure.
	Error func(err *reducer.AgentError)
}

// Deliver calls the functions that the delivery concerns. thread returns the thread as it is right after the delivery, such
// as Session.Thread or Folder.Thread; it is only called if a function needs it.
func (h *Hooks) Deliver(thread func() *reducer.Thread, d reducer.Delivery) {
	if h.Delivery != nil {
		h.Delivery(d)
	}
	switch e := d.Event.(type) {
	case *event.Custom:
		call(h.Custom, e)
	case *event.RunError:
		call(h.Error, &reducer.AgentError{Message: e.Message, Code: e.Code})
	}
	c := d.Change
	switch c.Kind {
	case reducer.RunBegan:
		callOf(h.RunBegan, func() *reducer.Run { return thread().LastRun() })
	case reducer.RunEnded:
		callOf(h.RunEnded, func() *reducer.Run { return thread().LastRun() })
	case reducer.MessageAdded, reducer.MessageReplaced, reducer.ActivityPatched, reducer.MetadataMerged:
		if h.ActivityChanged == nil && (h.MessageAdded == nil || c.Kind != reducer.MessageAdded) {
			return
		}
		m := messageOf(thread(), c)
		if m == nil {
			return
		}
		if c.Kind == reducer.MessageAdded {
			call(h.MessageAdded, m)
		}
		if m.Role == messages.RoleActivity {
			call(h.ActivityChanged, m)
		}
	case reducer.MessageClosed:
		callOf(h.MessageClosed, func() *messages.Message { return messageOf(thread(), c) })
	case reducer.TextAppended:
		if h.TextAppended != nil {
			if m := messageOf(thread(), c); m != nil {
				h.TextAppended(m, c.Delta)
			}
		}
	case reducer.ToolCallAdded:
		callOf(h.ToolCallAdded, func() *messages.ToolCall { return callAt(thread(), c) })
	case reducer.ToolCallClosed:
		callOf(h.ToolCallClosed, func() *messages.ToolCall { return callAt(thread(), c) })
	case reducer.StateReplaced, reducer.StatePatched:
		if h.StateChanged != nil {
			h.StateChanged(thread().State)
		}
	case reducer.ConversationRestated:
		callOf(h.Restated, thread)
	case reducer.SubagentBegan, reducer.SubagentEnded:
		callOf(h.SubagentChanged, func() *reducer.Subagent {
			for _, node := range thread().Subagents.Walk() {
				if node.Owner == c.Subagent {
					return node
				}
			}
			return nil
		})
	}
}

// call calls f, if there is one.
func call[T any](f func(T), v T) {
	if f != nil {
		f(v)
	}
}

// callOf calls f, if there is one, with what get returns, if that is something.
func callOf[T any](f func(*T), get func() *T) {
	if f == nil {
		return
	}
	if v := get(); v != nil {
		f(v)
	}
}

// messageOf returns the message that a change is about.
func messageOf(th *reducer.Thread, c reducer.Change) *messages.Message {
	if c.Index < 0 || c.Index >= th.Messages.Len() {
		return nil
	}
	return th.Messages.At(c.Index)
}

// callAt returns the tool call that a change is about.
func callAt(th *reducer.Thread, c reducer.Change) *messages.ToolCall {
	m := messageOf(th, c)
	if m == nil || c.Call < 0 || c.Call >= m.ToolCalls.Len() {
		return nil
	}
	return m.ToolCalls.At(c.Call)
}
