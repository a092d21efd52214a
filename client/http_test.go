package client

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	r3labs "github.com/r3labs/sse/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	content  = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Grüße, 世界 🌍"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	stream   = "data: " + started + "\n\ndata: " + content + "\n\ndata: " + finished + "\n\n"
)

var input = event.RunInput{ThreadID: "t", RunID: "r"}

// read ranges over a run and returns the texts of its events, its warnings and its error, and checks that an
// error comes alone and last.
func read(t *testing.T, events iter.Seq2[event.Event, error]) (got []string, warnings []event.Warning, err error) {
	t.Helper()
	for ev, e := range events {
		require.NoError(t, err, "something came after the error")
		if e != nil {
			require.Nil(t, ev)
			err = e
			continue
		}
		f := event.FrameOfEvent(ev)
		warnings = append(warnings, f.Warnings()...)
		if !f.IsNotice() {
			got = append(got, string(f.Data()))
		}
	}
	return got, warnings, err
}

// counted is a transport that counts requests and bodies.
type counted struct {
	requests, open atomic.Int64
}

func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		c.open.Add(1)
		resp.Body = &countedBody{resp.Body, c, false}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	c      *counted
	closed bool
}

func (b *countedBody) Close() error {
	if !b.closed {
		b.closed = true
		b.c.open.Add(-1)
	}
	return b.ReadCloser.Close()
}

