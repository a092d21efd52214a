package messages

import (
	"fmt"
	"strings"
)

// MalformedError says that an event, a run input or a part of one is malformed, which is fatal and never
// repaired (P-ENF-4), that data is not an event (P-PIPE-2), or, in strict mode, that there is unrecognized
// material (P-ENF-7).
type MalformedError struct {
	Rule    string // P-PIPE-2, P-ENF-4 or P-ENF-7; of Check also P-ENF-2, P-ENF-3 or P-ENF-5
	Ordinal int    // the place of the event in its stream, counted from 1; 0 when it is not known
	Type    string // the event's type as it came, or what else it is, such as "RunAgentInput"; "" if unknown
	Path    string // a JSON pointer in the event or other document
	Want    string // what belongs there
	Found   string // what is there
	Hint    string // what would help, such as the repair of package client/lenient that would; "" if nothing is known
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
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}
