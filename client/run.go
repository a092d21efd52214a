package client

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// RunOptions are what one run is asked with beside the thread. Nil means none.
type RunOptions struct {
	// Messages are appended to the thread first; those without an id get one. A tool message goes to the
	// call that it answers (P-TOL-3).
	Messages []*messages.Message
	// Resume answers the interrupts that pend, each of them (P-INT-1).
	Resume []event.ResumeEntry
	// ParentRunID names the run that this one branches off from. The runs that follow it, with the answers of
	// tools, carry none.
	ParentRunID messages.Opt[string]
	// ForwardedProps, if present, takes the place of the session's.
	ForwardedProps state.Value
}

// Send appends messages to the thread, runs the agent, answers its tool calls as far as the session has
// functions for them, and returns how it ended. The error is the result's Err. Nothing is ever sent twice.
//
// It returns before anything is sent or added, with a nil result: [ErrClosed]; [ErrBusy] while another run
// goes on; an error that matches ctx.Err() if ctx has ended; an [*InterruptError] while interrupts pend; an
// [*messages.MalformedError] or a [*DuplicateError] of a message.
func (s *Session) Send(ctx context.Context, msgs ...*messages.Message) (*Result, error) {
	return s.drain(ctx, &RunOptions{Messages: msgs})
}

// Resume goes on with a conversation whose last run was interrupted; see [Resolve] and [Decline] for the
// answers, each pending interrupt needs one (P-INT-1). It returns like Send. If the run does not finish, the
// interrupts still pend (P-RUN-3).
func (s *Session) Resume(ctx context.Context, answers ...Answer) (*Result, error) {
	o := new(RunOptions)
	for _, a := range answers {
		if a.err != nil {
			return nil, a.err
		}
		o.Resume = append(o.Resume, a.entry)
	}
	return s.drain(ctx, o)
}

func (s *Session) drain(ctx context.Context, o *RunOptions) (*Result, error) {
	var res *Result
	var last error
	for _, err := range s.run(ctx, o, &res) {
		last = err
	}
	return res, last
}

// Run is Send pulled delivery by delivery, over all rounds; it works as long as the caller pulls. While the caller
// looks at a delivery, [Session.Thread] returns the thread right after that delivery. What Send returns as its error
// comes alone and last, when the session is free again and [Session.Result] tells the rest. Breaking out stops the
// run. Nil options run on the thread as it is. The result can be ranged over once, and a delivery's warnings are
// valid until the next one.
func (s *Session) Run(ctx context.Context, o *RunOptions) iter.Seq2[reducer.Delivery, error] {
	if o == nil {
		o = new(RunOptions)
	}
	return s.run(ctx, o, new(*Result))
}

func (s *Session) run(ctx context.Context, o *RunOptions, res **Result) iter.Seq2[reducer.Delivery, error] {
	return func(yield func(reducer.Delivery, error) bool) {
		c := &callState{s: s, o: o, yield: yield}
		err := c.begin(ctx)
		if err == nil {
			err = c.run()
			*res = c.result
		}
		if err != nil && !c.broken {
			yield(reducer.Delivery{}, err)
		}
	}
}

// callState is one call of Run, Send or Resume.
type callState struct {
	s      *Session
	o      *RunOptions
	yield  func(reducer.Delivery, error) bool
	ctx    context.Context // ends with the caller's, or by halt
	stop   context.CancelCauseFunc
	halted *halted         // what ctx ends with by halt; of this call alone
	before *reducer.Thread // what the runs start from
	runs   int
	broken bool // the caller broke out
	result *Result
}

// halted is why a context ended that Cancel or Close, or the end of its call, has ended. It does not match
// ErrStopped: to another session that is used within this one it is the end of its caller's context.
type halted struct{ _ int }

func (*halted) Error() string { return "the session stopped the run" }

// halt stops the call.
func (c *callState) halt() { c.stop(c.halted) }

// begin takes the session for this call, checks what can be checked before anything is sent, and adds the
// caller's messages.
func (c *callState) begin(ctx context.Context) error {
	s := c.s
	added := s.withIDs(c.o.Messages)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.free(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	if s.invalid != nil {
		return s.invalid
	}
	if err := checkResume(s.thread.Interrupts, c.o.Resume, time.Now()); err != nil {
		return err
	}
	if err := s.add(added); err != nil {
		return err
	}
	c.halted = new(halted)
	c.ctx, c.stop = context.WithCancelCause(ctx)
	c.before, s.call = s.thread, c
	return nil
}

// run carries the call out and gives the session back, also when the caller's loop panics.
func (c *callState) run() (err error) {
	err = ErrStopped
	defer func() { c.end(err) }()
	return c.rounds()
}

// end gives the session back.
func (c *callState) end(err error) {
	s := c.s
	c.halt() // releases the context
	s.mu.Lock()
	if s.fold != nil {
		c.finish(ErrStopped)
	}
	th := s.thread
	s.mu.Unlock()
	c.result = resultOf(c.before, th, c.runs, err)
	s.mu.Lock()
	s.call, s.result = nil, c.result
	closed := s.closed
	s.mu.Unlock()
	if closed {
		s.hub.Close()
	} else {
		s.handOver()
	}
}

// finish ends the run's fold; the lock is held.
func (c *callState) finish(cause error) {
	s := c.s
	before := s.fold.Revision()
	s.thread, s.fold = s.fold.End(cause), nil
	if s.thread.Revision != before {
		s.hub.Changed()
	}
}

// free reports why the session cannot be changed now; the lock is held.
func (s *Session) free() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.call != nil:
		return ErrBusy
	}
	return nil
}