// serve starts a server and returns an agent behind it. At the test's end it checks that every body was
// closed and that no goroutine of a run is left.
func serve(t *testing.T, o *HTTPOptions, handler http.HandlerFunc) (Agent, *counted) {
	t.Helper()
	server := httptest.NewServer(handler)
	c := &counted{}
	opts := HTTPOptions{}
	if o != nil {
		opts = *o
	}
	opts.Client = &http.Client{Transport: c}
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		assert.Zero(t, c.open.Load(), "bodies left open")
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("goroutines left: %d before, %d now\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	})
	return NewHTTP(server.URL, &opts), c
}

// answer answers with an event stream.
func answer(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, p := range pieces {
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

func TestRequest(t *testing.T) {
	var method, body string
	var header http.Header
	agent, c := serve(t, &HTTPOptions{Header: http.Header{"Authorization": {"Bearer x"}, "Accept": {"text/html"}}},
		func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			method, header, body = r.Method, r.Header, string(text)
			answer(stream)(w, r)
		})
	got, _, err := read(t, agent.Run(t.Context(), event.RunInput{
		ThreadID: "t", RunID: "r", Messages: []*messages.Message{{ID: "1", Role: messages.RoleUser, Content: messages.Text("hi")}},
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{started, content, finished}, got)
	assert.Equal(t, "POST", method)
	assert.Equal(t, []string{"text/event-stream"}, header["Accept"])
	assert.Equal(t, "application/json", header.Get("Content-Type"))
	assert.Equal(t, "Bearer x", header.Get("Authorization"))
	assert.JSONEq(t, `{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"hi"}]}`, body)
	assert.EqualValues(t, 1, c.requests.Load())
}

func TestAnswers(t *testing.T) {
	all := []string{started, content, finished}
	lines := func(end string) string { return strings.ReplaceAll(stream, "\n", end) }
	bytewise := strings.Split(stream, "")
	var single []string
	for i := range len(stream) {
		single = append(single, stream[i:i+1]) // also in the middle of a character
	}
	for _, tt := range []struct {
		name   string
		pieces []string
	}{
		{"all at once", []string{stream}},
		{"character by character", bytewise},
		{"byte by byte", single},
		{"CRLF", []string{lines("\r\n")}},
		{"CR", []string{lines("\r")}},
		{"CRLF split between CR and LF", strings.SplitAfter(lines("\r\n"), "\r")},
		{"a byte order mark", []string{"\xEF", "\xBB\xBF" + stream}},
		{"comments and other fields", []string{": hi\n\n" + strings.ReplaceAll(stream, "data: ", ": x\nevent: message\nid: 1\ndata: ")}},
		{"no final blank line", []string{strings.TrimRight(stream, "\n")}},
		{"a long answer after the end of the run", []string{stream, strings.Repeat(": ping\n\n", 1000)}},
	} {
		t.Run("P-SSE-1 "+tt.name, func(t *testing.T) {
			agent, _ := serve(t, nil, answer(tt.pieces...))
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, all, got)
		})
	}
}

func TestMediaTypes(t *testing.T) {
	for contentType, ok := range map[string]bool{
		"text/event-stream":                true,
		"text/event-stream; charset=utf-8": true,
		"Text/Event-Stream;charset=UTF-8":  true,
		"text/event-stream;":               true,
		"text/event-stream; charset":       true,
		"text/event-streams":               false,
		"text/html":                        false,
		"application/json":                 false,
		"":                                 false,
	} {
		assert.Equal(t, ok, isEventStream(contentType), contentType)
	}
}

func TestWhatIsNoStream(t *testing.T) {
	t.Run("P-SSE-1 an answer of another media type shows its beginning", func(t *testing.T) {
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!DOCTYPE html><title>Sign in</title>"+strings.Repeat("x", 5000))
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*ContentTypeError))
		var wrong *ContentTypeError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, "text/html", wrong.ContentType)
		assert.Len(t, wrong.Body, maxOtherBody)
		assert.Contains(t, err.Error(), "Sign in")
		assert.Less(t, len(err.Error()), 300)
	})
	t.Run("P-SSE-1 a status that is not 2xx comes with its body", func(t *testing.T) {
		agent, c := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "7")
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":{"code":3,"message":"no such key"}}`)
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*StatusError))
		var status *StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, 401, status.Status)
		assert.Equal(t, "7", status.Header.Get("X-Request-Id"))
		assert.Equal(t, "no such key", status.Detail())
		assert.Equal(t, "unexpected status 401 Unauthorized: no such key", err.Error())
		assert.EqualValues(t, 1, c.requests.Load(), "nothing is tried again")
	})
	t.Run("101 is an error without a body, and its connection is closed", func(t *testing.T) {
		closed := make(chan error, 1)
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				closed <- err
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = conn.Read(make([]byte, 1))
			closed <- err
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		var status *StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, 101, status.Status)
		assert.Equal(t, "x", status.Header.Get("Upgrade"))
		assert.Nil(t, status.Body)
		assert.ErrorIs(t, <-closed, io.EOF)
	})
	t.Run("an error's body is bounded", func(t *testing.T) {
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, strings.Repeat("x", 1<<20))
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		var status *StatusError
		require.ErrorAs(t, err, &status)
		assert.Len(t, status.Body, maxErrorBody)
		assert.Less(t, len(err.Error()), 400)
	})
	t.Run("P-RUN-1 an empty answer is truncated", func(t *testing.T) {
		for name, handler := range map[string]http.HandlerFunc{
			"nothing of no type":      func(w http.ResponseWriter, r *http.Request) { w.Header()["Content-Type"] = nil },
			"a stream without events": answer(""),
			"a stream of comments":    answer(": hi\n\n"),
			"half the first event":    answer(`data: {"type":"RUN_`),
			"an empty compressed body": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				answer("")(w, r)
			},
		} {
			agent, _ := serve(t, nil, handler)
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.ErrorIs(t, err, ErrTruncated, name)
			assert.NotErrorAs(t, err, new(*TransportError), name)
			assert.Empty(t, got, name)
		}
	})
}

func TestDetail(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"a"}`: "a",
		`{"detail":"b"}`:  "b",
		`{"detail":[{"loc":["body"],"msg":"missing"}]}`: "body: missing",
		`{"error":"c"}`:                        "c",
		`{"error":{"message":"d","type":"x"}}`: "d",
		`{"errors":[{"title":"e"}]}`:           "e",
		`{"code":5}`:                           "",
		`"plain JSON text"`:                    "plain JSON text",
		`[]`:                                   "",
		"Bad gateway\nmore":                    "Bad gateway",
		"<html>oh</html>":                      "",
		`{"message":"cut of`:                   "",
		"":                                     "",
		strings.Repeat("ü", 300):               strings.Repeat("ü", 148) + "…",
	} {
		assert.Equal(t, want, (&StatusError{Status: 400, Body: []byte(body)}).Detail(), body)
	}
}

