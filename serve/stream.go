package serve

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// stream is an answer of events. What is sent leaves at once; while the connection is slower than that, it
// collects and leaves together. One goroutine writes, so that comments can keep the connection alive while the handler
// waits. The handler must call end before it returns.
type stream struct {
	w         http.ResponseWriter
	out       *http.ResponseController
	keepAlive time.Duration // 0 for no comments
	bare      bool          // nothing may be written but events
	timeout   time.Duration // of one write

	mu     sync.Mutex
	queue  []byte        // what is to be written
	room   chan struct{} // closed when the queue was taken; nil if nobody waits for that
	ending bool
	err    error // of writing; nothing is written after it

	wake   chan struct{} // has one element if the writer has something to do
	ended  chan struct{} // closed when the writer has returned
	failed func(error)   // called once, with err
}

// maxQueue is how many bytes wait for a slow connection before send waits too.
const maxQueue = 256 << 10

// errSlow is the cause of a stream whose client does not read.
var errSlow = errors.New("the client reads too slowly, or is gone")

const eventStreamType = "text/event-stream"

// comment is what keeps a connection alive.
const comment = ": keep-alive\n\n"

// newStream answers with the head of a stream and starts its writer. failed is called if the connection fails, from the
// writer. If the media type is not that of server-sent events, there are no comments.
func newStream(w http.ResponseWriter, mediaType string, keepAlive, timeout time.Duration, failed func(error)) *stream {
	streamHead(w)
	w.Header().Set("Content-Type", mediaType)
	s := &stream{
		w: w, out: http.NewResponseController(w), keepAlive: max(keepAlive, 0), timeout: timeout,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), failed: failed,
	}
	w.WriteHeader(http.StatusOK)
	if s.bare = mediaType != eventStreamType; s.bare {
		s.keepAlive = 0
	} else {
		s.queue = append(s.queue, ": stream\n\n"...) // so that the head leaves at once
		s.poke()
	}
	go s.write()
	return s
}

// send appends to the stream what fill appends to a buffer, which it must not keep. It waits while the queue is full. It
// returns the error that the connection failed with, or that of ctx.
func (s *stream) send(ctx context.Context, fill func([]byte) []byte) error {
	s.mu.Lock()
	for s.err == nil && len(s.queue) >= maxQueue {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		s.mu.Lock()
	}
	err := s.err
	if err == nil {
		s.queue = fill(s.queue)
	}
	s.mu.Unlock()
	s.poke()
	return err
}

// poke tells the writer to look.
func (s *stream) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end waits until everything is written and returns the error that the connection failed with, if it did. Calling it again
// returns the same.
func (s *stream) end() error {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	s.poke()
	<-s.ended
	return s.err
}

// take returns what is to be written, in exchange for a buffer.
func (s *stream) take(spare []byte) (data []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, s.queue = s.queue, spare[:0]
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	return data, s.ending
}

// write is the writer.
func (s *stream) write() {
	defer close(s.ended)
	if s.bare { // so that the head leaves at once
		if err := put(s.w, s.out, nil, s.timeout); err != nil {
			s.fail(err)
			return
		}
	}
	var silence <-chan time.Time
	var timer *time.Timer
	if s.keepAlive > 0 {
		timer = time.NewTimer(s.keepAlive)
		defer timer.Stop()
		silence = timer.C
	}
	var spare []byte
	for {
		var data []byte
		last := false
		select {
		case <-s.wake:
			data, last = s.take(spare)
		case <-silence:
			data = []byte(comment)
		}
		if len(data) > 0 {
			if err := put(s.w, s.out, data, s.timeout); err != nil {
				s.fail(err)
				return
			}
			if timer != nil {
				timer.Reset(s.keepAlive)
			}
		}
		if last {
			return
		}
		if spare = data; cap(spare) > maxQueue {
			spare = nil
		}
	}
}

// put writes and flushes within the time that a write may take; 0 or less means no limit.
func put(w http.ResponseWriter, out *http.ResponseController, data []byte, timeout time.Duration) error {
	if timeout > 0 {
		_ = out.SetWriteDeadline(time.Now().Add(timeout)) // a server without deadlines has other means
		defer out.SetWriteDeadline(time.Time{})           // HTTP/2 would end the stream, even if nothing is written
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// streamHead sets the header of an answer of server-sent events.
func streamHead(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", eventStreamType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
}

// fail makes err that of the stream.
func (s *stream) fail(err error) {
	s.mu.Lock()
	s.err, s.queue = errors.Join(errSlow, err), nil
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	s.mu.Unlock()
	if s.failed != nil {
		s.failed(s.err)
	}
}
