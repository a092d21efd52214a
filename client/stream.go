package client

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// patience is how long a turn waits, once its run has ended, for the end of the stream. What a server has sent already is
// then part of the turn (a late RUN_ERROR, another run), a stream that ends leaves a connection that can be used again, and a
// server that is about to return does not get the next request before that. A stream that stays open costs no more.
const patience = 2 * time.Millisecond

// fewMessages are so few that making the fold of another run costs less than keeping that of the last one.
const fewMessages = 64

// runStream is the stream of one request. Its goroutine reads it to its end: first for its turn, until the run has ended, and
// then for the session, for as long as it lingers. The fold is the goroutine's until the stream lingers. After that it
// belongs to whoever holds own, and [Session.detach] takes it away.
type runStream struct {
	session *Session
	opener  *Turn
	fold    *reducer.Reducer
	ctx     context.Context // of the request: ends with the turn's context only until the stream lingers
	cancel  context.CancelFunc
	unlink  func() bool   // from the turn's context
	gone    chan struct{} // closed when the goroutine no longer reads
	against *event.Contradictions
	seen    streamObservers

	// Of the goroutine.
	ended    bool      // the turn's run has ended
	until    time.Time // the end of the turn's patience
	err      error     // that the stream ended with, or why we stopped
	rejected error     // by the fold
	left     bool      // the caller left its loop
	returned bool      // read has neither panicked nor called runtime.Goexit

	// Guarded by own, which is taken before session.mu. The goroutine may read turn without it until the run has ended.
	own       sync.Mutex
	turn      *Turn // the opener until the stream lingers, then nil
	waiting   bool  // for the end of the stream, until the turn loses its patience
	lingering bool
	detached  bool        // the fold is not this stream's any more
	running   bool        // a run that the agent began by itself is in progress
	linger    *time.Timer // closes the stream
}

// openStream makes the stream of a turn's next run the session's. The session has no other one.
func openStream(t *Turn, in event.RunInput, fold *reducer.Reducer) *runStream {
	st := &runStream{session: t.session, opener: t, turn: t, fold: fold, gone: make(chan struct{}), against: t.session.o.Capabilities.Contradictions()}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.observed))
	st.cancel = func() { cancel(nil) }
	st.ctx, st.seen = observers(t.session.o.Observers).stream(ctx, &in)
	st.unlink = context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	s := t.session
	s.mu.Lock()
	s.fold, s.stream = fold, st
	s.mu.Unlock()
	return st
}

// read applies what the agent sends, to the end of the stream. When the run has ended it lets the turn continue.
func (st *runStream) read(in event.RunInput) {
	defer func() {
		var panicked any
		if !st.returned {
			panicked = recover()
		}
		st.close(panicked)
	}()
	for ev, err := range st.session.events(st.ctx, in, st.opener.watch != nil || st.session.o.Hooks != nil) {
		if st.ended && !st.resume() {
			if !st.late(ev, err) {
				break
			}
			continue
		}
		if err != nil {
			st.err = err
			break
		}
		if !st.apply(ev) {
			break
		}
		if st.ended {
			st.await()
		}
	}
	st.returned = true
}

// events runs the agent. Unless somebody sees the deliveries, its events may be lent, which saves making most of them.
func (s *Session) events(ctx context.Context, in event.RunInput, seen bool) iter.Seq2[event.Event, error] {
	if s.lender == nil || seen {
		return s.agent.Run(ctx, in)
	}
	return upgraded(s.lender.run(ctx, in, true), in, s.Thread)
}

// apply takes one event of the turn's run and reports whether to continue.
func (st *runStream) apply(ev event.Event) bool {
	t := st.turn
	t.count(ev)
	st.each(ev, func(d reducer.Delivery) bool {
		for _, w := range d.Warnings {
			st.session.o.OnWarning(w)
		}
		for _, w := range st.contradicted(d) {
			st.session.o.OnWarning(w)
		}
		switch d.Change.Kind {
		case reducer.RunBegan:
			st.ended, st.until = false, time.Time{}
		case reducer.RunEnded:
			st.ended = true
		}
		if hooks := st.session.o.Hooks; hooks != nil {
			hooks.Deliver(st.session.Thread, d)
		}
		st.seen.deliver(d)
		st.left = t.watch != nil && !t.watch(d)
		return !st.left
	})
	switch {
	case st.left:
		t.left, st.err = true, ErrStopped
	case st.rejected != nil:
	default:
		if st.err = st.session.hub.Flush(t.ctx); st.err == nil {
			st.err = t.ctx.Err() // whatever the agent makes of it
		}
	}
	return st.err == nil && st.rejected == nil
}

// contradicted returns what a delivery contradicts of the agent's declaration.
func (st *runStream) contradicted(d reducer.Delivery) []event.Warning {
	if d.Event == nil {
		return nil
	}
	found := st.against.Of(d.Event)
	for i := range found {
		found[i].Ordinal = d.Ordinal
	}
	return found
}

