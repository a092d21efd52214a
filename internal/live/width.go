package live

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	switch {
	case r == '\t':
		return 4, size
	case r < 0x300:
		return 1, size
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0, size
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2, size
	}
	return 1, size
}
