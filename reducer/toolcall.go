package reducer

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// toolCallStart attaches a call to its assistant message, or reopens the one that is there (P-TOL-1, 2).
func (d *draft) toolCallStart(e *event.ToolCallStart) {
	c := d.callFor(e.ToolCallID)
	c.broken = false
	if c.startedIn != d.run.seq {
		c.startedIn = d.run.seq
		if c.answeredIn != d.run.seq && c.answers > 0 {
			c.stale = c.answers
			d.run.reopened = append(d.run.reopened, e.ToolCallID)
		}
		d.run.calls = append(d.run.calls, e.ToolCallID)
	}
	if c.tc != nil {
		if c.tc.Name != e.ToolCallName {
			d.in.warn("P-TOL-2", e.ToolCallID, "the call was named "+quote(c.tc.Name)+" and is now "+quote(e.ToolCallName))
		}
		if c.tc.Arguments != "" {
			d.in.warn("P-TOL-2", e.ToolCallID, "the call has arguments already; those that follow are appended, and together they may not be JSON")
		}
		tc := d.editCall(c)
		tc.Name = e.ToolCallName
		tc.Metadata = tc.Metadata.Merge(e.Metadata)
		tc.Status = d.statusOf(c, tc.ID)
		d.changedCall(ToolCallReopened, c)
		return
	}
	parent := d.callHolder(e)
	m := d.edit(parent)
	c.parent, c.index, c.epoch = parent, m.ToolCalls.Len(), d.epoch
	c.tc = &messages.ToolCall{
		ID: e.ToolCallID, Name: e.ToolCallName, Status: d.statusOf(c, e.ToolCallID), Metadata: e.Metadata,
	}
	m.ToolCalls = m.ToolCalls.Append(c.tc)
	d.changedCall(ToolCallAdded, c)
}

// callHolder finds or makes the assistant message that a new call belongs to (P-TOL-1).
func (d *draft) callHolder(e *event.ToolCallStart) *entry {
	parentID := e.ParentMessageID.Or("")
	id, what := parentID, d.notAssistant(parentID)
	if id == "" || what != "" {
		id = e.ToolCallID
		for n := 2; d.find(messages.KindText, id) != nil && d.find(messages.KindText, id).msg.Role != messages.RoleAssistant; n++ {
			id = e.ToolCallID + "-" + strconv.Itoa(n) // not even the call's own id is free
		}
	}
	parent := d.find(messages.KindText, id)
	if what != "" && parentID != "" {
		d.in.warn("P-TOL-1", e.ToolCallID, "the parent "+quote(parentID)+" of the tool call "+quote(e.ToolCallID)+" is "+what+
			"; the call is in the assistant message "+quote(id)+" instead")
	}
	if parent == nil {
		return d.add(&messages.Message{
			ID: id, Role: messages.RoleAssistant, Owner: e.SubagentRunID,
			Streaming: d.verifier.isOpen(textMessages, id), // a snapshot dropped it while it was open
		}, d.epoch)
	}
	if id != parentID && parent.msg.Owner != e.SubagentRunID {
		d.in.warn("P-TOL-1", e.ToolCallID, "the tool call "+quote(e.ToolCallID)+" of "+codec.Owner(e.SubagentRunID.RunID())+
			" names no parent and is in the message "+quote(id)+" of "+codec.Owner(parent.msg.Owner.RunID()))
	}
	return parent
}

// notAssistant describes the message with an id if no call can be attached to it; it returns "" if one can.
func (d *draft) notAssistant(id string) string {
	if text := d.find(messages.KindText, id); text != nil {
		if text.msg.Role == messages.RoleAssistant {
			return ""
		}
		return "a message of the role " + string(text.msg.Role)
	}
	if d.find(messages.KindTool, id) != nil {
		return "a tool result"
	}
	return ""
}

