package transcript

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Clean returns s with everything that could control a terminal made visible: C0 and C1 control
// characters, DEL, ESC among them, and the characters that turn the direction of text, are written as \x1b
// or \u202e. Line feed and tab stay, CR LF becomes LF, and what is not UTF-8 becomes U+FFFD.
func Clean(s string) string {
	i := 0
	for i < len(s) && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t') {
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
		case r != '\n' && r != '\t' && isControl(r):
			b.WriteString(escape(r))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// CleanLine is Clean for what has to stay on one line: line feeds and tabs are made visible too.
func CleanLine(s string) string {
	s = Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
}

// CleanJSON appends the JSON text to dst with the control characters that JSON leaves alone (DEL, C1 and
// those that turn the direction of text) written as \u escapes, which mean the same.
func CleanJSON(dst, text []byte) []byte {
	from := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r != utf8.RuneError && isControl(r) {
			dst = append(dst, text[from:i]...)
			dst = append(dst, `\u`...)
			dst = append(dst, hex4(r)...)
			from = i + n
		}
		i += n
	}
	return append(dst, text[from:]...)
}

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
