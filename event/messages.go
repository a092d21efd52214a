package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// MessagesSnapshot is MESSAGES_SNAPSHOT: it restates the conversation.
type MessagesSnapshot struct {
	Base
	unattributed
	Messages []*messages.Message
}

// Type returns TypeMessagesSnapshot.
func (*MessagesSnapshot) Type() Type { return TypeMessagesSnapshot }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e MessagesSnapshot) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *MessagesSnapshot) members(c *codec.Codec) {
	codec.List(c, "messages", &e.Messages, walkMessage)
}
