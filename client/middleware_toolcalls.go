package client

import (
	"errors"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// FilterToolCalls returns a middleware that hides the calls of tools whose name keep returns false for: their start,
// arguments, end, chunks, result and encrypted value, and their ids among those that a run finishes pending. Messages
// snapshots pass as they are. Nothing warns of what it hides. keep must be safe for concurrent use and not nil.
//
// An allow list and a deny list are one line each:
//
//	client.FilterToolCalls(func(name string) bool { return slices.Contains(allowed, name) })
//	client.FilterToolCalls(func(name string) bool { return !slices.Contains(denied, name) })
func FilterToolCalls(keep func(name string) bool) Middleware {
	if keep == nil {
		return unusableMiddleware(errors.New("there is nothing to filter tool calls with: the function is nil"))
	}
	return mapEvents(func() func(event.Event) event.Event {
		return (&toolCallFilter{keep: keep, decoder: event.NewDecoder(nil)}).filter
	})
}

// toolCallFilter filters the tool calls of one stream.
type toolCallFilter struct {
	keep    func(name string) bool
	hidden  map[string]bool // ids of the calls of this run that are hidden
	decoder *event.Decoder  // of chunks
	// What the lanes hold for the agent and for the reader: a stream that a hidden event closes stays open for the reader.
	sent, passed chunks.Router
}

// filter returns ev or what takes its place.
func (t *toolCallFilter) filter(ev event.Event) event.Event {
	typ := ev.Type()
	if typ.IsChunk() {
		return t.chunk(event.FrameOfEvent(ev))
	}
	_, _, _ = t.sent.Route(ev)
	hide := false
	switch typ {
	case event.TypeRunStarted:
		t.hidden = nil
	case event.TypeToolCallStart:
		v := event.FrameOfEvent(ev).Value()
		hide = t.hides(text(v, "toolCallId"), v)
	case event.TypeToolCallArgs, event.TypeToolCallEnd, event.TypeToolCallResult:
		hide = len(t.hidden) > 0 && t.hidden[text(event.FrameOfEvent(ev).Value(), "toolCallId")]
	case event.TypeReasoningEncryptedValue:
		if len(t.hidden) > 0 {
			v := event.FrameOfEvent(ev).Value()
			hide = text(v, "subtype") == "tool-call" && t.hidden[text(v, "entityId")]
		}
	case event.TypeRunFinished:
		if len(t.hidden) > 0 {
			ev = t.pending(event.FrameOfEvent(ev))
		}
	}
	if hide {
		return dropped(event.FrameOfEvent(ev))
	}
	_, _, _ = t.passed.Route(ev)
	return ev
}

// chunk filters a chunk. One that cannot be decoded or belongs nowhere passes, for the reader to reject.
func (t *toolCallFilter) chunk(f event.Frame) event.Event {
	ev, _, err := t.decoder.Decode(f)
	if err != nil || ev == nil {
		return f
	}
	s, opens, err := t.sent.Route(ev)
	if err != nil {
		return f
	}
	if s.Type == event.TypeToolCallChunk && (opens && t.hides(s.ID, f.Value()) || t.hidden[s.ID]) {
		return dropped(f)
	}
	// The reader must understand the chunk without what is hidden: it names its stream if the reader would take it for
	// another's (P-CHK-6), and says nothing about an opening that the reader has not seen (P-CHK-5).
	seen, anew, err := t.passed.Route(ev)
	if !opens && (err != nil || seen != s) {
		key := "messageId"
		if s.Type == event.TypeToolCallChunk {
			key = "toolCallId"
		}
		f = f.With(key, state.String(s.ID))
	}
	if !anew && len(t.hidden) > 0 {
		v := f.Value()
		for _, key := range []string{"role", "name", "toolCallName", "parentMessageId"} {
			if v.Get(key).Exists() {
				f = f.With(key, state.Value{})
			}
		}
	}
	return f
}

// hides notes whether the call that begins with v is hidden. Without a name v is malformed, which is for others to say.
func (t *toolCallFilter) hides(id string, v state.Value) bool {
	name, ok := v.Get("toolCallName").AsString()
	if !ok || t.keep(name) {
		delete(t.hidden, id)
		return false
	}
	if t.hidden == nil {
		t.hidden = map[string]bool{}
	}
	t.hidden[id] = true
	return true
}

// pending returns the end of a run without the refused calls among its pending ones.
func (t *toolCallFilter) pending(f event.Frame) event.Frame {
	outcome := f.Value().Get("outcome")
	ids := outcome.Get("pendingToolCallIds")
	if ids.Kind() != state.KindArray {
		return f
	}
	var kept []state.Value
	for _, id := range ids.Elements() {
		if s, ok := id.AsString(); !ok || !t.hidden[s] {
			kept = append(kept, id)
		}
	}
	if len(kept) == ids.Len() {
		return f
	}
	return f.With("outcome", outcome.With("pendingToolCallIds", state.Array(kept...)))
}

// text returns the member of v, or "" if it is not a string.
func text(v state.Value, key string) string {
	s, _ := v.Get(key).AsString()
	return s
}
