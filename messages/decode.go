package messages

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/state"
)

// Removal says what unrecognized material decoding left out (P-ENF-2, P-ENF-3, P-ENF-5).
type Removal struct {
	Rule string // the rule that was applied
	Path string // a JSON pointer in the document to the place that was removed
	Text string // a sentence for people
}

// maxRemovals bounds how many removals decoding lists. One more says how many there are beyond.
const maxRemovals = 100

// Decode returns the message that v is, and what was left out of it. The error is a [*MalformedError]; a role that is
// none of the seven is malformed.
func Decode(v state.Value) (*Message, []Removal, error) {
	var m *Message
	verdict := codec.Decode(v, maxRemovals, &m, walkMessage)
	if verdict.Dropped {
		return nil, nil, &MalformedError{Rule: "P-ENF-4", Type: "Message", Path: "/role", Want: "one of the seven roles", Found: codec.Quote(string(m.Role))}
	}
	removals, err := judge(verdict, "Message")
	if err != nil {
		return nil, nil, err
	}
	return m, removals, nil
}

// DecodeContent returns the content that v is, a string or an array of parts, and what was left out of it. The error is
// a [*MalformedError].
func DecodeContent(v state.Value) (Content, []Removal, error) {
	var content Content
	removals, err := judge(codec.Decode(v, maxRemovals, &content, walkContent), "Content")
	if err != nil {
		return Content{}, nil, err
	}
	return content, removals, nil
}

func judge(v codec.Verdict, name string) ([]Removal, error) {
	if f := v.Fault; f != nil {
		return nil, &MalformedError{Rule: "P-ENF-4", Type: name, Path: f.Path, Want: f.Want, Found: f.Found}
	}
	var removals []Removal
	for _, r := range v.Removals {
		removals = append(removals, Removal(r))
	}
	return removals, nil
}

// UnmarshalJSON reads a message in its wire shape, as [Decode] does, and ignores what was left out. Text that is not
// JSON is a [*state.SyntaxError]. On an error m stays as it was.
func (m *Message) UnmarshalJSON(data []byte) error {
	v, err := state.Parse(data)
	if err != nil {
		return err
	}
	decoded, _, err := Decode(v)
	if err != nil {
		return err
	}
	*m = *decoded
	return nil
}
