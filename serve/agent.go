package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// AgentOptions configures [Agent]; nil means defaults.
type AgentOptions struct {
	// MaxBodyBytes bounds the body of a request. 0 means 16 MiB.
	MaxBodyBytes int64
	// BodyTimeout is how long the body of a request may take to come. 0 means 30 s. The server's ReadHeaderTimeout does the
	// same for the head of a request; set it.
	BodyTimeout time.Duration
	// KeepAlive is how long the stream may be silent before a comment is sent. 0 means 15 s, a negative value no comments.
	KeepAlive time.Duration
	// WriteTimeout is how long the client may take to receive what is written before the run is stopped. 0 means 30 s, a
	// negative value no limit. While it waits, at most 256 KiB and one event are kept.
	WriteTimeout time.Duration
	// PeerVersion says that clients speak no newer version than this, such as "0.0.57"; the stream is downgraded for them
	// (P-VRS-2). "" goes by the protocolVersion of each input (P-VRS-3).
	PeerVersion string
	// Capabilities is what a GET is answered with (P-CAP-3); nil answers with what the agent declares, if it is a
	// [client.Declarer]. If there is neither, GET is not allowed.
	Capabilities *event.Capabilities
	// RunError returns what a client is told of an error that ends a run, for which it gets a RUN_ERROR. Nil tells the rule
	// that the agent broke, what an *reducer.AgentError says, and of other errors only their kind: their texts may
	// hold what is not the client's.
	RunError func(ctx context.Context, err error) *event.RunError
	// Binding, if it is set, is what a client is answered in whose Accept admits the Binding's media type, wildcards included
	// (P-PB-1); any other client gets server-sent events. Package event/protobuf has one. Such an answer has no comments, so KeepAlive
	// does not apply. What the Binding cannot carry is left out, with a warning in the log.
	Binding event.Binding
	// Emits, if it is not nil, is the types of the events that the agent emits. If the Binding does not cover them all, its
	// clients get server-sent events, and the log says why. TypeUnknown stands for any other type; retired types are converted
	// before they are encoded, so they count as covered.
	Emits []event.Type
	// Logger gets a line for each run that did not end well, at level Error, and one for each warning, at level Warn. Nil
	// means slog.Default().
	Logger *slog.Logger
}

// Agent returns a handler that serves agent as an AG-UI endpoint, on any path: a POST of a RunAgentInput as JSON is answered
// with the events of the run as server-sent events (P-SSE-1), or in the Binding of the options. A request that is not in order gets a 4xx with a body of
// application/problem+json, which has the members rule and path if the input breaks a rule (P-ENF-6). A GET is answered with
// the agent's capabilities, if it declares any. The handler keeps nothing between requests.
//
// Events are checked as they leave, by the rules that a client checks them by. What the agent does wrong becomes a RUN_ERROR and a
// line in the log, and the stream ends: an event that is malformed or out of place, an error, a panic, an end without
// RUN_FINISHED. After RUN_FINISHED it is only logged. Events are flushed at once; when the connection is slower than the
// agent, they leave together. Unrecognized material in frames is passed on: the client decides.
//
// The run's context ends when the client goes away or does not read, or when the server's base context ends
// ([http.Server.BaseContext]); the client is then told, if it still can be. To stop gracefully, end the base context and
// call [http.Server.Shutdown].
//
// If agent or the peer's version cannot be used, every run gets a RUN_ERROR, and the log has the reason.
func Agent(agent client.Agent, o *AgentOptions) http.Handler {
	h := new(agentHandler)
	if o != nil {
		h.o = *o
	}
	h.o.MaxBodyBytes = cmp.Or(h.o.MaxBodyBytes, 16<<20)
	h.o.BodyTimeout = cmp.Or(h.o.BodyTimeout, 30*time.Second)
	h.o.KeepAlive = cmp.Or(h.o.KeepAlive, 15*time.Second)
	h.o.WriteTimeout = cmp.Or(h.o.WriteTimeout, 30*time.Second)
	if h.o.RunError == nil {
		h.o.RunError = runError
	}
	if h.o.Binding != nil {
		h.uncovered = h.o.Binding.Covered(slices.DeleteFunc(slices.Clone(h.o.Emits), event.Type.IsRetired)...)
	}
	var peer []client.Middleware
	if h.o.PeerVersion != "" {
		peer = append(peer, client.Peer(h.o.PeerVersion))
	}
	h.agent = client.Chain(agent, peer...)
	return h
}

