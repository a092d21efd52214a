package client

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// TestRunsAreIteratedOnce holds that iterating a run's sequence again runs nothing, writes nothing and says so.
func TestRunsAreIteratedOnce(t *testing.T) {
	var runs int
	var written bytes.Buffer
	inner := AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			runs++
			_ = yield(&event.RunStarted{ThreadID: "t", RunID: "r"}, nil) && yield(&event.RunFinished{ThreadID: "t", RunID: "r"}, nil)
		}
	})
	again := runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) { inner.Run(ctx, in)(yield) } // does not notice by itself
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		runs++
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n"))
	}))
	t.Cleanup(server.Close)
	for name, agent := range map[string]Agent{
		"AgentFunc": inner,
		"Emit": Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
			runs++
			return emit(&event.RunError{Message: "no"})
		}),
		"HTTP":            NewHTTP(server.URL, nil),
		"Chain":           Chain(again),
		"FilterToolCalls": FilterToolCalls(func(string) bool { return true })(again),
		"Peer":            Peer("0.0.1")(again),
		"Peer of nothing": Peer("x")(again),
		"Log":             Log(slog.New(slog.NewTextHandler(&written, nil)))(again),
		"Record":          Record(recording.NewWriter(&written))(again),
	} {
		t.Run(name, func(t *testing.T) {
			runs = 0
			written.Reset()
			events := agent.Run(t.Context(), input)
			for _, err := range events {
				if err != nil {
					require.NotErrorIs(t, err, oneshot.ErrIterated)
				}
			}
			ran, lines := runs, strings.Count(written.String(), "\n")
			n := 0
			for ev, err := range events {
				n++
				assert.Nil(t, ev)
				assert.ErrorIs(t, err, oneshot.ErrIterated)
			}
			assert.Equal(t, 1, n)
			assert.Equal(t, ran, runs)
			assert.Equal(t, lines, strings.Count(written.String(), "\n"))
		})
	}
	t.Run("Session.Run", func(t *testing.T) {
		runs = 0
		s := NewSession(inner, nil)
		deliveries := s.Run(t.Context(), nil)
		for _, err := range deliveries {
			require.NoError(t, err)
		}
		res := s.Snapshot().Result
		for d, err := range deliveries {
			assert.Equal(t, reducer.Delivery{}, d)
			assert.ErrorIs(t, err, oneshot.ErrIterated)
		}
		assert.Equal(t, 1, runs)
		assert.Same(t, res, s.Snapshot().Result)
	})
	t.Run("a loop that is left counts", func(t *testing.T) {
		runs = 0
		s := NewSession(inner, nil)
		deliveries := s.Run(t.Context(), nil)
		for range deliveries {
			break
		}
		for _, err := range deliveries {
			assert.ErrorIs(t, err, oneshot.ErrIterated)
		}
		assert.Equal(t, 1, runs)
	})
}
