package agenttest

import (
	"iter"
	"unicode/utf8"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Chunkings yields streams that say what the given one says in other events, each with a name: deltas of one character and
// as large as possible, start, content and end in place of chunks, chunks in place of those, and neighboring messages and
// calls that arrive at the same time. They have the same messages, calls and state at the end, so code that consumes an
// agent's stream must come to the same result with each of them; revisions and places in the stream differ.
//
// The first stream is the given one. It must be valid and of typed events, not frames. The streams share events with it,
// which must not be changed.
func Chunkings(stream []event.Event) iter.Seq2[string, []event.Event] {
	return func(yield func(string, []event.Event) bool) {
		plain := expanded(stream)
		_ = yield("as it is", stream) &&
			yield("start, content and end", plain) &&
			yield("one character a delta", split(plain)) &&
			yield("deltas as large as possible", merged(plain)) &&
			yield("chunks", chunked(plain)) &&
			yield("chunks of one character", chunked(split(plain))) &&
			yield("at the same time", interleaved(plain)) &&
			yield("one character a delta, at the same time", interleaved(split(plain)))
	}
}

// expanded returns the stream without chunks (P-CHK-2 to 7), or as it is if it cannot be expanded.
func expanded(stream []event.Event) []event.Event {
	var out []event.Event
	for ev, err := range chunks.Expand(reducer.Events(stream...), nil) {
		if err != nil {
			return stream
		}
		out = append(out, ev)
	}
	return out
}

// delta is an event that appends text: which it is, to what, and how to make one with another text.
type delta struct {
	kind  event.Type
	id    string
	owner messages.Owner
	text  string
	with  func(text string) event.Event
}

// deltaOf returns what ev appends, and false if it appends nothing or carries more than text.
func deltaOf(ev event.Event) (delta, bool) {
	switch ev := ev.(type) {
	case *event.TextMessageContent:
		return delta{ev.Type(), ev.MessageID, ev.Owner(), ev.Delta, func(text string) event.Event {
			return &event.TextMessageContent{Attribution: ev.Attribution, MessageID: ev.MessageID, Delta: text}
		}}, bare(ev.Base)
	case *event.ReasoningMessageContent:
		return delta{ev.Type(), ev.MessageID, ev.Owner(), ev.Delta, func(text string) event.Event {
			return &event.ReasoningMessageContent{Attribution: ev.Attribution, MessageID: ev.MessageID, Delta: text}
		}}, bare(ev.Base)
	case *event.ToolCallArgs:
		return delta{ev.Type(), ev.ToolCallID, ev.Owner(), ev.Delta, func(text string) event.Event {
			return &event.ToolCallArgs{Attribution: ev.Attribution, ToolCallID: ev.ToolCallID, Delta: text}
		}}, bare(ev.Base)
	}
	return delta{}, false
}

// bare reports whether an event carries nothing that a thread could keep besides what its type says.
func bare(b event.Base) bool { return !b.Metadata.Exists() && !b.RawEvent.Exists() }

// split cuts each delta into single characters.
func split(stream []event.Event) []event.Event {
	var out []event.Event
	for _, ev := range stream {
		d, ok := deltaOf(ev)
		if !ok || d.text == "" {
			out = append(out, ev)
			continue
		}
		for text := d.text; text != ""; {
			n := character(text)
			out = append(out, d.with(text[:n]))
			text = text[n:]
		}
	}
	return out
}

// character returns how long the first character of text is. Bytes that are not UTF-8, such as half of a surrogate pair, stay
// together.
func character(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r != utf8.RuneError || size > 1 {
			if n == 0 {
				n = size
			}
			break
		}
		n++
	}
	return n
}

// merged joins deltas of one message or call that follow each other.
func merged(stream []event.Event) []event.Event {
	var out []event.Event
	for _, ev := range stream {
		d, ok := deltaOf(ev)
		if ok && len(out) > 0 {
			last, before := deltaOf(out[len(out)-1])
			if before && last.kind == d.kind && last.id == d.id && last.owner == d.owner {
				out[len(out)-1] = d.with(last.text + d.text)
				continue
			}
		}
		out = append(out, ev)
	}
	return out
}

// triad is a message or call that the events from start to end of a stream make, all of them and no others.
type triad struct {
	start, end int
	first      func(text messages.Opt[string]) event.Event // chunk
	more       func(text messages.Opt[string]) event.Event // chunks after it
}

