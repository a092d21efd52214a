package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// screen is an output that may be read while it is written.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// shows waits until the screen shows something.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.String(), text) }, 30*time.Second, 5*time.Millisecond, "%q", text)
}

// agfold runs a command line to its end.
func agfold(t *testing.T, args ...string) (code int, out, failed string) {
	t.Helper()
	var o, e screen
	code = run(t.Context(), args, terminal{&o, &e})
	return code, o.String(), e.String()
}

func serverOf(t *testing.T) string {
	t.Helper()
	s, err := embedded.Start(&embedded.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s.URL()
}

func TestAThreadIsRunFollowedAndChecked(t *testing.T) {
	url := serverOf(t)
	var shown screen
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"follow", "--from", url, "a b"}, terminal{&shown, io.Discard}) }()
	code, out, failed := agfold(t, "run", "--publish", url, "--thread", "a b", "--message", "Hello, \x1b[31mthere", "--message", "more", "--pause", "1ms")
	require.Equal(t, exitOK, code, failed)
	assert.Contains(t, out, "assistant: You said: more")
	assert.NotContains(t, out, "\x1b")
	shown.shows(t, "assistant: You said: more \n-- succeeded\n")
	assert.NotContains(t, shown.String(), "\x1b")
	cancel()
	assert.Equal(t, exitOK, <-ended)

	code, out, _ = agfold(t, "follow", "--from", url, "--once", "--json", "a b")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, regexp.MustCompile(`^\{"sequence":\d+,"phase":"idle","thread":\{"threadId":"a b",.*\}\}\n$`), out)
	code, out, _ = agfold(t, "follow", "--from", url, "--once", "a b")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "user: more\n")
	code, out, failed = agfold(t, "check", "--from", url)
	assert.Equal(t, exitOK, code, failed)
	assert.Contains(t, out, "1 threads, ")
	code, out, _ = agfold(t, "check", "--json", "--from", url)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, `"findings":0`)
	code, out, _ = agfold(t, "stop", "--from", url, "a b")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "nobody holds")
	code, out, _ = agfold(t, "run", "--publish", url, "--thread", "other", "--message", "x", "--pause", "1ms", "--json")
	assert.Equal(t, exitOK, code)
	require.NoError(t, new(reducer.Thread).UnmarshalJSON([]byte(strings.TrimSpace(out))))
}

func TestServeAndStop(t *testing.T) {
	var shown, log screen
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--port", "0", "--addr", "127.0.0.1:0", "--dir", t.TempDir(), "--pause", "20ms"}, terminal{&shown, &log})
	}()
	require.Eventually(t, func() bool { return strings.Contains(shown.String(), "NATS is at ") }, 30*time.Second, 5*time.Millisecond, "%v", &log)
	site := regexp.MustCompile(`http://[^ ]*/threads/`).FindString(shown.String())
	nats := regexp.MustCompile(`nats://\S+`).FindString(shown.String())
	r, err := http.Post(site+"t/messages", "application/json", strings.NewReader(`{"content":"`+strings.Repeat("word ", 500)+`"}`))
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, http.StatusAccepted, r.StatusCode)
	code, _, failed := agfold(t, "run", "--publish", nats, "--thread", "t", "--message", "x")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, failed, "the thread is held by")
	code, out, failed := agfold(t, "stop", "--from", nats, "t")
	assert.Equal(t, exitOK, code, failed)
	assert.Contains(t, out, "was told to stop")
	require.Eventually(t, func() bool {
		_, out, _ := agfold(t, "follow", "--from", nats, "--once", "t")
		return strings.Contains(out, "-- stopped")
	}, 30*time.Second, 20*time.Millisecond)
	cancel()
	assert.Equal(t, exitOK, <-ended, log.String())
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"run"}, {"run", "--thread", "t"}, {"follow"}, {"stop", "--x", "t"}} {
		code, _, failed := agfold(t, args...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, failed, "--help", args)
	}
	for _, args := range [][]string{{}, {"--help"}, {"run", "--help"}, {"follow", "--help"}} {
		code, out, _ := agfold(t, args...)
		assert.Equal(t, exitOK, code)
		assert.Contains(t, out, "Usage")
	}
	code, _, failed := agfold(t, "follow", "--from", "nats://127.0.0.1:1", "t")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, failed, "no servers")
}

func TestThePrinterSaysWhatChanged(t *testing.T) {
	var out screen
	p := &printer{out: &out}
	snapshot := func(list ...*messages.Message) client.Snapshot {
		return client.Snapshot{Thread: new(reducer.Thread).ReplaceMessages(list...)}
	}
	m := func(text string) *messages.Message {
		return &messages.Message{ID: "m", Role: messages.RoleUser, Content: messages.Text(text)}
	}
	p.print(snapshot(m("He")))
	p.print(snapshot(m("Hello\r")))
	p.print(snapshot(m("Bye")))
	p.print(snapshot())
	p.print(snapshot(m("again")))
	p.end()
	assert.Equal(t, "user: Hello\uFFFD\n~ user: Bye\nuser: again\n", out.String())
}