// toolCallArgs appends to an open call's arguments, whatever they are (P-TOL-4).
func (d *draft) toolCallArgs(e *event.ToolCallArgs) {
	c := d.findCall(e.ToolCallID)
	if c == nil || c.tc == nil {
		d.in.warn("P-TXT-2", e.ToolCallID, "the tool call is gone; its arguments were skipped")
		return
	}
	tc := d.editCall(c)
	if !c.appending {
		c.args, c.appending = newBuffer(tc.Arguments), true
	}
	tc.Grow(true)
	c.args.append(e.Delta)
	tc.Arguments = c.args.String()
	if e.Metadata.Exists() {
		tc.Metadata = tc.Metadata.Merge(e.Metadata)
	}
	d.changedCall(ArgumentsAppended, c)
	d.change.Delta = e.Delta
}

// toolCallEnd completes a call.
func (d *draft) toolCallEnd(e *event.ToolCallEnd) {
	c := d.findCall(e.ToolCallID)
	if c == nil || c.tc == nil {
		d.in.warn("P-TXT-2", e.ToolCallID, "the tool call is gone; its end was skipped")
		return
	}
	tc := d.editCall(c)
	if c.appending {
		c.args.flush()
		if !c.clipped {
			c.args.clip()
		}
		c.clipped = true
		tc.Arguments = c.args.String()
	}
	tc.Grow(false)
	if tc.Status == messages.ToolCallStreaming {
		tc.Status = messages.ToolCallComplete
	}
	tc.Metadata = tc.Metadata.Merge(e.Metadata)
	d.changedCall(ToolCallClosed, c)
}

// toolCallResult makes the tool message that answers a call and puts it where it belongs (P-TOL-3).
func (d *draft) toolCallResult(e *event.ToolCallResult) {
	c := d.callFor(e.ToolCallID)
	c.answeredIn = d.run.seq
	d.verifier.own(toolResults, e.MessageID, e.SubagentRunID)
	m := &messages.Message{
		ID: e.MessageID, Role: messages.RoleTool, Owner: e.SubagentRunID, ToolCallID: e.ToolCallID,
		Content: e.Content, Metadata: e.Metadata,
	}
	if result := d.findKey(m.Key()); result != nil {
		m.Metadata = result.msg.Metadata.Merge(e.Metadata)
		*d.edit(result) = *m
		c.stale = 0
		d.settleAnswer(c)
		d.changed(MessageReplaced, result)
	} else {
		if c.answered() {
			d.warnSecondResult(m)
		}
		if c.tc == nil {
			d.warnNoCall(m)
			result = d.add(m, d.epoch)
		} else {
			result = d.addResult(c, m, d.epoch)
		}
		d.changed(MessageAdded, result)
	}
	d.change.ToolCallID = e.ToolCallID
}

// warnSecondResult warns of a result for a call that has one (P-TOL-3).
func (d *draft) warnSecondResult(m *messages.Message) {
	d.in.warn("P-TOL-3", m.ID, "the tool call "+quote(m.ToolCallID)+" has a result already; both stay")
}

// warnNoCall warns of a result for a call that no message holds (P-TOL-3).
func (d *draft) warnNoCall(m *messages.Message) {
	d.in.warn("P-TOL-3", m.ID, "the thread does not hold the tool call "+quote(m.ToolCallID)+" that the result answers")
}

// addResult adds the answer to a call that the thread holds; see add for the epoch.
func (d *draft) addResult(c *call, m *messages.Message, epoch uint64) *entry {
	e := d.insertAfter(d.lastResultOf(c.parent), m, epoch)
	c.parent.lastResult = e
	return e
}

// lastResultOf returns the place of the last tool result that directly follows an assistant message, or of
// that message itself. It remembers how far it looked, so that many results cost one pass in total.
func (d *draft) lastResultOf(holder *entry) int {
	i := d.locate(holder)
	if holder.lastResult != nil {
		i = d.locate(holder.lastResult)
	}
	for i+1 < d.list.Len() && d.list.At(i+1).Role == messages.RoleTool {
		i++
	}
	return i
}
