package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

const (
	defaultHeaderTimeout = 2 * time.Minute
	defaultIdleTimeout   = 5 * time.Minute
)

const eventStreamType = "text/event-stream"

// HTTPOptions configures [NewHTTP]; nil means defaults.
type HTTPOptions struct {
	// Client sends the requests; nil means a client on http.DefaultTransport, which waits 30 s for a
	// connection. It is not changed. Its Timeout, if set, bounds the whole run. Its CheckRedirect is asked
	// about redirects that keep the POST.
	Client *http.Client
	// Header is sent with every request, in addition to Content-Type and what the Client adds. It is copied. An Accept is
	// sent as it is if it names text/event-stream; otherwise Accept is text/event-stream, and the Binding's type if there is
	// one. A redirect to another
	// scheme, host or port, and those after it, are followed without Header, without what Prepare sets, and without a
	// Referer; but the conversation goes there. Refuse such redirects with Client.CheckRedirect if the other server must
	// not see it.
	Header http.Header
	// Prepare, if it is set, is called once before each request is sent, with the context of the run, and may change the
	// request: for a token that expires, for instance. If it returns an error, nothing is sent and the run ends with a
	// [*PrepareError]. HeaderTimeout does not bound it. It may be called concurrently for concurrent runs.
	Prepare func(ctx context.Context, r *Request) error
	// HeaderTimeout bounds the time from sending a request to the header of its answer; past it the run ends with an
	// [*IdleError]. 0 means 2 minutes, a negative duration no bound.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the time without a byte of the answer, a keep-alive comment included; past it the run ends with
	// an [*IdleError]. The time that the reader of the events takes does not count. 0 means 5 minutes, a negative
	// duration no bound. The body of an answer that is not an event stream is read for at most this long in all, and for
	// at most 5 s.
	IdleTimeout time.Duration
	// CapabilitiesURL is where the agent declares its capabilities (P-CAP-3), as a URL that is relative to that of the agent: "."
	// and "capabilities" are beside it, and the agent's own URL is what serve.Agent answers. [Capabilities] asks it with GET,
	// with Header and after Prepare, whose Request then has an empty Input. "" means that the agent declares nothing. No run
	// asks it.
	CapabilitiesURL string
	// OnProgress, if it is set, is called after each read of an event stream, from the goroutine that iterates the run. It
	// delays the run, so it should be quick.
	OnProgress func(Progress)
	// MaxEventBytes bounds the data of one event; past it the run ends with an [*event.TooLargeError]. 0 means
	// event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
	// Binding, if it is set, is asked for besides server-sent events: Accept names both, and the server chooses (P-PB-1). Package
	// event/protobuf has one. Nil asks for server-sent events alone.
	Binding event.Binding
	// Debug, if it is set, is told of requests, answers and events, in the categories input, transport and frames.
	Debug *DebugLog
}

// httpAgent is the agent that [NewHTTP] returns.
type httpAgent struct {
	url           string
	client        http.Client
	header        http.Header
	prepare       func(context.Context, *Request) error
	onProgress    func(Progress)
	capabilities  string                                     // the URL
	checkRedirect func(*http.Request, []*http.Request) error // the caller's
	headerTimeout time.Duration
	idleTimeout   time.Duration
	maxEventBytes int
	binding       event.Binding
	debug         *DebugLog
}

// NewHTTP returns the agent at target, an absolute http or https URL. If target is not one, every run returns an error.
// A run is one POST of its input as JSON, answered by a stream of server-sent events (P-SSE-1), which it yields as frames.
//
// A request is never sent twice, neither by the agent nor by net/http below it, except to the target of a redirect that
// keeps the method (307, 308). Another redirect is a *StatusError. Compressed answers (gzip) are decompressed as they
// arrive. An answer is read to its end, even after the end of the run.
//
// Warnings on the first event say what enforcement removed from the input (P-ENF-6). If the context of a run is not done,
// its error is a *messages.MalformedError (the input is malformed) or *PrepareError, and nothing was sent; or a
// *StatusError, *ContentTypeError, *IdleError, *event.TooLargeError or *TransportError; or it matches ErrTruncated: the
// answer ended in the middle of an event or before the first one. Data that is not an event is a frame that the reducer
// rejects (P-PIPE-2).
func NewHTTP(target string, o *HTTPOptions) Agent {
	if err := checkURL(target); err != nil {
		return unusable{err}
	}
	if o == nil {
		o = &HTTPOptions{}
	}
	h := &httpAgent{
		url:           target,
		header:        o.Header.Clone(),
		prepare:       o.Prepare,
		onProgress:    o.OnProgress,
		capabilities:  o.CapabilitiesURL,
		headerTimeout: orDefault(o.HeaderTimeout, defaultHeaderTimeout),
		idleTimeout:   orDefault(o.IdleTimeout, defaultIdleTimeout),
		maxEventBytes: orDefault(o.MaxEventBytes, event.DefaultMaxBytes),
		binding:       o.Binding,
		debug:         o.Debug,
	}
	if o.Client != nil {
		h.client = *o.Client
	}
	if h.header == nil {
		h.header = http.Header{}
	}
	h.checkRedirect = h.client.CheckRedirect
	h.client.Transport = singleSend{h.client.Transport}
	h.client.CheckRedirect = redirectPolicy(h.client.CheckRedirect)
	return h
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

func (h *httpAgent) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return h.run(ctx, in, false)
}

// run is Run. With lend the events are those of [event.Framer.Lend]: for a session that has done with one before it asks for
// the next.
func (h *httpAgent) run(ctx context.Context, in event.RunInput, lend bool) iter.Seq2[event.Event, error] {
	return oneshot.Seq(func(yield func(event.Event, error) bool) {
		sent, warnings, err := in.Enforce()
		if err != nil {
			yield(nil, err)
			return
		}
		r := &request{httpAgent: h, parent: ctx, lend: lend, progress: Progress{ThreadID: in.ThreadID, RunID: in.RunID}}
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
