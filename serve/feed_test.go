package serve

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agfold/agfold/client"
	core "github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is a thread whose only message grows.
type told struct {
	mu   sync.Mutex
	hub  *subscribe.Hub[client.Snapshot]
	now  client.Snapshot
	text string
}

func newTold() *told {
	s := &told{}
	s.now.Thread = &reducer.Thread{ID: "t"}
	s.hub = subscribe.NewHub(&s.mu, func() client.Snapshot { return s.now })
	return s
}

func (s *told) say(more string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += more
	th := *s.now.Thread
	th.Revision++
	th.Messages = messages.NewList(&messages.Message{ID: "m", Role: messages.RoleUser, Content: messages.Text(s.text)})
	s.now.Thread = &th
	s.hub.Changed()
}

// browser is a ResponseWriter that can stop reading.
type browser struct {
	mu       sync.Mutex
	header   http.Header
	status   int
	got      bytes.Buffer
	read     chan struct{} // closed while it reads
	deadline time.Time
}

func newBrowser() *browser {
	b := &browser{header: http.Header{}, read: make(chan struct{})}
	close(b.read)
	return b
}

func (b *browser) Header() http.Header    { return b.header }
func (b *browser) WriteHeader(status int) { b.status = status }
func (b *browser) FlushError() error      { return nil }

func (b *browser) SetWriteDeadline(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	return nil
}

func (b *browser) Write(text []byte) (int, error) {
	b.mu.Lock()
	read, deadline := b.read, b.deadline
	b.mu.Unlock()
	select {
	case <-read:
	case <-time.After(time.Until(deadline)):
		return 0, os.ErrDeadlineExceeded
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(text)
}

func (b *browser) stops() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = make(chan struct{})
}

func (b *browser) reads() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.read)
}

// take returns what has come since it was last called.
func (b *browser) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.got.String()
	b.got.Reset()
	return text
}

// open opens a tab and returns what ends it, and a channel that is closed when its handler has returned.
func open(f *feed, b *browser, target, token string) (end context.CancelFunc, done <-chan struct{}) {
	ctx, end := context.WithCancel(context.Background())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if token != "" {
		r.Header.Set("Last-Event-ID", token)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.serveHTTP(b, r)
	}()
	return end, ended
}

func lastToken(t *testing.T, text string) string {
	t.Helper()
	i := strings.LastIndex(text, "id: ")
	require.GreaterOrEqual(t, i, 0, "%q", text)
	token, _, _ := strings.Cut(text[i+4:], "\n")
	return token
}

const (
	viewBegins = "event: view\nid: "
	appended   = `[{"op":"append","path":"/messages/0/content","value":"%s"}]` + "\n\n"
)

func TestFeedSendsAViewThenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newTold(), newBrowser()
		s.say("a")
		f := newFeed(s.hub.Latest, nil)
		end, done := open(f, b, "/", "")
		synctest.Wait()
		first := b.take()
		assert.Equal(t, "text/event-stream", b.header.Get("Content-Type"))
		assert.True(t, strings.HasPrefix(first, "retry: 1000\n\n"+viewBegins), first)
		assert.Contains(t, first, `"content":"a"`)

		s.say("b")
		time.Sleep(33 * time.Millisecond)
		synctest.Wait()
		assert.True(t, strings.HasSuffix(b.take(), fmt.Sprintf(appended, "b")))

		s.say("c")
		s.say("d")
		time.Sleep(33 * time.Millisecond)
		synctest.Wait()
		assert.True(t, strings.HasSuffix(b.take(), fmt.Sprintf(appended, "cd")), "what comes within the interval comes together")

		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Equal(t, comment, b.take(), "a comment breaks the silence")
		end()
		<-done
		synctest.Wait()
	})
}

func TestFeedResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTold()
		s.say("a")
		f := newFeed(s.hub.Latest, &feedOptions{interval: -1})
		other := newFeed(s.hub.Latest, nil)
		visit := func(f *feed, target, token string) string {
			b := newBrowser()
			end, done := open(f, b, target, token)
			synctest.Wait()
			end()
			<-done
			return strings.TrimPrefix(b.take(), "retry: 1000\n\n")
		}
		token := lastToken(t, visit(f, "/", ""))
		s.say("b")
		s.say("c")
		assert.True(t, strings.HasSuffix(visit(f, "/", token), fmt.Sprintf(appended, "bc")), "a tab that comes back gets what it missed, even if nobody watched")
		assert.Contains(t, visit(f, "/?ops=rfc6902", token), `[{"op":"replace","path":"/messages/0/content","value":"abc"}]`)
		assert.Empty(t, visit(f, "/", lastToken(t, visit(f, "/", ""))), "nothing has changed")
		for _, foreign := range []string{"nonsense", lastToken(t, visit(other, "/", "")), token + "0", strings.Repeat("x", 1<<20)} {
			assert.True(t, strings.HasPrefix(visit(f, "/", foreign), viewBegins), "%.40q", foreign)
		}
		w := httptest.NewRecorder()
		f.serveHTTP(w, httptest.NewRequest(http.MethodGet, "/?ops=json", nil))
		assert.Equal(t, http.StatusBadRequest, w.Code)
	})
}

func TestATabThatStopsReadingGetsFewerChangesOrIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, slow, stopped := newTold(), newBrowser(), newBrowser()
		s.say("a")
		f := newFeed(s.hub.Latest, &feedOptions{interval: -1, ring: core.Options{Snapshots: 2}})
		endSlow, slowDone := open(f, slow, "/", "")
		_, stoppedDone := open(f, stopped, "/", "")
		synctest.Wait()
		slow.take()
		slow.stops()
		stopped.stops()
		for _, more := range []string{"b", "c", "d", "e"} {
			s.say(more)
			synctest.Wait()
		}
		time.Sleep(29 * time.Second)
		slow.reads()
		synctest.Wait()
		got := slow.take()
		assert.Equal(t, 2, strings.Count(got, "data: "), "the event that waited, and one for all the others: %s", got)
		assert.True(t, strings.HasSuffix(got, fmt.Sprintf(appended, "cde")), "although the ring no longer holds what it had")
		select {
		case <-stoppedDone:
			t.Error("it was dropped too early")
		default:
		}
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case <-stoppedDone:
		default:
			t.Error("it was not dropped after 30 s")
		}
		endSlow()
		<-slowDone
		synctest.Wait()
	})
}

func TestAThousandTabsEncodeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTold()
		s.say("a")
		f := newFeed(s.hub.Latest, &feedOptions{interval: -1})
		tabs := make([]*browser, 1000)
		var ends []context.CancelFunc
		for i := range tabs {
			tabs[i] = newBrowser()
			end, _ := open(f, tabs[i], "/", "")
			ends = append(ends, end)
		}
		synctest.Wait()
		before := f.ring.Encoded
		assert.LessOrEqual(t, before, 10, "the view, once, and again if the collector ran in between")
		for _, more := range []string{"b", "c", "d"} {
			s.say(more)
			synctest.Wait()
		}
		assert.Equal(t, before+3, f.ring.Encoded)
		for _, b := range tabs {
			assert.True(t, strings.HasSuffix(b.take(), fmt.Sprintf(appended, "d")))
		}
		for _, end := range ends {
			end()
		}
		synctest.Wait()
		assert.Zero(t, f.tabs)
		assert.Nil(t, f.cancel, "nothing is left running without tabs")
	})
}

func TestFeedEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*feed, *told)
	}{
		{"when it is closed", func(f *feed, _ *told) { f.close() }},
		{"when its source ends", func(_ *feed, s *told) { s.hub.Close() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := newTold(), newBrowser()
				f := newFeed(s.hub.Latest, &feedOptions{interval: -1})
				_, done := open(f, b, "/", "")
				synctest.Wait()
				s.say("last")
				synctest.Wait()
				tc.end(f, s)
				<-done
				assert.Contains(t, b.take(), "last")
				f.close()
				late := newBrowser()
				_, done = open(f, late, "/", "")
				<-done
				assert.Contains(t, late.take(), "last", "who comes later gets what was newest, and the end")
			})
		})
	}
}

func TestScript(t *testing.T) {
	w := httptest.NewRecorder()
	serveScript(w, httptest.NewRequest(http.MethodGet, "/agfold.js", nil))
	assert.Equal(t, "text/javascript; charset=utf-8", w.Header().Get("Content-Type"))
	assert.LessOrEqual(t, strings.Count(w.Body.String(), "\n"), 150, "the script is short")
	assert.NotContains(t, w.Body.String(), "innerHTML")
	r := httptest.NewRequest(http.MethodGet, "/agfold.js", nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	serveScript(again, r)
	assert.Equal(t, http.StatusNotModified, again.Code)
}
