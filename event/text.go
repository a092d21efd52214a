package event

import (
	"github.com/agfold/agfold/internal/codec"
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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e TextMessageStart) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *TextMessageStart) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	codec.OptEnum(c, "role", &e.Role, textRoles)
	opt(c, "name", &e.Name)
	e.tag(c)
}

// TextMessageContent is TEXT_MESSAGE_CONTENT: it appends text to an open message.
type TextMessageContent struct {
	Base
	Attribution
	MessageID string
	Delta     string // may be empty
}

// Type returns TypeTextMessageContent.
func (*TextMessageContent) Type() Type { return TypeTextMessageContent }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e TextMessageContent) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *TextMessageContent) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.String("delta", &e.Delta)
	e.tag(c)
}

// TextMessageEnd is TEXT_MESSAGE_END: it closes a text message.
type TextMessageEnd struct {
	Base
	Attribution
	MessageID string
}

// Type returns TypeTextMessageEnd.
func (*TextMessageEnd) Type() Type { return TypeTextMessageEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e TextMessageEnd) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *TextMessageEnd) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	e.tag(c)
}

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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e TextMessageChunk) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *TextMessageChunk) members(c *codec.Codec) {
	opt(c, "messageId", &e.MessageID)
	codec.OptEnum(c, "role", &e.Role, textRoles)
	opt(c, "delta", &e.Delta)
	opt(c, "name", &e.Name)
	e.tag(c)
}
