package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/state"
)

const input = `{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[]}`

// quiet is a logger for tests that do not look at the log.
var quiet = slog.New(slog.DiscardHandler)

// emits returns an agent that emits these events and returns err.
func emits(err error, events ...event.Event) client.Agent {
	return client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		if err := emit(events...); err != nil {
			return err
		}
		return err
	})
}

var (
	started  = &event.RunStarted{ThreadID: "t", RunID: "r"}
	finished = &event.RunFinished{ThreadID: "t", RunID: "r"}
)

func frame(t testing.TB, text string) event.Event {
	t.Helper()
	f, err := event.NewFrame([]byte(text))
	require.NoError(t, err)
	return f
}

func request(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// answered is an answer to a request that was served in this process.
type answered struct {
	*httptest.ResponseRecorder
	log bytes.Buffer
}

func ask(agent client.Agent, o serve.AgentOptions, r *http.Request) *answered {
	a := &answered{ResponseRecorder: httptest.NewRecorder()}
	o.Logger = slog.New(slog.NewTextHandler(&a.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	serve.Agent(agent, &o).ServeHTTP(a, r)
	return a
}

// data returns the events' data.
func (a *answered) data() []string {
	var all []string
	for line := range strings.Lines(a.Body.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			all = append(all, strings.TrimSuffix(data, "\n"))
		}
	}
	return all
}

func TestAgentServesARun(t *testing.T) {
	got := ask(emits(nil, started,
		&event.TextMessageStart{MessageID: "m"},
		frame(t, "{\"type\":\"TEXT_MESSAGE_CONTENT\",\n \"messageId\":\"m\",\r\n \"delta\":\"a\"}"),
		&event.TextMessageEnd{MessageID: "m"}, finished), serve.AgentOptions{}, request(input))
	assert.Equal(t, http.StatusOK, got.Code)
	assert.Equal(t, "text/event-stream", got.Header().Get("Content-Type"))
	assert.Contains(t, got.Header().Get("Cache-Control"), "no-cache")
	assert.Contains(t, got.Body.String(), "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\ndata:  \"messageId\":\"m\",\ndata:  \"delta\":\"a\"}\n\n")
	assert.Equal(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, got.data()[6])
	assert.Empty(t, got.log.String())
}

// What the agent gets is the input, with retired shapes converted and unrecognized material removed.
func TestAgentGetsTheInput(t *testing.T) {
	var in event.RunInput
	agent := client.Emit(func(_ context.Context, got event.RunInput, emit func(...event.Event) error) error {
		in = got
		return emit(started, finished)
	})
	got := ask(agent, serve.AgentOptions{}, request(`{"threadId":"t","runId":"r","protocolVersion":"2.0","new":1,"forwardedProps":null,
		"messages":[{"id":"u","role":"user","content":"Hi"}],"state":{"a":1}}`))
	require.Equal(t, http.StatusOK, got.Code)
	assert.Equal(t, "Hi", in.Messages[0].Text())
	assert.Equal(t, `{"a":1}`, in.State.String())
	assert.Contains(t, got.log.String(), "rule=P-ENF-2")
	assert.Contains(t, got.log.String(), "path=/new")
	assert.Contains(t, got.log.String(), "rule=P-VRS-1")
}

func TestAgentRefuses(t *testing.T) {
	for _, c := range []struct {
		name, method, contentType, accept, body string
		status                                  int
		detail, rule, path                      string
	}{
		{"a GET", "GET", "", "", "", 405, "POST a RunAgentInput", "", ""},
		{"a body that is not called JSON", "POST", "text/plain", "", input, 415, "application/json", "", ""},
		{"a form", "POST", "application/x-www-form-urlencoded", "", input, 415, "application/json", "", ""},
		{"another charset", "POST", "application/json; charset=utf-16", "", input, 415, "UTF-8", "", ""},
		{"a media type that is none", "POST", "application/json; =", "", input, 415, "application/json", "", ""},
		{"an Accept that rules events out", "POST", "application/json", "application/json", input, 406, "Accept", "", ""},
		{"an Accept of weight 0", "POST", "application/json", "text/event-stream;q=0.0, text/html", input, 406, "Accept", "", ""},
		{"no JSON", "POST", "application/json", "", "{", 400, "not JSON", "", ""},
		{"nothing", "POST", "application/json", "", "", 422, "want an object", "P-ENF-4", ""},
		{"an array", "POST", "application/json", "", "[]", 422, "want an object", "P-ENF-4", ""},
		{"a malformed input", "POST", "application/json", "", `{"threadId":"t","runId":"r","messages":[{"id":1,"role":"user","content":""}]}`, 422,
			"P-ENF-4 RunAgentInput /messages/0/id: want a string, found number 1", "P-ENF-4", "/messages/0/id"},
		{"too much", "POST", "application/json", "", strings.Repeat(" ", 1001), 413, "larger than 1000 bytes", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/any/path", strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.contentType)
			if c.accept != "" {
				r.Header.Set("Accept", c.accept)
			}
			got := ask(emits(nil, started, finished), serve.AgentOptions{MaxBodyBytes: 1000}, r)
			require.Equal(t, c.status, got.Code)
			assert.Equal(t, "application/problem+json", got.Header().Get("Content-Type"))
			assert.Equal(t, "nosniff", got.Header().Get("X-Content-Type-Options"))
			var body struct {
				Type, Title, Detail, Rule, Path string
				Status                          int
			}
			require.NoError(t, json.Unmarshal(got.Body.Bytes(), &body))
			assert.Equal(t, "about:blank", body.Type)
			assert.Equal(t, http.StatusText(c.status), body.Title)
			assert.Equal(t, c.status, body.Status)
			assert.Contains(t, body.Detail, c.detail)
			assert.Equal(t, c.rule, body.Rule)
			assert.Equal(t, c.path, body.Path)
			if c.status == 405 {
				assert.Equal(t, "POST", got.Header().Get("Allow"))
			}
		})
	}
	t.Run("a body whose length is not known before", func(t *testing.T) {
		r := request(strings.Repeat(" ", 2000))
		r.ContentLength = -1
		assert.Equal(t, 413, ask(emits(nil), serve.AgentOptions{MaxBodyBytes: 1000}, r).Code)
	})
	t.Run("media types with parameters are fine", func(t *testing.T) {
		r := request(input)
		r.Header.Set("Content-Type", "application/json; charset=UTF-8")
		r.Header.Set("Accept", "text/html, Text/*;q=0.9")
		assert.Equal(t, 200, ask(emits(nil, started, finished), serve.AgentOptions{}, r).Code)
	})
}

// iterator is an agent that does not add what AgentFunc adds.
type iterator func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (f iterator) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return f(ctx, in)
}

