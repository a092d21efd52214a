package chunks

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// A Router says which stream each chunk belongs to (P-CHK-6). It tracks what each lane holds, what a chunk opens or
// continues, and what an event closes (P-CHK-1, P-CHK-4, P-CHK-7). [Expander], and middleware that filters chunks, use
// the same rules. It must be used by one goroutine at a time. The zero value is ready for use.
type Router struct{ lanes lanes }

// Stream is a text message, a tool call or a reasoning message that chunks assemble.
type Stream struct {
	Type  event.Type // of its chunks
	ID    string
	Owner messages.Owner // whose lane holds it
}

// Route takes the next event of the stream. For a chunk, which must have been decoded, it returns what the chunk belongs
// to and whether the chunk opens it; otherwise the zero Stream. An event that is not a chunk may be a frame.
//
// The error is an [*Error] under P-CHK-2 or P-CHK-6 with ordinal 0, and then nothing has changed. Whether a continuation
// agrees with its opener (P-CHK-5) is for the [Expander] to judge.
func (r *Router) Route(ev event.Event) (s Stream, opens bool, err error) {
	c, ok := chunkOf(ev)
	if !ok {
		r.lanes.closeBy(ev, func(*stream) {})
		return Stream{}, false, nil
	}
	to, opens, fault := r.lanes.route(&c)
	if fault != nil {
		return Stream{}, false, fault
	}
	if opens {
		r.lanes.open(to, func(*stream) {})
	}
	return Stream{Type: c.typ, ID: to.id, Owner: to.owner}, opens, nil
}

// scope is what an event that is not a chunk closes.
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

// closeBy removes the streams that ev closes, and calls closed with each, in opening order.
func (l *lanes) closeBy(ev event.Event, closed func(*stream)) {
	if len(l.byOwner) == 0 {
		return
	}
	switch scopeOf(ev.Type()) {
	case ownLane:
		l.closeLane(ev.Owner(), closed)
	case subagentLane:
		// Without an owner it is malformed and must not pass for the parent agent's.
		if owner := ev.Owner(); !owner.IsParent() {
			l.closeLane(owner, closed)
		}
	case everyLane:
		for s := range l.all() {
			closed(s)
		}
		*l = lanes{}
	}
}

// closeLane removes what the owner's lane holds, if anything, and calls closed with it.
func (l *lanes) closeLane(owner messages.Owner, closed func(*stream)) {
	if s := l.byOwner[owner]; s != nil {
		l.remove(s)
		closed(s)
	}
}

// route returns the stream that the chunk continues, or a new one that it opens.
func (l *lanes) route(c *chunk) (s *stream, opens bool, err *Error) {
	if s, err = l.continued(c); s != nil || err != nil {
		return s, false, err
	}
	s, err = c.open()
	return s, true, err
}

// open puts a new stream into its lane. What the lane held is closed (P-CHK-4).
func (l *lanes) open(s *stream, closed func(*stream)) {
	l.closeLane(s.owner, closed)
	l.add(s)
}

// continued returns the stream that the chunk continues, nil if it is a first chunk, in the order of
// P-CHK-6: a named id belongs where it is open; else the tag names the lane; else it is the parent
// agent's, or whatever is the only one of its kind.
func (l *lanes) continued(c *chunk) (*stream, *Error) {
	id, named := c.id.Get()
	if named {
		s := l.byEntity[entity{c.kind, id}]
		if s != nil && !c.tag.IsParent() && c.tag != s.owner {
			return nil, c.fail("P-CHK-6", s.owner, id, "subagentRunId names "+codec.Owner(c.tag.RunID())+", which does not hold the "+c.kind.String())
		}
		return s, nil
	}
	if s := l.byOwner[c.tag]; s != nil && s.kind == c.kind {
		return s, nil
	}
	if !c.tag.IsParent() {
		return nil, nil
	}
	s, several := l.sole(c.kind)
	if several {
		return nil, c.fail("P-CHK-6", c.tag, "", "it has neither "+c.kind.idMember()+" nor subagentRunId, and several lanes hold a "+c.kind.String())
	}
	return s, nil
}
