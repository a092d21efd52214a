package main

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
)

// serveFlags is the command line of agfold serve-demo.
type serveFlags struct {
	Addr string  `placeholder:"HOST:PORT" default:"127.0.0.1:8787" help:"Where to listen (127.0.0.1:8787); port 0 picks a free one."`
	Pace float64 `placeholder:"N" default:"1" help:"Scale the pauses: 1 is the pace of a model, 0 is without pauses."`

	Protobuf bool `help:"Answer with protobuf those clients whose Accept admits it, wildcards included."`
}

// Help is what --help says before the flags.
func (f *serveFlags) Help() string {
	return `The agent plans a weekend in Lisbon. It uses no model and says the same every time. POST a RunAgentInput as JSON ` +
		`to any path and read server-sent events. A thread takes several runs: text, reasoning, steps, shared state by deltas, an ` +
		`activity, tool calls, two subagents side by side; then a call of the client's tool local_time, if the input offers it; ` +
		`then, with its answer, an interrupt; and when that is resumed, the end.

The URL is printed on standard output, and a line for each run on standard error. Ctrl-C stops the agent.`
}

func (f *serveFlags) epilog() string {
	return `Exit status:
  0    stopped by Ctrl-C
  2    wrong usage
  5    cannot listen on the address

Example:
  agfold serve-demo &
  agfold run --url http://127.0.0.1:8787/ --clock --message "Plan a weekend in Lisbon."
`
}

func (f *serveFlags) check() string {
	if f.Pace < 0 {
		return "--pace cannot be negative"
	}
	return ""
}

// goodbye is how long runs may take to end once the server stops.
const goodbye = 2 * time.Second

func (f *serveFlags) run(ctx context.Context, t *terminal) int {
	l, err := net.Listen("tcp", f.Addr)
	if err != nil {
		t.say("agfold: %v", err)
		return exitUnreadable
	}
	if status := t.print(term.Sprintf("http://%s/\n", l.Addr())); status != exitOK {
		l.Close()
		return status
	}
	ended := make(chan string)
	server := &http.Server{
		Handler: serve.Agent(client.Chain(demo.Agent(f.Pace), told(func(text string) {
			select {
			case ended <- text:
			case <-ctx.Done():
			}
		})), &serve.AgentOptions{Binding: binding(f.Protobuf), Logger: slog.New(slog.DiscardHandler)}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	for {
		select {
		case text := <-ended:
			t.say("%s", text)
		case err := <-served:
			if errors.Is(err, http.ErrServerClosed) {
				return exitOK
			}
			t.say("agfold: %v", err)
			return exitUnreadable
		case <-ctx.Done():
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			defer cancel()
			if server.Shutdown(late) != nil {
				server.Close()
			}
			return exitOK
		}
	}
}

// told is a middleware that calls say with how each run ended.
func told(say func(string)) client.Middleware {
	return func(next client.Agent) client.Agent {
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				how := "complete"
				for ev, err := range next.Run(ctx, in) {
					if err != nil {
						how = err.Error()
					}
					if !yield(ev, err) {
						how = "the client is gone"
						break
					}
				}
				say(in.ThreadID + " " + in.RunID + ": " + how)
			}
		})
	}
}
