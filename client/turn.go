package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Turn is one call of [Session.Start]: the run that it asks for, and the runs that follow with the answers of tools. It is
// safe for concurrent use. A turn goes on in goroutines of its own, whether or not anybody waits for it.
type Turn struct {
	session *Session
	options RunOptions
	when    WhenBusy
	watch   func(reducer.Delivery) bool // of Run, nil without; it reports whether to continue

	ctx       context.Context // done with the caller's, or by halt
	observed  context.Context // ctx with what the observers have put into it, from when the turn begins
	unobserve func(error)     // tells them that it ends; nil until it begins
	cancel    context.CancelCauseFunc
	halted    *halted       // the cause after halt; of this turn alone
	done      chan struct{} // closed when result is there
	result    *Result

	// Of the goroutine that carries the turn out; there is one at a time.
	added  []*messages.Message // with ids
	resume []event.ResumeEntry
	before *reducer.Thread // what the runs start from
	runs   int
	rounds int
	events int
	bytes  int64
	left   bool // the caller left its loop

	warnings []event.Warning // of what was settled, not reported yet

	// Guarded by session.mu.
	unhook func() bool // while it is queued: from its context
}

// halted is the cause of a context that Stop, Close or the end of its turn has ended. It does not match ErrStopped:
// to another session that is used within this one it is the end of its caller's context.
type halted struct{ _ int }

func (*halted) Error() string { return "the session stopped the run" }

// Done returns a channel that is closed when the turn has ended. Then the session is free, or the next turn of its queue
// has begun.
func (t *Turn) Done() <-chan struct{} { return t.done }

// Result says how the turn ended, nil if it has not. A turn that never began, because it was taken back, or because it could
// not be sent when its time came, has a Result without runs, and Err says why.
func (t *Turn) Result() *Result {
	select {
	case <-t.done:
		return t.result
	default:
		return nil
	}
}

// Wait waits until the turn has ended and returns its result, and the result's Err. If ctx ends first, Wait returns an
// error that matches ctx.Err() and no result; the turn goes on.
func (t *Turn) Wait(ctx context.Context) (*Result, error) {
	select {
	case <-t.done:
	default:
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil, oneshot.Canceled(ctx)
		}
	}
	return t.result, t.result.Err
}

// Stop stops the turn and waits until it has ended and its request is closed. The run ends as stopped, with [ErrStopped];
// what came stays. If tools are being answered, the calls without an answer stay pending. A turn that is queued is taken
// back. For one that has ended, Stop ends what is still read of its stream (see [SessionOptions.Linger]). If ctx ends first,
// Stop returns an error that matches ctx.Err(), and the turn is stopped all the same. A function that a tool or an agent runs
// must not wait for its own turn.
func (t *Turn) Stop(ctx context.Context) error {
	s := t.session
	if !s.withdraw(t, ErrStopped) {
		t.halt()
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		return oneshot.Canceled(ctx)
	}
	return s.closeStream(ctx, t)
}

// halt stops the turn.
func (t *Turn) halt() { t.cancel(t.halted) }

