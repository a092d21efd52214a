package codec

import (
	"slices"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// MaxInteger is 2^53 - 1, the greatest integer that every JSON implementation holds exactly (RFC 8259, section 6). The
// least one is its negative.
const MaxInteger int64 = 1<<53 - 1

// Const walks the member key, which is written and has been read already.
func (c *Codec) Const(key, value string) {
	switch c.mode {
	case encoding:
		c.out = append(AppendKey(c.out, key), '"')
		c.out = append(c.out, value...)
		c.out = append(c.out, '"')
	case decoding:
		c.get(key)
	}
}

// String walks the required string key.
func (c *Codec) String(key string, s *string) {
	switch c.mode {
	case encoding:
		c.out = AppendString(c.out, key, *s)
	case decoding:
		v := c.get(key)
		var ok bool
		if *s, ok = v.AsString(); !ok {
			c.faultAt(key, "a string", v)
		}
	}
}

// OptString walks the optional string key and returns it as it was decoded, else as it is.
func (c *Codec) OptString(key, s string, present bool) (string, bool) {
	switch {
	case c.mode == decoding:
		v := c.optional(key)
		if s, present = v.AsString(); !present && v.Exists() {
			c.faultAt(key, "a string or no such member", v)
		}
	case c.mode == encoding && present:
		c.out = AppendString(c.out, key, s)
	}
	return s, present
}

// RequiredString walks the string key, which is required though the Go value may be without, and returns it as it was
// decoded, else as it is.
func (c *Codec) RequiredString(key, s string, present bool) (string, bool) {
	switch {
	case c.mode == decoding:
		c.String(key, &s)
		return s, true
	case c.mode == checking && !present:
		c.faultAt(key, "a string", state.Value{})
	case present:
		c.String(key, &s)
	}
	return s, present
}

// OptBool walks the optional boolean key and returns it as it was decoded, else as it is.
func (c *Codec) OptBool(key string, b, present bool) (bool, bool) {
	switch {
	case c.mode == decoding:
		v := c.optional(key)
		if b, present = v.AsBool(); !present && v.Exists() {
			c.faultAt(key, "a boolean or no such member", v)
		}
	case c.mode == encoding && present:
		c.out = AppendBool(c.out, key, b)
	}
	return b, present
}

// OptInteger walks the optional integer key, which lies from lowest to MaxInteger, and returns it as it was decoded,
// else as it is. An integer is one by its value, as in JSON Schema: 1.0 and 1e3 are integers.
func (c *Codec) OptInteger(key string, n int64, present bool, lowest int64) (int64, bool) {
	var v state.Value
	switch c.mode {
	case encoding:
		if present {
			c.out = AppendInteger(c.out, key, n)
		}
		return n, present
	case decoding:
		v = c.optional(key)
		n, present = v.AsInt()
	default:
		if present {
			v = state.Int(n)
		}
	}
	if present && lowest <= n && n <= MaxInteger {
		return n, true
	}
	if v.Exists() {
		want := "an integer within ±(2^53-1) or no such member"
		if lowest >= 0 {
			want = "a non-negative integer up to 2^53-1 or no such member"
		}
		c.faultAt(key, want, v)
	}
	return 0, false
}

// Any walks the required member key, any JSON value, null too.
func (c *Codec) Any(key string, v *state.Value) {
	c.open(key, v)
	if c.mode != encoding && !v.Exists() {
		c.faultAt(key, "any JSON value", *v)
	}
}

// OptAny walks the optional member key, any JSON value but null (P-NULL-1).
func (c *Codec) OptAny(key string, v *state.Value) {
	c.optOpen(key, v)
	if c.mode != encoding && v.Kind() == state.KindNull {
		c.faultAt(key, "a value or no such member", *v)
	}
}

// OptAnyOrNull walks the optional member key, any JSON value, null too.
func (c *Codec) OptAnyOrNull(key string, v *state.Value) { c.open(key, v) }

// Rest takes the members of the object that were not walked as they are: it is an open one.
func (c *Codec) Rest() { c.object.found = c.object.value.Len() }

// Given reports whether v is there and not null.
func Given(v state.Value) bool { return v.Kind() > state.KindNull }

// OptNullable walks the optional member key, any JSON value, of which null counts as absent.
func (c *Codec) OptNullable(key string, v *state.Value) {
	c.open(key, v)
	if c.mode == decoding && v.Kind() == state.KindNull {
		*v = state.Value{}
	}
}

// Open walks the required member key, an open object.
func (c *Codec) Open(key string, v *state.Value) {
	c.open(key, v)
	if c.mode != encoding && v.Kind() != state.KindObject {
		c.faultAt(key, "an object", *v)
	}
}

// OptOpen walks the optional member key, an open object.
func (c *Codec) OptOpen(key string, v *state.Value) {
	c.optOpen(key, v)
	if c.mode != encoding && v.Exists() && v.Kind() != state.KindObject {
		c.faultAt(key, "an object or no such member", *v)
	}
}

func (c *Codec) optOpen(key string, v *state.Value) {
	if c.mode == decoding {
		*v = c.optional(key)
		return
	}
	c.open(key, v)
}

func (c *Codec) open(key string, v *state.Value) {
	switch c.mode {
	case encoding:
		c.out = AppendValue(c.out, key, *v)
	case decoding:
		*v = c.get(key)
	default:
		c.Weigh(*v)
		c.nests(key, v.Depth())
	}
}

// Weigh notes that the document holds v.
func (c *Codec) Weigh(v state.Value) { c.weight += (v.Size() + 1) / 2 }

// nests notes that the member key of the object holds a value of this depth. A document must not nest deeper than its
// JSON text may.
func (c *Codec) nests(key string, depth int) {
	if depth > 0 && len(c.path)+1+depth > state.DefaultMaxDepth && c.fault == nil {
		c.faultAt(key, "", state.Value{})
		c.fault.TooDeep = true
	}
}

// Fixed walks the required member key, which is the string want.
func (c *Codec) Fixed(key, want string) {
	if c.mode == decoding {
		c.fixed(key, want, c.get(key), true)
		return
	}
	c.Const(key, want)
}

// OptFixed walks the optional member key, which is the string want, or s is empty.
func OptFixed[S ~string](c *Codec, key string, s *S, want S) {
	switch c.mode {
	case encoding:
		c.out = AppendNonEmpty(c.out, key, string(*s))
	case decoding:
		if c.fixed(key, string(want), c.optional(key), false) {
			*s = want
		}
	default:
		if *s != "" {
			c.fixed(key, string(want), state.String(string(*s)), false)
		}
	}
}

func (c *Codec) fixed(key, want string, v state.Value, required bool) bool {
	s, ok := v.AsString()
	switch {
	case ok && s == want:
		return true
	case ok:
		c.Reject(key, Quote(want), Quote(s))
	case required || v.Exists():
		c.faultAt(key, Quote(want), v)
	}
	return false
}

// Lacks says that a value of this kind has no member key. set says whether the Go value has it anyway. Such a value
// is not written, and checking notes it (P-ENF-2).
func (c *Codec) Lacks(key string, set bool) {
	if set && c.mode == checking {
		c.push(key)
		c.remove("P-ENF-2", "the property is not described")
		c.pop()
	}
}

// Tag walks the required member key, which says what member of a union the object is. If its value is not in known, the
// object is unrecognized (P-ENF-3), and the members that only some of the union have need not be walked.
func Tag[S ~string](c *Codec, key string, s *S, known []S) (ok bool) {
	return oneOf(c, "P-ENF-3", key, s, known)
}

// Enum walks the required member key, a string of a closed set. A value that is not in known makes the object
// unrecognized (P-ENF-5).
func Enum[S ~string](c *Codec, key string, s *S, known []S) { oneOf(c, "P-ENF-5", key, s, known) }

func oneOf[S ~string](c *Codec, rule, key string, s *S, known []S) bool {
	switch c.mode {
	case encoding:
		c.out = AppendString(c.out, key, string(*s))
		return true
	case decoding:
		v := c.get(key)
		got, ok := v.AsString()
		if !ok {
			c.faultAt(key, "a string", v)
			return false
		}
		*s = S(got)
	}
	if i := slices.Index(known, *s); i >= 0 {
		if c.mode == decoding {
			*s = known[i] // a constant, which keeps no document in memory
		}
		return true
	}
	c.unknown(rule, key, string(*s))
	return false
}

// OptEnum walks the optional member key, a string of a closed set that is empty if it is absent. A value that is not in
// known is removed (P-ENF-5).
func OptEnum[S ~string](c *Codec, key string, s *S, known []S) {
	got := *s
	switch c.mode {
	case encoding:
		c.out = AppendNonEmpty(c.out, key, string(got))
		return
	case decoding:
		v := c.optional(key)
		text, ok := v.AsString()
		if !ok {
			if v.Exists() {
				c.faultAt(key, "a string or no such member", v)
			}
			return
		}
		got = S(text)
	default:
		if got == "" {
			return
		}
	}
	if i := slices.Index(known, got); i >= 0 {
		if c.mode == decoding {
			*s = known[i]
		}
		return
	}
	c.push(key)
	c.remove("P-ENF-5", Quote(string(got))+" is not recognized")
	c.pop()
}

// Value returns the value that is decoded.
func (c *Codec) Value() state.Value { return c.value }

// AppendRaw lets write append JSON text.
func (c *Codec) AppendRaw(write func([]byte) []byte) { c.out = write(c.out) }

// AppendText appends s as a JSON string.
func (c *Codec) AppendText(s string) { c.out = jsontext.AppendString(c.out, s) }

// AppendNull appends null.
func (c *Codec) AppendNull() { c.out = append(c.out, "null"...) }
