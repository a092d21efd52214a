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
	finder   *finder
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
// if there is none. See [Thread.ToolResult] for the cost.
func (t *Thread) Message(id string) (*messages.Message, int) {
	if t.finder != nil && t.Messages.Len() > fewMessages {
		if i := t.finder.message(t.Messages, id); i >= 0 {
			return t.Messages.At(i), i
		}
		return nil, -1
	}
	for i, m := range t.Messages.Backward() {
		if m.ID == id {
			return m, i
		}
	}
	return nil, -1
}

// ToolCall returns the tool call with this id and the message that holds it; nil if there is none. If several
// calls share the id, it is the first, which is the one that events mean (P-TOL-2). See [Thread.ToolResult] for the cost.
func (t *Thread) ToolCall(id string) (*messages.ToolCall, *messages.Message) {
	from := 0
	if t.finder != nil && t.Messages.Len() > fewMessages {
		if from = t.finder.holder(t.Messages, id); from < 0 {
			return nil, nil
		}
	}
	for _, m := range t.Messages.From(from) {
		for _, c := range m.ToolCalls.All() {
			if c.ID == id {
				return c, m
			}
		}
	}
	return nil, nil
}

// ToolResult returns the last tool message that answers the call with this id; nil if there is none.
//
// The snapshots of a reducer share an index, which the first look-up makes in a pass over the messages. After that a
// look-up costs what differs between its snapshot and the one of the look-up before, times O(log n). Nothing is spent
// unless somebody looks. A thread that no reducer has made, such as one that was read from JSON, has no index, and a look-up
// is a pass over its messages.
func (t *Thread) ToolResult(toolCallID string) *messages.Message {
	if t.finder != nil && t.Messages.Len() > fewMessages {
		if i := t.finder.result(t.Messages, toolCallID); i >= 0 {
			return t.Messages.At(i)
		}
		return nil
	}
	for _, m := range t.Messages.Backward() {
		if m.Role == messages.RoleTool && m.ToolCallID == toolCallID {
			return m
		}
	}
	return nil
}
