package event

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Frame is an event as it arrived, well-formed but not judged yet (P-PIPE-2, P-PIPE-3): what transports
// make and middleware works on. It is immutable and safe for concurrent use, small, and an [Event]. A frame that a
// [Framer] made of data that is not an event is malformed, see [Frame.Err], and so is the zero Frame.
type Frame struct{ p *frame }

// frame is what a Frame points to, so that storing a Frame in an Event does not allocate.
type frame struct {
	name   string      // the type's name, "" of a notice and of data that is not an event
	typ    Type        // TypeUnknown if the name is none of the 36
	notice bool        // there are only warnings
	lent   bool        // the text is that of a caller who will change it, see Framer.Lend
	data   []byte      // the JSON text, or nil if there is a value
	value  state.Value // the object, or absent if there is data; of undecodable data why it is
	notes  []Warning
	found  found // what one pass over the text showed
}

// NewFrame returns the event whose JSON text is data. It keeps data, which must not be changed afterwards.
// The text must be one JSON object with a member type that is a non-empty string, nested no deeper than
// [state.DefaultMaxDepth], and nothing but white space around it; otherwise the error is a
// [*messages.MalformedError] under P-PIPE-2. Nothing else is judged. If there are two members named type, the last one counts.
func NewFrame(data []byte) (Frame, error) {
	p := &frame{}
	if err := p.read(data); err != nil {
		return Frame{}, err
	}
	return Frame{p}, nil
}

// read makes p the frame of data, in one pass over it.
func (p *frame) read(data []byte) error {
	name, err := p.found.scan(data)
	if err != nil {
		return err
	}
	p.data = data
	if t, ok := typesByName[string(name[1:len(name)-1])]; ok {
		p.name, p.typ = types[t].name, t
		return nil
	}
	p.name = string(jsontext.AppendUnescaped(nil, name[1:len(name)-1]))
	p.typ = typesByName[p.name]
	return nil
}

// keep makes p the frame of data, a malformed one if it is not an event.
func (p *frame) keep(data []byte) {
	if p.read(data) != nil {
		*p = frame{data: data}
	}
}

// found is where the members that the hot path knows are in the text of an event.
type found struct {
	seen  slots
	plain slots          // those that are ASCII without escapes
	odd   bool           // there is another member, or one comes twice, has an escaped key or is of another kind
	nulls bool           // some member is null
	spans [numSpans]span // see spanOf
}

// span is where the inside of a string literal, or a number, is in the text.
type span struct{ start, end int32 }

// scan checks data, notes what it finds, and returns the literal that its type is.
func (m *found) scan(data []byte) (name []byte, err error) {
	if i := jsontext.Space(data, 0); i >= len(data) || data[i] != '{' {
		if _, err := jsontext.Skip(data, i, state.DefaultMaxDepth); err != nil {
			return nil, notFrame(data, err.Error())
		}
		return nil, notFrame(data, "")
	}
	m.odd = len(data) > math.MaxInt32
	at := jsontext.Members{Data: data, Depth: state.DefaultMaxDepth - 1}
	for at.Next() {
		slot, known := slotOf(at.Name())
		if known && slot == slotType || !at.PlainName && at.Named("type") {
			name = at.Value()
		}
		in := span{int32(at.Start), int32(at.End)}
		switch data[at.Start] {
		case '"':
			in = span{in.start + 1, in.end - 1}
			known = known && slot != slotTimestamp
		case 'n':
			m.nulls = true
			fallthrough
		default:
			known = known && slot == slotTimestamp
		}
		m.spans[spanOf[slot]] = in
		bit := slots(1) << slot
		switch {
		case !known || m.seen&bit != 0:
			m.odd = true
		case at.Plain:
			m.plain |= bit
			fallthrough
		default:
			m.seen |= bit
		}
	}
	if at.Err != nil {
		return nil, notFrame(data, at.Err.Error())
	}
	if end := jsontext.Space(data, at.End); end != len(data) {
		return nil, notFrame(data, fmt.Sprintf("more after it, at byte %d", end))
	}
	switch {
	case name == nil:
		return nil, notFrame(data, "no type"+instead(data))
	case name[0] == 'n':
		return nil, notFrame(data, "a type that is null")
	case name[0] != '"':
		return nil, notFrame(data, "a type that is not a string")
	case len(name) == 2:
		return nil, notFrame(data, "an empty type")
	case crowded(data):
		return nil, tooMany(string(name[1 : len(name)-1]))
	}
	return name, nil
}

