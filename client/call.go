package client

import (
	"context"
	"fmt"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// call is one call of Run, Send or Resume. Its own goroutine is the only one that uses it, but for halt.
type call struct {
	session *Session
	options *RunOptions
	yield   func(reducer.Delivery, error) bool
	left    bool // the caller left the loop
	result  *Result

	ctx    context.Context // done with the caller's, or by halt
	cancel context.CancelCauseFunc
	halted *halted // the cause after halt; of this call alone

	resume []event.ResumeEntry
	before *reducer.Thread // what the runs start from
	runs   int
}

// halted is the cause of a context that Cancel, Close or the end of its call has ended. It does not match ErrStopped:
// to another session that is used within this one it is the end of its caller's context.
type halted struct{ _ int }

func (*halted) Error() string { return "the session stopped the run" }

// halt stops the call.
func (c *call) halt() { c.cancel(c.halted) }

// do carries the call out. The session is free again when it returns, even if the caller's loop panics.
func (c *call) do(ctx context.Context) (err error) {
	if err := c.begin(ctx); err != nil {
		return err
	}
	err = ErrStopped
	defer func() { c.end(err) }()
	return c.rounds()
}

// begin takes the session for this call, checks what can be checked before anything is sent, and adds the caller's
// messages.
func (c *call) begin(ctx context.Context) error {
	s := c.session
	added := s.completed(c.options.Messages)
	for _, a := range c.options.Resume {
		if a.err != nil {
			return a.err
		}
		c.resume = append(c.resume, a.entry)
	}
	c.halted = new(halted)
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	err := s.change(c, func(th *reducer.Thread) (*reducer.Thread, error) {
		if ctx.Err() != nil {
			return nil, canceled(ctx)
		}
		if err := s.unusable(); err != nil {
			return nil, err
		}
		if err := checkResume(th.Interrupts, c.resume, time.Now()); err != nil {
			return nil, err
		}
		th, err := withMessages(th, added)
		if err != nil {
			return nil, err
		}
		if _, callers := s.pending(th); len(callers) > 0 {
			return nil, &PendingCallError{ID: callers[0].ID, Tool: callers[0].Name}
		}
		c.before = th
		return th, nil
	})
	if err != nil {
		c.cancel(nil)
	}
	return err
}

// end gives the session back.
func (c *call) end(err error) {
	s := c.session
	c.halt() // releases the context
	if s.fold != nil {
		c.endFold(ErrStopped)
	}
	c.result = resultOf(c.before, s.thread, c.runs, err)
	phase := s.free(s.thread)
	s.mu.Lock()
	closed := s.closed
	if closed {
		phase = PhaseClosed
	}
	s.call, s.result, s.phase = nil, c.result, phase
	s.hub.Changed()
	s.mu.Unlock()
	if closed {
		s.hub.Close()
	} else {
		s.handOver()
	}
}

// rounds runs the agent, and again after each round of tool answers. A run whose calls are not all answered is not
// followed by another (events/tool-calls, Frontend tools).
func (c *call) rounds() error {
	s := c.session
	calls, _ := s.pending(s.thread)
	if err := c.answer(calls); err != nil { // what an earlier call left
		return err
	}
	for round := 0; ; round++ {
		if err := c.runOnce(); err != nil || c.left {
			return err
		}
		th := s.thread // only this goroutine changes it
		calls, callers := s.pending(th)
		interrupted := th.Status() == reducer.Interrupted
		if len(calls) > 0 && round >= s.o.MaxRounds && !interrupted {
			return ErrRounds
		}
		if err := c.answer(calls); err != nil {
			return err
		}
		if len(calls) == 0 || len(callers) > 0 || interrupted {
			return nil // the rest is the caller's
		}
	}
}

// runOnce carries out one run.
func (c *call) runOnce() error {
	s := c.session
	s.enter(PhaseSending)
	if err := s.hub.Flush(c.ctx); err != nil { // the caller's messages, or the answers of tools
		return c.cause(err)
	}
	in := c.input()
	fold := reducer.New(&reducer.Options{Thread: s.thread, Input: &in, Strict: s.o.Strict, MaxPatchedBytes: s.o.MaxPatchedBytes})
	s.mu.Lock()
	s.fold = fold
	s.mu.Unlock()
	c.runs++

	st := runStream{call: c, fold: fold}
	st.read(in)
	if st.err != nil {
		st.err = c.cause(st.err)
	}
	c.endFold(st.err)
	th := s.thread
	switch {
	case st.rejected != nil:
		return fmt.Errorf("%w: %w", ErrRejected, st.rejected)
	case st.err != nil && th.Status() == reducer.Truncated:
		return st.err
	case st.err != nil && c.ctx.Err() == nil && !c.left:
		s.o.OnWarning(event.Warning{Rule: "P-RUN-1", Text: "the stream broke off after the run had ended: " + st.err.Error()})
	}
	return th.Err()
}

// endFold ends the run's fold.
func (c *call) endFold(cause error) {
	s := c.session
	seen := s.fold.Revision()
	s.mu.Lock()
	s.hold()
	s.mu.Unlock()
	th := s.fold.End(cause)
	s.mu.Lock()
	s.thread, s.fold, s.held = th, nil, nil
	if th.Revision != seen {
		s.hub.Changed()
	}
	s.mu.Unlock()
}

// cause returns why an error came, if that is the end of the context: our own stop or the caller's.
func (c *call) cause(err error) error {
	switch {
	case c.ctx.Err() == nil:
		return err
	case context.Cause(c.ctx) == error(c.halted):
		return ErrStopped
	}
	return canceled(c.ctx)
}

// input returns the input of the next run (P-INP-1). Lists are empty rather than absent, because peers before 1.0
// require them.
func (c *call) input() event.RunInput {
	s := c.session
	in := event.RunInput{
		ThreadID: s.thread.ID, ProtocolVersion: messages.Some(event.ProtocolVersion),
		Messages:       make([]*messages.Message, 0, s.thread.Messages.Len()),
		State:          s.thread.State,
		Tools:          make([]event.Tool, 0, len(s.o.Tools)),
		Context:        s.o.Context,
		ForwardedProps: s.o.ForwardedProps,
	}
	if c.runs == 0 {
		in.RunID, in.ParentRunID, in.Resume = c.options.RunID, c.options.ParentRunID, c.resume
	}
	if in.RunID == "" {
		in.RunID = s.newID()
	}
	for _, m := range s.thread.Messages.All() {
		if m.Role != messages.RoleActivity {
			in.Messages = append(in.Messages, m)
		}
	}
	for _, t := range s.o.Tools {
		in.Tools = append(in.Tools, t.Tool)
	}
	if in.Context == nil {
		in.Context = []event.Context{}
	}
	if c.options.ForwardedProps.Exists() {
		in.ForwardedProps = c.options.ForwardedProps
	}
	if !in.ForwardedProps.Exists() {
		in.ForwardedProps = state.Object()
	}
	return in
}
