package event

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// ErrMalformed is what every [*MalformedError] matches. It is the same error as messages.ErrMalformed.
var ErrMalformed = messages.ErrMalformed

// MalformedError says that an event, a run input or a part of one is malformed, which is fatal and never
// repaired (P-ENF-4), that bytes are no frame (P-PIPE-2), or, in strict mode, that there is unrecognised
// material (P-ENF-7). It matches ErrMalformed.
type MalformedError struct {
	Rule    string // P-PIPE-2, P-ENF-4 or P-ENF-7; of Check also P-ENF-2, P-ENF-3 or P-ENF-5
	Ordinal int    // the place of the event in its stream, counted from 1; 0 when it is not known
	Type    string // the event's type as it came, or what else it is, such as "RunAgentInput"; "" if unknown
	Path    string // a JSON pointer in the event or other document
	Want    string // what belongs there
	Found   string // what is there
}

// Error names everything that is known in one line.
func (e *MalformedError) Error() string {
	var b strings.Builder
	b.WriteString(e.Rule)
	if e.Ordinal > 0 {
		fmt.Fprintf(&b, " event %d", e.Ordinal)
	}
	if e.Type != "" {
		b.WriteString(" " + e.Type)
	}
	if e.Path != "" {
		b.WriteString(" " + e.Path)
	}
	fmt.Fprintf(&b, ": want %s, found %s", e.Want, e.Found)
	return b.String()
}

// Unwrap returns ErrMalformed.
func (e *MalformedError) Unwrap() error { return ErrMalformed }

// described is what strict mode wants.
const described = "only what AG-UI " + ProtocolVersion + " describes"

// verdict turns what a reader found in the document called name into warnings or an error. With strict,
// the first removal is an error under the rule that strict names, or under its own if strict is "-".
func verdict(r *wire.Reader, name, strict string) ([]Warning, error) {
	if f := r.Fault(); f != nil {
		return nil, &MalformedError{Rule: "P-ENF-4", Type: name, Path: f.Path, Want: f.Want, Found: f.Found}
	}
	removals := r.Removals()
	if len(removals) == 0 {
		return nil, nil
	}
	if strict != "" {
		first := removals[0]
		rule := strict
		if strict == ownRule {
			rule = first.Rule
		}
		return nil, &MalformedError{Rule: rule, Type: name, Path: first.Path, Want: described, Found: "unrecognised material: " + first.Text}
	}
	warnings := make([]Warning, len(removals))
	for i, m := range removals {
		what := "removed: "
		if m.Path == "" {
			what = "dropped: "
		}
		warnings[i] = Warning{Rule: m.Rule, Type: name, Path: m.Path, Text: what + m.Text}
	}
	return warnings, nil
}

// ownRule as the strict rule of verdict means the rule of the removal.
const ownRule = "-"
