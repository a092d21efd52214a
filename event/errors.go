package event

import (
	"fmt"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// described is what strict mode wants.
const described = "only what AG-UI " + ProtocolVersion + " describes"

// ownRule as the strict rule of warningsOf means the rule of the removal.
const ownRule = "-"

// warningsOf turns what was found in the document called name into warnings or an error. With strict, the first
// removal is an error under the rule that strict names, or under its own if strict is [ownRule].
func warningsOf(v codec.Verdict, name, strict string) ([]Warning, error) {
	if f := v.Fault; f != nil {
		return nil, &messages.MalformedError{Rule: "P-ENF-4", Type: name, Path: f.Path, Want: f.Want, Found: f.Found}
	}
	if len(v.Removals) == 0 {
		return nil, nil
	}
	if strict != "" {
		first := v.Removals[0]
		rule := strict
		if strict == ownRule {
			rule = first.Rule
		}
		return nil, &messages.MalformedError{Rule: rule, Type: name, Path: first.Path, Want: described, Found: "unrecognized material: " + first.Text}
	}
	warnings := make([]Warning, len(v.Removals), len(v.Removals)+1)
	for i, m := range v.Removals {
		what := "removed: "
		if m.Path == "" {
			what = "dropped: "
		}
		warnings[i] = Warning{Rule: m.Rule, Type: name, Path: m.Path, Text: what + m.Text}
	}
	if v.More > 0 {
		last := v.Removals[len(v.Removals)-1]
		warnings = append(warnings, Warning{Rule: last.Rule, Type: name, Text: fmt.Sprintf("%d more were removed, which are not listed", v.More)})
	}
	return warnings, nil
}
