package recording

import (
	"errors"
	"fmt"

	"github.com/agfold/agfold/reducer"
)

// ErrThread is matched by the [FormatError] that [Open] returns for the JSON of a thread. It has no events:
// [reducer.Thread.UnmarshalJSON] reads it.
var ErrThread = errors.New("this is the JSON of a thread, which has no events")

// FormatError reports that a recording cannot be read, or not past a line. Err is a *messages.MalformedError if a
// run input is malformed.
type FormatError struct {
	Line int   // from 1
	Err  error // why
}

// Error names the line and the reason.
func (e *FormatError) Error() string {
	return fmt.Sprintf("not a recording: line %d: %v", e.Line, e.Err)
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }

// CutError reports that a recording ends in the middle of an event, as after a crash or a lost connection.
// All events before it were read. It matches reducer.ErrTruncated.
type CutError struct {
	Line int // where the cut event begins, from 1
}

// Error names the line.
func (e *CutError) Error() string { return fmt.Sprintf("recording cut off in line %d", e.Line) }

// Unwrap returns reducer.ErrTruncated.
func (e *CutError) Unwrap() error { return reducer.ErrTruncated }

// DamageError reports lines that cannot be read in a recording of [FormAgfold], and those up to the next head, without
// which they mean nothing. It matches reducer.ErrTruncated.
type DamageError struct {
	Line  int   // the first one, from 1
	Lines int   // how many there are
	Err   error // what is wrong with the first one
}

// Error names the lines and what is wrong.
func (e *DamageError) Error() string {
	if e.Lines == 1 {
		return fmt.Sprintf("recording damaged: line %d is lost: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("recording damaged: lines %d to %d are lost: line %d: %v", e.Line, e.Line+e.Lines-1, e.Line, e.Err)
}

// Unwrap returns reducer.ErrTruncated and what is wrong.
func (e *DamageError) Unwrap() []error { return []error{reducer.ErrTruncated, e.Err} }

// StreamError is the error that a run's stream ended with when it was recorded. It matches
// reducer.ErrTruncated if that did.
type StreamError struct {
	Text      string // of the error
	Truncated bool   // it matched reducer.ErrTruncated
}

// Error returns the text.
func (e *StreamError) Error() string { return e.Text }

// Unwrap returns reducer.ErrTruncated, or nil.
func (e *StreamError) Unwrap() error {
	if e.Truncated {
		return reducer.ErrTruncated
	}
	return nil
}
