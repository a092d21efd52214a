package reducer

import (
	"errors"
	"fmt"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// ErrFinal is matched by what [Reducer.Apply] returns once the thread is final: after a violation, a
// malformed event or [Reducer.End]. The error also matches whatever made the thread final.
var ErrFinal = errors.New("the thread is final")

// errSpent is what the sequence of Deliver yields when it is iterated again.
var errSpent = errors.New("the deliveries of an event can be iterated only once")

// ErrTruncated is matched by the error of a run whose stream ended before the run did (P-RUN-1, D-10).
var ErrTruncated = errors.New("the stream ended before the run did")

// ErrStopped is matched by the error of a run that its client stopped (P-RUN-1). End the reducer with an error that
// matches it to say so.
var ErrStopped = errors.New("the run was stopped")

// Violation is an event that the protocol forbids at this place. The stream is rejected; what was
// delivered before it stays (section 4 of the protocol).
type Violation struct {
	Rule    string     // such as "P-VER-2"
	Ordinal int        // the place of the event in its stream, counted from 1
	Type    event.Type // the type of the event as it is after expansion
	ID      string     // of the message, call, step, subagent or run that it is about, or ""
	Reason  string     // a clause for people, which names what ID identifies

	cause error // a *chunks.Error, when expansion found it
}

// Error names the rule, the event and the reason.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s event %d %s: %s", v.Rule, v.Ordinal, v.Type, v.Reason)
}

// Unwrap returns the *chunks.Error that the violation came from, if it came from one.
func (v *Violation) Unwrap() error { return v.cause }

// AgentError is the failure that an agent reported with RUN_ERROR or SUBAGENT_ERROR. The stream is in order. It is
// the [Run.Err] of a failed run and the [Subagent.Err] of a failed subagent.
type AgentError struct {
	Message string
	Code    messages.Opt[string]
}

// Error returns the agent's own message, with the code if there is one.
func (e *AgentError) Error() string {
	if code, ok := e.Code.Get(); ok {
		return fmt.Sprintf("agent failed: %s (%s)", e.Message, code)
	}
	return "agent failed: " + e.Message
}

// failedBefore is the error of a run whose stream was rejected after the run had failed.
type failedBefore struct {
	cause  error
	failed *AgentError
}

func (e *failedBefore) Error() string {
	return e.cause.Error() + " (before that: " + e.failed.Error() + ")"
}
func (e *failedBefore) Unwrap() []error { return []error{e.cause, e.failed} }

// truncation is the error of a run that was cut off, with the cause if one is known.
type truncation struct{ cause error }

func (t *truncation) Error() string {
	switch {
	case t.cause == nil:
		return ErrTruncated.Error()
	case errors.Is(t.cause, ErrTruncated): // says so itself
		return t.cause.Error()
	}
	return ErrTruncated.Error() + ": " + t.cause.Error()
}

func (t *truncation) Unwrap() []error {
	if t.cause == nil {
		return []error{ErrTruncated}
	}
	return []error{ErrTruncated, t.cause}
}

// final wraps what made a thread final for the calls that come too late.
type final struct{ cause error }

func (f *final) Error() string {
	if f.cause == nil {
		return ErrFinal.Error()
	}
	return ErrFinal.Error() + ": " + f.cause.Error()
}

func (f *final) Unwrap() []error {
	if f.cause == nil {
		return []error{ErrFinal}
	}
	return []error{ErrFinal, f.cause}
}
