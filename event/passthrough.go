package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Raw is RAW: an event of the agent's own system, passed through.
type Raw struct {
	Base
	Attribution
	Event  state.Value // any JSON value, required
	Source messages.Opt[string]
}

// Type returns TypeRaw.
func (*Raw) Type() Type { return TypeRaw }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e Raw) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *Raw) members(c *codec.Codec) {
	c.Any("event", &e.Event)
	opt(c, "source", &e.Source)
	e.tag(c)
}

// Custom is CUSTOM: an event that producer and consumer have agreed on.
type Custom struct {
	Base
	Attribution
	Name  string
	Value state.Value // any JSON value, required
}

// Type returns TypeCustom.
func (*Custom) Type() Type { return TypeCustom }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e Custom) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *Custom) members(c *codec.Codec) {
	c.String("name", &e.Name)
	c.Any("value", &e.Value)
	e.tag(c)
}
