package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
)

// replay is an agent that replays text and counts the recordings left open.
func replay(text string, o *ReplayOptions) (*Replay, *int) {
	open := new(int)
	return NewReplay(func() (io.ReadCloser, error) {
		*open++
		return &closing{strings.NewReader(text), open}, nil
	}, o), open
}

type closing struct {
	io.Reader
	open *int
}

func (c *closing) Close() error { *c.open--; return nil }

func TestReplay(t *testing.T) {
	all := []string{started, content, finished}
	for name, text := range map[string]string{
		"a captured stream": stream,
		"lines":             strings.Join(all, "\n"),
		"an array":          "[" + strings.Join(all, ",") + "]",
		"an object":         `{"stream":[` + strings.Join(all, ",") + `]}`,
	} {
		t.Run(name+" is replayed for each run", func(t *testing.T) {
			agent, open := replay(text, nil)
			for range 2 {
				got, _, err := read(t, agent.Run(t.Context(), input))
				require.NoError(t, err)
				assert.Equal(t, all, got)
			}
			for range agent.Run(t.Context(), input) {
				break
			}
			assert.Zero(t, *open)
		})
	}
	t.Run("an empty recording is a run without events", func(t *testing.T) {
		agent, _ := replay("", nil)
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Empty(t, got)
	})
	t.Run("what is no recording", func(t *testing.T) {
		agent, open := replay("Hello", nil)
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorIs(t, err, ErrRecording)
		assert.Zero(t, *open)
	})
	t.Run("a recording that is cut off is truncated", func(t *testing.T) {
		for _, text := range []string{stream[:len(stream)-10], "[" + started + ",", `{"type":`} {
			agent, open := replay(text, nil)
			_, _, err := read(t, agent.Run(t.Context(), input))
			require.ErrorIs(t, err, ErrTruncated, text)
			assert.Zero(t, *open)
		}
	})
	t.Run("P-SSE-2 an event past the bound", func(t *testing.T) {
		agent, _ := replay(stream, &ReplayOptions{MaxEventBytes: len(started)})
		got, _, err := read(t, agent.Run(t.Context(), input))
		assert.Equal(t, []string{started}, got)
		require.ErrorIs(t, err, ErrTooLarge)
	})
	t.Run("a file that is not there", func(t *testing.T) {
		_, _, err := read(t, ReplayFile(filepath.Join(t.TempDir(), "none"), nil).Run(t.Context(), input))
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("the end of the context ends it", func(t *testing.T) {
		agent, open := replay(stream, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		n := 0
		for _, err := range agent.Run(ctx, input) {
			n, last = n+1, err
			cancel()
		}
		assert.Equal(t, 2, n)
		require.ErrorIs(t, last, context.Canceled)
		_, _, err := read(t, agent.Run(ctx, input))
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, *open)
	})
}

const recordedRuns = `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z"}
{"at":1000,"event":{"type":"CUSTOM","name":"a","value":1}}
{"at":5000,"event":{"type":"CUSTOM","name":"b","value":1}}
{"at":6000,"event":{"type":"CUS
{"agfold":"recording/1","start":"2026-03-01T11:00:00Z"}
{"at":0,"event":{"type":"CUSTOM","name":"c","value":1}}
{"at":100,"event":{"type":"CUSTOM","name":"d","value":1}}
`

func names(got []string) (s string) {
	for _, ev := range got {
		s += ev[len(`{"type":"CUSTOM","name":"`):][:1]
	}
	return s
}

func TestReplayOfSeveralRuns(t *testing.T) {
	agent, _ := replay(recordedRuns, nil)
	got, _, err := read(t, agent.Run(t.Context(), input))
	assert.Equal(t, "ab", names(got))
	require.ErrorIs(t, err, ErrTruncated, "the first run was cut off")
	got, _, err = read(t, agent.Run(t.Context(), input))
	require.NoError(t, err)
	assert.Equal(t, "cd", names(got))
	got, _, err = read(t, agent.Run(t.Context(), input))
	assert.Empty(t, got)
	require.ErrorIs(t, err, ErrRecording)
	assert.Contains(t, err.Error(), "run 3: there are 2")
}

func TestReplayRuns(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       int
		err        error
	}{
		{"nothing", "", 0, nil},
		{"a captured stream", stream, 1, nil},
		{"lines that are cut", started + "\n{", 1, nil},
		{"two runs of which one broke off", recordedRuns, 2, nil},
		{"a run without events", recordedRuns + `{"agfold":"recording/1"}`, 3, nil},
		{"a head that is cut", recordedRuns + `{"agfold":"recor`, 2, nil},
		{"events without a head", `{"at":1,"event":` + started + "}\n" + recordedRuns, 3, nil},
		{"what stops being a recording", recordedRuns + "Hello\n" + recordedRuns, 2, ErrRecording},
		{"what is no recording", "Hello", 0, ErrRecording},
	} {
		t.Run(row.name, func(t *testing.T) {
			agent, open := replay(row.text, nil)
			n, err := agent.Runs()
			assert.Equal(t, row.want, n)
			require.ErrorIs(t, err, row.err)
			assert.Zero(t, *open)
			if row.err == nil && n > 0 {
				for i := range n {
					_, _, err := read(t, agent.Run(t.Context(), input))
					require.NotErrorIs(t, err, ErrRecording, "counting takes none away: run %d", i+1)
				}
			}
		})
	}
	_, err := ReplayFile(filepath.Join(t.TempDir(), "none"), nil).Runs()
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestReplayWithTiming(t *testing.T) {
	for _, tt := range []struct {
		speed float64
		at    []time.Duration
	}{
		{0, []time.Duration{0, 0}},
		{1, []time.Duration{time.Second, 5 * time.Second}},
		{10, []time.Duration{100 * time.Millisecond, 500 * time.Millisecond}},
		{0.5, []time.Duration{2 * time.Second, 10 * time.Second}},
	} {
		t.Run(fmt.Sprintf("%v times as fast", tt.speed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				agent, _ := replay(recordedRuns, &ReplayOptions{Speed: tt.speed})
				start := time.Now()
				var at []time.Duration
				for _, err := range agent.Run(t.Context(), input) {
					if err == nil {
						at = append(at, time.Since(start))
					}
				}
				assert.Equal(t, tt.at, at)
			})
		})
	}
	t.Run("a slow reader is not waited for twice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			agent, _ := replay(recordedRuns, &ReplayOptions{Speed: 1})
			start := time.Now()
			for _, err := range agent.Run(t.Context(), input) {
				if err == nil {
					time.Sleep(10 * time.Second)
				}
			}
			assert.Equal(t, 21*time.Second, time.Since(start))
		})
	})
	t.Run("the end of the context ends the wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			agent, open := replay(recordedRuns, &ReplayOptions{Speed: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			start := time.Now()
			got, _, err := read(t, agent.Run(ctx, input))
			assert.Equal(t, "a", names(got))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 3*time.Second, time.Since(start))
			assert.Zero(t, *open)
		})
	})
}

