package chunks

import (
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Expander expands the chunks of one stream. It must be used by one goroutine at a time. The zero value
// is ready for use.
//
// It holds what is under assembly and nothing else: its memory is that of the lanes that are open, and
// an event costs the same however many those are, but for the ends that it causes.
type Expander struct{ lanes lanes }

// New returns an Expander with nothing under assembly.
func New() *Expander { return new(Expander) }

// Reset drops what is under assembly, without ends, and the memory that it took.
func (x *Expander) Reset() { x.lanes = lanes{} }

// Open yields the lanes that hold a stream under assembly, each with the stream's id, in the order in
// which the streams were opened. The Expander must not be used for anything else meanwhile. What is open
// when a stream ends was cut off: no end is made for it (P-CHK-7).
func (x *Expander) Open() iter.Seq2[messages.Owner, string] {
	return func(yield func(messages.Owner, string) bool) {
		for s := range x.lanes.all() {
			if !yield(s.owner, s.id) {
				return
			}
		}
	}
}

// Expand appends to dst what ev expands to and returns the extended slice. A chunk becomes the end of
// the stream that it replaces, if any, and its own start and content events, which share ev's metadata
// and rawEvent; any other event is appended itself, behind the ends that it causes (P-CHK-7).
//
// The event must have passed enforcement: a typed event as [event.Decoder] returns it or [event.Check]
// accepts it. A frame or nil is an error (P-PIPE-1).
//
// The error is an [*Error] with ordinal 0, and then dst comes back as it was and what is under assembly
// has not changed.
func (x *Expander) Expand(dst []event.Event, ev event.Event) ([]event.Event, error) {
	switch e := ev.(type) {
	case *event.TextMessageChunk:
		return x.expand(dst, textChunk(e))
	case *event.ToolCallChunk:
		return x.expand(dst, toolCallChunk(e))
	case *event.ReasoningMessageChunk:
		return x.expand(dst, reasoningChunk(e))
	case event.Frame:
		return dst, &Error{Rule: "P-PIPE-1", Type: e.Type(), Lane: e.Owner(), Reason: "a frame must be decoded before it can be expanded"}
	case nil:
		return dst, &Error{Rule: "P-PIPE-1", Reason: "there is no event"}
	}
	switch scopeOf(ev.Type()) {
	case ownLane:
		dst = x.closeLane(dst, ev.Owner())
	case subagentLane:
		// Without an owner it is malformed and must not pass for the parent agent's.
		if owner := ev.Owner(); !owner.IsParent() {
			dst = x.closeLane(dst, owner)
		}
	case everyLane:
		dst = x.closeAll(dst)
	}
	return append(dst, ev), nil
}

// scope is what an event that is no chunk closes.
type scope uint8

const (
	noLane scope = iota
	ownLane
	subagentLane
	everyLane
)

// scopeOf carries out P-CHK-7.
func scopeOf(t event.Type) scope {
	switch t {
	case event.TypeTextMessageStart, event.TypeTextMessageContent, event.TypeTextMessageEnd,
		event.TypeToolCallStart, event.TypeToolCallArgs, event.TypeToolCallEnd, event.TypeToolCallResult,
		event.TypeStepStarted, event.TypeStepFinished,
		event.TypeStateSnapshot, event.TypeStateDelta,
		event.TypeCustom,
		event.TypeReasoningStart, event.TypeReasoningEnd,
		event.TypeReasoningMessageStart, event.TypeReasoningMessageContent, event.TypeReasoningMessageEnd:
		return ownLane
	case event.TypeSubagentFinished, event.TypeSubagentError:
		return subagentLane
	case event.TypeRunStarted, event.TypeRunFinished, event.TypeRunError, event.TypeMessagesSnapshot:
		return everyLane
	}
	return noLane
}

func (x *Expander) expand(dst []event.Event, c chunk) ([]event.Event, error) {
	s, err := x.continued(&c)
	if err != nil {
		return dst, err
	}
	if s != nil {
		if err := c.agrees(s); err != nil {
			return dst, err
		}
		if c.hasContent() || c.base.Metadata.Exists() {
			dst = append(dst, s.content(&c))
		}
		return dst, nil
	}
	s, err = c.open()
	if err != nil {
		return dst, err
	}
	dst = x.closeLane(dst, s.owner) // P-CHK-4
	x.lanes.add(s)
	dst = append(dst, s.start(&c))
	if c.hasContent() {
		dst = append(dst, s.content(&c))
	}
	return dst, nil
}

// continued returns the stream that the chunk continues, nil if it is a first chunk, in the order of
// P-CHK-6: a named id belongs where it is open; else the tag names the lane; else it is the parent
// agent's, or whatever is the only one of its kind.
func (x *Expander) continued(c *chunk) (*stream, *Error) {
	id, named := c.id.Get()
	if named {
		s := x.lanes.byEntity[entity{c.kind, id}]
		if s != nil && !c.tag.IsParent() && c.tag != s.owner {
			return nil, c.fail("P-CHK-6", s.owner, id, "subagentRunId names "+ownerText(c.tag)+", which does not hold the "+c.kind.String())
		}
		return s, nil
	}
	if s := x.lanes.byOwner[c.tag]; s != nil && s.kind == c.kind {
		return s, nil
	}
	if !c.tag.IsParent() {
		return nil, nil
	}
	s, several := x.lanes.sole(c.kind)
	if several {
		return nil, c.fail("P-CHK-6", c.tag, "", "it has neither "+c.kind.idMember()+" nor subagentRunId, and several lanes hold a "+c.kind.String())
	}
	return s, nil
}

// closeLane appends the end of what the owner's lane holds, if anything.
func (x *Expander) closeLane(dst []event.Event, owner messages.Owner) []event.Event {
	s := x.lanes.byOwner[owner]
	if s == nil {
		return dst
	}
	x.lanes.remove(s)
	return append(dst, s.end())
}

// closeAll appends the end of what every lane holds, in opening order.
func (x *Expander) closeAll(dst []event.Event) []event.Event {
	for s := range x.lanes.all() {
		dst = append(dst, s.end())
	}
	x.Reset()
	return dst
}
