package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// ThinkingStart is THINKING_START, retired: [Upgrader] makes it REASONING_START (P-CMP-1).
type ThinkingStart struct {
	Base
	unattributed
	Title messages.Opt[string]
}

// Type returns TypeThinkingStart.
func (*ThinkingStart) Type() Type { return TypeThinkingStart }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ThinkingStart) MarshalJSON() ([]byte, error) { return Append(nil, e), nil }

func (e *ThinkingStart) members(c *codec.Codec) {
	opt(c, "title", &e.Title)
}

// ThinkingEnd is THINKING_END, retired: [Upgrader] makes it REASONING_END (P-CMP-1).
type ThinkingEnd struct {
	Base
	unattributed
}

// Type returns TypeThinkingEnd.
func (*ThinkingEnd) Type() Type { return TypeThinkingEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ThinkingEnd) MarshalJSON() ([]byte, error) { return Append(nil, e), nil }

func (*ThinkingEnd) members(*codec.Codec) {}

// ThinkingTextMessageStart is THINKING_TEXT_MESSAGE_START, retired: [Upgrader] makes it
// REASONING_MESSAGE_START (P-CMP-1).
type ThinkingTextMessageStart struct {
	Base
	unattributed
}

// Type returns TypeThinkingTextMessageStart.
func (*ThinkingTextMessageStart) Type() Type { return TypeThinkingTextMessageStart }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ThinkingTextMessageStart) MarshalJSON() ([]byte, error) { return Append(nil, e), nil }

func (*ThinkingTextMessageStart) members(*codec.Codec) {}

// ThinkingTextMessageContent is THINKING_TEXT_MESSAGE_CONTENT, retired: [Upgrader] makes it
// REASONING_MESSAGE_CONTENT (P-CMP-1).
type ThinkingTextMessageContent struct {
	Base
	unattributed
	Delta string
}

// Type returns TypeThinkingTextMessageContent.
func (*ThinkingTextMessageContent) Type() Type { return TypeThinkingTextMessageContent }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ThinkingTextMessageContent) MarshalJSON() ([]byte, error) { return Append(nil, e), nil }

func (e *ThinkingTextMessageContent) members(c *codec.Codec) {
	c.String("delta", &e.Delta)
}

// ThinkingTextMessageEnd is THINKING_TEXT_MESSAGE_END, retired: [Upgrader] makes it
// REASONING_MESSAGE_END (P-CMP-1).
type ThinkingTextMessageEnd struct {
	Base
	unattributed
}

// Type returns TypeThinkingTextMessageEnd.
func (*ThinkingTextMessageEnd) Type() Type { return TypeThinkingTextMessageEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ThinkingTextMessageEnd) MarshalJSON() ([]byte, error) { return Append(nil, e), nil }

func (*ThinkingTextMessageEnd) members(*codec.Codec) {}
