package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a copy of the text of s, the inside of a literal that [SkipString] has accepted.
func Text(s []byte) string {
	n := plainUTF8(s)
	if n == len(s) {
		return string(s)
	}
	return string(AppendUnescaped(make([]byte, 0, len(s)+8), s))
}

// IsText reports whether s, the inside of a literal, is its own text: no escapes, and UTF-8.
func IsText(s []byte) bool { return plainUTF8(s) == len(s) }

// AppendUnescaped appends to dst the text of s, the inside of a literal that [SkipString] has accepted. Bytes that are
// not UTF-8 become U+FFFD each, as encoding/json has it; a surrogate escape without its partner becomes the three bytes
// that UTF-8 would use for it.
func AppendUnescaped(dst, s []byte) []byte {
	for len(s) > 0 {
		n := plainUTF8(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			break
		}
		if s[0] != '\\' {
			dst = append(dst, "\uFFFD"...)
			s = s[1:]
			continue
		}
		if s[1] != 'u' {
			dst = append(dst, unescaped(s[1]))
			s = s[2:]
			continue
		}
		r := hex4(s[2:])
		s = s[6:]
		if utf16.IsSurrogate(r) {
			if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(s[2:])); pair != utf8.RuneError {
					dst = utf8.AppendRune(dst, pair)
					s = s[6:]
					continue
				}
			}
			dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// plainUTF8 is the length of the longest prefix of s without a backslash and of valid UTF-8.
func plainUTF8(s []byte) int {
	i := 0
	for i < len(s) {
		if i+8 <= len(s) {
			x := binary.LittleEndian.Uint64(s[i:])
			slash := x ^ '\\'*lows
			m := ((slash-lows)&^slash | x) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch c := s[i]; {
		case c == '\\':
			return i
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				return i
			}
			i += n
		}
	}
	return i
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(s []byte) rune {
	var r rune
	for _, c := range s[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string literal. It escapes what RFC 8259 section 7 demands and
// nothing else, keeps a lone surrogate (see the package comment) as its escape, and writes other
// bytes that are not UTF-8 as \ufffd.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
				uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
			m := special(x) | x&highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
			dst = append(dst, s[start:i]...)
			r = utf8.RuneError
			if surrogate, ok := LoneSurrogate(s[i:]); ok {
				r, n = surrogate, 3
			}
			dst = appendEscape(dst, r)
			i += n
			start = i
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = appendEscape(dst, rune(c))
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// LoneSurrogate returns the surrogate whose three bytes s starts with, and whether it does.
func LoneSurrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}
