package client_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// BenchmarkSession compares an event's way through a session with the bare reducer, in one run; the payload is
// the same. Each of the n events is a delta.
func BenchmarkSession(b *testing.B) {
	b.Run("reducer", func(b *testing.B) {
		b.ReportAllocs()
		r := reducer.New(nil)
		for ev, err := range event.Upgrade(deltas(b.N)) {
			if err == nil {
				err = r.Apply(ev)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	session := func(subscribed func(context.Context, *client.Session)) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			s := client.NewSession(rawAgent(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] { return deltas(b.N) }), nil)
			subscribed(b.Context(), s)
			if _, err := s.Send(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("session", session(func(context.Context, *client.Session) {}))
	b.Run("session, a subscriber that reads", session(func(ctx context.Context, s *client.Session) {
		snapshots := s.Subscribe(ctx)
		go func() {
			for range snapshots {
			}
		}()
	}))
	b.Run("session, a subscriber that does not", session(func(ctx context.Context, s *client.Session) { s.Subscribe(ctx) }))
	b.Run("session, every revision", session(func(ctx context.Context, s *client.Session) {
		revisions := s.Revisions(ctx, nil)
		go func() {
			for range revisions.C {
			}
		}()
	}))
}

// deltas is a run of n deltas, as frames.
func deltas(n int) iter.Seq2[event.Event, error] {
	data := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-1","delta":"token 7 of it"}`)
	return func(yield func(event.Event, error) bool) {
		for _, ev := range []event.Event{begins, &event.TextMessageStart{MessageID: "msg-1"}} {
			if !yield(ev, nil) {
				return
			}
		}
		for range n {
			frame, err := event.NewFrame(data)
			if !yield(frame, err) {
				return
			}
		}
		_ = yield(&event.TextMessageEnd{MessageID: "msg-1"}, nil) && yield(succeeds, nil)
	}
}

// idleSessions makes n sessions that each have run once and have a subscriber who waits, and reports what one of
// them holds.
func idleSessions(ctx context.Context, tb testing.TB, n int) (bytes, goroutines float64) {
	agent := client.Emit(says(begins, succeeds))
	sessions := make([]*client.Session, n)
	heap, running := inUse(), runtime.NumGoroutine()
	for i := range sessions {
		s := client.NewSession(agent, nil)
		snapshots := s.Subscribe(ctx)
		_, err := s.Send(ctx)
		require.NoError(tb, err)
		for th := range snapshots {
			if th.Status().Ended() {
				break
			}
		}
		sessions[i] = s
	}
	for runtime.NumGoroutine() > running+n { // one serves each subscriber
		runtime.Gosched()
	}
	bytes = float64(inUse()-heap) / float64(n)
	goroutines = float64(runtime.NumGoroutine()-running) / float64(n)
	for _, s := range sessions {
		s.Close()
	}
	return bytes, goroutines
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkIdleSessions reports what an idle session with one subscriber holds.
func BenchmarkIdleSessions(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		bytes, goroutines := idleSessions(ctx, b, 10_000)
		cancel()
		b.ReportMetric(bytes, "B/session")
		b.ReportMetric(goroutines, "goroutines/session")
	}
}

func TestIdleSessionsAreCheap(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	bytes, goroutines := idleSessions(ctx, t, 2000)
	assert.Equal(t, 1.0, goroutines, "an idle session has one goroutine a subscriber")
	t.Logf("%.0f bytes a session", bytes)
	assert.Less(t, bytes, 8192.0)
}

// BenchmarkSend reports what a turn costs on a thread of 10 and of 100,000 messages, after the session's first turn, which
// passes over the thread. The agent is a Go function, so that nothing has to be encoded.
func BenchmarkSend(b *testing.B) {
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "answer to " + in.RunID
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id},
			&event.TextMessageContent{MessageID: id, Delta: "hello"}, &event.TextMessageEnd{MessageID: id},
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprint(n, " messages"), func(b *testing.B) {
			b.ReportAllocs()
			held := make([]*messages.Message, n)
			for i := range held {
				held[i] = withID(fmt.Sprint("held-", i), messages.UserText("hi"))
			}
			th := reducer.New(&reducer.Options{Input: &event.RunInput{ThreadID: "t", Messages: held}}).Thread()
			var s *client.Session
			for i := 0; b.Loop(); i++ {
				if i%200 == 0 { // or the small thread becomes a large one
					b.StopTimer()
					s = client.NewSession(agent, &client.SessionOptions{Thread: th})
					_, err := s.Send(b.Context(), messages.UserText("hi"))
					require.NoError(b, err)
					runtime.GC()
					b.StartTimer()
				}
				if _, err := s.Send(b.Context(), messages.UserText("hi")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRequest compares a turn over HTTP on a thread of 10,000 messages with the writing of its body alone, in turn.
func BenchmarkRequest(b *testing.B) {
	held := make([]*messages.Message, 10_000)
	for i := range held {
		held[i] = withID(fmt.Sprint("held-", i), messages.UserText(strings.Repeat("words ", 20)))
	}
	in := event.RunInput{ThreadID: "t", RunID: "r", Messages: held}
	agent := roundTrip(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		answer := "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\ndata: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n"
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(answer))}, nil
	}).agent(client.HTTPOptions{})
	th := reducer.New(&reducer.Options{Input: &in}).Thread()
	s := client.NewSession(agent, &client.SessionOptions{Thread: th})
	_, err := s.Send(b.Context(), messages.UserText("hi"))
	require.NoError(b, err)
	var bodies, turns []time.Duration
	for b.Loop() {
		start := time.Now()
		in.AppendJSON(nil)
		bodies = append(bodies, time.Since(start))
		start = time.Now()
		if _, err := s.Send(b.Context(), messages.UserText("hi")); err != nil {
			b.Fatal(err)
		}
		turns = append(turns, time.Since(start))
	}
	slices.Sort(bodies)
	slices.Sort(turns)
	body, turn := bodies[len(bodies)/2], turns[len(turns)/2]
	b.ReportMetric(float64(body.Microseconds()), "µs/body")
	b.ReportMetric(float64(turn)/float64(body), "×body")
}
