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

// ErrTruncated says that the stream ended before it was complete. A [TransportError] or [IdleError] matches it too if
// events were being read.
var ErrTruncated = reducer.ErrTruncated

// StatusError says that an answer's status is not 2xx (P-SSE-1), or is a redirect that cannot be followed with the same
// POST.
type StatusError struct {
	Status int // such as 401
	Header http.Header
	Body   []byte // at most the first 64 KiB, as far as it came in time; nil if the status is 101
}

// Error names the status and what the body says; see [StatusError.Detail].
func (e *StatusError) Error() string {
	s := fmt.Sprintf("unexpected status %d %s", e.Status, http.StatusText(e.Status))
	if to := e.Header.Get("Location"); e.Status/100 == 3 && to != "" {
		s += ", a redirect to " + to
	}
	if d := e.Detail(); d != "" {
		s += ": " + d
	}
	return s
}

// Detail returns what the body says to people, in at most 300 bytes: the first text found in a JSON body under message,
// detail, error, msg, title or errors; otherwise the body's first line, unless it is markup; "" if there is nothing.
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

// ContentTypeError says that a 2xx answer is not an event stream (P-SSE-1).
type ContentTypeError struct {
	ContentType string // as it came, "" if there was none
	Body        []byte // its beginning, at most 1 KiB, as far as it came in time
}

// Error names the media type and shows the beginning of the body.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("unexpected media type %q, want text/event-stream; the answer begins %q", e.ContentType, shorten(string(e.Body), 120))
}

// TransportError is a failure below the protocol: no connection, a lost connection, a broken transfer. It matches what
// Err matches, and ErrTruncated if events were being read.
type TransportError struct {
	Op  string // what was being done, such as "sending the request"
	Err error
	// Truncated says that the failure ended a stream of events that had begun.
	Truncated bool
}

// Error names the operation and its failure.
func (e *TransportError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause, and ErrTruncated if events were being read.
func (e *TransportError) Unwrap() []error {
	if e.Truncated {
		return []error{ErrTruncated, e.Err}
	}
	return []error{e.Err}
}

// IdleError says that no byte came for too long. It matches ErrTruncated if events were being read.
type IdleError struct {
	Op    string // what waited, such as "reading events"
	After time.Duration
	// Truncated says that the silence ended a stream of events that had begun.
	Truncated bool
}

// Error names the operation and how long it waited.
func (e *IdleError) Error() string { return fmt.Sprintf("%s: nothing came for %v", e.Op, e.After) }

// Unwrap returns ErrTruncated if events were being read.
func (e *IdleError) Unwrap() error {
	if e.Truncated {
		return ErrTruncated
	}
	return nil
}

// Timeout returns true: os.IsTimeout and the like recognize the error.
func (e *IdleError) Timeout() bool { return true }

// PanicError says that an agent written in Go panicked. It matches the panic's value if that is an error.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, as debug.Stack formats it
}

// Error names the value.
func (e *PanicError) Error() string { return fmt.Sprintf("agent panicked: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errBreak says that the reader of a sequence left its loop. It never leaves the package.
var errBreak = errors.New("broken off")

// canceled returns the error that reports that ctx is done: it matches ctx.Err() and the cause.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// truncated returns an error that matches ErrTruncated and says how the stream ended.
func truncated(how string) error { return fmt.Errorf("%w: %s", ErrTruncated, how) }
