package client

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// FilterToolCalls returns a middleware that hides the tool calls whose tool name keep refuses: their start,
// arguments, end, chunks, result and encrypted value, and their ids among those that a run finishes pending.
// Messages snapshots pass as they are. Nothing warns of what it hides. keep must be safe for concurrent use.
//
// An allow list and a deny list are one line each:
//
//	client.FilterToolCalls(func(name string) bool { return slices.Contains(allowed, name) })
//	client.FilterToolCalls(func(name string) bool { return !slices.Contains(denied, name) })
func FilterToolCalls(keep func(name string) bool) Middleware {
	return mapEvents(func() func(event.Event) event.Event {
		t := &toolCallFilter{keep: keep}
		t.reset()
		return t.filter
	})
}

// toolCallFilter filters the tool calls of one stream.
type toolCallFilter struct {
	keep   func(name string) bool
	hidden map[string]bool           // ids of the calls that were refused
	open   map[messages.Owner]string // the call that chunks of a lane assemble (P-CHK-1)
	lanes  map[string]messages.Owner // the same, by the call's id
}

func (t *toolCallFilter) reset() {
	t.hidden = map[string]bool{}
	t.open = map[messages.Owner]string{}
	t.lanes = map[string]messages.Owner{}
}

// filter returns ev or what stands in for it.
func (t *toolCallFilter) filter(ev event.Event) event.Event {
	typ := ev.Type()
	if len(t.open) == 0 && !t.concerns(typ) {
		return ev
	}
	f := event.FrameOfEvent(ev)
	hide := false
	switch typ {
	case event.TypeRunStarted:
		t.reset()
	case event.TypeToolCallStart:
		v := f.Value()
		hide = t.start(text(v, "toolCallId"), v)
	case event.TypeToolCallChunk:
		hide = t.chunk(f)
	case event.TypeToolCallArgs, event.TypeToolCallEnd, event.TypeToolCallResult:
		hide = t.hidden[text(f.Value(), "toolCallId")]
	case event.TypeReasoningEncryptedValue:
		v := f.Value()
		hide = text(v, "subtype") == "tool-call" && t.hidden[text(v, "entityId")]
	case event.TypeRunFinished:
		ev = t.pending(f)
	}
	if typ != event.TypeToolCallChunk {
		t.close(f)
	}
	if hide {
		return dropped(f)
	}
	return ev
}

// concerns reports whether events of the type have to be looked into.
func (t *toolCallFilter) concerns(typ event.Type) bool {
	switch typ {
	case event.TypeToolCallStart, event.TypeToolCallChunk:
		return true
	case event.TypeRunStarted, event.TypeToolCallArgs, event.TypeToolCallEnd, event.TypeToolCallResult,
		event.TypeReasoningEncryptedValue, event.TypeRunFinished:
		return len(t.hidden) > 0
	}
	return false
}

// start reports whether the call that begins with the event v is refused. Without a name it is malformed,
// which is for others to say.
func (t *toolCallFilter) start(id string, v state.Value) bool {
	name, ok := v.Get("toolCallName").AsString()
	if !ok || t.keep(name) {
		delete(t.hidden, id)
		return false
	}
	t.hidden[id] = true
	return true
}

// chunk reports whether the chunk is of a call that is refused: one that names its id, or else the call that
// its lane assembles (P-CHK-6).
func (t *toolCallFilter) chunk(f event.Frame) bool {
	v := f.Value()
	if id, ok := v.Get("toolCallId").AsString(); ok {
		if _, goesOn := t.lanes[id]; goesOn {
			return t.hidden[id]
		}
		lane := f.Owner()
		t.forget(lane)
		t.open[lane], t.lanes[id] = id, lane
		return t.start(id, v)
	}
	lane := f.Owner()
	if _, parent := t.open[lane]; lane.IsParent() && !parent && len(t.open) == 1 {
		for other := range t.open {
			lane = other
		}
	}
	id, ok := t.open[lane]
	return ok && t.hidden[id]
}

// close forgets the calls that chunks assemble and that another event closes (P-CHK-4, P-CHK-7).
func (t *toolCallFilter) close(f event.Frame) {
	if len(t.open) == 0 {
		return
	}
	switch f.Type() {
	case event.TypeUnknown, event.TypeRaw, event.TypeActivitySnapshot, event.TypeActivityDelta,
		event.TypeReasoningEncryptedValue, event.TypeSubagentStarted:
	case event.TypeRunStarted, event.TypeRunFinished, event.TypeRunError, event.TypeMessagesSnapshot:
		clear(t.open)
		clear(t.lanes)
	case event.TypeTextMessageChunk, event.TypeReasoningMessageChunk:
		if f.Value().Get("messageId").Exists() {
			t.forget(f.Owner())
		}
	default:
		t.forget(f.Owner())
	}
}

// forget forgets the call that chunks of a lane assemble.
func (t *toolCallFilter) forget(lane messages.Owner) {
	if id, ok := t.open[lane]; ok {
		delete(t.lanes, id)
		delete(t.open, lane)
	}
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

// text returns the member of v as a string, "" if it is none.
func text(v state.Value, key string) string {
	s, _ := v.Get(key).AsString()
	return s
}
