package reducer

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// toolCallStart attaches a call to its assistant message, or goes on with one that is there (P-TOL-1, 2).
func (r *Reducer) toolCallStart(e *event.ToolCallStart) error {
	parentID, hasParent := e.ParentMessageID.Get()
	c := r.calls[e.ToolCallID]
	if c == nil {
		c = new(call)
	}
	owner := e.SubagentRunID
	if parent := r.find(messages.KindText, parentID); hasParent && parentID != "" && parent != nil && parent.ownedIn == r.run.seq {
		switch {
		case owner.IsParent() && c.ownedIn == r.run.seq && c.owner != parent.owner:
			return r.violation("P-VER-6", e.ToolCallID, "it belongs to "+ownerName(c.owner)+
				" and cannot be opened again under a message of "+ownerName(parent.owner))
		case owner.IsParent():
			owner = parent.owner
		case owner != parent.owner:
			return r.violation("P-VER-6", e.ToolCallID, "it is tagged "+ownerName(owner)+
				" but its parent message belongs to "+ownerName(parent.owner))
		}
	}
	known := c.ownedIn == r.run.seq
	if err := r.open(toolCalls, &c.lifetime, e.ToolCallID, e.SubagentRunID); err != nil {
		return err
	}
	if !known {
		c.own(r.run.seq, owner)
	}
	r.calls[e.ToolCallID] = c
	if c.startedIn != r.run.seq {
		c.startedIn = r.run.seq
		r.run.calls = append(r.run.calls, e.ToolCallID)
		c.stale = c.answers
	}
	if c.tc != nil {
		if c.tc.Name != e.ToolCallName {
			r.warn("P-TOL-2", e.ToolCallID, "the call was named "+quote(c.tc.Name)+" and is now "+quote(e.ToolCallName))
		}
		tc := r.editCall(c)
		tc.Name = e.ToolCallName
		tc.Metadata = tc.Metadata.Merge(e.Metadata)
		if tc.Status == messages.ToolCallComplete {
			tc.Status = messages.ToolCallStreaming
		}
		r.changedCall(ToolCallReopened, c)
		return nil
	}
	parent := r.callHolder(e)
	m := r.edit(parent)
	c.parent, c.index, c.epoch = parent, m.ToolCalls.Len(), r.epoch
	c.tc = &messages.ToolCall{
		ID: e.ToolCallID, Name: e.ToolCallName, Status: messages.ToolCallStreaming, Metadata: e.Metadata,
	}
	r.settleAnswer(c) // its result may have come first
	m.ToolCalls = m.ToolCalls.Append(c.tc)
	r.changedCall(ToolCallAdded, c)
	return nil
}

// callHolder finds or makes the assistant message that a new call belongs to (P-TOL-1).
func (r *Reducer) callHolder(e *event.ToolCallStart) *entry {
	id := e.ParentMessageID.Or("")
	parent := r.held(messages.KindText, id)
	if id == "" || parent != nil && parent.msg.Role != messages.RoleAssistant {
		id = e.ToolCallID
		parent = r.held(messages.KindText, id)
		for n := 2; parent != nil && parent.msg.Role != messages.RoleAssistant; n++ {
			// Not even the call's own id is free.
			id = e.ToolCallID + "-" + strconv.Itoa(n)
			parent = r.held(messages.KindText, id)
		}
	}
	if parent == nil {
		parent = r.entryFor(messages.KindText, id)
		r.add(parent, &messages.Message{
			ID: id, Role: messages.RoleAssistant, Owner: e.SubagentRunID,
			Streaming: parent.openIn == r.run.seq, // a snapshot dropped it while it was open
		}, r.epoch)
	}
	return parent
}

// toolCallArgs appends to an open call's arguments, whatever they are (P-TOL-4).
func (r *Reducer) toolCallArgs(e *event.ToolCallArgs) error {
	c := r.calls[e.ToolCallID]
	var l *lifetime
	if c != nil {
		l = &c.lifetime
	}
	if err := r.goOn(toolCalls, l, e.ToolCallID, e.SubagentRunID); err != nil {
		return err
	}
	if c.tc == nil {
		r.warn("P-TXT-2", e.ToolCallID, "the tool call is gone; its arguments were skipped")
		return nil
	}
	tc := r.editCall(c)
	if !c.appending {
		c.args, c.appending = newBuffer(tc.Arguments), true
	}
	c.args.append(e.Delta)
	if c.args.half != 0 {
		if r.run.halfArgs == nil {
			r.run.halfArgs = make(map[*call]struct{})
		}
		r.run.halfArgs[c] = struct{}{}
	}
	tc.Arguments = c.args.String()
	if e.Metadata.Exists() {
		tc.Metadata = tc.Metadata.Merge(e.Metadata)
	}
	r.changedCall(ArgumentsAppended, c)
	r.change.Delta = e.Delta
	return nil
}

// toolCallEnd completes a call.
func (r *Reducer) toolCallEnd(e *event.ToolCallEnd) error {
	c := r.calls[e.ToolCallID]
	var l *lifetime
	if c != nil {
		l = &c.lifetime
	}
	if err := r.shut(toolCalls, l, e.ToolCallID, e.SubagentRunID); err != nil {
		return err
	}
	if c.tc == nil {
		r.warn("P-TXT-2", e.ToolCallID, "the tool call is gone; its end was skipped")
		return nil
	}
	tc := r.editCall(c)
	if c.appending {
		c.args.flush()
		if !c.clipped {
			c.args.clip()
		}
		c.clipped = true
		tc.Arguments = c.args.String()
	}
	if tc.Status == messages.ToolCallStreaming {
		tc.Status = messages.ToolCallComplete
	}
	tc.Metadata = tc.Metadata.Merge(e.Metadata)
	r.changedCall(ToolCallClosed, c)
	return nil
}

// toolCallResult makes the tool message that answers a call and puts it where it belongs (P-TOL-3).
func (r *Reducer) toolCallResult(e *event.ToolCallResult) error {
	c := r.callFor(e.ToolCallID)
	result := r.entryFor(messages.KindTool, e.MessageID)
	result.own(r.run.seq, e.SubagentRunID)
	m := &messages.Message{
		ID: e.MessageID, Role: messages.RoleTool, Owner: e.SubagentRunID, ToolCallID: e.ToolCallID,
		Content: e.Content, Metadata: e.Metadata,
	}
	if result.msg != nil {
		m.Metadata = result.msg.Metadata.Merge(e.Metadata)
		r.countAnswer(result.msg.ToolCallID, -1)
		*r.edit(result) = *m
		r.countAnswer(e.ToolCallID, 1)
		r.changed(MessageReplaced, result)
	} else {
		if c.tc == nil {
			r.add(result, m, r.epoch)
		} else {
			r.insertAfter(r.lastResultOf(c.parent), result, m)
			c.parent.lastResult = result
		}
		r.changed(MessageAdded, result)
	}
	r.change.ToolCallID = e.ToolCallID
	c.answeredIn = r.run.seq
	return nil
}

// lastResultOf returns the place of the last tool result that directly follows an assistant message, or of
// that message itself. It remembers how far it looked, so that many results cost one pass in all.
func (r *Reducer) lastResultOf(holder *entry) int {
	i := r.locate(holder)
	if holder.lastResult != nil {
		i = r.locate(holder.lastResult)
	}
	for i+1 < r.list.Len() && r.list.At(i+1).Role == messages.RoleTool {
		i++
	}
	return i
}
