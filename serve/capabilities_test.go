package serve_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/serve"
)

func silentAgent() client.Agent {
	return client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.StateDelta{}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
}

func declaration() *event.Capabilities {
	return &event.Capabilities{
		Identity: &event.IdentityCapabilities{Name: messages.Some("Planner")},
		State:    &event.StateCapabilities{Deltas: messages.Some(false)},
	}
}

// A declaration comes through a server, a client, a relay and another client.
func TestCapabilitiesAreServed(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	server := httptest.NewServer(serve.Agent(client.Declare(silentAgent(), declaration()), &serve.AgentOptions{Logger: quiet}))
	defer server.Close()
	agent := client.NewHTTP(server.URL, &client.HTTPOptions{CapabilitiesURL: server.URL})
	relay := httptest.NewServer(serve.Agent(client.Chain(agent, client.Log(quiet)), &serve.AgentOptions{Logger: quiet}))
	defer relay.Close()
	over := client.NewHTTP(relay.URL+"/agent", &client.HTTPOptions{CapabilitiesURL: "/", Header: http.Header{"X-Key": {"k"}}})
	got, err := client.Capabilities(t.Context(), over)
	require.NoError(t, err)
	assert.Equal(t, string(declaration().AppendJSON(nil)), string(got.AppendJSON(nil)))

	var warnings []event.Warning
	s := client.NewSession(over, &client.SessionOptions{Capabilities: got, OnWarning: func(w event.Warning) { warnings = append(warnings, w) }})
	_, err = s.Send(t.Context(), messages.UserText("Hi"))
	require.NoError(t, err, "P-CAP-2: a contradiction fails nothing")
	require.Len(t, warnings, 1)
	assert.Equal(t, event.Warning{Rule: "P-CAP-2", Ordinal: 2, Type: "STATE_DELTA", Path: "/state/deltas",
		Text: "the agent declares that it does not send patches of the state, and does"}, warnings[0])
}

func TestGetOfAnAgent(t *testing.T) {
	bad := &event.Capabilities{Execution: &event.ExecutionCapabilities{MaxIterations: messages.Some(int64(-1))}}
	for _, tc := range []struct {
		name   string
		agent  client.Agent
		o      serve.AgentOptions
		accept string
		status int
		body   string
	}{
		{"nothing declared", silentAgent(), serve.AgentOptions{}, "", http.StatusMethodNotAllowed, "POST a RunAgentInput"},
		{"by the options", client.Declare(silentAgent(), nil), serve.AgentOptions{Capabilities: declaration()}, "", http.StatusOK, `"Planner"`},
		{"by the agent", client.Declare(silentAgent(), declaration()), serve.AgentOptions{}, "application/json", http.StatusOK, `"Planner"`},
		{"a declarer that declares nothing", client.Declare(silentAgent(), nil), serve.AgentOptions{}, "", http.StatusMethodNotAllowed, "POST"},
		{"an agent elsewhere that declares nothing", client.NewHTTP("http://127.0.0.1:1/", nil), serve.AgentOptions{}, "", http.StatusMethodNotAllowed, "POST"},
		{"a declaration that is malformed", silentAgent(), serve.AgentOptions{Capabilities: bad}, "", http.StatusBadGateway, "cannot be had"},
		{"for who wants a page", silentAgent(), serve.AgentOptions{Capabilities: declaration()}, "text/html", http.StatusNotAcceptable, "application/json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log bytes.Buffer
			tc.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			if tc.accept != "" {
				r.Header.Set("Accept", tc.accept)
			}
			w := httptest.NewRecorder()
			serve.Agent(tc.agent, &tc.o).ServeHTTP(w, r)
			assert.Equal(t, tc.status, w.Code)
			assert.Contains(t, w.Body.String(), tc.body)
			assert.Equal(t, tc.status == http.StatusBadGateway, log.Len() > 0, "what is wrong with the agent is in the log")
			if tc.status == http.StatusMethodNotAllowed {
				assert.Contains(t, w.Header().Get("Allow"), "POST")
			}
		})
	}
}

func TestCapabilitiesThatCannotBeHad(t *testing.T) {
	refused := errors.New("no token")
	for _, tc := range []struct {
		name, answer string
		status       int
		o            client.HTTPOptions
		check        func(error) bool
	}{
		{"malformed", `{"tools":{"supported":"yes"}}`, 200, client.HTTPOptions{}, func(err error) bool {
			m, ok := errors.AsType[*messages.MalformedError](err)
			return ok && m.Path == "/tools/supported"
		}},
		{"not JSON", "<html>", 200, client.HTTPOptions{}, func(err error) bool { _, ok := errors.AsType[*client.TransportError](err); return ok }},
		{"too large", `{"custom":"` + strings.Repeat("x", 1<<20) + `"}`, 200, client.HTTPOptions{}, func(err error) bool { return strings.Contains(err.Error(), "larger than") }},
		{"not found", "no such page", 404, client.HTTPOptions{}, func(err error) bool {
			s, ok := errors.AsType[*client.StatusError](err)
			return ok && s.Status == 404 && string(s.Body) == "no such page"
		}},
		{"refused by the hook", "{}", 200, client.HTTPOptions{Prepare: func(_ context.Context, r *client.Request) error {
			assert.Empty(t, r.Input.ThreadID)
			return refused
		}}, func(err error) bool { return errors.Is(err, refused) }},
		{"not a URL", "{}", 200, client.HTTPOptions{CapabilitiesURL: "ftp://x/"}, func(err error) bool { return strings.Contains(err.Error(), "not an http") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "application/json", r.Header.Get("Accept"))
				w.WriteHeader(tc.status)
				io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			if tc.o.CapabilitiesURL == "" {
				tc.o.CapabilitiesURL = "capabilities"
			}
			c, err := client.Capabilities(t.Context(), client.NewHTTP(server.URL, &tc.o))
			assert.Nil(t, c)
			require.Error(t, err)
			assert.True(t, tc.check(err), "%v", err)
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Capabilities(ended, client.NewHTTP("http://127.0.0.1:1/", &client.HTTPOptions{CapabilitiesURL: "."}))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestAMiddlewareMayDeclareSomethingElse(t *testing.T) {
	other := &event.Capabilities{}
	declares := func(next client.Agent) client.Agent { return client.Declare(next, other) }
	hides := client.FilterToolCalls(func(string) bool { return true })
	for name, tc := range map[string]struct {
		agent client.Agent
		want  *event.Capabilities
	}{
		"a plain agent":                   {silentAgent(), nil},
		"through middleware":              {client.Chain(client.Declare(silentAgent(), declaration()), hides, hides), declaration()},
		"a middleware's comes first":      {client.Chain(client.Declare(silentAgent(), declaration()), hides, declares, hides), other},
		"a chain of an agent without one": {client.Chain(silentAgent(), hides), nil},
	} {
		got, err := client.Capabilities(t.Context(), tc.agent)
		require.NoError(t, err, name)
		assert.Equal(t, string(tc.want.AppendJSON(nil)), string(got.AppendJSON(nil)), name)
	}
}
