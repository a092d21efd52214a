package event

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Event is one AG-UI event: one of the 36 typed structs of this package, by pointer, or a [Frame], which
// is an event as it arrived and not judged yet. The set is closed: all implementations are in this
// package. An event must not be changed once it has been handed on; it is then safe for concurrent use.
type Event interface {
	// Type returns the event's type; of a Frame, TypeUnknown if its name is none of the 36.
	Type() Type
	// Owner returns who the event is attributed to: its subagentRunId, or the parent agent if it has none
	// or cannot carry one (P-VOC-3). Of a Frame that is not well-formed it is the parent agent.
	Owner() Owner
	// AppendJSON appends the event as it looks on the wire, one flat object with type first.
	AppendJSON(dst []byte) []byte
	event()
}

// Owner says who an event is attributed to: the zero value is the parent agent. See [messages.Owner].
type Owner = messages.Owner

// Opt is an optional scalar. See [messages.Opt].
type Opt[T any] = messages.Opt[T]

// Subagent returns the owner that is the subagent invocation with this id.
func Subagent(runID string) Owner { return messages.Subagent(runID) }

// Some returns a present optional value.
func Some[T any](v T) Opt[T] { return messages.Some(v) }

// Base holds what every event may carry (P-VOC-1).
type Base struct {
	// Timestamp is by convention in milliseconds since the Unix epoch. It never orders events (P-VOC-2) and
	// lies within ±(2^53 - 1).
	Timestamp Opt[int64]
	// RawEvent is the provider's own event, any JSON value or absent. It never drives behaviour (P-VOC-2).
	RawEvent state.Value
	Metadata messages.Metadata
}

// Common returns the event's common members.
func (b *Base) Common() *Base { return b }
