package term

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Columns returns how many columns a text of one line takes on a terminal: colors take none, ✅ and 漢 take two.
func (t Text) Columns() int {
	n := 0
	for s := t.s; s != ""; {
		size, cols, _ := step(s)
		n += cols
		s = s[size:]
	}
	return n
}

// step measures the first character, as a reader sees it, or escape sequence of s: its bytes, its columns, and whether a
// line may be broken after it (Unicode UAX #14). Spaces and other ASCII are left to the caller to break at.
func step(s string) (size, cols int, mayBreak bool) {
	if s[0] == 0x1b {
		return sequence(s), 0, false
	}
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1, false
	}
	cluster, _, boundaries, _ := uniseg.StepString(s[:min(len(s), nearby)], -1)
	if size, cols = head(cluster); size < len(cluster) {
		return size, cols, false
	}
	return size, cols, boundaries&uniseg.MaskLine == uniseg.LineCanBreak
}

// Limits on one character as a reader sees it. Unicode has none: any number of marks or joined emoji is one.
const (
	maxRunes   = 10
	maxColumns = 2
	nearby     = 64 // bytes, more than maxRunes and what follows them
)

// head measures the beginning of a grapheme cluster, usually all of it, that the limits allow.
func head(cluster string) (size, cols int) {
	n := 0
	for i := range cluster {
		if n++; n > maxRunes {
			cluster = cluster[:i]
			break
		}
	}
	for size = len(cluster); ; {
		cols = columns(cluster[:size])
		_, last := utf8.DecodeLastRuneInString(cluster[:size])
		if cols <= maxColumns || last == size {
			return size, min(cols, maxColumns)
		}
		size -= last
	}
}

// columns returns how many columns a grapheme cluster takes on a terminal, or on most terminals if they disagree:
// several leading consonants of Hangul are one character to Unicode, and so is a letter with a skin tone, but few
// terminals join them.
func columns(cluster string) int {
	consonants, tones := 0, 0
	for _, r := range cluster {
		switch {
		case r >= 0x1100 && r <= 0x115f, r >= 0xa960 && r <= 0xa97c:
			consonants += 2
		case r >= 0x1f3fb && r <= 0x1f3ff:
			tones += 2
		}
	}
	cols := uniseg.StringWidth(cluster)
	if cols < 2 {
		cols += tones
	}
	return max(cols, consonants)
}

// sequence returns the length of the escape sequence that s begins with.
func sequence(s string) int {
	for i := len("\x1b["); i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// Clip shortens a text of one line to width columns, with an ellipsis in place of the rest, and ends its colors. It
// costs no more than what it keeps.
func (t Text) Clip(width int) Text {
	if len(t.s) <= width {
		return t
	}
	cols, end, colored := 0, 0, false
	for i := 0; i < len(t.s); {
		size, n, _ := step(t.s[i:])
		if cols+n > width {
			text := strings.TrimRight(t.s[:end], " ") + "…"
			if colored {
				text += reset
			}
			return Text{text}
		}
		colored = colored || t.s[i] == 0x1b
		i += size
		if cols += n; cols < width {
			end = i
		}
	}
	return t
}

// Split cuts a text of one line in two, the first at most width columns wide.
func (t Text) Split(width int) (head, rest Text) {
	cols := 0
	for i := 0; i < len(t.s); {
		size, n, _ := step(t.s[i:])
		if cols += n; cols > width {
			return Text{t.s[:i]}, Text{t.s[i:]}
		}
		i += size
	}
	return t, Text{}
}

// Wrap yields the lines of a text, each at most width columns wide: broken between words, and within a word only if
// the word is wider. The continuation of a line is indented as that line is.
func (t Text) Wrap(width int) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		for part := range strings.SplitSeq(t.s, "\n") {
			if !wrapLine(part, max(width, 1), yield) {
				return
			}
		}
	}
}

// Fold breaks the lines that are wider than width columns and indents what continues them, so that no line begins at
// column 0 that did not before. A width of 0 leaves the text as it is.
func (t Text) Fold(width int) Text {
	if width == 0 {
		return t
	}
	const indent = "  "
	var b Builder
	for i, line := range strings.Split(t.s, "\n") {
		if i > 0 {
			b.b.WriteByte('\n')
		}
		if (Text{line}).Columns() <= width {
			b.b.WriteString(line)
			continue
		}
		first := true
		for row := range (Text{line}).Wrap(width - len(indent)) {
			if !first {
				b.b.WriteString("\n" + indent)
			}
			first = false
			b.Add(row)
		}
		b.b.WriteString(line[len(strings.TrimRight(line, " ")):])
	}
	return b.Text()
}

func wrapLine(text string, width int, yield func(Text) bool) bool {
	text = strings.TrimRight(text, " ")
	body := strings.TrimLeft(text, " ")
	lead := strings.Repeat(" ", min(len(text)-len(body), width/2))
	text = lead + body
	hang := lead
	if mark := bullet(body); len(lead)+mark <= width/2 {
		hang += strings.Repeat(" ", mark)
	}
	prefix := ""
	for {
		cut, next := breakAt(text, width-len(prefix))
		if !yield(Text{prefix + text[:cut]}) {
			return false
		}
		if text = text[next:]; text == "" {
			return true
		}
		prefix = hang
	}
}

// bullet returns the length of the mark of a list item that text starts with, 0 if there is none.
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
	for i := 0; i < len(text); {
		size, n, mayBreak := step(text[i:])
		space := size == 1 && text[i] == ' '
		if space && inWord {
			cut = i
		}
		inWord = !space
		cols += n
		if inWord && cols > width {
			if cut == 0 {
				cut = i // within the word
			}
			if cut == 0 {
				cut = size // one character is wider than the line
			}
			return len(strings.TrimRight(text[:cut], " ")), len(text) - len(strings.TrimLeft(text[cut:], " "))
		}
		i += size
		if mayBreak {
			cut = i
		}
	}
	return len(text), len(text)
}
