package client

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// AddMessages appends messages to the thread between runs; those without an id get one. A tool message goes after the
// call that it answers, which is then no longer pending, or to the end if the thread holds no such call (P-TOL-3).
// Subscribers see the change at once, and the agent gets it with the next run.
//
// AddMessages returns an error and changes nothing with: [ErrBusy] while a turn is in progress; [ErrClosed]; a
// [*messages.MalformedError] if a message is malformed for its role; a [*DuplicateError] if the thread holds a message of
// its kind and id.
func (s *Session) AddMessages(msgs ...*messages.Message) error {
	added := s.completed(msgs)
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) { return s.withMessages(th, added) })
}

// SetMessages replaces all messages of the thread between runs. Calls that they answer or do not hold are no longer
// pending. Errors are those of AddMessages.
func (s *Session) SetMessages(msgs ...*messages.Message) error {
	set := s.completed(msgs)
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		if err := checkMessages(set, nil); err != nil {
			return nil, err
		}
		s.invalid = nil
		return th.ReplaceMessages(set...), nil
	})
}

// SetState replaces the shared state between runs. The absent value and null mean {}, as they do for an agent
// (P-STA-2). It returns [ErrBusy] while a turn is in progress, or [ErrClosed]; then nothing has changed.
func (s *Session) SetState(v state.Value) error {
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		if !codec.Given(v) {
			v = state.Object()
		}
		return withState(th, v), nil
	})
}

// PatchState patches the shared state between runs, all of it or not at all (P-STA-3). A patch that does not apply, or
// that exceeds [SessionOptions.MaxPatchedBytes], is a [*state.PatchError]. Otherwise it returns like SetState.
func (s *Session) PatchState(p state.Patch) error {
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		v, err := th.State.ApplyLimit(p, s.patchLimit(th))
		if err != nil {
			return nil, err
		}
		return withState(th, v), nil
	})
}

// patchLimit returns how large a patch may make the state beside the activities of the thread.
func (s *Session) patchLimit(th *reducer.Thread) int {
	limit := s.o.MaxPatchedBytes
	if limit < 0 {
		return math.MaxInt
	}
	limit = cmp.Or(limit, state.DefaultMaxSize)
	for _, m := range th.Messages.All() {
		if m.Role == messages.RoleActivity {
			limit -= m.Activity.Size()
		}
	}
	return limit
}

// SetTools replaces the tools that the next runs offer. It returns [ErrBusy] while a turn is in progress, or [ErrClosed].
func (s *Session) SetTools(tools ...Tool) error {
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		s.o.Tools = slices.Clone(tools)
		return th, nil
	})
}

// SetContext replaces the context that the next runs carry. It returns [ErrBusy] while a turn is in progress, or
// [ErrClosed].
func (s *Session) SetContext(context ...event.Context) error {
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		s.o.Context = slices.Clone(context)
		return th, nil
	})
}

// edit changes something between runs.
func (s *Session) edit(do func(*reducer.Thread) (*reducer.Thread, error)) error {
	err := s.change(do)
	s.handOver()
	return err
}

// change makes what do returns the thread. Only one change is made at a time, and do runs without mu: until it has
// returned, everybody else sees the thread as it was.
func (s *Session) change(do func(*reducer.Thread) (*reducer.Thread, error)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.available(); err != nil {
		return err
	}
	after, err := s.onRest(do)
	if err != nil {
		return err
	}
	phase := s.free(after)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if after != s.thread || phase != s.phase {
		s.thread = after
		s.become(phase)
		s.hub.Changed()
	}
	return nil
}

// available returns an error if the session is closed or a run is in progress.
func (s *Session) available() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.turn != nil:
		return ErrBusy
	}
	return nil
}

// DuplicateError says that a message cannot be added because the thread holds one of its kind and id (P-ID-1).
type DuplicateError struct {
	Kind messages.Kind
	ID   string
}

// Error names the kind and the id.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("the thread already holds a %s message with the id %q", e.Kind, e.ID)
}

// NoMessageError says that a turn cannot go back to a message, because the thread holds none with the id.
type NoMessageError struct {
	ID string
}

// Error names the id.
func (e *NoMessageError) Error() string {
	return fmt.Sprintf("the thread holds no message with the id %q", e.ID)
}

// withState returns the thread with another state.
func withState(th *reducer.Thread, v state.Value) *reducer.Thread {
	changed := *th
	changed.State = v
	changed.Revision++
	return &changed
}

