package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
)

// The defaults of [HTTPOptions].
const (
	DefaultHeaderTimeout = 2 * time.Minute
	DefaultIdleTimeout   = 5 * time.Minute
)

const eventStreamType = "text/event-stream"

// HTTPOptions configures [NewHTTP]. Nil and the zero value mean the defaults.
type HTTPOptions struct {
	// Client sends the requests; nil means a client on http.DefaultTransport, which waits 30 s for a
	// connection. It is not changed. Its Timeout, if set, bounds the whole run. Its CheckRedirect is asked
	// about redirects that keep the POST.
	Client *http.Client
	// Header is sent with every request, in addition to Accept, Content-Type and what the Client adds. It is copied. A
	// redirect to another scheme, host or port, and those after it, are followed without it and without a Referer; but
	// the conversation goes there. Refuse such redirects with Client.CheckRedirect if the other server must not see it.
	Header http.Header
	// HeaderTimeout bounds the time from sending a request to the header of its answer; past it the run ends with an
	// [*IdleError]. 0 means DefaultHeaderTimeout, a negative duration no bound.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the time without a byte of the answer, a keep-alive comment included; past it the run ends with
	// an [*IdleError]. The time that the reader of the events takes does not count. 0 means DefaultIdleTimeout, a negative
	// duration no bound. The body of an answer that is not an event stream is read for at most this long in all, and for
	// at most 5 s.
	IdleTimeout time.Duration
	// MaxEventBytes bounds the data of one event; past it the run ends with an [*event.TooLargeError]. 0 means
	// event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
}

// HTTP is an [Agent] at a URL: a run is one POST of its input as JSON, answered by a stream of
// server-sent events (P-SSE-1). It is safe for concurrent use.
//
// A request is never sent twice, neither by HTTP nor by net/http below it, except to the target of a redirect that keeps
// the method (307, 308). Another redirect is a *StatusError. Compressed answers (gzip) are decompressed as they arrive.
type HTTP struct {
	url           string
	err           error // of the URL
	client        http.Client
	header        http.Header
	headerTimeout time.Duration
	idleTimeout   time.Duration
	maxEventBytes int
}

// NewHTTP returns the agent at target, an absolute http or https URL. If target is not one, every run returns an error.
func NewHTTP(target string, o *HTTPOptions) *HTTP {
	if o == nil {
		o = &HTTPOptions{}
	}
	h := &HTTP{
		url:           target,
		err:           checkURL(target),
		header:        o.Header.Clone(),
		headerTimeout: orDefault(o.HeaderTimeout, DefaultHeaderTimeout),
		idleTimeout:   orDefault(o.IdleTimeout, DefaultIdleTimeout),
		maxEventBytes: orDefault(o.MaxEventBytes, event.DefaultMaxBytes),
	}
	if o.Client != nil {
		h.client = *o.Client
	}
	if h.header == nil {
		h.header = http.Header{}
	}
	h.header.Set("Accept", eventStreamType)
	h.header.Set("Content-Type", "application/json")
	h.client.Transport = singleSend{h.client.Transport}
	h.client.CheckRedirect = redirectPolicy(o.Header, h.client.CheckRedirect)
	return h
}

var errNilHTTP = errors.New("there is no agent: the *client.HTTP is nil")

// unusable returns why no request can be sent.
func (h *HTTP) unusable() error {
	if h == nil {
		return errNilHTTP
	}
	return h.err
}

func checkURL(target string) error {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		if i := strings.LastIndex(target, "@"); i >= 0 {
			target = "…" + target[i:] // what comes before may be a password
		}
		return fmt.Errorf("%q is not an http or https URL", target)
	}
	return nil
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Run posts the input and yields the answer's events as frames. Warnings on the first event say what enforcement removed
// from the input (P-ENF-6). If ctx is not done, an error is a *messages.MalformedError (the input is malformed and nothing
// was sent), *StatusError, *ContentTypeError, *IdleError, *event.TooLargeError or *TransportError, or matches ErrTruncated:
// the answer ended in the middle of an event or before the first one. Data that is not an event is a frame that the
// reducer rejects (P-PIPE-2).
//
// The answer is read to its end, even after the end of the run. Iterating a second time sends nothing and yields an error.
func (h *HTTP) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	if err := h.unusable(); err != nil {
		return unusable{err}.Run(ctx, in)
	}
	return oneShot(func(yield func(event.Event, error) bool) {
		sent, warnings, err := in.Enforce()
		if err != nil {
			yield(nil, err)
			return
		}
		r := &request{HTTP: h, parent: ctx}
		for ev, err := range withWarnings(warnings, r.events(sent)) {
			if !yield(ev, err) {
				return
			}
		}
	})
}

// withWarnings yields events with warnings on the first of them, so that the count of events stays that of the wire.
// Before an error or the end the warnings come alone.
func withWarnings(warnings []event.Warning, events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	if len(warnings) == 0 {
		return events
	}
	return func(yield func(event.Event, error) bool) {
		attached := false
		for ev, err := range events {
			if !attached && err == nil {
				ev = event.FrameOfEvent(ev).WithWarnings(warnings...)
			} else if !attached && !yield(event.Notice(warnings...), nil) {
				return
			}
			attached = true
			if !yield(ev, err) {
				return
			}
		}
		if !attached {
			yield(event.Notice(warnings...), nil)
		}
	}
}
