package client

import (
	"context"
	"iter"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// RunOptions configures [Session.Run]; nil means defaults.
type RunOptions struct {
	// RunID is the id of the run; "" makes a new one. Runs that follow with the answers of tools get new ids.
	RunID string
	// Messages are appended to the thread first; those without an id get one. A tool message goes to the call that it
	// answers (P-TOL-3).
	Messages []*messages.Message
	// Resume answers the pending interrupts, each of them (P-INT-1).
	Resume []Answer
	// ParentRunID names the run that this one branches off from. Runs that follow with the answers of tools carry none.
	ParentRunID messages.Opt[string]
	// ForwardedProps, if present, replaces the session's.
	ForwardedProps state.Value
}

// Send appends messages to the thread, runs the agent, answers its tool calls as far as the session has functions for
// them, and returns how it ended. The error is the result's Err. Nothing is ever sent twice.
//
// If calls are still pending that the session has functions for, because an earlier call was stopped, they are
// answered first. Without messages, Send runs the agent on the thread as it is: so a run that failed is tried again,
// because its messages are in the thread already.
//
// Send returns an error and a nil result, and neither sends nor adds anything, with: [ErrClosed]; [ErrBusy] while
// another run is in progress; an error that matches ctx.Err() if ctx is done; an [*InterruptError] while interrupts are
// pending; a [*PendingCallError] while a call of an offered tool without a function has no answer; a
// [*messages.MalformedError] or [*DuplicateError] about a message; the error of an argument of [NewSession].
func (s *Session) Send(ctx context.Context, msgs ...*messages.Message) (*Result, error) {
	return s.drain(ctx, &RunOptions{Messages: msgs})
}

// Resume continues a conversation whose last run was interrupted. Each pending interrupt needs an answer (P-INT-1): see
// [Resolve] and [Decline]. It returns like Send. If the run does not finish, the interrupts stay pending (P-RUN-3).
func (s *Session) Resume(ctx context.Context, answers ...Answer) (*Result, error) {
	return s.drain(ctx, &RunOptions{Resume: answers})
}

func (s *Session) drain(ctx context.Context, o *RunOptions) (*Result, error) {
	c := call{session: s, options: o, yield: func(reducer.Delivery, error) bool { return true }}
	err := c.do(ctx)
	return c.result, err
}

// Run is Send pulled delivery by delivery, over all rounds; it works as long as the caller pulls. While the caller
// looks at a delivery, [Session.Thread] returns the thread right after that delivery. The error that Send would return
// comes alone and last, when the session is free again; [Session.Result] has the rest. Leaving the loop stops the run.
// Nil options run on the thread as it is. The sequence can be iterated only once, and a delivery's warnings are valid
// until the next one.
func (s *Session) Run(ctx context.Context, o *RunOptions) iter.Seq2[reducer.Delivery, error] {
	if o == nil {
		o = new(RunOptions)
	}
	return oneShot(func(yield func(reducer.Delivery, error) bool) {
		c := call{session: s, options: o, yield: yield}
		if err := c.do(ctx); err != nil && !c.left {
			yield(reducer.Delivery{}, err)
		}
	})
}
