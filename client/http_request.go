package client

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/agfold/agfold/event"
)

// request is the request of one run.
type request struct {
	*httpAgent
	parent context.Context // the caller's
	ctx    context.Context // canceled by the timeouts too
	cancel context.CancelCauseFunc
}

// The operations that errors name.
const (
	opSend = "sending the request"
	opRead = "reading events"
)

func (r *request) events(in *event.RunInput) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if r.parent.Err() != nil {
			yield(nil, canceled(r.parent))
			return
		}
		r.ctx, r.cancel = context.WithCancelCause(r.parent)
		defer r.cancel(nil)
		resp, err := r.post(in)
		if err == nil {
			defer resp.Body.Close()
			err = r.read(resp, yield)
		}
		if err != nil && err != errBreak {
			yield(nil, err)
		}
	}
}

// post sends the request and returns its answer, whatever its status.
func (r *request) post(in *event.RunInput) (*http.Response, error) {
	body := in.AppendJSON(nil)
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, &TransportError{Op: opSend, Err: err}
	}
	req.Header = r.header.Clone()
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
		return canceled(r.parent)
	}
	if idle, ok := errors.AsType[*IdleError](context.Cause(r.ctx)); ok {
		return idle
	}
	return &TransportError{Op: op, Err: err, Truncated: truncated}
}
