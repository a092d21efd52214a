package agenttest

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
)

// A Server is an agent behind real HTTP, on a port of this machine. It is safe for concurrent use.
type Server struct {
	// URL is where the agent listens, such as http://127.0.0.1:41234.
	URL string

	server *httptest.Server
	stop   context.CancelFunc

	mu       sync.Mutex
	requests int
	inputs   []event.RunInput
}

// NewServer serves agent until the test ends; if t has no Cleanup, call Close. Each wrap is put around the handler, the
// first outermost, such as [Faults.Handler].
func NewServer(t require.TestingT, agent client.Agent, wrap ...func(http.Handler) http.Handler) *Server {
	base, stop := context.WithCancel(context.Background())
	s := &Server{stop: stop}
	recorded := client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		s.mu.Lock()
		s.inputs = append(s.inputs, in)
		s.mu.Unlock()
		return agent.Run(ctx, in)
	})
	handler := serve.Agent(recorded, &serve.AgentOptions{Logger: slog.New(slog.DiscardHandler)})
	for _, w := range slices.Backward(wrap) {
		handler = w(handler)
	}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests++
		s.mu.Unlock()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(base, cancel)()
		handler.ServeHTTP(w, r.WithContext(ctx))
	}))
	s.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.server.Start()
	s.URL = s.server.URL
	if t, ok := t.(interface{ Cleanup(func()) }); ok {
		t.Cleanup(s.Close)
	}
	return s
}

// Agent returns the agent at the server's URL. Nil options mean the defaults of client.NewHTTP.
func (s *Server) Agent(o *client.HTTPOptions) client.Agent { return client.NewHTTP(s.URL, o) }

// Requests returns how many requests came, those included that a fault or a check answered before the agent was asked.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Inputs returns the inputs that the agent was asked with, in order.
func (s *Server) Inputs() []event.RunInput {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs)
}

// Close stops all runs and the server, and waits until their handlers have returned. Closing again does nothing.
func (s *Server) Close() {
	s.stop()
	s.server.Close()
}
