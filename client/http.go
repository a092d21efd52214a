package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/state"
)

// The defaults of [HTTPOptions].
const (
	DefaultHeaderTimeout = 2 * time.Minute
	DefaultIdleTimeout   = 5 * time.Minute
)

const (
	maxErrorBody    = 64 << 10
	maxWrongBody    = 1 << 10
	maxRedirects    = 10
	maxErrorTime    = 5 * time.Second
	eventStreamType = "text/event-stream"
)

// HTTPOptions of [NewHTTP]. The zero value means the defaults.
type HTTPOptions struct {
	// Client sends the requests; nil means a client on http.DefaultTransport, which waits 30 s for a
	// connection. It is not changed. Its Timeout, if set, bounds the whole run. Its CheckRedirect is asked
	// about redirects that keep the POST.
	Client *http.Client
	// Header is sent with every request, besides Accept, Content-Type and what the Client adds. It is copied.
	// A redirect to another scheme, host or port is followed without it, and so are those behind it.
	Header http.Header
	// HeaderTimeout bounds the time from sending a request to the header of its answer. 0 means
	// DefaultHeaderTimeout, a negative duration no bound.
	HeaderTimeout time.Duration
	// IdleTimeout bounds the time between two reads of the answer; a comment sent to keep the connection
	// alive counts as life. The time that the reader of the events takes does not count. 0 means
	// DefaultIdleTimeout, a negative duration no bound. The body of an answer that is no event stream is read
	// for as long altogether, and for 5 s at most.
	IdleTimeout time.Duration
	// MaxEventBytes bounds the data of one event. 0 means event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
}

// HTTP is an [Agent] behind a URL: a run is one POST of its input as JSON, answered by a stream of
// server-sent events (P-SSE-1). It is safe for concurrent use.
//
// A request is never sent twice, neither by HTTP nor by net/http beneath it, except to where a redirect
// that keeps the method (307, 308) points; another redirect is a *StatusError. Compressed answers
// (gzip) are read as they come.
type HTTP struct {
	url           string
	client        http.Client
	header        http.Header
	headerTimeout time.Duration
	idleTimeout   time.Duration
	maxEventBytes int
}

// NewHTTP returns the agent behind url, an absolute http or https URL. A URL that is none is an error of
// every run. A nil o means the defaults.
func NewHTTP(url string, o *HTTPOptions) *HTTP {
	if o == nil {
		o = &HTTPOptions{}
	}
	h := &HTTP{
		url:           url,
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
	h.client.Transport = once{h.client.Transport}
	h.client.CheckRedirect = checkRedirect(o.Header, h.client.CheckRedirect)
	return h
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// once is a transport that cannot send a request's body a second time. With Request.GetBody, which
// redirects need, net/http and its HTTP/2 would: when a header marks the request as idempotent, or after
// some errors of a stream that the server may have acted upon.
type once struct{ next http.RoundTripper }

func (t once) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.WithContext(req.Context()) // a transport must not change the request
	req.GetBody = nil
	if t.next == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return t.next.RoundTrip(req)
}

// checkRedirect lets only redirects pass that send the POST again, and of these those that next, if there
// is one, lets pass. What header holds is for the first server alone: net/http would take all of it along but
// Authorization and cookies.
func checkRedirect(header http.Header, next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	header = header.Clone()
	return func(req *http.Request, via []*http.Request) error {
		if leaves(req, via) {
			for key := range header {
				if k := http.CanonicalHeaderKey(key); k != "Accept" && k != "Content-Type" {
					delete(req.Header, key)
				}
			}
		}
		switch {
		case req.Method != http.MethodPost:
			return http.ErrUseLastResponse
		case next != nil:
			return next(req, via)
		case len(via) >= maxRedirects:
			return fmt.Errorf("stopped after %d redirects", maxRedirects)
		}
		return nil
	}
}

// leaves reports whether req, or a redirect before it, goes to another server than the first request.
func leaves(req *http.Request, via []*http.Request) bool {
	first := origin(via[0].URL)
	for _, r := range append(slices.Clone(via[1:]), req) {
		if origin(r.URL) != first {
			return true
		}
	}
	return false
}

// origin returns what tells servers apart (RFC 6454, section 4).
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = u.Scheme // its default port
	} else if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = u.Scheme
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + " " + port
}

// Run posts the input and yields the answer's events as frames. What enforcement removes from the input
// is told by warnings on the first event (P-ENF-6). Besides the end of ctx, errors are a
// *messages.MalformedError (a malformed input, before a byte is sent, or data that is no event), *StatusError,
// *ContentTypeError, *IdleError, *event.TooLargeError or *TransportError, or match ErrTruncated: the answer ended
// in the middle of an event or before the first.
//
// The answer is read to its end, also behind the end of the run. Ranging a second time sends nothing and is
// an error.
func (h *HTTP) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return oneShot(func(yield func(event.Event, error) bool) {
		sent, warnings, err := in.Enforce()
		if err != nil {
			yield(nil, err)
			return
		}
		r := &request{HTTP: h, parent: ctx}
		for ev, err := range noting(warnings, r.events(sent)) {
			if !yield(ev, err) {
				return
			}
		}
	})
}

// noting yields events with warnings on the first of them, so that no warning takes an event's place in
// the count. Before an error or the end they come alone.
func noting(warnings []event.Warning, events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	if len(warnings) == 0 {
		return events
	}
	return func(yield func(event.Event, error) bool) {
		noted := false
		for ev, err := range events {
			if !noted && err == nil {
				ev = event.FrameOfEvent(ev).WithWarnings(warnings...)
			} else if !noted && !yield(event.Notice(warnings...), nil) {
				return
			}
			noted = true
			if !yield(ev, err) {
				return
			}
		}
		if !noted {
			yield(event.Notice(warnings...), nil)
		}
	}
}

