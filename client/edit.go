package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// AddMessages appends messages to the thread between runs; those without an id get one. A tool message goes
// behind the call that it answers, which then no longer pends, or to the end if the thread holds no such call
// (P-TOL-3). Subscribers see the change, and the agent gets it with the next run.
//
// A message that is malformed for its role is an [*messages.MalformedError], one whose kind and id the thread
// holds a [*DuplicateError]; [ErrBusy] while a run goes on, and [ErrClosed]. Then nothing has changed.
func (s *Session) AddMessages(msgs ...*messages.Message) error {
	added := s.withIDs(msgs)
	return s.edit(func() error { return s.add(added) })
}

// SetMessages replaces all messages of the thread between runs. What they answer or do not hold no longer pends.
// Errors are those of AddMessages.
func (s *Session) SetMessages(msgs ...*messages.Message) error {
	added := s.withIDs(msgs)
	return s.edit(func() error {
		if err := checkMessages(messages.List[*messages.Message]{}, added); err != nil {
			return err
		}
		s.invalid = nil
		s.change(s.thread.ReplaceMessages(added...))
		return nil
	})
}

// SetState replaces the shared state between runs. The absent value and null are taken as {}, as an agent takes
// them (P-STA-2). It returns [ErrBusy] while a run goes on, and [ErrClosed]; then nothing has changed.
func (s *Session) SetState(v state.Value) error {
	return s.edit(func() error {
		if !v.Exists() || v.Kind() == state.KindNull {
			v = state.Object()
		}
		s.setState(v)
		return nil
	})
}

// PatchState patches the shared state between runs, all of it or not at all (P-STA-3). A patch that does not
// apply is a [*state.PatchError]; [ErrBusy] while a run goes on, and [ErrClosed]. Then nothing has changed.
func (s *Session) PatchState(p state.Patch) error {
	return s.edit(func() error {
		v, err := s.thread.State.Apply(p)
		if err != nil {
			return err
		}
		s.setState(v)
		return nil
	})
}

// SetTools replaces the tools that the next runs offer. It returns [ErrBusy] while a run goes on, and
// [ErrClosed].
func (s *Session) SetTools(tools ...Tool) error {
	return s.edit(func() error {
		s.o.Tools = slices.Clone(tools)
		return nil
	})
}

// SetContext replaces the context that the next runs carry. It returns [ErrBusy] while a run goes on, and
// [ErrClosed].
func (s *Session) SetContext(context ...event.Context) error {
	return s.edit(func() error {
		s.o.Context = slices.Clone(context)
		return nil
	})
}

// edit changes something between runs.
func (s *Session) edit(do func() error) error {
	err := s.locked(func() error {
		if err := s.free(); err != nil {
			return err
		}
		return do()
	})
	s.handOver()
	return err
}

func (s *Session) locked(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return do()
}

// DuplicateError is a message that cannot be added, because the thread holds one of its kind and id (P-ID-1).
type DuplicateError struct {
	Kind messages.Kind
	ID   string
}

// Error names the kind and the id.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("client: the thread already holds a %s message with the id %q", e.Kind, e.ID)
}

// change makes th, a new revision, the thread; the lock is held and no fold goes on.
func (s *Session) change(th *reducer.Thread) {
	s.thread = th
	s.hub.Changed()
}

func (s *Session) setState(v state.Value) {
	th := *s.thread
	th.State = v
	th.Revision++
	s.change(&th)
}

// add adds messages that have ids; the lock is held.
func (s *Session) add(msgs []*messages.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	if err := checkMessages(s.thread.Messages, msgs); err != nil {
		return err
	}
	s.change(s.thread.WithMessages(msgs...))
	return nil
}

// withIDs gives ids to those messages that have none; the lock is not held.
func (s *Session) withIDs(msgs []*messages.Message) []*messages.Message {
	msgs = slices.Clone(msgs)
	for i, m := range msgs {
		if m != nil && m.ID == "" {
			c := *m
			c.ID = s.newID()
			msgs[i] = &c
		}
	}
	return msgs
}

// checkMessages judges messages that are to be added to a thread that holds others.
func checkMessages(held messages.List[*messages.Message], added []*messages.Message) error {
	if err := event.Check(&event.MessagesSnapshot{Messages: added}); err != nil {
		var malformed *messages.MalformedError
		if errors.As(err, &malformed) { // the caller made no event
			about := *malformed
			about.Type, about.Path = "message", strings.TrimPrefix(about.Path, "/messages")
			return &about
		}
		return err
	}
	type key struct {
		kind messages.Kind
		id   string
	}
	seen := make(map[key]bool, len(added))
	for _, m := range added {
		k := key{m.Kind(), m.ID}
		if seen[k] {
			return &DuplicateError{k.kind, k.id}
		}
		seen[k] = true
	}
	for _, m := range held.All() {
		if k := (key{m.Kind(), m.ID}); seen[k] {
			return &DuplicateError{k.kind, k.id}
		}
	}
	return nil
}
