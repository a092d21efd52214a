package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)

func frame(t *testing.T, data string) event.Frame {
	t.Helper()
	f, err := event.NewFrame([]byte(data))
	require.NoError(t, err)
	return f
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file)
	in := &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{messages.UserText("a\nb")}}
	require.NoError(t, w.Head(in, noon))
	require.NoError(t, w.Event(frame(t, started), 1500*time.Microsecond))
	require.NoError(t, w.Event(event.Notice(event.Warning{Rule: "P-ENF-1"}), time.Second))
	require.NoError(t, w.Event(frame(t, "{\"type\":\r\n\"X\"}"), 2*time.Second))
	require.NoError(t, w.Event(&event.RunFinished{ThreadID: "t", RunID: "r"}, -time.Second))
	require.NoError(t, w.Head(nil, noon.Add(time.Hour)))
	assert.Equal(t, `{"agfold":"recording/1","start":"2026-03-01T12:00:00.5Z","input":{"threadId":"t","runId":"r","messages":[{"id":"","role":"user","content":"a\nb"}]}}
{"at":1.5,"event":`+started+`}
{"at":2000,"event":{"type":  "X"}}
{"at":0,"event":`+finished+`}
{"agfold":"recording/1","start":"2026-03-01T13:00:00.5Z"}
`, file.String())

	rec, err := Open(&file, nil)
	require.NoError(t, err)
	assert.Equal(t, in.AppendJSON(nil), rec.Input().AppendJSON(nil))
	var at []time.Duration
	var heads []time.Time
	for e, err := range rec.Entries() {
		require.NoError(t, err)
		if e.Head != nil {
			heads = append(heads, e.Head.Start)
			continue
		}
		at = append(at, e.At)
	}
	assert.Equal(t, []time.Time{noon, noon.Add(time.Hour)}, heads)
	assert.Equal(t, []time.Duration{1500 * time.Microsecond, 2 * time.Second, 0}, at)
}

func TestTheErrorOfAStreamIsReadBack(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file)
	require.NoError(t, w.Head(nil, noon))
	require.NoError(t, w.Event(frame(t, started), 0))
	require.NoError(t, w.Error(errors.New("a \"line\"\nand\xff"), 1500*time.Microsecond))
	require.NoError(t, w.Head(nil, noon))
	require.NoError(t, w.Event(frame(t, started), 0))
	require.NoError(t, w.Event(frame(t, finished), 0))
	require.NoError(t, w.Error(errors.New("late"), -time.Second))
	assert.Contains(t, file.String(), `{"at":1.5,"error":"a \"line\"\nand`+"\uFFFD"+`"}`+"\n")

	text := file.String()
	f, th, err := whole(t, text)
	require.NoError(t, err)
	assert.Equal(t, "r truncated, r succeeded, {}", told(th))
	assert.Equal(t, 3, f.Seen(), "an error is not an event")
	assert.NoError(t, f.Err(), "an error after the end of a run is not the run's")
	broke := th.Runs.At(0).Err
	assert.ErrorIs(t, broke, reducer.ErrTruncated)
	var stream *StreamError
	require.ErrorAs(t, broke, &stream)
	assert.Equal(t, "a \"line\"\nand\uFFFD", stream.Error())
	assert.NotErrorIs(t, stream, reducer.ErrTruncated)

	rec, err := Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	n := 0
	for ev, err := range rec.Events() {
		require.NoError(t, err)
		assert.NotEmpty(t, event.FrameOfEvent(ev).Data())
		n++
	}
	assert.Equal(t, 3, n)

	file.Reset()
	require.NoError(t, w.Head(nil, noon))
	cut := fmt.Errorf("cut: %w", reducer.ErrTruncated)
	require.NoError(t, w.Error(cut, 0))
	assert.Contains(t, file.String(), `{"at":0,"error":"`+cut.Error()+`","truncated":true}`)
	f, _, err = whole(t, file.String())
	require.NoError(t, err)
	require.ErrorAs(t, f.Err(), &stream)
	assert.ErrorIs(t, stream, reducer.ErrTruncated)
	assert.EqualError(t, stream, cut.Error())

	_, th, err = whole(t, bareHead+timed(started)+`{"at":1,"error":"gone"}`+"\n"+timed(finished))
	require.NoError(t, err)
	assert.Equal(t, "r truncated, {}", told(th), "nothing of a run comes after its error")
}

func TestARunAfterACrashCanBeRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	record := func(tail string) {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		w := NewWriter(file)
		require.NoError(t, w.Head(nil, noon))
		require.NoError(t, w.Event(frame(t, started), 0))
		_, err = file.WriteString(tail)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	record(`{"at":1,"event":{"type":"CUS`)
	record("")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	rec, err := Open(bytes.NewReader(text), nil)
	require.NoError(t, err)
	var got []string
	for e, err := range rec.Entries() {
		require.NoError(t, err)
		got = append(got, fmt.Sprint(e.Head != nil, e.Err != nil))
	}
	assert.Equal(t, []string{"true false", "false false", "false true", "true false", "false false"}, got)
	assert.True(t, strings.HasPrefix(string(text), `{"agfold"`), "a new file begins with the head")
}

// lineWriter checks that every Write is one whole line.
type lineWriter struct {
	t *testing.T
	n int
}

func (w *lineWriter) Write(p []byte) (int, error) {
	assert.Equal(w.t, 1, bytes.Count(p, []byte("\n")))
	assert.Equal(w.t, byte('\n'), p[len(p)-1])
	w.n++
	return len(p), nil
}

func TestEveryLineIsWrittenAtOnce(t *testing.T) {
	lines := &lineWriter{t: t}
	w := NewWriter(bufio.NewWriter(lines))
	require.NoError(t, w.Head(nil, noon))
	require.NoError(t, w.Event(frame(t, started), 0))
	assert.Equal(t, 2, lines.n, "a buffered writer is flushed")
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestErrorsOfTheWriter(t *testing.T) {
	full := errors.New("disk full")
	w := NewWriter(brokenWriter{full})
	assert.Equal(t, full, w.Head(nil, noon))
	assert.Equal(t, full, w.Event(frame(t, started), 0))
}

func BenchmarkWriter(b *testing.B) {
	f, err := event.NewFrame([]byte(custom))
	require.NoError(b, err)
	w := NewWriter(&discard{})
	b.ReportAllocs()
	for b.Loop() {
		w.Event(f, time.Second)
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }
