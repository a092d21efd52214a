package event

import (
	"github.com/agfold/agfold/internal/wire"
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

// AppendJSON appends the event as it looks on the wire.
func (e *Raw) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeRaw)
	dst = wire.AppendValue(dst, "event", e.Event)
	dst = appendOpt(dst, "source", e.Source)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *Raw) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *Raw) read(o *wire.Object) {
	e.Event = o.Any("event")
	e.Source = messages.ReadOpt(o, "source")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*Raw) event() {}

// Custom is CUSTOM: an event that producer and consumer have agreed on.
type Custom struct {
	Base
	Attribution
	Name  string
	Value state.Value // any JSON value, required
}

// Type returns TypeCustom.
func (*Custom) Type() Type { return TypeCustom }

// AppendJSON appends the event as it looks on the wire.
func (e *Custom) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeCustom)
	dst = wire.AppendString(dst, "name", e.Name)
	dst = wire.AppendValue(dst, "value", e.Value)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *Custom) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *Custom) read(o *wire.Object) {
	e.Name = o.String("name")
	e.Value = o.Any("value")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*Custom) event() {}