type agentHandler struct {
	agent     client.Agent
	o         AgentOptions
	uncovered error // why the binding is not used, nil if it is
}

func (h *agentHandler) log() *slog.Logger {
	if h.o.Logger != nil {
		return h.o.Logger
	}
	return slog.Default()
}

// ServeHTTP implements http.Handler.
func (h *agentHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && h.declares() {
		h.declare(w, r)
		return
	}
	in, warnings, no := h.input(w, r)
	if no != nil {
		no.answer(w)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	log := h.log().With("thread", in.ThreadID, "run", in.RunID)
	for _, warning := range warnings {
		logWarning(log, warning)
	}
	if text := strange(in); text != "" {
		logWarning(log, event.Warning{Rule: "P-VRS-1", Type: "RunAgentInput", Path: "/protocolVersion", Text: text})
	}
	binding := h.o.Binding
	if !asksFor(r, binding) {
		binding = nil
	} else if h.uncovered != nil {
		binding = nil
		log.Warn("answered with server-sent events", "error", h.uncovered)
	}
	mediaType := eventStreamType
	if binding != nil {
		mediaType = binding.MediaType()
	}
	out := newStream(w, mediaType, h.o.KeepAlive, h.o.WriteTimeout, func(err error) { cancel(err) })
	run := agentRun{
		handler: h, ctx: ctx, out: out, log: log, binding: binding,
		verifier: reducer.NewVerifier(&reducer.Options{OnWarning: func(w event.Warning) { logWarning(log, w) }}),
		peer:     h.peer(in),
	}
	defer out.end() // even if the logger panics
	err := run.play(*in)
	if err != nil {
		run.tell(err)
	}
	if lost := out.end(); lost != nil {
		err = lost
	}
	if err != nil {
		run.report(err)
	}
}

// input reads and judges the input of the run.
func (h *agentHandler) input(w http.ResponseWriter, r *http.Request) (*event.RunInput, []event.Warning, *problem) {
	switch {
	case r.Method != http.MethodPost:
		return nil, nil, h.postOnly(h.allow())
	case !isJSON(r):
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "the body must be of Content-Type application/json, in UTF-8")
	case !accepts(r, eventStreamType) && (h.uncovered != nil || !asksFor(r, h.o.Binding)):
		return nil, nil, refuse(http.StatusNotAcceptable, "the answer is text/event-stream, which Accept rules out")
	}
	v, no := readJSON(w, r, h.o.MaxBodyBytes, h.o.BodyTimeout)
	if no != nil {
		return nil, nil, no
	}
	v, warnings := event.UpgradeInput(v)
	in, more, err := event.DecodeRunInput(v, nil)
	if err != nil {
		return nil, nil, malformed(err)
	}
	return in, append(warnings, more...), nil
}

// agentRun is one run.
type agentRun struct {
	handler  *agentHandler
	ctx      context.Context
	out      *stream
	log      *slog.Logger
	binding  event.Binding // nil for server-sent events
	ordinal  int           // of the event being sent
	verifier *reducer.Verifier
	peer     peer
}

// errEnd is the error of a run whose agent ended it too early.
var errEnd = errors.New("the agent's stream ended before the run did")

// play sends the events of the run. It returns what went wrong.
func (run *agentRun) play(in event.RunInput) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &client.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	for ev, err := range run.handler.agent.Run(run.ctx, in) {
		if err != nil {
			return err
		}
		run.ordinal++
		if err := run.verifier.Verify(ev); err != nil {
			return err
		}
		if err := run.send(ev); err != nil {
			return err
		}
	}
	switch {
	case run.ctx.Err() != nil && run.verifier.Running():
		return context.Cause(run.ctx)
	case run.verifier.Running():
		return errEnd
	}
	return nil
}