func TestEndings(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		answer("data: "+started+"\n\n")(w, r)
		<-r.Context().Done()
	}
	t.Run("P-SSE-1 an event cut off by the end of the stream is truncated", func(t *testing.T) {
		agent, _ := serve(t, nil, answer("data: "+started+"\n\ndata: "+content[:30]))
		got, _, err := read(t, agent.Run(t.Context(), input))
		assert.Equal(t, []string{started}, got)
		require.ErrorIs(t, err, ErrTruncated)
	})
	t.Run("a lost connection is truncated and of the transport", func(t *testing.T) {
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			answer("data: "+started+"\n\ndata: "+content[:30])(w, r)
			panic(http.ErrAbortHandler)
		})
		got, _, err := read(t, agent.Run(t.Context(), input))
		assert.Equal(t, []string{started}, got)
		require.ErrorIs(t, err, ErrTruncated)
		require.ErrorAs(t, err, new(*TransportError))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
	t.Run("P-PIPE-2 data that is not an event takes its place as a malformed frame", func(t *testing.T) {
		for _, data := range []string{"[DONE]", "null", `{"a":1}`, `{"type":""}`, `{"type":"X"} {"type":"Y"}`, "{"} {
			agent, _ := serve(t, nil, answer("data: "+started+"\n\ndata: "+data+"\n\ndata: "+content+"\n\n"))
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, []string{started, data, content}, got)
			th, err := reducer.Fold(agent.Run(t.Context(), input), nil)
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed, data)
			assert.Equal(t, "P-PIPE-2", malformed.Rule)
			assert.Equal(t, 2, malformed.Ordinal)
			assert.Equal(t, reducer.Rejected, th.Status())
		}
	})
	t.Run("P-SSE-1 an event whose data is blank is not an event", func(t *testing.T) {
		agent, _ := serve(t, nil, answer("data:\n\ndata: "+started+"\n\ndata: \n\nid: 7\ndata:  \t\ndata:\n\ndata: "+finished+"\n\ndata: "))
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{started, finished}, got)
		agent, _ = serve(t, nil, answer("data:\n\n"))
		_, _, err = read(t, agent.Run(t.Context(), input))
		require.ErrorIs(t, err, ErrTruncated)
	})
	t.Run("breaking off releases the connection", func(t *testing.T) {
		agent, c := serve(t, nil, hang)
		for ev, err := range agent.Run(t.Context(), input) {
			require.NoError(t, err)
			assert.Equal(t, event.TypeRunStarted, ev.Type())
			break
		}
		assert.Zero(t, c.open.Load())
	})
	t.Run("cancelling while waiting for an event", func(t *testing.T) {
		agent, _ := serve(t, nil, hang)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range agent.Run(ctx, input) {
			last = err
			cancel()
		}
		require.ErrorIs(t, last, context.Canceled)
		assert.NotErrorAs(t, last, new(*TransportError))
	})
	t.Run("cancelling while waiting for the answer", func(t *testing.T) {
		here := make(chan bool, 1)
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			here <- true
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-here; cancel() }()
		_, _, err := read(t, agent.Run(ctx, input))
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("cancelling with events already here", func(t *testing.T) {
		agent, _ := serve(t, nil, answer(strings.Repeat("data: "+started+"\n\n", 10)))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		why := errors.New("enough")
		n := 0
		var last error
		for _, err := range agent.Run(ctx, input) {
			n++
			last = err
			cancel(why)
		}
		assert.Equal(t, 2, n, "one event and the error")
		require.ErrorIs(t, last, context.Canceled)
		require.ErrorIs(t, last, why)
	})
	t.Run("a context that has ended sends nothing", func(t *testing.T) {
		agent, c := serve(t, nil, answer(stream))
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, _, err := read(t, agent.Run(ctx, input))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, c.requests.Load())
	})
	t.Run("no server", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		l.Close()
		_, _, err = read(t, NewHTTP("http://"+l.Addr().String(), nil).Run(t.Context(), input))
		require.ErrorAs(t, err, new(*TransportError))
		assert.NotErrorIs(t, err, ErrTruncated)
		var op *net.OpError
		require.ErrorAs(t, err, &op)
	})
}

