package live

import (
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// columns is how many columns a drawn line takes: colours take none. It is close enough to lay out by; a
// terminal that counts otherwise cuts the line at its edge (see Screen).
func columns(line string) int {
	n := 0
	for len(line) > 0 {
		cols, size := next(line)
		n += cols
		line = line[size:]
	}
	return n
}

// clip shortens a drawn line to width columns, with an ellipsis in place of the rest, and ends its colours.
func clip(line string, width int) string {
	if len(line) <= width || columns(line) <= width {
		return line
	}
	var b strings.Builder
	coloured := false
	for n := 0; ; {
		cols, size := next(line)
		if n+cols >= width {
			break
		}
		n += cols
		coloured = coloured || line[0] == 0x1b
		b.WriteString(line[:size])
		line = line[size:]
	}
	b.WriteString("…")
	if coloured {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// next measures the character or colour that a line begins with: its columns and its bytes.
func next(line string) (cols, size int) {
	if strings.HasPrefix(line, "\x1b[") {
		if end := strings.IndexByte(line, 'm'); end > 0 {
			return 0, end + 1
		}
	}
	r, size := utf8.DecodeRuneInString(line)
	return transcript.RuneColumns(r), size
}
