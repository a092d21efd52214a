package jetstream

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// patience is how long a test waits for what happens at all.
const patience = 30 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// serverOf starts a server for a test.
func serverOf(t testing.TB, o *embedded.Options) *embedded.Server {
	t.Helper()
	if o == nil {
		o = new(embedded.Options)
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := embedded.Start(o)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// dial connects to a server for a test.
func dial(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := Connect(url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// logOf makes a log for a test, as a process of its own has one.
func logOf(t testing.TB, url string, o Options) *Log {
	t.Helper()
	if o.Logger == nil {
		o.Logger = quiet
	}
	l, err := New(t.Context(), dial(t, url), &o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// says is an agent that says so many words, and waits for each until pace returns.
func says(words int, pace func(ctx context.Context) error) client.Agent {
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "m-" + in.RunID
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id, Role: messages.RoleAssistant}); err != nil {
			return err
		}
		for i := range words {
			if pace != nil {
				if err := pace(ctx); err != nil {
					return err
				}
			}
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: fmt.Sprint("word", i, " ")}); err != nil {
				return err
			}
		}
		return emit(&event.TextMessageEnd{MessageID: id}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
}

// eventually waits until something is so.
func eventually(t testing.TB, so func() bool, what string, args ...any) {
	t.Helper()
	for until := time.Now().Add(patience); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			require.Failf(t, "it did not happen", what, args...)
		}
	}
}

// same waits until a follower has a session's thread.
func same(t testing.TB, s *client.Session, f *Follower) {
	t.Helper()
	var want, got string
	eventually(t, func() bool {
		want, got = string(s.Thread().AppendJSON(nil)), string(f.Snapshot().AppendJSON(nil))
		return want == got
	}, "the thread that is followed is the writer's")
}

func TestAFollowerHasTheThreadOfTheWriter(t *testing.T) {
	url := serverOf(t, nil).URL()
	here, there := logOf(t, url, Options{}), logOf(t, url, Options{})
	h, err := here.Hold(t.Context(), "a b.c")
	require.NoError(t, err)
	assert.Nil(t, h.Thread())
	early := there.Watch(t.Context(), "a b.c", nil)
	s := h.Session(says(200, nil), nil)
	for range 3 {
		_, err = s.Send(t.Context(), messages.UserText("Hi"))
		require.NoError(t, err)
	}
	require.NoError(t, s.AddMessages(messages.UserText("and this")))
	same(t, s, early)
	same(t, s, there.Watch(t.Context(), "a b.c", nil))
	assert.Equal(t, client.PhaseIdle, early.Snapshot().Phase)
	want := string(s.Thread().AppendJSON(nil))
	s.Close()
	require.NoError(t, h.Close())
	again, err := there.Hold(t.Context(), "a b.c")
	require.NoError(t, err)
	assert.Equal(t, want, string(again.Thread().AppendJSON(nil)))
}
