package event

import (
	"github.com/agfold/agfold/internal/codec"
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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningStart) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningStart) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	e.tag(c)
}

// ReasoningMessageStart is REASONING_MESSAGE_START: it opens a reasoning message.
type ReasoningMessageStart struct {
	Base
	Attribution
	MessageID string
	// Role is always "reasoning", so there is no field for it.
}

// Type returns TypeReasoningMessageStart.
func (*ReasoningMessageStart) Type() Type { return TypeReasoningMessageStart }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningMessageStart) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningMessageStart) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.Fixed("role", string(messages.RoleReasoning))
	e.tag(c)
}

// ReasoningMessageContent is REASONING_MESSAGE_CONTENT: it appends text to an open reasoning message.
type ReasoningMessageContent struct {
	Base
	Attribution
	MessageID string
	Delta     string // may be empty
}

// Type returns TypeReasoningMessageContent.
func (*ReasoningMessageContent) Type() Type { return TypeReasoningMessageContent }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningMessageContent) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningMessageContent) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.String("delta", &e.Delta)
	e.tag(c)
}

// ReasoningMessageEnd is REASONING_MESSAGE_END: it closes a reasoning message.
type ReasoningMessageEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeReasoningMessageEnd.
func (*ReasoningMessageEnd) Type() Type { return TypeReasoningMessageEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningMessageEnd) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningMessageEnd) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	e.tag(c)
}

// ReasoningMessageChunk is REASONING_MESSAGE_CHUNK, the shorthand that package chunks expands.
type ReasoningMessageChunk struct {
	Base
	Attribution
	MessageID messages.Opt[string]
	Delta     messages.Opt[string]
}

// Type returns TypeReasoningMessageChunk.
func (*ReasoningMessageChunk) Type() Type { return TypeReasoningMessageChunk }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningMessageChunk) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningMessageChunk) members(c *codec.Codec) {
	opt(c, "messageId", &e.MessageID)
	opt(c, "delta", &e.Delta)
	e.tag(c)
}

// ReasoningEnd is REASONING_END: it closes a span.
type ReasoningEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeReasoningEnd.
func (*ReasoningEnd) Type() Type { return TypeReasoningEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningEnd) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningEnd) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	e.tag(c)
}

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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ReasoningEncryptedValue) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ReasoningEncryptedValue) members(c *codec.Codec) {
	codec.Enum(c, "subtype", &e.Subtype, encryptedSubtypes)
	c.String("entityId", &e.EntityID)
	c.String("encryptedValue", &e.EncryptedValue)
	e.tag(c)
}

// EncryptedSubtype says what an encrypted value belongs to.
type EncryptedSubtype string

// The subtypes.
const (
	EncryptedToolCall EncryptedSubtype = "tool-call"
	EncryptedMessage  EncryptedSubtype = "message"
)

var encryptedSubtypes = []EncryptedSubtype{EncryptedToolCall, EncryptedMessage}
