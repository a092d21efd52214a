package transcript

import (
	"fmt"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// maxName bounds the columns of an id or name. Some are repeated often: a subagent's name is drawn with each of its messages.
const maxName = 80

// name draws an id or a name.
func name(s string) term.Text { return term.Line(s[:min(len(s), 8*maxName)]).Clip(maxName) }

// Count returns a number of things, such as "1 message" or "2 messages".
func Count(n int, what string) term.Text {
	if n != 1 {
		what += "s"
	}
	return term.Sprintf("%d %s", n, what)
}

// size writes a number of bytes for people.
func size(n int) term.Text {
	switch {
	case n < 1000:
		return Count(n, "byte")
	case n < 1000_000:
		return term.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return term.Sprintf("%.1f MB", float64(n)/1e6)
}

// grouped writes a number with a space between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
