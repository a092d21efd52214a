package state

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Errors that a [*PointerError] or a [*PatchError] matches.
var (
	// ErrPath: a pointer is malformed, or leads to nothing.
	ErrPath = errors.New("path not found")
	// ErrType: the value is of another kind than the one asked for.
	ErrType = errors.New("value of another kind")
)

// PointerError says why a pointer gave nothing. It matches what Err matches.
type PointerError struct {
	Pointer string // the whole pointer
	Reason  string // what is wrong, and where
	Err     error  // [ErrPath], [ErrType] or what encoding/json reported
}

// Error implements error.
func (e *PointerError) Error() string {
	return fmt.Sprintf("state: pointer %q: %s", e.Pointer, e.Reason)
}

// Unwrap returns Err.
func (e *PointerError) Unwrap() error { return e.Err }

// Pointer is a JSON pointer (RFC 6901) in its string form: "" for the whole value, or a token after
// each slash, in which ~0 stands for ~ and ~1 for a slash.
type Pointer string

// ValidPointer reports whether s is a JSON pointer.
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

// ParsePointer returns s as a Pointer, or a [*PointerError] if it is none.
func ParsePointer(s string) (Pointer, error) {
	if !ValidPointer(s) {
		return "", &PointerError{s, "not a JSON pointer", ErrPath}
	}
	return Pointer(s), nil
}

// Tokens yields the tokens of p with their escapes decoded. The iterator may be used again.
func (p Pointer) Tokens() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := string(p); rest != ""; {
			var token string
			token, rest = cutToken(rest)
			if !yield(token) {
				return
			}
		}
	}
}

// Append returns p with tokens, which it escapes, added at the end.
func (p Pointer) Append(tokens ...string) Pointer {
	dst := []byte(p)
	for _, token := range tokens {
		dst = appendToken(dst, token)
	}
	return Pointer(dst)
}

// cutToken returns the first token of a valid pointer that is not empty, decoded, and what follows.
func cutToken(pointer string) (token, rest string) {
	token = pointer[1:]
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	if strings.IndexByte(token, '~') >= 0 {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return token, rest
}

func appendToken(dst []byte, token string) []byte {
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

func appendIndex(dst []byte, i int) []byte {
	return strconv.AppendInt(append(dst, '/'), int64(i), 10)
}

// parseIndex returns the array index that token is, and whether it is one by RFC 6901 section 4:
// digits without leading zeros. One too large for an int comes back as -1.
func parseIndex(token string) (i int, ok bool) {
	if token == "" || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	for j := range len(token) {
		c := token[j] - '0'
		if c > 9 {
			return 0, false
		}
		if len(token) <= 18 {
			i = i*10 + int(c)
		}
	}
	if len(token) > 18 {
		return -1, true
	}
	return i, true
}

// child returns what token leads to in v, or why it leads nowhere.
func (v Value) child(token string) (Value, *fault) {
	switch v.Kind() {
	case KindObject:
		if m := v.n.c.get(token); m.Exists() {
			return m, nil
		}
		return Value{}, failf(ErrPath, "no member %q", token)
	case KindArray:
		i, err := v.index(token)
		if err != nil {
			return Value{}, err
		}
		return v.n.c.items.At(i), nil
	}
	return Value{}, failf(ErrPath, "%q leads into a value of kind %v", token, v.Kind())
}

// index returns the element of the array v that token names.
func (v Value) index(token string) (int, *fault) {
	i, ok := parseIndex(token)
	switch {
	case token == "-":
		return 0, failf(ErrPath, "- is the element after the last")
	case !ok:
		return 0, failf(ErrPath, "%q is not an array index", token)
	case i < 0 || i >= v.Len():
		return 0, failf(ErrPath, "no element %s in an array of %d", token, v.Len())
	}
	return i, nil
}

// fault is a reason with the sentinel that it matches.
type fault struct {
	kind   error
	reason string
}

func failf(kind error, format string, args ...any) *fault {
	return &fault{kind, fmt.Sprintf(format, args...)}
}

func (v Value) lookup(pointer string) (Value, *fault) {
	if !ValidPointer(pointer) {
		return Value{}, failf(ErrPath, "%q is not a JSON pointer", pointer)
	}
	if !v.Exists() {
		return Value{}, failf(ErrPath, "the document is absent")
	}
	for pointer != "" {
		var token string
		var err *fault
		token, pointer = cutToken(pointer)
		if v, err = v.child(token); err != nil {
			return Value{}, err
		}
	}
	return v, nil
}

// Lookup returns the value that pointer leads to in v (RFC 6901), or a [*PointerError] that matches
// [ErrPath].
func (v Value) Lookup(pointer string) (Value, error) {
	found, err := v.lookup(pointer)
	if err != nil {
		return Value{}, &PointerError{pointer, err.reason, err.kind}
	}
	return found, nil
}
