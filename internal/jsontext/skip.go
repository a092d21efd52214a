package jsontext

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// SyntaxError says where a text stops being JSON (RFC 8259).
type SyntaxError struct {
	Offset int    // in bytes, of the first byte that cannot be
	Reason string // what was found or missing there
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, in the high bit of each byte of the result, the bytes of x that have a meaning of their own
// in a string: quote, backslash and control characters. Only the lowest mark is exact.
func special(x uint64) uint64 {
	quote := x ^ '"'*lows
	slash := x ^ '\\'*lows
	return ((x-0x20*lows)&^x | (quote-lows)&^quote | (slash-lows)&^slash) & highs
}

// Plain returns the index of the first quote, backslash or control character in data at or after i,
// or len(data).
func Plain(data []byte, i int) int {
	for i+8 <= len(data) {
		if m := special(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(data) {
		if c := data[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
		i++
	}
	return i
}

// Space returns the index of the first byte of data at or after i that is not JSON white space, or
// len(data).
func Space(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' {
		switch data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// SkipString returns the index after the string literal whose opening quote is data[i]. It checks
// escapes and control characters; bytes that are not UTF-8 pass.
func SkipString(data []byte, i int) (int, error) {
	start := i
	i++
	for {
		i = Plain(data, i)
		if i >= len(data) {
			return i, &SyntaxError{i, "unexpected end in string"}
		}
		switch data[i] {
		case '"':
			return i + 1, nil
		case '\\':
			n := escapeLen(data[i:])
			if n == 0 {
				return i, &SyntaxError{i, "invalid escape in string"}
			}
			i += n
		default:
			return i, &SyntaxError{i, fmt.Sprintf("control character in string that starts at byte %d", start)}
		}
	}
}

// SkipText is [SkipString] and reports whether the string is plain: ASCII without escapes, so that its text is what
// is between the quotes.
func SkipText(data []byte, i int) (end int, plain bool, err error) {
	start := i
	var all uint64
	for i++; i+8 <= len(data); i += 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		if m := special(x); m != 0 {
			n := bits.TrailingZeros64(m) &^ 7
			all |= x & (1<<n - 1)
			i += n >> 3
			break
		}
		all |= x
	}
	for ; i < len(data) && data[i] >= ' ' && data[i] != '\\'; i++ {
		if data[i] == '"' {
			return i + 1, all&highs == 0, nil
		}
		all |= uint64(data[i])
	}
	end, err = SkipString(data, start)
	return end, false, err
}

// escapeLen is the length of the escape that s starts with, 0 if it is none.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) >= 6 && isHex(s[2]) && isHex(s[3]) && isHex(s[4]) && isHex(s[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// SkipNumber returns the index after the number literal that starts at data[i].
func SkipNumber(data []byte, i int) (int, error) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	first := i
	i = digits(data, i)
	switch {
	case i == first:
		return i, number(data, i, "digit expected in number")
	case data[first] == '0' && i > first+1:
		return first + 1, &SyntaxError{first + 1, "number with a leading zero"}
	}
	if i < len(data) && data[i] == '.' {
		end := digits(data, i+1)
		if end == i+1 {
			return end, number(data, end, "digit expected after the decimal point")
		}
		i = end
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := digits(data, i)
		if end == i {
			return end, number(data, end, "digit expected in exponent")
		}
		i = end
	}
	return i, nil
}

func number(data []byte, i int, reason string) error {
	if i >= len(data) {
		reason = "unexpected end in number"
	}
	return &SyntaxError{i, reason}
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}

// SkipLiteral returns the index after word, which must start at data[i].
func SkipLiteral(data []byte, i int, word string) (int, error) {
	for j := range len(word) {
		if i+j >= len(data) {
			return i + j, &SyntaxError{i + j, "unexpected end in literal " + word}
		}
		if data[i+j] != word[j] {
			return i + j, &SyntaxError{i + j, "invalid literal, " + word + " expected"}
		}
	}
	return i + len(word), nil
}

// Unexpected is the error for the byte at data[i], or the end of data, where want should be.
func Unexpected(data []byte, i int, want string) error {
	if i >= len(data) {
		return &SyntaxError{len(data), "unexpected end, " + want + " expected"}
	}
	return &SyntaxError{i, fmt.Sprintf("unexpected %q, %s expected", data[i], want)}
}

// TooDeep is the error for a container at offset i that lies deeper than the limit allows.
func TooDeep(i int) error {
	return &SyntaxError{i, "nested too deeply"}
}

// Skip checks the one JSON value that starts at or after data[i], after white space, and returns the
// index after it. At most depth containers may be open at once. White space after the value is not
// consumed. On failure end is the offset of the fault and err a [*SyntaxError].
func Skip(data []byte, i, depth int) (end int, err error) {
	// The kinds of the open containers, a bit each, innermost lowest; true is an object. The
	// fixed part serves the depths that occur, the slice the others.
	var word uint64
	var more []uint64
	open := 0

value:
	i = Space(data, i)
	if i >= len(data) {
		return i, Unexpected(data, i, "a value")
	}
	switch c := data[i]; c {
	case '{', '[':
		if open++; open > depth {
			return i, TooDeep(i)
		}
		if open&63 == 0 {
			more = append(more, word)
		}
		if word <<= 1; c == '{' {
			word |= 1
		}
		i = Space(data, i+1)
		if i < len(data) && data[i] == c+2 { // } or ]
			goto closing
		}
		if c == '{' {
			goto key
		}
		goto value
	case '"':
		i, err = SkipString(data, i)
	case 't':
		i, err = SkipLiteral(data, i, "true")
	case 'f':
		i, err = SkipLiteral(data, i, "false")
	case 'n':
		i, err = SkipLiteral(data, i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		i, err = SkipNumber(data, i)
	default:
		return i, Unexpected(data, i, "a value")
	}
	if err != nil {
		return i, err
	}

after:
	if open == 0 {
		return i, nil
	}
	i = Space(data, i)
	if word&1 == 0 {
		if i < len(data) && data[i] == ',' {
			i++
			goto value
		}
		if i >= len(data) || data[i] != ']' {
			return i, Unexpected(data, i, "a comma or ]")
		}
		goto closing
	}
	if i < len(data) && data[i] == ',' {
		i = Space(data, i+1)
		goto key
	}
	if i >= len(data) || data[i] != '}' {
		return i, Unexpected(data, i, "a comma or }")
	}

closing:
	i++
	if open&63 == 0 {
		word = more[len(more)-1]
		more = more[:len(more)-1]
	} else {
		word >>= 1
	}
	open--
	goto after

key:
	if i >= len(data) || data[i] != '"' {
		return i, Unexpected(data, i, "a member name")
	}
	if i, err = SkipString(data, i); err != nil {
		return i, err
	}
	i = Space(data, i)
	if i >= len(data) || data[i] != ':' {
		return i, Unexpected(data, i, "a colon")
	}
	i++
	goto value
}
