package demo

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// beat is an event and the time after the run's start at which it is sent.
type beat struct {
	at time.Duration
	ev event.Event
}

// script collects the beats of one owner, the parent agent or a subagent, in the order of their times.
type script struct {
	owner messages.Owner
	run   string // the id that all others are made of
	clock time.Duration
	beats []beat
}

// id returns an id that is unique to this run.
func (s *script) id(name string) string { return s.run + "-" + name }

func (s *script) pause(d time.Duration) { s.clock += d }

func (s *script) emit(events ...event.Event) {
	for _, ev := range events {
		s.beats = append(s.beats, beat{s.clock, ev})
	}
}

// together plays several scripts at the same time and continues when the last one has ended.
func (s *script) together(parts ...*script) {
	end := s.clock
	var merged []beat
	for _, part := range parts {
		for _, b := range part.beats {
			merged = append(merged, beat{s.clock + b.at, b.ev})
		}
		end = max(end, s.clock+part.clock)
	}
	slices.SortStableFunc(merged, func(a, b beat) int { return cmp.Compare(a.at, b.at) })
	s.beats = append(s.beats, merged...)
	s.clock = end
}

// The agent's pace.
const (
	thinking = 700 * time.Millisecond
	working  = 450 * time.Millisecond
	perPiece = 45 * time.Millisecond  // of text
	breath   = 250 * time.Millisecond // after a sentence
)

// pieces cuts a text as a model streams it, a word or a part of a long one at a time.
func pieces(text string) []string {
	const longest = 9
	var out []string
	for word := range strings.SplitAfterSeq(text, " ") {
		for len(word) > longest && isASCII(word) {
			out = append(out, word[:longest/2])
			word = word[longest/2:]
		}
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// stream calls emit with each piece of a text, at the pace of a model.
func (s *script) stream(text string, emit func(piece string)) {
	for _, piece := range pieces(text) {
		emit(piece)
		s.pause(perPiece)
		if trimmed := strings.TrimRight(piece, " \n"); strings.HasSuffix(trimmed, ".") || strings.HasSuffix(piece, "\n") {
			s.pause(breath)
		}
	}
}

// say streams a message of the assistant.
func (s *script) say(name, text string) {
	id := s.id(name)
	s.emit(&event.TextMessageStart{MessageID: id, Role: messages.RoleAssistant, Attribution: event.By(s.owner)})
	s.stream(text, func(piece string) {
		s.emit(&event.TextMessageContent{MessageID: id, Delta: piece, Attribution: event.By(s.owner)})
	})
	s.emit(&event.TextMessageEnd{MessageID: id, Attribution: event.By(s.owner)})
}

// sayInChunks streams a message of the assistant as chunks.
func (s *script) sayInChunks(name, text string) {
	id := messages.Some(s.id(name))
	s.stream(text, func(piece string) {
		s.emit(&event.TextMessageChunk{MessageID: id, Delta: messages.Some(piece), Attribution: event.By(s.owner)})
		id = messages.Opt[string]{}
	})
}

// reason streams a reasoning message in its own span.
func (s *script) reason(name, text string) {
	id := s.id(name)
	s.emit(
		&event.ReasoningStart{MessageID: id, Attribution: event.By(s.owner)},
		&event.ReasoningMessageStart{MessageID: id, Attribution: event.By(s.owner)},
	)
	s.stream(text, func(piece string) {
		s.emit(&event.ReasoningMessageContent{MessageID: id, Delta: piece, Attribution: event.By(s.owner)})
	})
	s.emit(
		&event.ReasoningMessageEnd{MessageID: id, Attribution: event.By(s.owner)},
		&event.ReasoningEnd{MessageID: id, Attribution: event.By(s.owner)},
	)
}

// call streams a tool call of the message parent. If parent is "", the call gets its own message.
func (s *script) call(name, tool, parent, args string) (id string) {
	id = s.id(name)
	start := &event.ToolCallStart{ToolCallID: id, ToolCallName: tool, Attribution: event.By(s.owner)}
	if parent != "" {
		start.ParentMessageID = messages.Some(s.id(parent))
	}
	s.emit(start)
	s.stream(args, func(piece string) {
		s.emit(&event.ToolCallArgs{ToolCallID: id, Delta: piece, Attribution: event.By(s.owner)})
	})
	s.emit(&event.ToolCallEnd{ToolCallID: id, Attribution: event.By(s.owner)})
	return id
}

// result answers a tool call.
func (s *script) result(callID, content string) {
	s.emit(&event.ToolCallResult{
		MessageID: callID + "-result", ToolCallID: callID, Content: messages.Text(content),
		Role: messages.RoleTool, Attribution: event.By(s.owner),
	})
}

// patch changes the shared state.
func (s *script) patch(ops ...state.Op) {
	s.emit(&event.StateDelta{Delta: ops, Attribution: event.By(s.owner)})
}

// step plays a named step.
func (s *script) step(name string, play func()) {
	s.emit(&event.StepStarted{StepName: name, Attribution: event.By(s.owner)})
	play()
	s.emit(&event.StepFinished{StepName: name, Attribution: event.By(s.owner)})
}

func replace(path string, v state.Value) state.Op {
	return state.Op{Kind: state.OpReplace, Path: path, Value: v}
}

func add(path string, v state.Value) state.Op {
	return state.Op{Kind: state.OpAdd, Path: path, Value: v}
}

func text(s string) state.Value { return state.String(s) }

func member(key string, v state.Value) state.Member { return state.Member{Key: key, Value: v} }
