package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/state"
	"github.com/r3labs/sse/v2"
	"gopkg.in/cenkalti/backoff.v1"
)

// following is the goroutine of a Follower: its connections, one at a time, of a client that knows how to wait and to
// resume.
type following struct {
	*Follower
	ctx     context.Context
	cancel  context.CancelCauseFunc // ends following with an error
	wait    *backoff.ExponentialBackOff
	client  *sse.Client
	replica feed.Replica
	limit   int       // of an event, in bytes
	body    *followed // of the connection
	broken  error     // why the connection is given up although it stands
}

func (f *Follower) follow(parent context.Context) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w := &following{Follower: f, ctx: ctx, cancel: cancel, wait: backoff.NewExponentialBackOff()}
	w.wait.MaxElapsedTime, w.wait.MaxInterval = 0, 30*time.Second
	w.replica.MaxBytes = f.o.MaxBytes
	w.limit = f.o.MaxBytes
	if w.limit <= 0 {
		w.limit = state.DefaultMaxSize
	}
	w.limit += 1 << 10 // for the other lines of an event
	w.client = sse.NewClient(f.url, sse.ClientMaxBufferSize(w.limit+1))
	w.client.Connection = f.o.HTTPClient
	for key, values := range f.o.Header {
		w.client.Headers[key] = strings.Join(values, ", ")
	}
	w.client.ReconnectStrategy, w.client.ReconnectNotify, w.client.ResponseValidator = w, w.lost, w.answered
	for ctx.Err() == nil {
		err := w.client.SubscribeRawWithContext(ctx, w.event)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			err = io.EOF // the server has ended the answer
		}
		next := w.NextBackOff()
		w.lost(err, next)
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	if parent.Err() == nil {
		f.end(context.Cause(ctx)) // the caller has canceled nothing
		return
	}
	f.end(oneshot.Canceled(ctx))
}

// NextBackOff, Reset and Context make the client wait as Follow says. Its own reset, at each beginning, is not ours, at each
// event.
func (w *following) NextBackOff() time.Duration { return w.wait.NextBackOff() }
func (w *following) Reset()                     {}
func (w *following) Context() context.Context   { return w.ctx }

// lost is called after a connection, before the next is tried.
func (w *following) lost(err error, _ time.Duration) {
	if w.broken != nil {
		err = w.broken
	} else if silent := w.body.silent(); silent != nil {
		err = silent
	}
	w.broken, w.body = nil, nil
	w.client.LastEventID.Store([]byte(w.replica.Token())) // the client remembers events that were cut
	if w.ctx.Err() != nil {
		return
	}
	w.connection(err)
	status, refused := errors.AsType[*StatusError](err)
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		w.cancel(fmt.Errorf("an event of the feed is too long: %w", state.ErrLimit))
	case errors.Is(err, state.ErrLimit), refused && isFinal(status.Status):
		w.cancel(err)
	}
}

// isFinal reports whether a status does not change by asking again.
func isFinal(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusGone:
		return true
	}
	return false
}

// answered checks the head of an answer. On an error it closes the body, which the client does not do.
func (w *following) answered(_ *sse.Client, resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && media == "text/event-stream" {
		w.body = follow(resp.Body, w.o.Silence, w.limit)
		resp.Body = w.body
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &StatusError{Status: resp.StatusCode, Header: resp.Header, Body: beginningOf(resp.Body, maxErrorBody)}
	}
	return &ContentTypeError{
		ContentType: resp.Header.Get("Content-Type"), Status: resp.StatusCode, Header: resp.Header, Body: beginningOf(resp.Body, maxOtherBody),
	}
}

// beginningOf reads up to n bytes of a body that is not a feed, for a bounded time.
func beginningOf(body io.ReadCloser, n int64) []byte {
	timer := time.AfterFunc(maxOtherTime, func() { body.Close() })
	defer timer.Stop()
	text, _ := io.ReadAll(io.LimitReader(body, n)) // what came in time
	return text
}

// event applies an event of the feed.
func (w *following) event(e *sse.Event) {
	if w.broken != nil || len(e.Data) == 0 {
		return
	}
	before := w.replica.Token()
	if err := w.replica.Event(string(e.Event), string(e.ID), e.Data); err != nil {
		if syntax, ok := errors.AsType[*state.SyntaxError](err); ok && syntax.Offset >= len(e.Data) {
			err = io.ErrUnexpectedEOF // the event was cut
		} else {
			w.replica = feed.Replica{MaxBytes: w.replica.MaxBytes} // ask for a view
		}
		w.broken = err
		w.body.Close()
		return
	}
	if w.body.first {
		w.body.first = false
		w.wait.Reset()
		w.connection(nil)
	}
	if w.replica.Token() != before {
		_ = w.show(w.replica.Snapshot()) // fails when ctx ends, and so does the connection
	}
}

// followed is the body of a feed, in whole events. It closes itself once a read has taken longer than the silence; while
// nobody reads, because the reader of the snapshots is slow, it waits.
type followed struct {
	io.Reader
	body    io.Closer
	idle    *idleReader
	first   bool // no event has come yet
	silence time.Duration
	quiet   chan struct{} // closed after the silence
}

func follow(body io.ReadCloser, silence time.Duration, limit int) *followed {
	b := &followed{body: body, first: true, silence: silence, quiet: make(chan struct{})}
	b.idle = newIdleReader(body, silence, func() {
		close(b.quiet)
		body.Close()
	})
	b.Reader = &eventReader{src: b.idle, limit: limit}
	return b
}

func (b *followed) Close() error {
	b.idle.Stop()
	return b.body.Close()
}

// silent returns the error of a body that closed itself, nil if it did not.
func (b *followed) silent() error {
	if b == nil {
		return nil
	}
	select {
	case <-b.quiet:
		return &IdleError{Op: "following", After: b.silence}
	default:
		return nil
	}
}
