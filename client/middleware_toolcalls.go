package client

import (
	"errors"
	"fmt"

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
	openers      map[chunks.Stream]state.Value // of streams that the agent opened again and that stayed open for the reader
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
		t.hidden, t.openers = nil, nil
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

// openingKeys are the members that a chunk may repeat but not change (P-CHK-5).
var openingKeys = []string{"role", "name", "toolCallName", "parentMessageId"}

// chunk filters a chunk. The reader rejects one that cannot be decoded or that belongs nowhere.
func (t *toolCallFilter) chunk(f event.Frame) event.Event {
	ev, _, err := t.decoder.Decode(f)
	if err != nil || ev == nil {
		return f
	}
	s, opens, err := t.sent.Route(ev)
	if err != nil {
		if _, _, too := t.passed.Route(ev); too == nil {
			return rejectable(f, err) // the reader would take it for a part of what stayed open
		}
		return f
	}
	if s.Type == event.TypeToolCallChunk && (opens && t.hides(s.ID, f.Value()) || t.hidden[s.ID]) {
		return dropped(f)
	}
	// The reader must understand the chunk without what is hidden: it names its stream if the reader would take it for
	// another's (P-CHK-6), and says nothing about an opening that the reader has not seen (P-CHK-5).
	seen, anew, err := t.passed.Route(ev)
	if !opens && (err != nil || seen != s) {
		f = f.With(idKey(s.Type), state.String(s.ID))
	}
	switch {
	case anew:
		delete(t.openers, s)
		return f
	case opens:
		if t.openers == nil {
			t.openers = map[chunks.Stream]state.Value{}
		}
		t.openers[s] = f.Value()
	}
	opener, again := t.openers[s]
	if !again {
		return f
	}
	v := f.Value()
	for _, key := range openingKeys {
		if said, ok := v.Get(key).AsString(); ok && said != opened(opener, key) {
			return rejectable(f, fmt.Errorf("P-CHK-5: %s %q contradicts the opening of %q", key, said, s.ID))
		}
	}
	for _, key := range openingKeys {
		if v.Get(key).Exists() {
			f = f.With(key, state.Value{})
		}
	}
	return f
}

// opened returns what an opener says, as text; a role that it leaves out is assistant.
func opened(opener state.Value, key string) string {
	if key == "role" && !opener.Get(key).Exists() {
		return "assistant"
	}
	return text(opener, key)
}

// rejectable returns what the reader of a chunk must reject under P-CHK-2, because it has no id and is in a lane of its
// own. A warning says what the agent did wrong.
func rejectable(f event.Frame, err error) event.Event {
	return f.With(idKey(f.Type()), state.Value{}).With("subagentRunId", state.String("hidden by FilterToolCalls")).WithWarnings(event.Warning{
		Rule: "P-CHK-2", Type: f.TypeName(), Text: "the chunk is at fault: " + err.Error(),
	})
}

// idKey returns the member that names the stream of a chunk.
func idKey(t event.Type) string {
	if t == event.TypeToolCallChunk {
		return "toolCallId"
	}
	return "messageId"
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
