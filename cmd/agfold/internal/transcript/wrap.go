package transcript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns is how many columns a clean text takes on a terminal, close enough to lay out by.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += RuneColumns(r)
	}
	return n
}

// RuneColumns is how many columns a character of a clean text takes on a terminal, close enough to lay out by.
func RuneColumns(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// wrap calls line with each line of a clean text, broken between words where it is wider than width. A word
// that is wider stays whole, so that it can be copied. What continues a line is indented as that line is.
// Breaking off is by returning false.
func wrap(text string, width int, line func(string) bool) bool {
	for part := range strings.SplitSeq(text, "\n") {
		if !wrapLine(part, width, line) {
			return false
		}
	}
	return true
}

func wrapLine(text string, width int, line func(string) bool) bool {
	text = strings.TrimRight(text, " \t")
	lead := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	if columns(lead) > width/2 {
		lead = ""
	}
	hang := lead + strings.Repeat(" ", bullet(text[len(lead):]))
	prefix := ""
	for {
		cut, next := breakAt(text, width-columns(prefix))
		if !line(prefix + text[:cut]) {
			return false
		}
		if text = text[next:]; text == "" {
			return true
		}
		prefix = hang
	}
}

// bullet is how long the mark of a list item is that text starts with, 0 if there is none.
func bullet(text string) int {
	for _, mark := range []string{"- ", "* ", "+ "} {
		if strings.HasPrefix(text, mark) {
			return len(mark)
		}
	}
	return 0
}

// breakAt finds where to end the first line of text, and where the next one begins.
func breakAt(text string, width int) (cut, next int) {
	cols, inWord := 0, false
	cut = -1
	for i, r := range text {
		space := r == ' ' || r == '\t'
		if space && inWord {
			cut = i
		}
		inWord = !space
		cols += RuneColumns(r)
		if inWord && cols > width && cut >= 0 {
			return cut, len(text) - len(strings.TrimLeft(text[cut:], " \t"))
		}
	}
	return len(text), len(text)
}

// Limits on what is drawn unless Style.Full is set.
const (
	maxBytes       = 4 << 10 // of one tool result, arguments text, or activity
	maxLines       = 14      // of the same
	maxStateLines  = 40
	maxResultBytes = 1 << 20 // of a tool result that is looked at for JSON
)

// block writes clean text in lines, at most limit of them and maxBytes in all, and says how much it left
// out. A negative limit means all.
func (p *page) block(text string, limit int) {
	total, shown, lines := len(text), 0, 0
	if limit >= 0 && total > maxBytes {
		text = text[:maxBytes]
		for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) && len(text) > maxBytes-utf8.UTFMax {
			text = text[:len(text)-1]
		}
	}
	done := wrap(text, p.room(), func(line string) bool {
		if lines == limit {
			return false
		}
		lines++
		shown += len(line) + 1
		p.line(line)
		return true
	})
	if left := total - min(shown, total); left > 0 && (!done || len(text) < total) {
		p.line(p.Paint(Dim, "… "+size(left)+" left out"))
	}
}

// cut shortens a clean line to width columns, with an ellipsis in place of the rest.
func cut(text string, width int) string {
	if len(text) <= width {
		return text
	}
	cols, end := 0, 0
	for i, r := range text {
		if n := RuneColumns(r); cols+n <= width {
			if cols += n; cols < width {
				end = i + utf8.RuneLen(r)
			}
		} else {
			return strings.TrimRight(text[:end], " ") + "…"
		}
	}
	return text
}

// size writes a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
