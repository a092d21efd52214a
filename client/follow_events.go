package client

import (
	"bufio"
	"io"
)

// eventReader hands out a feed in whole events. The scanner of the SSE client looks at all that it has of an event each time
// that more comes, which is quadratic if bytes come one by one; so it gets an event at once, in pieces that double.
type eventReader struct {
	src   io.Reader
	limit int // of an event, in bytes
	buf   []byte
	given int // of buf
	whole int // of buf: up to the end of the last event that is there
	lines int // the ends of lines that end buf, at most 2; one after the other they end an event
	cr    bool
	err   error // of src, once the rest has been given
}

func (r *eventReader) Read(p []byte) (int, error) {
	for r.given == r.whole {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.buf[r.given:r.whole])
	r.given += n
	return n, nil
}

// fill reads more of the feed.
func (r *eventReader) fill() {
	if r.given > 0 {
		r.buf = append(r.buf[:0], r.buf[r.given:]...)
		r.given, r.whole = 0, 0
	}
	at := len(r.buf)
	if cap(r.buf)-at < 4<<10 {
		grown := make([]byte, at, 2*cap(r.buf)+4<<10)
		copy(grown, r.buf)
		r.buf = grown
	}
	n, err := r.src.Read(r.buf[at:cap(r.buf)])
	r.buf = r.buf[:at+n]
	for i, b := range r.buf[at:] {
		switch {
		case b == '\n' && r.cr:
			r.cr = false // one end of a line
		case b == '\n' || b == '\r':
			r.lines, r.cr = min(r.lines+1, 2), b == '\r'
		default:
			r.lines, r.cr = 0, false
		}
		if r.lines == 2 {
			r.whole = at + i + 1
		}
	}
	switch {
	case err != nil:
		r.whole, r.err = len(r.buf), err
	case len(r.buf)-r.whole > r.limit:
		r.buf, r.given, r.whole, r.err = nil, 0, 0, bufio.ErrTooLong
	}
}
