package event

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Event is one AG-UI event: one of the 31 typed structs of this package, by pointer, or a [Frame], which
// is an event as it arrived and not judged yet. The set is closed: all implementations are in this
// package. A retired event that is decoded without an [Upgrader] has no struct of its own, only its Type.
// An event must not be changed once it has been passed on; it is then safe for concurrent use.
type Event interface {
	// Type returns the event's type; of a Frame, TypeUnknown if its name is none of the 36.
	Type() Type
	// Owner returns who the event is attributed to: its subagentRunId, or the parent agent if it has none
	// or cannot carry one (P-VOC-3). Of a Frame that is not well-formed it is the parent agent.
	Owner() messages.Owner
	// MarshalJSON returns the event as it looks on the wire; see [Append].
	MarshalJSON() ([]byte, error)
	event()
}

// Base holds what every event may carry (P-VOC-1).
type Base struct {
	// Timestamp is by convention in milliseconds since the Unix epoch. It never orders events (P-VOC-2) and
	// lies within ±(2^53 - 1).
	Timestamp messages.Opt[int64]
	// RawEvent is the provider's own event, any JSON value or absent. It never drives behavior (P-VOC-2).
	RawEvent state.Value
	Metadata messages.Metadata
}

func (b *Base) base() *Base { return b }

func (*Base) event() {}

// Attribution says who an attributable event comes from (P-VOC-3). Write it with [By]:
//
//	event.TextMessageStart{Attribution: event.By(owner), MessageID: "m"}
type Attribution struct {
	SubagentRunID messages.Owner // the parent agent unless set
}

// By returns the attribution to owner.
func By(owner messages.Owner) Attribution { return Attribution{owner} }

// Owner returns SubagentRunID.
func (a Attribution) Owner() messages.Owner { return a.SubagentRunID }

// unattributed is part of the events that cannot be attributed.
type unattributed struct{}

// Owner returns the parent agent.
func (unattributed) Owner() messages.Owner { return messages.Owner{} }
