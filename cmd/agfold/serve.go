package main

import (
	"context"
	"errors"
	"flag"
	"net"
	"net/http"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
)

const serveHelp = `agfold serve-demo serves the demo agent over HTTP, to try a client against.

Usage:

    agfold serve-demo [FLAGS]

The agent plans a weekend in Lisbon. It has no model behind it and says the same every
time. POST a RunAgentInput as JSON to any path and read server-sent events. A thread goes
over several runs: text, reasoning, steps, shared state by deltas, an activity, tool calls,
two subagents side by side; then a call of the client's tool local_time, if the input
offers it; then, with its answer, an interrupt; and with that resumed, the end.

Flags:

    --addr HOST:PORT  where to listen (127.0.0.1:8787); port 0 picks a free one
    --pace N          scale the pauses: 1 is the pace of a model, 0 none
    -h, --help        this text

The URL is printed on standard output, and a line for each run on standard error. Ctrl-C
stops the agent.

Exit status:

    0    stopped by Ctrl-C
    2    wrong usage
    5    the address cannot be listened on

Example:

    agfold serve-demo &
    agfold run --url http://127.0.0.1:8787/ --clock --message "Plan a weekend in Lisbon."
`

// goodbye is how long runs may take to end once the server stops.
const goodbye = 2 * time.Second

func serveDemo(ctx context.Context, args []string, t *terminal) int {
	var addr string
	var pace float64
	fs := flag.NewFlagSet("serve-demo", flag.ContinueOnError)
	fs.StringVar(&addr, "addr", "127.0.0.1:8787", "")
	fs.Float64Var(&pace, "pace", 1, "")
	rest, status, ok := parse(fs, serveHelp, args, t)
	switch {
	case !ok:
		return status
	case len(rest) > 0:
		return wrongUsage(fs, "unexpected argument "+rest[0], t)
	case pace < 0:
		return wrongUsage(fs, "--pace cannot be negative", t)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.say("agfold: %v", err)
		return exitUnreadable
	}
	if status := t.print(term.Sprintf("http://%s/\n", l.Addr())); status != exitOK {
		l.Close()
		return status
	}
	told := make(chan string)
	server := &http.Server{
		Handler: demo.Handler(&demo.Options{Pace: pace, OnRun: func(in *event.RunInput, events int, err error) {
			text := "told to its end"
			if err != nil {
				text = err.Error()
			}
			select {
			case told <- in.ThreadID + " " + in.RunID + ": " + text:
			case <-ctx.Done():
			}
		}}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	for {
		select {
		case text := <-told:
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
