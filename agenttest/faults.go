package agenttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
)

// Faults break the answers of an agent, in front of its server ([Faults.Handler]) or around it
// ([Faults.Middleware]), in the same way. Several faults act one after the other, those of events before those of bytes;
// of several status codes or media types the last one counts. Answers with the same seed break the same way.
//
// Faults are immutable and safe for concurrent use; each answer counts its own events.
type Faults struct {
	seed   uint64
	events []Fault
	bytes  []Fault
	header Fault
}

// NewFaults returns faults whose random choices the seed makes.
func NewFaults(seed uint64, faults ...Fault) *Faults {
	fs := &Faults{seed: seed}
	for _, fault := range faults {
		switch {
		case fault.status != 0:
			fs.header.status, fs.header.body = fault.status, fault.body
			fs.header.name = fault.name
		case fault.contentType != "":
			fs.header.contentType = fault.contentType
		case fault.bytes:
			fs.bytes = append(fs.bytes, fault)
		default:
			fs.events = append(fs.events, fault)
		}
	}
	return fs
}

// String returns how to make these faults again, for the message of a failed test.
func (fs *Faults) String() string {
	parts := []string{fmt.Sprint(fs.seed)}
	for _, fault := range fs.events {
		parts = append(parts, fault.name)
	}
	for _, fault := range fs.bytes {
		parts = append(parts, fault.name)
	}
	if fs.header.status != 0 {
		parts = append(parts, fs.header.name)
	}
	if fs.header.contentType != "" {
		parts = append(parts, ContentType(strings.TrimPrefix(fs.header.contentType, none)).name)
	}
	return "NewFaults(" + strings.Join(parts, ", ") + ")"
}

// What ends an answer early.
var (
	errEnd  = errors.New("the answer ends here")
	errLost = errors.New("the connection is lost")
)

// Handler returns a server whose event streams break on their way out of next. Answers that are not event streams pass
// as they are.
func (fs *Faults) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fs.header.status != 0 {
			w.WriteHeader(fs.header.status)
			io.WriteString(w, fs.header.body)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		broken := &brokenWriter{ResponseWriter: w, contentType: fs.header.contentType, flow: fs.flow(ctx), cancel: cancel}
		broken.flow.out = broken.send
		next.ServeHTTP(broken, r.WithContext(ctx))
		broken.finish()
	})
}

// Middleware returns the faults around an agent: its events travel through an HTTP exchange inside the process, as those of
// a server would. Warnings that the agent's frames carry are lost on the way.
func (fs *Faults) Middleware() client.Middleware {
	return func(next client.Agent) client.Agent {
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				var own error // of the agent, which HTTP cannot carry
				handler := fs.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for ev, err := range next.Run(r.Context(), in) {
						if err != nil {
							own = err
							panic(http.ErrAbortHandler)
						}
						if _, err := w.Write(sse.Append(nil, event.Append(nil, ev))); err != nil {
							return
						}
					}
				}))
				exchange := &exchange{handler: handler}
				defer exchange.wait()
				options := &client.HTTPOptions{Client: &http.Client{Transport: exchange}, HeaderTimeout: -1, IdleTimeout: -1}
				for ev, err := range client.NewHTTP("http://agent.invalid/", options).Run(ctx, in) {
					if err != nil {
						exchange.wait()
						switch {
						case ctx.Err() != nil:
						case exchange.panicked != nil:
							err = exchange.panicked
						case own != nil:
							err = own
						}
					}
					if !yield(ev, err) {
						return
					}
				}
			}
		})
	}
}

// flow returns the way of one answer through the faults.
func (fs *Faults) flow(ctx context.Context) *flow {
	f := &flow{ctx: ctx, rand: rand.New(rand.NewPCG(fs.seed, 0x61676e74))}
	for _, fault := range append(fs.events[:len(fs.events):len(fs.events)], fs.bytes...) {
		f.stages = append(f.stages, fault.make(f))
	}
	return f
}

// brokenWriter is an answer that breaks. It sends each event as soon as it is complete.
type brokenWriter struct {
	http.ResponseWriter
	contentType string
	flow        *flow
	cancel      context.CancelFunc
	wrote       bool // the header
	plain       bool // no event stream
	rest        []byte
	err         error
}

func (w *brokenWriter) WriteHeader(status int) {
	if w.wrote {
		return
	}
	w.wrote = true
	w.plain = !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	if !w.plain {
		w.Header().Del("Content-Length")
		switch w.contentType {
		case "":
		case none:
			w.Header()["Content-Type"] = nil // not even what net/http would guess
		default:
			w.Header().Set("Content-Type", w.contentType)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.plain {
		return w.ResponseWriter.Write(p)
	}
	if w.err != nil {
		return 0, w.err
	}
	w.rest = append(w.rest, p...)
	for w.err == nil {
		end := bytes.Index(w.rest, []byte("\n\n"))
		if end < 0 {
			break
		}
		block := w.rest[:end+2]
		w.rest = w.rest[end+2:]
		if block[0] == ':' {
			w.err = w.send(block)
		} else {
			w.err = w.flow.pass(0, block)
		}
	}
	if w.err != nil {
		w.cancel()
		return 0, w.err
	}
	return len(p), nil
}

// Flush sends the header; events are sent as they come.
func (w *brokenWriter) Flush() {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *brokenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *brokenWriter) send(p []byte) error {
	if _, err := w.ResponseWriter.Write(p); err != nil {
		return err
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// finish ends the answer: cleanly, or by dropping the connection.
func (w *brokenWriter) finish() {
	if w.err == nil && w.wrote && !w.plain {
		w.err = w.flow.end()
	}
	if w.err != nil && !errors.Is(w.err, errEnd) {
		panic(http.ErrAbortHandler)
	}
}

// exchange is a transport that asks a handler inside the process.
type exchange struct {
	handler  http.Handler
	serving  sync.WaitGroup
	panicked error // a panic of the handler's own; read after wait
}

func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	body, pipe := io.Pipe()
	answer := &answer{header: http.Header{}, pipe: pipe, begun: make(chan struct{})}
	ctx, cancel := context.WithCancel(r.Context())
	x.serving.Go(func() {
		defer cancel()
		defer func() {
			answer.begin(http.StatusOK)
			if failed := recover(); failed != nil {
				if failed != http.ErrAbortHandler {
					x.panicked = &client.PanicError{Value: failed, Stack: debug.Stack()}
				}
				pipe.CloseWithError(io.ErrUnexpectedEOF)
			} else {
				pipe.Close()
			}
		}()
		x.handler.ServeHTTP(answer, r.WithContext(ctx))
	})
	select {
	case <-answer.begun:
	case <-ctx.Done():
		pipe.CloseWithError(ctx.Err())
		return nil, ctx.Err()
	}
	return &http.Response{
		Status: fmt.Sprint(answer.status, " ", http.StatusText(answer.status)), StatusCode: answer.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: answer.sent, ContentLength: -1, Request: r,
		Body: &leaving{body, cancel},
	}, nil
}

// wait waits for the handler to return.
func (x *exchange) wait() { x.serving.Wait() }

// leaving is a body whose reader may leave, which the handler learns from its context.
type leaving struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *leaving) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// answer is the ResponseWriter of an exchange.
type answer struct {
	header http.Header
	sent   http.Header
	status int
	pipe   *io.PipeWriter
	begun  chan struct{}
	once   sync.Once
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.begin(status) }

func (a *answer) begin(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.pipe.Write(p)
}

func (a *answer) Flush() { a.begin(http.StatusOK) }