func TestARequestIsNeverSentTwice(t *testing.T) {
	t.Run("ranging twice", func(t *testing.T) {
		agent, c := serve(t, nil, answer(stream))
		events := agent.Run(t.Context(), input)
		_, _, err := read(t, events)
		require.NoError(t, err)
		_, _, err = read(t, events)
		require.ErrorIs(t, err, oneshot.ErrIterated)
		assert.EqualValues(t, 1, c.requests.Load())
	})
	t.Run("a connection that dies after the request", func(t *testing.T) {
		for _, header := range []http.Header{{}, {"Idempotency-Key": {"1"}}} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var posts atomic.Int64
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if posts.Add(1) == 1 {
					answer(stream)(w, r) // leaves the connection to be used again
					return
				}
				io.Copy(io.Discard, r.Body)
				panic(http.ErrAbortHandler)
			})}
			go server.Serve(l)
			transport := &http.Transport{}
			agent := NewHTTP("http://"+l.Addr().String(), &HTTPOptions{Client: &http.Client{Transport: transport}, Header: header})
			_, _, err = read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			_, _, err = read(t, agent.Run(t.Context(), input))
			require.ErrorAs(t, err, new(*TransportError))
			assert.EqualValues(t, 2, posts.Load(), "one for each run")
			transport.CloseIdleConnections()
			server.Close()
		}
	})
	t.Run("the caller's client is not changed", func(t *testing.T) {
		c := &http.Client{}
		NewHTTP("http://x", &HTTPOptions{Client: c})
		assert.Equal(t, &http.Client{}, c)
	})
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestRedirects(t *testing.T) {
	to := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/there" {
				io.Copy(io.Discard, r.Body)
				http.Redirect(w, r, "/there", status)
				return
			}
			body, _ := io.ReadAll(r.Body)
			answer("data: "+started+"\n\ndata: {\"type\":\"CUSTOM\",\"name\":\""+r.Method+"\",\"value\":"+string(body)+"}\n\n")(w, r)
		}
	}
	for _, status := range []int{307, 308} {
		t.Run(fmt.Sprintf("P-SSE-1 %d keeps the POST and its body", status), func(t *testing.T) {
			agent, c := serve(t, nil, to(status))
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, `{"type":"CUSTOM","name":"POST","value":{"threadId":"t","runId":"r","messages":[]}}`, got[1])
			assert.EqualValues(t, 2, c.requests.Load())
		})
	}
	for _, status := range []int{301, 302, 303} {
		t.Run(fmt.Sprintf("P-SSE-1 %d would make it a GET and is an error", status), func(t *testing.T) {
			agent, c := serve(t, nil, to(status))
			_, _, err := read(t, agent.Run(t.Context(), input))
			var e *StatusError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, status, e.Status)
			assert.Contains(t, err.Error(), "a redirect to /there")
			assert.EqualValues(t, 1, c.requests.Load())
		})
	}
	t.Run("a redirect to another server takes the caller's header nowhere", func(t *testing.T) {
		ask := func(path string, hops map[string]string) map[string]http.Header {
			seen := map[string]http.Header{}
			agent := NewHTTP("http://agent.test"+path, &HTTPOptions{
				Header: http.Header{"X-Api-Key": {"secret"}, "x-raw": {"secret"}, "Authorization": {"secret"}, "Accept": {"mine"}},
				Client: &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
					seen[req.URL.String()] = req.Header
					resp := &http.Response{StatusCode: 307, Header: http.Header{"Location": {hops[req.URL.String()]}}, Body: http.NoBody, Request: req}
					if resp.Header.Get("Location") == "" {
						resp = &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}
					}
					return resp, nil
				})},
			})
			_, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Len(t, seen, len(hops)+1)
			for to, h := range seen {
				if origin := "http://agent.test"; !strings.HasPrefix(to, origin+"/") && !strings.HasPrefix(to, origin+":80/") {
					assert.Empty(t, h.Get("Referer"), to)
				}
				assert.Equal(t, "text/event-stream", h.Get("Accept"))
				assert.Equal(t, "application/json", h.Get("Content-Type"))
			}
			return seen
		}
		has := func(h http.Header) bool {
			secrets := len(h["X-Api-Key"]) + len(h[strings.ToLower("X-Raw")]) + len(h["Authorization"])
			assert.Contains(t, []int{0, 3}, secrets, "all or none")
			return secrets > 0
		}
		for to, want := range map[string]bool{
			"http://agent.test/there": true, "http://agent.test:80/there": true, "https://agent.test/there": false,
			"http://agent.test:8080/there": false, "http://sub.agent.test/there": false, "http://other.test/there": false,
		} {
			assert.Equal(t, want, has(ask("/", map[string]string{"http://agent.test/": to})[to]), to)
		}
		ask("/?token=secret", map[string]string{"http://agent.test/?token=secret": "http://other.test/"})
		seen := ask("/", map[string]string{"http://agent.test/": "http://other.test/", "http://other.test/": "http://agent.test/back"})
		assert.True(t, has(seen["http://agent.test/"]))
		assert.False(t, has(seen["http://other.test/"]))
		assert.False(t, has(seen["http://agent.test/back"]), "nor back again")
	})
	t.Run("a circle ends", func(t *testing.T) {
		agent, c := serve(t, nil, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusTemporaryRedirect) })
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*TransportError))
		assert.Contains(t, err.Error(), "10 redirects")
		assert.EqualValues(t, maxRedirects, c.requests.Load())
	})
	t.Run("the caller's CheckRedirect is asked", func(t *testing.T) {
		server := httptest.NewServer(to(307))
		defer server.Close()
		no := errors.New("stay here")
		agent := NewHTTP(server.URL, &HTTPOptions{Client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return no }}})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorIs(t, err, no)
		require.ErrorAs(t, err, new(*TransportError))
	})
}

