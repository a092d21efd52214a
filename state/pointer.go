package state

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agfold/agfold/internal/jsontext"
)

// Errors that a [*PointerError] or a [*PatchError] wraps.
var (
	// ErrPath is the error for a pointer that is malformed or leads to nothing.
	ErrPath = errors.New("path not found")
	// ErrType is the error for a value that cannot be converted to the type asked for.
	ErrType = errors.New("value of another kind")
)

// PointerError is the error for a pointer that leads to nothing, or to a value of another type.
type PointerError struct {
	Pointer string // the whole pointer
	Reason  string // what is wrong, and where
	Err     error  // [ErrPath], [ErrType] or the error of encoding/json
}

// Error implements error.
func (e *PointerError) Error() string {
	return fmt.Sprintf("pointer %q: %s", e.Pointer, e.Reason)
}

// Unwrap returns Err.
func (e *PointerError) Unwrap() error { return e.Err }

// Pointer returns the JSON pointer (RFC 6901) with those tokens: member names, or array indices in decimal.
// It escapes the tokens. Pointer() is "", the pointer to the whole value.
func Pointer(tokens ...string) string {
	var dst []byte
	for _, token := range tokens {
		dst = jsontext.AppendToken(dst, token)
	}
	return string(dst)
}

// cutToken returns the first token, decoded, of a valid pointer that is not empty, and the rest.
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

func appendIndex(dst []byte, i int) []byte {
	return strconv.AppendInt(append(dst, '/'), int64(i), 10)
}

// parseIndex parses an array index by RFC 6901 section 4: digits without leading zeros. An index that is
// too large for an int is returned as -1.
func parseIndex(token string) (i int, ok bool) {
	if token == "" || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	for j := range len(token) {
		c := token[j] - '0'
		if c > 9 {
			return 0, false
		}
		if i > (math.MaxInt-9)/10 {
			i = -1
		}
		if i >= 0 {
			i = i*10 + int(c)
		}
	}
	return i, true
}

// child returns the part of v that token leads to, or why it leads nowhere.
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
	return Value{}, failf(ErrPath, "%q leads into a %v", token, v.Kind())
}

// index returns the index of the element of the array v that token names.
func (v Value) index(token string) (int, *fault) {
	i, ok := parseIndex(token)
	switch {
	case token == "-":
		return 0, failf(ErrPath, "\"-\" is the place after the last element")
	case !ok:
		return 0, failf(ErrPath, "%q is not an array index", token)
	case i < 0 || i >= v.Len():
		return 0, failf(ErrPath, "no element %s in an array of %d", token, v.Len())
	}
	return i, nil
}

// fault is a reason and the sentinel error that it belongs to.
type fault struct {
	kind   error
	reason string
}

func failf(kind error, format string, args ...any) *fault {
	return &fault{kind, fmt.Sprintf(format, args...)}
}

func (v Value) lookup(pointer string) (Value, *fault) {
	if !jsontext.ValidPointer(pointer) {
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

// Lookup returns the part of v that pointer (RFC 6901) leads to. The error is a [*PointerError] that
// wraps [ErrPath].
func (v Value) Lookup(pointer string) (Value, error) {
	found, err := v.lookup(pointer)
	if err != nil {
		return Value{}, &PointerError{pointer, err.reason, err.kind}
	}
	return found, nil
}
