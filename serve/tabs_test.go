package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// tab is a browser's tab that reads a feed.
type tab struct {
	status int
	header http.Header
	body   *strings.Builder
	leave  context.CancelFunc
	done   chan struct{} // closed when the handler has returned
}

// look opens a tab.
func (s *site) look(path, lastEventID string) *tab {
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodGet, path, nil).WithContext(ctx)
	r.Header.Set("Accept", "text/event-stream")
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	t := &tab{leave: cancel, done: make(chan struct{})}
	w := httptest.NewRecorder()
	go func() {
		defer close(t.done)
		s.threads.ServeHTTP(w, r)
		t.status, t.header = w.Code, w.Header()
		t.body = new(strings.Builder)
		t.body.Write(w.Body.Bytes())
	}()
	return t
}

// end leaves and returns what the tab got.
func (t *tab) end() string {
	t.leave()
	<-t.done
	return t.body.String()
}

func TestATabSeesTheThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, says("Hello"), serve.ThreadsOptions{IdleTimeout: time.Minute})
		tab := s.look("/a", "")
		synctest.Wait()
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(time.Hour)
		assert.Empty(t, s.store.ids(closed), "a thread with a tab is not idle")
		body := tab.end()
		assert.Equal(t, http.StatusOK, tab.status)
		assert.Equal(t, "text/event-stream", tab.header.Get("Content-Type"))
		assert.Contains(t, body, "Hello")
		assert.Contains(t, body, "Hi")
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"a"}, s.store.ids(closed))
		again := s.look("/a", "")
		synctest.Wait()
		assert.Contains(t, again.end(), "Hello", "it is loaded again")
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

func TestShutdownEndsTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, streams, serve.ThreadsOptions{})
		tab := s.look("/a", "")
		synctest.Wait()
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(time.Second)
		require.NoError(t, s.threads.Shutdown(t.Context()))
		<-tab.done
		assert.Contains(t, tab.body.String(), " a time")
	})
}

func TestTabsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, says("Hello"), serve.ThreadsOptions{MaxTabs: 2})
		one, two := s.look("/a", ""), s.look("/a", "")
		synctest.Wait()
		three := s.look("/a", "")
		<-three.done
		assert.Equal(t, http.StatusTooManyRequests, three.status)
		assert.Contains(t, three.body.String(), "2 tabs already")
		other := s.look("/b", "")
		synctest.Wait()
		one.end()
		four := s.look("/a", "")
		synctest.Wait()
		for _, tab := range []*tab{two, other, four} {
			tab.end()
			assert.Equal(t, http.StatusOK, tab.status)
		}
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

// A Last-Event-ID that means nothing here gives the whole view, and never that of another thread.
func TestLastEventIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, says("of this thread"), serve.ThreadsOptions{})
		for _, id := range []string{"a", "b"} {
			require.Equal(t, 202, s.post("/"+id+"/messages", `{"content":"from `+id+`"}`).Status)
		}
		synctest.Wait()
		first := s.look("/a", "")
		synctest.Wait()
		_, rest, found := strings.Cut(first.end(), "id: ")
		require.True(t, found)
		token, _, _ := strings.Cut(rest, "\n")
		for _, id := range []string{token, "", "x", "0", "-1", token + "1", strings.Repeat("9", 1<<20), "\x00", "é", "../a", token[:1]} {
			tab := s.look("/b", id)
			synctest.Wait()
			body := tab.end()
			assert.Contains(t, body, "from b", "%.20q", id)
			assert.NotContains(t, body, "from a")
		}
		back := s.look("/a", token)
		synctest.Wait()
		assert.NotContains(t, back.end(), "from a", "it has that already")
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

func TestOtherWaysToAskForAFeed(t *testing.T) {
	s := open(t, says("Hello"), serve.ThreadsOptions{})
	r := httptest.NewRequest(http.MethodGet, "/a", nil)
	r.Header.Set("Accept", "text/html")
	assert.Equal(t, http.StatusNotAcceptable, s.do(r).Status)
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPut} {
		got := s.do(httptest.NewRequest(method, "/a", nil))
		assert.Equal(t, http.StatusMethodNotAllowed, got.Status)
		assert.Equal(t, "GET, HEAD", got.header.Get("Allow"))
	}
	w := httptest.NewRecorder()
	s.threads.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/agfold.js", nil))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Header().Get("Content-Type"), "javascript")
	assert.Contains(t, w.Body.String(), "export function connect")
	assert.Equal(t, http.StatusMethodNotAllowed, s.do(httptest.NewRequest(http.MethodPost, "/agfold.js", nil)).Status)
	assert.Equal(t, http.StatusNotFound, s.post("/agfold.js/messages", `{"content":"Hi"}`).Status)
	assert.Empty(t, s.store.ids(closed))
	require.NoError(t, s.threads.Shutdown(t.Context()))
}

