package reducer

import (
	"errors"
	"iter"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Events yields a stream that makes the thread, for a server that must tell a client what there is before what comes
// next: the runs in order, and in the last one a MESSAGES_SNAPSHOT and a STATE_SNAPSHOT. If the last run is running, the
// stream stops where the run is, with what is open opened again, so the run's further events may follow.
//
// Folding it gives the same messages, state, open interrupts, pending calls and subagents, and the same runs, but for what
// no stream says: an earlier run that was rejected or cut off has failed with the text of its error, and the last one
// runs on; what calls an earlier run left pending is not told, and texts and arguments that broke off count as complete. A thread with messages or a state and no run gets a run with an empty id. The revision differs.
// It costs a pass over the messages.
func (t *Thread) Events() iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		if t == nil {
			return
		}
		w := &restater{t: t, known: make(map[int]bool)}
		last := t.Runs.Len() - 1
		var open []event.Interrupt
		for i, run := range t.Runs.All() {
			open = w.run(run, i == last, open)
			for _, ev := range w.events {
				if !yield(ev) {
					return
				}
			}
			w.events = w.events[:0]
		}
		if last < 0 && (t.Messages.Len() > 0 || t.hasState) {
			w.run(&Run{Status: Succeeded}, true, nil)
			for _, ev := range w.events {
				if !yield(ev) {
					return
				}
			}
		}
	}
}

// restater makes the events of one run.
type restater struct {
	t      *Thread
	events []event.Event
	known  map[int]bool // subagents, by place
}

func (w *restater) add(ev event.Event) { w.events = append(w.events, ev) }

// run adds the events of a run, before which interrupts pended, and returns those that pend after it.
func (w *restater) run(run *Run, last bool, open []event.Interrupt) []event.Interrupt {
	start := &event.RunStarted{ThreadID: w.t.ID, RunID: run.ID, ParentRunID: run.ParentRunID, ProtocolVersion: run.ProtocolVersion}
	start.Metadata = run.Metadata
	start.Input = w.answers(run, open)
	w.add(start)
	ends := w.subagents(run)
	for _, s := range run.Steps.All() {
		w.add(&event.StepStarted{Attribution: event.By(s.Owner), StepName: s.Name})
		if s.Finished {
			w.add(&event.StepFinished{Attribution: event.By(s.Owner), StepName: s.Name})
		}
	}
	if last {
		w.conversation(run)
	}
	w.events = append(w.events, ends...)
	failed, hasFailed := errors.AsType[*AgentError](run.Err)
	switch {
	case run.Status == Succeeded || run.Status == Interrupted || run.Status == Cancelled || hasFailed && run.finished():
		w.add(&event.RunFinished{ThreadID: w.t.ID, RunID: run.ID, Result: run.Result, Outcome: run.Outcome, Usage: run.Usage})
		open = run.Outcome.Interrupts
	case run.Status == Running || last && !hasFailed:
		return open
	}
	switch {
	case hasFailed:
		w.add(&event.RunError{Message: failed.Message, Code: failed.Code, Usage: run.Usage})
	case run.Err != nil:
		w.add(&event.RunError{Message: run.Err.Error(), Usage: run.Usage})
	}
	return open
}

// finished reports whether RUN_FINISHED came, as far as the record says it.
func (run *Run) finished() bool { return run.Outcome.Type != "" || run.Result.Exists() }

// answers returns an input that answers the interrupts that the run did not retire, nil if there are none.
func (w *restater) answers(run *Run, open []event.Interrupt) *event.RunInput {
	var entries []event.ResumeEntry
	for _, in := range open {
		if !slices.ContainsFunc(run.RetiredInterrupts, func(r event.Interrupt) bool { return r.ID == in.ID }) {
			entries = append(entries, event.ResumeEntry{InterruptID: in.ID, Status: event.ResumeResolved})
		}
	}
	if entries == nil {
		return nil
	}
	return &event.RunInput{ThreadID: w.t.ID, RunID: run.ID, Resume: entries}
}

