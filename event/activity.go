package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ActivitySnapshot is ACTIVITY_SNAPSHOT: it creates or replaces an activity message.
type ActivitySnapshot struct {
	Base
	Attribution
	MessageID    string
	ActivityType string
	Content      state.Value        // an object
	Replace      messages.Opt[bool] // absent means true
}

// Type returns TypeActivitySnapshot.
func (*ActivitySnapshot) Type() Type { return TypeActivitySnapshot }

// AppendJSON appends the event as it looks on the wire.
func (e *ActivitySnapshot) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeActivitySnapshot)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "activityType", e.ActivityType)
	dst = wire.AppendValue(dst, "content", e.Content)
	dst = appendOptBool(dst, "replace", e.Replace)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ActivitySnapshot) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ActivitySnapshot) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.ActivityType = o.String("activityType")
	e.Content = o.Open("content")
	e.Replace = readOptBool(o, "replace")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ActivitySnapshot) event() {}

// ActivityDelta is ACTIVITY_DELTA: it patches an activity message's content.
type ActivityDelta struct {
	Base
	Attribution
	MessageID    string
	ActivityType string
	Patch        state.Patch
}

// Type returns TypeActivityDelta.
func (*ActivityDelta) Type() Type { return TypeActivityDelta }

// AppendJSON appends the event as it looks on the wire.
func (e *ActivityDelta) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeActivityDelta)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "activityType", e.ActivityType)
	dst = e.Patch.AppendJSON(wire.AppendKey(dst, "patch"))
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ActivityDelta) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ActivityDelta) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.ActivityType = o.String("activityType")
	e.Patch = wire.List(o, "patch", readOp)
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ActivityDelta) event() {}
