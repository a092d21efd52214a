package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// StateSnapshot is STATE_SNAPSHOT: it replaces the shared state.
type StateSnapshot struct {
	Base
	Attribution
	Snapshot state.Value // any JSON value, null too
}

// Type returns TypeStateSnapshot.
func (*StateSnapshot) Type() Type { return TypeStateSnapshot }

// AppendJSON appends the event as it looks on the wire.
func (e *StateSnapshot) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeStateSnapshot)
	dst = wire.AppendValue(dst, "snapshot", e.Snapshot)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *StateSnapshot) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *StateSnapshot) read(o *wire.Object) {
	e.Snapshot = o.Any("snapshot")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*StateSnapshot) event() {}

// StateDelta is STATE_DELTA: it patches the shared state.
type StateDelta struct {
	Base
	Attribution
	Delta state.Patch
}

// Type returns TypeStateDelta.
func (*StateDelta) Type() Type { return TypeStateDelta }

// AppendJSON appends the event as it looks on the wire.
func (e *StateDelta) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeStateDelta)
	dst = e.Delta.AppendJSON(wire.AppendKey(dst, "delta"))
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *StateDelta) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *StateDelta) read(o *wire.Object) {
	e.Delta = wire.List(o, "delta", readOp)
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*StateDelta) event() {}

// MessagesSnapshot is MESSAGES_SNAPSHOT: it restates the conversation.
type MessagesSnapshot struct {
	Base
	Messages []*messages.Message
}

// Type returns TypeMessagesSnapshot.
func (*MessagesSnapshot) Type() Type { return TypeMessagesSnapshot }

// Owner returns the parent agent: the type cannot be attributed.
func (*MessagesSnapshot) Owner() messages.Owner { return messages.Owner{} }

// AppendJSON appends the event as it looks on the wire.
func (e *MessagesSnapshot) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeMessagesSnapshot)
	dst = wire.AppendList(dst, "messages", e.Messages, appendMessage)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *MessagesSnapshot) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *MessagesSnapshot) read(o *wire.Object) {
	e.Messages = wire.List(o, "messages", messages.Decode)
}

func (*MessagesSnapshot) event() {}
