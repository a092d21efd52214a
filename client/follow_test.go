package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wire is a server of a feed without a network: each request gets a pipe.
type wire struct {
	mu     sync.Mutex
	ring   *feed.Ring
	from   *feed.Entry
	out    *io.PipeWriter
	asked  []http.Header
	answer func(*http.Request) *http.Response // in place of the feed
}

func newWire() *wire { return &wire{ring: feed.NewRing("wire", feed.Options{})} }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.Header)
	if w.answer != nil {
		if resp := w.answer(r); resp != nil {
			return resp, nil
		}
	}
	w.from = w.ring.Find(r.Header.Get("Last-Event-ID"))
	in, out := io.Pipe()
	w.out = out
	context.AfterFunc(r.Context(), func() { out.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: in}, nil
}

// requests returns the heads of the requests so far.
func (w *wire) requests() []http.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// set changes the server.
func (w *wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// send sends what is new on the connection, the first n bytes of it and then nothing if n is not negative.
func (w *wire) send(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil || w.from == w.ring.Newest() {
		return
	}
	e := w.ring.Event(w.from, feed.Append)
	if n >= 0 {
		_, _ = w.out.Write(e.Text[:min(n, len(e.Text))])
		w.out.Close()
		w.out = nil
		return
	}
	if _, err := w.out.Write(e.Text); err != nil {
		w.out = nil
	}
	w.from = e.To
}

func (w *wire) put(s feed.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ring.Put(s)
}

func (w *wire) options() *client.FollowOptions {
	return &client.FollowOptions{HTTPClient: &http.Client{Transport: w}}
}

// scene returns a run of many kinds of events.
func scene() []event.Event {
	s := messages.SubagentOwner("s")
	events := []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.StateSnapshot{Snapshot: state.Object(state.Member{Key: "n", Value: state.Int(0)})},
		&event.SubagentStarted{Attribution: event.By(s), Name: "n"},
		&event.TextMessageStart{MessageID: "m"},
	}
	for i := range 20 {
		events = append(events, &event.TextMessageContent{MessageID: "m", Delta: fmt.Sprint(" word ", i, " é\n")},
			&event.StateDelta{Delta: state.Patch{{Kind: state.OpReplace, Path: "/n", Value: state.Int(int64(i))}}})
	}
	events = append(events, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "f", ParentMessageID: messages.Some("m")})
	for _, part := range []string{`{"te`, `xt":"`, `a`, `b\n`, `c"}`} {
		events = append(events, &event.ToolCallArgs{ToolCallID: "c", Delta: part})
	}
	return append(events, &event.ToolCallEnd{ToolCallID: "c"}, &event.TextMessageEnd{MessageID: "m"},
		&event.ToolCallResult{MessageID: "x", ToolCallID: "c", Content: messages.Text("ok")},
		&event.SubagentFinished{Attribution: event.By(s)},
		&event.RunFinished{ThreadID: "t", RunID: "r", Outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "ask"}}}})
}

func canonicalJSON(t *testing.T, th *reducer.Thread) string {
	t.Helper()
	v, err := state.Parse(th.AppendJSON(nil))
	require.NoError(t, err)
	var any any
	require.NoError(t, v.Unmarshal(&any))
	v, err = state.Of(any) // encoding/json sorts members
	require.NoError(t, err)
	return v.String()
}

// Wherever the feed is cut, the followed thread is the served one at every revision that comes, and the last one comes.
func TestFollowedThreadIsTheServedOne(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			w, fold := newWire(), reducer.New(nil)
			served := map[uint64]string{}
			put := func() {
				th := fold.Thread()
				served[th.Revision] = canonicalJSON(t, th)
				w.put(feed.Snapshot{Thread: th, Phase: "streaming"})
			}
			put()
			ctx, cancel := context.WithCancel(t.Context())
			f := client.Follow(ctx, "http://host/t", w.options())
			revisions := f.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1})
			var got []client.Snapshot
			collected := make(chan struct{})
			go func() {
				defer close(collected)
				for s := range revisions.C {
					got = append(got, s)
				}
			}()
			for _, ev := range scene() {
				require.NoError(t, fold.Apply(ev))
				put()
				synctest.Wait()
				n := -1
				if random.IntN(4) == 0 {
					n = random.IntN(150)
				}
				w.send(n)
				if random.IntN(3) == 0 {
					time.Sleep(time.Minute) // it has reconnected
				}
			}
			time.Sleep(time.Minute)
			w.send(-1)
			synctest.Wait()
			last := f.Snapshot()
			assert.Equal(t, fold.Thread().Revision, last.Revision, "seed %d", seed)
			assert.Equal(t, client.PhaseStreaming, last.Phase)
			cancel()
			<-f.Done()
			require.ErrorIs(t, f.Err(), context.Canceled)
			<-collected
			require.NoError(t, revisions.Err())
			for _, s := range got[1:] { // before the first event the thread is empty
				require.Equal(t, served[s.Revision], canonicalJSON(t, s.Thread), "seed %d, revision %d", seed, s.Revision)
			}
			assert.Greater(t, len(got), 10)
			for _, h := range w.requests()[1:] {
				assert.True(t, strings.HasPrefix(h.Get("Last-Event-ID"), "wire.") || h.Get("Last-Event-ID") == "")
			}
		})
	}
}

func TestFollowResumesAndReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		text := func(s string) feed.Snapshot {
			return feed.Snapshot{Thread: &reducer.Thread{ID: "t", Messages: messages.NewList(&messages.Message{ID: "m", Role: messages.RoleUser, Content: messages.Text(s)})}}
		}
		w.put(text("a"))
		ctx, cancel := context.WithCancel(t.Context())
		var connections []error
		o := w.options()
		o.Header = http.Header{"Authorization": {"Bearer x"}}
		o.OnConnection = func(err error) { w.set(func() { connections = append(connections, err) }) }
		connected := func() (list []error) {
			w.set(func() { list = slices.Clone(connections) })
			return list
		}
		f := client.Follow(ctx, "http://host/t", o)
		now := func() string {
			synctest.Wait()
			if f.Snapshot().Messages.Len() == 0 {
				return ""
			}
			return f.Snapshot().Messages.At(0).Text()
		}
		assert.Empty(t, now())
		w.send(-1)
		assert.Equal(t, "a", now())
		assert.Equal(t, "Bearer x", w.requests()[0].Get("Authorization"))
		assert.Equal(t, []error{nil}, connected())

		time.Sleep(45 * time.Second)
		synctest.Wait()
		require.Len(t, connected(), 2)
		idle, ok := errors.AsType[*client.IdleError](connected()[1])
		require.True(t, ok, "%v", connected()[1])
		assert.Equal(t, 45*time.Second, idle.After)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, w.requests(), 2, "it connects again within a second")
		assert.Equal(t, "wire.0.0", w.requests()[1].Get("Last-Event-ID"))

		w.put(text("ab"))
		w.send(-1)
		assert.Equal(t, "ab", now())

		w.set(func() {
			w.answer = func(*http.Request) *http.Response { // a server that starts, for a while
				return &http.Response{StatusCode: http.StatusBadGateway, Body: io.NopCloser(strings.NewReader("no"))}
			}
			w.out.Close()
		})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		tried := len(w.requests())
		assert.Less(t, tried, 30, "it waits longer and longer")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Greater(t, len(w.requests()), tried+5, "but at most 30 s or so")
		w.set(func() { w.answer, w.ring = nil, feed.NewRing("other", feed.Options{}) }) // it has forgotten the thread's past
		w.put(text("new"))
		until := func(want string) { // a connection may be waited for, or be about to end
			for range 120 {
				w.send(-1)
				if now() == want {
					return
				}
				time.Sleep(time.Second)
			}
			t.Errorf("%q did not come", want)
		}
		until("new")
		assert.Equal(t, "wire.1.0", w.requests()[len(w.requests())-1].Get("Last-Event-ID"))

		var out io.Writer
		w.set(func() { out = w.out })
		_, err := out.Write([]byte("id: other.1.0\ndata: [{\"op\":\"append\",\"path\":\"/nope\",\"value\":\"x\"}]\n\n"))
		require.NoError(t, err)
		synctest.Wait()
		assert.ErrorIs(t, connected()[len(connected())-1], state.ErrPath)
		w.put(text("newer"))
		until("newer")
		assert.Empty(t, w.requests()[len(w.requests())-1].Get("Last-Event-ID"), "after changes that do not apply it asks for a view")
		cancel()
		<-f.Done()
	})
}

func TestFollowEnds(t *testing.T) {
	answer := func(status int, contentType, body string) func(*http.Request) *http.Response {
		return func(*http.Request) *http.Response {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}
		}
	}
	long := "data: " + strings.Repeat("x", 3000) + "\n\n"
	for _, tc := range []struct {
		name   string
		answer func(*http.Request) *http.Response
		want   func(error) bool
	}{
		{"the server does not know us", answer(http.StatusUnauthorized, "text/plain", "who?"), func(err error) bool {
			e, ok := errors.AsType[*client.StatusError](err)
			return ok && e.Status == http.StatusUnauthorized && e.Detail() == "who?"
		}},
		{"an event is too long", answer(http.StatusOK, "text/event-stream", long), func(err error) bool { return errors.Is(err, state.ErrLimit) }},
		{"a view is too large", answer(http.StatusOK, "text/event-stream", "event: view\nid: n.0.0\ndata: [\""+strings.Repeat("x", 1500)+"\"]\n\n"),
			func(err error) bool { return errors.Is(err, state.ErrLimit) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWire()
				w.answer = tc.answer
				o := w.options()
				o.MaxBytes = 1000
				f := client.Follow(t.Context(), "http://host/t", o)
				snapshots := f.Subscribe(t.Context())
				<-f.Done()
				assert.True(t, tc.want(f.Err()), "%v", f.Err())
				for range snapshots { // it is closed
				}
			})
		})
	}
	t.Run("its context ends while it waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, a := range []func(*http.Request) *http.Response{
				answer(http.StatusServiceUnavailable, "text/plain", ""), answer(http.StatusOK, "text/html", "<p>log in</p>"),
				answer(http.StatusOK, "text/event-stream", "data: []\n\n"), answer(http.StatusOK, "text/event-stream", ""),
			} {
				w := newWire()
				w.answer = a
				ctx, cancel := context.WithCancelCause(t.Context())
				f := client.Follow(ctx, "http://host/t", w.options())
				time.Sleep(10 * time.Minute)
				assert.NoError(t, f.Err())
				assert.Less(t, len(w.requests()), 60)
				cancel(errors.New("enough"))
				<-f.Done()
				assert.ErrorContains(t, f.Err(), "enough")
			}
		})
	})
	t.Run("a reader holds it back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWire()
			w.put(feed.Snapshot{Phase: "idle"})
			ctx, cancel := context.WithCancel(t.Context())
			f := client.Follow(ctx, "http://host/t", w.options())
			stuck := f.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1})
			synctest.Wait()
			w.send(-1)
			synctest.Wait()
			cancel()
			<-f.Done()
			for range stuck.C {
			}
		})
	})
}
