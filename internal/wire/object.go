package wire

import (
	"slices"

	"github.com/agfold/agfold/state"
)

// maxFields is the most members that any described object has, with room.
const maxFields = 16

// MaxInteger is 2^53 - 1, the greatest integer that every JSON implementation holds exactly (RFC 8259,
// section 6). The least one is its negative.
const MaxInteger int64 = 1<<53 - 1

// Object reads the members of one described object. Ask for every described member once, then call End.
type Object struct {
	r     *Reader
	v     state.Value
	asked [maxFields]string
	n     int // members asked for
	found int // of these, the present ones
}

// Object starts the reading of v, which must be an object, at the current place.
func (r *Reader) Object(v state.Value) Object {
	if v.Kind() != state.KindObject {
		r.Malformed("an object", v)
		v = state.Value{}
	}
	return Object{r: r, v: v}
}

// End removes the members that were not asked for (P-ENF-2).
func (o *Object) End() {
	if o.found == o.v.Len() {
		return
	}
	for key := range o.v.Members() {
		if !slices.Contains(o.asked[:o.n], key) {
			o.r.push(key)
			o.r.removals = append(o.r.removals, Removal{"P-ENF-2", pointer(o.r.path), "the property is not described"})
			o.r.pop()
		}
	}
}

// Skip takes the member key as it is, unjudged: somebody else has read it.
func (o *Object) Skip(key string) { o.get(key) }

func (o *Object) get(key string) state.Value {
	v := o.v.Get(key)
	o.asked[o.n] = key
	o.n++
	if v.Exists() {
		o.found++
	}
	return v
}

// String returns the string that the member key must be.
func (o *Object) String(key string) string {
	v := o.get(key)
	s, ok := v.AsString()
	if !ok {
		o.r.failAt(key, "a string", v)
	}
	return s
}

// OptString returns the string that the member key is, if it is present.
func (o *Object) OptString(key string) (string, bool) {
	v := o.get(key)
	s, ok := v.AsString()
	if !ok && v.Exists() {
		o.r.failAt(key, "a string or no such member", v)
	}
	return s, ok
}

// OptBool returns the boolean that the member key is, if it is present.
func (o *Object) OptBool(key string) (value, ok bool) {
	v := o.get(key)
	value, ok = v.AsBool()
	if !ok && v.Exists() {
		o.r.failAt(key, "a boolean or no such member", v)
	}
	return value, ok
}

// OptInteger returns the integer from lowest to MaxInteger that the member key is, if it is present. An
// integer is one by its value, as in JSON Schema: 1.0 and 1e3 are integers.
func (o *Object) OptInteger(key string, lowest int64) (int64, bool) {
	v := o.get(key)
	if n, ok := v.AsInt(); ok && lowest <= n && n <= MaxInteger {
		return n, true
	}
	if v.Exists() {
		want := "an integer within ±(2^53-1) or no such member"
		if lowest >= 0 {
			want = "a non-negative integer up to 2^53-1 or no such member"
		}
		o.r.failAt(key, want, v)
	}
	return 0, false
}

// Any returns the member key, any JSON value, null too, which must be present.
func (o *Object) Any(key string) state.Value {
	v := o.get(key)
	if !v.Exists() {
		o.r.failAt(key, "any JSON value", v)
	}
	return v
}

// OptAny returns the member key, any JSON value but null, or the absent value (P-NULL-1).
func (o *Object) OptAny(key string) state.Value {
	v := o.get(key)
	if v.Kind() == state.KindNull {
		o.r.failAt(key, "a value or no such member", v)
		return state.Value{}
	}
	return v
}

// OptNullable returns the member key, any JSON value or absent; null counts as absent.
func (o *Object) OptNullable(key string) state.Value {
	if v := o.get(key); v.Kind() != state.KindNull {
		return v
	}
	return state.Value{}
}

// Open returns the open object that the member key must be.
func (o *Object) Open(key string) state.Value {
	v := o.get(key)
	if v.Kind() != state.KindObject {
		o.r.failAt(key, "an object", v)
		return state.Value{}
	}
	return v
}

// OptOpen returns the open object that the member key is, or the absent value.
func (o *Object) OptOpen(key string) state.Value {
	v := o.get(key)
	if v.Exists() && v.Kind() != state.KindObject {
		o.r.failAt(key, "an object or no such member", v)
		return state.Value{}
	}
	return v
}

