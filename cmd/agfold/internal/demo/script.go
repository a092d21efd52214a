package demo

import (
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/state"
)

// script plays for the agent or one of its subagents. What it sends is sent or, once the run is stopped, is not; it need
// not know.
type script struct {
	*emit.Scope
	ids   string // what all ids are made of
	pause func(time.Duration)
}

// id returns an id that is unique to this run.
func (s *script) id(name string) string { return s.ids + "-" + name }

func (s *script) callID(name string) *emit.CallOptions { return &emit.CallOptions{ID: s.id(name)} }

// together plays several parts at the same time and continues when the last one has ended. They take turns at their pauses,
// so that a run is the same each time.
func (s *script) together(parts ...func(*script)) {
	type playing struct {
		clock time.Duration
		next  func() (pause time.Duration, more bool)
	}
	var all []*playing
	for _, part := range parts {
		next, stop := iter.Pull(func(yield func(time.Duration) bool) {
			part(&script{Scope: s.Scope, ids: s.ids, pause: func(d time.Duration) { yield(d) }})
		})
		defer stop()
		all = append(all, &playing{next: next})
	}
	var now time.Duration
	for len(all) > 0 {
		first := slices.MinFunc(all, func(a, b *playing) int { return int(a.clock - b.clock) })
		s.pause(first.clock - now)
		now = first.clock
		pause, more := first.next()
		if first.clock += pause; !more {
			all = slices.DeleteFunc(all, func(p *playing) bool { return p == first })
		}
	}
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

// stream writes a text at the pace of a model, and closes what it is written to.
func (s *script) stream(to io.WriteCloser, text string) {
	for _, piece := range pieces(text) {
		_, _ = io.WriteString(to, piece)
		s.pause(perPiece)
		if trimmed := strings.TrimRight(piece, " \n"); strings.HasSuffix(trimmed, ".") || strings.HasSuffix(piece, "\n") {
			s.pause(breath)
		}
	}
	_ = to.Close()
}

// say streams a message of the assistant.
func (s *script) say(name, text string) *emit.Text {
	t := s.Text(&emit.TextOptions{ID: s.id(name)})
	s.stream(t, text)
	return t
}

// reason streams a reasoning message.
func (s *script) reason(name, text string) {
	s.stream(s.Reasoning(&emit.TextOptions{ID: s.id(name)}), text)
}

// call streams a tool call in a message of its own.
func (s *script) call(name, tool, args string) *emit.Call {
	c := s.Call(tool, s.callID(name))
	s.stream(c, args)
	return c
}

// set changes the shared state.
func (s *script) set(path string, v any) { _ = s.State().Set(path, v) }

// patch changes the shared state in several places at once.
func (s *script) patch(ops ...state.Op) { _ = s.State().Apply(ops) }

// step plays a named step.
func (s *script) step(name string, play func()) {
	step := s.Step(name)
	play()
	_ = step.Close()
}

type object = map[string]any

func replace(path string, v state.Value) state.Op {
	return state.Op{Kind: state.OpReplace, Path: path, Value: v}
}

func add(path string, v state.Value) state.Op {
	return state.Op{Kind: state.OpAdd, Path: path, Value: v}
}

func text(s string) state.Value { return state.String(s) }

func member(key string, v state.Value) state.Member { return state.Member{Key: key, Value: v} }