func TestCompression(t *testing.T) {
	zipped := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for _, ev := range []string{started, content, finished} {
			io.WriteString(z, "data: "+ev+"\n\n")
			z.Flush()
			w.(http.Flusher).Flush()
		}
		if r.Header.Get("X-Cut") != "" {
			return // without the end of the gzip stream
		}
		if r.Header.Get("X-Hang") != "" {
			<-r.Context().Done()
		}
		z.Close()
	}
	for name, header := range map[string]http.Header{
		"by net/http":     {},
		"asked for by us": {"Accept-Encoding": {"gzip"}},
	} {
		t.Run("gzip is decompressed "+name, func(t *testing.T) {
			agent, _ := serve(t, &HTTPOptions{Header: header}, zipped)
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, []string{started, content, finished}, got)
		})
		t.Run("flushed events come at once, decompressed "+name, func(t *testing.T) {
			header := header.Clone()
			header.Set("X-Hang", "1")
			agent, _ := serve(t, &HTTPOptions{Header: header}, zipped)
			n := 0
			for _, err := range agent.Run(t.Context(), input) {
				require.NoError(t, err)
				if n++; n == 3 {
					break // would hang before
				}
			}
		})
		t.Run("a cut gzip stream is truncated, decompressed "+name, func(t *testing.T) {
			header := header.Clone()
			header.Set("X-Cut", "1")
			agent, _ := serve(t, &HTTPOptions{Header: header}, zipped)
			got, _, err := read(t, agent.Run(t.Context(), input))
			assert.Len(t, got, 3)
			require.ErrorIs(t, err, ErrTruncated)
		})
	}
	t.Run("another encoding is an error", func(t *testing.T) {
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			answer(stream)(w, r)
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*TransportError))
		assert.Contains(t, err.Error(), `"br"`)
	})
}

