package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// kindOf gives the kind of message that a namespace opens and closes.
var kindOf = [numNamespaces]messages.Kind{
	textMessages:      messages.KindText,
	reasoningMessages: messages.KindReasoning,
}

// opening is what TEXT_MESSAGE_START and REASONING_MESSAGE_START have in common.
type opening struct {
	id    string
	owner messages.Owner
	role  messages.Role
	name  messages.Opt[string]
	meta  messages.Metadata
}

// messageStart creates a text or reasoning message, or goes on with one that is there (P-TXT-1, P-REA-1).
func (r *Reducer) messageStart(ns namespace, o opening) error {
	e := r.entryFor(kindOf[ns], o.id)
	if err := r.open(ns, &e.lifetime, o.id, o.owner); err != nil {
		return err
	}
	if r.run.streaming == nil {
		r.run.streaming = make(map[*entry]struct{})
	}
	r.run.streaming[e] = struct{}{}
	if e.msg != nil {
		m := r.edit(e)
		m.Streaming = true
		m.Metadata = m.Metadata.Merge(o.meta)
		r.changed(MessageReopened, e)
		return nil
	}
	r.add(e, &messages.Message{
		ID: o.id, Role: o.role, Owner: o.owner, Name: o.name, Content: messages.Text(""), Metadata: o.meta,
		Streaming: true,
	}, r.epoch)
	r.changed(MessageAdded, e)
	return nil
}

// messageContent appends to an open message (P-TXT-1, P-TXT-2, P-REA-1).
func (r *Reducer) messageContent(ns namespace, id string, tag messages.Owner, delta string, meta messages.Metadata) error {
	e := r.find(kindOf[ns], id)
	var l *lifetime
	if e != nil {
		l = &e.lifetime
	}
	if err := r.goOn(ns, l, id, tag); err != nil {
		return err
	}
	if e.msg == nil {
		r.warn("P-TXT-2", id, "the message is gone; its text was skipped")
		return nil
	}
	if !e.appending {
		e.text, e.appending = newBuffer(e.msg.Content.LastText()), true
	}
	e.text.append(delta)
	m := r.showText(e)
	if meta.Exists() {
		m.Metadata = m.Metadata.Merge(meta)
	}
	r.changed(TextAppended, e)
	r.change.Delta = delta
	return nil
}

// messageEnd closes an open message.
func (r *Reducer) messageEnd(ns namespace, id string, tag messages.Owner, meta messages.Metadata) error {
	e := r.find(kindOf[ns], id)
	var l *lifetime
	if e != nil {
		l = &e.lifetime
	}
	if err := r.shut(ns, l, id, tag); err != nil {
		return err
	}
	delete(r.run.streaming, e)
	if e.msg == nil {
		r.warn("P-TXT-2", id, "the message is gone; its end was skipped")
		return nil
	}
	if e.appending {
		half := e.text.half != 0
		e.text.flush()
		if clipped := !e.clipped && e.text.clip(); clipped || half {
			r.showText(e)
		}
		e.clipped = true // once is enough; a message opened again keeps its room
	}
	m := r.edit(e)
	m.Streaming = false
	m.Metadata = m.Metadata.Merge(meta)
	r.changed(MessageClosed, e)
	return nil
}

// showText makes the message say what the entry's text has come to, and returns it for the caller to
// change. Of a content that is parts (D-5) an epoch copies the list once.
func (r *Reducer) showText(e *entry) *messages.Message {
	m := r.edit(e)
	text := e.text.String()
	if m.Content.IsParts() && e.partsIn == r.epoch {
		parts := m.Content.Parts()
		parts[len(parts)-1].Text = text
		return m
	}
	m.Content = m.Content.WithLastText(text)
	e.partsIn = r.epoch
	return m
}

// stopStreaming gives up, as the run breaks off, waiting for more of the messages that are open and for the
// second halves of surrogate pairs.
func (r *Reducer) stopStreaming() {
	for e := range r.run.streaming {
		if e.msg == nil {
			continue
		}
		r.edit(e).Streaming = false
		if e.appending && e.text.half != 0 {
			e.text.flush()
			r.showText(e)
		}
	}
	for c := range r.run.halfArgs {
		if c.appending && c.args.half != 0 {
			c.args.flush()
			r.editCall(c).Arguments = c.args.String()
		}
	}
	r.run.streaming, r.run.halfArgs = nil, nil
}

// whole returns the message as one that came whole: what a client or an input hands on may have been taken from
// a thread while it was streaming there.
func whole(m *messages.Message) *messages.Message {
	if !m.Streaming {
		return m
	}
	c := *m
	c.Streaming = false
	return &c
}

// spanStart and spanEnd judge REASONING_START and REASONING_END, which make no message (P-REA-1). A span and
// the reasoning message with its id are two things, each with an owner of its own.
func (r *Reducer) spanStart(e *event.ReasoningStart) error {
	l := r.run.spans[e.MessageID]
	if l == nil {
		l = new(lifetime)
	}
	if err := r.open(reasoningSpans, l, e.MessageID, e.SubagentRunID); err != nil {
		return err
	}
	if r.run.spans == nil {
		r.run.spans = make(map[string]*lifetime)
	}
	r.run.spans[e.MessageID] = l
	return nil
}

func (r *Reducer) spanEnd(e *event.ReasoningEnd) error {
	return r.shut(reasoningSpans, r.run.spans[e.MessageID], e.MessageID, e.SubagentRunID)
}

// encryptedValue stores a value verbatim on what it belongs to (P-REA-2). Whoever is tagged must own that,
// also if the thread does not hold it any more (P-VER-5).
func (r *Reducer) encryptedValue(e *event.ReasoningEncryptedValue) error {
	if e.Subtype == event.EncryptedToolCall {
		c := r.calls[e.EntityID]
		if c != nil {
			if err := r.sameOwner(&c.lifetime, e.EntityID, e.SubagentRunID); err != nil {
				return err
			}
		}
		if c == nil || c.tc == nil {
			r.warn("P-REA-2", e.EntityID, "no tool call has that id; the encrypted value was skipped")
			return nil
		}
		r.editCall(c).EncryptedValue = messages.Some(e.EncryptedValue)
		r.changedCall(EncryptedValueSet, c)
		return nil
	}
	var target *entry
	for _, kind := range [...]messages.Kind{messages.KindReasoning, messages.KindText, messages.KindTool} {
		found := r.find(kind, e.EntityID)
		if found != nil && (target == nil || found.msg != nil) {
			target = found
		}
		if target != nil && target.msg != nil {
			break
		}
	}
	if target != nil {
		if err := r.sameOwner(&target.lifetime, e.EntityID, e.SubagentRunID); err != nil {
			return err
		}
	}
	if target == nil || target.msg == nil {
		r.warn("P-REA-2", e.EntityID, "no message has that id; the encrypted value was skipped")
		return nil
	}
	r.edit(target).EncryptedValue = messages.Some(e.EncryptedValue)
	r.changed(EncryptedValueSet, target)
	return nil
}
