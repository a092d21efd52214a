package client

import (
	"io"
	"sync/atomic"
	"time"
)

// idleReader is a body of which no read takes longer than a bound. Setting a timer for each read costs more than reading
// an event does otherwise, so there is one timer, which looks when it fires how long the read in progress has taken.
type idleReader struct {
	body    io.Reader
	bound   time.Duration
	expired func()

	began   time.Time
	since   atomic.Int64 // when the read in progress began, in nanoseconds after began, plus 1; 0 if there is none
	stopped atomic.Bool
	timer   *time.Timer
}

// newIdleReader returns a reader of body, which calls expired once a read has taken longer than bound. A negative bound
// is none. The caller calls Stop.
func newIdleReader(body io.Reader, bound time.Duration, expired func()) *idleReader {
	r := &idleReader{body: body, bound: bound, expired: expired, began: time.Now()}
	if bound < 0 {
		r.stopped.Store(true)
		return r
	}
	armed := make(chan struct{}) // the timer must be there when it fires
	r.timer = time.AfterFunc(bound, func() {
		<-armed
		r.look()
	})
	close(armed)
	return r
}

// look is what the timer does.
func (r *idleReader) look() {
	wait := r.bound
	if since := r.since.Load(); since > 0 {
		if wait -= time.Since(r.began) - time.Duration(since-1); wait <= 0 {
			r.expired()
			return
		}
	}
	r.timer.Reset(wait)
	if r.stopped.Load() {
		r.timer.Stop()
	}
}

// Stop ends the watch: later reads are not bounded.
func (r *idleReader) Stop() {
	if !r.stopped.Swap(true) {
		r.timer.Stop()
	}
}

func (r *idleReader) Read(p []byte) (int, error) {
	if r.stopped.Load() {
		return r.body.Read(p)
	}
	r.since.Store(int64(time.Since(r.began)) + 1)
	n, err := r.body.Read(p)
	r.since.Store(0)
	return n, err
}