// A connection that breaks after any number of bytes leaves nothing behind.
func TestATabKilledAtEachByte(t *testing.T) {
	whole := "GET /a HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"
	for cut := 0; cut < len(whole)+700; cut += 7 {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, says("Hello"), serve.ThreadsOptions{IdleTimeout: time.Minute})
			dial := dialed(t, s.threads)
			require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
			synctest.Wait()
			c := dial()
			go io.WriteString(c, whole[:min(cut, len(whole))])
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			io.CopyN(io.Discard, c, int64(max(0, cut-len(whole))))
			c.Close()
			time.Sleep(2 * time.Minute)
			assert.Equal(t, []string{"a"}, s.store.ids(closed), "nobody uses the thread, cut at %d", cut)
			require.NoError(t, s.threads.Shutdown(t.Context()))
		})
	}
}

// A tab that does not read is dropped after a time, and holds up nobody.
func TestATabThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, says("Hello"), serve.ThreadsOptions{IdleTimeout: time.Minute, WriteTimeout: 20 * time.Second})
		dial := dialed(t, s.threads)
		c := dial()
		defer c.Close()
		go io.WriteString(c, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := bufio.NewReader(io.LimitReader(c, 1)).ReadByte()
		require.NoError(t, err)
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(19 * time.Second)
		assert.Equal(t, []string{"a"}, s.store.ids(saved), "the run does not wait for it")
		time.Sleep(time.Minute + 2*time.Second)
		assert.Equal(t, []string{"a"}, s.store.ids(closed))
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

// followed is a store whose threads another process holds.
type followed struct{ snapshots chan client.Snapshot }

func (f *followed) Open(context.Context, string) (serve.Stored, error) {
	return nil, &serve.HeldError{Holder: "node-7"}
}

func (f *followed) Follow(ctx context.Context, _ string) (<-chan client.Snapshot, error) {
	if f.snapshots == nil {
		return nil, fmt.Errorf("not now")
	}
	return f.snapshots, nil
}

func TestATabOfAThreadOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &followed{make(chan client.Snapshot, 1)}
		s := open(t, says("Hello"), serve.ThreadsOptions{Store: store})
		s.threads = serve.NewThreads(says("Hello"), &serve.ThreadsOptions{Store: store, Logger: quiet, Authorize: func(*http.Request, string) error { return nil }})
		th := (&reducer.Thread{ID: "a"}).WithMessages(&messages.Message{ID: "m", Role: messages.RoleUser, Content: messages.Text("from afar")})
		store.snapshots <- client.Snapshot{Thread: th}
		tab := s.look("/a", "")
		synctest.Wait()
		assert.Equal(t, http.StatusConflict, s.post("/a/messages", `{"content":"Hi"}`).Status)
		close(store.snapshots) // the holder gives it up
		<-tab.done
		assert.Contains(t, tab.body.String(), "from afar")
		store.snapshots = nil
		failed := s.look("/a", "")
		<-failed.done
		require.NoError(t, s.threads.Shutdown(t.Context()))

		unfollowed := &site{t: t, threads: serve.NewThreads(says("Hello"), &serve.ThreadsOptions{
			Store:     storeFunc(func(string) (serve.Stored, error) { return nil, &serve.HeldError{} }),
			Authorize: func(*http.Request, string) error { return nil },
		})}
		refused := unfollowed.look("/a", "")
		<-refused.done
		assert.Equal(t, http.StatusConflict, refused.status)
	})
}

// stoppable is a store whose threads another process holds, which can be told to stop.
type stoppable struct {
	followed
	err     error
	stopped []string
}

func (s *stoppable) Stop(_ context.Context, threadID string) error {
	s.stopped = append(s.stopped, threadID)
	return s.err
}

func TestAStopReachesTheProcessThatHoldsTheThread(t *testing.T) {
	store := &stoppable{}
	s := &site{t: t, threads: serve.NewThreads(says("Hello"), &serve.ThreadsOptions{
		Store: store, Logger: quiet, Authorize: func(*http.Request, string) error { return nil },
	})}
	assert.Equal(t, http.StatusAccepted, s.post("/a/stop", ``).Status)
	assert.Equal(t, http.StatusBadRequest/100, s.post("/a/stop", `{"x":1}`).Status/100)
	assert.Equal(t, []string{"a"}, store.stopped)
	store.err = fmt.Errorf("no answer")
	assert.Equal(t, http.StatusServiceUnavailable, s.post("/a/stop", ``).Status)
	assert.Equal(t, http.StatusConflict, s.post("/a/retry", ``).Status, "only that is passed on")
	require.NoError(t, s.threads.Shutdown(t.Context()))
}
