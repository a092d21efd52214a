package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// messageStart adds a text or reasoning message, or reopens the one that is there (P-TXT-1, P-REA-1).
func (d *draft) messageStart(m *messages.Message) {
	if e := d.find(m.Kind(), m.ID); e != nil {
		held := d.edit(e)
		held.Streaming, held.Cut = true, false
		held.Metadata = held.Metadata.Merge(m.Metadata)
		d.changed(MessageReopened, e)
		return
	}
	m.Content, m.Streaming = messages.Text(""), true
	d.changed(MessageAdded, d.add(m, d.epoch))
}

// messageContent appends to an open message (P-TXT-1, P-TXT-2, P-REA-1).
func (d *draft) messageContent(kind messages.Kind, id, delta string, meta messages.Metadata) {
	e := d.find(kind, id)
	if e == nil {
		d.in.warn("P-TXT-2", id, "the message is gone; its text was skipped")
		return
	}
	if !e.appending {
		e.text, e.appending = newBuffer(e.msg.Content.LastText()), true
	}
	e.text.append(delta)
	m := d.showText(e)
	if meta.Exists() {
		m.Metadata = m.Metadata.Merge(meta)
	}
	d.changed(TextAppended, e)
	d.change.Delta = delta
}

// messageEnd closes an open message.
func (d *draft) messageEnd(kind messages.Kind, id string, meta messages.Metadata) {
	e := d.find(kind, id)
	if e == nil {
		d.in.warn("P-TXT-2", id, "the message is gone; its end was skipped")
		return
	}
	if e.appending {
		half := e.text.half != 0
		e.text.flush()
		if clipped := !e.clipped && e.text.clip(); clipped || half {
			d.showText(e)
		}
		e.clipped = true // once is enough; a message opened again keeps its room
	}
	m := d.edit(e)
	m.Streaming = false
	m.Metadata = m.Metadata.Merge(meta)
	d.changed(MessageClosed, e)
}

// showText sets the message's text, or that of its trailing text part (D-5), to the entry's text, and returns the
// message for the caller to change.
func (d *draft) showText(e *entry) *messages.Message {
	m := d.edit(e)
	m.Content = m.Content.WithLastText(e.text.String())
	return m
}

// stopStreaming marks the open messages and calls of a run that breaks off as broken off (P-TXT-3, P-TOL-5), and stops
// waiting for the second halves of surrogate pairs.
func (d *draft) stopStreaming() {
	for _, kind := range [...]messages.Kind{messages.KindText, messages.KindReasoning} {
		for id := range d.verifier.open[namespaceOf[kind]] {
			e := d.find(kind, id)
			if e == nil {
				continue
			}
			m := d.edit(e)
			m.Streaming, m.Cut = false, true
			if e.appending && e.text.half != 0 {
				e.text.flush()
				d.showText(e)
			}
		}
	}
	for id := range d.verifier.open[toolCalls] {
		c := d.calls[id]
		if c == nil || c.tc == nil {
			continue
		}
		c.broken = true
		tc := d.editCall(c)
		if c.appending && c.args.half != 0 {
			c.args.flush()
			tc.Arguments = c.args.String()
		}
		if tc.Status == messages.ToolCallStreaming {
			tc.Status = messages.ToolCallBroken
			tc.Grow(false)
		}
	}
}

// encryptableKinds are the kinds of messages that REASONING_ENCRYPTED_VALUE may mean, the preferred ones first.
var encryptableKinds = [...]messages.Kind{messages.KindReasoning, messages.KindText, messages.KindTool}

// encryptable returns the message that REASONING_ENCRYPTED_VALUE names, nil if the thread does not hold it (P-REA-2).
func (d *draft) encryptable(id string) *entry {
	for _, kind := range encryptableKinds {
		if e := d.find(kind, id); e != nil {
			return e
		}
	}
	return nil
}

// encryptedValue stores a value verbatim on the call or message that it names (P-REA-2).
func (d *draft) encryptedValue(e *event.ReasoningEncryptedValue) {
	if e.Subtype == event.EncryptedToolCall {
		if c := d.calls[e.EntityID]; c != nil && c.tc != nil {
			d.editCall(c).EncryptedValue = messages.Some(e.EncryptedValue)
			d.changedCall(EncryptedValueSet, c)
			return
		}
		d.in.warn("P-REA-2", e.EntityID, "no tool call has that id; the encrypted value was skipped")
		return
	}
	target := d.encryptable(e.EntityID)
	if target == nil {
		d.in.warn("P-REA-2", e.EntityID, "no message has that id; the encrypted value was skipped")
		return
	}
	d.edit(target).EncryptedValue = messages.Some(e.EncryptedValue)
	d.changed(EncryptedValueSet, target)
}