func TestRecord(t *testing.T) {
	t.Run("what is recorded is replayed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "run.jsonl")
			file, err := os.Create(name)
			require.NoError(t, err)
			agent := Chain(Emit(func(ctx context.Context, in event.RunInput, emit func(event.Event) error) error {
				emit(runStarted)
				time.Sleep(1500 * time.Millisecond)
				emit(event.Notice(event.Warning{Rule: "P-ENF-1"}))
				emit(&event.Custom{Name: in.RunID, Value: event.FrameOfEvent(runStarted).Value()})
				return errors.New("lost")
			}), Record(file))
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

			again := ReplayFile(name, &ReplayOptions{Speed: 1})
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
			got, warnings, err := read(t, Chain(answering(started, content, finished), Record(w)).Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, []string{started, content, finished}, got)
			require.Len(t, warnings, 1)
			assert.Equal(t, "recording", warnings[0].Rule)
			assert.Contains(t, warnings[0].Text, "disk full")
			assert.Equal(t, room, w.n, "nothing is written behind the gap")
		}
	})
	t.Run("breaking off", func(t *testing.T) {
		var buf bytes.Buffer
		for range Chain(answering(started, content), Record(&buf)).Run(t.Context(), input) {
			break
		}
		assert.Equal(t, 2, strings.Count(buf.String(), "\n"))
	})
}

// answering is an agent that answers every run with these events.
func answering(events ...string) Agent {
	agent, _ := replay(strings.Join(events, "\n"), nil)
	return agent
}

type fullWriter struct{ room, n int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.n == w.room {
		return 0, errors.New("disk full")
	}
	w.n++
	return len(p), nil
}
