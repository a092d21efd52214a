package state

import (
	"unicode/utf8"

	"github.com/agfold/agfold/internal/jsontext"
)

// ParsePartial parses the beginning of a JSON text, to show a value while it is still arriving. It never
// fails, and neither changes nor keeps text.
//
// Strings, arrays and objects that are still open are closed where the text ends. Incomplete parts are left
// out: a literal (tru), an escape or UTF-8 sequence that is cut, half of a surrogate pair, a member name
// without its value, and the end of a number that needs more digits (1.5e is 1.5). A number at the end
// counts although more digits may follow, so a value may change as text arrives, but no part disappears.
// If the text has no value yet, the result is absent; for a complete text it is the same as from [Parse].
// Everything after a syntax error or after the end of the value is ignored, and so are arrays and objects
// that are nested more than [DefaultMaxDepth] levels deep.
func ParsePartial[T string | []byte](text T) Value {
	p := parser{data: []byte(text), partial: true}
	v, _ := p.value(DefaultMaxDepth)
	return v
}

// numberPrefix returns the longest number at p.i that ends at or before end.
func (p *parser) numberPrefix(end int) Value {
	for ; end > p.i; end-- {
		literal := p.data[p.i:end]
		if n, err := jsontext.SkipNumber(literal, 0); err == nil && n == len(literal) {
			return number(string(literal))
		}
	}
	return Value{}
}

// stringPrefix returns the string from p.i to end, where it is cut.
func (p *parser) stringPrefix(end int) Value {
	return String(jsontext.Text(withoutCut(p.data[p.i+1 : end])))
}

// withoutCut returns raw, the beginning of the inside of a string literal, without half of a surrogate pair or a UTF-8
// sequence that is cut at its end.
func withoutCut(raw []byte) []byte {
	if n := len(raw); n >= 6 && cutPair(raw[n-6:]) && !escaped(raw[:n-6]) {
		raw = raw[:n-6]
	}
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if last := raw[len(raw)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				raw = raw[:len(raw)-n]
			}
			break
		}
	}
	return raw
}

// cutPair reports whether s reads as the escape of the first half of a surrogate pair.
func cutPair(s []byte) bool {
	return s[0] == '\\' && s[1] == 'u' && s[2]|0x20 == 'd' &&
		(s[3] == '8' || s[3] == '9' || s[3]|0x20 == 'a' || s[3]|0x20 == 'b')
}

// escaped reports whether s ends in a backslash that escapes the next byte.
func escaped(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