// triadAt returns the triad that begins at i, if one does.
func triadAt(stream []event.Event, i int) (triad, bool) {
	var id string
	var owner messages.Owner
	var kind, last event.Type
	var first, more func(text messages.Opt[string]) event.Event
	switch ev := stream[i].(type) {
	case *event.TextMessageStart:
		if !bare(ev.Base) {
			return triad{}, false
		}
		id, owner, kind, last = ev.MessageID, ev.Owner(), event.TypeTextMessageContent, event.TypeTextMessageEnd
		first = func(text messages.Opt[string]) event.Event {
			return &event.TextMessageChunk{Attribution: ev.Attribution, MessageID: messages.Some(id), Role: ev.Role, Name: ev.Name, Delta: text}
		}
		more = func(text messages.Opt[string]) event.Event {
			return &event.TextMessageChunk{Attribution: ev.Attribution, MessageID: messages.Some(id), Delta: text}
		}
		// A continuation without a role counts as one with the role assistant (P-CHK-5).
		if ev.Role != "" {
			more = first
		}
	case *event.ReasoningMessageStart:
		if !bare(ev.Base) {
			return triad{}, false
		}
		id, owner, kind, last = ev.MessageID, ev.Owner(), event.TypeReasoningMessageContent, event.TypeReasoningMessageEnd
		first = func(text messages.Opt[string]) event.Event {
			return &event.ReasoningMessageChunk{Attribution: ev.Attribution, MessageID: messages.Some(id), Delta: text}
		}
		more = first
	case *event.ToolCallStart:
		if !bare(ev.Base) {
			return triad{}, false
		}
		id, owner, kind, last = ev.ToolCallID, ev.Owner(), event.TypeToolCallArgs, event.TypeToolCallEnd
		first = func(text messages.Opt[string]) event.Event {
			return &event.ToolCallChunk{Attribution: ev.Attribution, ToolCallID: messages.Some(id),
				ToolCallName: messages.Some(ev.ToolCallName), ParentMessageID: ev.ParentMessageID, Delta: text}
		}
		more = func(text messages.Opt[string]) event.Event {
			return &event.ToolCallChunk{Attribution: ev.Attribution, ToolCallID: messages.Some(id), Delta: text}
		}
	default:
		return triad{}, false
	}
	for j := i + 1; j < len(stream); j++ {
		if d, ok := deltaOf(stream[j]); ok && d.kind == kind && d.id == id && d.owner == owner {
			continue
		}
		if stream[j].Type() != last || !closes(stream[j], id, owner) {
			return triad{}, false
		}
		return triad{i, j, first, more}, true
	}
	return triad{}, false
}

// closes reports whether ev closes that message or call, and carries nothing else.
func closes(ev event.Event, id string, owner messages.Owner) bool {
	switch ev := ev.(type) {
	case *event.TextMessageEnd:
		return ev.MessageID == id && ev.Owner() == owner && bare(ev.Base)
	case *event.ReasoningMessageEnd:
		return ev.MessageID == id && ev.Owner() == owner && bare(ev.Base)
	case *event.ToolCallEnd:
		return ev.ToolCallID == id && ev.Owner() == owner && bare(ev.Base)
	}
	return false
}

// chunked replaces each triad by chunks.
func chunked(stream []event.Event) []event.Event {
	var out []event.Event
	var before event.Event // the start of the triad that its lane may still hold
	for i := 0; i < len(stream); i++ {
		t, ok := triadAt(stream, i)
		if ok && before != nil && sameID(before, stream[i]) {
			ok = false // its first chunk would continue that one
		}
		before = nil
		if ok {
			before = stream[i]
		}
		if !ok {
			out = append(out, stream[i])
			continue
		}
		chunk := t.first
		for _, ev := range stream[t.start+1 : t.end] {
			d, _ := deltaOf(ev)
			out = append(out, chunk(messages.Some(d.text)))
			chunk = t.more
		}
		if t.end == t.start+1 {
			out = append(out, chunk(messages.Opt[string]{}))
		}
		i = t.end
	}
	return out
}

// interleaved lets a triad and the one that follows it arrive at the same time, event by event in turn. The starts stay in
// order, so messages and calls do too.
func interleaved(stream []event.Event) []event.Event {
	var out []event.Event
	for i := 0; i < len(stream); {
		a, ok := triadAt(stream, i)
		if !ok {
			out = append(out, stream[i])
			i++
			continue
		}
		b, ok := triad{}, false
		if a.end+1 < len(stream) {
			b, ok = triadAt(stream, a.end+1)
		}
		if !ok || sameID(stream[a.start], stream[b.start]) {
			out = append(out, stream[i:a.end+1]...)
			i = a.end + 1
			continue
		}
		left, right := stream[a.start:a.end+1], stream[b.start:b.end+1]
		for len(left)+len(right) > 0 {
			if len(left) > 0 {
				out, left = append(out, left[0]), left[1:]
			}
			if len(right) > 0 {
				out, right = append(out, right[0]), right[1:]
			}
		}
		i = b.end + 1
	}
	return out
}

// sameID reports whether two starts are of one kind and id, which cannot be open twice.
func sameID(a, b event.Event) bool {
	switch a := a.(type) {
	case *event.TextMessageStart:
		b, ok := b.(*event.TextMessageStart)
		return ok && a.MessageID == b.MessageID
	case *event.ReasoningMessageStart:
		b, ok := b.(*event.ReasoningMessageStart)
		return ok && a.MessageID == b.MessageID
	case *event.ToolCallStart:
		b, ok := b.(*event.ToolCallStart)
		return ok && a.ToolCallID == b.ToolCallID
	}
	return false
}
