package term

import (
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is text that is safe to print: clean, but for the colors that [Colors.Paint] adds. It is an immutable value
// and comparable. The zero Text is empty.
type Text struct{ s string }

// Constant is a string written in the program's source: a constant converts to it implicitly, a variable does not.
type Constant string

// Lit returns a constant of the program as it is.
func Lit(s Constant) Text { return Text{string(s)} }

// Clean returns s with everything that could control a terminal made visible: C0 and C1 control characters, DEL and
// the characters that turn the direction of text become \x1b or \u202e. Line feeds stay, CR LF becomes a line feed, a
// tab becomes four spaces, and bytes that are not UTF-8 become U+FFFD.
func Clean(s string) Text { return Text{clean(s, false)} }

// Line is [Clean] for text that has to stay on one line: line feeds and tabs become \n and \t.
func Line(s string) Text { return Text{clean(s, true)} }

// JSON returns JSON text with the control characters that JSON allows in strings (DEL, C1 and those that turn the
// direction of text) written as \u escapes, which mean the same.
func JSON(text []byte) Text { return Text{string(cleanJSON(text))} }

// Sprintf formats like [fmt.Sprintf]. Each argument that is not a Text becomes a [Line].
func Sprintf(format Constant, args ...any) Text {
	cleaned := make([]any, len(args))
	for i, arg := range args {
		cleaned[i] = argument{arg}
	}
	return Text{fmt.Sprintf(string(format), cleaned...)}
}

// argument formats a value in one clean line.
type argument struct{ value any }

func (a argument) Format(f fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(f, verb), a.value)
	if _, safe := a.value.(Text); !safe {
		text = withoutSecrets(clean(text, true))
	}
	io.WriteString(f, text)
}

// Concat joins texts.
func Concat(parts ...Text) Text {
	var b Builder
	b.Add(parts...)
	return b.Text()
}

// Join joins the texts that are not empty with a separator.
func Join(separator Text, parts ...Text) Text {
	var b Builder
	for _, part := range parts {
		if part.Empty() {
			continue
		}
		if b.Len() > 0 {
			b.Add(separator)
		}
		b.Add(part)
	}
	return b.Text()
}

// URL returns a URL without the user name and password that it may hold.
func URL(s string) Text { return Line(withoutSecrets(s)) }

// secret is the beginning of a URL with a user name or password, up to the host.
var secret = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#]*@`)

// withoutSecrets removes user names and passwords from the URLs in s.
func withoutSecrets(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	if u, err := url.Parse(s); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return secret.ReplaceAllString(s, "$1")
}

// String returns the text.
func (t Text) String() string { return t.s }

// Empty reports whether there is no text.
func (t Text) Empty() bool { return t.s == "" }

// Plus returns t followed by more.
func (t Text) Plus(more ...Text) Text { return Concat(append([]Text{t}, more...)...) }

// Repeat returns t n times, not at all if n is negative.
func (t Text) Repeat(n int) Text { return Text{strings.Repeat(t.s, max(n, 0))} }

// Trim returns t without the spaces and line feeds around it.
func (t Text) Trim() Text { return Text{strings.Trim(t.s, " \n")} }

// TrimRight returns t without the spaces at its end.
func (t Text) TrimRight() Text { return Text{strings.TrimRight(t.s, " ")} }

// Lines returns the lines of a text; a line feed at the end does not begin one.
func (t Text) Lines() []Text {
	var lines []Text
	for line := range strings.SplitSeq(strings.TrimSuffix(t.s, "\n"), "\n") {
		lines = append(lines, Text{line})
	}
	return lines
}

// Builder collects texts into one. The zero value is empty. It must not be copied.
type Builder struct{ b strings.Builder }

// Add appends texts.
func (b *Builder) Add(parts ...Text) {
	for _, part := range parts {
		b.b.WriteString(part.s)
	}
}

// Len returns the number of bytes.
func (b *Builder) Len() int { return b.b.Len() }

// Text returns what was added.
func (b *Builder) Text() Text { return Text{b.b.String()} }

func clean(s string, oneLine bool) string {
	i := 0
	for i < len(s) && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' && !oneLine) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case r == '\n' && oneLine:
			b.WriteString(`\n`)
		case r == '\t' && oneLine:
			b.WriteString(`\t`)
		case r == '\t':
			b.WriteString("    ")
		case r != '\n' && isControl(r):
			b.WriteString(escape(r))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// cleanJSON returns text itself if there is nothing to escape.
func cleanJSON(text []byte) []byte {
	var dst []byte
	from := 0
	for i := 0; i < len(text); {
		if text[i] >= 0x20 && text[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r != utf8.RuneError && isControl(r) {
			dst = append(dst, text[from:i]...)
			dst = append(append(dst, `\u`...), hex4(r)...)
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return text
	}
	return append(dst, text[from:]...)
}

// isControl reports whether r could control a terminal or reorder what it shows.
func isControl(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	}
	return r == 0x2028 || r == 0x2029
}

func escape(r rune) string {
	if r < 0x100 {
		return `\x` + hex4(r)[2:]
	}
	return `\u` + hex4(r)
}

func hex4(r rune) string {
	s := strconv.FormatInt(int64(r), 16)
	return "0000"[len(s):] + s
}
