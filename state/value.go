package state

import (
	"encoding/json"
	"iter"
	"strconv"

	"github.com/agfold/agfold/internal/seq"
)

// Value is a JSON value. It is immutable and safe for concurrent use; changed values share with
// the old ones every part that did not change. The zero Value is absent: no value at all, which is
// not the same as JSON's null.
//
// Numbers keep the digits they were written with, and objects the order of their members. Do not
// compare Values with ==; use [Equal], or [Same] for a cheap test of identity.
type Value struct{ n *node }

// node is what a Value points to; it is never changed once a Value holds it.
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

// Depth returns how many containers deep the value nests, itself included: 0 for a scalar or the absent
// value. It costs nothing.
func (v Value) Depth() int { return int(v.height()) }

// Null returns JSON's null.
func Null() Value { return Value{nullNode} }

// Bool returns JSON's true or false.
func Bool(b bool) Value {
	if b {
		return Value{trueNode}
	}
	return Value{falseNode}
}

// String returns the JSON string of s. Bytes in s that are not UTF-8 are encoded as \ufffd.
func String(s string) Value {
	if s == "" {
		return Value{emptyString}
	}
	return Value{&node{kind: KindString, text: s}}
}

// Int returns the JSON number i.
func Int(i int64) Value { return number(strconv.FormatInt(i, 10)) }

// number is the value of a literal that is known to be a JSON number.
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

// Array returns the JSON array of items. An absent item becomes null. items is copied.
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

// Object returns the JSON object of members in their order. A member whose value is absent is left
// out; of several with the same key the last one counts, at the place of the first.
func Object(members ...Member) Value {
	own := make([]Member, 0, len(members))
	for _, m := range members {
		if m.Value.Exists() {
			own = append(own, m)
		}
	}
	return newObject(own)
}

// EmptyObject returns the object without members.
func EmptyObject() Value { return emptyObject }

var emptyObject = newObject(nil)

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	if v.n == nil {
		return KindAbsent
	}
	return v.n.kind
}

// Exists reports whether v is a JSON value, null included, rather than absent.
func (v Value) Exists() bool { return v.n != nil }

// IsZero reports whether v is absent. encoding/json asks it for fields marked omitzero.
func (v Value) IsZero() bool { return v.n == nil }

// AsBool returns the boolean that v is; ok is false if v is of another kind.
func (v Value) AsBool() (b, ok bool) {
	return v.n == trueNode, v.Kind() == KindBool
}

// AsString returns the string that v is; ok is false if v is of another kind.
func (v Value) AsString() (s string, ok bool) {
	if v.Kind() != KindString {
		return "", false
	}
	return v.n.text, true
}

// AsNumber returns the literal of the number that v is; ok is false if v is of another kind.
func (v Value) AsNumber() (n json.Number, ok bool) {
	if v.Kind() != KindNumber {
		return "", false
	}
	return json.Number(v.n.text), true
}

// Len returns the number of elements of an array or members of an object, 0 for other kinds.
func (v Value) Len() int {
	if v.n == nil || v.n.c == nil {
		return 0
	}
	return v.n.c.len()
}

// Index returns element i of an array, or an absent Value if there is none or v is no array.
func (v Value) Index(i int) Value {
	if v.Kind() != KindArray || i < 0 || i >= v.n.c.items.Len() {
		return Value{}
	}
	return v.n.c.items.At(i)
}

// Get returns the object's member key, or an absent Value if there is none or v is no object.
func (v Value) Get(key string) Value {
	if v.Kind() != KindObject {
		return Value{}
	}
	return v.n.c.get(key)
}

// Elements yields the elements of an array with their indices; nothing if v is no array. The
// iterator may be used again.
func (v Value) Elements() iter.Seq2[int, Value] {
	if v.Kind() != KindArray {
		return seq.Seq[Value]{}.All()
	}
	return v.n.c.items.All()
}

// Members yields the members of an object in their order; nothing if v is no object. The iterator
// may be used again.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() == KindObject {
			v.n.c.each(yield)
		}
	}
}

// With returns the object v with member key set: at its place if there is one, else at the end. If
// v is no object the result is an object with that member alone; if val is absent, v without it.
func (v Value) With(key string, val Value) Value {
	if v.Kind() != KindObject {
		v = emptyObject
	}
	if !val.Exists() {
		return v.Without(key)
	}
	return v.withMember(key, val)
}

// Without returns the object v without the member key; v itself if there is none.
func (v Value) Without(key string) Value {
	if !v.Get(key).Exists() {
		return v
	}
	return v.withoutMember(key)
}

// Same reports whether a and b are one and the same value, without a look inside: equal if true,
// perhaps equal nevertheless if false. Scalars of the same kind and text are always the same.
func Same(a, b Value) bool {
	if a.n == b.n {
		return true
	}
	return a.n != nil && b.n != nil && a.n.kind == b.n.kind && a.n.kind < KindArray && a.n.text == b.n.text
}
