package chunks

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// chunk is what the three chunk events have in common.
type chunk struct {
	typ   event.Type
	kind  kind
	tag   messages.Owner
	id    messages.Opt[string]
	delta messages.Opt[string]
	opening
	base *event.Base
}

// chunkOf returns ev as a chunk, if it is a typed one.
func chunkOf(ev event.Event) (chunk, bool) {
	switch e := ev.(type) {
	case *event.TextMessageChunk:
		return chunk{
			typ: event.TypeTextMessageChunk, kind: text, tag: e.SubagentRunID, id: e.MessageID, delta: e.Delta,
			opening: opening{role: e.Role, name: e.Name}, base: &e.Base,
		}, true
	case *event.ToolCallChunk:
		return chunk{
			typ: event.TypeToolCallChunk, kind: toolCall, tag: e.SubagentRunID, id: e.ToolCallID, delta: e.Delta,
			opening: opening{toolCallName: e.ToolCallName, parentMessageID: e.ParentMessageID}, base: &e.Base,
		}, true
	case *event.ReasoningMessageChunk:
		return chunk{
			typ: event.TypeReasoningMessageChunk, kind: reasoning, tag: e.SubagentRunID, id: e.MessageID, delta: e.Delta,
			base: &e.Base,
		}, true
	}
	return chunk{}, false
}

// hasContent reports whether the chunk makes a content event in addition to its start (P-CHK-2).
func (c *chunk) hasContent() bool { return c.delta.IsSet() || c.base.RawEvent.Exists() }

// fail returns an error about the chunk.
func (c *chunk) fail(rule string, lane messages.Owner, id, reason string) *Error {
	return &Error{Rule: rule, Type: c.typ, Lane: lane, ID: id, Reason: reason}
}

// start returns the event that opens s, made from its first chunk. It carries the chunk's metadata and
// leaves its rawEvent to the content event; the timestamp is dropped (P-CHK-8).
func (s *stream) start(c *chunk) event.Event {
	base := event.Base{Metadata: c.base.Metadata}
	switch s.kind {
	case text:
		return &event.TextMessageStart{Base: base, Attribution: event.By(s.owner), MessageID: s.id, Role: s.role, Name: s.name}
	case toolCall:
		return &event.ToolCallStart{
			Base: base, Attribution: event.By(s.owner), ToolCallID: s.id,
			ToolCallName: s.toolCallName.Or(""), ParentMessageID: s.parentMessageID,
		}
	default:
		return &event.ReasoningMessageStart{Base: base, Attribution: event.By(s.owner), MessageID: s.id}
	}
}

// content returns the event that continues s, with the chunk's metadata and rawEvent (P-CHK-8). Its delta
// is empty if the chunk has none (P-CHK-3).
func (s *stream) content(c *chunk) event.Event {
	base := event.Base{RawEvent: c.base.RawEvent, Metadata: c.base.Metadata}
	delta := c.delta.Or("")
	switch s.kind {
	case text:
		return &event.TextMessageContent{Base: base, Attribution: event.By(s.owner), MessageID: s.id, Delta: delta}
	case toolCall:
		return &event.ToolCallArgs{Base: base, Attribution: event.By(s.owner), ToolCallID: s.id, Delta: delta}
	default:
		return &event.ReasoningMessageContent{Base: base, Attribution: event.By(s.owner), MessageID: s.id, Delta: delta}
	}
}

// end returns the event that closes s. It carries nothing of the event that caused it (P-CHK-8).
func (s *stream) end() event.Event {
	switch s.kind {
	case text:
		return &event.TextMessageEnd{Attribution: event.By(s.owner), MessageID: s.id}
	case toolCall:
		return &event.ToolCallEnd{Attribution: event.By(s.owner), ToolCallID: s.id}
	default:
		return &event.ReasoningMessageEnd{Attribution: event.By(s.owner), MessageID: s.id}
	}
}

// open returns the stream that the chunk opens in its tag's lane, with an absent role made assistant. It
// fails if the chunk lacks what a first chunk needs; no id is ever invented (P-CHK-2).
func (c *chunk) open() (*stream, *Error) {
	id, ok := c.id.Get()
	if !ok {
		return nil, c.fail("P-CHK-2", c.tag, "", "the first chunk of a "+c.kind.String()+" needs a "+c.kind.idMember())
	}
	if c.kind == toolCall && !c.toolCallName.IsSet() {
		return nil, c.fail("P-CHK-2", c.tag, id, "the first chunk of a tool call needs a toolCallName")
	}
	s := &stream{entity: entity{c.kind, id}, opening: c.opening, owner: c.tag}
	if s.kind == text && s.role == "" {
		s.role = messages.RoleAssistant
	}
	return s, nil
}

// agrees fails if the chunk, a continuation of s, repeats something with another value than s was opened
// with, or names something that s was opened without (P-CHK-5).
func (c *chunk) agrees(s *stream) *Error {
	switch {
	case c.role != "" && c.role != s.role:
		return c.conflict(s, "role", string(c.role), messages.Some(string(s.role)))
	case c.name.IsSet() && c.name != s.name:
		return c.conflict(s, "name", c.name.Or(""), s.name)
	case c.toolCallName.IsSet() && c.toolCallName != s.toolCallName:
		return c.conflict(s, "toolCallName", c.toolCallName.Or(""), s.toolCallName)
	case c.parentMessageID.IsSet() && c.parentMessageID != s.parentMessageID:
		return c.conflict(s, "parentMessageId", c.parentMessageID.Or(""), s.parentMessageID)
	}
	return nil
}

func (c *chunk) conflict(s *stream, member, got string, opened messages.Opt[string]) *Error {
	with := "without one"
	if value, ok := opened.Get(); ok {
		with = "with " + strconv.Quote(value)
	}
	return c.fail("P-CHK-5", s.owner, s.id, member+" "+strconv.Quote(got)+" contradicts the "+s.kind.String()+", which was opened "+with)
}
