package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// The kinds of failure of a transport. An event that is none, or a run input that is malformed, is an
// *messages.MalformedError instead, and the end of a context matches context.Canceled or
// context.DeadlineExceeded and none of these.
var (
	// ErrStatus: the server answered with another status than 2xx. See [StatusError].
	ErrStatus = errors.New("unexpected status")
	// ErrContentType: the answer is no event stream. See [ContentTypeError].
	ErrContentType = errors.New("unexpected media type")
	// ErrTransport: the network or the HTTP layer failed. See [TransportError].
	ErrTransport = errors.New("transport failed")
	// ErrIdle: nothing came for too long. See [IdleError].
	ErrIdle = errors.New("idle for too long")
	// ErrTruncated: the stream ended before it was complete. A [TransportError] matches it too if the
	// connection was lost while events came.
	ErrTruncated = reducer.ErrTruncated
	// ErrPanic: an agent written in Go panicked. See [PanicError].
	ErrPanic = errors.New("agent panicked")
)

// StatusError is an answer whose status is not 2xx (P-SSE-1), or a redirect that cannot be followed with
// the same POST. It matches ErrStatus.
type StatusError struct {
	Status int // such as 401
	Header http.Header
	Body   []byte // at most the first 64 KiB, and what came in time; nil if the status is 101
}

// Error names the status and what the body says, if it can be told.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("%v %d %s", ErrStatus, e.Status, http.StatusText(e.Status))
	if to := e.Header.Get("Location"); e.Status/100 == 3 && to != "" {
		s += ", a redirect to " + to
	}
	if d := e.Detail(); d != "" {
		s += ": " + d
	}
	return s
}

// Unwrap returns ErrStatus.
func (e *StatusError) Unwrap() error { return ErrStatus }

// Detail returns what the body says to people, in at most 300 bytes: of a JSON body the first text found
// under message, detail, error, msg, title or errors, of another body its first line unless it is markup;
// "" if there is nothing.
func (e *StatusError) Detail() string {
	if v, err := state.Parse(e.Body); err == nil {
		return shorten(detail(v), 300)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(e.Body)), "\n")
	if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") {
		return ""
	}
	return shorten(strings.TrimSpace(line), 300)
}

func detail(v state.Value) string {
	switch v.Kind() {
	case state.KindString:
		s, _ := v.AsString()
		return s
	case state.KindArray:
		return detail(v.Index(0))
	case state.KindObject:
		for _, key := range []string{"message", "detail", "error", "msg", "title", "errors"} {
			if s := detail(v.Get(key)); s != "" {
				return s
			}
		}
	}
	return ""
}

// shorten cuts s to at most n bytes, between characters.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// ContentTypeError is a 2xx answer that is no event stream (P-SSE-1). It matches ErrContentType.
type ContentTypeError struct {
	ContentType string // as it came, "" if there was none
	Body        []byte // its beginning, at most 1 KiB, and what came in time
}

// Error names the media type and shows the beginning of the body.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("%v %q, want text/event-stream; the answer begins %q", ErrContentType, e.ContentType, shorten(string(e.Body), 120))
}

// Unwrap returns ErrContentType.
func (e *ContentTypeError) Unwrap() error { return ErrContentType }

// TransportError is a failure below the protocol: no connection, a connection that was lost, a broken
// transfer. It matches ErrTransport, ErrTruncated if events were being read, and what Err matches.
type TransportError struct {
	Op  string // what was being done, such as "sending the request"
	Err error
	// Truncated says that the failure ended a stream of events that had begun.
	Truncated bool
}

// Error names the operation and its failure.
func (e *TransportError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns the kinds and the cause.
func (e *TransportError) Unwrap() []error {
	if e.Truncated {
		return []error{ErrTransport, ErrTruncated, e.Err}
	}
	return []error{ErrTransport, e.Err}
}

// IdleError says that not a byte came for too long. It matches ErrIdle, and ErrTruncated if events were
// being read.
type IdleError struct {
	Op    string // what was being waited for, such as "reading events"
	After time.Duration
	// Truncated says that the silence ended a stream of events that had begun.
	Truncated bool
}

// Error names what was waited for and how long.
func (e *IdleError) Error() string { return fmt.Sprintf("%s: nothing came for %v", e.Op, e.After) }

// Unwrap returns the kinds.
func (e *IdleError) Unwrap() []error {
	if e.Truncated {
		return []error{ErrIdle, ErrTruncated}
	}
	return []error{ErrIdle}
}

// Timeout returns true: the error is a time-out to those who ask for net.Error.
func (e *IdleError) Timeout() bool { return true }

// PanicError says that an agent written in Go panicked. It matches ErrPanic, and the panic's value if
// that is an error.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, as debug.Stack formats it
}

// Error names the value.
func (e *PanicError) Error() string { return fmt.Sprintf("%v: %v", ErrPanic, e.Value) }

// Unwrap returns ErrPanic and the value, if it is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}

// errBreak says that the reader of a sequence broke it off. It never leaves the package.
var errBreak = errors.New("broken off")

// canceled returns the error that the end of ctx is reported with: it matches ctx.Err() and the cause.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// truncated returns an error that matches ErrTruncated and says how the stream ended.
func truncated(how string) error { return fmt.Errorf("%w: %s", ErrTruncated, how) }