// A mistake of the agent is told in the stream, which stays in order, and logged.
func TestAgentMistakes(t *testing.T) {
	secret := errors.New("dial db.internal: secret")
	open := &event.TextMessageStart{MessageID: "m"}
	for _, c := range []struct {
		name          string
		agent         client.Agent
		message, code string
		logged        string
	}{
		{"an event out of place", emits(nil, started, open, open), `P-VER-2 event 3 TEXT_MESSAGE_START: the text message "m" is already open`, "invalid_event", "P-VER-2"},
		{"a run that never begins", emits(nil, open), "P-VER-1 event 1", "invalid_event", "P-VER-1"},
		{"something open at the end", emits(nil, started, open, finished), `P-VER-3 event 3 RUN_FINISHED: the text message "m" is still open`, "invalid_event", "P-VER-3"},
		{"a malformed event", emits(nil, started, &event.TextMessageStart{MessageID: "m", Role: "narrator"}), "P-ENF-5 event 2 TEXT_MESSAGE_START /role", "invalid_event", "P-ENF-5"},
		{"a malformed frame", emits(nil, started, frame(t, `{"type":"TEXT_MESSAGE_START"}`)), "P-ENF-4 event 2 TEXT_MESSAGE_START /messageId", "invalid_event", "P-ENF-4"},
		{"a chunk that cannot be placed", emits(nil, started, &event.TextMessageChunk{}), "P-CHK-2 event 2", "invalid_event", "P-CHK-2"},
		{"a nil event", emits(nil, started, nil), "the agent failed", "agent_failed", "nil event"},
		{"a nil pointer", emits(nil, started, (*event.Custom)(nil)), "P-ENF-4 event 2: want an event, found nil", "invalid_event", "P-ENF-4"},
		{"an error", emits(secret, started, open), "the agent failed", "agent_failed", "db.internal"},
		{"an error before anything", emits(secret), "the agent failed", "agent_failed", "db.internal"},
		{"a failure that it reports", emits(&reducer.AgentError{Message: "no money", Code: messages.Some("402")}, started), "no money", "402", "no money"},
		{"an early end", emits(nil, started, open), "the agent's stream ended before the run did", "truncated", "ended before"},
		{"nothing at all", emits(nil), "the agent's stream ended before the run did", "truncated", "ended before"},
		{"a panic", client.Emit(func(context.Context, event.RunInput, func(...event.Event) error) error { panic("oh no") }), "the agent failed", "agent_failed", "oh no"},
		{"a panic of an agent of another kind", iterator(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) { yield(started, nil); panic("oh no") }
		}), "the agent failed", "agent_failed", "agent_test.go"},
		{"no agent", nil, "the agent failed", "agent_failed", "nil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(c.agent, serve.AgentOptions{}, request(input))
			require.Equal(t, http.StatusOK, got.Code)
			data := got.data()
			var last struct{ Type, Message, Code string }
			require.NoError(t, json.Unmarshal([]byte(data[len(data)-1]), &last))
			assert.Equal(t, "RUN_ERROR", last.Type)
			assert.Contains(t, last.Message, c.message)
			assert.Equal(t, c.code, last.Code)
			assert.Contains(t, got.log.String(), "level=ERROR")
			assert.Contains(t, got.log.String(), "run=r")
			assert.Contains(t, got.log.String(), c.logged)
			th := folded(t, data)
			assert.Equal(t, reducer.Failed, th.Status(), "the stream itself is in order")
		})
	}
	t.Run("after the end it is only logged", func(t *testing.T) {
		for _, agent := range []client.Agent{emits(nil, started, finished, open), emits(secret, started, finished), emits(secret, started, &event.RunError{Message: "x"})} {
			got := ask(agent, serve.AgentOptions{}, request(input))
			assert.Len(t, got.data(), 2)
			assert.Contains(t, got.log.String(), "level=ERROR")
		}
	})
	t.Run("the options decide what is told", func(t *testing.T) {
		tell := func(_ context.Context, err error) *event.RunError {
			return &event.RunError{Message: "sorry: " + err.Error()}
		}
		got := ask(emits(secret, started), serve.AgentOptions{RunError: tell}, request(input))
		assert.Equal(t, `{"type":"RUN_ERROR","message":"sorry: dial db.internal: secret"}`, got.data()[1])
		for _, bad := range []func(context.Context, error) *event.RunError{
			func(context.Context, error) *event.RunError { return nil },
			func(context.Context, error) *event.RunError { panic("x") },
		} {
			got := ask(emits(secret, started), serve.AgentOptions{RunError: bad}, request(input))
			assert.Contains(t, got.data()[1], "the agent failed")
		}
	})
}