// subagents adds what begins the invocations of a run, and returns what ends them.
func (w *restater) subagents(run *Run) (ends []event.Event) {
	nodes := w.t.Subagents.nodes
	begun := make(map[messages.Owner]bool) // an id is announced once in a run
	var begin func(i int)
	begin = func(i int) {
		n := nodes.At(i)
		if begun[n.Owner] {
			return
		}
		begun[n.Owner], w.known[i] = true, true
		tag := event.By(n.Owner)
		if !n.Announced {
			w.add(&event.Raw{Attribution: tag, Event: state.Null()})
			return
		}
		if n.above >= 0 {
			begin(n.above)
		}
		w.add(&event.SubagentStarted{
			Attribution: tag, Name: n.Name, Description: n.Description, ParentSubagentRunID: n.Parent,
			ParentToolCallID: n.ToolCallID, ParentMessageID: n.MessageID,
		})
		var end event.Event
		switch {
		case n.RunID != run.ID: // it continues in a later run
			end = &event.SubagentFinished{Attribution: tag, Outcome: event.SubagentOutcome{Type: event.SubagentSuspended}}
		case n.Status == SubagentSucceeded:
			end = &event.SubagentFinished{Attribution: tag, Result: n.Result}
		case n.Status == SubagentSuspended:
			end = &event.SubagentFinished{Attribution: tag, Result: n.Result, Outcome: event.SubagentOutcome{
				Type: event.SubagentSuspended, InterruptIDs: n.InterruptIDs,
			}}
		case n.Status == SubagentFailed:
			end = &event.SubagentError{Attribution: tag, Message: n.Err.Message, Code: n.Err.Code}
		default:
			return
		}
		ends = append([]event.Event{end}, ends...)
	}
	took := make(map[messages.Owner]bool) // those that steps tell of
	for _, s := range run.Steps.All() {
		took[s.Owner] = true
	}
	last := -1
	for i, n := range nodes.All() {
		if n.RunID == run.ID || took[n.Owner] {
			last = i
		}
	}
	for i, n := range nodes.All() {
		if n.RunID == run.ID || i <= last && !w.known[i] {
			begin(i) // or it would become known after those that are now
		}
	}
	return ends
}

// conversation adds the state and the messages, and opens again what the run needs open: calls that pend, since only a
// call that a run has started pends after it, and, if the run is running, what is streaming. Without tags: the snapshot
// says whose it is.
func (w *restater) conversation(run *Run) {
	if w.t.hasState {
		w.add(&event.StateSnapshot{Snapshot: w.t.State})
	}
	pending := make(map[string]bool)
	for _, id := range run.PendingToolCallIDs {
		pending[id] = true
	}
	answered := make(map[string]bool) // calls that tool messages answer; one that was started again counts as open
	for _, m := range w.t.Messages.All() {
		if m.Role == messages.RoleTool {
			answered[m.ToolCallID] = true
		}
	}
	var list []*messages.Message
	var after []event.Event
	started := make(map[string][]event.Event) // calls that pend
	for _, m := range w.t.Messages.All() {
		calls := m.ToolCalls
		for j, c := range m.ToolCalls.All() {
			streams := c.Status == messages.ToolCallStreaming
			again := c.Status == messages.ToolCallComplete && answered[c.ID]
			pends := pending[c.ID]
			open := streams || pends || again
			pending[c.ID], answered[c.ID] = false, false // if several calls share an id, it means the first
			if !open {
				continue
			}
			bare := *c
			bare.Arguments = ""
			calls = calls.Set(j, &bare)
			call := []event.Event{&event.ToolCallStart{ToolCallID: c.ID, ToolCallName: c.Name}}
			if c.Arguments != "" {
				call = append(call, &event.ToolCallArgs{ToolCallID: c.ID, Delta: c.Arguments})
			}
			if !streams {
				call = append(call, &event.ToolCallEnd{ToolCallID: c.ID})
			}
			if pends {
				started[c.ID] = call
			} else {
				after = append(after, call...)
			}
		}
		if m.Streaming && run.Status == Running {
			if m.Role == messages.RoleReasoning {
				after = append(after, &event.ReasoningMessageStart{MessageID: m.ID})
			} else {
				after = append(after, &event.TextMessageStart{MessageID: m.ID, Role: m.Role})
			}
		}
		if m.Streaming || !messages.Same(calls, m.ToolCalls) {
			c := *m
			c.ToolCalls, c.Streaming = calls, false
			m = &c
		}
		list = append(list, m)
	}
	if list != nil {
		w.add(&event.MessagesSnapshot{Messages: list})
	}
	for _, id := range run.PendingToolCallIDs {
		w.events = append(w.events, started[id]...)
	}
	w.events = append(w.events, after...)
}
