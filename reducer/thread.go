package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Thread is a snapshot of a conversation. It never changes: keep it as long as you like, read it from any
// goroutine, compare it with an older one. Its readers must not change what it points to. The zero Thread
// is an empty conversation.
type Thread struct {
	ID string
	// Revision counts the changes that made the thread: one for each event that was delivered, one more when
	// a stream is rejected or cut, one for each change by the client between runs. If two snapshots are
	// of one history, the one with the higher revision is newer; if the revisions are equal, so are the snapshots.
	Revision uint64
	Messages messages.List[*messages.Message]
	// State is the shared state, {} unless the agent or the run's input set it (P-STA-2).
	State     state.Value
	Runs      messages.List[*Run]
	Subagents Subagents
	// Interrupts are those that the next run must answer (P-INT-1, P-RUN-3).
	Interrupts []event.Interrupt

	hasState bool // the agent or the run's input set the state, even if to {} (D-7)
}

// LastRun returns the current or last run, nil if there was none.
func (t *Thread) LastRun() *Run {
	if n := t.Runs.Len(); n > 0 {
		return t.Runs.At(n - 1)
	}
	return nil
}

// Status returns the status of the last run, Empty if there was none.
func (t *Thread) Status() Status {
	if run := t.LastRun(); run != nil {
		return run.Status
	}
	return Empty
}

// Err returns why the last run did not end well, nil if it did or has not ended; see [Run.Err].
func (t *Thread) Err() error {
	if run := t.LastRun(); run != nil {
		return run.Err
	}
	return nil
}

// Usage returns the token usage of all runs, summed by provider and model.
func (t *Thread) Usage() []event.TokenUsage {
	var all []event.TokenUsage
	for _, run := range t.Runs.All() {
		all = append(all, run.Usage...)
	}
	return event.SumUsage(all...)
}

// Message returns the last message with this id, whatever its kind, and its place in Messages; nil and -1
// if there is none. It costs a pass over the messages, from the end.
func (t *Thread) Message(id string) (*messages.Message, int) {
	for i, m := range t.Messages.Backward() {
		if m.ID == id {
			return m, i
		}
	}
	return nil, -1
}

// ToolCall returns the tool call with this id and the message that holds it; nil if there is none. If several
// calls share the id, it is the first, which is the one that events mean (P-TOL-2). It costs a pass over the
// messages, from the beginning.
func (t *Thread) ToolCall(id string) (*messages.ToolCall, *messages.Message) {
	for _, m := range t.Messages.All() {
		for _, c := range m.ToolCalls.All() {
			if c.ID == id {
				return c, m
			}
		}
	}
	return nil, nil
}

// ToolResult returns the last tool message that answers the call with this id; nil if there is none. It costs a
// pass over the messages, from the end.
func (t *Thread) ToolResult(toolCallID string) *messages.Message {
	for _, m := range t.Messages.Backward() {
		if m.Role == messages.RoleTool && m.ToolCallID == toolCallID {
			return m
		}
	}
	return nil
}
