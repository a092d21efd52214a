package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/state"
)

// Options configures [Handler]; nil means no pauses.
type Options struct {
	// Pace scales the agent's pauses: 1 is the pace of a model, 2 is twice as slow, 0 or less is without
	// any pause.
	Pace float64
	// OnRun, if set, is called when a run ends, with its input, the number of events that were sent, and
	// the error that stopped it: that of the request's context or of the connection, nil if the run is complete.
	// It may be called from several goroutines at once.
	OnRun func(in *event.RunInput, events int, err error)
}

// maxInput bounds the body of a request, in bytes.
const maxInput = 16 << 20

// Handler returns the agent as an HTTP handler: a POST of a RunAgentInput as JSON is answered with the run's
// events as server-sent events (P-SSE-1), on any path. Any other request is answered with
// {"error": {"message": …}} and a matching status. A run ends early when its client goes away. The
// handler is safe for concurrent use and keeps nothing between requests. Nil options mean the defaults.
func Handler(o *Options) http.Handler {
	h := &handler{}
	if o != nil {
		h.o = *o
	}
	return h
}

type handler struct{ o Options }

// refusal is an error with the HTTP status to answer with.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	in, err := readInput(w, req)
	if err != nil {
		answer(w, err)
		return
	}
	sent, err := h.play(req.Context(), w, tell(in))
	if h.o.OnRun != nil {
		h.o.OnRun(in, sent, err)
	}
}

// answer refuses a request.
func answer(w http.ResponseWriter, err error) {
	var no *refusal
	if !errors.As(err, &no) {
		no = &refusal{http.StatusBadRequest, err.Error()}
	}
	if no.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	body := state.Object(member("error", state.Object(member("message", state.String(no.text)))))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(no.status)
	w.Write(append(body.AppendJSON(nil), '\n'))
}

// readInput reads the run input of a request and checks both.
func readInput(w http.ResponseWriter, req *http.Request) (*event.RunInput, error) {
	if req.Method != http.MethodPost {
		return nil, refuse(http.StatusMethodNotAllowed, "this is an AG-UI agent: POST a RunAgentInput")
	}
	if got, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || got != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "want Content-Type application/json")
	}
	if !accepts(req.Header.Values("Accept")) {
		return nil, refuse(http.StatusNotAcceptable, "the answer is text/event-stream, which Accept rules out")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxInput))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the input is larger than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	v, err := state.Parse(body)
	if err != nil {
		return nil, err
	}
	v, _ = event.UpgradeInput(v)
	in, _, err := event.DecodeRunInput(v, nil)
	return in, err
}

// accepts reports whether one of the media ranges covers an event stream; without any, every type is accepted.
func accepts(headers []string) bool {
	if len(headers) == 0 {
		return true
	}
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		switch name, _, _ := strings.Cut(part, ";"); strings.ToLower(strings.TrimSpace(name)) {
		case "text/event-stream", "text/*", "*/*":
			return true
		}
	}
	return false
}

// play sends each beat at its time. It returns how many it sent and what stopped it.
func (h *handler) play(ctx context.Context, w http.ResponseWriter, beats []beat) (int, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	start := time.Now()
	var buf []byte
	for i, b := range beats {
		if err := until(ctx, start.Add(time.Duration(float64(b.at)*max(h.o.Pace, 0)))); err != nil {
			return i, err
		}
		buf = sse.Append(buf[:0], event.FrameOfEvent(b.ev).Data())
		if _, err := w.Write(buf); err != nil {
			return i, err
		}
		if err := out.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return i + 1, err
		}
	}
	return len(beats), nil
}

// until waits until a time. If ctx ends first, it returns the error of ctx.
func until(ctx context.Context, at time.Time) error {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