func TestSizes(t *testing.T) {
	big := `{"type":"CUSTOM","name":"n","value":"` + strings.Repeat("x", 10<<20) + `"}`
	t.Run("P-SSE-2 an event of 10 MB", func(t *testing.T) {
		agent, _ := serve(t, nil, answer("data: "+big+"\n\n"))
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Len(t, got[0], len(big))
	})
	t.Run("P-SSE-2 an event past the bound", func(t *testing.T) {
		agent, _ := serve(t, &HTTPOptions{MaxEventBytes: 1 << 20}, answer("data: "+started+"\n\ndata: "+big+"\n\n"))
		got, _, err := read(t, agent.Run(t.Context(), input))
		assert.Equal(t, []string{started}, got)
		var large *event.TooLargeError
		require.ErrorAs(t, err, &large)
		require.ErrorAs(t, err, new(*event.TooLargeError))
		assert.Equal(t, 1<<20, large.Limit)
	})
	t.Run("P-SSE-2 an endless line", func(t *testing.T) {
		agent, _ := serve(t, &HTTPOptions{MaxEventBytes: 1 << 20}, func(w http.ResponseWriter, r *http.Request) {
			answer("data: ")(w, r)
			piece := bytes.Repeat([]byte("x"), 32<<10)
			for r.Context().Err() == nil {
				w.Write(piece)
			}
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*event.TooLargeError))
	})
}

func TestOutgoingEnforcement(t *testing.T) {
	t.Run("P-ENF-6 a malformed input is an error before a byte leaves", func(t *testing.T) {
		agent, c := serve(t, nil, answer(stream))
		_, _, err := read(t, agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{nil}}))
		require.ErrorAs(t, err, new(*messages.MalformedError))
		assert.Zero(t, c.requests.Load())
	})
	strange := event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{{ID: "1", Role: messages.RoleUser, Content: messages.Parts(
		messages.TextPart("hi"), messages.Part{Type: "hologram"})}}}
	t.Run("P-ENF-6 removals are reported with the first event", func(t *testing.T) {
		var body []byte
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			answer(stream)(w, r)
		})
		n := 0
		for ev, err := range agent.Run(t.Context(), strange) {
			require.NoError(t, err)
			n++
			warnings := ev.(event.Frame).Warnings()
			if n > 1 {
				assert.Empty(t, warnings)
				continue
			}
			require.Len(t, warnings, 1)
			assert.Equal(t, "P-ENF-3", warnings[0].Rule)
			assert.Equal(t, "/messages/0/content/1", warnings[0].Path)
		}
		assert.Equal(t, 3, n, "no event more than came")
		assert.NotContains(t, string(body), "hologram")
	})
	t.Run("P-ENF-6 before an error it comes alone", func(t *testing.T) {
		agent, _ := serve(t, nil, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
		_, warnings, err := read(t, agent.Run(t.Context(), strange))
		require.ErrorAs(t, err, new(*StatusError))
		assert.Len(t, warnings, 1)
	})
}

// pipeTransport answers with a body that the test writes, and ends it with the request's context, as
// net/http does. It is for synctest, which real sockets are not.
type pipeTransport struct {
	delay       time.Duration // before the header
	status      int           // 0 means 200
	contentType string        // "" means an event stream
	serve       func(w *io.PipeWriter)
}

