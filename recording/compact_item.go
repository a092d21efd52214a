package recording

import (
	"bytes"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// item is one event of a compacted run, or what several have come to.
type item struct {
	prev, next *item
	ev         event.Event // the first one, or the last one of the state's
	at         time.Duration
	line       int
	carries    bool // it is the first event of the run with its tag, which may make a subagent known (P-SUB-1)
	span       bool // it begins or ends a reasoning span, which has no effect
	reopens    bool // a START of a message that was there
	merged     bool // it stands for several events

	text []byte // of merged contents, all deltas
	meta messages.Metadata

	// The state, or the content of an activity, before and after.
	about    subject
	from, to state.Value
	replaced bool   // a snapshot of the state is among the events
	typ      string // of the activity
}

// subject is what an item is about besides a text.
type subject uint8

const (
	anything subject = iota
	sharedState
	wholeActivity   // ACTIVITY_SNAPSHOT
	patchedActivity // ACTIVITY_DELTA
)

// add appends an event to the run.
func (c *compactor) add(ev event.Event) *item {
	o := ev.Owner()
	it := &item{ev: ev, at: c.at.At, line: c.at.Line, carries: !o.IsParent() && !c.seen[o], prev: c.last}
	if c.last == nil {
		c.first = it
	} else {
		c.last.next = it
	}
	c.last = it
	return it
}

// skip leaves an event out that has no effect but perhaps by its tag.
func (c *compactor) skip(ev event.Event) {
	if o := ev.Owner(); !o.IsParent() && !c.seen[o] {
		c.add(carrier(o))
	}
}

// carrier returns an event that has no effect but by its tag.
func carrier(o messages.Owner) event.Event {
	return &event.Raw{Attribution: event.By(o), Event: state.Null()}
}

// drop removes an item, or what it does besides making its tag known.
func (c *compactor) drop(it *item) {
	if it.carries {
		*it = item{prev: it.prev, next: it.next, at: it.at, line: it.line, carries: true, ev: carrier(it.ev.Owner())}
		return
	}
	if it.prev == nil {
		c.first = it.next
	} else {
		it.prev.next = it.next
	}
	if it.next == nil {
		c.last = it.prev
	} else {
		it.next.prev = it.prev
	}
}

// made returns the event that the item has become, nil if none is left.
func (c *compactor) made(it *item) event.Event {
	switch {
	case it.span && !c.rejected && it.carries:
		return carrier(it.ev.Owner())
	case it.span && !c.rejected:
		return nil
	case it.about == sharedState:
		return c.madeState(it)
	case !it.merged:
		return it.ev
	}
	switch e := it.ev.(type) {
	case *event.TextMessageStart:
		n := *e
		n.Metadata = it.meta
		return &n
	case *event.ReasoningMessageStart:
		n := *e
		n.Metadata = it.meta
		return &n
	case *event.ToolCallStart:
		n := *e
		n.Metadata = it.meta
		return &n
	case *event.TextMessageContent:
		n := *e
		n.Delta, n.Metadata = string(it.text), it.meta
		return &n
	case *event.ReasoningMessageContent:
		n := *e
		n.Delta, n.Metadata = string(it.text), it.meta
		return &n
	case *event.ToolCallArgs:
		n := *e
		n.Delta, n.Metadata = string(it.text), it.meta
		return &n
	case *event.ActivitySnapshot:
		n := *e
		n.Content, n.ActivityType, n.Metadata = it.to, it.typ, it.meta
		return &n
	case *event.ActivityDelta:
		n := *e
		n.Patch, n.ActivityType, n.Metadata = diff(it.from, it.to), it.typ, it.meta
		return &n
	}
	return it.ev
}

// madeState returns the shortest event that leads to the state.
func (c *compactor) madeState(it *item) event.Event {
	tag := event.By(it.ev.Owner())
	whole := &event.StateSnapshot{Attribution: tag, Snapshot: it.to}
	if it.replaced && !c.hasState { // whoever folds it may begin with a state that the recording does not tell
		return whole
	}
	patch := diff(it.from, it.to)
	if len(patch) == 0 && c.hasState {
		if it.carries {
			return carrier(it.ev.Owner())
		}
		return nil
	}
	var shortest event.Event = &event.StateDelta{Attribution: tag, Delta: patch}
	size := len(event.Append(nil, shortest))
	if n := len(event.Append(nil, whole)); n < size {
		shortest, size = whole, n
	}
	if !it.merged && len(event.Append(nil, it.ev)) < size {
		return it.ev
	}
	return shortest
}

func diff(from, to state.Value) state.Patch {
	if patch := state.Diff(from, to); patch != nil {
		return patch
	}
	return state.Patch{}
}

// withoutRaw returns the frame without its rawEvent.
func withoutRaw(f event.Frame) event.Frame {
	if !bytes.Contains(f.Data(), []byte(`"rawEvent"`)) {
		return f
	}
	return f.With("rawEvent", state.Value{})
}
