package serve

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// isJSON reports whether the request says that its body is JSON. A page of another origin cannot say that without the
// server's consent.
func isJSON(r *http.Request) bool {
	got, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && got == "application/json" && (params["charset"] == "" || strings.EqualFold(params["charset"], "utf-8"))
}

// accepts reports whether the most specific of the request's media ranges that cover the media type, such as
// "text/event-stream", has a weight above 0. Without any Accept, every type is accepted.
func accepts(r *http.Request, mediaType string) bool {
	headers := r.Header.Values("Accept")
	if len(headers) == 0 {
		return true
	}
	main, _, _ := strings.Cut(mediaType, "/")
	ranges := []string{"*/*", main + "/*", mediaType}
	best, accepted := -1, false
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		switch i := slices.Index(ranges, strings.ToLower(strings.TrimSpace(name))); {
		case i > best:
			best, accepted = i, !excluded(params)
		case i >= 0 && i == best:
			accepted = accepted || !excluded(params)
		}
	}
	return accepted
}

// asksFor reports whether the request's Accept admits a binding (P-PB-1): it has one, and that covers the media type.
func asksFor(r *http.Request, binding event.Binding) bool {
	return binding != nil && len(r.Header.Values("Accept")) > 0 && accepts(r, binding.MediaType())
}

// excluded reports whether the parameters of a media range give it the weight 0.
func excluded(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64); strings.EqualFold(strings.TrimSpace(key), "q") && err == nil {
			return weight == 0
		}
	}
	return false
}

// readJSON reads the request's body, which may have limit bytes and take a time, and parses it. An empty body is absent.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration) (state.Value, *problem) {
	tooLarge := refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // the rest is not read
		return state.Value{}, tooLarge
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(within)) // a server without deadlines has other means
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	_ = out.SetReadDeadline(time.Time{}) // otherwise it would end the answer too
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return state.Value{}, tooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.Header().Set("Connection", "close")
		return state.Value{}, refuse(http.StatusRequestTimeout, "the body did not come within %v", within)
	}
	if err != nil {
		return state.Value{}, refuse(http.StatusBadRequest, "the body cannot be read")
	}
	if len(body) == 0 {
		return state.Value{}, nil
	}
	v, err := state.Parse(body)
	if err != nil {
		return state.Value{}, refuse(http.StatusBadRequest, "the body is not JSON: %v", err)
	}
	return v, nil
}