// Fixed demands that the member key is the string want, or, unless it is required, missing.
func (o *Object) Fixed(key, want string, required bool) (present bool) {
	v := o.get(key)
	s, ok := v.AsString()
	switch {
	case ok && s == want, !required && !v.Exists():
	case ok:
		o.Reject(key, Quote(want), Quote(s))
	default:
		o.r.failAt(key, Quote(want), v)
	}
	return ok
}

// Reject notes that the member key, which was asked for, is malformed in a way that its kind does not show.
func (o *Object) Reject(key, want, found string) {
	o.r.push(key)
	o.r.fail(want, found)
	o.r.pop()
}

// Tag returns the string in the member key that says which member of a union the object is. If it is none
// of known, the object is unrecognised (P-ENF-3); the caller need not read on.
func (o *Object) Tag(key string, known ...string) (tag string, ok bool) {
	return o.oneOf("P-ENF-3", key, known)
}

// Enum returns the string in the member key, which must be present. One that is none of known makes the
// object unrecognised (P-ENF-5).
func (o *Object) Enum(key string, known ...string) string {
	s, _ := o.oneOf("P-ENF-5", key, known)
	return s
}

func (o *Object) oneOf(rule, key string, known []string) (string, bool) {
	v := o.get(key)
	s, ok := v.AsString()
	if !ok {
		o.r.failAt(key, "a string", v)
		return "", false
	}
	if !slices.Contains(known, s) {
		o.r.unknown(rule, key, s)
		return "", false
	}
	return s, true
}

// OptEnum returns the string in the member key, or "" if it is missing or none of known and therefore
// removed (P-ENF-5).
func (o *Object) OptEnum(key string, known ...string) string {
	v := o.get(key)
	s, ok := v.AsString()
	switch {
	case !ok && v.Exists():
		o.r.failAt(key, "a string or no such member", v)
	case ok && !slices.Contains(known, s):
		o.r.push(key)
		o.r.removals = append(o.r.removals, Removal{"P-ENF-5", pointer(o.r.path), Quote(s) + " is not recognised"})
		o.r.pop()
		return ""
	}
	return s
}

// Field reads the member key, which must be present, with read. If it is unrecognised, so is the object.
func Field[T any](o *Object, key string, read func(*Reader, state.Value) T) T {
	v := o.get(key)
	o.r.push(key)
	defer o.r.pop()
	return read(o.r, v)
}

// OptField reads the member key with read, if it is present. If it is unrecognised, it is removed.
func OptField[T any](o *Object, key string, read func(*Reader, state.Value) T) (value T, present bool) {
	v := o.get(key)
	if !v.Exists() {
		return value, false
	}
	o.r.push(key)
	defer o.r.pop()
	m := o.r.mark()
	value = read(o.r, v)
	if !o.r.settle(m) {
		var zero T
		return zero, false
	}
	return value, true
}

// List reads the member key, a list that must be present; see [Elements].
func List[T any](o *Object, key string, read func(*Reader, state.Value) T) []T {
	v := o.get(key)
	o.r.push(key)
	defer o.r.pop()
	return Elements(o.r, v, read)
}

// OptList reads the member key, a list; the result is nil if there is none.
func OptList[T any](o *Object, key string, read func(*Reader, state.Value) T) []T {
	v := o.get(key)
	if !v.Exists() {
		return nil
	}
	o.r.push(key)
	defer o.r.pop()
	return Elements(o.r, v, read)
}

// Elements reads v, which must be a list, at the current place, each element with read. Unrecognised
// elements are removed. The result is not nil.
func Elements[T any](r *Reader, v state.Value, read func(*Reader, state.Value) T) []T {
	if v.Kind() != state.KindArray {
		r.Malformed("an array", v)
		return []T{}
	}
	items := make([]T, 0, v.Len())
	for i, element := range v.Elements() {
		r.pushIndex(i)
		m := r.mark()
		item := read(r, element)
		if r.settle(m) {
			items = append(items, item)
		}
		r.pop()
	}
	return items
}

// String reads v, which must be a string, at the current place.
func String(r *Reader, v state.Value) string {
	s, ok := v.AsString()
	if !ok {
		r.Malformed("a string", v)
	}
	return s
}
