package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// ReasoningStart is REASONING_START: it opens a span, which makes no message.
type ReasoningStart struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeReasoningStart.
func (*ReasoningStart) Type() Type { return TypeReasoningStart }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningStart) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningStart)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningStart) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningStart) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningStart) event() {}

// ReasoningMessageStart is REASONING_MESSAGE_START: it opens a reasoning message.
type ReasoningMessageStart struct {
	Base
	Attribution
	MessageID string
	// Role is always "reasoning", so there is no field for it.
}

// Type returns TypeReasoningMessageStart.
func (*ReasoningMessageStart) Type() Type { return TypeReasoningMessageStart }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningMessageStart) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningMessageStart)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "role", string(messages.RoleReasoning))
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningMessageStart) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningMessageStart) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	o.Fixed("role", string(messages.RoleReasoning), true)
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningMessageStart) event() {}

// ReasoningMessageContent is REASONING_MESSAGE_CONTENT: it appends text to an open reasoning message.
type ReasoningMessageContent struct {
	Base
	Attribution
	MessageID string
	Delta     string // may be empty
}

// Type returns TypeReasoningMessageContent.
func (*ReasoningMessageContent) Type() Type { return TypeReasoningMessageContent }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningMessageContent) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningMessageContent)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "delta", e.Delta)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningMessageContent) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningMessageContent) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.Delta = o.String("delta")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningMessageContent) event() {}

// ReasoningMessageEnd is REASONING_MESSAGE_END: it closes a reasoning message.
type ReasoningMessageEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeReasoningMessageEnd.
func (*ReasoningMessageEnd) Type() Type { return TypeReasoningMessageEnd }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningMessageEnd) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningMessageEnd)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningMessageEnd) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningMessageEnd) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningMessageEnd) event() {}

// ReasoningMessageChunk is REASONING_MESSAGE_CHUNK, the shorthand that package chunks expands.
type ReasoningMessageChunk struct {
	Base
	Attribution
	MessageID messages.Opt[string]
	Delta     messages.Opt[string]
}

// Type returns TypeReasoningMessageChunk.
func (*ReasoningMessageChunk) Type() Type { return TypeReasoningMessageChunk }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningMessageChunk) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningMessageChunk)
	dst = appendOpt(dst, "messageId", e.MessageID)
	dst = appendOpt(dst, "delta", e.Delta)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningMessageChunk) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningMessageChunk) read(o *wire.Object) {
	e.MessageID = messages.ReadOpt(o, "messageId")
	e.Delta = messages.ReadOpt(o, "delta")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningMessageChunk) event() {}

// ReasoningEnd is REASONING_END: it closes a span.
type ReasoningEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeReasoningEnd.
func (*ReasoningEnd) Type() Type { return TypeReasoningEnd }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningEnd) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningEnd)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningEnd) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningEnd) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningEnd) event() {}

// ReasoningEncryptedValue is REASONING_ENCRYPTED_VALUE: an opaque value that belongs to a message or a tool
// call and goes back to the provider verbatim.
type ReasoningEncryptedValue struct {
	Base
	Attribution
	Subtype        EncryptedSubtype
	EntityID       string
	EncryptedValue string
}

// Type returns TypeReasoningEncryptedValue.
func (*ReasoningEncryptedValue) Type() Type { return TypeReasoningEncryptedValue }

// AppendJSON appends the event as it looks on the wire.
func (e *ReasoningEncryptedValue) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeReasoningEncryptedValue)
	dst = wire.AppendString(dst, "subtype", string(e.Subtype))
	dst = wire.AppendString(dst, "entityId", e.EntityID)
	dst = wire.AppendString(dst, "encryptedValue", e.EncryptedValue)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ReasoningEncryptedValue) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ReasoningEncryptedValue) read(o *wire.Object) {
	e.Subtype = EncryptedSubtype(o.Enum("subtype", string(EncryptedToolCall), string(EncryptedMessage)))
	e.EntityID = o.String("entityId")
	e.EncryptedValue = o.String("encryptedValue")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ReasoningEncryptedValue) event() {}

// EncryptedSubtype says what an encrypted value belongs to.
type EncryptedSubtype string

// The subtypes.
const (
	EncryptedToolCall EncryptedSubtype = "tool-call"
	EncryptedMessage  EncryptedSubtype = "message"
)
