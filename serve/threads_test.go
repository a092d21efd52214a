package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
)

// site is a handler of threads and what a browser does with it. Everybody may do everything.
type site struct {
	t       testing.TB
	threads *serve.Threads
	store   *spyStore
}

func open(t testing.TB, agent client.Agent, o serve.ThreadsOptions) *site {
	s := &site{t: t, store: &spyStore{Store: o.Store, threads: map[string]*reducer.Thread{}}}
	if s.store.Store == nil {
		s.store.Store = serve.NewMemory()
	}
	o.Store = s.store
	if o.Authorize == nil {
		o.Authorize = func(*http.Request, string) error { return nil }
	}
	if o.Logger == nil {
		o.Logger = quiet
	}
	s.threads = serve.NewThreads(agent, &o)
	return s
}

// spyStore sees what is stored.
type spyStore struct {
	serve.Store

	mu      sync.Mutex
	calls   [3][]string // the ids, by what was called
	threads map[string]*reducer.Thread
	failure error
}

const (
	opened = iota
	saved
	closed
)

func (s *spyStore) note(call int, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[call] = append(s.calls[call], id)
}

func (s *spyStore) ids(call int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls[call])
}

// stored returns what was stored last of a thread.
func (s *spyStore) stored(id string) *reducer.Thread {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads[id]
}

// fail makes Save fail.
func (s *spyStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

func (s *spyStore) Open(ctx context.Context, id string) (serve.Stored, error) {
	stored, err := s.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	s.note(opened, id)
	return &spied{stored, s, id}, nil
}

type spied struct {
	serve.Stored
	store *spyStore
	id    string
}

func (s *spied) Save(ctx context.Context, thread func() *reducer.Thread) error {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if s.store.failure != nil {
		return s.store.failure
	}
	s.store.calls[saved] = append(s.store.calls[saved], s.id)
	return s.Stored.Save(ctx, func() *reducer.Thread {
		th := thread()
		s.store.threads[s.id] = th
		return th
	})
}

func (s *spied) Close() error {
	s.store.note(closed, s.id)
	return s.Stored.Close()
}

// reply is an answer to a POST.
type reply struct {
	Status                               int
	ThreadID, Detail, Rule, Path, Holder string
	Revision                             uint64
	header                               http.Header
}

func (s *site) post(path, body string) reply {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return s.do(r)
}

func (s *site) do(r *http.Request) reply {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.threads.ServeHTTP(w, r)
	got := reply{header: w.Header()}
	require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &got), w.Body.String())
	got.Status = w.Code
	return got
}

// settle waits until a run has succeeded: then there is nothing to retry.
func (s *site) settle(id string) {
	s.t.Helper()
	for s.post("/"+id+"/retry", "").Status == http.StatusConflict {
		time.Sleep(time.Millisecond)
	}
}

// thread shuts the site down and returns what is stored of a thread.
func (s *site) thread(id string) *reducer.Thread {
	s.t.Helper()
	require.NoError(s.t, s.threads.Shutdown(s.t.Context()))
	return s.store.stored(id)
}

// says is an agent that says hello, after asked is closed if it is not nil.
func says(text string) client.Agent {
	return client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "answer-" + in.RunID
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
			&event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: text}, &event.TextMessageEnd{MessageID: id},
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
}

func texts(th *reducer.Thread) []string {
	var all []string
	for _, m := range th.Messages.All() {
		all = append(all, string(m.Role)+" "+m.Text())
	}
	return all
}

func TestThreadsAnswerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{})
		got := s.post("/a/messages", `{"content":"Hi","id":"m1"}`)
		assert.Equal(t, http.StatusAccepted, got.Status)
		assert.Equal(t, "a", got.ThreadID)
		assert.Positive(t, got.Revision)

		busy := s.post("/a/messages", `{"content":"Hello?"}`)
		assert.Equal(t, http.StatusConflict, busy.Status)
		assert.Equal(t, "a turn is in progress", busy.Detail)
		assert.Equal(t, "1", busy.header.Get("Retry-After"))
		assert.Equal(t, http.StatusConflict, s.post("/a/retry", "").Status)
		assert.Equal(t, http.StatusConflict, s.post("/a/edit", `{"messageId":"m1","content":"Ho"}`).Status)
		assert.Equal(t, http.StatusAccepted, s.post("/b/messages", `{"content":"Hi"}`).Status, "another thread is not busy")

		synctest.Wait()
		assert.Equal(t, http.StatusAccepted, s.post("/a/stop", "").Status)
		synctest.Wait()
		assert.Error(t, why.get())
		assert.Equal(t, http.StatusAccepted, s.post("/a/stop", "{}").Status, "stopping again does nothing")
		assert.Equal(t, http.StatusAccepted, s.post("/a/retry", "").Status)
		synctest.Wait()
		require.NoError(t, s.threads.Shutdown(t.Context()))
		assert.Equal(t, []string{"user Hi"}, texts(s.store.stored("a")))
		assert.Equal(t, 2, s.store.stored("a").Runs.Len())
		refused := s.post("/a/messages", `{"content":"Hi"}`)
		assert.Equal(t, http.StatusServiceUnavailable, refused.Status)
		require.NoError(t, s.threads.Shutdown(t.Context()), "again does nothing")
	})
}

