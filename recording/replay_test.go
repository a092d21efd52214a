package recording

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

const (
	content  = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Grüße, 世界 🌍"}`
	captured = "data: " + started + "\n\ndata: " + content + "\n\ndata: " + finished + "\n\n"
)

var input = event.RunInput{ThreadID: "t", RunID: "r"}

// read returns the texts of events and the error they end with.
func read(t *testing.T, events iter.Seq2[event.Event, error]) (got []string, err error) {
	t.Helper()
	for ev, e := range events {
		require.NoError(t, err, "something came after the error")
		if err = e; e == nil {
			got = append(got, string(ev.(event.Frame).Data()))
		}
	}
	return got, err
}

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
		"a captured stream": captured,
		"lines":             strings.Join(all, "\n"),
		"an array":          "[" + strings.Join(all, ",") + "]",
		"an object":         `{"stream":[` + strings.Join(all, ",") + `]}`,
	} {
		t.Run(name+" is replayed for each run", func(t *testing.T) {
			agent, open := replay(text, nil)
			for range 2 {
				got, err := read(t, agent.Run(t.Context(), input))
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
		got, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Empty(t, got)
	})
	t.Run("a file that is not a recording", func(t *testing.T) {
		agent, open := replay("Hello", nil)
		_, err := read(t, agent.Run(t.Context(), input))
		require.ErrorAs(t, err, new(*FormatError))
		assert.Zero(t, *open)
	})
	t.Run("a recording that is cut off is truncated", func(t *testing.T) {
		for _, text := range []string{captured[:len(captured)-10], "[" + started + ",", `{"type":`} {
			agent, open := replay(text, nil)
			_, err := read(t, agent.Run(t.Context(), input))
			require.ErrorIs(t, err, reducer.ErrTruncated, text)
			assert.Zero(t, *open)
		}
	})
	t.Run("P-SSE-2 an event past the bound", func(t *testing.T) {
		agent, _ := replay(captured, &ReplayOptions{MaxEventBytes: len(started)})
		got, err := read(t, agent.Run(t.Context(), input))
		assert.Equal(t, []string{started}, got)
		require.ErrorAs(t, err, new(*event.TooLargeError))
	})
	t.Run("a file that is not there", func(t *testing.T) {
		_, err := read(t, ReplayFile(filepath.Join(t.TempDir(), "none"), nil).Run(t.Context(), input))
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("the end of the context ends it", func(t *testing.T) {
		agent, open := replay(captured, nil)
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
		_, err := read(t, agent.Run(ctx, input))
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
	got, err := read(t, agent.Run(t.Context(), input))
	assert.Equal(t, "ab", names(got))
	require.ErrorIs(t, err, reducer.ErrTruncated, "the first run was cut off")
	got, err = read(t, agent.Run(t.Context(), input))
	require.NoError(t, err)
	assert.Equal(t, "cd", names(got))
	got, err = read(t, agent.Run(t.Context(), input))
	assert.Empty(t, got)
	require.ErrorIs(t, err, ErrNoRun)
	assert.Contains(t, err.Error(), "run 3: there are 2")
}

func TestReplayRuns(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       int
		err        func(error) bool
	}{
		{"nothing", "", 0, nil},
		{"a captured stream", captured, 1, nil},
		{"lines that are cut", started + "\n{", 1, nil},
		{"two runs of which one broke off", recordedRuns, 2, nil},
		{"a run without events", recordedRuns + `{"agfold":"recording/1"}`, 3, nil},
		{"a head that is cut", recordedRuns + `{"agfold":"recor`, 2, nil},
		{"events without a head", `{"at":1,"event":` + started + "}\n" + recordedRuns, 3, nil},
		{"what is damaged between runs", recordedRuns + "Hello\n" + recordedRuns, 4, nil},
		{"a recording that continues in another version", recordedRuns + `{"agfold":"recording/9"}`, 2, is[*FormatError]},
		{"what is not a recording", "Hello", 0, is[*FormatError]},
	} {
		t.Run(row.name, func(t *testing.T) {
			agent, open := replay(row.text, nil)
			n, err := agent.Runs()
			assert.Equal(t, row.want, n)
			if row.err == nil {
				require.NoError(t, err)
			} else {
				require.True(t, row.err(err), "%v", err)
			}
			assert.Zero(t, *open)
			if row.err == nil && n > 0 {
				for i := range n {
					_, err := read(t, agent.Run(t.Context(), input))
					require.NotErrorIs(t, err, ErrNoRun, "counting takes none away: run %d", i+1)
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
			got, err := read(t, agent.Run(ctx, input))
			assert.Equal(t, "a", names(got))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 3*time.Second, time.Since(start))
			assert.Zero(t, *open)
		})
	})
}

// countedFile counts the bytes that are read of it.
type countedFile struct {
	io.ReadSeeker
	n *int
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.ReadSeeker.Read(p)
	*f.n += n
	return n, err
}

func (countedFile) Close() error { return nil }

func TestReplayDoesNotReadFromTheBeginningForEachRun(t *testing.T) {
	run := bareHead + timed(started, `{"type":"CUSTOM","name":"n","value":"`+strings.Repeat("x", peekSize)+`"}`, finished)
	read := func(runs int, count bool) (n int) {
		text := strings.Repeat(run, runs)
		agent := NewReplay(func() (io.ReadCloser, error) { return countedFile{strings.NewReader(text), &n}, nil }, nil)
		if count {
			_, err := agent.Runs()
			require.NoError(t, err)
		}
		for range runs {
			th, err := reducer.Fold(agent.Run(t.Context(), input), nil)
			require.NoError(t, err)
			require.Equal(t, 3, int(th.Revision))
		}
		return n
	}
	assert.Less(t, read(40, false), 3*40*len(run), "a run, and up to two buffers")
	assert.Less(t, read(40, true), 4*40*len(run))
}

func TestReplayRunIsIteratedOnce(t *testing.T) {
	agent, open := replay(captured, nil)
	events := agent.Run(t.Context(), input)
	_, err := read(t, events)
	require.NoError(t, err)
	got, err := read(t, events)
	require.Error(t, err)
	assert.Empty(t, got)
	assert.Zero(t, *open)
}

func TestReplayWhoseContextEndsWithTheLastEvent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	agent := NewReplay(func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)), nil
	}, nil)
	var last error
	for _, err := range agent.Run(ctx, event.RunInput{}) {
		last = err
		cancel()
	}
	require.ErrorIs(t, last, context.Canceled)
}