// request is one run.
type request struct {
	*HTTP
	parent  context.Context // the caller's
	ctx     context.Context // ours, which the time-outs cancel too
	cancel  context.CancelCauseFunc
	ordinal int // of the event to come, from 1
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

// post sends the request and returns its answer, whatever that is, or the error of the run.
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
		var wrapped *url.Error // says no more than we do
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, r.failure(opSend, err, false)
	}
	return resp, nil
}

// watch ends the run if it is not stopped in time.
func (r *request) watch(op string, after time.Duration, truncated bool) stopper {
	if after < 0 {
		return stopper{}
	}
	return stopper{time.AfterFunc(after, func() { r.cancel(&IdleError{op, after, truncated}) })}
}

// stopper is a timer, or none.
type stopper struct{ *time.Timer }

// Stop stops the timer.
func (s stopper) Stop() {
	if s.Timer != nil {
		s.Timer.Stop()
	}
}

// failure tells why an operation failed: the caller's context, a time-out, or else err.
func (r *request) failure(op string, err error, truncated bool) error {
	if r.parent.Err() != nil {
		return canceled(r.parent)
	}
	var idle *IdleError
	if errors.As(context.Cause(r.ctx), &idle) {
		return idle
	}
	return &TransportError{Op: op, Err: err, Truncated: truncated}
}

// read judges the answer and yields its events.
func (r *request) read(resp *http.Response, yield func(event.Event, error) bool) error {
	if resp.StatusCode/100 != 2 {
		e := &StatusError{Status: resp.StatusCode, Header: resp.Header}
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return e // its body is the connection, which no context ends
		}
		var err error
		if e.Body, err = r.beginning(resp.Body, maxErrorBody); err != nil && r.parent.Err() != nil {
			return canceled(r.parent)
		}
		return e
	}
	stream := isEventStream(resp.Header.Get("Content-Type"))
	body := io.Reader(resp.Body)
	if stream {
		timer := r.watch(opRead, r.idleTimeout, true)
		defer timer.Stop()
		body = &watched{resp.Body, timer, r.idleTimeout}
	}
	if encoding := resp.Header.Get("Content-Encoding"); strings.EqualFold(encoding, "gzip") {
		body = &gunzip{src: body}
	} else if encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &TransportError{Op: opRead, Err: fmt.Errorf("content encoding %q is not supported", encoding)}
	}
	if !stream {
		text, err := r.beginning(body, maxWrongBody)
		switch {
		case err != nil && (r.parent.Err() != nil || context.Cause(r.ctx) != errEnough):
			return r.failure(opRead, err, true)
		case err == nil && len(text) == 0:
			return truncated("the answer is empty")
		}
		return &ContentTypeError{ContentType: resp.Header.Get("Content-Type"), Body: text}
	}
	return r.frames(sse.NewReader(&heedful{r.ctx, body}, r.maxEventBytes), yield)
}

// errEnough ends a request whose answer is an error that was read for long enough.
var errEnough = errors.New("read for long enough")

// beginning reads up to n bytes of a body that is no event stream, within a time for all of them, and returns
// what came by then. The error is that of the last read.
func (r *request) beginning(body io.Reader, n int64) ([]byte, error) {
	after := maxErrorTime
	if r.idleTimeout >= 0 {
		after = min(after, r.idleTimeout)
	}
	timer := time.AfterFunc(after, func() { r.cancel(errEnough) })
	defer timer.Stop()
	return io.ReadAll(io.LimitReader(body, n))
}

// isEventStream reports whether a media type is that of server-sent events, whatever its parameters.
func isEventStream(contentType string) bool {
	mediaType, _, err := mime.ParseMediaType(contentType)
	return mediaType == eventStreamType && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// frames yields the events of a stream.
func (r *request) frames(events *sse.Reader, yield func(event.Event, error) bool) error {
	var keep sse.Keeper
	var framer event.Framer
	for {
		if r.parent.Err() != nil {
			return canceled(r.parent)
		}
		data, err := events.Next()
		switch {
		case err == io.EOF && r.ordinal == 0:
			return truncated("the answer holds no event")
		case err == io.EOF:
			return nil
		case err != nil:
			if _, ok := errors.AsType[*event.TooLargeError](err); ok {
				return err
			}
			return r.failure(opRead, err, true)
		}
		r.ordinal++
		f := framer.Frame(keep.Keep(data))
		if events.Partial() && f.Err() != nil && jsontext.IsCut(data, state.DefaultMaxDepth) {
			return truncated("the answer ended in the middle of an event")
		}
		if !yield(f, nil) {
			return errBreak
		}
	}
}

// watched is an answer's body whose reads are bounded in time.
type watched struct {
	body  io.Reader
	timer stopper
	after time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	if w.timer.Timer == nil {
		return w.body.Read(p)
	}
	w.timer.Reset(w.after)
	n, err := w.body.Read(p)
	w.timer.Stop()
	return n, err
}

// heedful is a body that ends with ctx, also while what was read and not yet taken apart, or not yet
// decompressed, could go on for long.
type heedful struct {
	ctx context.Context
	src io.Reader
}

func (h *heedful) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.src.Read(p)
}

// gunzip decompresses a body that net/http has not, because the request was not its to say.
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
