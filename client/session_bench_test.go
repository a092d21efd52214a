package client_test

import (
	"context"
	"iter"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
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
