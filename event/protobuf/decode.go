package protobuf

import (
	"fmt"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// decoder decodes one event.
type decoder struct {
	place
	data   []byte // the whole message
	values int    // made so far
	merged int    // bytes that were copied because a message came in pieces
	offset int    // where in data it is wrong, as far as that is known
	fault  string // why data is not an event, "" if it is so far
}

const (
	maxValues  = 1 << 21 // as of an event in JSON (P-SSE-2)
	maxCopies  = 4       // times the size of the event
	freeCopies = 64 << 10
)

// fail makes data undecodable. The first reason counts.
func (d *decoder) fail(why string) {
	if d.fault == "" {
		d.fault = why
		if p := d.pointer(); p != "" {
			d.fault += ", at " + shorten(p)
		}
	}
}

// next reads the next field of s, if nothing is wrong so far.
func (d *decoder) next(s *scanner) bool { return d.fault == "" && s.next() }

// scanned reports whether s has read its message to the end and nothing is wrong so far.
func (d *decoder) scanned(s *scanner) bool {
	if s.fault != "" && d.fault == "" {
		d.fail(s.fault)
		if d.merged == 0 { // otherwise rest may be of a copy
			d.offset = cap(d.data) - cap(s.rest)
		}
	}
	return d.fault == ""
}

// enter counts a value at a depth, and reports whether there may be one.
func (d *decoder) enter(depth int) bool {
	if depth > state.DefaultMaxDepth {
		d.fail("values that nest too deeply")
	}
	if d.values++; d.values > maxValues {
		d.fail("more than " + strconv.Itoa(maxValues) + " values")
	}
	return d.fault == ""
}

// merge joins the pieces of a message that came as several fields: they are one message.
func (d *decoder) merge(first, more []byte) []byte {
	if first == nil {
		return more
	}
	if d.merged += len(first) + len(more); d.merged > maxCopies*len(d.data)+freeCopies {
		d.fail("a message in too many pieces")
		return nil
	}
	joined := make([]byte, 0, len(first)+len(more))
	return append(append(joined, first...), more...)
}

// decode returns the event that a message is, and says what is wrong if it is not one. What the wire carries is not judged
// here: open payloads come as they are (P-PB-6).
func (d *decoder) decode() (event.Event, string) {
	num, payload := d.envelope()
	if d.fault != "" {
		return nil, d.fault
	}
	if num > len(arms)-1 || num < 1 {
		d.typ = ""
		return event.Notice(event.Warning{
			Rule: "P-PB-4", Text: "dropped: an event in arm " + strconv.Itoa(num) + ", which AG-UI " + event.ProtocolVersion + " does not have",
		}), ""
	}
	arm := &arms[num]
	d.typ = arm.typ.String()
	members := []state.Member{{Key: "type", Value: state.String(d.typ)}}
	inside, _ := d.message(arm.of, payload)
	members = append(members, inside...)
	members = append(members, d.base(payload, arm)...)
	if d.fault != "" {
		return nil, d.fault
	}
	v := state.Object(members...)
	if v.Depth() > state.DefaultMaxDepth {
		return nil, "values that nest too deeply"
	}
	f, err := event.FrameOf(v)
	if err != nil {
		return nil, err.Error()
	}
	return f.WithWarnings(d.all()...), ""
}

// envelope returns the arm that the message has and what is in it. An arm that is not known is returned if there is no
// known one and what it holds is a message.
func (d *decoder) envelope() (num int, payload []byte) {
	future := 0
	s := scanner{rest: d.data}
	for d.next(&s) {
		known := s.num < len(arms)
		switch {
		case known && s.typ != wireBytes:
			d.fail(fmt.Sprintf("arm %d is not a message", s.num))
		case known && num != 0 && num != s.num:
			d.fail("two events in one")
		case known:
			num, payload = s.num, d.merge(payload, s.bytes)
		case s.typ == wireBytes && isMessage(s.bytes):
			future = s.num
		case s.typ == wireBytes && num == 0:
			future = -1
		}
	}
	if !d.scanned(&s) {
		return 0, nil
	}
	if num == 0 && future <= 0 {
		d.fail("no event")
	}
	if num == 0 {
		return future, nil
	}
	return num, payload
}

// base returns the members that every event may have, and checks that the event is of the type that its arm says.
func (d *decoder) base(payload []byte, arm *eventArm) (members []state.Member) {
	var base []byte
	has := false
	s := scanner{rest: payload}
	for d.next(&s) {
		if s.num == baseField && s.typ == wireBytes {
			base, has = d.merge(base, s.bytes), true
		}
	}
	if !d.scanned(&s) || !has {
		d.fail("an event without a base")
		return nil
	}
	inside, _ := d.message(baseEvent, base)
	enum, _ := at(inside, "type").AsInt()
	if enum != arm.enum {
		d.fail(fmt.Sprintf("an event of type %d in the arm of %s", enum, arm.typ))
	}
	return without(inside, "type")
}

// baseEvent is the base of every event; its type is a number here.
var baseEvent = fields(count(baseType, "type"), count(baseTimestamp, "timestamp"), anyValue(baseRawEvent, "rawEvent"), open(baseMetadata, "metadata"))

// slot is what came for a field.
type slot struct {
	seen  bool
	value state.Value   // of text, a flag or a number
	raw   []byte        // of a message
	list  []state.Value // of a repeated field
}

// maxFields is the number of fields of the message that has most.
const maxFields = 13

// message returns the members that data holds, in the order of the fields. It is not complete if a kind in it that is not
// known made it worthless.
func (d *decoder) message(m *message, data []byte) (members []state.Member, complete bool) {
	var slots [maxFields]slot
	s := scanner{rest: data}
	for d.next(&s) {
		for i := range m.fields {
			if f := &m.fields[i]; f.num == s.num {
				d.take(f, &slots[i], &s)
				break
			}
		}
	}
	complete = true
	if !d.scanned(&s) {
		return nil, complete
	}
	n := 0
	for i := range m.fields {
		if slots[i].seen || m.fields[i].has == implicit {
			n++
		}
	}
	d.values += n
	members = make([]state.Member, 0, n+2)
	for i := range m.fields {
		f := &m.fields[i]
		v := d.slot(f, &slots[i])
		if v.Exists() {
			members = append(members, state.Member{Key: f.name, Value: v})
		} else if slots[i].seen && f.kind == kindNested {
			complete = false
		}
	}
	if m.restore != nil && d.fault == "" {
		members = m.restore(d, members)
	}
	return members, complete
}

// take keeps one occurrence of a field. One that has another layout than the field is not known.
func (d *decoder) take(f *field, to *slot, s *scanner) {
	want := wireBytes
	if f.kind == kindFlag || f.kind == kindCount || f.kind == kindOp {
		want = wireVarint
	}
	if s.typ != want {
		return
	}
	if f.has == repeated {
		d.push(f.name)
		d.pushIndex(len(to.list))
		v := d.element(f, s.bytes)
		if v.Exists() {
			to.list = append(to.list, v)
		} else if d.fault == "" {
			d.warn("dropped: a kind that AG-UI " + event.ProtocolVersion + " does not know")
		}
		d.pop()
		d.pop()
		to.seen = true
		return
	}
	to.seen = true
	switch f.kind {
	case kindText:
		to.value = state.String(textOf(s.bytes))
	case kindFlag:
		to.value = state.Bool(s.number != 0)
	case kindCount:
		to.value = state.Int(int64(s.number))
	case kindOp:
		to.value = opOf(int32(s.number))
	default:
		if to.raw = d.merge(to.raw, s.bytes); to.raw == nil {
			to.raw = []byte{}
		}
	}
}

// opOf returns the name of a patch operation, its number if that is not known.
func opOf(n int32) state.Value {
	if n >= 0 && int(n) < len(ops) {
		return state.String(ops[n])
	}
	return state.String(strconv.Itoa(int(n)))
}

// element returns one element of a repeated field, absent if it is of a kind that is not known.
func (d *decoder) element(f *field, data []byte) state.Value {
	if f.kind == kindText {
		d.enter(0)
		return state.String(textOf(data))
	}
	return d.nested(f.of, data)
}

// nested returns the object that a message is, absent if it is of a kind that is not known.
func (d *decoder) nested(m *message, data []byte) state.Value {
	if !d.enter(0) {
		return state.Value{}
	}
	if m.arms != nil {
		return d.union(m, data)
	}
	members, complete := d.message(m, data)
	if !complete {
		return state.Value{}
	}
	return state.Object(members...)
}

// union returns the object that the arm of a union is, absent if the arm is not known.
func (d *decoder) union(m *message, data []byte) state.Value {
	var chosen *arm
	var payload []byte
	s := scanner{rest: data}
	for d.next(&s) {
		for i := range m.arms {
			a := &m.arms[i]
			if a.num != s.num || s.typ != wireBytes {
				continue
			}
			if chosen != nil && chosen != a {
				d.fail("two kinds in one")
			}
			chosen, payload = a, d.merge(payload, s.bytes)
		}
	}
	if !d.scanned(&s) || chosen == nil {
		return state.Value{}
	}
	members, complete := d.message(chosen.of, payload)
	if !complete {
		return state.Value{}
	}
	return state.Object(append([]state.Member{{Key: "type", Value: state.String(chosen.name)}}, members...)...)
}

// slot returns the value of a field, absent if there is none.
func (d *decoder) slot(f *field, s *slot) state.Value {
	switch {
	case !s.seen && f.has == implicit && f.kind == kindOp:
		return opOf(0)
	case !s.seen && f.has == implicit:
		return state.String("")
	case !s.seen:
		return state.Value{}
	case f.has == repeated:
		return state.Array(s.list...)
	case s.raw == nil:
		return s.value
	}
	d.push(f.name)
	defer d.pop()
	switch f.kind {
	case kindAny:
		return d.value(s.raw, 1)
	case kindOpen:
		if !d.enter(1) {
			return state.Value{}
		}
		return d.object(s.raw, 1)
	}
	return d.nested(f.of, s.raw)
}
