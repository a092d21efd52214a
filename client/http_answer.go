package client

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/state"
)

const (
	maxErrorBody = 64 << 10
	maxOtherBody = 1 << 10
	maxOtherTime = 5 * time.Second
)

// read checks the answer's head and yields its events.
func (r *request) read(resp *http.Response, yield func(event.Event, error) bool) error {
	if resp.StatusCode/100 != 2 || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusResetContent {
		e := &StatusError{Status: resp.StatusCode, Header: resp.Header}
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return e // its body is the connection, which no context ends
		}
		var err error
		if e.Body, err = r.beginning(resp.Body, maxErrorBody); err != nil && r.parent.Err() != nil {
			return oneshot.Canceled(r.parent)
		}
		return e
	}
	contentType := strings.Join(resp.Header.Values("Content-Type"), ", ")
	stream, notes := namedEventStream(contentType)
	bound := r.binding != nil && mediaType(contentType) == r.binding.MediaType()
	unnamed := !stream && !bound && mayBeUnnamed(contentType)
	body := io.Reader(resp.Body)
	var watched *idleReader
	if stream || bound || unnamed {
		watched = newIdleReader(resp.Body, r.idleTimeout, func() { r.cancel(&IdleError{opRead, r.idleTimeout, true}) })
		defer watched.Stop()
		body = watched
		if r.onProgress != nil {
			body = &progressReader{body, r}
		}
	}
	if encoding := resp.Header.Get("Content-Encoding"); strings.EqualFold(encoding, "gzip") {
		body = &gunzip{src: body}
	} else if encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &TransportError{Op: opRead, Err: fmt.Errorf("content encoding %q is not supported", encoding)}
	}
	if bound {
		return r.decoded(r.binding.NewReader(&ctxReader{r.ctx, body}, r.maxEventBytes), yield)
	}
	if unnamed {
		unread := bufio.NewReader(body)
		body = unread
		if stream = beginsAsEventStream(unread); stream {
			notes = unnamedEventStream(contentType)
		} else {
			watched.Stop()
		}
	}
	if !stream {
		text, err := r.beginning(body, maxOtherBody)
		switch {
		case err != nil && (r.parent.Err() != nil || context.Cause(r.ctx) != errOtherTime):
			return r.failure(opRead, err, true)
		case err == nil && len(text) == 0:
			return truncated("the answer is empty")
		}
		return &ContentTypeError{ContentType: contentType, Status: resp.StatusCode, Header: resp.Header, Body: text}
	}
	return r.frames(sse.NewReader(&ctxReader{r.ctx, body}, r.maxEventBytes), notes, yield)
}

// errOtherTime ends a request whose answer is not an event stream and does not end in time.
var errOtherTime = errors.New("read for long enough")

// beginning reads up to n bytes of a body that is not an event stream, for a bounded time, and returns what came by then.
// The error is that of the last read.
func (r *request) beginning(body io.Reader, n int64) ([]byte, error) {
	after := maxOtherTime
	if r.idleTimeout >= 0 {
		after = min(after, r.idleTimeout)
	}
	timer := time.AfterFunc(after, func() { r.cancel(errOtherTime) })
	defer timer.Stop()
	return io.ReadAll(io.LimitReader(body, n))
}

// frames yields the events of a stream, with notes on the first of them.
func (r *request) frames(events *sse.Reader, notes []event.Warning, yield func(event.Event, error) bool) error {
	var kept sse.Keeper
	var framer event.Framer
	begun := false
	for {
		if r.parent.Err() != nil {
			return oneshot.Canceled(r.parent)
		}
		data, err := events.Next()
		switch {
		case err == io.EOF && !begun:
			return truncated("the answer holds no event")
		case err == io.EOF:
			return nil
		case err != nil:
			if _, ok := errors.AsType[*event.TooLargeError](err); ok {
				return err
			}
			return r.failure(opRead, err, true)
		}
		begun = true
		var f event.Frame
		if r.lend {
			f = framer.Lend(data, kept.Keep)
		} else {
			f = framer.Frame(kept.Keep(data))
		}
		if events.Partial() && f.Err() != nil && jsontext.IsCut(data, state.DefaultMaxDepth) {
			return truncated("the answer ended in the middle of an event")
		}
		if notes != nil {
			f, notes = f.WithWarnings(notes...), nil
		}
		if r.debug != nil {
			r.debug.Frame(r.progress.Events+1, f)
		}
		if !yield(f, nil) {
			return oneshot.ErrBreak
		}
		r.progress.Events++
	}
}

// decoded yields the events of an answer in the binding that was asked for.
func (r *request) decoded(events event.Reader, yield func(event.Event, error) bool) error {
	for begun := false; ; begun = true {
		if r.parent.Err() != nil {
			return oneshot.Canceled(r.parent)
		}
		ev, err := events.Next()
		switch {
		case err == io.EOF && !begun:
			return truncated("the answer holds no event")
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF && r.ctx.Err() == nil:
			return truncated("the answer ended in the middle of an event")
		case err != nil:
			if _, ok := errors.AsType[*event.TooLargeError](err); ok {
				return err
			}
			return r.failure(opRead, err, true)
		}
		if r.debug != nil {
			r.debug.Frame(r.progress.Events+1, ev)
		}
		if !yield(ev, nil) {
			return oneshot.ErrBreak
		}
		r.progress.Events++
	}
}

// ctxReader fails once ctx is done, even while buffered or compressed data remains.
type ctxReader struct {
	ctx context.Context
	src io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.src.Read(p)
}

// gunzip decompresses a body that net/http left alone, because it had not asked for compression itself.
type gunzip struct {
	src io.Reader
	r   *gzip.Reader
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.r == nil {
		if g.r, err = gzip.NewReader(g.src); err != nil {
			g.r = nil
			return 0, err
		}
	}
	return g.r.Read(p)
}
