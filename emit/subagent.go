package emit

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A Subagent is one invocation of a subagent, and the scope of what it does. It may be used from several goroutines.
type Subagent struct {
	Scope
	id string
}

// SubagentOptions configures [Scope.Subagent]; nil means defaults.
type SubagentOptions struct {
	// ID is the invocation's id, such as that of one that an earlier run suspended, which continues. If it is "" or the run
	// has had one with that id, an id is made.
	ID          string
	Description string
	// Call is the tool call that spawned the subagent, nil if none.
	Call *Call
}

// Subagent begins an invocation of a subagent. In the scope of a subagent it is that one's child.
func (s *Scope) Subagent(name string, o *SubagentOptions) *Subagent {
	if o == nil {
		o = new(SubagentOptions)
	}
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	sub := &Subagent{id: r.newID(r.subagents, o.ID, "subagent")}
	sub.Scope = Scope{r: r, owner: messages.SubagentOwner(sub.id)}
	sub.part.inner = &sub.Scope
	started := &event.SubagentStarted{Attribution: sub.by(), Name: name, ParentSubagentRunID: s.owner}
	if o.Description != "" {
		started.Description = messages.Some(o.Description)
	}
	if o.Call != nil {
		started.ParentToolCallID = messages.Some(o.Call.id)
	}
	if err := s.open(&sub.part, started, func() { sub.end(&event.SubagentFinished{Attribution: sub.by()}) }); err != nil {
		sub.closed = true
	}
	return sub
}

// ID returns the invocation's id, its subagentRunId.
func (sub *Subagent) ID() string { return sub.id }

// Close ends the invocation as a success and closes what is open in it. Closing it again does nothing.
func (sub *Subagent) Close() error { return sub.r.closePart(&sub.part) }

// Finish is Close with a result, any value that can be encoded as JSON.
func (sub *Subagent) Finish(result any) error {
	v, err := state.Of(result)
	if err != nil {
		return err
	}
	return sub.endWith(&event.SubagentFinished{Attribution: sub.by(), Result: v})
}

// Fail ends the invocation with SUBAGENT_ERROR. The client is told of err what it would be told if it ended the run.
func (sub *Subagent) Fail(err error) error {
	told := sub.r.told(err)
	return sub.endWith(&event.SubagentError{Attribution: sub.by(), Message: told.Message, Code: told.Code})
}

// Suspend ends the invocation until the interrupts are answered; it may continue in a later run, under the same id.
func (sub *Subagent) Suspend(interruptIDs ...string) error {
	return sub.endWith(&event.SubagentFinished{Attribution: sub.by(), Outcome: event.SubagentOutcome{
		Type: event.SubagentSuspended, InterruptIDs: interruptIDs,
	}})
}

// endWith ends the invocation with an event, which is judged before anything is closed.
func (sub *Subagent) endWith(ev event.Event) error {
	r := sub.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if sub.part.isClosed() {
		return r.over(&sub.part)
	}
	if err := event.Check(ev); err != nil {
		return err
	}
	sub.end(ev)
	sub.part.leave()
	return r.stopped
}

// end closes what is open in the subagent and sends its end.
func (sub *Subagent) end(ev event.Event) {
	sub.closeAll()
	_ = sub.r.emit(ev)
}
