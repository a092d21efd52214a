package client

import (
	"context"
	"iter"

	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// RunOptions configures [Session.Start] and [Session.Run]; nil means defaults.
type RunOptions struct {
	// Rewind, if not "", is the id of a message: it and all that follow are removed from the thread first, so that the
	// conversation takes another way from there. The shared state stays. If the thread has no such message, the turn is refused
	// with a [*NoMessageError].
	Rewind string
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
	// WhenBusy says what to do while another turn is in progress; the zero value is the session's.
	WhenBusy WhenBusy
}

// Start appends messages to the thread and begins a turn: it runs the agent, answers its tool calls as far as the session
// has functions for them, and runs it again with the answers. Start does not wait for any of that; [Turn.Wait] does, and
// snapshots show it. ctx bounds the turn, not Start: when it ends, the turn ends. So a handler of an HTTP request that only
// starts a turn passes a context that outlives the request, such as one from context.WithoutCancel. Nothing is ever sent twice.
//
// Calls that earlier runs left without a result are settled first, as [SessionOptions.Unanswered] says (P-HIS-2). If calls are
// pending that functions have not been called for, because of MaxRounds, they are answered. Without messages, Start runs the
// agent on the thread as it is: so a run that failed is tried again, because its messages are in the thread already. See
// [Session.Retry].
//
// Start returns an error, and neither sends nor adds anything, with: [ErrClosed]; [ErrBusy] while another turn is in
// progress, unless WhenBusy says otherwise; an error that matches ctx.Err() if ctx is done; an [*InterruptError] while
// interrupts are pending; a [*PendingCallError] while calls of offered tools without a function have no answer, unless
// they are declined; a [*messages.MalformedError] or [*DuplicateError] about a message; a [*NoMessageError]; the error of an argument of [NewSession].
func (s *Session) Start(ctx context.Context, o *RunOptions) (*Turn, error) {
	t, err := s.newTurn(ctx, o)
	if err == nil {
		err = s.accept(t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Send is [Session.Start] with messages, and waits for the turn to end. If it returns a result, the error is the result's
// Err; otherwise it is an error of Start.
func (s *Session) Send(ctx context.Context, msgs ...*messages.Message) (*Result, error) {
	return s.do(ctx, &RunOptions{Messages: msgs})
}

// Resume continues a conversation whose last run was interrupted. Each pending interrupt needs an answer (P-INT-1): see
// [Resolve] and [Decline]. It returns like Send. If the run does not finish, the interrupts stay pending (P-RUN-3).
func (s *Session) Resume(ctx context.Context, answers ...Answer) (*Result, error) {
	return s.do(ctx, &RunOptions{Resume: answers})
}

func (s *Session) do(ctx context.Context, o *RunOptions) (*Result, error) {
	t, err := s.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return t.Wait(context.WithoutCancel(ctx)) // which ends the turn
}

// Run is a turn pulled delivery by delivery, over all rounds; it works as long as the caller pulls. While the caller
// looks at a delivery, [Session.Thread] returns the thread right after that delivery. The error that Send would return
// comes alone and last, when the turn has ended; [Snapshot.Result] has the rest. Leaving the loop stops the turn and waits
// until it has ended. The sequence can be iterated only once, and a delivery's warnings are valid until the next one.
func (s *Session) Run(ctx context.Context, o *RunOptions) iter.Seq2[reducer.Delivery, error] {
	return oneshot.Seq(func(yield func(reducer.Delivery, error) bool) {
		deliveries, more := make(chan reducer.Delivery), make(chan bool, 1)
		t, err := s.newTurn(ctx, o)
		if err == nil {
			t.watch = func(d reducer.Delivery) bool {
				deliveries <- d
				return <-more
			}
			err = s.accept(t)
		}
		if err != nil {
			yield(reducer.Delivery{}, err)
			return
		}
		looking := false
		defer func() { // the loop may have been left, by a panic too
			if looking {
				more <- false
			}
			t.halt()
			for {
				select {
				case <-deliveries:
					more <- false
				case <-t.done:
					return
				}
			}
		}()
		for {
			select {
			case d := <-deliveries:
				looking = true
				if !yield(d, nil) {
					return
				}
				looking = false
				more <- true
				continue
			case <-t.done:
			}
			break
		}
		if err := t.result.Err; err != nil {
			yield(reducer.Delivery{}, err)
		}
	})
}

// Wait waits until the session is free: no turn is in progress, nothing of its queue is about to be sent, and no run that
// the agent began by itself is in progress. It returns an error that matches ctx.Err() if ctx ends first.
func (s *Session) Wait(ctx context.Context) error {
	s.mu.Lock()
	if !s.phase.Busy() {
		s.mu.Unlock()
		return nil
	}
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	freed := s.freed
	s.mu.Unlock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return oneshot.Canceled(ctx)
	}
}

// Stop stops the turn in progress and waits until it has ended and its request is closed; see [Turn.Stop]. If no turn is in
// progress, it ends what is still read of the last stream. What is queued is held; see [Queue].
func (s *Session) Stop(ctx context.Context) error {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t != nil {
		return t.Stop(ctx)
	}
	return s.closeStream(ctx, nil)
}

// closeStream ends the stream that lingers, if by is nil or has opened it, and waits until it is closed.
func (s *Session) closeStream(ctx context.Context, by *Turn) error {
	s.changing.Lock()
	s.mu.Lock()
	st := s.stream
	s.mu.Unlock()
	if st == nil || by != nil && st.opener != by || s.dropStream() != st {
		s.changing.Unlock()
		return nil
	}
	s.settle()
	s.changing.Unlock()
	s.handOver()
	select {
	case <-st.gone:
		return nil
	case <-ctx.Done():
		return oneshot.Canceled(ctx)
	}
}