// notFrame returns the error about data that is not an event, with an excerpt of it and the reason if there is one.
func notFrame(data []byte, reason string) error {
	text := excerpt(data)
	switch {
	case text == "":
		text = "nothing"
	case reason != "":
		text += " (" + reason + ")"
	}
	return notEvent(text, "")
}

func notEvent(found, name string) error {
	return &messages.MalformedError{Rule: "P-PIPE-2", Type: name, Want: "one JSON object with a non-empty string type", Found: found}
}

// instead names the member of data, an object without a type, that its producer probably meant to be the type.
func instead(data []byte) string {
	if v, err := state.Parse(data[:min(len(data), maxBlockText)]); err == nil {
		for key := range v.Members() {
			if codec.Similar(key, []string{"type", "eventType"}) != "" {
				return ", but there is " + codec.Quote(key)
			}
		}
	}
	return ""
}

// excerpt returns the beginning of data in one line.
func excerpt(data []byte) string {
	const longest = 80
	end := ""
	if data = bytes.TrimSpace(data); len(data) > longest {
		data, end = data[:longest], "…"
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(data), "\uFFFD")), " ") + end
}

// FrameOf returns the event that v is. It must be an object with a non-empty string type, otherwise the
// error is a [*messages.MalformedError] under P-PIPE-2.
func FrameOf(v state.Value) (Frame, error) {
	name, ok := v.Get("type").AsString()
	switch {
	case v.Kind() != state.KindObject:
		return Frame{}, notEvent(v.Kind().String(), "")
	case !ok:
		return Frame{}, notEvent("a type that is not a string, or none", "")
	case name == "":
		return Frame{}, notEvent("an empty type", "")
	}
	return Frame{&frame{name: name, typ: typesByName[name], value: v}}, nil
}

// FrameOfEvent returns the frame of a typed event, by encoding it; a Frame comes back as it is. Middleware and recordings
// use it to treat all events alike. The frame of an event that nests too deeply, or holds too many values, is malformed;
// that of nil, or of a nil pointer, is the zero Frame.
func FrameOfEvent(ev Event) Frame {
	if f, ok := ev.(Frame); ok {
		return f
	}
	if isNil(ev) {
		return Frame{}
	}
	p := &frame{}
	p.keep(Append(nil, ev))
	return Frame{p}
}

// Notice returns a frame that delivers only warnings. It replaces an event that a middleware
// dropped, so that the ordinals of the events after it stay those of the wire. It has no type and no text.
func Notice(ws ...Warning) Frame { return Frame{&frame{notice: true, notes: slices.Clone(ws)}} }

// Undecodable returns the malformed frame of data that a transport cannot decode, which need not be text, and says why. It
// takes its place in the stream, and enforcement rejects it (P-PB-3). It keeps data, which must not be changed afterwards.
func Undecodable(data []byte, why string) Frame {
	return Frame{&frame{data: data, value: state.String(why)}}
}

// IsNotice reports whether the frame came from [Notice].
func (f Frame) IsNotice() bool { return f.p != nil && f.p.notice }

// Err returns why the frame is not an event: a [*messages.MalformedError] under P-PIPE-2; nil if it is one or a notice.
func (f Frame) Err() error {
	if f.p == nil {
		return notEvent("nothing", "")
	}
	if !f.p.malformed() {
		return nil
	}
	if why, ok := f.p.value.AsString(); ok {
		return &messages.MalformedError{Rule: "P-PB-3", Want: "an encoded event", Found: why}
	}
	_, err := new(found).scan(f.p.data)
	return err
}

// malformed reports whether p holds data that is not an event.
func (p *frame) malformed() bool { return p.name == "" && !p.notice }

// Type returns the type, TypeUnknown if the name is none of the 36.
func (f Frame) Type() Type {
	if f.p == nil {
		return TypeUnknown
	}
	return f.p.typ
}

// TypeName returns the type as it came, which may be none of the 36; "" for a notice and a malformed frame.
func (f Frame) TypeName() string {
	if f.p == nil {
		return ""
	}
	return f.p.name
}

