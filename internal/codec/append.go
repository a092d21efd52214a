package codec

import (
	"strconv"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// The Append functions write a member of an object whose opening brace, and maybe members, are the end of
// dst. Keys are plain ASCII.

// AppendKey appends a comma, unless the member is the first, and the key with its colon.
func AppendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// AppendString appends a string member.
func AppendString(dst []byte, key, value string) []byte {
	return jsontext.AppendString(AppendKey(dst, key), value)
}

// AppendNonEmpty appends a string member, or nothing if the string is empty.
func AppendNonEmpty(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return AppendString(dst, key, value)
}

// AppendInteger appends an integer member.
func AppendInteger(dst []byte, key string, value int64) []byte {
	return strconv.AppendInt(AppendKey(dst, key), value, 10)
}

// AppendBool appends a boolean member.
func AppendBool(dst []byte, key string, value bool) []byte {
	return strconv.AppendBool(AppendKey(dst, key), value)
}

// AppendValue appends a member, or nothing if the value is absent.
func AppendValue(dst []byte, key string, value state.Value) []byte {
	if !value.Exists() {
		return dst
	}
	return value.AppendJSON(AppendKey(dst, key))
}

// AppendList appends a list member, whose elements add appends.
func AppendList[T any](dst []byte, key string, items []T, add func([]byte, T) []byte) []byte {
	dst = append(AppendKey(dst, key), '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = add(dst, item)
	}
	return append(dst, ']')
}

// AppendOptList is AppendList, or appends nothing if items is nil.
func AppendOptList[T any](dst []byte, key string, items []T, add func([]byte, T) []byte) []byte {
	if items == nil {
		return dst
	}
	return AppendList(dst, key, items, add)
}
