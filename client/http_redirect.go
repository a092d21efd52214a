package client

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// singleSend is a transport that cannot send a request's body a second time. With Request.GetBody, which redirects need,
// net/http and its HTTP/2 would do so if a header marks the request as idempotent, or after some errors of a stream that
// the server may have acted upon.
type singleSend struct{ next http.RoundTripper }

func (t singleSend) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.WithContext(req.Context()) // a transport must not change the request
	req.GetBody = nil
	if t.next == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return t.next.RoundTrip(req)
}

const maxRedirects = 10

// redirectPolicy returns a Client.CheckRedirect that follows only redirects that send the POST again, and of these only
// what next, if there is one, allows. The caller's header is for the first server alone: net/http would send all of it
// along except Authorization and cookies, and a Referer with the query of the URL.
func redirectPolicy(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		strip(req, via)
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

// strip removes the caller's header, and the Referer, from a request that goes to another server.
func strip(req *http.Request, via []*http.Request) {
	if !leaves(req, via) {
		return
	}
	for key := range via[0].Header {
		if k := http.CanonicalHeaderKey(key); k != "Accept" && k != "Content-Type" {
			delete(req.Header, key)
		}
	}
	req.Header.Del("Referer")
}

// stripHeader returns a Client.CheckRedirect for GET: that of next or of net/http, after strip.
func stripHeader(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		strip(req, via)
		switch {
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

// origin returns what identifies a server (RFC 6454, section 4).
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = u.Scheme // its default port
	} else if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = u.Scheme
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + " " + port
}
