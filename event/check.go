package event

import (
	"reflect"
	"slices"

	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Check judges an event that was made in Go by the rules that hold for events of the wire (P-ENF-4), so
// that an agent in the same process gets the same verdict as a remote one. What decoding would remove is
// malformed too: whoever fills in a struct can do without. The error is a [*messages.MalformedError] with the path
// that the place has on the wire; nil pointers are errors too. Of a [Frame], Check reports what a lenient
// [Decoder] would. What streams often costs a few nanoseconds, other events an encoding and a decoding.
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
	v, err := state.Parse(ev.AppendJSON(nil))
	if err != nil { // values that nest too deeply
		return notEvent(err.Error(), name)
	}
	var r wire.Reader
	r.Document(func() { readEvent(&r, v, newEvent(ev.Type())) })
	_, err = verdict(&r, name, ownRule)
	return err
}

// isNil reports whether ev is nil or a nil pointer.
func isNil(ev Event) bool {
	v := reflect.ValueOf(ev)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// isPlain reports whether ev is an event in which nothing can be wrong: it holds ids and texts, and what else
// it holds is right at a glance. It never vouches for an event that Check would reject.
func isPlain(ev Event) bool {
	switch e := ev.(type) {
	case *TextMessageStart:
		return e != nil && isTextRole(e.Role) && e.isPlain()
	case *TextMessageContent:
		return e != nil && e.isPlain()
	case *TextMessageEnd:
		return e != nil && e.isPlain()
	case *TextMessageChunk:
		return e != nil && isTextRole(e.Role) && e.isPlain()
	case *ToolCallStart:
		return e != nil && e.isPlain()
	case *ToolCallArgs:
		return e != nil && e.isPlain()
	case *ToolCallEnd:
		return e != nil && e.isPlain()
	case *ToolCallChunk:
		return e != nil && e.isPlain()
	case *ReasoningMessageStart:
		return e != nil && e.isPlain()
	case *ReasoningMessageContent:
		return e != nil && e.isPlain()
	case *ReasoningMessageEnd:
		return e != nil && e.isPlain()
	case *ReasoningMessageChunk:
		return e != nil && e.isPlain()
	case *StepStarted:
		return e != nil && e.isPlain()
	case *StepFinished:
		return e != nil && e.isPlain()
	case *ReasoningStart:
		return e != nil && e.isPlain()
	case *ReasoningEnd:
		return e != nil && e.isPlain()
	case *ToolCallResult:
		return e != nil && e.Content.Exists() && !e.Content.IsParts() && (e.Role == "" || e.Role == messages.RoleTool) && e.isPlain()
	case *StateSnapshot:
		return e != nil && isPlainValue(e.Snapshot) && e.isPlain()
	case *StateDelta:
		return e != nil && isPlainPatch(e.Delta) && e.isPlain()
	case *ActivitySnapshot:
		return e != nil && e.Content.Kind() == state.KindObject && isPlainValue(e.Content) && e.isPlain()
	case *ActivityDelta:
		return e != nil && isPlainPatch(e.Patch) && e.isPlain()
	case *Raw:
		return e != nil && isPlainValue(e.Event) && e.isPlain()
	case *Custom:
		return e != nil && isPlainValue(e.Value) && e.isPlain()
	}
	return false
}

// plainDepth is how deep an open value may nest without a closer look at where in its event it stands.
const plainDepth = state.DefaultMaxDepth - 8

func isPlainValue(v state.Value) bool { return v.Exists() && v.Depth() <= plainDepth }

func isPlainPatch(p state.Patch) bool {
	for i := range p {
		op := &p[i]
		if !state.ValidPointer(op.Path) || op.Extra.Exists() || op.Value.Depth() > plainDepth {
			return false
		}
		switch op.Kind {
		case state.OpAdd, state.OpReplace, state.OpTest:
			if !op.Value.Exists() {
				return false
			}
		case state.OpMove, state.OpCopy:
			if !state.ValidPointer(op.From) {
				return false
			}
		case state.OpRemove:
		default:
			return false
		}
	}
	return true
}

// isPlain reports whether the common members are right at a glance: open values that do not nest deep, and a
// timestamp in range.
func (b *Base) isPlain() bool {
	t := b.Timestamp.Or(0)
	return b.RawEvent.Depth() <= plainDepth && b.RawEvent.Kind() != state.KindNull &&
		b.Metadata.Value().Depth() <= plainDepth && -wire.MaxInteger <= t && t <= wire.MaxInteger
}

// textRoles are the roles of a text message that is streamed.
var textRoles = []string{
	string(messages.RoleDeveloper), string(messages.RoleSystem), string(messages.RoleAssistant), string(messages.RoleUser),
}

func isTextRole(r messages.Role) bool { return r == "" || slices.Contains(textRoles, string(r)) }
