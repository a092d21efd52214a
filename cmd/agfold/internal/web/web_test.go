package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// foldedWithin returns the log of a recording, whose kept snapshots may take maxBytes.
func foldedWithin(t *testing.T, text string, maxBytes int64) *log {
	t.Helper()
	l := newLog("0", "test", modeRecording, maxBytes)
	l.open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	l.fold(t.Context())
	require.True(t, l.done)
	return l
}

// The operations between two positions, applied to the first one's view, give the second one's; so do those between checkpoints.
func TestLogHoldsEveryPosition(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/*.*")
	require.NoError(t, err)
	for _, name := range files {
		if strings.Contains(name, "golden") {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		t.Run(filepath.Base(name), func(t *testing.T) {
			l := foldedWithin(t, string(data), 0)
			rec, err := recording.Open(strings.NewReader(string(data)), nil)
			require.NoError(t, err)
			folder := recording.NewFolder(rec, nil)
			view := viewAt(t, l, 0)
			assert.JSONEq(t, string(feed.AppendView(nil, feed.Snapshot{Thread: folder.Thread()})), view.String())
			n := 0
			for _, err := range folder.Deliveries() {
				if err != nil {
					break // a recording that is cut off ends with an error
				}
				var changes []json.RawMessage
				require.NoError(t, json.Unmarshal(l.appendChanges(nil, n, n+1), &changes))
				view = patched(t, view, changes[0])
				n++
				require.JSONEq(t, string(feed.AppendView(nil, feed.Snapshot{Thread: folder.Thread()})), view.String(), "position %d", n)
			}
			rows := l.rows(1, len(l.entries))
			assert.Len(t, rows, len(l.entries))
			for i, r := range rows {
				assert.Equal(t, i+1, r.N)
				assert.NotEmpty(t, r.Type)
				_, ok := l.event(r.N)
				assert.True(t, ok)
			}
		})
	}
}

func viewAt(t *testing.T, l *log, n int) state.Value {
	t.Helper()
	var got struct{ View json.RawMessage }
	require.NoError(t, json.Unmarshal(l.appendView(nil, n, -1), &got))
	v, err := state.Parse(got.View)
	require.NoError(t, err)
	return v
}

// patched applies operations of the feed.
func patched(t *testing.T, v state.Value, ops []byte) state.Value {
	t.Helper()
	var list []map[string]any
	require.NoError(t, json.Unmarshal(ops, &list))
	for _, op := range list {
		if op["op"] == "append" {
			was, _ := v.Lookup(op["path"].(string))
			text, _ := was.AsString()
			op["op"], op["value"] = "replace", text+op["value"].(string)
		}
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	parsed, err := state.ParseDepth(text, state.DefaultMaxDepth)
	require.NoError(t, err)
	patch, err := state.ParsePatch(parsed)
	require.NoError(t, err)
	v, err = v.Apply(patch)
	require.NoError(t, err)
	return v
}

// A page goes from checkpoint to checkpoint by what differs, in both directions.
func TestCheckpoints(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n" + `{"type":"TEXT_MESSAGE_START","messageId":"m"}` + "\n")
	for i := range 3 * checkpointEvery {
		fmt.Fprintf(&text, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"%d "}`+"\n", i)
	}
	l := foldedWithin(t, text.String(), 0)
	assert.Equal(t, 3*checkpointEvery+3, len(l.entries), "the cut is a position of its own")
	assert.Equal(t, endType, l.rows(len(l.entries), len(l.entries))[0].Type)
	for _, c := range [][2]int{{0, 3}, {3, 0}, {2, 1}, {1, 1}} {
		var got struct {
			N       int
			Changes json.RawMessage
		}
		require.NoError(t, json.Unmarshal(l.appendView(nil, c[1]*checkpointEvery+5, c[0]*checkpointEvery), &got))
		assert.Equal(t, c[1]*checkpointEvery, got.N)
		assert.JSONEq(t, viewAt(t, l, got.N).String(), func() string { v := patched(t, viewAt(t, l, c[0]*checkpointEvery), got.Changes); return v.String() }())
	}
}

// A log stops growing at its bound and says so; what came before is there.
func TestLogIsBounded(t *testing.T) {
	line := `{"type":"CUSTOM","name":"x","value":"` + strings.Repeat("y", 1000) + `"}` + "\n"
	l := foldedWithin(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`+"\n"+strings.Repeat(line, 1000), 100_000)
	assert.ErrorIs(t, l.err, errFull)
	assert.InDelta(t, 90, len(l.entries), 10)
	assert.Len(t, l.rows(1, 10), 10)
	t.Run("warnings count, which are longer than what they are about", func(t *testing.T) {
		var unknown strings.Builder
		for i := range 100 {
			fmt.Fprintf(&unknown, `,"a%d":1`, i)
		}
		line := `{"type":"CUSTOM","name":"x","value":1` + unknown.String() + "}\n"
		l := foldedWithin(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`+"\n"+strings.Repeat(line, 100), int64(2*100*len(line)))
		assert.ErrorIs(t, l.err, errFull)
	})
}

// Folding ends with its context.
func TestFoldStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	l := newLog("0", "test", modeRecording, 0)
	l.open = func() (io.ReadCloser, error) { return r, nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.fold(ctx)
	}()
	_, err := io.WriteString(w, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`+"\n")
	require.NoError(t, err)
	cancel()
	_, _ = io.WriteString(w, `{"type":"RUN_ERROR","message":"m"}`+"\n") // wakes the reader, unless the fold has closed the pipe
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		require.Fail(t, "the fold does not stop")
	}
	assert.ErrorIs(t, l.err, context.Canceled)
}

// serve returns a server for options.
func startServer(t *testing.T, o Options) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err := New(l, o)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close(context.Background()))
		assert.NoError(t, <-served)
	})
	return s
}

func TestWhoIsLetIn(t *testing.T) {
	s := startServer(t, Options{Agent: demo.Agent(0), Name: "demo"})
	token := strings.Trim(strings.TrimPrefix(s.URL(), "http://"+s.hosts[0]), "/")
	require.Len(t, token, 26)
	for _, c := range []struct {
		name, method, path, host, site string
		want                           int
	}{
		{"the page", "GET", "/" + token + "/", "", "", 200},
		{"a file of the page", "GET", "/" + token + "/main.js", "", "same-origin", 200},
		{"data", "GET", "/" + token + "/api/logs", "", "same-origin", 200},
		{"the token without a slash", "GET", "/" + token, "", "", 301},
		{"no token", "GET", "/", "", "", 403},
		{"a wrong token", "GET", "/" + strings.Repeat("A", 26) + "/", "", "", 403},
		{"a wrong token, a file", "GET", "/x/main.js", "", "", 403},
		{"a name that resolves to this machine", "GET", "/" + token + "/", "evil.example", "", 403},
		{"another port", "GET", "/" + token + "/", "127.0.0.1:1", "", 403},
		{"localhost", "GET", "/" + token + "/", "localhost:" + strings.Split(s.hosts[0], ":")[1], "", 200},
		{"another site", "GET", "/" + token + "/api/logs", "", "cross-site", 403},
		{"another port's page", "POST", "/" + token + "/threads/a/stop", "", "same-site", 403},
		{"a file outside", "GET", "/" + token + "/../server.go", "", "", 404},
		{"a post to the data", "POST", "/" + token + "/api/logs", "", "", 405},
		{"a post to the page", "POST", "/" + token + "/", "", "", 405},
		{"no such recording", "GET", "/" + token + "/api/logs/9/rows", "", "", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "http://"+s.hosts[0]+"/", nil)
			r.URL.Path = c.path
			r.RemoteAddr = "127.0.0.1:1"
			if c.host != "" {
				r.Host = c.host
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			assert.Equal(t, c.want, w.Code, "%s", w.Body)
			policy := w.Header().Get("Content-Security-Policy")
			assert.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
			assert.NotContains(t, policy, "unsafe")
		})
	}
}

// portListener is a listener that says that it is at an address.
type portListener struct {
	net.Listener
	addr net.TCPAddr
}

func (l *portListener) Addr() net.Addr { return &l.addr }

func TestHostWithoutPort(t *testing.T) {
	for _, c := range []struct {
		name, ip string
		port     int
		host     string
		want     bool
	}{
		{"port 80, an address", "127.0.0.1", 80, "127.0.0.1", true},
		{"port 80, IPv6", "::1", 80, "[::1]", true},
		{"port 80, localhost", "127.0.0.1", 80, "localhost", true},
		{"port 80, said", "127.0.0.1", 80, "localhost:80", true},
		{"port 80, another name", "127.0.0.1", 80, "evil.example", false},
		{"port 8080, no port", "127.0.0.1", 8080, "127.0.0.1", false},
		{"port 8080, localhost, no port", "127.0.0.1", 8080, "localhost", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			s, err := New(&portListener{l, net.TCPAddr{IP: net.ParseIP(c.ip), Port: c.port}}, Options{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, l.Close()); s.stop() })
			assert.Equal(t, c.want, s.known(c.host))
		})
	}
}

func TestOnlyLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = New(l, Options{})
	assert.ErrorContains(t, err, "not a loopback address")
}

// What passes between an agent and its session is in the log, and its last position is the session's thread; also after a
// message was changed.
func TestLiveLog(t *testing.T) {
	l := newLog("t", "demo", modeLive, 0)
	l.begin(new(reducer.Thread))
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "answer-" + in.RunID
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id},
			&event.TextMessageContent{MessageID: id, Delta: "So: " + in.Messages[len(in.Messages)-1].Text()}, &event.TextMessageEnd{MessageID: id},
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	session := client.NewSession(agent, &client.SessionOptions{ThreadID: "t", Middleware: []client.Middleware{l.recorder()}})
	defer session.Close()
	say := func(o *client.RunOptions) {
		turn, err := session.Start(t.Context(), o)
		require.NoError(t, err)
		<-turn.Done()
		want := session.Thread()
		last := l.last.Thread
		assert.Equal(t, want.Messages.Len(), last.Messages.Len())
		for i, m := range want.Messages.All() {
			assert.Equal(t, m.Text(), last.Messages.At(i).Text(), "message %d", i)
		}
		assert.True(t, want.State.Equal(last.State))
		assert.Equal(t, want.Status(), last.Status())
	}
	say(&client.RunOptions{Messages: user("Plan a weekend in Lisbon.")})
	first := session.Thread().Messages.At(0).ID
	entries := len(l.entries)
	require.Equal(t, 5, entries)
	say(&client.RunOptions{Messages: user("And then?")})
	say(&client.RunOptions{Rewind: first, Messages: user("Plan another one.")})
	assert.Len(t, l.entries, 15)
	assert.Equal(t, "Plan another one.", l.last.Thread.Messages.At(0).Text())
}

// A run that is stopped ends the log's run too.
func TestLiveLogOfStoppedRun(t *testing.T) {
	l := newLog("t", "agent", modeLive, 0)
	l.begin(new(reducer.Thread))
	agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: "m"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	session := client.NewSession(agent, &client.SessionOptions{Middleware: []client.Middleware{l.recorder()}})
	defer session.Close()
	turn, err := session.Start(t.Context(), &client.RunOptions{Messages: user("Hi")})
	require.NoError(t, err)
	require.Eventually(t, func() bool { a, _ := l.about(); return a.Length == 2 }, 30*time.Second, time.Millisecond)
	require.NoError(t, session.Stop(t.Context()))
	<-turn.Done()
	require.Eventually(t, func() bool { a, _ := l.about(); return a.Length == 3 }, 30*time.Second, time.Millisecond)
	assert.Equal(t, reducer.Stopped, l.last.Thread.Status())
	assert.Equal(t, endType, l.rows(3, 3)[0].Type)
}

// The page's modules become one script, each after those that it needs.
func TestBundle(t *testing.T) {
	parts, err := single()
	require.NoError(t, err)
	all := parts[0] + parts[1]
	assert.NotContains(t, all, "\nimport ")
	assert.NotContains(t, all, "\nexport ")
	assert.NotContains(t, all, "<link rel=\"stylesheet\"")
	assert.Equal(t, 2, strings.Count(all, "</script>"), "a script must not hold the end of one")
	assert.NotContains(t, all, "<!--")
	assert.Less(t, strings.Index(all, "const module_dom"), strings.Index(all, "const module_row"))

	_, err = singleOf(fstest.MapFS{"index.html": {Data: []byte("<script type=\"module\" src=\"a.js\"></script>\n")},
		"a.js": {Data: []byte("import {b} from './b.js';\n")}, "b.js": {Data: []byte("import {a} from './a.js';\n")}})
	assert.ErrorContains(t, err, "imports itself")
	_, err = singleOf(fstest.MapFS{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestExportHoldsTheRecordingAndNothingElse(t *testing.T) {
	data, err := os.ReadFile("../../../../testdata/subagents.sse")
	require.NoError(t, err)
	s := startServer(t, Options{Recordings: []Recording{
		{"a.sse", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(data))), nil }},
		{"b.sse", func() (io.ReadCloser, error) { return nil, errors.New("gone") }},
	}})
	answer, err := http.Get(s.URL() + "api/logs/0/export")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.Equal(t, `attachment; filename=a.sse.html`, answer.Header.Get("Content-Disposition"))
	assert.NotContains(t, string(text), s.token)
	assert.NotContains(t, string(text), "b.sse")

	var got struct {
		About   about
		Rows    []row
		Events  []eventOf
		Changes [][]any
	}
	var out strings.Builder
	require.NoError(t, s.logs.get("0").writeData(&out))
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	assert.Equal(t, 184, got.About.Length)
	assert.Len(t, got.Rows, 184)
	assert.Len(t, got.Events, 184)
	assert.Len(t, got.Changes, 184)

	require.Eventually(t, func() bool { a, _ := s.logs.get("1").about(); return a.Done }, 30*time.Second, time.Millisecond)
	a, _ := s.logs.get("1").about()
	assert.Equal(t, "gone", a.Error)
}

func user(text string) []*messages.Message { return []*messages.Message{messages.UserText(text)} }