// rounds runs the agent, and again after each round of tool answers.
func (c *callState) rounds() error {
	s := c.s
	for round := 0; ; round++ {
		if err := c.once(); err != nil || c.broken {
			return err
		}
		th := s.thread // nobody changes it now
		if th.Status() != reducer.Succeeded {
			return nil
		}
		calls := answerable(th, s.o.Tools)
		if len(calls) == 0 || s.o.MaxRounds < 0 {
			return nil
		}
		if round >= s.o.MaxRounds {
			return ErrRounds
		}
		if err := c.answer(calls); err != nil {
			return c.why(err)
		}
		if len(s.thread.PendingToolCallIDs()) > 0 {
			return nil // the rest is the caller's
		}
	}
}

// once carries out one run.
func (c *callState) once() error {
	s := c.s
	if err := s.hub.Flush(c.ctx); err != nil { // the caller's messages, or the answers of tools
		return c.why(err)
	}
	in := c.input()
	fold := reducer.New(&reducer.Options{Thread: s.thread, Input: &in, Strict: s.o.Strict})
	s.mu.Lock()
	s.fold = fold
	s.mu.Unlock()
	c.runs++

	p := pull{callState: c, fold: fold}
	p.run(in)
	if p.err != nil {
		p.err = c.why(p.err)
	}
	s.mu.Lock()
	c.finish(p.err)
	th := s.thread
	s.mu.Unlock()
	switch {
	case p.rejected != nil:
		return fmt.Errorf("%w: %w", ErrRejected, p.rejected)
	case p.err != nil && th.Status() == reducer.Truncated:
		return p.err
	case p.err != nil && c.ctx.Err() == nil && !c.broken:
		s.o.OnWarning(event.Warning{Rule: "P-RUN-1", Text: "the stream broke off after the run had ended: " + p.err.Error()})
	}
	return th.Err()
}

// pull is the reading of one run's stream.
type pull struct {
	*callState
	fold     *reducer.Reducer
	ended    bool  // the run has ended, the stream not yet
	err      error // that the stream ended with, or why we stopped
	rejected error // by the fold
}

// run applies and yields what the agent sends, to the end.
func (p *pull) run(in event.RunInput) {
	ctx, cancel := context.WithCancel(withHistory(p.ctx, p.s.thread))
	defer cancel()
	var linger *time.Timer // for all that comes between the end of a run and the next run
	var until time.Time
	for ev, err := range p.s.agent.Run(ctx, in) {
		if linger != nil && !linger.Stop() {
			return // too late
		}
		if err != nil {
			p.err = err
			return
		}
		if !p.apply(ev) {
			return
		}
		switch {
		case !p.ended || p.s.o.Linger < 0:
			linger = nil
		case linger == nil:
			until = time.Now().Add(p.s.o.Linger)
			linger = time.AfterFunc(p.s.o.Linger, cancel)
		default:
			linger.Reset(time.Until(until))
		}
	}
	if linger != nil {
		linger.Stop()
	}
	if !p.ended && p.ctx.Err() != nil {
		p.err = p.ctx.Err() // an agent that ends quietly when it is told to
	}
}

// apply takes one event and reports whether to go on.
func (p *pull) apply(ev event.Event) bool {
	s := p.s
	deliveries := p.fold.Deliver(ev) // decoded without the lock
	s.mu.Lock()
	seen := p.fold.Revision()
	changed := func() {
		if now := p.fold.Revision(); now != seen {
			seen = now
			s.hub.Changed()
		}
	}
	for d, err := range deliveries {
		changed()
		if err != nil {
			p.rejected = err
			break
		}
		s.mu.Unlock() // whoever looks at the delivery may use the session
		more := p.deliver(d)
		s.mu.Lock()
		if !more {
			p.broken, p.err = true, ErrStopped
			break
		}
	}
	changed() // by the rest of an event whose loop was left
	s.mu.Unlock()
	if p.rejected != nil || p.broken {
		return false
	}
	if p.err = s.hub.Flush(p.ctx); p.err == nil {
		p.err = p.ctx.Err() // whatever the agent makes of it
	}
	return p.err == nil
}

// deliver hands a delivery to the caller and reports whether to go on.
func (p *pull) deliver(d reducer.Delivery) bool {
	for _, w := range d.Warnings {
		p.s.o.OnWarning(w)
	}
	switch d.Change.Kind {
	case reducer.RunBegan:
		p.ended = false
	case reducer.RunEnded:
		p.ended = true
	}
	return p.yield(d, nil)
}

// why names the true reason of an error that came while the context had ended: our own stop or the caller's.
func (c *callState) why(err error) error {
	switch {
	case c.ctx.Err() == nil:
		return err
	case context.Cause(c.ctx) == error(c.halted):
		return ErrStopped
	}
	return canceled(c.ctx)
}

// input makes what the next run is asked with (P-INP-1). Lists are empty rather than absent, for peers before
// 1.0 require them.
func (c *callState) input() event.RunInput {
	s := c.s
	in := event.RunInput{
		ThreadID: s.thread.ID, RunID: s.newID(), ProtocolVersion: messages.Some(event.ProtocolVersion),
		Messages:       make([]*messages.Message, 0, s.thread.Messages.Len()),
		State:          s.thread.State,
		Tools:          make([]event.Tool, 0, len(s.o.Tools)),
		Context:        s.o.Context,
		ForwardedProps: s.o.ForwardedProps,
	}
	if c.runs == 0 {
		in.ParentRunID, in.Resume = c.o.ParentRunID, c.o.Resume
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
	if c.o.ForwardedProps.Exists() {
		in.ForwardedProps = c.o.ForwardedProps
	}
	if !in.ForwardedProps.Exists() {
		in.ForwardedProps = state.Object()
	}
	return in
}
