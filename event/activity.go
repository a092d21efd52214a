package event

import (
	"github.com/agfold/agfold/internal/codec"
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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ActivitySnapshot) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ActivitySnapshot) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.String("activityType", &e.ActivityType)
	c.Open("content", &e.Content)
	optBool(c, "replace", &e.Replace)
	e.tag(c)
}

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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ActivityDelta) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ActivityDelta) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.String("activityType", &e.ActivityType)
	codec.Field(c, "patch", &e.Patch, walkPatch)
	e.tag(c)
}
