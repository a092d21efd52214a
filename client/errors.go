package client

import (
	"fmt"
	"time"

	"github.com/agfold/agfold/reducer"
)

// ErrTruncated says that the stream ended before it was complete. A [TransportError] or [IdleError] matches it too if
// events were being read.
var ErrTruncated = reducer.ErrTruncated

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

// PanicError says that an agent written in Go panicked, or a middleware or SessionOptions.OnWarning. It matches the panic's value if that is an error.
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

// PrepareError is the error that [HTTPOptions.Prepare] or a function of [OnInput] returned. Nothing was sent. It matches Err.
type PrepareError struct{ Err error }

// Error says that the request was being prepared, and why it was not sent.
func (e *PrepareError) Error() string { return "preparing the request: " + e.Err.Error() }

// Unwrap returns the hook's error.
func (e *PrepareError) Unwrap() error { return e.Err }

// truncated returns an error that matches ErrTruncated and says how the stream ended.
func truncated(how string) error { return fmt.Errorf("%w: %s", ErrTruncated, how) }