// folded folds data strictly.
func folded(t testing.TB, data []string) *reducer.Thread {
	t.Helper()
	r := reducer.New(&reducer.Options{Strict: true})
	for _, text := range data {
		require.NoError(t, r.Apply(frame(t, text)), text)
	}
	return r.End(nil)
}

func TestAgentForOlderClients(t *testing.T) {
	agent := func() client.Agent {
		return emits(nil,
			&event.RunStarted{ThreadID: "t", RunID: "r", ParentRunID: messages.Some("p")},
			frame(t, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`),
			frame(t, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}`),
			frame(t, `{"type":"TOOL_CALL_END","toolCallId":"c"}`),
			frame(t, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}}]}`),
			frame(t, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`),
			frame(t, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"b"}]},{"id":"m","role":"tool","toolCallId":"c","content":[{"type":"text","text":"a"}]}]}`),
			&event.RunFinished{ThreadID: "t", RunID: "r", Outcome: event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: []string{"x"}}},
		)
	}
	served := func(o serve.AgentOptions, version string) (string, string) {
		got := ask(agent(), o, request(`{"threadId":"t","runId":"r",`+version+`"messages":[]}`))
		return strings.Join(got.data(), "\n"), got.log.String()
	}
	t.Run("one of today gets everything", func(t *testing.T) {
		for _, version := range []string{`"protocolVersion":"1.0",`, `"protocolVersion":"1.10",`, `"protocolVersion":"new",`} {
			got, log := served(serve.AgentOptions{}, version)
			for _, part := range []string{"pendingToolCallIds", "subagentRunId", "SUBAGENT_STARTED", `"type":"image"`, "parentRunId"} {
				assert.Contains(t, got, part)
			}
			assert.Equal(t, version != `"protocolVersion":"1.0",`, strings.Contains(log, "P-VRS-1"))
		}
	})
	t.Run("one before 1.0", func(t *testing.T) {
		for _, version := range []string{"", `"protocolVersion":"0.9",`} {
			got, log := served(serve.AgentOptions{}, version)
			assert.NotContains(t, got, "pendingToolCallIds")
			assert.Contains(t, got, `"outcome":{"type":"success"}`)
			assert.Contains(t, got, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"a"}`)
			assert.Contains(t, got, `{"id":"u","role":"user","content":[{"type":"text","text":"b"}]},{"id":"m","role":"tool","toolCallId":"c","content":"a"}`)
			assert.Contains(t, got, "SUBAGENT_STARTED", "0.0.59 knows them")
			assert.Contains(t, log, "image")
			assert.Contains(t, log, "rule=P-VRS-3")
		}
	})
	t.Run("one without subagents", func(t *testing.T) {
		got, log := served(serve.AgentOptions{PeerVersion: "0.0.57"}, "")
		assert.NotContains(t, got, "ubagent")
		assert.NotContains(t, got, "SUBAGENT")
		assert.Contains(t, got, "parentRunId")
		assert.Contains(t, log, "rule=P-VRS-2")
	})
	t.Run("one without parts", func(t *testing.T) {
		got, _ := served(serve.AgentOptions{PeerVersion: "0.0.39"}, "")
		assert.Contains(t, got, `{"id":"u","role":"user","content":"b"}`)
		assert.NotContains(t, got, "parentRunId")
	})
	t.Run("a version that is none", func(t *testing.T) {
		got, log := served(serve.AgentOptions{PeerVersion: "x"}, "")
		assert.Contains(t, got, "the agent failed")
		assert.Contains(t, log, "is not digits and dots")
	})
}

