package reducer

import "github.com/agfold/agfold/messages"

// BreakOff returns the thread with its last run truncated, if that is still running: for a thread that was stored in the
// middle of a run that nobody reads any more. Its open messages and calls are marked as broken off, and its subagents
// as abandoned. The error of the run matches [ErrTruncated] and cause, which may be nil. The revision is one higher.
// A thread without such a run is returned as it is.
//
// It costs a pass over the messages and subagents if there is such a run. [New] does the same to the thread that it
// continues.
func (t *Thread) BreakOff(cause error) *Thread {
	if t.Status() != Running {
		return t
	}
	c := *t
	c.Revision++
	run := *t.LastRun()
	run.Status, run.Err = Truncated, &truncation{cause}
	c.Runs = t.Runs.Set(t.Runs.Len()-1, &run)
	for i, m := range t.Messages.All() {
		if s := still(m); s != m {
			c.Messages = c.Messages.Set(i, s)
		}
	}
	for i, n := range t.Subagents.nodes.All() {
		if n.Status == SubagentRunning {
			abandoned := *n
			abandoned.Status = SubagentAbandoned
			c.Subagents.nodes = c.Subagents.nodes.Set(i, &abandoned)
		}
	}
	return &c
}

// still returns the message as one that nothing more comes for: a client or an input may have taken it from a thread
// while it or a call of it was streaming there. It broke off there, as far as this thread knows.
func still(m *messages.Message) *messages.Message {
	calls := m.ToolCalls
	for i, tc := range m.ToolCalls.All() {
		if tc.Status == messages.ToolCallStreaming {
			broken := *tc
			broken.Status = messages.ToolCallBroken
			calls = calls.Set(i, &broken)
		}
	}
	if !m.Streaming && messages.Same(calls, m.ToolCalls) {
		return m
	}
	c := *m
	c.ToolCalls, c.Streaming, c.Cut = calls, false, m.Cut || m.Streaming
	return &c
}
