package recording

import (
	"errors"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/reducer"
)

var (
	// ErrFormat is the kind of a [FormatError].
	ErrFormat = errors.New("not a recording")
	// ErrCut is the kind of a [CutError].
	ErrCut = errors.New("recording cut off")
)

// FormatError says that a recording cannot be read on from a line. It matches ErrFormat and, if what an
// event or run input holds is the reason, messages.ErrMalformed.
type FormatError struct {
	Line int   // from 1
	Err  error // why
}

// Error implements error.
func (e *FormatError) Error() string { return fmt.Sprintf("%v: line %d: %v", ErrFormat, e.Line, e.Err) }

// Unwrap returns ErrFormat and the reason.
func (e *FormatError) Unwrap() []error { return []error{ErrFormat, e.Err} }

// CutError says that a recording ends in the middle of an event, as after a crash or a lost connection.
// All events before it were read. It matches ErrCut and reducer.ErrTruncated.
type CutError struct {
	Line int // where the cut event begins, from 1
}

// Error implements error.
func (e *CutError) Error() string { return fmt.Sprintf("%v in line %d", ErrCut, e.Line) }

// Unwrap returns ErrCut and reducer.ErrTruncated.
func (e *CutError) Unwrap() []error { return []error{ErrCut, reducer.ErrTruncated} }

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

// IsCut reports whether text is the beginning of a JSON value and not the whole of one.
func IsCut(text []byte) bool {
	_, err := jsontext.Skip(text, 0, maxDepth)
	var syntax *jsontext.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}
	return isEnd(text, syntax)
}

// isEnd reports whether the fault is that text ends too early.
func isEnd(text []byte, fault *jsontext.SyntaxError) bool {
	rest := text[fault.Offset:]
	return len(rest) == 0 || rest[0] == '\\' && len(rest) < len(`\u0000`)
}