// withMessages returns the thread with more messages, which have ids. The session is the caller's, as for onRest.
func (s *Session) withMessages(th *reducer.Thread, msgs []*messages.Message) (*reducer.Thread, error) {
	if len(msgs) == 0 {
		return th, nil
	}
	s.mu.Lock()
	fold := s.kept
	s.mu.Unlock()
	held := holds(th.Messages)
	if fold != nil && messages.Same(fold.Thread().Messages, th.Messages) {
		held = func(keys map[messages.Key]bool) (messages.Key, bool) {
			for k := range keys {
				if fold.Holds(k) {
					return k, true
				}
			}
			return messages.Key{}, false
		}
	}
	if err := checkMessages(msgs, held); err != nil {
		return nil, err
	}
	return th.WithMessages(msgs...), nil
}

// holds returns a function that returns one of some keys that a list holds, by a pass over it.
func holds(list messages.List[*messages.Message]) func(map[messages.Key]bool) (messages.Key, bool) {
	return func(keys map[messages.Key]bool) (messages.Key, bool) {
		for _, m := range list.All() {
			if k := m.Key(); keys[k] {
				return k, true
			}
		}
		return messages.Key{}, false
	}
}

// completed returns the messages with ids for those that have none, and with text that is UTF-8, as the agent receives
// it. The lock is not held.
func (s *Session) completed(msgs []*messages.Message) []*messages.Message {
	msgs = slices.Clone(msgs)
	for i, m := range msgs {
		if m == nil || m.ID != "" && isUTF8(m) {
			continue
		}
		c := *m
		if c.ID == "" {
			c.ID = s.newID()
		}
		if !isUTF8(m) {
			c.ID, c.ToolCallID = validText(c.ID), validText(m.ToolCallID)
			c.Content, c.Name, c.Error = validContent(m.Content), validOpt(m.Name), validOpt(m.Error)
			for i, call := range m.ToolCalls.All() {
				if call == nil {
					continue // the check reports it
				}
				valid := *call
				valid.ID, valid.Name, valid.Arguments = validText(call.ID), validText(call.Name), validText(call.Arguments)
				c.ToolCalls = c.ToolCalls.Set(i, &valid)
			}
		}
		msgs[i] = &c
	}
	return msgs
}

func isUTF8(m *messages.Message) bool {
	for _, p := range m.Content.Parts() {
		if !utf8.ValidString(p.Text) {
			return false
		}
	}
	for _, call := range m.ToolCalls.All() {
		if call != nil && !(utf8.ValidString(call.ID) && utf8.ValidString(call.Name) && utf8.ValidString(call.Arguments)) {
			return false
		}
	}
	for _, text := range [...]string{m.ID, m.ToolCallID, m.Name.Or(""), m.Error.Or("")} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return (m.Content.IsParts() || utf8.ValidString(m.Content.Text()))
}

// validText returns s with U+FFFD for each byte that is not UTF-8, as the encoder does.
func validText(s string) string { return string([]rune(s)) }

func validOpt(text messages.Opt[string]) messages.Opt[string] {
	if s, ok := text.Get(); ok {
		return messages.Some(validText(s))
	}
	return text
}

func validContent(c messages.Content) messages.Content {
	if !c.IsParts() {
		return messages.Text(validText(c.Text()))
	}
	parts := slices.Clone(c.Parts())
	for i := range parts {
		parts[i].Text = validText(parts[i].Text)
	}
	return messages.Parts(parts...)
}

// checkMessages checks messages that are to be added to a thread. held returns one of some keys that the thread holds; nil
// means that it is empty.
func checkMessages(added []*messages.Message, held func(map[messages.Key]bool) (messages.Key, bool)) error {
	if err := event.Check(&event.MessagesSnapshot{Messages: added}); err != nil {
		if malformed, ok := errors.AsType[*messages.MalformedError](err); ok { // name the message, not the event made for the check
			about := *malformed
			about.Type, about.Path = "message", strings.TrimPrefix(about.Path, "/messages")
			return &about
		}
		return err
	}
	seen := make(map[messages.Key]bool, len(added))
	for _, m := range added {
		k := m.Key()
		if seen[k] {
			return &DuplicateError{k.Kind, k.ID}
		}
		seen[k] = true
	}
	if held != nil {
		if k, holds := held(seen); holds {
			return &DuplicateError{k.Kind, k.ID}
		}
	}
	return nil
}
