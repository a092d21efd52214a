package protobuf

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// encoder appends one event to dst. The lengths of its fields are put in at last, see [encoder.finish].
type encoder struct {
	place
	dst     []byte
	spans   []span
	lengths int // the bytes that the lengths of the ended fields will take
	err     error
}

// span is a field that has a length.
type span struct {
	start  int // where its content begins in a text without lengths
	before int // lengths when it began
	size   int // of its content, with the lengths in it, once it has ended
}

// begin begins a field that has a length, and end ends it.
func (e *encoder) begin(num int) (field int) {
	e.dst = appendTag(e.dst, num, wireBytes)
	e.spans = append(e.spans, span{start: len(e.dst), before: e.lengths})
	return len(e.spans) - 1
}

func (e *encoder) end(field int) {
	f := &e.spans[field]
	f.size = len(e.dst) - f.start + e.lengths - f.before
	e.lengths += sizeOfNumber(uint64(f.size))
}

// finish returns dst with the lengths of all fields. It moves each byte at most once, from the last one on.
func (e *encoder) finish() []byte {
	from := len(e.dst)
	e.dst = slices.Grow(e.dst, e.lengths)[:from+e.lengths]
	to := len(e.dst)
	for _, f := range slices.Backward(e.spans) {
		to -= copy(e.dst[to-(from-f.start):], e.dst[f.start:from])
		to -= sizeOfNumber(uint64(f.size))
		binary.PutUvarint(e.dst[to:], uint64(f.size))
		from = f.start
	}
	return e.dst
}

// mismatch makes the error about the member name, which has another kind of value than the wire.
func (e *encoder) mismatch(name, want string, found state.Value) {
	if e.err == nil {
		e.push(name)
		e.err = &messages.MalformedError{Rule: "P-ENF-4", Type: e.typ, Path: e.pointer(), Want: want, Found: found.Kind().String()}
		e.pop()
	}
}

// leftOut warns about a member.
func (e *encoder) leftOut(name, why string) {
	e.push(name)
	e.warn("left out: " + why)
	e.pop()
}

// event appends the event that v is, in the arm num.
func (e *encoder) event(num int, v state.Value) {
	arm := &arms[num]
	start := e.begin(num)
	base := e.begin(baseField)
	if arm.enum != 0 {
		e.dst = appendNumber(e.dst, baseType, arm.enum)
	}
	e.each(v, field{num: baseTimestamp, name: "timestamp", kind: kindCount, has: optional})
	e.each(v, anyValue(baseRawEvent, "rawEvent"))
	e.each(v, open(baseMetadata, "metadata"))
	e.end(base)
	e.fields(arm.of, v, "type", "timestamp", "rawEvent", "metadata")
	e.end(start)
}

// message appends the fields of the object v.
func (e *encoder) message(m *message, v state.Value) {
	if m.arms == nil {
		e.fields(m, v)
		return
	}
	name, _ := v.Get("type").AsString()
	for _, a := range m.arms {
		if a.name == name {
			start := e.begin(a.num)
			e.fields(a.of, v, "type")
			e.end(start)
			return
		}
	}
}

// has reports whether the union m has an arm for v.
func (m *message) has(v state.Value) bool {
	name, _ := v.Get("type").AsString()
	return slices.ContainsFunc(m.arms, func(a arm) bool { return a.name == name })
}

// fields appends the members of v that m has fields for, and warns about the others but for those in known.
func (e *encoder) fields(m *message, v state.Value, known ...string) {
	if m.flatten != nil {
		v = m.flatten(e, v)
	}
	seen := 0
	for i := range m.fields {
		if e.each(v, m.fields[i]) {
			seen++
		}
	}
	for _, name := range known {
		if v.Get(name).Exists() {
			seen++
		}
	}
	if seen == v.Len() {
		return
	}
	for name := range v.Members() {
		if !slices.Contains(known, name) && !slices.ContainsFunc(m.fields, func(f field) bool { return f.name == name }) {
			e.leftOut(name, "the wire has no field for it")
		}
	}
}