// send sends an event that was found to be in order.
func (run *agentRun) send(ev event.Event) error {
	if f, ok := ev.(event.Frame); ok && (f.Data() == nil || f.Err() != nil) {
		return nil // a notice, or data after the end of a run that is not an event (P-PIPE-2)
	}
	ev, warnings := run.peer.downgrade(ev)
	for _, w := range warnings {
		logWarning(run.log, w)
	}
	if run.binding != nil {
		return run.encode(run.ctx, ev)
	}
	return run.out.send(run.ctx, func(dst []byte) []byte {
		if f, ok := ev.(event.Frame); ok {
			return sse.Append(dst, f.Data())
		}
		return append(event.Append(append(dst, "data: "...), ev), "\n\n"...) // it is one line
	})
}

// encode sends an event in the run's binding. What that cannot carry is logged (P-PB-5).
func (run *agentRun) encode(ctx context.Context, ev event.Event) error {
	var warnings []event.Warning
	var failed error
	err := run.out.send(ctx, func(dst []byte) []byte {
		dst, warnings, failed = run.binding.Append(dst, ev)
		return dst
	})
	for _, w := range warnings {
		w.Ordinal = run.ordinal
		logWarning(run.log, w)
	}
	if failed == nil || err != nil {
		return err
	}
	f := event.FrameOfEvent(ev)
	if f.Type() != event.TypeUnknown {
		return failed
	}
	logWarning(run.log, event.Warning{Rule: "P-PB-5", Ordinal: run.ordinal, Type: f.TypeName(), Text: "not sent: " + failed.Error()})
	return nil
}

// tell tells the client why the run did not end well, unless the run has ended.
func (run *agentRun) tell(err error) {
	if !run.verifier.Running() {
		return
	}
	told := run.handler.told(run.ctx, err)
	if run.binding != nil {
		_ = run.encode(context.WithoutCancel(run.ctx), told)
		return
	}
	_ = run.out.send(context.WithoutCancel(run.ctx), func(dst []byte) []byte { return sse.Append(dst, event.Append(nil, told)) })
}

// report logs why the run did not end well.
func (run *agentRun) report(err error) {
	level, attrs := slog.LevelError, []any{"error", err}
	if run.ctx.Err() != nil {
		level = slog.LevelInfo // the client went away, or the server stops
	}
	if p, ok := errors.AsType[*client.PanicError](err); ok {
		attrs = append(attrs, "stack", string(p.Stack))
	}
	run.log.Log(context.WithoutCancel(run.ctx), level, "the run did not end well", attrs...)
}

// told returns what the client is told of an error. What the options make of it must be in order, too.
func (h *agentHandler) told(ctx context.Context, err error) (told *event.RunError) {
	defer func() {
		if recover() != nil || told == nil || event.Check(told) != nil {
			told = runError(ctx, err)
		}
	}()
	return h.o.RunError(ctx, err)
}

// runError is the default of AgentOptions.RunError.
func runError(ctx context.Context, err error) *event.RunError {
	code, text := "agent_failed", "the agent failed"
	violation, isViolation := errors.AsType[*reducer.Violation](err)
	bad, isMalformed := errors.AsType[*messages.MalformedError](err)
	said, isSaid := errors.AsType[*reducer.AgentError](err)
	switch {
	case isSaid:
		return &event.RunError{Message: said.Message, Code: said.Code}
	case ctx.Err() != nil:
		code, text = "stopped", "the server stopped the run"
	case isViolation:
		code, text = "invalid_event", violation.Error()
	case isMalformed:
		code, text = "invalid_event", bad.Error()
	case errors.Is(err, reducer.ErrTruncated), err == errEnd:
		code, text = "truncated", errEnd.Error()
	}
	return &event.RunError{Message: text, Code: messages.Some(code)}
}

func logWarning(log *slog.Logger, w event.Warning) {
	log.Warn(w.Text, "rule", w.Rule, "event", w.Ordinal, "type", w.Type, "path", w.Path)
}