func TestWhatIsPosted(t *testing.T) {
	for _, c := range []struct {
		path, body   string
		status       int
		detail, rule string
		at           string
	}{
		{"/a/messages", `{"content":"Hi"}`, 202, "", "", ""},
		{"/a/messages", `{"content":[{"type":"text","text":"Hi"}],"id":"x"}`, 202, "", "", ""},
		{"/a/messages", ``, 422, "want an object, found nothing", "P-ENF-4", ""},
		{"/a/messages", `"Hi"`, 422, "want an object, found string", "P-ENF-4", ""},
		{"/a/messages", `{}`, 422, "want a value", "P-ENF-4", "/content"},
		{"/a/messages", `{"content":1}`, 422, "/content", "P-ENF-4", "/content"},
		{"/a/messages", `{"content":[{"type":"smell"}]}`, 422, "/content/0", "P-ENF-3", "/content/0"},
		{"/a/messages", `{"content":"Hi","role":"system"}`, 422, "/role", "P-ENF-2", "/role"},
		{"/a/messages", `{"content":"Hi","id":1}`, 422, "/id", "P-ENF-4", "/id"},
		{"/a/messages", `{"content":"Hi"`, 400, "not JSON", "", ""},
		{"/a/messages", `{"content":"` + strings.Repeat("x", 2000) + `"}`, 413, "larger than 1000 bytes", "", ""},
		{"/a/answers", `{"answers":[]}`, 422, "no interrupt is pending", "P-INT-1", ""},
		{"/a/answers", `{"answers":{}}`, 422, "/answers", "P-ENF-4", "/answers"},
		{"/a/answers", `{"answers":[{"interruptId":"i","status":"no"}]}`, 422, "/answers/0", "P-ENF-5", "/answers/0"},
		{"/a/results", `{"results":[]}`, 422, "/results", "P-ENF-4", "/results"},
		{"/a/results", `{"results":[{"toolCallId":"c","content":"x"}]}`, 422, `the call "c" does not wait`, "P-RUN-2", "/results/0/toolCallId"},
		{"/a/results", `{"results":[{"toolCallId":"c"}]}`, 422, "/content", "P-ENF-4", "/results/0/content"},
		{"/a/edit", `{"messageId":"m","content":"x"}`, 422, `no message "m" of the user`, "", "/messageId"},
		{"/a/edit", `{"messageId":1,"content":"x"}`, 422, "/messageId", "P-ENF-4", "/messageId"},
		{"/a/retry", ``, 422, "nothing to retry: the thread is empty", "", ""},
		{"/a/retry", `{"x":1}`, 422, "/x", "P-ENF-2", "/x"},
		{"/a/stop", `[]`, 422, "want an object", "P-ENF-4", ""},
		{"/a/other", `{}`, 404, `no "other"`, "", ""},
		{"/a/messages/more", `{}`, 404, "messages/more", "", ""},
		{"/", `{}`, 404, "a thread's id", "", ""},
		{"/" + strings.Repeat("i", 257) + "/messages", `{"content":"Hi"}`, 404, "at most 256 bytes", "", ""},
		{"/%ff/messages", `{"content":"Hi"}`, 404, "UTF-8", "", ""},
	} {
		t.Run(c.path[:min(30, len(c.path))]+" "+c.body[:min(60, len(c.body))], func(t *testing.T) {
			s := open(t, says("Hello"), serve.ThreadsOptions{MaxBodyBytes: 1000})
			got := s.post(c.path, c.body)
			assert.Equal(t, c.status, got.Status)
			assert.Contains(t, got.Detail, c.detail)
			assert.Equal(t, c.rule, got.Rule)
			assert.Equal(t, c.at, got.Path)
			require.NoError(t, s.threads.Shutdown(t.Context()))
		})
	}
	s := open(t, says("Hello"), serve.ThreadsOptions{})
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		r := httptest.NewRequest(http.MethodPost, "/a/messages", strings.NewReader(`{"content":"Hi"}`))
		r.Header.Set("Content-Type", contentType)
		assert.Equal(t, http.StatusUnsupportedMediaType, s.do(r).Status, contentType)
	}
	got := s.do(httptest.NewRequest(http.MethodGet, "/a/messages", nil))
	assert.Equal(t, http.StatusMethodNotAllowed, got.Status)
	assert.Equal(t, "POST", got.header.Get("Allow"))
	assert.Empty(t, s.store.ids(opened), "none of these loads a thread")
}

