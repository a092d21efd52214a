package reducer

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// toolCallStart attaches a call to its assistant message, or reopens the one that is there (P-TOL-1, 2).
func (d *draft) toolCallStart(e *event.ToolCallStart) {
	c := d.callFor(e.ToolCallID)
	if c.startedIn != d.run.seq {
		c.startedIn, c.stale = d.run.seq, c.answers
		d.run.calls = append(d.run.calls, e.ToolCallID)
	}
	if c.tc != nil {
		if c.tc.Name != e.ToolCallName {
			d.in.warn("P-TOL-2", e.ToolCallID, "the call was named "+quote(c.tc.Name)+" and is now "+quote(e.ToolCallName))
		}
		tc := d.editCall(c)
		tc.Name = e.ToolCallName
		tc.Metadata = tc.Metadata.Merge(e.Metadata)
		if tc.Status == messages.ToolCallComplete {
			tc.Status = messages.ToolCallStreaming
		}
		d.changedCall(ToolCallReopened, c)
		return
	}
	parent := d.callHolder(e)
	m := d.edit(parent)
	c.parent, c.index, c.epoch = parent, m.ToolCalls.Len(), d.epoch
	c.tc = &messages.ToolCall{
		ID: e.ToolCallID, Name: e.ToolCallName, Status: messages.ToolCallStreaming, Metadata: e.Metadata,
	}
	d.settleAnswer(c) // its result may have come first
	m.ToolCalls = m.ToolCalls.Append(c.tc)
	d.changedCall(ToolCallAdded, c)
}

// callHolder finds or makes the assistant message that a new call belongs to (P-TOL-1).
func (d *draft) callHolder(e *event.ToolCallStart) *entry {
	id := e.ParentMessageID.Or("")
	parent := d.find(messages.KindText, id)
	if id == "" || parent != nil && parent.msg.Role != messages.RoleAssistant {
		id = e.ToolCallID
		parent = d.find(messages.KindText, id)
		for n := 2; parent != nil && parent.msg.Role != messages.RoleAssistant; n++ {
			// Not even the call's own id is free.
			id = e.ToolCallID + "-" + strconv.Itoa(n)
			parent = d.find(messages.KindText, id)
		}
	}
	if parent == nil {
		parent = d.entryFor(messages.KindText, id)
		d.add(parent, &messages.Message{
			ID: id, Role: messages.RoleAssistant, Owner: e.SubagentRunID,
			Streaming: d.verifier.isOpen(textMessages, id), // a snapshot dropped it while it was open
		}, d.epoch)
	}
	return parent
}

// toolCallArgs appends to an open call's arguments, whatever they are (P-TOL-4).
func (d *draft) toolCallArgs(e *event.ToolCallArgs) {
	c := d.calls[e.ToolCallID]
	if c == nil || c.tc == nil {
		d.in.warn("P-TXT-2", e.ToolCallID, "the tool call is gone; its arguments were skipped")
		return
	}
	tc := d.editCall(c)
	if !c.appending {
		c.args, c.appending = newBuffer(tc.Arguments), true
	}
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
	c := d.calls[e.ToolCallID]
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
	if tc.Status == messages.ToolCallStreaming {
		tc.Status = messages.ToolCallComplete
	}
	tc.Metadata = tc.Metadata.Merge(e.Metadata)
	d.changedCall(ToolCallClosed, c)
}

// toolCallResult makes the tool message that answers a call and puts it where it belongs (P-TOL-3).
func (d *draft) toolCallResult(e *event.ToolCallResult) {
	c := d.callFor(e.ToolCallID)
	result := d.entryFor(messages.KindTool, e.MessageID)
	d.verifier.own(toolResults, e.MessageID, e.SubagentRunID)
	m := &messages.Message{
		ID: e.MessageID, Role: messages.RoleTool, Owner: e.SubagentRunID, ToolCallID: e.ToolCallID,
		Content: e.Content, Metadata: e.Metadata,
	}
	if result.msg != nil {
		m.Metadata = result.msg.Metadata.Merge(e.Metadata)
		d.countAnswer(result.msg.ToolCallID, -1)
		*d.edit(result) = *m
		d.countAnswer(e.ToolCallID, 1)
		d.changed(MessageReplaced, result)
	} else {
		if c.tc == nil {
			d.add(result, m, d.epoch)
		} else {
			d.insertAfter(d.lastResultOf(c.parent), result, m)
			c.parent.lastResult = result
		}
		d.changed(MessageAdded, result)
	}
	d.change.ToolCallID = e.ToolCallID
	c.answeredIn = d.run.seq
}

// lastResultOf returns the place of the last tool result that directly follows an assistant message, or of
// that message itself. It remembers how far it looked, so that many results cost one pass in all.
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
