package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// TextMessageStart is TEXT_MESSAGE_START: it opens a text message, or opens a closed one again.
type TextMessageStart struct {
	Base
	Attribution
	MessageID string
	Role      messages.Role // developer, system, assistant or user; "" (absent) means assistant
	Name      messages.Opt[string]
}

// Type returns TypeTextMessageStart.
func (*TextMessageStart) Type() Type { return TypeTextMessageStart }

// AppendJSON appends the event as it looks on the wire.
func (e *TextMessageStart) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeTextMessageStart)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendNonEmpty(dst, "role", string(e.Role))
	dst = appendOpt(dst, "name", e.Name)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *TextMessageStart) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *TextMessageStart) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.Role = readTextRole(o)
	e.Name = messages.ReadOpt(o, "name")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*TextMessageStart) event() {}

// TextMessageContent is TEXT_MESSAGE_CONTENT: it appends text to an open message.
type TextMessageContent struct {
	Base
	Attribution
	MessageID string
	Delta     string // may be empty
}

// Type returns TypeTextMessageContent.
func (*TextMessageContent) Type() Type { return TypeTextMessageContent }

// AppendJSON appends the event as it looks on the wire.
func (e *TextMessageContent) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeTextMessageContent)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "delta", e.Delta)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *TextMessageContent) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *TextMessageContent) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.Delta = o.String("delta")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*TextMessageContent) event() {}

// TextMessageEnd is TEXT_MESSAGE_END: it closes a text message.
type TextMessageEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeTextMessageEnd.
func (*TextMessageEnd) Type() Type { return TypeTextMessageEnd }

// AppendJSON appends the event as it looks on the wire.
func (e *TextMessageEnd) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeTextMessageEnd)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *TextMessageEnd) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *TextMessageEnd) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*TextMessageEnd) event() {}

// TextMessageChunk is TEXT_MESSAGE_CHUNK, the shorthand that package chunks expands.
type TextMessageChunk struct {
	Base
	Attribution
	MessageID messages.Opt[string]
	Role      messages.Role // "" when absent
	Delta     messages.Opt[string]
	Name      messages.Opt[string]
}

// Type returns TypeTextMessageChunk.
func (*TextMessageChunk) Type() Type { return TypeTextMessageChunk }

// AppendJSON appends the event as it looks on the wire.
func (e *TextMessageChunk) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeTextMessageChunk)
	dst = appendOpt(dst, "messageId", e.MessageID)
	dst = wire.AppendNonEmpty(dst, "role", string(e.Role))
	dst = appendOpt(dst, "delta", e.Delta)
	dst = appendOpt(dst, "name", e.Name)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *TextMessageChunk) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *TextMessageChunk) read(o *wire.Object) {
	e.MessageID = messages.ReadOpt(o, "messageId")
	e.Role = readTextRole(o)
	e.Delta = messages.ReadOpt(o, "delta")
	e.Name = messages.ReadOpt(o, "name")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*TextMessageChunk) event() {}