// An id is one segment of the path, whatever is in it, and is stored as it is.
func TestAnyIDIsAThread(t *testing.T) {
	s := open(t, says("Hello"), serve.ThreadsOptions{Store: serve.NewDir(t.TempDir())})
	ids := []string{"a", "A", "a/b", "..", "../../etc/passwd", "a\\b", "a b", "a%2fb", "é", "con", ".", "*", "a\x00b", strings.Repeat("é", 128), strings.Repeat("x", 256)}
	for _, id := range ids {
		got := s.post("/"+url.PathEscape(id)+"/messages", `{"content":"Hi","id":"m"}`)
		require.Equal(t, http.StatusAccepted, got.Status, "%q: %s", id, got.Detail)
		assert.Equal(t, id, got.ThreadID)
		s.settle(url.PathEscape(id))
	}
	require.NoError(t, s.threads.Shutdown(t.Context()))
	assert.ElementsMatch(t, ids, s.store.ids(closed))
	for _, id := range ids {
		require.NotNil(t, s.store.stored(id), id)
		assert.Equal(t, []string{"user Hi", "assistant Hello"}, texts(s.store.stored(id)), id)
	}
}

// No request of one user reaches another's thread, whatever the route.
func TestUsersAndRoutes(t *testing.T) {
	owner := map[string]string{"thread of ann": "ann", "thread of bob": "bob"}
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID,
			Outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "r"}}}})
	})
	s := open(t, agent, serve.ThreadsOptions{Authorize: func(r *http.Request, threadID string) error {
		if user, _, _ := r.BasicAuth(); user == "" || owner[threadID] != user {
			return fmt.Errorf("%q is not of %q", threadID, user)
		}
		return nil
	}})
	routes := map[string]string{
		"":          "",
		"/messages": `{"content":"Hi"}`, "/answers": `{"answers":[{"interruptId":"i","status":"cancelled"}]}`,
		"/results": `{"results":[{"toolCallId":"c","content":"x"}]}`, "/edit": `{"messageId":"m","content":"x"}`, "/retry": "", "/stop": "",
		"/nothing": "{}",
	}
	for thread := range owner {
		for _, user := range []string{"ann", "bob", "", "Ann", "ann\x00"} {
			for route, body := range routes {
				for _, spelled := range []string{url.PathEscape(thread), strings.ReplaceAll(thread, " ", "%20"), "%74" + url.PathEscape(thread[1:])} {
					method := http.MethodPost
					if route == "" {
						method = http.MethodGet
					}
					ctx, cancel := context.WithCancel(t.Context())
					cancel() // a feed ends at once
					r := httptest.NewRequest(method, "/"+spelled+route, strings.NewReader(body)).WithContext(ctx)
					r.Header.Set("Content-Type", "application/json")
					r.SetBasicAuth(user, "")
					w := httptest.NewRecorder()
					s.threads.ServeHTTP(w, r)
					if owner[thread] == user {
						assert.NotEqual(t, http.StatusForbidden, w.Code)
						continue
					}
					assert.Equal(t, http.StatusForbidden, w.Code, "%s %s by %q", method, spelled+route, user)
					assert.NotContains(t, w.Body.String(), thread)
					assert.NotContains(t, w.Body.String(), "is not of", "the reason is for the log")
				}
			}
		}
	}
	require.NoError(t, s.threads.Shutdown(t.Context()))
	for _, thread := range []string{"thread of ann", "thread of bob", "", "other"} { // and before anything is loaded
		s := open(t, agent, serve.ThreadsOptions{Authorize: func(*http.Request, string) error { return errors.New("no") }})
		s.post("/"+url.PathEscape(thread)+"/messages", `{"content":"Hi"}`)
		assert.Empty(t, s.store.ids(opened))
	}
}

