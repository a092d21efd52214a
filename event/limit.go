package event

import "fmt"

// DefaultMaxBytes is the bound on one event's JSON text, in bytes, in every transport and recording that is not given
// another one.
const DefaultMaxBytes = 64 << 20

// TooLargeError reports an event that exceeds the bound on its size (P-SSE-2). It ends the stream.
type TooLargeError struct {
	Limit int // the bound, in bytes
	Line  int // the line of the stream where the event's data begins, from 1
}

// Error names the bound and the line.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the event at line %d holds more than %d bytes of data", e.Line, e.Limit)
}
