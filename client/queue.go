package client

import (
	"context"
	"slices"

	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// WhenBusy says what becomes of a call while another turn is in progress.
type WhenBusy uint8

// What becomes of it. The zero value is the session's own choice, and for a session it is Refuse.
const (
	// Refuse returns [ErrBusy]. Nothing is added or sent.
	Refuse WhenBusy = iota + 1
	// Queue accepts the call and sends it later: its messages are typed ahead. They are in [Snapshot.Queued] until their
	// turn comes, in order. [Session.Unqueue], [Turn.Stop] and the end of the call's context take them back.
	//
	// The queue moves on when a turn has succeeded and nothing waits for the caller. After any other end (an error, a stop, a
	// cancelled run, an interrupt, a call for the caller) it is held: what was typed ahead may make no sense any more, and
	// after an interrupt it cannot be sent. It stays visible, and moves on after the next turn that succeeds, such as a Resume
	// or another try; another message with Queue goes to its end and makes it move on at once. Close ends the queued turns
	// with [ErrClosed], and the last snapshot still shows their messages.
	//
	// What can only be known when its turn comes, such as an [*InterruptError], is then the error of the turn. Answers to
	// interrupts are not queued: such a call is refused.
	Queue
	// Supersede stops the turn in progress, which ends with [ErrStopped], and then sends, before what is queued. What the turn
	// in progress said so far stays in the thread.
	Supersede
)

var whenBusyNames = [...]string{"default", "refuse", "queue", "supersede"}

// String returns "refuse", "queue", "supersede", "default" for the zero value, and "unknown" for another one.
func (w WhenBusy) String() string {
	if int(w) >= len(whenBusyNames) {
		return "unknown"
	}
	return whenBusyNames[w]
}

// accept makes t the turn in progress, puts it into the queue, or returns an error, and then nothing has changed.
func (s *Session) accept(t *Turn) (err error) {
	s.changing.Lock()
	defer func() {
		s.changing.Unlock()
		if err != nil {
			t.cancel(nil)
		}
	}()
	if t.ctx.Err() != nil {
		return oneshot.Canceled(t.ctx)
	}
	s.mu.Lock()
	closed, busy := s.closed, s.turn != nil
	wait := busy || t.when == Queue && len(s.queue) > 0 && len(t.added) > 0
	s.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case !wait:
		return t.admit()
	case t.when == Queue && len(t.resume) == 0, t.when == Supersede:
		return s.enqueue(t)
	}
	return ErrBusy
}

// enqueue puts t into the queue. changing is held.
func (s *Session) enqueue(t *Turn) error {
	if err := unusableError(s.agent); err != nil {
		return err
	}
	now := s.Snapshot()
	for _, held := range []messages.List[*messages.Message]{now.Messages, messages.NewList(now.Queued...)} {
		if err := checkMessages(t.added, holds(held)); err != nil {
			return err
		}
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	at := len(s.queue)
	if t.when == Supersede {
		at = slices.IndexFunc(s.queue, func(q *Turn) bool { return q.when != Supersede })
		if at < 0 {
			at = len(s.queue)
		}
	}
	s.queue = slices.Insert(slices.Clip(s.queue), at, t)
	s.listQueued()
	t.unhook = context.AfterFunc(t.ctx, func() { s.withdraw(t, nil) })
	var next *Turn
	switch {
	case s.turn == nil: // the queue was held, or the turn has ended meanwhile
		next = s.queue[0]
		s.turn = next
		s.become(PhaseSending)
	case t.when == Supersede:
		s.turn.halt()
	}
	s.hub.Changed()
	s.mu.Unlock()
	s.handOver()
	if next != nil {
		go next.begin()
	}
	return nil
}

// begin admits a turn of the queue that has become the turn in progress.
func (t *Turn) begin() {
	if err := t.admit(); err != nil {
		t.before = t.session.Thread()
		t.end(err)
	}
}

// upNext returns the turn that follows one that ended with res and would leave the session in this phase; nil if the
// session is free. mu is held.
func (s *Session) upNext(res *Result, phase Phase) *Turn {
	switch {
	case s.closed || len(s.queue) == 0:
		return nil
	case s.superseded() || res.Err == nil && res.Status == reducer.Succeeded && phase == PhaseIdle:
		return s.queue[0]
	}
	return nil
}

// superseded reports whether a turn waits that stops the one in progress. mu is held.
func (s *Session) superseded() bool { return len(s.queue) > 0 && s.queue[0].when == Supersede }

// dequeue removes t from the queue, if it is there. mu is held.
func (s *Session) dequeue(t *Turn) bool {
	at := slices.Index(s.queue, t)
	if at < 0 {
		return false
	}
	s.queue = slices.Delete(slices.Clone(s.queue), at, at+1)
	t.unhook()
	s.listQueued()
	return true
}

// listQueued makes the list of queued messages anew. mu is held.
func (s *Session) listQueued() {
	s.queued = nil
	for _, t := range s.queue {
		s.queued = append(s.queued, t.added...)
	}
}

// withdraw takes a turn back that is queued, and ends it with err, nil for that of its context. It returns false if the turn
// is not queued, or is about to begin.
func (s *Session) withdraw(t *Turn, err error) bool {
	s.mu.Lock()
	ok := s.turn != t && s.dequeue(t)
	if ok {
		s.hub.Changed()
	}
	s.mu.Unlock()
	if ok {
		s.handOver()
		t.refuse(err)
	}
	return ok
}

// refuse ends a turn that never began, with err, nil for that of its context.
func (t *Turn) refuse(err error) {
	if err == nil {
		err = t.cause(nil)
	}
	th := t.session.Thread()
	t.result = resultOf(th, th, 0, err)
	t.halt()
	close(t.done)
}

// Unqueue takes back the queued turns that hold a message with one of these ids, or all of them without ids, and returns
// their messages, in order; see [Queue]. The turns end with [ErrStopped]. A turn that has begun is not queued any more.
func (s *Session) Unqueue(ids ...string) []*messages.Message {
	s.mu.Lock()
	queue := s.queue
	s.mu.Unlock()
	var back []*messages.Message
	for _, t := range queue {
		held := len(ids) == 0 || slices.ContainsFunc(t.added, func(m *messages.Message) bool { return slices.Contains(ids, m.ID) })
		if held && s.withdraw(t, ErrStopped) {
			back = append(back, t.added...)
		}
	}
	return back
}
