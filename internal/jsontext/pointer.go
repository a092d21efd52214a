package jsontext

import "strings"

// ValidPointer reports whether s is a JSON pointer (RFC 6901).
func ValidPointer(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '/' {
		return false
	}
	for i := strings.IndexByte(s, '~'); i >= 0; {
		if i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1' {
			return false
		}
		n := strings.IndexByte(s[i+1:], '~')
		if n < 0 {
			break
		}
		i += n + 1
	}
	return true
}

// AppendToken appends a slash and the token to a JSON pointer.
func AppendToken(dst []byte, token string) []byte {
	dst = append(dst, '/')
	for i := range len(token) {
		switch token[i] {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, token[i])
		}
	}
	return dst
}
