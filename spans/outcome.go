package spans

import (
	"context"
	"errors"
	"strconv"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// outcomeOf is the status of a run that did not end by itself, as a reducer would say (P-RUN-1), but that the caller's own
// cancellation counts as a stop. any reports whether anything came.
func outcomeOf(err error, any bool) string {
	_, violation := errors.AsType[*reducer.Violation](err)
	_, malformed := errors.AsType[*messages.MalformedError](err)
	switch {
	case errors.Is(err, reducer.ErrStopped), errors.Is(err, context.Canceled):
		return reducer.Stopped.String()
	case violation, malformed && any:
		return reducer.Rejected.String()
	case err != nil && !any && !errors.Is(err, reducer.ErrTruncated):
		return reducer.Unstarted.String()
	}
	return reducer.Truncated.String()
}

// errorType is the error.type of an error: the HTTP status, the code that an agent gave, the rule that was broken, or a word.
func errorType(err error) string {
	if e, ok := errors.AsType[*reducer.AgentError](err); ok {
		return codeOf(e.Code)
	}
	if e, ok := errors.AsType[*reducer.Violation](err); ok {
		return e.Rule
	}
	if e, ok := errors.AsType[*messages.MalformedError](err); ok {
		return e.Rule
	}
	if e, ok := errors.AsType[*client.StatusError](err); ok {
		return strconv.Itoa(e.Status)
	}
	_, panicked := errors.AsType[*client.PanicError](err)
	_, prepared := errors.AsType[*client.PrepareError](err)
	_, contentType := errors.AsType[*client.ContentTypeError](err)
	_, tooLarge := errors.AsType[*event.TooLargeError](err)
	_, transport := errors.AsType[*client.TransportError](err)
	_, arguments := errors.AsType[*client.ArgumentsError](err)
	_, damaged := errors.AsType[*recording.DamageError](err)
	switch {
	case panicked:
		return "panic"
	case prepared:
		return "prepare"
	case contentType:
		return "content_type"
	case tooLarge:
		return "too_large"
	case arguments:
		return "arguments"
	case damaged:
		return "damaged"
	case isTimeout(err):
		return "timeout"
	case errors.Is(err, client.ErrRounds):
		return "rounds"
	case transport:
		return "transport"
	case errors.Is(err, reducer.ErrTruncated):
		return "truncated"
	}
	return "_OTHER"
}

// isTimeout reports whether an error, or what it wraps, is about time.
func isTimeout(err error) bool {
	var e interface{ Timeout() bool }
	return errors.As(err, &e) && e.Timeout()
}

// codeOf is the error.type of a failure that an agent reported.
func codeOf(code messages.Opt[string]) string {
	if c, ok := code.Get(); ok && c != "" {
		return c
	}
	return "agent_error"
}

// end says how a span ended that did not end by itself.
func (s *Span) end(err error, any bool) {
	s.Outcome = outcomeOf(err, any)
	switch {
	case s.Outcome == reducer.Stopped.String():
	case err != nil:
		s.fail(err.Error(), errorType(err))
	default:
		s.fail(reducer.ErrTruncated.Error(), "truncated")
	}
}