func TestWithoutAuthorizeOnlyThisMachine(t *testing.T) {
	for _, c := range []struct {
		remote, host, header string
		status               int
	}{
		{"127.0.0.1:5", "localhost:8080", "", 202},
		{"[::1]:5", "[::1]:8080", "", 202},
		{"127.8.8.8:5", "127.0.0.1", "", 202},
		{"[::ffff:127.0.0.1]:5", "LOCALHOST", "", 202},
		{"192.0.2.1:5", "localhost", "", 403},
		{"127.0.0.1:5", "evil.example:8080", "", 403}, // a name that resolves to this machine
		{"127.0.0.1:5", "localhost.evil.example", "", 403},
		{"127.0.0.1:5", "localhost", "X-Forwarded-For", 403}, // a proxy on this machine
		{"127.0.0.1:5", "localhost", "Forwarded", 403},
		{"@", "localhost", "", 403},
		{"", "", "", 403},
	} {
		threads := serve.NewThreads(says("Hello"), &serve.ThreadsOptions{Logger: quiet})
		r := httptest.NewRequest(http.MethodPost, "/a/messages", strings.NewReader(`{"content":"Hi"}`))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr, r.Host = c.remote, c.host
		if c.header != "" {
			r.Header.Set(c.header, "127.0.0.1")
		}
		w := httptest.NewRecorder()
		threads.ServeHTTP(w, r)
		assert.Equal(t, c.status, w.Code, "%+v", c)
		require.NoError(t, threads.Shutdown(t.Context()))
	}
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	s := open(t, says("Hello"), serve.ThreadsOptions{})
	for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		r := httptest.NewRequest(http.MethodPost, "/a/stop", nil)
		r.Header.Set(header, value)
		assert.Equal(t, http.StatusForbidden, s.do(r).Status)
	}
	trusting := http.NewCrossOriginProtection()
	require.NoError(t, trusting.AddTrustedOrigin("https://app.example"))
	s = open(t, says("Hello"), serve.ThreadsOptions{CrossOrigin: trusting})
	r := httptest.NewRequest(http.MethodPost, "/a/stop", nil)
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	assert.Equal(t, http.StatusNotFound, s.do(r).Status)
	require.NoError(t, s.threads.Shutdown(t.Context()))
}

func TestAnswersResultsAndEdits(t *testing.T) {
	asks := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		out := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
		events := []event.Event{&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}}
		switch last := in.Messages[len(in.Messages)-1]; {
		case last.Text() == "ask":
			if len(in.Resume) == 0 {
				out.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "r"}}}
			}
		case last.Text() == "call":
			for _, name := range []string{"mine", "yours", "yours2"} {
				events = append(events, &event.ToolCallStart{ToolCallID: name, ToolCallName: name}, &event.ToolCallEnd{ToolCallID: name})
			}
		}
		return emit(append(events, out)...)
	})
	slow := make(chan struct{})
	s := open(t, asks, serve.ThreadsOptions{Session: func(string) *client.SessionOptions {
		return &client.SessionOptions{Tools: []client.Tool{
			{Tool: event.Tool{Name: "mine"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
				select {
				case <-slow:
				case <-ctx.Done():
				}
				return "ours", nil
			}},
			{Tool: event.Tool{Name: "yours"}}, {Tool: event.Tool{Name: "yours2"}},
		}}
	}})
	wait := func(id string, ready func(reply) bool, path, body string) reply {
		for {
			got := s.post("/"+id+path, body)
			if got.Status != http.StatusConflict && ready(got) {
				return got
			}
			time.Sleep(time.Millisecond)
		}
	}
	any := func(reply) bool { return true }

	require.Equal(t, 202, s.post("/a/messages", `{"content":"ask","id":"q"}`).Status)
	got := wait("a", any, "/messages", `{"content":"never mind"}`)
	assert.Equal(t, 422, got.Status)
	assert.Equal(t, "P-INT-1", got.Rule)
	assert.Equal(t, 422, s.post("/a/answers", `{"answers":[{"interruptId":"other","status":"resolved"}]}`).Status)
	assert.Equal(t, 202, s.post("/a/answers", `{"answers":[{"interruptId":"i","status":"resolved","payload":{"ok":true}}]}`).Status)

	require.Equal(t, 202, s.post("/b/messages", `{"content":"ask","id":"q"}`).Status)
	assert.Equal(t, 202, wait("b", any, "/edit", `{"messageId":"q","content":"instead"}`).Status)

	require.Equal(t, 202, s.post("/c/messages", `{"content":"call"}`).Status)
	yours := func(id string) string { return `{"results":[{"toolCallId":"` + id + `","content":"x"}]}` }
	_ = wait("c", func(r reply) bool { return r.Status == 422 }, "/results", yours("mine"))
	close(slow)
	assert.Equal(t, 202, wait("c", func(r reply) bool { return r.Status == 202 }, "/results", yours("yours")).Status)
	assert.Equal(t, 422, s.post("/c/results", yours("yours")).Status, "it is answered")
	assert.Equal(t, 202, s.post("/c/results", yours("yours2")).Status)
	for _, id := range []string{"a", "b", "c"} {
		s.settle(id)
	}
	require.NoError(t, s.threads.Shutdown(t.Context()))
	assert.Equal(t, []string{"user instead"}, texts(s.store.stored("b")))
	assert.Equal(t, 2, s.store.stored("b").Runs.Len())
	assert.Empty(t, s.store.stored("b").Interrupts)
	var results []string
	for _, m := range s.store.stored("c").Messages.All() {
		if m.Role == messages.RoleTool {
			results = append(results, m.ToolCallID+" "+m.Text())
		}
	}
	assert.ElementsMatch(t, []string{"mine ours", "yours x", "yours2 x"}, results)
}

