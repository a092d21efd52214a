package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// retired is one of the five THINKING_* events, which the [Upgrader] makes REASONING_* (P-CMP-1).
type retired struct {
	Base
	unattributed
	typ   Type
	title messages.Opt[string] // of TypeThinkingStart
	delta string               // of TypeThinkingTextMessageContent
}

func (e *retired) Type() Type { return e.typ }

func (e retired) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *retired) members(c *codec.Codec) {
	switch e.typ {
	case TypeThinkingStart:
		opt(c, "title", &e.title)
	case TypeThinkingTextMessageContent:
		c.String("delta", &e.delta)
	}
}
