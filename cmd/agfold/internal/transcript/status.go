package transcript

import (
	"fmt"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// Sign returns the sign of a run's or subagent's status, and the ink that both are drawn with.
func Sign(status fmt.Stringer) (term.Text, term.Ink) {
	switch status.String() {
	case "succeeded":
		return term.Lit("✓"), term.Green
	case "failed", "rejected":
		return term.Lit("✗"), term.Red
	case "interrupted", "suspended":
		return term.Lit("‖"), term.Yellow
	case "running":
		return term.Lit("…"), term.Blue
	}
	return term.Lit("!"), term.Yellow
}

// status draws a status with its sign around a title.
func (s Style) status(status fmt.Stringer, of ...term.Text) term.Text {
	sign, ink := Sign(status)
	return s.paint(ink, sign).Plus(term.Lit(" "), term.Join(dot, append(of, s.paint(ink, term.Line(status.String())))...))
}
