package event

import (
	"reflect"
	"slices"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// Check judges an event that was made in Go by the rules that hold for events of the wire (P-ENF-4), so
// that an agent in the same process gets the same verdict as a remote one. What decoding would remove is
// malformed too. The error is a [*messages.MalformedError] with the path that the place has on the wire; nil pointers
// are errors too. Of a [Frame], Check reports what a lenient [Decoder] would.
func Check(ev Event) error {
	if isPlain(ev) {
		return nil
	}
	if f, ok := ev.(Frame); ok {
		_, _, err := NewDecoder(nil).Decode(f)
		return err
	}
	if isNil(ev) {
		return &messages.MalformedError{Rule: "P-ENF-4", Want: "an event", Found: "nil"}
	}
	name := ev.Type().String()
	verdict := codec.Check(ev.(typed), walkEvent)
	if f := verdict.Fault; f != nil && f.TooDeep || verdict.Weight > maxValues {
		if err := FrameOfEvent(ev).Err(); err != nil {
			return err
		}
	}
	_, err := warningsOf(verdict, name, ownRule)
	return err
}

// isPlain reports whether ev is one of the events that make up most of a stream and holds only ids, texts and what is
// right at a glance: nothing in it can be malformed. It saves most of the cost of a check.
func isPlain(ev Event) bool {
	switch e := ev.(type) {
	case *TextMessageContent:
		return e != nil && e.isPlain()
	case *TextMessageEnd:
		return e != nil && e.isPlain()
	case *ToolCallArgs:
		return e != nil && e.isPlain()
	case *ToolCallEnd:
		return e != nil && e.isPlain()
	case *ReasoningMessageContent:
		return e != nil && e.isPlain()
	case *ReasoningMessageEnd:
		return e != nil && e.isPlain()
	case *TextMessageChunk:
		return e != nil && e.isPlain() && (e.Role == "" || slices.Contains(textRoles, e.Role))
	case *ToolCallChunk:
		return e != nil && e.isPlain()
	case *ReasoningMessageChunk:
		return e != nil && e.isPlain()
	}
	return false
}

func (b *Base) isPlain() bool {
	t := b.Timestamp.Or(0)
	return -codec.MaxInteger <= t && t <= codec.MaxInteger && !b.RawEvent.Exists() && !b.Metadata.Exists()
}

// isNil reports whether ev is nil or a nil pointer.
func isNil(ev Event) bool {
	v := reflect.ValueOf(ev)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
