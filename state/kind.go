package state

import "strconv"

// Kind is the kind of a [Value].
type Kind uint8

// The kinds: absent, which is no JSON value at all, and those of RFC 8259 section 3.
const (
	KindAbsent Kind = iota
	KindNull
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
