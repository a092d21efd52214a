package state

import (
	"unicode/utf8"

	"github.com/agfold/agfold/internal/jsontext"
)

// ParsePartial returns what the beginning of a JSON text already says, for showing a value while it
// is still arriving. It never fails; text is neither changed nor kept.
//
// Strings, arrays and objects that are still open are closed where the text ends. What has no
// meaning yet is left out: a literal (tru), an escape or UTF-8 sequence that is cut, half of a
// surrogate pair, a member name without its value, the last part of a number that needs more (1.5e
// is 1.5). A number at the end counts although digits may follow, so a value may change as text
// arrives, but what has once been there does not go away. A text that says nothing yet gives an
// absent Value; a whole text gives what [Parse] does. What follows a fault or the end of the value
// is not looked at. Of a container that lies deeper than [DefaultMaxDepth] nothing is shown.
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

// stringPrefix returns the string at p.i as far as end, where it is cut.
func (p *parser) stringPrefix(end int) Value {
	raw := p.data[p.i+1 : end]
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
	return String(jsontext.Text(raw))
}

// cutPair reports whether s reads as the escape of the first half of a surrogate pair.
func cutPair(s []byte) bool {
	return s[0] == '\\' && s[1] == 'u' && s[2]|0x20 == 'd' &&
		(s[3] == '8' || s[3] == '9' || s[3]|0x20 == 'a' || s[3]|0x20 == 'b')
}

// escaped reports whether s ends in a backslash that escapes what follows.
func escaped(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
