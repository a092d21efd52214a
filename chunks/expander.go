package chunks

import (
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Expander expands the chunks of one stream. It must be used by one goroutine at a time. The zero value is ready for use.
//
// Its memory is that of the most lanes that were open at once, until an event closes all of them. An event
// costs the same however many are open, except for the ends that it causes.
type Expander struct{ lanes lanes }

// Open yields the lanes that hold a stream under assembly, each with the stream's id, in the order in which the streams
// were opened. The Expander must not be used meanwhile. What is open when a stream ends was cut off: no end is made for
// it (P-CHK-7).
func (x *Expander) Open() iter.Seq2[messages.Owner, string] {
	return func(yield func(messages.Owner, string) bool) {
		for s := range x.lanes.all() {
			if !yield(s.owner, s.id) {
				return
			}
		}
	}
}

// Expand appends to dst what ev expands to and returns the extended slice. A chunk becomes the end of the stream that it
// replaces, if any, and its own start and content events, which share ev's metadata and rawEvent. Any other event is
// appended itself, after the ends that it causes (P-CHK-7).
//
// The event must have passed enforcement: a typed event as [event.Decoder] returns it or [event.Check] accepts it. A frame
// or nil is an error (P-PIPE-1).
//
// The error is an [*Error] with ordinal 0; then dst comes back as it was and what is under assembly has not changed.
func (x *Expander) Expand(dst []event.Event, ev event.Event) ([]event.Event, error) {
	end := func(s *stream) { dst = append(dst, s.end()) }
	switch e := ev.(type) {
	case event.Frame:
		return dst, &Error{Rule: "P-PIPE-1", Type: e.Type(), Lane: e.Owner(), Reason: "a frame must be decoded before it can be expanded"}
	case nil:
		return dst, &Error{Rule: "P-PIPE-1", Reason: "there is no event"}
	}
	c, ok := chunkOf(ev)
	if !ok {
		x.lanes.closeBy(ev, end)
		return append(dst, ev), nil
	}
	s, opens, err := x.lanes.route(&c)
	if err != nil {
		return dst, err
	}
	if !opens {
		if err := c.agrees(s); err != nil {
			return dst, err
		}
		if c.hasContent() || c.base.Metadata.Exists() {
			dst = append(dst, s.content(&c))
		}
		return dst, nil
	}
	x.lanes.open(s, end)
	dst = append(dst, s.start(&c))
	if c.hasContent() {
		dst = append(dst, s.content(&c))
	}
	return dst, nil
}
