package serve

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// problem is why a request is refused. It is answered with a body of application/problem+json (RFC 9457).
type problem struct {
	status int
	detail string
	rule   string // of the protocol, or ""
	path   string // a JSON pointer into the request's body, or ""
	holder string // of the thread, or ""
	allow  string // the methods, of 405
	retry  bool   // the same request may succeed soon
	err    error  // for the log
}

// Error returns the detail.
func (p *problem) Error() string { return p.detail }

func (p *problem) Unwrap() error { return p.err }

func refuse(status int, format string, args ...any) *problem {
	return &problem{status: status, detail: fmt.Sprintf(format, args...)}
}

// malformed returns the problem of a body that is JSON, but not what it should be.
func malformed(err error) *problem {
	p := &problem{status: http.StatusUnprocessableEntity, detail: err.Error(), err: err}
	if m, ok := errors.AsType[*messages.MalformedError](err); ok {
		p.rule, p.path = m.Rule, m.Path
	}
	return p
}

// answer answers the request.
func (p *problem) answer(w http.ResponseWriter) {
	h := w.Header()
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.retry {
		h.Set("Retry-After", "1")
	}
	members := []state.Member{
		{Key: "type", Value: state.String("about:blank")},
		{Key: "title", Value: state.String(http.StatusText(p.status))},
		{Key: "status", Value: state.Int(int64(p.status))},
		{Key: "detail", Value: state.String(p.detail)},
	}
	for _, m := range []struct{ key, text string }{{"rule", p.rule}, {"path", p.path}, {"holder", p.holder}} {
		if m.text != "" {
			members = append(members, state.Member{Key: m.key, Value: state.String(m.text)})
		}
	}
	reply(w, p.status, "application/problem+json", state.Object(members...))
}

// reply answers a request with a JSON body that no browser takes for a page or keeps.
func reply(w http.ResponseWriter, status int, mediaType string, body state.Value) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(body.AppendJSON(nil), '\n'))
}