// Owner returns who the event is attributed to: its subagentRunId, if its type may carry one and it is a
// string, else the parent agent. Unless the frame was made from a value it costs a pass over the text.
func (f Frame) Owner() messages.Owner {
	if t := f.Type(); !t.isAttributable() && !t.requiresOwner() {
		return messages.Owner{}
	}
	if id, ok := f.text("subagentRunId"); ok {
		return messages.SubagentOwner(id)
	}
	return messages.Owner{}
}

// text returns the member key, if it is a string.
func (f Frame) text(key string) (string, bool) {
	if f.p == nil || f.p.value.Exists() {
		return f.Value().Get(key).AsString()
	}
	literal := member(f.p.data, key)
	if len(literal) == 0 || literal[0] != '"' {
		return "", false
	}
	return string(jsontext.AppendUnescaped(nil, literal[1:len(literal)-1])), true
}

// member returns the text of the last member key of the object that data is, nil if there is none. data
// must be the text of a frame.
func member(data []byte, key string) (text []byte) {
	for m := (jsontext.Members{Data: data, Depth: state.DefaultMaxDepth}); m.Next(); {
		if m.Named(key) {
			text = m.Value()
		}
	}
	return text
}

// Data returns the event's JSON text, as it came if the frame was made from text; of a malformed frame what came, which
// need not be JSON. The caller must not change it. It is nil for a notice and the zero Frame.
func (f Frame) Data() []byte {
	switch {
	case f.p == nil:
		return nil
	case f.p.value.Exists() && !f.p.malformed():
		return f.p.value.AppendJSON(nil)
	}
	return f.p.data
}

// Size returns the length of Data, at no cost; see [state.Value.Size] for a frame that was made from a value.
func (f Frame) Size() int {
	switch {
	case f.p == nil:
		return 0
	case f.p.value.Exists() && !f.p.malformed():
		return f.p.value.Size()
	}
	return len(f.p.data)
}

// Value returns the event as an object. It parses the text anew on every call, unless the frame was made
// from a value. It is absent for a notice and a malformed frame.
func (f Frame) Value() state.Value {
	switch {
	case f.p == nil || f.p.malformed():
		return state.Value{}
	case f.p.data == nil:
		return f.p.value
	}
	v, _ := state.Parse(f.p.data)
	return v
}

func (f Frame) append(dst []byte) []byte {
	switch {
	case f.p == nil || f.p.notice:
		return append(dst, "null"...)
	case f.p.malformed():
		return jsontext.AppendString(dst, strings.ToValidUTF8(string(f.p.data), "\uFFFD"))
	case f.p.value.Exists():
		return f.p.value.AppendJSON(dst)
	}
	return append(dst, f.p.data...)
}

// MarshalJSON returns the event's text; "null" for a notice and the zero Frame, which have none; as a
// string what a malformed frame was made of. The error is always nil.
func (f Frame) MarshalJSON() ([]byte, error) { return f.append(nil), nil }

// With returns the frame with the member key set to value, or removed if value is absent. A frame always has a type:
// setting type to anything but a non-empty string, or a member of a notice or a malformed frame, changes nothing.
func (f Frame) With(key string, value state.Value) Frame {
	if f.p == nil || f.p.name == "" {
		return f
	}
	return f.edited(f.Value().With(key, value))
}

// edited returns the frame with v as its object, or f if v is not an event.
func (f Frame) edited(v state.Value) Frame {
	g, err := FrameOf(v)
	if err != nil {
		return f
	}
	g.p.notes = f.p.notes
	return g
}

// Warnings returns the notes that travel with the frame: the warnings of conversions and middleware. The code
// that decodes the frame reports them, in addition to the warnings of decoding. The caller must not change them.
func (f Frame) Warnings() []Warning {
	if f.p == nil {
		return nil
	}
	return f.p.notes
}

// WithWarnings returns the frame with more notes. They are reported when the frame is applied.
func (f Frame) WithWarnings(ws ...Warning) Frame {
	if f.p == nil || len(ws) == 0 {
		return f
	}
	p := *f.p
	p.notes = slices.Concat(p.notes, ws)
	return Frame{&p}
}

func (Frame) event() {}
