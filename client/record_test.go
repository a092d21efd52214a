package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

func TestRecord(t *testing.T) {
	t.Run("what is recorded is replayed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "run.jsonl")
			file, err := os.Create(name)
			require.NoError(t, err)
			agent := Chain(Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
				emit(runStarted)
				time.Sleep(1500 * time.Millisecond)
				emit(event.Notice(event.Warning{Rule: "P-ENF-1"}))
				emit(&event.Custom{Name: in.RunID, Value: event.FrameOfEvent(runStarted).Value()})
				return errors.New("lost")
			}), Record(recording.NewWriter(file)))
			for _, id := range []string{"1", "2"} {
				got, warnings, err := read(t, agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: id}))
				require.EqualError(t, err, "lost")
				assert.Len(t, got, 2)
				assert.Len(t, warnings, 1)
			}
			require.NoError(t, file.Close())
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			lines := strings.Split(string(text), "\n")
			assert.Equal(t, `{"agfold":"recording/1","start":"2000-01-01T00:00:00Z","input":{"threadId":"t","runId":"1","messages":[]}}`, lines[0])
			assert.Equal(t, `{"at":0,"event":`+started+`}`, lines[1])
			assert.Equal(t, `{"at":1500,"event":{"type":"CUSTOM","name":"1","value":`+started+`}}`, lines[2])

			assert.Equal(t, `{"at":1500,"error":"lost"}`, lines[3])

			again := recording.ReplayFile(name, &recording.ReplayOptions{Speed: 1})
			for _, id := range []string{"1", "2"} {
				start := time.Now()
				got, _, err := read(t, again.Run(t.Context(), input))
				require.EqualError(t, err, "lost")
				assert.Equal(t, []string{started, `{"type":"CUSTOM","name":"` + id + `","value":` + started + `}`}, got)
				assert.Equal(t, 1500*time.Millisecond, time.Since(start))
			}
		})
	})
	t.Run("a writer that fails does not fail the run", func(t *testing.T) {
		for _, room := range []int{0, 1, 2} {
			w := &fullWriter{room: room}
			got, warnings, err := read(t, Chain(answering(started, content, finished), Record(recording.NewWriter(w))).Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, []string{started, content, finished}, got)
			require.Len(t, warnings, 1)
			assert.Equal(t, "recording", warnings[0].Rule)
			assert.Contains(t, warnings[0].Text, "disk full")
			assert.Equal(t, room, w.n, "nothing is written after the gap")
		}
	})
	t.Run("breaking off", func(t *testing.T) {
		var buf bytes.Buffer
		for range Chain(answering(started, content), Record(recording.NewWriter(&buf))).Run(t.Context(), input) {
			break
		}
		assert.Equal(t, 2, strings.Count(buf.String(), "\n"))
	})
}

// answering is an agent that answers every run with these events.
func answering(events ...string) Agent {
	text := strings.Join(events, "\n")
	return recording.NewReplay(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, nil)
}

type fullWriter struct{ room, n int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.n == w.room {
		return 0, errors.New("disk full")
	}
	w.n++
	return len(p), nil
}
