package chunks

import (
	"strconv"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// Error says that a chunk breaks a rule and cannot be expanded. It is fatal to the stream.
type Error struct {
	// Rule is the rule that is broken: P-CHK-2 (a first chunk lacks something), P-CHK-5 (a continuation
	// contradicts its opener), P-CHK-6 (the lane is contradicted or ambiguous) or P-PIPE-1 (the event has
	// not been decoded).
	Rule string
	// Ordinal is the event's place in its stream, counted from 1. It is 0 in what [Expander.Expand]
	// returns; the caller fills it in.
	Ordinal int
	// Type is the event's type.
	Type event.Type
	// Lane is the owner whose lane the event is about: the lane that holds the named stream, else the one
	// that the event's tag names.
	Lane messages.Owner
	// ID is the id of the stream that the event is about, "" if it names none and continues none.
	ID string
	// Reason is a clause for people.
	Reason string
}

// Error returns all that the error knows in one line.
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString(e.Rule)
	if e.Ordinal > 0 {
		s.WriteString(" event " + strconv.Itoa(e.Ordinal))
	}
	s.WriteString(" " + e.Type.String())
	if e.ID != "" {
		s.WriteString(" " + strconv.Quote(e.ID))
	}
	s.WriteString(" of " + codec.Owner(e.Lane.RunID()) + ": " + e.Reason)
	return s.String()
}