func (p pipeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(p.delay):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	pr, pw := io.Pipe()
	context.AfterFunc(req.Context(), func() { pw.CloseWithError(req.Context().Err()) })
	go p.serve(pw)
	return &http.Response{
		StatusCode: cmp.Or(p.status, 200), Header: http.Header{"Content-Type": {cmp.Or(p.contentType, "text/event-stream")}},
		Body: pr, Request: req, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func TestTimeouts(t *testing.T) {
	run := func(t *testing.T, o HTTPOptions, p pipeTransport) ([]string, time.Duration, error) {
		o.Client = &http.Client{Transport: p}
		start := time.Now()
		got, _, err := read(t, NewHTTP("http://agent", &o).Run(t.Context(), input))
		return got, time.Since(start), err
	}
	after := func(pauses time.Duration, pieces ...string) func(w *io.PipeWriter) {
		return func(w *io.PipeWriter) {
			for _, p := range pieces {
				time.Sleep(pauses)
				io.WriteString(w, p)
			}
			w.Close()
		}
	}
	pieces := strings.SplitAfter(stream, "\n\n")
	bubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
	}
	bubble("silence between events ends the run", func(t *testing.T) {
		got, took, err := run(t, HTTPOptions{IdleTimeout: time.Minute}, pipeTransport{serve: func(w *io.PipeWriter) {
			io.WriteString(w, pieces[0])
		}})
		assert.Equal(t, []string{started}, got)
		var idle *IdleError
		require.ErrorAs(t, err, &idle)
		require.ErrorAs(t, err, new(*IdleError))
		require.ErrorIs(t, err, ErrTruncated)
		assert.NotErrorIs(t, err, context.Canceled)
		assert.True(t, idle.Timeout())
		assert.Equal(t, "reading events: nothing came for 1m0s", err.Error())
		assert.Equal(t, time.Minute, took)
	})
	bubble("comments keep it alive", func(t *testing.T) {
		got, took, err := run(t, HTTPOptions{IdleTimeout: time.Minute}, pipeTransport{
			serve: after(50*time.Second, pieces[0], ": ping\n\n", ":", "\n", pieces[1], pieces[2])})
		require.NoError(t, err)
		assert.Len(t, got, 3)
		assert.Equal(t, 300*time.Second, took)
	})
	bubble("a stream that stays open after its end is left", func(t *testing.T) {
		got, _, err := run(t, HTTPOptions{}, pipeTransport{serve: func(w *io.PipeWriter) { io.WriteString(w, stream) }})
		assert.Len(t, got, 3)
		require.ErrorAs(t, err, new(*IdleError))
	})
	bubble("the default is as documented", func(t *testing.T) {
		_, took, err := run(t, HTTPOptions{}, pipeTransport{serve: func(*io.PipeWriter) {}})
		require.ErrorAs(t, err, new(*IdleError))
		assert.Equal(t, defaultIdleTimeout, took)
		_, took, err = run(t, HTTPOptions{}, pipeTransport{delay: time.Hour})
		require.ErrorAs(t, err, new(*IdleError))
		assert.Equal(t, defaultHeaderTimeout, took)
	})
	bubble("waiting for the answer has its own bound", func(t *testing.T) {
		_, took, err := run(t, HTTPOptions{HeaderTimeout: time.Second, IdleTimeout: time.Hour}, pipeTransport{delay: time.Minute})
		require.ErrorAs(t, err, new(*IdleError))
		assert.NotErrorIs(t, err, ErrTruncated)
		assert.Equal(t, "sending the request: nothing came for 1s", err.Error())
		assert.Equal(t, time.Second, took)
	})
	bubble("both can be off", func(t *testing.T) {
		got, _, err := run(t, HTTPOptions{HeaderTimeout: -1, IdleTimeout: -1}, pipeTransport{
			delay: 24 * time.Hour, serve: after(24*time.Hour, pieces...)})
		require.NoError(t, err)
		assert.Len(t, got, 3)
	})
	drips := func(w *io.PipeWriter) {
		for {
			time.Sleep(20 * time.Millisecond)
			if _, err := io.WriteString(w, "x"); err != nil {
				return
			}
		}
	}
	bubble("an error's body that drips is read for a bounded time", func(t *testing.T) {
		for idle, want := range map[time.Duration]time.Duration{0: maxOtherTime, -1: maxOtherTime, time.Hour: maxOtherTime, time.Second: time.Second} {
			_, took, err := run(t, HTTPOptions{IdleTimeout: idle}, pipeTransport{status: 503, serve: drips})
			var status *StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, 503, status.Status)
			assert.InDelta(t, int(want/(20*time.Millisecond)), len(status.Body), 1, "what came by then")
			assert.Equal(t, want, took)
			time.Sleep(time.Second) // the other end notices
		}
	})
	bubble("so is the beginning of an answer that is not an event stream", func(t *testing.T) {
		_, took, err := run(t, HTTPOptions{}, pipeTransport{contentType: "text/html", serve: drips})
		var wrong *ContentTypeError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, "text/html", wrong.ContentType)
		assert.NotEmpty(t, wrong.Body)
		assert.Equal(t, maxOtherTime, took)
		time.Sleep(time.Second) // the other end notices
		_, took, err = run(t, HTTPOptions{}, pipeTransport{contentType: "text/html", serve: func(*io.PipeWriter) {}})
		require.ErrorAs(t, err, &wrong)
		assert.Empty(t, wrong.Body)
		assert.Equal(t, maxOtherTime, took)
	})
	bubble("the caller's end comes before an error's body does", func(t *testing.T) {
		for _, p := range []pipeTransport{{status: 503, serve: drips}, {contentType: "text/html", serve: drips}} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, _, err := read(t, NewHTTP("http://agent", &HTTPOptions{Client: &http.Client{Transport: p}}).Run(ctx, input))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorAs(t, err, new(*StatusError))
			assert.Equal(t, time.Second, time.Since(start))
			cancel()
			time.Sleep(time.Second) // the other end notices
		}
	})
	bubble("a slow reader does not count", func(t *testing.T) {
		agent := NewHTTP("http://agent", &HTTPOptions{IdleTimeout: time.Minute, Client: &http.Client{Transport: pipeTransport{serve: after(0, pieces...)}}})
		n := 0
		for _, err := range agent.Run(t.Context(), input) {
			require.NoError(t, err)
			time.Sleep(time.Hour)
			n++
		}
		assert.Equal(t, 3, n)
	})
	bubble("a deadline of the caller's is the caller's", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		agent := NewHTTP("http://agent", &HTTPOptions{Client: &http.Client{Transport: pipeTransport{serve: func(*io.PipeWriter) {}}}})
		_, _, err := read(t, agent.Run(ctx, input))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorAs(t, err, new(*IdleError))
	})
}

