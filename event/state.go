package event

import (
	"github.com/agfold/agfold/internal/codec"
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

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e StateSnapshot) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *StateSnapshot) members(c *codec.Codec) {
	c.Any("snapshot", &e.Snapshot)
	e.tag(c)
}

// StateDelta is STATE_DELTA: it patches the shared state.
type StateDelta struct {
	Base
	Attribution
	Delta state.Patch
}

// Type returns TypeStateDelta.
func (*StateDelta) Type() Type { return TypeStateDelta }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e StateDelta) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *StateDelta) members(c *codec.Codec) {
	codec.Field(c, "delta", &e.Delta, walkPatch)
	e.tag(c)
}
