package client

import (
	"fmt"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// What is changed between runs makes a new revision of the thread, which subscribers see, and goes to the
// agent with the next run. The methods below return ErrBusy while a run goes on, and ErrClosed; then nothing
// has changed.

// AddMessages appends messages to the thread; those without an id get one. A tool message goes behind the
// call that it answers, which then no longer pends (P-TOL-3). A message that is malformed for its role is an
// [*event.MalformedError], one whose kind and id the thread holds a [*DuplicateError].
func (s *Session) AddMessages(msgs ...*messages.Message) error {
	added := s.withIDs(msgs)
	return s.edit(func() error { return s.add(added) })
}

// SetMessages replaces all messages of the thread. What they answer or do not hold no longer pends. Errors are
// those of AddMessages.
func (s *Session) SetMessages(msgs ...*messages.Message) error {
	added := s.withIDs(msgs)
	return s.edit(func() error {
		if err := checkMessages(messages.List[*messages.Message]{}, added); err != nil {
			return err
		}
		s.invalid = nil
		s.change(func(th *reducer.Thread) { replaceMessages(th, added) })
		return nil
	})
}

// SetState replaces the shared state. The absent value is taken as {} (P-STA-2).
func (s *Session) SetState(v state.Value) error {
	return s.edit(func() error {
		if !v.Exists() {
			v = state.EmptyObject()
		}
		s.change(func(th *reducer.Thread) { th.State = v })
		return nil
	})
}

// PatchState patches the shared state, all of it or not at all; the error is a [*state.PatchError]
// (P-STA-3).
func (s *Session) PatchState(p state.Patch) error {
	return s.edit(func() error {
		v, err := s.thread.State.Apply(p)
		if err != nil {
			return err
		}
		s.change(func(th *reducer.Thread) { th.State = v })
		return nil
	})
}

// SetTools replaces the tools that the next runs offer.
func (s *Session) SetTools(tools ...Tool) error {
	return s.edit(func() error {
		s.o.Tools = slices.Clone(tools)
		return nil
	})
}

// SetContext replaces the context that the next runs carry.
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

// change makes a new revision of the thread; the lock is held and no fold goes on.
func (s *Session) change(edit func(*reducer.Thread)) {
	th := *s.thread
	edit(&th)
	th.Revision++
	s.thread = &th
	s.hub.Changed()
}

// add adds messages that have ids; the lock is held.
func (s *Session) add(msgs []*messages.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	if err := checkMessages(s.thread.Messages, msgs); err != nil {
		return err
	}
	s.change(func(th *reducer.Thread) {
		for _, m := range msgs {
			if m.Role == messages.RoleTool {
				placeResult(th, m)
			} else {
				th.Messages = th.Messages.Append(m)
			}
		}
	})
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

// placeResult adds a tool message where it belongs and takes its call off the pending ones (P-TOL-3).
func placeResult(th *reducer.Thread, m *messages.Message) {
	holder, index := findCall(th.Messages, m.ToolCallID)
	if holder < 0 {
		th.Messages = th.Messages.Append(m)
		return
	}
	th.Messages = th.Messages.Set(holder, answered(th.Messages.At(holder), index))
	at := holder + 1
	for at < th.Messages.Len() && th.Messages.At(at).Role == messages.RoleTool {
		at++
	}
	th.Messages = th.Messages.Insert(at, m)
	keepPending(th, func(id string) bool { return id != m.ToolCallID })
}

// findCall returns where the last call with this id is, -1 if there is none.
func findCall(list messages.List[*messages.Message], id string) (holder, index int) {
	for i, m := range list.Backward() {
		for j, tc := range m.ToolCalls.All() {
			if tc.ID == id {
				return i, j
			}
		}
	}
	return -1, -1
}

// answered returns m with one of its calls marked as answered.
func answered(m *messages.Message, index int) *messages.Message {
	h := *m
	tc := *h.ToolCalls.At(index)
	tc.Status = messages.ToolCallAnswered
	h.ToolCalls = h.ToolCalls.Set(index, &tc)
	return &h
}

// keepPending takes those calls off the pending ones that keep does not hold to.
func keepPending(th *reducer.Thread, keep func(id string) bool) {
	pending := th.PendingToolCallIDs()
	kept := slices.DeleteFunc(slices.Clone(pending), func(id string) bool { return !keep(id) })
	if len(kept) == len(pending) {
		return
	}
	run := *th.LastRun()
	run.PendingToolCallIDs = kept
	th.Runs = th.Runs.Set(th.Runs.Len()-1, &run)
}

// replaceMessages makes msgs the messages of the thread.
func replaceMessages(th *reducer.Thread, msgs []*messages.Message) {
	results := make(map[string]bool)
	for _, m := range msgs {
		if m.Role == messages.RoleTool {
			results[m.ToolCallID] = true
		}
	}
	msgs = slices.Clone(msgs)
	waiting := make(map[string]bool)
	for i, m := range msgs {
		for j, tc := range m.ToolCalls.All() {
			switch {
			case !results[tc.ID]:
				waiting[tc.ID] = true
			case tc.Status != messages.ToolCallAnswered:
				msgs[i] = answered(msgs[i], j)
			}
		}
	}
	th.Messages = messages.NewList(msgs...)
	keepPending(th, func(id string) bool { return waiting[id] })
}