// TestForeignServer reads from an SSE server that is not ours.
func TestForeignServer(t *testing.T) {
	server := r3labs.New()
	server.AutoReplay = true
	server.CreateStream("run")
	for _, ev := range []string{started, content, finished} {
		server.Publish("run", &r3labs.Event{Event: []byte("message"), Data: []byte(ev)})
	}
	ts := httptest.NewServer(server)
	defer ts.Close()
	defer server.Close()
	var got []string
	for ev, err := range NewHTTP(ts.URL+"?stream=run", nil).Run(t.Context(), input) {
		require.NoError(t, err)
		if got = append(got, string(ev.(event.Frame).Data())); len(got) == 3 {
			break // the server keeps the stream open
		}
	}
	assert.Equal(t, []string{started, content, finished}, got)
}

func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		if r.URL.Path == "/abort" {
			answer("data: "+started+"\n\n")(w, r)
			panic(http.ErrAbortHandler)
		}
		answer(strings.SplitAfter(stream, "\n\n")...)(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	o := &HTTPOptions{Client: server.Client()}
	got, _, err := read(t, NewHTTP(server.URL, o).Run(t.Context(), input))
	require.NoError(t, err)
	assert.Equal(t, []string{started, content, finished}, got)
	got, _, err = read(t, NewHTTP(server.URL+"/abort", o).Run(t.Context(), input))
	require.ErrorIs(t, err, ErrTruncated)
	assert.Equal(t, []string{started}, got)
}

// keepAlives is a body that never ends and never waits: comments without an event, as a small compressed answer can
// hold gigabytes of them.
type keepAlives struct {
	given int
	half  func() // called when there was enough
}

func (k *keepAlives) Read(p []byte) (int, error) {
	if k.given += len(p); k.given > 64<<20 {
		return 0, io.EOF // the reader was not stopped
	}
	if k.given > 1<<20 {
		k.half()
	}
	for i := range p {
		p[i] = ":\n"[i%2]
	}
	return len(p), nil
}

func (*keepAlives) Close() error { return nil }

// The end of the context ends a run even while the answer keeps the reader busy without an event.
func TestCancelledInEndlessComments(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := &keepAlives{half: cancel}
	agent := NewHTTP("http://agent.test", &HTTPOptions{Client: &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: req}, nil
	})}})
	_, _, err := read(t, agent.Run(ctx, input))
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, body.given, 4<<20)
}
