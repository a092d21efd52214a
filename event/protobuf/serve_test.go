package protobuf_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/serve"
)

func serveQuietly(agent client.Agent) http.Handler {
	return serve.Agent(agent, &serve.AgentOptions{Binding: protobuf.Binding{}, Logger: quiet})
}

func emits(events ...event.Event) client.Agent {
	return client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		return emit(events...)
	})
}

// ask sends a request with this Accept, none if it is "-", and returns the answer and the log.
func ask(agent client.Agent, o serve.AgentOptions, accept string) (*httptest.ResponseRecorder, string) {
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[]}`))
	r.Header.Set("Content-Type", "application/json")
	if accept != "-" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	serve.Agent(agent, &o).ServeHTTP(w, r)
	return w, log.String()
}

var (
	started  = &event.RunStarted{ThreadID: "t", RunID: "r"}
	finished = &event.RunFinished{ThreadID: "t", RunID: "r"}
)

func TestServerAnswersAsAcceptSays(t *testing.T) {
	const sse, none = "text/event-stream", "application/problem+json"
	for name, c := range map[string]struct {
		accept string
		o      serve.AgentOptions
		want   string
	}{
		"P-PB-1 both":                                     {"text/event-stream, " + protobuf.MediaType, serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType},
		"P-PB-1 the binding alone":                        {protobuf.MediaType, serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType},
		"P-PB-1 a lower weight does not count":            {"text/event-stream, " + protobuf.MediaType + ";q=0.1", serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType},
		"P-PB-1 a wildcard":                               {"*/*", serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType},
		"P-PB-1 a wildcard of the main type":              {"text/event-stream, Application/*", serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType},
		"P-PB-1 server-sent events alone":                 {"text/event-stream", serve.AgentOptions{Binding: protobuf.Binding{}}, sse},
		"P-PB-1 a weight of 0":                            {"text/event-stream, " + protobuf.MediaType + ";q=0", serve.AgentOptions{Binding: protobuf.Binding{}}, sse},
		"P-PB-1 a weight of 0 counts more than wildcards": {protobuf.MediaType + ";q=0, */*", serve.AgentOptions{Binding: protobuf.Binding{}}, sse},
		"P-PB-1 no Accept":                                {"-", serve.AgentOptions{Binding: protobuf.Binding{}}, sse},
		"P-PB-1 neither":                                  {"text/html", serve.AgentOptions{Binding: protobuf.Binding{}}, none},
		"P-PB-1 no binding":                               {"text/event-stream, " + protobuf.MediaType, serve.AgentOptions{}, sse},
		"P-PB-1 the binding alone, which there is not":    {protobuf.MediaType, serve.AgentOptions{}, none},
		"P-PB-5 all types are covered":                    {"*/*", serve.AgentOptions{Binding: protobuf.Binding{}, Emits: []event.Type{event.TypeRaw, event.TypeThinkingEnd}}, protobuf.MediaType},
		"P-PB-5 a type is not covered":                    {"*/*", serve.AgentOptions{Binding: protobuf.Binding{}, Emits: []event.Type{event.TypeUnknown}}, sse},
		"P-PB-5 a type is not covered, and nothing else":  {protobuf.MediaType, serve.AgentOptions{Binding: protobuf.Binding{}, Emits: []event.Type{event.TypeUnknown}}, none},
	} {
		t.Run(name, func(t *testing.T) {
			got, log := ask(emits(started, finished), c.o, c.accept)
			assert.Equal(t, c.want, got.Header().Get("Content-Type"))
			if c.o.Emits != nil && c.want == sse {
				assert.Contains(t, log, "P-PB-5: the protobuf wire has no arm for UNKNOWN")
			} else {
				assert.Empty(t, log)
			}
			switch c.want {
			case protobuf.MediaType:
				assert.Equal(t, http.StatusOK, got.Code)
				assert.Len(t, readAll(t, got.Body.Bytes()), 2)
			case none:
				assert.Equal(t, http.StatusNotAcceptable, got.Code)
			default:
				assert.Contains(t, got.Body.String(), `data: {"type":"RUN_FINISHED"`)
			}
		})
	}
}

func TestServerSaysWhatItDoesNotSend(t *testing.T) {
	got, log := ask(emits(started, jsonFrame(t, `{"type":"FUTURE"}`), jsonFrame(t, `{"type":"THINKING_START"}`), jsonFrame(t, `{"type":"THINKING_END"}`),
		jsonFrame(t, `{"type":"RAW","event":1,"x":1}`), finished), serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType)
	var types []string
	for _, ev := range readAll(t, got.Body.Bytes()) {
		types = append(types, ev.Type().String())
	}
	assert.Equal(t, []string{"RUN_STARTED", "REASONING_START", "REASONING_END", "RAW", "RUN_FINISHED"}, types)
	assert.Contains(t, log, `msg="not sent: P-PB-5: the protobuf wire has no arm for \"FUTURE\"" thread=t run=r rule=P-PB-5 event=2 type=FUTURE`)
	assert.Contains(t, log, `msg="left out: the wire has no field for it" thread=t run=r rule=P-PB-5 event=5 type=RAW path=/x`)
}

// An error of the agent is a RUN_ERROR, as a frame like any other.
func TestServerTellsErrorsAsFrames(t *testing.T) {
	agent := client.AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			_ = yield(started, nil) && yield(nil, errors.New("secret"))
		}
	})
	got, log := ask(agent, serve.AgentOptions{Binding: protobuf.Binding{}}, protobuf.MediaType)
	all := readAll(t, got.Body.Bytes())
	require.Len(t, all, 2)
	assert.JSONEq(t, `{"type":"RUN_ERROR","message":"the agent failed","code":"agent_failed"}`, string(event.Append(nil, all[1])))
	assert.Contains(t, log, "secret")
}

// The head leaves before the first event, and nothing but events follows it, however long the agent is silent.
func TestServerSendsTheHeadAtOnceAndNoComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &flushes{ResponseRecorder: httptest.NewRecorder()}
		agent := client.AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				synctest.Wait()
				assert.Equal(t, 1, w.n, "the head")
				time.Sleep(time.Hour)
				_ = yield(started, nil) && yield(finished, nil)
			}
		})
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"threadId":"t","runId":"r","messages":[]}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", protobuf.MediaType)
		serveQuietly(agent).ServeHTTP(w, r)
		assert.Len(t, readAll(t, w.Body.Bytes()), 2)
	})
}

type flushes struct {
	*httptest.ResponseRecorder
	n int
}

func (f *flushes) Flush() { f.n++ }

// answers is a transport that answers every request.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

func TestClientAsksAndTakesEither(t *testing.T) {
	whole := body(t, started, hello[1], hello[4], finished)
	run := func(t *testing.T, o client.HTTPOptions, contentType string, body io.Reader) (accept string, events []event.Event, err error) {
		o.Client = &http.Client{Transport: answers(func(r *http.Request) *http.Response {
			accept = strings.Join(r.Header.Values("Accept"), ",")
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
		})}
		for ev, e := range client.NewHTTP("http://agent.test/", &o).Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
			if err = e; e == nil {
				events = append(events, ev)
			}
		}
		return accept, events, err
	}
	asks := client.HTTPOptions{Binding: protobuf.Binding{}}
	t.Run("P-PB-1 a client that asks for the binding gets it", func(t *testing.T) {
		accept, events, err := run(t, asks, protobuf.MediaType, bytes.NewReader(whole))
		require.NoError(t, err)
		assert.Equal(t, "text/event-stream, application/vnd.ag-ui.event+proto", accept)
		assert.Len(t, events, 4)
	})
	t.Run("P-PB-1 or server-sent events", func(t *testing.T) {
		_, events, err := run(t, asks, "text/event-stream", strings.NewReader("data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n"))
		require.NoError(t, err)
		assert.Len(t, events, 1)
	})
	t.Run("P-PB-1 one that does not ask takes it as another media type", func(t *testing.T) {
		accept, _, err := run(t, client.HTTPOptions{}, protobuf.MediaType, bytes.NewReader(whole))
		assert.Equal(t, "text/event-stream", accept)
		other, ok := errors.AsType[*client.ContentTypeError](err)
		require.True(t, ok, err)
		assert.Equal(t, protobuf.MediaType, other.ContentType)
	})
	t.Run("P-PB-1 an Accept of the caller's own stays", func(t *testing.T) {
		accept, _, _ := run(t, client.HTTPOptions{Binding: protobuf.Binding{}, Header: http.Header{"Accept": {"text/event-stream;q=1"}}}, protobuf.MediaType, bytes.NewReader(whole))
		assert.Equal(t, "text/event-stream;q=1", accept)
	})
	for name, c := range map[string]struct {
		body   io.Reader
		events int
		says   string
	}{
		"P-PB-2 in a header":                {bytes.NewReader(whole[:len(body(t, started))+2]), 1, "in the middle of an event"},
		"P-PB-2 in an event":                {bytes.NewReader(whole[:len(whole)-1]), 3, "in the middle of an event"},
		"P-PB-2 before the first event":     {bytes.NewReader(nil), 0, "no event"},
		"P-PB-2 because of the connection":  {io.MultiReader(bytes.NewReader(whole[:len(whole)-1]), errReader{errors.New("reset")}), 3, "reset"},
		"P-PB-2 between events, by a reset": {io.MultiReader(bytes.NewReader(body(t, started)), errReader{io.ErrUnexpectedEOF}), 1, ""},
	} {
		t.Run(name+" the run is truncated", func(t *testing.T) {
			_, events, err := run(t, asks, protobuf.MediaType, c.body)
			require.ErrorIs(t, err, client.ErrTruncated)
			assert.Contains(t, err.Error(), c.says)
			assert.Len(t, events, c.events)
		})
	}
	t.Run("P-SSE-2 an event that is too large", func(t *testing.T) {
		_, _, err := run(t, client.HTTPOptions{Binding: protobuf.Binding{}, MaxEventBytes: 10}, protobuf.MediaType, bytes.NewReader(whole))
		large, ok := errors.AsType[*event.TooLargeError](err)
		require.True(t, ok, err)
		assert.Equal(t, 1, large.Frame)
	})
	t.Run("a context that ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server := httptest.NewServer(serveQuietly(client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				if yield(started, nil) {
					<-ctx.Done()
				}
			}
		})))
		defer server.Close()
		var last error
		for _, err := range client.NewHTTP(server.URL, &asks).Run(ctx, event.RunInput{ThreadID: "t", RunID: "r"}) {
			last = err
			cancel()
		}
		require.ErrorIs(t, last, context.Canceled)
	})
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// Bytes that are no event reject the stream, with the number of the frame and the offset.
func TestSessionRejectsWhatCannotBeDecoded(t *testing.T) {
	all := append(body(t, started, hello[1]), frameOf("\x0a\x07ab")...)
	o := &client.HTTPOptions{Binding: protobuf.Binding{}, Client: &http.Client{Transport: answers(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {protobuf.MediaType}}, Body: io.NopCloser(bytes.NewReader(all))}
	})}}
	session := client.NewSession(client.NewHTTP("http://agent.test/", o), nil)
	defer session.Close()
	res, err := session.Send(t.Context())
	require.Error(t, err)
	assert.Equal(t, "rejected", res.Status.String())
	assert.Contains(t, err.Error(), "P-PB-3 event 3: want an encoded event, found a field that is cut off; frame 3, byte ")
	assert.Regexp(t, `byte 3[0-9] of the answer`, err.Error())
}

// An event in an arm that is not known is dropped with a warning, and counts.
func TestSessionDropsWhatItDoesNotKnow(t *testing.T) {
	all := append(append(body(t, started), frameOf(field(99, ""))...), body(t, finished)...)
	o := &client.HTTPOptions{Binding: protobuf.Binding{}, Client: &http.Client{Transport: answers(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {protobuf.MediaType}}, Body: io.NopCloser(bytes.NewReader(all))}
	})}}
	var warnings []string
	session := client.NewSession(client.NewHTTP("http://agent.test/", o), &client.SessionOptions{OnWarning: func(w event.Warning) { warnings = append(warnings, w.String()) }})
	defer session.Close()
	_, err := session.Send(t.Context())
	require.NoError(t, err)
	assert.Contains(t, warnings, "P-PB-4 event 2: dropped: an event in arm 99, which AG-UI 1.0 does not have")
}
