package state

import "strconv"

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of JSON values (RFC 8259 section 3), and KindAbsent, which is not a JSON value.
const (
	KindAbsent Kind = iota
	KindNull        // what is above it is there and not null
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}

// String returns the kind's name: "absent", "null", "boolean", "number", "string", "array" or
// "object".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// MarshalText returns the kind's name, like String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
