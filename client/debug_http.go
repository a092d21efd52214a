package client

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/internal/oneshot"
)

// redacted stands for what is not logged.
const redacted = "[redacted]"

// harmless are the headers whose values are logged. Of any other header only the name is.
var harmless = []string{
	"Accept", "Accept-Encoding", "Age", "Allow", "Cache-Control", "Connection", "Content-Encoding", "Content-Language", "Content-Length",
	"Content-Type", "Date", "Expires", "Keep-Alive", "Retry-After", "Server", "Trailer", "Transfer-Encoding", "Traceparent", "User-Agent",
	"Vary", "Via", "X-Accel-Buffering", "X-Content-Type-Options", "X-Request-Id",
}

// safeHeader returns a header for a log.
func safeHeader(h http.Header) slog.Value {
	attrs := make([]slog.Attr, 0, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := redacted
		if canonical := http.CanonicalHeaderKey(name); canonical == "Location" {
			value = safeURL(h.Get(name))
		} else if slices.Contains(harmless, canonical) {
			value = strings.Join(h[name], ", ")
		}
		attrs = append(attrs, slog.String(name, value))
	}
	return slog.GroupValue(attrs...)
}

// safeURL returns a URL for a log: without the user, the values of the query and the fragment.
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return redacted
	}
	safe := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.Opaque != "" {
		safe = url.URL{Scheme: u.Scheme, Opaque: redacted}
	}
	text := safe.String()
	if u.User != nil {
		text = strings.Replace(text, "//", "//"+redacted+"@", 1)
	}
	if u.RawQuery != "" {
		var keys []string
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			key, _, ok := strings.Cut(pair, "=")
			if !ok { // a value alone
				key = redacted
			}
			if ok {
				key += "=" + redacted
			}
			keys = append(keys, key)
		}
		text += "?" + strings.Join(keys, "&")
	}
	if u.Fragment != "" {
		text += "#" + redacted
	}
	return text
}

// tracing is the category transport of one request.
type tracing struct {
	l     *DebugLog
	begun time.Time
}

// trace returns the category transport of a request, off if it is.
func (l *DebugLog) trace() *tracing {
	if !l.has(DebugTransport) {
		return nil
	}
	return &tracing{l, time.Now()}
}

func (t *tracing) request(req *http.Request) {
	if t == nil {
		return
	}
	t.l.say(DebugTransport, "request", slog.String("method", req.Method), slog.String("url", safeURL(req.URL.String())), slog.Any("header", safeHeader(req.Header)))
}

func (t *tracing) answer(resp *http.Response) {
	if t == nil {
		return
	}
	attrs := []slog.Attr{slog.Int("status", resp.StatusCode), slog.String("protocol", resp.Proto), slog.Duration("after", time.Since(t.begun)), slog.Any("header", safeHeader(resp.Header))}
	if resp.Request != nil && resp.Request.URL != nil {
		attrs = append(attrs, slog.String("url", safeURL(resp.Request.URL.String()))) // another one after a redirect
	}
	t.l.say(DebugTransport, "answer", attrs...)
}

// end logs how the request ended. What an error says may hold what a server wrote.
func (t *tracing) end(events int, err error) {
	if t == nil {
		return
	}
	attrs := []slog.Attr{slog.Int("events", events), slog.Duration("took", time.Since(t.begun))}
	switch {
	case errors.Is(err, oneshot.ErrBreak):
		attrs = append(attrs, slog.String("by", "the reader"))
	case err != nil:
		attrs = append(attrs, slog.String("error", safeError(err)))
	}
	t.l.say(DebugTransport, "end", attrs...)
}

// safeError returns the text of an error for a log: URLs in it lose what [safeURL] takes out.
func safeError(err error) string {
	words := strings.Split(err.Error(), " ")
	for i, word := range words {
		bare := strings.Trim(word, `",;:()`)
		if strings.Contains(bare, "://") || strings.Contains(bare, "?") && strings.Contains(bare, "=") {
			words[i] = strings.Replace(word, bare, safeURL(bare), 1)
		}
	}
	return strings.Join(words, " ")
}
