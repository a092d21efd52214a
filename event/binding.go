package event

import "io"

// A Binding carries the events of an HTTP answer in another way than server-sent events, such as that of package
// event/protobuf. All methods may be called concurrently.
type Binding interface {
	// MediaType returns the media type of the answers.
	MediaType() string
	// NewReader returns a reader of the events in the body of an answer. One that holds more than maxEventBytes ends the stream
	// with a *[TooLargeError]; zero or less means no bound.
	NewReader(src io.Reader, maxEventBytes int) Reader
	// Append appends ev to dst, as it looks in a body, and returns warnings about what the binding cannot carry of it. If it
	// returns an error, dst is unchanged.
	Append(dst []byte, ev Event) ([]byte, []Warning, error)
	// Covered returns an error that names those of the types whose events the binding cannot carry, nil if there are none.
	Covered(types ...Type) error
}

// A Reader reads the events of one answer. It is for one goroutine at a time.
type Reader interface {
	// Next returns the next event; what is not one as a malformed frame (P-PIPE-2). The event does not depend on the Reader any
	// more. The end of the stream is io.EOF, and io.ErrUnexpectedEOF if it ends in the middle of an event. Any other error is
	// a *[TooLargeError] or that of the source, unwrapped. After an error Next returns it again.
	Next() (Event, error)
}