// each applies one event and calls see after each of its deliveries. The session's lock is held while the fold changes, but
// for events that may take long, and is free while see runs.
func (st *runStream) each(ev event.Event, see func(reducer.Delivery) bool) {
	s := st.session
	deliveries := st.fold.Deliver(ev)
	seen := st.fold.Revision()
	long := takesLong(ev)
	begin := func() {
		s.mu.Lock()
		if long {
			s.hold()
			s.mu.Unlock()
		}
	}
	end := func(d reducer.Delivery) {
		if long {
			s.mu.Lock()
			s.held = nil
		}
		if now := st.fold.Revision(); now != seen {
			seen = now
			if st.turn != nil || s.turn == nil && d.Change.Kind == reducer.RunBegan {
				s.phase = PhaseStreaming // nobody waits for a phase that is busy
			}
			s.hub.Changed()
		}
		s.mu.Unlock()
	}
	begin()
	more := true
	for d, err := range deliveries {
		end(d)
		s.o.Debug.Deliver(ev, d, err)
		if err != nil {
			st.rejected = err
		} else {
			more = see(d)
		}
		begin()
		if !more || st.rejected != nil {
			break
		}
	}
	end(reducer.Delivery{}) // the rest of an event whose loop was left
}

// takesLong reports whether folding an event may cost what the thread or a value in it holds, not only what is new.
func takesLong(ev event.Event) bool {
	switch ev.Type() {
	case event.TypeMessagesSnapshot, event.TypeStateSnapshot, event.TypeStateDelta, event.TypeActivitySnapshot,
		event.TypeActivityDelta, event.TypeRunStarted, event.TypeRunFinished, event.TypeRunError,
		event.TypeTextMessageEnd, event.TypeReasoningMessageEnd, event.TypeToolCallEnd: // an end may copy the whole text
		return true
	}
	return false
}

// await makes the turn wait for what follows the end of its run, but not for long.
func (st *runStream) await() {
	if st.until.IsZero() {
		st.until = time.Now().Add(patience)
	}
	st.own.Lock()
	st.waiting = true
	st.own.Unlock()
	time.AfterFunc(time.Until(st.until), st.release)
}

// resume ends the waiting because something came. It returns false if the turn has not waited for it.
func (st *runStream) resume() bool {
	st.own.Lock()
	defer st.own.Unlock()
	st.waiting = false
	return !st.lingering
}

// release lets the turn continue, and the stream linger.
func (st *runStream) release() {
	st.own.Lock()
	if !st.waiting {
		st.own.Unlock()
		return
	}
	t := st.turn
	st.waiting, st.lingering, st.turn = false, true, nil
	st.unlink()
	st.arm()
	st.own.Unlock()
	t.runEnded(st.session.Thread().Err())
}

// arm starts the time for which the stream may linger. own is held.
func (st *runStream) arm() {
	if after := st.session.o.Linger; after > 0 {
		st.linger = time.AfterFunc(after, st.cancel)
	}
}

// disarm stops that time. own is held.
func (st *runStream) disarm() {
	if st.linger != nil {
		st.linger.Stop()
	}
}

// late takes what comes while the stream lingers, and reports whether to continue.
func (st *runStream) late(ev event.Event, err error) bool {
	if st.ctx.Err() != nil { // too late
		return false
	}
	if err != nil {
		st.err = err
		return false
	}
	seen, ok := st.foldLate(ev)
	if !ok {
		return false
	}
	for _, l := range seen {
		for _, w := range l.Warnings {
			st.session.o.OnWarning(w)
		}
		if l.thread != nil {
			st.session.o.Hooks.Deliver(func() *reducer.Thread { return l.thread }, l.Delivery)
		}
		st.seen.deliver(l.Delivery)
	}
	return st.rejected == nil && st.session.hub.Flush(st.ctx) == nil
}

// lateDelivery is a delivery of a lingering stream, with the thread after it if there are hooks.
type lateDelivery struct {
	reducer.Delivery
	thread *reducer.Thread
}

// foldLate folds an event of a lingering stream and returns what it delivered, for functions that must be called without
// own. It returns false if the fold is not the stream's any more.
func (st *runStream) foldLate(ev event.Event) (seen []lateDelivery, ok bool) {
	st.own.Lock()
	defer st.own.Unlock()
	if st.detached {
		return nil, false
	}
	ended := false
	s := st.session
	st.each(ev, func(d reducer.Delivery) bool {
		d.Warnings = slices.Concat(d.Warnings, st.contradicted(d))
		l := lateDelivery{Delivery: d}
		if s.o.Hooks != nil {
			l.thread = s.Thread()
		}
		seen = append(seen, l)
		switch d.Change.Kind {
		case reducer.RunBegan:
			st.running = true
			st.disarm()
		case reducer.RunEnded:
			ended = true
		}
		return true
	})
	if ended {
		if st.running {
			st.arm()
		}
		st.running = false
		s.settle()
	}
	return seen, true
}

