package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/serve"
)

// serveCmd serves threads over HTTP.
type serveCmd struct {
	access
	Nats  string        `help:"NATS servers; without it one is started in this process." placeholder:"URL"`
	Port  int           `help:"Port of the NATS server in this process, on 127.0.0.1; 0 for a free one." default:"4222"`
	Dir   string        `help:"Where that server keeps its files; without it, in a directory that is removed at the end." placeholder:"DIR"`
	Addr  string        `help:"Address to serve HTTP on." default:"127.0.0.1:8080"`
	URL   string        `help:"The agent's URL; without it an agent repeats what the user says." placeholder:"URL"`
	Pause time.Duration `help:"How long the agent without a URL waits before each word." default:"100ms"`
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, t terminal) error {
	url := c.Nats
	if url == "" {
		s, err := embedded.Start(&embedded.Options{Port: c.Port, Dir: c.Dir})
		if err != nil {
			return fmt.Errorf("starting a NATS server: %w", err)
		}
		defer s.Stop()
		url = s.URL()
	}
	l, _, closed, err := c.open(ctx, url, jetstream.Options{})
	if err != nil {
		return err
	}
	defer closed()
	threads := serve.NewThreads(agentOf(c.URL, c.Pause), &serve.ThreadsOptions{Store: l})
	mux := http.NewServeMux()
	mux.Handle("/threads/", http.StripPrefix("/threads", threads))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "threads are at http://%s/threads/ID, NATS is at %s\n", listener.Addr(), url)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	failed := errors.Join(threads.Shutdown(within), server.Shutdown(within))
	if errors.Is(failed, os.ErrClosed) {
		failed = nil
	}
	return errors.Join(err, failed)
}
