package event

import (
	"fmt"

	"github.com/agfold/agfold/internal/codec"
)

// Warning says that something in a stream was tolerated: removed, converted or skipped. It is a plain
// value, never an error (P-ENF-1 to 3, P-CMP-1).
type Warning struct {
	Rule    string // the rule of the protocol that was applied, such as "P-ENF-2"
	Ordinal int    // the place of the event in its stream, counted from 1; 0 when it is about no event
	Type    string // the event's type as it came, which may be none of the 36
	Path    string // a JSON pointer in the event, or the id of what the warning is about, or ""
	Text    string // a sentence for people
}

// String returns the warning in one line, rule and ordinal first.
func (w Warning) String() string {
	s := w.Rule
	if w.Ordinal > 0 {
		s += fmt.Sprintf(" event %d", w.Ordinal)
	}
	if w.Type != "" {
		s += " " + w.Type
	}
	if w.Path != "" {
		s += " " + w.Path
	}
	return s + ": " + w.Text
}

// MarshalJSON returns the warning as one object: rule, ordinal, type, path, text. The error is always nil.
func (w Warning) MarshalJSON() ([]byte, error) {
	dst := codec.AppendString([]byte{'{'}, "rule", w.Rule)
	dst = codec.AppendInteger(dst, "ordinal", int64(w.Ordinal))
	dst = codec.AppendString(dst, "type", w.Type)
	dst = codec.AppendString(dst, "path", w.Path)
	return append(codec.AppendString(dst, "text", w.Text), '}'), nil
}