// A run does not end with the request that began it.
func TestARunOutlivesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest(http.MethodPost, "/a/messages", strings.NewReader(`{"content":"Hi"}`)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		require.Equal(t, http.StatusAccepted, s.do(r).Status)
		cancel()
		time.Sleep(time.Hour)
		assert.NoError(t, why.get())
		require.NoError(t, s.threads.Shutdown(t.Context()))
		assert.Error(t, why.get())
	})
}

// An agent that cannot be reached: the message is accepted and kept, and the run can be tried again.
func TestUpstreamIsDown(t *testing.T) {
	upstream := httptest.NewServer(serve.Agent(says("Hello"), nil))
	address := upstream.Listener.Addr().String()
	upstream.Close()
	s := open(t, client.NewHTTP("http://"+address, nil), serve.ThreadsOptions{})
	require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
	for s.post("/a/retry", "").Status != 202 { // while the first attempt is under way
		time.Sleep(time.Millisecond)
	}
	for s.post("/a/messages", `{"content":"Are you there?"}`).Status != 202 {
		time.Sleep(time.Millisecond)
	}
	th := s.thread("a")
	assert.Equal(t, []string{"user Hi", "user Are you there?"}, texts(th))
	assert.GreaterOrEqual(t, th.Runs.Len(), 2, "the third may have been stopped, to look at the thread, before it was sent")
	assert.ErrorContains(t, th.Runs.At(0).Err, "the agent failed", "the address is not for browsers")
}

// Whatever comes, it is answered, and with a status that says whose fault it is.
func FuzzThreads(f *testing.F) {
	f.Add("POST", "/a/messages", "application/json", `{"content":"Hi"}`)
	f.Add("POST", "/a%2f../answers", "application/json", `{"answers":[{"interruptId":"i","status":"resolved","payload":{}}]}`)
	f.Add("POST", "/a/results", "application/json", `{"results":[{"toolCallId":"c","content":[{"type":"text","text":""}],"error":"e"}]}`)
	f.Add("POST", "/a/edit", "application/json", `{"messageId":"m","content":"x"}`)
	f.Add("GET", "/agfold.js", "", "")
	f.Fuzz(func(t *testing.T, method, path, contentType, body string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || method == http.MethodGet && path != "/agfold.js" {
			return // a feed does not end
		}
		r := &http.Request{Method: method, URL: target, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
		threads := serve.NewThreads(says("Hello"), &serve.ThreadsOptions{Logger: quiet, Authorize: func(*http.Request, string) error { return nil }})
		w := httptest.NewRecorder()
		threads.ServeHTTP(w, r.WithContext(t.Context()))
		require.NoError(t, threads.Shutdown(t.Context()))
		assert.NotEqual(t, http.StatusInternalServerError, w.Code)
		if w.Code != http.StatusOK {
			assert.True(t, json.Valid(w.Body.Bytes()), w.Body.String())
		}
	})
}
