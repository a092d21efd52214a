package client

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Result says how one turn ended ([Session.Start], [Session.Send], [Session.Resume], [Session.Run]). It is immutable and safe
// for concurrent use.
type Result struct {
	// Status is that of the last run: Succeeded, Interrupted, Cancelled, Failed, Rejected, Truncated, Stopped
	// or Unstarted (P-RUN-1); Empty if the turn ended before anything was sent. Err says why.
	Status reducer.Status
	// Runs is how often the agent was run: once, and once more for each round of tool answers.
	Runs int
	// Events is how many events the agent sent in these runs, and Bytes the size of their JSON text. Events that were made
	// in Go have none.
	Events int
	Bytes  int64
	// Result is the last run's RUN_FINISHED.result, absent if it had none.
	Result state.Value
	// Usage is the token usage of these runs, summed by provider and model.
	Usage []event.TokenUsage
	// NewMessages are the messages that these runs added to the thread, in its order, with the answers of
	// tools but without the messages that the caller sent.
	NewMessages []*messages.Message
	// PendingToolCalls are the calls that wait for an answer, those of Thread.PendingToolCalls. The caller answers them
	// with [messages.ToolResult] (P-RUN-2). Calls of offered tools must be answered before the next run.
	PendingToolCalls []*messages.ToolCall
	// Interrupts are those that the next call must answer: see [Session.Resume] (P-INT-1).
	Interrupts []event.Interrupt
	// Thread is the snapshot at the end.
	Thread *reducer.Thread
	// Err is why it did not end well, nil if it succeeded, was interrupted, or was cancelled by the agent.
	// These are told apart with errors.Is and errors.AsType:
	//
	//   - a run that reported its own failure: a *reducer.AgentError
	//   - a stream that was rejected: ErrRejected, and a *reducer.Violation or *messages.MalformedError
	//   - a stream that ended early: ErrTruncated
	//   - a transport that failed: a *StatusError, *ContentTypeError, *TransportError, *IdleError or
	//     *event.TooLargeError, and ErrTruncated too if events were being read; another agent: its own error
	//   - an input that cannot be sent: a *messages.MalformedError without ErrRejected
	//   - the caller's own cancellation: context.Canceled or context.DeadlineExceeded, and the context's cause
	//   - the user's stop (Stop of the session or the turn, Close, a turn that superseded it, breaking out of the loop): ErrStopped
	//   - a turn that never began, because it was taken back from the queue: ErrStopped; because the session was closed:
	//     ErrClosed; because it could not be sent when its time came: an error of Session.Start
	//   - more rounds of tool answers than allowed: ErrRounds
	Err error
}

// resultOf returns what the runs of one turn did to the thread.
func resultOf(before, after *reducer.Thread, runs int, err error) *Result {
	res := &Result{Runs: runs, Thread: after, Interrupts: after.Interrupts, Err: err}
	if runs == 0 {
		return res
	}
	last := after.LastRun()
	res.Status, res.Result = after.Status(), last.Result
	var usage []event.TokenUsage
	for _, run := range after.Runs.From(before.Runs.Len()) {
		usage = append(usage, run.Usage...)
	}
	res.Usage = event.SumUsage(usage...)
	res.NewMessages = newMessages(before, after)
	for tc := range after.PendingToolCalls() {
		res.PendingToolCalls = append(res.PendingToolCalls, tc)
	}
	return res
}

// newMessages returns the messages of after that before does not hold. It costs what changed.
func newMessages(before, after *reducer.Thread) []*messages.Message {
	rows := after.ChangesSince(before).Rows
	old := make(map[messages.Key]bool, rows.Removed)
	for _, m := range before.Messages.From(rows.At) {
		if rows.Removed--; rows.Removed < 0 {
			break
		}
		old[m.Key()] = true
	}
	var added []*messages.Message
	for _, m := range after.Messages.From(rows.At) {
		if rows.Inserted--; rows.Inserted < 0 {
			break
		}
		if !old[m.Key()] {
			added = append(added, m)
		}
	}
	return added
}
