package serve

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/state"
)

// ServeHTTP implements http.Handler.
func (t *Threads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if no := t.serve(w, r); no != nil {
		no.answer(w)
	}
}

// serve serves the request, or says why not.
func (t *Threads) serve(w http.ResponseWriter, r *http.Request) *problem {
	id, verb, no := route(r)
	if no != nil {
		return no
	}
	if id == scriptName && verb == "" { // it is the same for everybody
		return script(w, r)
	}
	if err := t.o.CrossOrigin.Check(r); err != nil {
		return refuse(http.StatusForbidden, "the request comes from a page of another origin")
	}
	if err := t.o.Authorize(r, id); err != nil {
		t.log().Warn("a request was refused", "thread", id, "remote", r.RemoteAddr, "error", err)
		return refuse(http.StatusForbidden, "not allowed")
	}
	if verb == "" {
		return t.watch(w, r, id)
	}
	act, known := actions[verb]
	if !known {
		return refuse(http.StatusNotFound, "a thread has no %q", verb)
	}
	return t.act(w, r, id, verb, act)
}

// route takes the path apart: a thread's id, and what is done with it, "" for the feed.
func route(r *http.Request) (id, verb string, no *problem) {
	escaped, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	id, err := url.PathUnescape(escaped)
	switch {
	case err != nil, id == "", strings.HasSuffix(r.URL.Path, "/"):
		return "", "", refuse(http.StatusNotFound, "there is nothing here: the path is a thread's id and what to do with it")
	case id == scriptName && verb != "":
		return "", "", refuse(http.StatusNotFound, "%s is not a thread", scriptName)
	case len(id) > maxID:
		return "", "", refuse(http.StatusNotFound, "a thread's id has at most %d bytes", maxID)
	case !utf8.ValidString(id):
		return "", "", refuse(http.StatusNotFound, "a thread's id is UTF-8")
	}
	return id, verb, nil
}

// scriptName is the path of the script that a page imports. No thread has it as its id.
const scriptName = "agfold.js"

func script(w http.ResponseWriter, r *http.Request) *problem {
	if no := reads(r); no != nil {
		return no
	}
	serveScript(w, r)
	return nil
}

// reads refuses what does not read.
func reads(r *http.Request) *problem {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	no := refuse(http.StatusMethodNotAllowed, "GET it")
	no.allow = "GET, HEAD"
	return no
}

// watch serves the thread's feed to one tab.
func (t *Threads) watch(w http.ResponseWriter, r *http.Request, id string) *problem {
	if no := reads(r); no != nil {
		return no
	}
	if !accepts(r, eventStreamType) {
		return refuse(http.StatusNotAcceptable, "a thread's feed is text/event-stream, which Accept rules out")
	}
	e, no := t.use(r.Context(), id)
	if no != nil {
		return no
	}
	defer t.release(e)
	if no := t.openTab(e); no != nil {
		return no
	}
	defer t.closeTab(e)
	if r.Method == http.MethodGet {
		e.feed.serveHTTP(w, r)
	}
	return nil
}

// act carries out an action and answers that it was accepted.
func (t *Threads) act(w http.ResponseWriter, r *http.Request, id, verb string, do action) *problem {
	if r.Method != http.MethodPost {
		no := refuse(http.StatusMethodNotAllowed, "POST it")
		no.allow = http.MethodPost
		return no
	}
	if r.ContentLength != 0 && !isJSON(r) {
		return refuse(http.StatusUnsupportedMediaType, "the body must be of Content-Type application/json, in UTF-8")
	}
	body, no := readJSON(w, r, t.o.MaxBodyBytes, t.o.BodyTimeout)
	if no != nil {
		return no
	}
	e, no := t.use(r.Context(), id)
	if no != nil {
		return no
	}
	defer t.release(e)
	if e.held != nil {
		return t.stopElsewhere(w, r, e, verb, body)
	}
	e.acting.Lock()
	defer e.acting.Unlock()
	if no := do(t, e, body); no != nil {
		return no
	}
	reply(w, http.StatusAccepted, "application/json", state.Object(
		state.Member{Key: "threadId", Value: state.String(id)},
		state.Member{Key: "revision", Value: state.Int(int64(e.session.Thread().Revision))},
	))
	return nil
}

// stopElsewhere has the process that holds the thread stop its run, if the store can. Nothing else is done from here.
func (t *Threads) stopElsewhere(w http.ResponseWriter, r *http.Request, e *entry, verb string, body state.Value) *problem {
	stopper, can := t.o.Store.(Stopper)
	if !can || verb != "stop" {
		return e.heldProblem()
	}
	if no := nothing(body); no != nil {
		return no
	}
	if err := stopper.Stop(r.Context(), e.id); err != nil {
		t.log().Error("a run cannot be stopped", "thread", e.id, "holder", e.held.Holder, "error", err)
		return &problem{status: http.StatusServiceUnavailable, detail: "the process that holds the thread does not answer", holder: e.held.Holder, retry: true}
	}
	reply(w, http.StatusAccepted, "application/json", state.Object(state.Member{Key: "threadId", Value: state.String(e.id)}))
	return nil
}

var errNotLoopback = errors.New("the request does not come from this machine, and ThreadsOptions.Authorize is nil")

// onlyLoopback is Authorize without one. A page on another site can have its own name resolve to a loopback address, so the
// host counts too; a proxy makes the address its own, so what it forwards does not count as local.
func onlyLoopback(r *http.Request, _ string) error {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return errNotLoopback
		}
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !remote.Addr().Unmap().IsLoopback() || !isLoopbackHost(r.Host) {
		return errNotLoopback
	}
	return nil
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
