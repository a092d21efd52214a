package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// turn is what an agent does in one run.
type turn = func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error

// scripted is an agent whose runs are written down in advance.
type scripted struct {
	turns []turn

	mu     sync.Mutex
	inputs []event.RunInput
}

func script(turns ...turn) *scripted { return &scripted{turns: turns} }

func (a *scripted) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		a.mu.Lock()
		n := len(a.inputs)
		a.inputs = append(a.inputs, in)
		a.mu.Unlock()
		if n >= len(a.turns) {
			return fmt.Errorf("run %d is not in the script", n+1)
		}
		return a.turns[n](ctx, in, emit)
	}).Run(ctx, in)
}

// says is a turn that emits events, single ones or lists of them, and ends.
func says(what ...any) turn {
	return func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		for _, ev := range flat(what...) {
			if err := emit(ev); err != nil {
				return err
			}
		}
		return nil
	}
}

// then is a turn that is followed by another one.
func then(turns ...turn) turn {
	return func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		for _, t := range turns {
			if err := t(ctx, in, emit); err != nil {
				return err
			}
		}
		return nil
	}
}

// waits is a turn that does nothing until its context ends.
func waits(ctx context.Context, _ event.RunInput, _ func(...event.Event) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// halt stops a session's turn and does not wait for that.
func halt(s *client.Session) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Stop(over)
}

func flat(what ...any) []event.Event {
	var events []event.Event
	for _, w := range what {
		switch w := w.(type) {
		case []event.Event:
			events = append(events, w...)
		case event.Event:
			events = append(events, w)
		case string:
			f, err := event.NewFrame([]byte(w))
			if err != nil {
				panic(err)
			}
			events = append(events, f)
		}
	}
	return events
}

var (
	begins    = &event.RunStarted{ThreadID: "t", RunID: "r"}
	succeeds  = &event.RunFinished{ThreadID: "t", RunID: "r"}
	cancels   = finishes(event.Outcome{Type: event.OutcomeCancelled})
	fails     = &event.RunError{Message: "out of tokens", Code: messages.Some("limit")}
	interrupt = event.Interrupt{ID: "i1", Reason: "approval"}
)

func finishes(out event.Outcome) event.Event {
	return &event.RunFinished{ThreadID: "t", RunID: "r", Outcome: out}
}

func asks(interrupts ...event.Interrupt) event.Event {
	return finishes(event.Outcome{Type: event.OutcomeInterrupt, Interrupts: interrupts})
}

func text(id, s string) []event.Event {
	return flat(&event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: s}, &event.TextMessageEnd{MessageID: id})
}

func calls(id, name, args string) []event.Event {
	return flat(&event.ToolCallStart{ToolCallID: id, ToolCallName: name, ParentMessageID: messages.Some("a")},
		&event.ToolCallArgs{ToolCallID: id, Delta: args}, &event.ToolCallEnd{ToolCallID: id})
}

// counting makes ids in the order in which they are requested.
func counting() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprint("id-", n)
	}
}

// quiet is options for a session whose warnings are of no interest.
func quiet(o client.SessionOptions) *client.SessionOptions {
	if o.OnWarning == nil {
		o.OnWarning = func(event.Warning) {}
	}
	if o.NewID == nil {
		o.NewID = counting()
	}
	return &o
}

// warned is options for a session, and where its warnings go.
func warned(o client.SessionOptions) (*client.SessionOptions, *[]string) {
	got := new([]string)
	o.OnWarning = func(w event.Warning) { *got = append(*got, w.String()) }
	return quiet(o), got
}

// shown is a thread's messages, one "role id: text" each.
func shown(th *reducer.Thread) []string {
	var lines []string
	for _, m := range th.Messages.All() {
		lines = append(lines, fmt.Sprintf("%s %s: %s", m.Role, m.ID, m.Text()))
	}
	return lines
}

// said is the same for a run's input.
func said(in event.RunInput) []string {
	return shown(&reducer.Thread{Messages: messages.NewList(in.Messages...)})
}

func parsed(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

// roundTrip is an HTTP transport without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (f roundTrip) agent(o client.HTTPOptions) client.Agent {
	o.Client = &http.Client{Transport: f}
	return client.NewHTTP("http://agent.test/", &o)
}

// replies is a transport that answers with a body.
func replies(status int, contentType string, body io.Reader) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body),
		}, nil
	}
}

func streams(what ...any) *strings.Reader {
	var b strings.Builder
	for _, ev := range flat(what...) {
		fmt.Fprintf(&b, "data: %s\n\n", event.Append(nil, ev))
	}
	return strings.NewReader(b.String())
}

func marshaled(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// dialCounting dials and counts.
func dialCounting(n *atomic.Int32) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		n.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
}

// piped serves a handler through pipes, which a bubble can wait for, and returns its URL and a client that reaches it.
func piped(t *testing.T, h http.Handler) (url string, through *http.Client) {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		l.conns <- theirs
		return mine, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return "http://pipe.test/", &http.Client{Transport: transport}
}

// pipes is a listener on which connections are put.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