// A relay: the browser speaks AG-UI, Go stands between, records and folds.
func TestAgentServesAnotherAgent(t *testing.T) {
	upstream := httptest.NewServer(serve.Agent(emits(nil, started, &event.Custom{Name: "n", Value: state.Int(1)}, finished), nil))
	defer upstream.Close()
	relay := httptest.NewServer(serve.Agent(client.NewHTTP(upstream.URL, nil), &serve.AgentOptions{Logger: quiet}))
	defer relay.Close()
	res, err := client.NewSession(client.NewHTTP(relay.URL, nil), nil).Send(t.Context(), messages.UserText("Hi"))
	require.NoError(t, err)
	assert.Equal(t, reducer.Succeeded, res.Status)
	upstream.Close()
	_, err = client.NewSession(client.NewHTTP(relay.URL, nil), nil).Send(t.Context(), messages.UserText("Hi"))
	failed, ok := errors.AsType[*reducer.AgentError](err)
	require.True(t, ok, err)
	assert.Equal(t, "the agent failed", failed.Message, "and not where the agent is")
}

// cause is why a run of hold ended.
type cause struct {
	mu  sync.Mutex
	err error
}

func (c *cause) get() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *cause) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// hold is an agent that waits for its context to end.
func hold(why *cause, events ...event.Event) client.Agent {
	return client.Emit(func(ctx context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		if err := emit(events...); err != nil {
			why.set(context.Cause(ctx))
			return err
		}
		<-ctx.Done()
		why.set(context.Cause(ctx))
		return ctx.Err()
	})
}

func TestAgentKeepsAlive(t *testing.T) {
	served := func(t *testing.T, keepAlive time.Duration) string {
		var body string
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 52*time.Second)
			defer cancel()
			var why cause
			got := ask(hold(&why, started), serve.AgentOptions{KeepAlive: keepAlive}, request(input).WithContext(ctx))
			assert.ErrorIs(t, why.get(), context.DeadlineExceeded)
			body = got.Body.String()
			assert.Contains(t, body, `{"type":"RUN_ERROR","message":"the server stopped the run","code":"stopped"}`)
			assert.Contains(t, got.log.String(), "level=INFO")
		})
		return body
	}
	assert.Equal(t, 3, strings.Count(served(t, 0), ": keep-alive\n\n"))
	assert.Equal(t, 10, strings.Count(served(t, 5*time.Second), ": keep-alive\n\n"))
	assert.Zero(t, strings.Count(served(t, -1), ": keep-alive"))
}

// An event leaves at once, although the agent waits after it.
func TestAgentFlushes(t *testing.T) {
	var why cause
	server := httptest.NewServer(serve.Agent(hold(&why, started), &serve.AgentOptions{Logger: quiet}))
	defer server.Close()
	res, err := http.Post(server.URL, "application/json", strings.NewReader(input))
	require.NoError(t, err)
	got := make([]byte, 0, 100)
	for !bytes.Contains(got, []byte("RUN_STARTED")) {
		n, err := res.Body.Read(got[len(got):cap(got)])
		require.NoError(t, err)
		got = got[:len(got)+n]
	}
	require.NoError(t, res.Body.Close())
	server.Close() // waits for the handler
	assert.ErrorIs(t, why.get(), context.Canceled)
}

// Server.Shutdown after the end of the base context: the client is told and the handler returns.
func TestAgentShutsDown(t *testing.T) {
	var why cause
	stopping := errors.New("the server stops")
	base, stop := context.WithCancelCause(t.Context())
	server := httptest.NewUnstartedServer(serve.Agent(hold(&why, started), &serve.AgentOptions{Logger: quiet}))
	server.Config.BaseContext = func(net.Listener) context.Context { return base }
	server.Start()
	defer server.Close()
	res, err := http.Post(server.URL, "application/json", strings.NewReader(input))
	require.NoError(t, err)
	defer res.Body.Close()
	stop(stopping)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err, "the answer ends in order")
	assert.Contains(t, string(body), `"code":"stopped"`)
	require.NoError(t, server.Config.Shutdown(t.Context()))
	assert.Equal(t, stopping, why.get())
}
