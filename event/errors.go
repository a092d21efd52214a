package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// described is what strict mode wants.
const described = "only what AG-UI " + ProtocolVersion + " describes"

// verdict turns what a reader found in the document called name into warnings or an error. With strict,
// the first removal is an error under the rule that strict names, or under its own if strict is "-".
func verdict(r *wire.Reader, name, strict string) ([]Warning, error) {
	if f := r.Fault(); f != nil {
		return nil, &messages.MalformedError{Rule: "P-ENF-4", Type: name, Path: f.Path, Want: f.Want, Found: f.Found}
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
		return nil, &messages.MalformedError{Rule: rule, Type: name, Path: first.Path, Want: described, Found: "unrecognised material: " + first.Text}
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
