package event

import (
	"reflect"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Check judges an event that was made in Go by the rules that hold for events of the wire (P-ENF-4), so
// that an agent in the same process gets the same verdict as a remote one. What decoding would remove is
// malformed too. The error is a [*messages.MalformedError] with the path that the place has on the wire; nil pointers
// are errors too. Of a [Frame], Check reports what a lenient [Decoder] would.
func Check(ev Event) error {
	if f, ok := ev.(Frame); ok {
		_, _, err := NewDecoder(nil).Decode(f)
		return err
	}
	if isNil(ev) {
		return &messages.MalformedError{Rule: "P-ENF-4", Want: "an event", Found: "nil"}
	}
	name := ev.Type().String()
	verdict := codec.Check(ev.(typed), walkEvent)
	if f := verdict.Fault; f != nil && f.TooDeep {
		_, err := state.Parse(Append(nil, ev))
		return notEvent(err.Error(), name)
	}
	_, err := warningsOf(verdict, name, ownRule)
	return err
}

// isNil reports whether ev is nil or a nil pointer.
func isNil(ev Event) bool {
	v := reflect.ValueOf(ev)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
