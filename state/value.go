package state

import (
	"encoding/json"
	"iter"
	"strconv"

	"github.com/agfold/agfold/internal/seq"
)

// Value is a JSON value. It is immutable and safe for concurrent use. A changed Value shares every part
// that did not change with the old one. The zero Value is absent: it is not a JSON value, which is
// not the same as null.
//
// Numbers keep the digits that they were written with, and objects keep the order of their members. Do
// not compare Values with ==. Use [Value.Equal], or [Same] for a cheap test of identity.
type Value struct{ n *node }

// node is what a Value points to. It never changes once a Value holds it.
type node struct {
	kind   Kind
	height int32      // levels of containers, this one included; 0 for a scalar
	text   string     // string: the text; number, boolean and null: the literal
	c      *container // array, object and a number with a long literal
}

var (
	nullNode    = &node{kind: KindNull, text: "null"}
	trueNode    = &node{kind: KindBool, text: "true"}
	falseNode   = &node{kind: KindBool, text: "false"}
	emptyString = &node{kind: KindString}
	digitNodes  = func() (nodes [10]*node) {
		for i := range nodes {
			nodes[i] = &node{kind: KindNumber, text: strconv.Itoa(i)}
		}
		return nodes
	}()
)

// Depth returns the number of levels of arrays and objects in v, v itself included: 0 for a scalar or an
// absent value. It takes constant time.
func (v Value) Depth() int { return int(v.height()) }

// Size returns the approximate size of v as JSON text, in bytes: the length of its encoding before strings
// are escaped, and up to one byte more for each array and object. Parts that v holds more than once count
// each time. It takes constant time.
func (v Value) Size() int { return v.size() }

// Null returns JSON's null.
func Null() Value { return Value{nullNode} }

// Bool returns JSON's true or false.
func Bool(b bool) Value {
	if b {
		return Value{trueNode}
	}
	return Value{falseNode}
}

// String returns s as a JSON string. Bytes of s that are not UTF-8 are encoded as \ufffd.
func String(s string) Value {
	if s == "" {
		return Value{emptyString}
	}
	return Value{&node{kind: KindString, text: s}}
}

// Int returns i as a JSON number.
func Int(i int64) Value { return number(strconv.FormatInt(i, 10)) }

// number returns the value of a literal that is known to be a JSON number.
func number(literal string) Value {
	switch n := len(literal); {
	case n == 1:
		return Value{digitNodes[literal[0]-'0']}
	case n <= shortNumber:
		return Value{&node{kind: KindNumber, text: literal}}
	}
	b := new(boxed)
	b.kind, b.text, b.c = KindNumber, literal, &b.container
	b.size, b.more = len(literal), &more{decimal: parseDecimal(literal)}
	return b.value()
}

// Array returns the JSON array of items, which it copies. An absent item becomes null.
func Array(items ...Value) Value {
	own := make([]Value, len(items))
	for i, v := range items {
		own[i] = present(v)
	}
	return newArray(own)
}

func present(v Value) Value {
	if v.n == nil {
		return Null()
	}
	return v
}

// Member is one member of an object.
type Member struct {
	Key   string
	Value Value
}

// Object returns the JSON object of members, in their order. Members with an absent value are left out. If
// several members have the same key, the last value counts, at the place of the first.
func Object(members ...Member) Value {
	if len(members) == 0 {
		return emptyObject
	}
	own := make([]Member, 0, len(members))
	for _, m := range members {
		if m.Value.Exists() {
			own = append(own, m)
		}
	}
	return newObject(own)
}

var emptyObject = newObject(nil)

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	if v.n == nil {
		return KindAbsent
	}
	return v.n.kind
}

// Exists reports whether v is a JSON value (null included), not absent.
func (v Value) Exists() bool { return v.n != nil }

// AsBool returns v as a bool. ok is false if v is not a boolean.
func (v Value) AsBool() (b, ok bool) {
	return v.n == trueNode, v.Kind() == KindBool
}

// AsString returns v as a string. ok is false if v is not a string.
func (v Value) AsString() (s string, ok bool) {
	if v.Kind() != KindString {
		return "", false
	}
	return v.n.text, true
}

// AsNumber returns v as the literal that it was written with. ok is false if v is not a number.
func (v Value) AsNumber() (n json.Number, ok bool) {
	if v.Kind() != KindNumber {
		return "", false
	}
	return json.Number(v.n.text), true
}

// Len returns the number of elements of an array or of members of an object, and 0 for other kinds.
func (v Value) Len() int {
	if v.n == nil || v.n.c == nil {
		return 0
	}
	return v.n.c.len()
}

// Index returns element i of the array v. It returns an absent Value if i is out of range or v is not an
// array.
func (v Value) Index(i int) Value {
	if v.Kind() != KindArray || i < 0 || i >= v.n.c.items.Len() {
		return Value{}
	}
	return v.n.c.items.At(i)
}

// Get returns the member key of the object v. It returns an absent Value if there is none or v is not an
// object.
func (v Value) Get(key string) Value {
	if v.Kind() != KindObject {
		return Value{}
	}
	return v.n.c.get(key)
}

// Elements returns an iterator over the elements of the array v and their indices. It is empty if v is
// not an array, and may be used more than once.
func (v Value) Elements() iter.Seq2[int, Value] {
	if v.Kind() != KindArray {
		return seq.Seq[Value]{}.All()
	}
	return v.n.c.items.All()
}

// Members returns an iterator over the members of the object v, in their order. It is empty if v is not
// an object, and may be used more than once.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() == KindObject {
			v.n.c.each(yield)
		}
	}
}

// With returns the object v with the member key set to val: at its place if v has that member, at the end
// if not. If v is not an object, With starts from an empty one. If val is absent, the member is removed.
func (v Value) With(key string, val Value) Value {
	if v.Kind() != KindObject {
		v = emptyObject
	}
	if !val.Exists() {
		return v.Without(key)
	}
	return v.withMember(key, val)
}

// Without returns the object v without the member key. It returns v itself if there is none.
func (v Value) Without(key string) Value {
	if !v.Get(key).Exists() {
		return v
	}
	return v.withoutMember(key)
}
