package client

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

// Request is a request that [HTTPOptions.Prepare] may change before it is sent. It belongs to the hook until that
// returns.
type Request struct {
	// Header starts as HTTPOptions.Header. Content-Type and, unless it names text/event-stream, Accept are set later.
	Header http.Header
	// Query starts as that of the URL. If it is changed, it is sent sorted by key.
	Query url.Values
	// Input is the input of the run as it will be sent. It must not be changed.
	Input *event.RunInput
}

// request is the request of one run.
type request struct {
	*httpAgent
	parent context.Context // the caller's
	ctx    context.Context // canceled by the timeouts too
	cancel context.CancelCauseFunc
	lend   bool // see httpAgent.run
	trace  *tracing

	progress Progress
}

// The operations that errors name.
const (
	opSend = "sending the request"
	opRead = "reading events"
)

func (r *request) events(in *event.RunInput) iter.Seq2[event.Event, error] {
	return oneshot.Run(func(yield func(event.Event, error) bool) error {
		if r.parent.Err() != nil {
			return oneshot.Canceled(r.parent)
		}
		r.ctx, r.cancel = context.WithCancelCause(r.parent)
		defer r.cancel(nil)
		r.trace = r.debug.trace()
		resp, err := r.post(in)
		if err == nil {
			defer resp.Body.Close()
			r.trace.answer(resp)
			err = r.read(resp, yield)
		}
		r.trace.end(r.progress.Events, err)
		return err
	})
}

// post sends the request and returns its answer, whatever its status.
func (r *request) post(in *event.RunInput) (*http.Response, error) {
	body := in.AppendJSON(nil)
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, &TransportError{Op: opSend, Err: err}
	}
	req.Header = r.header.Clone()
	if err := r.prepared(req, in); err != nil {
		return nil, err
	}
	r.setMediaTypes(req.Header)
	r.debug.input(in, len(body))
	r.trace.request(req)
	defer r.watch(opSend, r.headerTimeout, false).Stop()
	resp, err := r.client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // it says no more than a TransportError
		}
		return nil, r.failure(opSend, err, false)
	}
	return resp, nil
}

// prepared has the caller's hook change the request.
func (r *request) prepared(req *http.Request, in *event.RunInput) error {
	if r.prepare == nil {
		return nil
	}
	p := &Request{Header: req.Header, Query: req.URL.Query(), Input: in}
	before := p.Query.Encode()
	err := r.prepare(r.parent, p)
	if r.parent.Err() != nil {
		return oneshot.Canceled(r.parent)
	}
	if err != nil {
		return &PrepareError{err}
	}
	if after := p.Query.Encode(); after != before {
		req.URL.RawQuery = after
	}
	if req.Header = p.Header; req.Header == nil {
		req.Header = http.Header{}
	}
	return nil
}

// setMediaTypes sets what every request says about media types (P-SSE-1, P-PB-1). An Accept that names event streams stays.
func (h *httpAgent) setMediaTypes(header http.Header) {
	if !namesEventStream(strings.Join(header.Values("Accept"), ",")) {
		accept := eventStreamType
		if h.binding != nil {
			accept += ", " + h.binding.MediaType()
		}
		header.Set("Accept", accept)
	}
	header.Set("Content-Type", "application/json")
}

// watch cancels the request with an *IdleError unless the timer is stopped in time.
func (r *request) watch(op string, after time.Duration, truncated bool) stopper {
	if after < 0 {
		return stopper{}
	}
	return stopper{time.AfterFunc(after, func() { r.cancel(&IdleError{op, after, truncated}) })}
}

// stopper is a timer or nil.
type stopper struct{ *time.Timer }

// Stop stops the timer, if there is one.
func (s stopper) Stop() {
	if s.Timer != nil {
		s.Timer.Stop()
	}
}

// failure returns why an operation failed: the caller's context, a timeout, or else err.
func (r *request) failure(op string, err error, truncated bool) error {
	if r.parent.Err() != nil {
		return oneshot.Canceled(r.parent)
	}
	if idle, ok := errors.AsType[*IdleError](context.Cause(r.ctx)); ok {
		return idle
	}
	return &TransportError{Op: op, Err: err, Truncated: truncated}
}