// settle makes the session's phase that of its thread, unless a turn is in progress. The thread does not change meanwhile:
// own is held, or changing and no stream lingers.
func (s *Session) settle() {
	phase := s.free(s.Thread())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil && !s.closed {
		s.setPhase(phase)
	}
}

// errExit is the error of a run whose agent ended its goroutine.
var errExit = errors.New("the agent ended its goroutine without returning")

// close ends the stream after the last event, or after a panic, and lets its turn continue if it has waited for that.
func (st *runStream) close(panicked any) {
	s := st.session
	switch {
	case panicked != nil:
		st.err = &PanicError{Value: panicked, Stack: debug.Stack()}
	case !st.returned:
		st.err = errExit
	}
	st.own.Lock()
	t := st.turn
	st.waiting, st.turn = false, nil
	ours := st.ctx.Err() != nil || st.detached || st.left // we ended it
	if t != nil {
		if st.err == nil {
			st.err = t.ctx.Err() // an agent that ends without an error when its context ends
		}
		if st.err != nil {
			ours = ours || t.ctx.Err() != nil
			st.err = t.cause(st.err)
		}
	}
	late := st.ended && !ours && (t == nil || st.rejected == nil)
	if !st.detached {
		st.detached = true
		st.end(st.err)
		if t == nil {
			s.settle()
		}
	}
	st.disarm()
	why := st.fold.Err() // nothing changes it any more
	st.own.Unlock()
	st.unlink()
	st.cancel()
	s.mu.Lock()
	if s.stream == st {
		s.stream = nil
	}
	s.mu.Unlock()
	st.seen.end(why)
	close(st.gone)
	s.handOver()
	switch {
	case !late:
	case st.rejected != nil:
		s.o.OnWarning(event.Warning{Rule: "P-RUN-1", Text: "the stream was rejected after the run had ended: " + st.rejected.Error()})
	case st.err != nil:
		s.o.OnWarning(event.Warning{Rule: "P-RUN-1", Text: "the stream broke off after the run had ended: " + st.err.Error()})
	}
	if t != nil {
		t.runEnded(st.failure())
	}
}

// failure returns the error of the run that the stream ended with.
func (st *runStream) failure() error {
	switch {
	case st.rejected != nil:
		return rejection(st.rejected)
	case st.err != nil && !st.ended:
		return st.err
	}
	return st.session.Thread().Err()
}

// end ends the fold and makes its thread the session's. own is held.
func (st *runStream) end(cause error) {
	s := st.session
	seen := st.fold.Revision()
	s.mu.Lock()
	s.hold()
	s.mu.Unlock()
	th := st.fold.End(cause)
	s.mu.Lock()
	s.thread, s.fold, s.held, s.kept = th, nil, nil, nil
	if th.Messages.Len() > fewMessages {
		s.kept = st.fold
	}
	if th.Revision != seen {
		s.hub.Changed()
	}
	s.mu.Unlock()
}

// detach takes the fold away from a stream that lingers: what still comes is not folded. A run that has begun on it is
// stopped. It waits for the fold of at most one event, and does nothing if no stream lingers.
func (s *Session) detach() {
	if st := s.lingering(); st != nil {
		st.detach()
		st.own.Unlock()
	}
}

// lingering returns the stream that lingers and still has the fold, with own held, nil if there is none.
func (s *Session) lingering() *runStream {
	s.mu.Lock()
	st := s.stream
	s.mu.Unlock()
	if st == nil {
		return nil
	}
	st.own.Lock()
	if !st.lingering || st.detached {
		st.own.Unlock()
		return nil
	}
	return st
}

// detach is that of the session. own is held.
func (st *runStream) detach() {
	st.detached = true
	st.cancel()
	st.end(ErrStopped)
}

// onRest returns what do makes of the thread, for a turn or a change that starts from it. If do returns an error, nothing
// has changed. Otherwise no stream has the fold any more; if that has stopped a run, do has seen the thread without and with
// that. The session is the turn's, or changing is held and no turn is in progress.
func (s *Session) onRest(do func(*reducer.Thread) (*reducer.Thread, error)) (*reducer.Thread, error) {
	st := s.lingering()
	if st == nil {
		return do(s.thread) // it cannot change now
	}
	defer st.own.Unlock()
	before := s.Thread()
	after, err := do(before)
	if err != nil {
		return nil, err
	}
	st.detach()
	if s.thread != before {
		return do(s.thread)
	}
	return after, nil
}

// dropStream closes the stream that lingers, and returns it, nil if none does.
func (s *Session) dropStream() *runStream {
	s.mu.Lock()
	st := s.stream
	s.mu.Unlock()
	if st == nil {
		return nil
	}
	st.own.Lock()
	lingers := st.lingering
	st.own.Unlock()
	if !lingers {
		return nil
	}
	s.detach()
	st.cancel()
	return st
}
