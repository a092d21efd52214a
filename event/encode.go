package event

import "github.com/agfold/agfold/internal/codec"

// Append appends ev as it looks on the wire, one flat object with type first: the text of a [Frame], or the JSON of a
// typed event, which is written as it is ([Check] judges it). A nil event, a nil pointer, the zero Frame and a notice
// are null.
func Append(dst []byte, ev Event) []byte {
	if f, ok := ev.(Frame); ok {
		return f.append(dst)
	}
	if isNil(ev) {
		return append(dst, "null"...)
	}
	return codec.Append(dst, ev.(typed), walkEvent)
}

func walkEvent(ev typed, c *codec.Codec) { codec.Object(c, ev, describe) }

func describe(ev typed, c *codec.Codec) {
	c.Const("type", types[ev.Type()].name)
	ev.members(c)
	ev.base().members(c)
}