// newTurn returns a turn that has not been accepted.
func (s *Session) newTurn(ctx context.Context, o *RunOptions) (*Turn, error) {
	t := &Turn{session: s, halted: new(halted), done: make(chan struct{})}
	if o != nil {
		t.options = *o
	}
	for _, when := range []WhenBusy{t.options.WhenBusy, s.o.WhenBusy, Refuse} {
		if t.when == 0 {
			t.when = when
		}
	}
	t.added = s.completed(t.options.Messages)
	for _, a := range t.options.Resume {
		if a.err != nil {
			return nil, a.err
		}
		t.resume = append(t.resume, a.entry)
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	return t, nil
}

// admit checks what can be checked before anything is sent, adds the turn's messages, and makes it the session's. The
// session is the turn's, or changing is held and no turn is in progress.
func (t *Turn) admit() error {
	s := t.session
	if t.ctx.Err() != nil && !t.isHalted() { // what was typed ahead stays even if it is stopped at once
		return oneshot.Canceled(t.ctx)
	}
	if err := s.unusable(); err != nil {
		return err
	}
	th, err := s.onRest(t.prepare)
	if err != nil {
		return err
	}
	calls, _ := s.pending(th)
	t.before = th
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.turn, s.thread = t, th
	s.dequeue(t)
	s.become(PhaseSending)
	s.hub.Changed()
	if s.superseded() {
		t.halt()
	}
	s.mu.Unlock()
	go t.begun(calls)
	return nil
}

// prepare returns the thread that the turn starts from, which is th with the turn's messages, or why it cannot be sent.
func (t *Turn) prepare(th *reducer.Thread) (*reducer.Thread, error) {
	s := t.session
	if err := checkResume(th.Interrupts, t.resume, time.Now()); err != nil {
		return nil, err
	}
	if id := t.options.Rewind; id != "" {
		_, place := th.Message(id)
		if place < 0 {
			return nil, &NoMessageError{ID: id}
		}
		th = th.ReplaceMessages(th.Messages.Slice()[:place]...)
	}
	th, err := s.withMessages(th, t.added)
	if err != nil {
		return nil, err
	}
	if _, callers := s.pending(th); len(callers) > 0 && s.o.Unanswered != DeclineUnanswered {
		return nil, &PendingCallError{callers}
	}
	th, t.warnings = s.sendable(th)
	return th, nil
}

// isHalted reports whether the turn's context ended because the turn was stopped.
func (t *Turn) isHalted() bool { return context.Cause(t.ctx) == error(t.halted) }

// begun tells the observers that the turn begins, and carries it out.
func (t *Turn) begun(calls []pendingCall) {
	t.observed, t.unobserve = observers(t.session.o.Observers).turn(t.ctx, t.before.ID)
	t.work(calls, true)
}

// work answers calls and then, if the turn goes on, runs the agent and reads its stream.
func (t *Turn) work(calls []pendingCall, more bool) {
	returned := false // nothing has panicked, and what follows ends the turn whatever happens
	defer func() {
		if returned {
			return
		}
		err := errExit
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
		t.end(err)
	}()
	err := t.answer(calls)
	var in event.RunInput
	if err == nil && more {
		in, err = t.next()
	}
	if err != nil || !more {
		returned = true
		t.end(err)
		return
	}
	st := openStream(t, in, t.fold(in))
	t.runs++
	returned = true
	st.read(in)
}

// next returns the input of the next run, once what came before has been handed over and the stream before is closed.
func (t *Turn) next() (event.RunInput, error) {
	s := t.session
	t.settle()
	s.enter(PhaseSending)
	if err := s.hub.Flush(t.ctx); err != nil { // the caller's messages, or the answers of tools
		return event.RunInput{}, t.cause(err)
	}
	s.mu.Lock()
	previous := s.stream
	s.mu.Unlock()
	if previous != nil { // it lingered, and is being closed: runs do not overlap
		select {
		case <-previous.gone:
		case <-t.ctx.Done():
		}
	}
	if err := t.ctx.Err(); err != nil { // before anything was sent
		return event.RunInput{}, t.cause(err)
	}
	return t.input(), nil
}

// settle settles what the run before, or the answers of tools, have left, and reports what was settled.
func (t *Turn) settle() {
	s := t.session
	th, warnings := s.sendable(s.thread) // no stream has the fold: the turn has just begun, or calls were answered
	s.mu.Lock()
	if th != s.thread {
		s.thread = th
		s.hub.Changed()
	}
	s.mu.Unlock()
	warnings = append(t.warnings, warnings...)
	t.warnings = nil
	for _, w := range warnings {
		s.o.OnWarning(w)
	}
}

// fold returns the fold of a run with this input.
func (t *Turn) fold(in event.RunInput) *reducer.Reducer {
	s := t.session
	o := &reducer.Options{Thread: s.thread, Input: &in, Strict: s.o.Strict, MaxPatchedBytes: s.o.MaxPatchedBytes}
	s.mu.Lock()
	fold := s.kept
	s.kept = nil
	s.mu.Unlock()
	if fold == nil {
		return reducer.New(o)
	}
	fold.Next(o)
	return fold
}

// runEnded continues the turn after a run, which failed with err. A run whose calls are not all answered is not followed by
// another (events/tool-calls, Frontend tools).
func (t *Turn) runEnded(err error) {
	s := t.session
	if err != nil || t.left {
		t.end(err)
		return
	}
	th := s.Thread()
	calls, callers := s.pending(th)
	interrupted := th.Status() == reducer.Interrupted
	switch {
	case len(calls) == 0:
		t.end(nil)
	case t.rounds >= s.o.MaxRounds && !interrupted:
		t.end(ErrRounds)
	default:
		t.rounds++
		go t.work(calls, len(callers) == 0 && !interrupted) // else the rest is the caller's
	}
}

// count counts an event of the turn's runs.
func (t *Turn) count(ev event.Event) {
	f, ok := ev.(event.Frame)
	if ok && f.IsNotice() {
		return
	}
	t.events++
	if ok {
		t.bytes += int64(f.Size())
	}
}

// end gives the session back, or to the next turn of its queue.
func (t *Turn) end(err error) {
	s := t.session
	if t.unobserve != nil {
		t.unobserve(err)
	}
	lingers := s.lingering() // then own is held, and the thread does not change meanwhile
	th := s.Thread()
	t.result = resultOf(t.before, th, t.runs, err)
	t.result.Events, t.result.Bytes = t.events, t.bytes
	phase := s.free(th)
	t.halt() // releases the context
	s.mu.Lock()
	s.result = t.result
	s.dequeue(t)
	next := s.upNext(t.result, phase)
	s.turn = next
	switch {
	case next != nil:
		phase = PhaseSending
	case s.closed:
		phase = PhaseClosed
	case lingers != nil && lingers.running: // the agent has begun a run by itself
		phase = PhaseStreaming
	}
	close(t.done) // before the phase: who waits for the session finds the result
	s.become(phase)
	s.hub.Changed()
	closed := s.closed
	s.mu.Unlock()
	if lingers != nil {
		lingers.own.Unlock()
	}
	if closed {
		s.dropStream()
		s.hub.Close()
	} else {
		s.handOver()
	}
	if next != nil {
		next.begin()
	}
}

// rejection returns the error of a run whose stream was rejected.
func rejection(err error) error { return fmt.Errorf("%w: %w", ErrRejected, err) }

// cause returns why an error came, if that is the end of the context: our own stop or the caller's.
func (t *Turn) cause(err error) error {
	switch {
	case t.ctx.Err() == nil:
		return err
	case t.isHalted():
		return ErrStopped
	}
	return oneshot.Canceled(t.ctx)
}