// each appends the member of v that f is for, and reports whether there is one.
func (e *encoder) each(v state.Value, f field) bool {
	val := v.Get(f.name)
	switch {
	case !val.Exists(), f.shared && val.Kind() != f.jsonKind():
		return false
	case val.Kind() == state.KindNull && f.kind != kindAny:
		return true // P-NULL-1
	case f.has != repeated:
		e.push(f.name)
		e.one(f, val)
		e.pop()
		return true
	case val.Kind() != state.KindArray:
		e.mismatch(f.name, "an array", val)
		return true
	}
	e.push(f.name)
	for i, element := range val.Elements() {
		e.pushIndex(i)
		if f.of != nil && f.of.arms != nil && !f.of.has(element) {
			e.warn("left out: the wire has no arm for this kind")
		} else {
			e.one(f, element)
		}
		e.pop()
	}
	e.pop()
	return true
}

// jsonKind returns the kind of the value that a field is for, of those that may share a name.
func (f field) jsonKind() state.Kind {
	switch {
	case f.has == repeated:
		return state.KindArray
	case f.kind == kindOpen:
		return state.KindObject
	}
	return state.KindString
}

// one appends one value of a field.
func (e *encoder) one(f field, v state.Value) {
	switch f.kind {
	case kindText:
		s, ok := v.AsString()
		switch {
		case !ok:
			e.wrong("a string", v)
		case s != "" || f.has != implicit:
			e.dst = appendText(e.dst, f.num, e.clean(s))
		}
	case kindFlag:
		b, ok := v.AsBool()
		if !ok {
			e.wrong("a boolean", v)
		}
		e.dst = appendFlag(e.dst, f.num, b)
	case kindCount:
		n, ok := v.AsInt()
		if !ok {
			e.wrong("an integer", v)
		}
		e.dst = appendNumber(e.dst, f.num, n)
	case kindOp:
		s, _ := v.AsString()
		op := slices.Index(ops[:], s)
		if op < 0 { // a number that no operation has: the client sees that it does not know it
			e.warn("the wire has no number for the operation " + strconv.Quote(shorten(s)))
			op = len(ops)
		}
		if op > 0 {
			e.dst = appendNumber(e.dst, f.num, int64(op))
		}
	case kindAny:
		start := e.begin(f.num)
		e.value(v)
		e.end(start)
	default:
		if v.Kind() != state.KindObject {
			e.wrong("an object", v)
			return
		}
		if f.kind == kindNested && f.of.arms != nil && !f.of.has(v) {
			e.warn("left out: the wire has no arm for this kind")
		}
		start := e.begin(f.num)
		if f.kind == kindOpen {
			e.object(v)
		} else {
			e.message(f.of, v)
		}
		e.end(start)
	}
}

// wrong is mismatch about the place itself.
func (e *encoder) wrong(want string, found state.Value) {
	if e.err == nil {
		e.err = &messages.MalformedError{Rule: "P-ENF-4", Type: e.typ, Path: e.pointer(), Want: want, Found: found.Kind().String()}
	}
}

// appendEvent appends ev as one message, without a frame. Without an error nothing of it is missing but what the warnings
// say.
func appendEvent(dst []byte, ev event.Event) ([]byte, []event.Warning, error) {
	if out, ok := appendHot(dst, ev); ok {
		return out, nil, nil
	}
	f := event.FrameOfEvent(ev)
	if err := f.Err(); err != nil {
		return dst, nil, err
	}
	num := armOf[f.Type()]
	if num == 0 {
		return dst, nil, &UncoveredError{Types: []event.Type{f.Type()}, Name: f.TypeName()}
	}
	e := encoder{dst: dst, place: place{typ: f.TypeName(), rule: "P-PB-5"}}
	e.event(num, f.Value())
	if e.err != nil {
		return dst, nil, e.err
	}
	return e.finish(), e.all(), nil
}
